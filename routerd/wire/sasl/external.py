"""EXTERNAL (RFC 4422, appendix A): the transport, which is TLS, has already told who the client is."""

from dataclasses import dataclass, field
from typing import ClassVar

from routerd.wire.sasl.authorization import Authorize, act_as
from routerd.wire.sasl.exchange import Failure, Step


@dataclass(frozen=True, slots=True)
class ExternalServer:
    """Believes the identity that the transport gave for this connection; None when it gave none."""

    identity: str | None
    authorize: Authorize | None = field(default=None, repr=False)
    name: ClassVar[str] = "EXTERNAL"

    def start(self, hostname: str | None) -> "ExternalServer":
        """Return itself: there is nothing to remember."""
        return self

    def step(self, response: bytes | None) -> Step:
        """Judge whom the client wants to act as; an init without response is taken as an empty one.

        RFC 4422 has a challenge there, which clients that omit the response were found not to answer.
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
    """Relies on the certificate that it showed, `act_as` somebody else if that is given."""

    act_as: str = ""
    name: ClassVar[str] = "EXTERNAL"

    def start(self, hostname: str | None) -> "ExternalClient":
        """Return itself: there is nothing to remember."""
        return self

    def initial_response(self) -> bytes:
        """Return whom to act as; empty is as oneself."""
        return self.act_as.encode()

    def respond(self, challenge: bytes) -> bytes:
        """Say it again, for a server that took an empty response for none."""
        return self.act_as.encode()

    def finish(self, additional_data: bytes | None) -> None:
        """Accept: the transport has told who the server is."""
