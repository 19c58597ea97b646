"""The totals of the counters of a worker's links over their lives."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from routerd.core.links.end import COUNTERS
from routerd.core.links.routed_end import RoutedEnd

if TYPE_CHECKING:
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.peer import Peer

    AnyEnd = Inlet | Outlet | RoutedEnd


class Totals:
    """Sums of the counters of links that are over, by direction: clients, other routers, fabric and inner ones.

    Those of containers are among those of clients. Those of other routers have some that a qdrouterd counts like those
    of clients: the links of edge routers, and routed links.
    """

    def __init__(self) -> None:
        self.ingress = dict.fromkeys(COUNTERS, 0)
        self.egress = dict.fromkeys(COUNTERS, 0)
        self.trunk_in = dict.fromkeys(COUNTERS, 0)
        self.trunk_out = dict.fromkeys(COUNTERS, 0)
        self.endpoint_in = dict.fromkeys(COUNTERS, 0)
        self.endpoint_out = dict.fromkeys(COUNTERS, 0)
        # Routed links that go on to another interior router.
        self.routed_on = dict.fromkeys(COUNTERS, 0)
        self.container_in = dict.fromkeys(COUNTERS, 0)
        self.container_out = dict.fromkeys(COUNTERS, 0)
        self.fabric_in = dict.fromkeys(COUNTERS, 0)
        self.fabric_out = dict.fromkeys(COUNTERS, 0)
        self.inner_in = dict.fromkeys(COUNTERS, 0)
        self.inner_out = dict.fromkeys(COUNTERS, 0)
        self.stalls = 0
        """How often consumers and other routers had no credit or room left."""

    def add(self, end: "AnyEnd") -> None:
        """Add the counters of a link."""
        is_outgoing = end.link.is_sender
        counters = end.counters()
        # Most links that end together have counted little or nothing.
        if any(counters):
            counted = [(name, number) for name, number in zip(COUNTERS, counters, strict=True) if number]
            is_trunk = end.trunk is not None
            for sums in self._sums_of(end.peer, is_trunk, is_trunk and isinstance(end, RoutedEnd), is_outgoing):
                for name, number in counted:
                    sums[name] += number
        if is_outgoing and end.peer.is_external:
            self.stalls += getattr(end, "stalls", 0)

    def add_all(self, ends: "Sequence[AnyEnd]", is_outgoing: bool) -> None:
        """Add the counters of links in one direction that a connection has."""
        of_trunks = [end for end in ends if end.trunk is not None]
        others = [end for end in ends if end.trunk is None] if of_trunks else ends
        routed = [end for end in of_trunks if isinstance(end, RoutedEnd)]
        own = [end for end in of_trunks if not isinstance(end, RoutedEnd)] if routed else of_trunks
        for some, is_trunk, is_routed in ((own, True, False), (routed, True, True), (others, False, False)):
            if some:
                # Column by column: a report adds up tens of thousands of links.
                counts = [sum(column) for column in zip(*(end.counters() for end in some), strict=True)]
                for sums in self._sums_of(some[0].peer, is_trunk, is_routed, is_outgoing):
                    for name, count in zip(COUNTERS, counts, strict=True):
                        sums[name] += count
        if is_outgoing and ends and ends[0].peer.is_external:
            # Only what a consumer gets has them.
            self.stalls += sum(getattr(end, "stalls", 0) for end in ends)

    def _sums_of(
        self, peer: "Peer", is_trunk: bool, is_routed: bool, is_outgoing: bool
    ) -> Iterator[dict[str, int]]:
        """Yield the sums that links of a connection belong to; `is_routed` is for those of other routers."""
        if is_trunk:
            yield self.trunk_out if is_outgoing else self.trunk_in
            if peer.is_edge or (is_routed and not is_outgoing):
                yield self.endpoint_out if is_outgoing else self.endpoint_in
            elif is_routed:
                yield self.routed_on
        elif peer.is_fabric:
            yield self.fabric_out if is_outgoing else self.fabric_in
        elif peer.is_inner:
            yield self.inner_out if is_outgoing else self.inner_in
        else:
            yield self.egress if is_outgoing else self.ingress
        if peer.is_container:
            yield self.container_out if is_outgoing else self.container_in

    def dropped(self) -> int:
        """Return the number of dropped settled messages, or copies of them, without links of inner endpoints."""
        sums = (self.ingress, self.egress, self.trunk_in, self.trunk_out, self.fabric_in, self.fabric_out)
        return sum(one["dropped_presettled"] for one in sums)

    def copy(self) -> "Totals":
        """Return a copy to which the present links can be added."""
        copy = Totals()
        for name, sums in vars(self).items():
            setattr(copy, name, dict(sums) if isinstance(sums, dict) else sums)
        return copy
