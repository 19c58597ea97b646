"""What waits at an address that endpoints inside the router serve, so that no connection has to wait for another.

Connections take turns, a message each. A message takes part once it has come as a whole. A peer may begin a message and
never end it, and the link to the endpoint carries one message at a time.
"""

from collections import OrderedDict, deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.links.parked import Parked
    from routerd.core.links.peer import Peer

MESSAGE_MAX = 1 << 20
"""Octets of a message that comes in parts: it is put together in memory before it takes part."""


class FairQueue:
    """Has the part of a deque that `Waiting` uses."""

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
        """Whether a message is there as a whole."""
        return self._count > 0

    def append(self, parked: "Parked") -> None:
        """Add a message behind the others of its connection."""
        if parked.delivery.is_partial:
            self._incomplete[parked] = None
        else:
            self._lines.setdefault(parked.inlet.peer, deque()).append(parked)
            self._count += 1

    def complete(self, parked: "Parked") -> bool:
        """Have a message take part that has come as a whole now; whether it had come in parts."""
        if parked not in self._incomplete:
            return False
        del self._incomplete[parked]
        self.append(parked)
        return True

    def __getitem__(self, place: int) -> "Parked":
        return next(iter(self))

    def popleft(self) -> "Parked":
        """Take the first message; the turn goes to the next connection."""
        if not self._count:
            return self._incomplete.popitem()[0]
        peer, line = self._lines.popitem(last=False)
        self._count -= 1
        first = line.popleft()
        if line:
            self._lines[peer] = line
        return first

    def remove(self, parked: "Parked") -> None:
        """Take a message out, wherever it is."""
        if parked in self._incomplete:
            del self._incomplete[parked]
            return
        line = self._lines[parked.inlet.peer]
        line.remove(parked)
        self._count -= 1
        if not line:
            del self._lines[parked.inlet.peer]
