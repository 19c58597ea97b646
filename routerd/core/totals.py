"""The totals of the counters of a worker's links over their lives."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.routed_end import RoutedEnd

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


class Totals:
    """Sums of the counters of links that are over, by direction: clients, other routers, fabric and inner ones.

    Those of containers are among those of clients.
    """

    def __init__(self) -> None:
        self.ingress = dict.fromkeys(COUNTERS, 0)
        self.egress = dict.fromkeys(COUNTERS, 0)
        self.trunk_in = dict.fromkeys(COUNTERS, 0)
        self.trunk_out = dict.fromkeys(COUNTERS, 0)
        self.container_in = dict.fromkeys(COUNTERS, 0)
        self.container_out = dict.fromkeys(COUNTERS, 0)
        self.fabric_in = dict.fromkeys(COUNTERS, 0)
        self.fabric_out = dict.fromkeys(COUNTERS, 0)
        self.inner_in = dict.fromkeys(COUNTERS, 0)
        self.inner_out = dict.fromkeys(COUNTERS, 0)

    def add(self, end: "Inlet | Outlet | RoutedEnd") -> None:
        """Add the counters of a link."""
        if end.trunk is not None:
            sums = self.trunk_out if end.link.is_sender else self.trunk_in
        elif end.peer.is_fabric:
            sums = self.fabric_out if end.link.is_sender else self.fabric_in
        elif end.peer.is_inner:
            sums = self.inner_out if end.link.is_sender else self.inner_in
        else:
            sums = self.egress if end.link.is_sender else self.ingress
        for name in COUNTERS:
            sums[name] += getattr(end, name)
        if end.peer.is_container:
            sums = self.container_out if end.link.is_sender else self.container_in
            for name in COUNTERS:
                sums[name] += getattr(end, name)

    def dropped(self) -> int:
        """Return the number of dropped settled messages, or copies of them, without links of inner endpoints."""
        sums = (self.ingress, self.egress, self.trunk_in, self.trunk_out, self.fabric_in, self.fabric_out)
        return sum(one["dropped_presettled"] for one in sums)

    def copy(self) -> "Totals":
        """Return a copy to which the present links can be added."""
        copy = Totals()
        for name, sums in vars(self).items():
            setattr(copy, name, dict(sums))
        return copy
