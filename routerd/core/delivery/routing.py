"""Where a message leaves: by one of the outlets of its address, or by a way to other routers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.directory.path_rules import PathRules
    from routerd.core.links.address import Address
    from routerd.core.links.arrival import Arrival
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.way import Way

OUTSTANDING_MAX = 250
"""Unsettled deliveries of an address that go one way, beyond which others are preferred."""

_OVERLOADED = 1 << 40
_OUTSTANDING_MAX = OUTSTANDING_MAX


class Routing:
    """Chooses outlets."""

    _picked: "Outlet | None"

    def __init__(self, rules: "PathRules") -> None:
        self._rules = rules
        # The link of the way that is the best of those looked at so far.
        self._picked = None

    def choose(self, arrival: "Arrival", address: "Address", is_local_only: bool) -> "Outlet | None":
        """Return the outlet for a message that is not for all; None if it cannot leave now. Notes the way with it."""
        outlet = address.choose(is_local_only)
        if arrival.way is not None:
            arrival.way = None
        if address.ways and not is_local_only and self._finds_way(arrival, address, outlet):
            return self._picked
        if outlet is not None and outlet.side is not None and arrival.is_partial:
            arrival.way = outlet.side
            return outlet.side.pick(0, True)
        return outlet

    def _finds_way(self, arrival: "Arrival", address: "Address", local: "Outlet | None") -> bool:
        """Note the way that is better than a consumer of this router, if there is one; its link is `_picked`."""
        if address.is_balanced:
            arrival.way = self._least_loaded(arrival, address, local)
            if arrival.way is None and local is None and arrival.passage is not None:
                arrival.way = self._detour(arrival, address)
        elif not (address.local_count or address.remote_count):
            arrival.way = self._nearest(arrival, address)
        return arrival.way is not None

    def _least_loaded(self, arrival: "Arrival", address: "Address", local: "Outlet | None") -> "Way | None":
        limit = -1
        if local is not None:
            limit = local.link.unsettled_count
            if local.side is not None:
                limit += local.side.outstanding
            limit = limit // local.weight
            if limit == 0:
                return None
        best: Way | None = None
        ways = address.ways
        count = len(ways)
        at = address.way_turn if address.way_turn < count else 0
        priority = arrival.priority(address)
        # Those with equal loads take turns.
        for _ in range(count):
            way: Way = ways[at]
            at = at + 1 if at + 1 < count else 0
            value = way.outstanding + way.cost
            if way.outstanding >= _OUTSTANDING_MAX:
                value += _OVERLOADED
            if (limit >= 0 and value >= limit) or not self._rules.may_take(address, way, arrival.passage):
                continue
            outlet = way.pick(priority, arrival.is_partial)
            if outlet is not None:
                best = way
                limit = value
                self._picked = outlet
                address.way_turn = at
        return best

    def _detour(self, arrival: "Arrival", address: "Address") -> "Way | None":
        """Return the cheapest way for a message that has no proper one; None for one that has."""
        best: Way | None = None
        for way in address.ways:
            if self._rules.may_take(address, way, arrival.passage):
                return None
            if (best is None or way.cost < best.cost) and self._rules.may_detour(address, way, arrival.passage):
                best = way
        if best is None or address.local_count or address.remote_count:
            return None
        self._picked = best.pick(arrival.priority(address), arrival.is_partial)
        return best if self._picked is not None else None

    def _nearest(self, arrival: "Arrival", address: "Address") -> "Way | None":
        ways = address.ways
        count = len(ways)
        at = address.way_turn if address.way_turn < count else 0
        if address.way_taken >= ways[at].nearest:
            at = at + 1 if at + 1 < count else 0
        best: Way | None = None
        chosen = at
        # Those that are equally near take turns, each as many in a row as it leads to routers.
        for _ in range(count):
            way: Way = ways[at]
            if (best is None or way.cost < best.cost) and self._rules.may_take(address, way, arrival.passage):
                best = way
                chosen = at
            at = at + 1 if at + 1 < count else 0
        if best is None:
            return None
        self._picked = best.pick(arrival.priority(address), arrival.is_partial)
        if self._picked is None:
            return None
        if chosen != address.way_turn or address.way_taken >= best.nearest:
            address.way_turn = chosen
            address.way_taken = 0
        address.way_taken += 1
        return best
