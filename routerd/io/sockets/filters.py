"""Filters between a socket and an engine: TLS, and what else may lie on a connection.

Filters are a stack, the first one at the socket and the last one at the engine. Each takes octets from below and hands
octets on, and takes octets from above and writes octets below. They become ready one after the other, from the socket
up; the worker is told of the connection when all are. A filter knows neither its neighbours nor the engine. It has a
limit for all that a peer can make it keep, and fails the connection beyond that.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

Octets: TypeAlias = bytes | bytearray | memoryview


@dataclass(frozen=True, slots=True, kw_only=True)
class Security:
    """What a filter that encrypts says of itself once it is ready."""

    user: str | None = None
    """Who the peer's certificate says that it is, if it has shown one that is trusted."""
    protocol: str | None = None
    cipher: str | None = None
    ssf: int = 0
    """The bits of the cipher's key."""


class Stack(Protocol):
    """The transport that a filter is part of, as the filter sees it."""

    @property
    def is_over(self) -> bool:
        """Whether the socket is gone."""

    @property
    def is_open(self) -> bool:
        """Whether the socket is there, and nobody has closed it."""

    def filter_ready(self, security: Security | None) -> None:
        """Go on with the filter above, or with the connection."""

    def remove(self, leaving: "Filter", octets: bytes) -> None:
        """Do without a filter; whoever is above it takes the octets, which came from below."""

    def count_answer(self, octets: int) -> None:
        """Count octets that a filter writes by itself; a peer that does not read may cause only so many."""

    def peer_ended(self) -> None:
        """End the connection: the peer sends nothing more."""

    def fail(self, reason: str) -> None:
        """Close the connection for a reason, with what has been written before."""

    def give_up(self, reason: str) -> None:
        """End the connection at once, for a reason."""


class Filter:
    """One filter of one connection; this one is ready at once, and hands all on as it is."""

    __slots__ = ("below", "deliver", "is_ready", "room", "stack")

    stack: Stack
    below: Callable[[Octets], object]
    """Takes octets that go to the peer. It keeps none of their memory, which may serve again at once."""
    room: memoryview
    """Where what goes up is put. All connections of the worker share this memory."""
    deliver: Callable[[int], None]
    """Has what is in `room` taken: so many octets from its beginning."""

    def __init__(self) -> None:
        self.is_ready = False

    def join(
        self,
        stack: Stack,
        below: Callable[[Octets], object],
        room: memoryview,
        deliver: Callable[[int], None],
    ) -> None:
        """Take a place in a stack; another one when a filter leaves it."""
        self.stack, self.below, self.room, self.deliver = stack, below, room, deliver

    # --- what each filter does in its own way

    def begin(self) -> None:
        """Begin: the socket and all filters below are ready."""
        self.ready()

    def receive(self, octets: memoryview) -> None:
        """Take octets from below. Their memory serves again as soon as this returns."""
        self.hand_on(octets)

    def send(self, octets: Octets) -> None:
        """Take octets from above, and write what comes of them below. Nothing may be kept of their memory."""
        self.below(bytes(octets))

    def close(self) -> None:
        """Tell the peer that nothing more will be sent; called while the filter is ready."""

    def end(self) -> None:
        """Stop timers, and forget what waits: neither `receive` nor `send` is called from now on."""

    @property
    def waiting_octets(self) -> int:
        """How much from above has not been written below."""
        return 0

    @property
    def early_loss(self) -> str:
        """Why the connection could not be, where the socket is lost before the filter is ready."""
        return ""

    # --- what filters use

    def ready(self, security: Security | None = None) -> None:
        """Have those above begin."""
        self.is_ready = True
        self.stack.filter_ready(security)

    def answer(self, octets: bytes) -> None:
        """Write octets of the filter's own, which the peer has brought about."""
        if octets and not self.stack.is_over:
            self.below(octets)
            self.stack.count_answer(len(octets))

    def hand_on(self, octets: Octets) -> None:
        """Have octets from elsewhere than `room` taken by whoever is above."""
        room = self.room
        with memoryview(octets) as view:
            for at in range(0, len(view), len(room)):
                piece = view[at : at + len(room)]
                room[: len(piece)] = piece
                self.deliver(len(piece))


class FilterBuffers:
    """The memory of one worker that filters take octets from, one buffer for each place in a stack."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._views: list[memoryview] = []

    def at(self, place: int) -> memoryview:
        """Return the buffer that the filter at a place takes octets from."""
        while len(self._views) <= place:
            self._views.append(memoryview(bytearray(self._size)))
        return self._views[place]
