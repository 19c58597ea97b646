"""EXTERNAL (RFC 4422, appendix A): TLS has already authenticated the client."""

from dataclasses import dataclass, field
from typing import ClassVar

from routerd.wire.sasl.authorization import Authorize, act_as
from routerd.wire.sasl.exchange import Failure, Step


@dataclass(frozen=True, slots=True)
class ExternalServer:
    """Accepts the identity that the transport gave for this connection; None without one."""

    identity: str | None
    authorize: Authorize | None = field(default=None, repr=False)
    name: ClassVar[str] = "EXTERNAL"

    def start(self, hostname: str | None) -> "ExternalServer":
        """Return this object, which has no state."""
        return self

    def step(self, response: bytes | None) -> Step:
        """Judge the identity that the client requests; an init without response counts as an empty one.

        RFC 4422 requires a challenge in that case. Some clients omit the response and do not answer the challenge.
        """
        if self.identity is None:
            return Failure("the transport tells no identity")
        try:
            wanted = (response or b"").decode()
        except UnicodeDecodeError:
            return Failure("the authorization identity is not UTF-8")
        if "\0" in wanted:
            return Failure("the authorization identity has a NUL")
        return act_as(self.identity, wanted, self.authorize)


@dataclass(frozen=True, slots=True)
class ExternalClient:
    """Relies on the client certificate, and requests `act_as` if that is given."""

    act_as: str = ""
    name: ClassVar[str] = "EXTERNAL"

    def start(self, hostname: str | None) -> "ExternalClient":
        """Return this object, which has no state."""
        return self

    def initial_response(self) -> bytes:
        """Return the identity to act as; empty for the client's own."""
        return self.act_as.encode()

    def respond(self, challenge: bytes) -> bytes:
        """Send it again, for a server that ignores an empty response in the init."""
        return self.act_as.encode()

    def finish(self, additional_data: bytes | None) -> None:
        """Accept: TLS has authenticated the server."""
