"""An end of a link in the router: its role and its counters."""

from typing import TYPE_CHECKING, Any

from routerd.core.links.role import NO_LINK_ROLE, LinkRole
from routerd.wire import ACCEPTED, RELEASED, Modified, Rejected

if TYPE_CHECKING:
    from routerd.core.links.peer import Peer

COUNTERS = (
    "deliveries",
    "presettled",
    "dropped_presettled",
    "accepted",
    "rejected",
    "released",
    "modified",
    "delayed_1s",
    "delayed_10s",
)

_ACCEPTED = ACCEPTED
_RELEASED = RELEASED


class End:
    """The common base of inlets and outlets."""

    role: LinkRole

    def __init__(self, number: int, peer: "Peer") -> None:
        self.number = number
        self.role = NO_LINK_ROLE
        self.is_open = False
        self.is_watched = peer.is_watched
        self.deliveries = 0
        self.presettled = 0
        self.dropped_presettled = 0
        self.accepted = 0
        self.rejected = 0
        self.released = 0
        self.modified = 0
        self.delayed_1s = 0
        self.delayed_10s = 0

    def counters(self) -> tuple[int, ...]:
        """Return the counters, in the order of their names."""
        return (
            self.deliveries,
            self.presettled,
            self.dropped_presettled,
            self.accepted,
            self.rejected,
            self.released,
            self.modified,
            self.delayed_1s,
            self.delayed_10s,
        )

    def count(self, outcome: Any) -> None:
        """Count an outcome."""
        if outcome is _ACCEPTED:
            self.accepted += 1
        elif outcome is _RELEASED:
            self.released += 1
        elif isinstance(outcome, Modified):
            self.modified += 1
        elif isinstance(outcome, Rejected):
            self.rejected += 1

    def count_delay(self, age: float) -> None:
        """Count a delivery that took longer than a second."""
        if age > 10.0:
            self.delayed_10s += 1
        else:
            self.delayed_1s += 1
