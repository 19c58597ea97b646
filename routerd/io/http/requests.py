"""Requests of HTTP peers, and answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

PLAIN = "text/plain; charset=utf-8"
REASONS = {
    200: "OK",
    304: "Not Modified",
    400: "Bad Request",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    408: "Request Timeout",
    413: "Content Too Large",
    426: "Upgrade Required",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    501: "Not Implemented",
    503: "Service Unavailable",
}
"""The statuses that a listener answers with."""


@dataclass(frozen=True, slots=True)
class Request:
    """A head; requests with a body are not taken."""

    method: str
    target: str
    headers: Mapping[str, str]
    """By name in lower case. Values of one name are joined by commas."""
    version: str = "1.1"
    """The version of HTTP that the client speaks."""

    @property
    def path(self) -> str:
        """The path as sent, without the query."""
        if self.target.startswith("/"):
            return self.target.partition("?")[0]
        try:
            return urlsplit(self.target).path or "/"
        except ValueError:
            return ""

    @property
    def query(self) -> str:
        """The query, without the `?`."""
        return self.target.partition("?")[2].partition("#")[0]

    def tokens(self, name: str) -> list[str]:
        """Return the elements of a header that is a list."""
        return [one.strip() for one in self.headers.get(name, "").split(",") if one.strip()]

    def has_token(self, name: str, token: str) -> bool:
        """Whether a list has an element, in upper or lower case."""
        return token in (one.lower() for one in self.tokens(name))


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, headers and a body."""

    status: int
    body: bytes = b""
    content_type: str | None = PLAIN
    headers: Mapping[str, str] = field(default_factory=dict)


def sentence(status: int, text: str, **headers: str) -> Answer:
    """Return an answer with one sentence for people; `_` in the names of headers stands for `-`."""
    return Answer(status, f"{text}\n".encode(), headers={name.replace("_", "-"): one for name, one in headers.items()})
