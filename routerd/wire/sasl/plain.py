"""PLAIN (RFC 4616): name and password, readable for whoever can read the connection."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from routerd.wire.errors import ValueRangeError
from routerd.wire.sasl.authorization import Authorize, act_as
from routerd.wire.sasl.exchange import Challenge, Failure, SaslFailed, Step
from routerd.wire.sasl.scram_credentials import prepared_if_possible

CheckPassword: TypeAlias = Callable[[str, str], bool]
"""Called with name and password. It compares in constant time, and takes as long for a name it does not know."""


@dataclass(frozen=True, slots=True)
class PlainServer:
    """Asks `check_password`; a client may act as somebody else only if `authorize` says so."""

    check_password: CheckPassword = field(repr=False)
    authorize: Authorize | None = field(default=None, repr=False)
    name: ClassVar[str] = "PLAIN"

    def start(self, hostname: str | None) -> "PlainServer":
        """Return itself: there is nothing to remember."""
        return self

    def step(self, response: bytes | None) -> Step:
        """Judge the one message there is; ask for it where the init did not have it."""
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
    """Logs in by name and password, `act_as` somebody else if that is given."""

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
        """Return itself: there is nothing to remember."""
        return self

    def initial_response(self) -> bytes:
        """Return the one message there is."""
        return f"{self.act_as}\0{self.username}\0{self.password}".encode()

    def respond(self, challenge: bytes) -> bytes:
        """Refuse: everything was said in the init."""
        raise SaslFailed("PLAIN has no challenge")

    def finish(self, additional_data: bytes | None) -> None:
        """Accept: in PLAIN the server proves nothing."""
