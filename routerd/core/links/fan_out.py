"""A multicast message on its way to several outlets, and the combination of their outcomes."""

from typing import TYPE_CHECKING, Any

from routerd.wire import ACCEPTED, RELEASED, Modified, Rejected

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import RouterAnnotations
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.inlet import Inlet
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

    def __init__(self, inlet: "Inlet", delivery: "Delivery") -> None:
        self.inlet = inlet
        self.delivery = delivery
        self.message_format = delivery.message_format
        self.is_settled = delivery.remote_settled
        self.stamp = delivery.stamp
        self.is_complete = False
        self.outcome = None
        self.rank = -1
        # Copies without an outcome, including those that wait for their outlet.
        self.open_copies = 0
        self.waiting = 0
        # The octets that have come, while a copy waits; and copies that are sent while more octets come.
        self.octets = bytearray()
        self.under_way: list[Delivery] = []
        self.frames = 0
        # Routes on which it may leave once it is complete.
        self.routes = None
        # The annotations of the message, for the recorder.
        self.annotations = None

    def combine(self, outcome: Any) -> None:
        """Count a copy's outcome: rejected ranks above accepted, that above modified, and that above released."""
        self.open_copies -= 1
        rank = rank_of(outcome)
        if rank > self.rank:
            self.rank = rank
            self.outcome = outcome

    def note_route(self, route: "AddressRoute") -> None:
        """Note a route where a copy waits for a link for large messages."""
        if self.routes is None:
            self.routes = []
        self.routes.append(route)

    def is_alive(self) -> bool:
        """Whether the message is still to be sent: its producer may have left or aborted it."""
        return self.delivery is not None or (self.is_settled and self.is_complete)

    def size(self) -> int:
        """Return the octets that have come."""
        return len(self.octets) if self.delivery is None else self.delivery.size


def rank_of(outcome: Any) -> int:
    """Return the rank of an outcome among those of several consumers."""
    if outcome is _ACCEPTED:
        return 2
    if outcome is _RELEASED or outcome is None:
        return 0
    if isinstance(outcome, Modified):
        return 1
    return 3 if isinstance(outcome, Rejected) else 2
