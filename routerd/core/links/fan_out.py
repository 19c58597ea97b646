"""A multicast message on its way to several outlets, and the combination of their outcomes."""

from typing import TYPE_CHECKING, Any

from routerd.wire import ACCEPTED, RELEASED, Modified, Rejected

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import RouterAnnotations
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.wire.delivery import Delivery

MAYBE_SEEN = Modified(delivery_failed=True)
"""The outcome of a delivery whose consumer was lost before it settled."""

_ACCEPTED = ACCEPTED
_RELEASED = RELEASED


class FanOut:
    """One incoming delivery and its copies. It is settled with the highest outcome, once each copy has one."""

    delivery: "Delivery | None"
    outcome: Any
    annotations: "RouterAnnotations | None"
    routes: "list[AddressRoute] | None"
    outlets: "list[Outlet] | None"
    awaiting: "dict[Delivery, None] | None"

    def __init__(self, inlet: "Inlet", delivery: "Delivery") -> None:
        self.inlet = inlet
        self.delivery = delivery
        self.message_format = delivery.message_format
        # The producer's state of the delivery, which all copies have.
        self.state = delivery.remote_state
        self.is_settled = delivery.remote_settled
        self.stamp = delivery.stamp
        self.is_complete = False
        self.outcome = None
        self.rank = -1
        # Copies without an outcome, including those that wait for their outlet.
        self.open_copies = 0
        # Copies whose consumers have given an outcome, and wait for the producer's settlement.
        self.awaiting = None
        self.waiting = 0
        # The octets that have come, while a copy waits; and copies that are sent while more octets come.
        self.octets = bytearray()
        self.under_way: list[Delivery] = []
        # The frames that keep the window of its session closed, and the octets that came without closing it.
        self.frames = 0
        self.unheld = 0
        # Too much of it came while copies wait: they are given up.
        self.is_cut = False
        # What is counted for it if its copies wait although its producer has left.
        self.left_octets = 0
        # Routes on which it may leave once it is complete.
        self.routes = None
        # Links to siblings by which it may leave then.
        self.outlets = None
        # The annotations of the message, for the recorder.
        self.annotations = None

    def combine(self, outcome: Any) -> None:
        """Count a copy's outcome: rejected ranks above accepted, that above modified, and that above released."""
        self.open_copies -= 1
        rank = rank_of(outcome)
        if rank > self.rank:
            self.rank = rank
            self.outcome = outcome

    def wait_for_producer(self, out: "Delivery") -> None:
        """Note a copy whose consumer has not settled its outcome."""
        if self.awaiting is None:
            self.awaiting = {}
        self.awaiting[out] = None

    def is_awaiting(self, out: "Delivery") -> bool:
        """Whether the consumer of a copy waits for the producer."""
        return self.awaiting is not None and out in self.awaiting

    def copy_over(self, out: "Delivery", outcome: Any) -> None:
        """Forget a copy; it gets an outcome unless it has one."""
        out.context = None
        if self.awaiting is not None and out in self.awaiting:
            del self.awaiting[out]
        else:
            self.combine(outcome)

    def settle_awaiting(self) -> None:
        """Settle the copies whose consumers wait for the producer: it has settled, or is lost."""
        awaiting, self.awaiting = self.awaiting, None
        for out in () if awaiting is None else awaiting:
            out.context = None
            if not out.settled:
                out.settle_at_end()

    def note_route(self, route: "AddressRoute") -> None:
        """Note a route where a copy waits for a link for large messages."""
        if self.routes is None:
            self.routes = []
        self.routes.append(route)

    def note_outlet(self, outlet: "Outlet") -> None:
        """Note a link to a sibling where a copy waits for one for large messages."""
        if self.outlets is None:
            self.outlets = []
        self.outlets.append(outlet)

    def is_alive(self) -> bool:
        """Whether the message is still to be sent: its producer may have left or aborted it."""
        return self.delivery is not None or self.left_octets != 0 or (self.is_settled and self.is_complete)

    def size(self) -> int:
        """Return the octets that have come."""
        return len(self.octets) if self.delivery is None else self.delivery.size


def rank_of(outcome: Any) -> int:
    """Return the rank of an outcome among those of several consumers. A state that is none is below accepted."""
    if outcome is _ACCEPTED:
        return 3
    if outcome is _RELEASED or outcome is None:
        return 0
    if isinstance(outcome, Modified):
        return 1
    return 4 if isinstance(outcome, Rejected) else 2
