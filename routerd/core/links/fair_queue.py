"""A queue for addresses served inside the router, in which connections take turns.

Each turn is one message, so no connection waits for all messages of another. A message gets a turn only once it is
complete. The link to the endpoint carries one message at a time, and a peer may never finish its message.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.links.parked import Parked
    from routerd.core.links.peer import Peer

MESSAGE_MAX = 1 << 20
"""Octets of the largest message that comes in parts: it is assembled in memory first."""


class FairQueue:
    """The operations of a deque that queues of an address use."""

    def __init__(self) -> None:
        self._lines: OrderedDict[Peer, deque[Parked]] = OrderedDict()
        self._incomplete: dict[Parked, None] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count + len(self._incomplete)

    def __iter__(self) -> "Iterator[Parked]":
        for line in self._lines.values():
            yield from line
        yield from self._incomplete

    @property
    def is_ready(self) -> bool:
        """Whether there is a complete message."""
        return self._count > 0

    def append(self, parked: "Parked") -> None:
        """Add a message behind the others of its connection."""
        if parked.delivery.is_partial:
            self._incomplete[parked] = None
        else:
            self._lines.setdefault(parked.inlet.peer, deque()).append(parked)
            self._count += 1

    def complete(self, parked: "Parked") -> bool:
        """Queue a message that is complete now; return whether it had come in parts."""
        if parked not in self._incomplete:
            return False
        del self._incomplete[parked]
        self.append(parked)
        return True

    def __getitem__(self, place: int) -> "Parked":
        return next(iter(self))

    def popleft(self) -> "Parked":
        """Remove and return the first message; the next turn is another connection's."""
        if not self._count:
            return self._incomplete.popitem()[0]
        peer, line = self._lines.popitem(last=False)
        self._count -= 1
        first = line.popleft()
        if line:
            self._lines[peer] = line
        return first

    def remove(self, parked: "Parked") -> None:
        """Remove a message, wherever it is."""
        if parked in self._incomplete:
            del self._incomplete[parked]
            return
        line = self._lines[parked.inlet.peer]
        line.remove(parked)
        self._count -= 1
        if not line:
            del self._lines[parked.inlet.peer]
