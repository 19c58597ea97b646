"""A route of an address: messages leave by it for the routers behind one neighbour."""

from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from routerd.core.links.address import Address
    from routerd.core.links.fan_out import FanOut
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.trunk import Trunk


class AddressRoute:
    """The messages of one address that go to one neighbour, by a trunk of this worker or of a sibling.

    `end` is the trunk, if this worker has it. Otherwise `outlet` is the link to the sibling that has it.

    Each link of an edge router for an address has a route for large messages next to it. Its `beside` is that link.
    Large messages take separate links, so that messages behind them need not wait.
    """

    address: "Address"
    end: "Trunk | None"
    outlet: "Outlet | None"
    beside: "Outlet | None"
    waiting: "deque[FanOut] | None"

    def __init__(self, address: "Address", trunk: int, next_hop: str) -> None:
        self.address = address
        self.trunk = trunk
        self.next_hop = next_hop
        self.end = None
        self.outlet = None
        self.beside = None
        # The sibling has lost the trunk. The routing engine will report that soon.
        self.is_refused = False
        self.routers: tuple[str, ...] = ()
        # The least cost of a path to one of the routers, and the number of routers at that cost.
        self.cost = 0
        self.nearest = 1
        # Unsettled deliveries of the address that took this route.
        self.outstanding = 0
        # Copies of multicast messages that could not leave yet.
        self.waiting = None
        # The register of the recorder that knows the route, and its number there.
        self.recorded_in: Any = None
        self.recorded_as = 0

    def pick(self, priority: int, is_partial: bool) -> "Outlet | None":
        """Return the link for a message of this priority, or None when it cannot leave now."""
        outlet = self.beside
        if outlet is not None and (not is_partial or self.end is None or self.end.is_streamless):
            return outlet if outlet.can_send() else None
        if self.end is not None:
            return self.end.pick(self.address, priority, is_partial)
        outlet = self.outlet
        return None if outlet is None else outlet.link_for(is_partial)
