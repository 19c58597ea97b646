"""The choice of the outlet: one of the address, or one of a route to other routers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.directory.path_rules import PathRules
    from routerd.core.links.address import Address
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.arrival import Arrival
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.peer import Peer

OUTSTANDING_MAX = 250
"""Unsettled deliveries of an address on one route. Above this number, other routes are preferred."""

EVENED_MAX = 32
"""Destinations of an address whose loads are compared for messages that leave together."""

_OVERLOADED = 1 << 40
_EVENED_MAX = EVENED_MAX
_OUTSTANDING_MAX = OUTSTANDING_MAX


class Routing:
    """Chooses outlets."""

    _picked: "Outlet | None"

    def __init__(self, rules: "PathRules") -> None:
        self._rules = rules
        # The link of the best route so far.
        self._picked = None

    def choose(self, arrival: "Arrival", address: "Address", is_local_only: bool) -> "Outlet | None":
        """Return the outlet for a message with one destination, and note its route; None if it cannot leave now."""
        peer = arrival.inlet.peer
        # An edge router has chosen among its own consumers before. It gets a message back only if nobody else can take
        # it; otherwise messages that it has sent to these meanwhile would overtake this one.
        spared = peer if peer.is_edge else None
        outlet = address.choose(is_local_only, spared)
        if arrival.route is not None:
            arrival.route = None
        if address.routes and not is_local_only and self._finds_route(arrival, address, outlet, spared):
            return self._picked
        if outlet is None and spared is not None:
            outlet = address.choose(is_local_only)
        if outlet is not None and arrival.is_partial:
            if outlet.side is not None:
                arrival.route = outlet.side
                return outlet.side.pick(0, True)
            if outlet.streams is not None:
                return outlet.streams.pick()
        return outlet

    def _finds_route(
        self, arrival: "Arrival", address: "Address", local: "Outlet | None", spared: "Peer | None"
    ) -> bool:
        """Note the best route, if it is better than a consumer of this router. Its link is `_picked`."""
        if address.is_balanced:
            arrival.route = self._least_loaded(arrival, address, local)
            if arrival.route is None and local is None and arrival.annotations is not None:
                arrival.route = self._detour(arrival, address)
        elif not (address.local_count or address.remote_count) or (
            local is None and spared is not None and not address.has_others(spared)
        ):
            arrival.route = self._nearest(arrival, address)
        return arrival.route is not None

    def _least_loaded(self, arrival: "Arrival", address: "Address", local: "Outlet | None") -> "AddressRoute | None":
        limit = -1
        if local is not None:
            limit = local.load() // local.weight
            if limit == 0:
                return None
        best: AddressRoute | None = None
        routes = address.routes
        count = len(routes)
        at = address.route_turn if address.route_turn < count else 0
        priority = arrival.priority(address)
        # Destinations with equal loads take turns.
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

    def part_of(self, arrival: "Arrival", address: "Address", chosen: "Outlet", behind: int) -> int:
        """Return how many of the messages behind one may follow it to its outlet, if the least load decides.

        Those that are here fill up the destinations with little load to the same level. So each gets as many as if all
        of them had been routed one by one. With very many destinations, the result is -1.
        """
        outlets = address.outlets
        routes = address.routes
        if len(outlets) + len(routes) > _EVENED_MAX:
            return -1
        priority = arrival.priority(address)
        level = 0.0
        part = 0.0
        included = 0
        before = -1
        while included != before:
            before = included
            included = 0
            load_of_all = float(behind)
            weight_of_all = 0
            for outlet in outlets:
                load = outlet.load()
                is_chosen = outlet is chosen and arrival.route is None
                if (before < 0 or load < level * outlet.weight) and (is_chosen or outlet.can_send()):
                    included += 1
                    load_of_all += load
                    weight_of_all += outlet.weight
                    if is_chosen:
                        part = -load
            for route in routes:
                load = route.outstanding + route.cost
                is_chosen = route is arrival.route
                if route.outstanding < _OUTSTANDING_MAX and (before < 0 or load < level):
                    if not is_chosen and (
                        not self._rules.may_take(address, route, arrival.annotations)
                        or route.pick(priority, False) is None
                    ):
                        continue
                    included += 1
                    load_of_all += load
                    weight_of_all += 1
                    if is_chosen:
                        part = -load
            if weight_of_all == 0:
                return 0
            level = load_of_all / weight_of_all
        return max(0, int(level * (chosen.weight if arrival.route is None else 1) + part))

    def _detour(self, arrival: "Arrival", address: "Address") -> "AddressRoute | None":
        """Return the cheapest route for a message without a regular one; None if there is a regular one."""
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
        # Equally near routes take turns. Each gets as many messages in a row as it leads to routers.
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
