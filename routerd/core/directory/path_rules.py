"""Rules for the routes to other routers that a message may take.

A message from another router goes only to a neighbour that it has not passed. A balanced or multicast message goes only
where the path from its ingress router leads over this router. So each router serves its branch of the tree of shortest
paths from the ingress router, and nobody gets a copy twice.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import RouterAnnotations
    from routerd.core.clock import Clock
    from routerd.core.directory.network import Network
    from routerd.core.links.address import Address
    from routerd.core.links.address_route import AddressRoute

UNSETTLED_S = 3.0
"""How long other routers may see another network after a change."""


class PathRules:
    """Answers from the known network."""

    def __init__(self, clock: "Clock", network: "Network", router_id: str, is_edge: bool) -> None:
        self._clock = clock
        self._network = network
        self._router_id = router_id
        self._is_edge = is_edge
        # Limit of the routers that a message may have passed: the number of all routers.
        self.hops_max = 1
        self.changed_at = 0.0

    def may_take(self, address: "Address", route: "AddressRoute", annotations: "RouterAnnotations | None") -> bool:
        """Whether a message may take this route; a message without annotations entered here."""
        if annotations is None:
            return True
        if self._is_edge or route.next_hop in annotations.passed:
            return False
        origin = annotations.ingress
        if not origin or origin == self._router_id or not (address.is_balanced or address.is_multicast):
            return not (address.is_multicast and origin == self._router_id)
        network = self._network
        if origin not in network.routes:
            return not address.is_multicast
        return network.is_through_us(origin, route.routers)

    def may_detour(self, address: "Address", route: "AddressRoute", annotations: "RouterAnnotations | None") -> bool:
        """Whether a message without a regular route may take this one.

        It may while the network changes: the router before this one may still see the earlier network.
        """
        if annotations is None or self._clock.now - self.changed_at > UNSETTLED_S:
            return False
        return not (address.is_multicast or self._is_edge or route.next_hop in annotations.passed)

    def has_destination(self, address: "Address", annotations: "RouterAnnotations | None") -> bool:
        """Whether a message has a destination, now or later."""
        if address.local_count > 0 or address.remote_count > 0:
            return True
        for route in address.routes:
            if self.may_take(address, route, annotations) or self.may_detour(address, route, annotations):
                return True
        return False

    def routes_for(self, address: "Address", annotations: "RouterAnnotations | None") -> "list[AddressRoute]":
        """Return the routes for the copies of a multicast message."""
        routes = address.routes
        if annotations is None:
            return routes
        return [route for route in routes if self.may_take(address, route, annotations)]

    def runs_in_circles(self, annotations: "RouterAnnotations") -> bool:
        """Whether a message loops: it has passed this router, or more routers than there are, as paths are changing."""
        return (annotations.hops > self.hops_max or annotations.has_passed_us) and not self._is_edge
