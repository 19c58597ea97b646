"""ANONYMOUS (RFC 4505): nobody is authenticated."""

from dataclasses import dataclass
from typing import ClassVar

from routerd.wire.errors import ValueRangeError
from routerd.wire.sasl.exchange import Success

TRACE_MAX = 255


@dataclass(frozen=True, slots=True)
class AnonymousServer:
    """Lets everybody in under one name, whatever trace they leave."""

    identity: str = "anonymous"
    name: ClassVar[str] = "ANONYMOUS"

    def start(self, hostname: str | None) -> "AnonymousServer":
        """Return itself: there is nothing to remember."""
        return self

    def step(self, response: bytes | None) -> Success:
        """Accept, also without the trace, which RFC 4505 wants but many clients omit."""
        return Success(self.identity)


@dataclass(frozen=True, slots=True)
class AnonymousClient:
    """Asks to be let in, leaving a trace."""

    trace: str = "anonymous"
    name: ClassVar[str] = "ANONYMOUS"

    def __post_init__(self) -> None:
        if len(self.trace) > TRACE_MAX:
            raise ValueRangeError(f"the trace has {len(self.trace)} characters; {TRACE_MAX} is the most")

    def start(self, hostname: str | None) -> "AnonymousClient":
        """Return itself: there is nothing to remember."""
        return self

    def initial_response(self) -> bytes:
        """Return the trace."""
        return self.trace.encode()

    def respond(self, challenge: bytes) -> bytes:
        """Leave the trace again, for a server that took an empty one for none."""
        return self.trace.encode()

    def finish(self, additional_data: bytes | None) -> None:
        """Accept: an anonymous client cannot tell who the server is."""
