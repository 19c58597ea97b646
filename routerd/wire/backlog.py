"""What a session has been given to send and the peer's window has no room for, in order.

A backlog holds copies: the caller's buffer is its own again as soon as `Sender.write` returns. It is
bounded by what the caller sends while `Session.has_backlog` tells it to wait.
The links of a session may end one by one, and each is to cost what it has queued. So an entry that a link takes back
only loses its octets. It leaves the queue when it is in front, or when most entries are such.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link

# Entries that were taken back may be as many as those that wait, and these.
_SLACK = 64


@dataclass(slots=True, eq=False)
class BacklogEntry:
    """Octets of one delivery, sent up to `start`; without a delivery it was taken back."""

    delivery: "Delivery | None"
    octets: bytes
    start: int
    more: bool


class Backlog:
    """The queue of one session; it is false when nothing waits."""

    def __init__(self) -> None:
        self._queue: deque[BacklogEntry] = deque()
        self._of_link: dict[Link, deque[BacklogEntry]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> "Iterator[BacklogEntry]":
        """Iterate over what waits, in order."""
        return (entry for entry in self._queue if entry.delivery is not None)

    @property
    def octets(self) -> int:
        """How many octets wait."""
        return sum(len(entry.octets) - entry.start for entry in self)

    def add(self, delivery: "Delivery", octets: bytes, more: bool) -> None:
        """Queue octets of a delivery."""
        entry = BacklogEntry(delivery, octets, 0, more)
        self._queue.append(entry)
        self._of_link.setdefault(delivery.link, deque()).append(entry)
        self._count += 1

    def first(self) -> "tuple[BacklogEntry, Delivery] | None":
        """Return what is to be sent first, and the delivery that it is of."""
        queue = self._queue
        while queue:
            delivery = queue[0].delivery
            if delivery is not None:
                return queue[0], delivery
            queue.popleft()
        return None

    def drop_first(self, link: "Link") -> None:
        """Forget what `first` returned, which is of that link: it is sent."""
        self._queue.popleft()
        self._count -= 1
        entries = self._of_link[link]
        entries.popleft()
        if not entries:
            del self._of_link[link]

    def drop_delivery(self, delivery: "Delivery") -> None:
        """Forget what is queued of a delivery, which is the last of its link."""
        entries = self._of_link.get(delivery.link)
        while entries and entries[-1].delivery is delivery:
            self._take_back(entries.pop())
        if entries is not None and not entries:
            del self._of_link[delivery.link]
        self._tidy()

    def drop_link(self, link: "Link") -> None:
        """Forget what is queued of a link."""
        for entry in self._of_link.pop(link, ()):
            self._take_back(entry)
        self._tidy()

    def _take_back(self, entry: BacklogEntry) -> None:
        entry.delivery = None
        entry.octets = b""
        entry.start = 0
        self._count -= 1

    def _tidy(self) -> None:
        if len(self._queue) > 2 * self._count + _SLACK:
            self._queue = deque(self)
