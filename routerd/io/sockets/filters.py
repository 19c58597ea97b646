"""Filters between a socket and an engine: TLS, and other layers of a connection.

Filters are a stack, the first one at the socket and the last one at the engine. Each takes octets from below and hands
octets on, and takes octets from above and writes octets below. They become ready one after the other, from the socket
up; the worker learns of the connection when all are. A filter knows neither its neighbours nor the engine. It has a
limit for all that a peer can make it keep, and fails the connection beyond that.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias

Octets: TypeAlias = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """The facts that a filter that encrypts reports once it is ready."""

    user: str | None = None
    """The identity in the peer's certificate, if it has shown a trusted one."""
    protocol: str | None = None
    cipher: str | None = None
    ssf: int = 0
    """The key length of the cipher, in bits."""


class Stack(Protocol):
    """The transport that a filter is part of, as the filter sees it."""

    host: str
    """The peer's address and port."""

    @property
    def is_over(self) -> bool:
        """Whether the socket is gone."""

    @property
    def buffered_octets(self) -> int:
        """The octets that wait for the socket."""

    @property
    def is_open(self) -> bool:
        """Whether the socket is open, and nobody has closed it."""

    def filter_ready(self, security: Security | None) -> None:
        """Continue with the filter above, or with the connection."""

    def remove(self, leaving: "Filter", octets: bytes) -> None:
        """Remove a filter; the one above it takes the octets, which came from below."""

    def count_answer(self, octets: int) -> None:
        """Count octets that a filter writes by itself: there is a limit for a peer that does not read."""

    def peer_ended(self) -> None:
        """End the connection: the peer sends nothing more."""

    def finish(self) -> None:
        """Close the connection after everything before was written: there is no more output."""

    def fail(self, reason: str) -> None:
        """Close the connection for a reason, after everything before was written."""

    def give_up(self, reason: str) -> None:
        """End the connection at once, for a reason."""


class Filter:
    """One filter of one connection; this base class is ready at once, and passes everything on."""

    __slots__ = ("below", "deliver", "is_ready", "room", "stack")

    carries_amqp: ClassVar[bool] = True
    """Whether the octets are of an AMQP connection, now or later; otherwise management and the log do not show it."""
    stack: Stack
    below: Callable[[Octets], object]
    """Takes octets for the peer. It keeps no reference to their memory, which is reused at once."""
    room: memoryview
    """The memory for octets that go up. All connections of the worker share it."""
    deliver: Callable[[int], None]
    """Takes the given number of octets from the beginning of `room`."""

    def __init__(self) -> None:
        self.is_ready = False

    def join(
        self,
        stack: Stack,
        below: Callable[[Octets], object],
        room: memoryview,
        deliver: Callable[[int], None],
    ) -> None:
        """Take a place in a stack; again whenever a filter leaves it."""
        self.stack, self.below, self.room, self.deliver = stack, below, room, deliver

    # --- what each filter does in its own way

    def begin(self) -> None:
        """Begin: the socket and all filters below are ready."""
        self.ready()

    def receive(self, octets: memoryview) -> None:
        """Take octets from below. Their memory is reused as soon as this returns."""
        self.hand_on(octets)

    def send(self, octets: Octets) -> None:
        """Take octets from above, and write the result below. No reference to their memory may be kept."""
        self.below(bytes(octets))

    def close(self) -> None:
        """Tell the peer that nothing more will be sent; called while the filter is ready."""

    def retire(self) -> None:
        """Begin nothing new: the router is draining."""

    @property
    def is_awaiting_end(self) -> bool:
        """Whether the peer was told of the end by `close`, and its answer has still to come."""
        return False

    def end(self) -> None:
        """Stop timers, and drop waiting octets: `receive` and `send` are not called any more."""

    @property
    def waiting_octets(self) -> int:
        """The octets from above that have not been written below."""
        return 0

    @property
    def early_loss(self) -> str:
        """The reason for a failure, if the socket is lost before the filter is ready."""
        return ""

    # --- what filters use

    def ready(self, security: Security | None = None) -> None:
        """Let the filter above begin."""
        self.is_ready = True
        self.stack.filter_ready(security)

    def answer(self, octets: bytes) -> None:
        """Write octets of the filter itself, in answer to the peer."""
        if octets and not self.stack.is_over:
            self.below(octets)
            self.stack.count_answer(len(octets))

    def hand_on(self, octets: Octets) -> None:
        """Pass octets from elsewhere than `room` to the filter above."""
        room = self.room
        with memoryview(octets) as view:
            for at in range(0, len(view), len(room)):
                piece = view[at : at + len(room)]
                room[: len(piece)] = piece
                self.deliver(len(piece))


class FilterBuffers:
    """The memory of one worker that filters take octets from: one buffer for each place in a stack."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._views: list[memoryview] = []

    def at(self, place: int) -> memoryview:
        """Return the buffer for the filter at a place."""
        while len(self._views) <= place:
            self._views.append(memoryview(bytearray(self._size)))
        return self._views[place]
