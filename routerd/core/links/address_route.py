"""A way to other routers: where the messages of an address leave for those that have it behind the same neighbour."""

from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from routerd.core.links.address import Address
    from routerd.core.links.fan_out import FanOut
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.trunk import Trunk


class AddressRoute:
    """The messages of one address that go to one neighbour: by a trunk of this worker, or by a sibling that has it.

    `outlet` is the link to that sibling; `end` is the trunk, if this worker has it.

    Each link of an edge router for an address, `beside`, has a route next to it for large messages. They go by links
    for large messages, so that those behind them do not wait.
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
        # The sibling has no such trunk any more, which the routing engine will say before long.
        self.is_refused = False
        self.routers: tuple[str, ...] = ()
        # The least cost of a path to one of them, and how many are that near.
        self.cost = 0
        self.nearest = 1
        # Unsettled deliveries of the address that took this route.
        self.outstanding = 0
        # Copies of multicast messages that could not leave yet.
        self.waiting = None
        # What the recorder calls it, and in which register.
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
        return outlet if outlet is not None and outlet.can_send() else None
