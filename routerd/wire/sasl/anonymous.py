"""ANONYMOUS (RFC 4505): no authentication."""

from dataclasses import dataclass
from typing import ClassVar

from routerd.wire.errors import ValueRangeError
from routerd.wire.sasl.exchange import Success

TRACE_MAX = 255


@dataclass(frozen=True, slots=True)
class AnonymousServer:
    """Admits everybody under one name, with any trace."""

    identity: str = "anonymous"
    name: ClassVar[str] = "ANONYMOUS"

    def start(self, hostname: str | None) -> "AnonymousServer":
        """Return this object, which has no state."""
        return self

    def step(self, response: bytes | None) -> Success:
        """Accept, even without the trace that RFC 4505 requires, because many clients omit it."""
        return Success(self.identity)


@dataclass(frozen=True, slots=True)
class AnonymousClient:
    """Requests admission, with a trace."""

    trace: str = "anonymous"
    name: ClassVar[str] = "ANONYMOUS"

    def __post_init__(self) -> None:
        if len(self.trace) > TRACE_MAX:
            raise ValueRangeError(f"the trace has {len(self.trace)} characters; {TRACE_MAX} is the most")

    def start(self, hostname: str | None) -> "AnonymousClient":
        """Return this object, which has no state."""
        return self

    def initial_response(self) -> bytes:
        """Return the trace."""
        return self.trace.encode()

    def respond(self, challenge: bytes) -> bytes:
        """Send the trace again, for a server that ignores an empty one in the init."""
        return self.trace.encode()

    def finish(self, additional_data: bytes | None) -> None:
        """Accept: an anonymous client cannot authenticate the server."""
