"""The backlog of a session: octets to send, in order, while the peer's window has no room.

A backlog holds copies, so the caller may reuse its buffer as soon as `Sender.write` returns. The caller bounds the
backlog: it waits while `Session.has_backlog` is set.

Links of a session may end one by one, and the cost of each should depend only on its own entries. So an entry that a
link takes back only loses its octets. It leaves the queue when it is in front, or when most entries are such.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link

# The entries that were taken back may exceed those that wait by this number.
_SLACK = 64


@dataclass(slots=True, eq=False)
class BacklogEntry:
    """Octets of one delivery, sent up to `start`; an entry without delivery was taken back."""

    delivery: "Delivery | None"
    octets: bytes
    start: int
    more: bool


class Backlog:
    """The queue of one session; it is false when it is empty."""

    def __init__(self) -> None:
        self._queue: deque[BacklogEntry] = deque()
        self._of_link: dict[Link, deque[BacklogEntry]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> "Iterator[BacklogEntry]":
        """Iterate over the entries that wait, in order."""
        return (entry for entry in self._queue if entry.delivery is not None)

    @property
    def octets(self) -> int:
        """Return the octets that wait."""
        return sum(len(entry.octets) - entry.start for entry in self)

    def add(self, delivery: "Delivery", octets: bytes, more: bool) -> None:
        """Queue octets of a delivery."""
        entry = BacklogEntry(delivery, octets, 0, more)
        self._queue.append(entry)
        self._of_link.setdefault(delivery.link, deque()).append(entry)
        self._count += 1

    def first(self) -> "tuple[BacklogEntry, Delivery] | None":
        """Return the octets to send first, and their delivery."""
        queue = self._queue
        while queue:
            delivery = queue[0].delivery
            if delivery is not None:
                return queue[0], delivery
            queue.popleft()
        return None

    def drop_first(self, link: "Link") -> None:
        """Remove the octets that `first` returned, for a delivery of that link: they are sent."""
        self._queue.popleft()
        self._count -= 1
        entries = self._of_link[link]
        entries.popleft()
        if not entries:
            del self._of_link[link]

    def drop_delivery(self, delivery: "Delivery") -> None:
        """Remove the octets of a delivery, which must be the last of its link."""
        entries = self._of_link.get(delivery.link)
        while entries and entries[-1].delivery is delivery:
            self._take_back(entries.pop())
        if entries is not None and not entries:
            del self._of_link[delivery.link]
        self._tidy()

    def drop_link(self, link: "Link") -> None:
        """Remove the octets of a link."""
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
