"""PLAIN (RFC 4616): name and password, in plain text on the connection."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from routerd.wire.errors import ValueRangeError
from routerd.wire.sasl.authorization import Authorize, act_as
from routerd.wire.sasl.exchange import Challenge, Failure, SaslFailed, Step
from routerd.wire.sasl.scram_credentials import prepared_if_possible

CheckPassword: TypeAlias = Callable[[str, str], bool]
"""Called with name and password. It must compare in constant time, and take as long for an unknown name."""


@dataclass(frozen=True, slots=True)
class PlainServer:
    """Asks `check_password`; a client may act as another user only if `authorize` allows it."""

    check_password: CheckPassword = field(repr=False)
    authorize: Authorize | None = field(default=None, repr=False)
    name: ClassVar[str] = "PLAIN"

    def start(self, hostname: str | None) -> "PlainServer":
        """Return this object, which has no state."""
        return self

    def step(self, response: bytes | None) -> Step:
        """Judge the single message; request it if the init did not have it."""
        if response is None:
            return Challenge(b"")
        try:
            parts = response.decode().split("\0")
        except UnicodeDecodeError:
            return Failure("the PLAIN message is not UTF-8")
        if len(parts) != 3 or not parts[1] or not parts[2]:
            return Failure("the PLAIN message is not [authzid] NUL authcid NUL passwd")
        wanted, name, password = parts[0], prepared_if_possible(parts[1]), parts[2]
        if not self.check_password(name, password):
            return Failure(f"wrong name or password for {name!r}")
        return act_as(name, wanted, self.authorize)


@dataclass(frozen=True, slots=True)
class PlainClient:
    """Logs in with name and password, as `act_as` if that is given."""

    username: str
    password: str = field(repr=False)
    act_as: str = ""
    name: ClassVar[str] = "PLAIN"

    def __post_init__(self) -> None:
        if not self.username or not self.password:
            raise ValueRangeError("PLAIN needs a name and a password")
        if "\0" in self.username + self.password + self.act_as:
            raise ValueRangeError("PLAIN allows no NUL in name and password")

    def start(self, hostname: str | None) -> "PlainClient":
        """Return this object, which has no state."""
        return self

    def initial_response(self) -> bytes:
        """Return the single message."""
        return f"{self.act_as}\0{self.username}\0{self.password}".encode()

    def respond(self, challenge: bytes) -> bytes:
        """Refuse: the init had everything."""
        raise SaslFailed("PLAIN has no challenge")

    def finish(self, additional_data: bytes | None) -> None:
        """Accept: PLAIN does not authenticate the server."""
