"""Where a message leaves: by one of the outlets of its address, or by a way to other routers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.directory.path_rules import PathRules
    from routerd.core.links.address import Address
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.arrival import Arrival
    from routerd.core.links.outlet import Outlet

OUTSTANDING_MAX = 250
"""Unsettled deliveries of an address that go one way, beyond which others are preferred."""

_OVERLOADED = 1 << 40
_OUTSTANDING_MAX = OUTSTANDING_MAX


class Routing:
    """Chooses outlets."""

    _picked: "Outlet | None"

    def __init__(self, rules: "PathRules") -> None:
        self._rules = rules
        # The link of the route that is the best of those looked at so far.
        self._picked = None

    def choose(self, arrival: "Arrival", address: "Address", is_local_only: bool) -> "Outlet | None":
        """Return the outlet for a message that is not for all; None if it cannot leave now. Notes the route with it."""
        outlet = address.choose(is_local_only)
        if arrival.route is not None:
            arrival.route = None
        if address.routes and not is_local_only and self._finds_route(arrival, address, outlet):
            return self._picked
        if outlet is not None and outlet.side is not None and arrival.is_partial:
            arrival.route = outlet.side
            return outlet.side.pick(0, True)
        return outlet

    def _finds_route(self, arrival: "Arrival", address: "Address", local: "Outlet | None") -> bool:
        """Note the route that is better than a consumer of this router, if there is one; its link is `_picked`."""
        if address.is_balanced:
            arrival.route = self._least_loaded(arrival, address, local)
            if arrival.route is None and local is None and arrival.annotations is not None:
                arrival.route = self._detour(arrival, address)
        elif not (address.local_count or address.remote_count):
            arrival.route = self._nearest(arrival, address)
        return arrival.route is not None

    def _least_loaded(self, arrival: "Arrival", address: "Address", local: "Outlet | None") -> "AddressRoute | None":
        limit = -1
        if local is not None:
            limit = local.link.unsettled_count
            if local.side is not None:
                limit += local.side.outstanding
            limit = limit // local.weight
            if limit == 0:
                return None
        best: AddressRoute | None = None
        routes = address.routes
        count = len(routes)
        at = address.route_turn if address.route_turn < count else 0
        priority = arrival.priority(address)
        # Those with equal loads take turns.
        for _ in range(count):
            route: AddressRoute = routes[at]
            at = at + 1 if at + 1 < count else 0
            value = route.outstanding + route.cost
            if route.outstanding >= _OUTSTANDING_MAX:
                value += _OVERLOADED
            if (limit >= 0 and value >= limit) or not self._rules.may_take(address, route, arrival.annotations):
                continue
            outlet = route.pick(priority, arrival.is_partial)
            if outlet is not None:
                best = route
                limit = value
                self._picked = outlet
                address.route_turn = at
        return best

    def _detour(self, arrival: "Arrival", address: "Address") -> "AddressRoute | None":
        """Return the cheapest route for a message that has no proper one; None for one that has."""
        best: AddressRoute | None = None
        for route in address.routes:
            if self._rules.may_take(address, route, arrival.annotations):
                return None
            if (best is None or route.cost < best.cost) and self._rules.may_detour(address, route, arrival.annotations):
                best = route
        if best is None or address.local_count or address.remote_count:
            return None
        self._picked = best.pick(arrival.priority(address), arrival.is_partial)
        return best if self._picked is not None else None

    def _nearest(self, arrival: "Arrival", address: "Address") -> "AddressRoute | None":
        routes = address.routes
        count = len(routes)
        at = address.route_turn if address.route_turn < count else 0
        if address.route_taken >= routes[at].nearest:
            at = at + 1 if at + 1 < count else 0
        best: AddressRoute | None = None
        chosen = at
        # Those that are equally near take turns, each as many in a row as it leads to routers.
        for _ in range(count):
            route: AddressRoute = routes[at]
            if (best is None or route.cost < best.cost) and self._rules.may_take(address, route, arrival.annotations):
                best = route
                chosen = at
            at = at + 1 if at + 1 < count else 0
        if best is None:
            return None
        self._picked = best.pick(arrival.priority(address), arrival.is_partial)
        if self._picked is None:
            return None
        if chosen != address.route_turn or address.route_taken >= best.nearest:
            address.route_turn = chosen
            address.route_taken = 0
        address.route_taken += 1
        return best
