"""What a session has been given to send and the peer's window has no room for, in order.

A backlog holds copies: the caller's buffer is its own again as soon as `Sender.write` returns. It is
bounded by what the caller sends while `Session.has_backlog` tells it to wait.
"""

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link


@dataclass(slots=True)
class BacklogEntry:
    """Octets of one delivery, sent up to `start`."""

    delivery: "Delivery"
    octets: bytes
    start: int
    more: bool


class Backlog:
    """The queue of one session."""

    def __init__(self) -> None:
        self.entries: deque[BacklogEntry] = deque()

    @property
    def octets(self) -> int:
        """How many octets wait."""
        return sum(len(entry.octets) - entry.start for entry in self.entries)

    def add(self, delivery: "Delivery", octets: bytes, more: bool) -> None:
        """Queue octets of a delivery."""
        self.entries.append(BacklogEntry(delivery, octets, 0, more))

    def drop_delivery(self, delivery: "Delivery") -> None:
        """Forget what is queued of a delivery."""
        self.entries = deque(entry for entry in self.entries if entry.delivery is not delivery)

    def drop_link(self, link: "Link") -> None:
        """Forget what is queued of a link."""
        self.entries = deque(entry for entry in self.entries if entry.delivery.link is not link)
