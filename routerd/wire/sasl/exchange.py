"""The parts of an authentication exchange: steps of mechanisms, their protocols, limits and errors.

A factory is configuration and serves any number of exchanges. `start` returns the mechanism of one exchange, for
`SaslServer` or `SaslClient`. An application adds other mechanisms by these protocols.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol, TypeAlias

from routerd.wire.errors import LocalError, RemoteError, ValueRangeError
from routerd.wire.sasl_frames import SaslChallenge, SaslInit, SaslMechanisms, SaslOutcome, SaslResponse

SaslFrame: TypeAlias = SaslMechanisms | SaslInit | SaslChallenge | SaslResponse | SaslOutcome


class SaslCode(IntEnum):
    """The result of a SASL exchange (5.3.3.6)."""

    OK = 0
    AUTH = 1
    SYS = 2
    SYS_PERM = 3
    SYS_TEMP = 4


@dataclass(frozen=True, slots=True)
class Challenge:
    """The mechanism requests a response to these octets."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Success:
    """The client is authenticated as `identity`; `data` goes along with the outcome."""

    identity: str
    data: bytes | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """The exchange failed; `reason` is for our log, and the peer gets only the code."""

    reason: str
    code: SaslCode = SaslCode.AUTH

    def __post_init__(self) -> None:
        if self.code is SaslCode.OK:
            raise ValueRangeError("a failure cannot have the code ok")


@dataclass(frozen=True, slots=True)
class Pending:
    """The answer comes later, by `answer` of the server or client, so that slow checks block nothing."""


Step: TypeAlias = Challenge | Success | Failure | Pending


class ServerMechanism(Protocol):
    """The server's side of one exchange."""

    def step(self, response: bytes | None) -> Step:
        """Judge the client's octets; None is an init without initial response."""


class ServerMechanismFactory(Protocol):
    """A mechanism that a server offers."""

    @property
    def name(self) -> str:
        """Its registered name, such as PLAIN."""

    def start(self, hostname: str | None) -> ServerMechanism:
        """Begin an exchange with a client that requested this host."""


class ClientMechanism(Protocol):
    """The client's side of one exchange. Every method may raise SaslFailed."""

    def initial_response(self) -> bytes | Pending | None:
        """Return the initial response."""

    def respond(self, challenge: bytes) -> bytes | Pending:
        """Answer a challenge."""

    def finish(self, additional_data: bytes | None) -> None:
        """Check the data of an outcome ok: the last chance to detect a false server."""


class ClientMechanismFactory(Protocol):
    """A mechanism that a client can use."""

    @property
    def name(self) -> str:
        """Its registered name, such as PLAIN."""

    def start(self, hostname: str | None) -> ClientMechanism:
        """Begin an exchange with the server of this host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SaslLimits:
    """Limits for an unauthenticated peer."""

    steps: int = 8
    """Challenges and responses in one exchange. SCRAM needs three. A mechanism without end would hold a connection."""
    token_size_bytes: int = 4096
    """Largest initial response, challenge, response or additional data that a mechanism gets."""

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise ValueRangeError(f"steps is {self.steps}; it must be at least 1")
        if self.token_size_bytes < 1:
            raise ValueRangeError(f"token_size_bytes is {self.token_size_bytes}; it must be at least 1")


DEFAULT_SASL_LIMITS = SaslLimits()


class SaslFailed(RemoteError):
    """The client gives up: the server's request is not allowed in the mechanism, or its proof failed."""

    condition = "amqp:unauthorized-access"


class NoCommonMechanism(SaslFailed):
    """The server offers no mechanism that we can use."""

    def __init__(self, offered: tuple[str, ...], ready: tuple[str, ...]) -> None:
        super().__init__(f"the server offers {', '.join(offered)[:200]}; ready to use: {', '.join(ready)}")
        self.offered, self.ready = offered, ready


class AuthenticationUnavailable(LocalError):
    """Raised by a callback that cannot check the client, because its data base is unavailable."""

    def __init__(self, reason: str, code: SaslCode = SaslCode.SYS_TEMP) -> None:
        super().__init__(reason)
        self.failure = Failure(reason, code)
