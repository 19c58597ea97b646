"""The list of routers: what a URL says of one."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from mobula_client.errors import UsageError

PORTS = {"amqp": 5672, "amqps": 5671}


@dataclass(frozen=True, slots=True)
class Router:
    """Where a router listens, and who we are there."""

    host: str
    port: int
    is_tls: bool = False
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"{'amqps' if self.is_tls else 'amqp'}://{self.host}:{self.port}"


def parse_router(url: str) -> Router:
    """Return the router of `amqp[s]://[user:password@]host[:port]`; a host alone is enough. Raises UsageError."""
    parts = urlsplit(url if "://" in url else f"amqp://{url}")
    try:
        port = parts.port
    except ValueError:
        raise UsageError(f"the port of {parts.netloc.rpartition('@')[2]!r} is not a number from 0 to 65535") from None
    if parts.scheme not in PORTS:
        raise UsageError(f"the scheme {parts.scheme!r} is not amqp or amqps")
    if not parts.hostname:
        raise UsageError("a router's URL needs a host, as in amqp://router.example:5672")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise UsageError("a router's URL ends behind the port; addresses are given to senders and receivers")
    return Router(
        parts.hostname,
        PORTS[parts.scheme] if port is None else port,
        parts.scheme == "amqps",
        None if parts.username is None else unquote(parts.username),
        None if parts.password is None else unquote(parts.password),
    )


def parse_routers(urls: str | Iterable[str]) -> tuple[Router, ...]:
    """Return the routers of URLs, in their order; one text may have several, separated by commas."""
    listed = urls.split(",") if isinstance(urls, str) else list(urls)
    routers = tuple(parse_router(url.strip()) for url in listed)
    if not routers:
        raise UsageError("give at least one router, as in amqp://localhost")
    return routers
