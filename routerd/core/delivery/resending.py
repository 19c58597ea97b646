"""Messages that a destination has released: another one gets them before their producer hears of it.

`Sending` keeps an unsettled message of an address with `resendReleased`, or of a producer with the capability
`qd.resend-released`. When its consumer releases it, it goes to a destination that has not had it. That is a consumer
here, a sibling, or a route to other routers. A message that cannot leave now waits in `Address.returned`, apart from
messages that all consumers may get.
"""

from typing import TYPE_CHECKING

from routerd.core.links.arrival import Arrival
from routerd.wire import RELEASED, DecodeError, NeedsMore

if TYPE_CHECKING:
    from routerd.core.delivery.marking import Marking
    from routerd.core.delivery.sending import Sending
    from routerd.core.delivery.settlement import Settlement
    from routerd.core.directory.directory import Directory
    from routerd.core.directory.path_rules import PathRules
    from routerd.core.links.address import Address
    from routerd.core.links.kept import Kept
    from routerd.core.links.outlet import Outlet

_RELEASED = RELEASED


class Resending:
    """Sends released messages elsewhere."""

    def __init__(
        self,
        directory: "Directory",
        rules: "PathRules",
        marking: "Marking",
        settlement: "Settlement",
        sending: "Sending",
    ) -> None:
        self._directory = directory
        self._rules = rules
        self._marking = marking
        self._settlement = settlement
        self._sending = sending
        self._arrival = Arrival()
        # The link that was found, and whether there is a destination that cannot take the message now.
        self._found: Outlet | None = None
        self._is_late = False
        # Addresses with messages that wait for another destination.
        self._waiting: dict[Address, None] = {}
        settlement.take_back = self.take_back

    def take_back(self, kept: "Kept") -> bool:
        """Send a released message elsewhere, or keep it for that; return whether there is another destination."""
        arrival = self._arrival
        message = kept.message
        if self._directory.addresses.get(message.address.key) is not message.address:
            # It was forgotten meanwhile, since nobody here used it, and learns of no routes any more.
            message.address = self._directory.address_without_link(message.address.key)
        arrival.wait_over(message)
        try:
            if message.inlet.trunk is not None:
                self._recall(arrival)
            self._choose(arrival, kept)
            if self._found is not None:
                self._sending.forward(arrival, self._found)
                return True
            if self._is_late:
                self._wait(kept)
            return self._is_late
        finally:
            self._found = None
            arrival.is_over()

    def serve(self, address: "Address") -> None:
        """Send messages that wait for another destination; release those without one."""
        waiting, address.returned = address.returned, None
        self._waiting.pop(address, None)
        for kept in [] if waiting is None else waiting:
            if not kept.is_over and not self.take_back(kept):
                self._settlement.give_up(kept.message.inlet, kept.message.delivery, _RELEASED)

    def each_second(self) -> None:
        """Check the waiting messages again: their destinations may have left."""
        for address in list(self._waiting):
            self.serve(address)

    def _wait(self, kept: "Kept") -> None:
        address = kept.message.address
        if address.returned is None:
            address.returned = []
            self._waiting[address] = None
        address.returned.append(kept)

    def _recall(self, arrival: Arrival) -> None:
        """Read the path of another router's message."""
        try:
            self._marking.read(arrival)
            arrival.annotations = arrival.read
        except (NeedsMore, DecodeError):
            # All annotations were there when the message came.
            arrival.annotations = self._marking.reader.unmarked
        arrival.recorded = arrival.annotations

    def _choose(self, arrival: Arrival, kept: "Kept") -> None:
        """Find a destination that has not had the message: one of this router, or else a route."""
        inlet = arrival.inlet
        address = kept.message.address
        self._found = None
        self._is_late = False
        count = address.local_count if inlet.is_fabric else len(address.outlets)
        inlet.link.session.connection.work += count >> 7
        least = 0
        size = arrival.end - arrival.start
        for outlet in address.outlets[:count]:
            largest = outlet.link.remote_max_message_size
            # A consumer whose max-message-size is too small is left out: it would have the message rejected, and no
            # other consumer would get it.
            if kept.had(outlet) or (largest and size > largest):
                continue
            self._is_late = True
            if outlet.can_send():
                load = outlet.link.unsettled_count
                if self._found is None or load < least:
                    self._found = outlet
                    least = load
        if self._is_late or inlet.is_fabric:
            return
        for route in address.routes:
            if route.next_hop in kept.tried or not self._rules.may_take(address, route, arrival.annotations):
                continue
            self._is_late = True
            self._found = route.pick(arrival.priority(address), False)
            if self._found is not None:
                arrival.route = route
                return
