"""Messages that came together and wait together, and how they leave as soon as a consumer can take them."""

from typing import TYPE_CHECKING, Any, cast

from routerd.core.multicast import Multicast
from routerd.core.outlet import BURST
from routerd.core.parked import ParkedTogether, parked

if TYPE_CHECKING:

    from routerd.core.address import Address
    from routerd.core.inlet import Inlet
    from routerd.core.outlet import Outlet
    from routerd.wire.halt import Halt

_BURST = BURST
_UNSETTLED, _SETTLED, _MIXED = 0, 1, 2


class Halting(Multicast):
    """Has messages go together where nobody looks at them one by one, and counts them."""

    def queue_for(self, address: "Address", inlet: "Inlet") -> Any:
        if inlet.is_fabric:
            return address.parked_from_siblings
        return address.parked if inlet.trunk is None else address.parked_from_trunks

    def may_go_together(self, inlet: "Inlet", address: "Address") -> bool:
        """Whether all messages of a producer take the same way, and nobody looks at them when they come."""
        return (
            inlet.address is address
            and inlet.guard is None
            and inlet.trunk is None
            and not address.ways
            and not address.is_multicast
            and not address.is_fair
            and (address.local_count if inlet.is_fabric else len(address.outlets)) == 1
        )

    def may_take_many(self, outlet: "Outlet") -> bool:
        """Whether nobody looks at messages when they leave."""
        return not outlet.is_watched and not outlet.is_marked

    def on_halted(self, halt: "Halt") -> None:
        """Keep messages behind one that waits, as they are."""
        inlet: Inlet = halt.receiver.context
        address = cast("Address", inlet.address)
        together = ParkedTogether(inlet, address, halt, self.now)
        halt.context = together
        if halt.convoy is not None:
            halt.convoy.stamp = self.now
        self.queue_for(address, inlet).append(together)
        self.have_come(inlet, address, halt.count)
        self.count_waiting(inlet, address, halt.is_settled, halt.count)
        if inlet.is_fabric:
            address.note_credit()

    def on_halt_over(self, halt: "Halt") -> None:
        """Have each message of a halt wait for itself."""
        self.part(halt.context)

    def part(self, together: ParkedTogether) -> None:
        """Put each of the messages into the place of all."""
        inlet, address, halt = together.inlet, together.address, together.halt
        halt.context = None
        alone = []
        for delivery in halt.dissolve():
            octets = halt.take_first()
            delivery.size = len(octets)
            delivery.stamp = together.stamp
            one = parked(inlet, address, delivery, octets, 0, len(octets))
            one.is_complete = True
            delivery.context = one
            alone.append(one)
        self.queue_for(address, inlet).part(together, alone)

    def serve_together(
        self, address: "Address", queue: Any, together: ParkedTogether, is_local_only: bool
    ) -> int:
        """Send what waits in front as far as the outlet can take it, and return how many messages that were.

        -1 is that each now waits for itself.
        """
        inlet, halt = together.inlet, together.halt
        if self.may_go_together(inlet, address):
            outlet = address.choose(is_local_only)
            if outlet is None:
                return 0
            mode = outlet.link.snd_settle_mode
            if self.may_take_many(outlet) and mode in (_MIXED, _SETTLED if halt.is_settled else _UNSETTLED):
                # Those that came elsewhere take turns with these.
                others = address.parked if inlet.is_fabric else address.parked_from_siblings
                is_alone = not others and not address.parked_from_trunks
                limit = min(self.together_room(), halt.count if is_alone else 1)
                at = halt.at
                count = halt.leave(outlet.link, limit, _BURST)
                if count > 0:
                    convoy = None if halt.is_settled else halt.gone
                    self.note_together(
                        inlet, outlet, together.stamp, count, convoy, halt.octets, at, halt.remote_handle
                    )
                    if halt.count == 0:
                        # Nor is it to wait for the garbage collector, with all its octets.
                        halt.context = None
                        queue.popleft()
                    self.count_waiting(inlet, address, halt.is_settled, -count)
                    self.have_left(inlet, outlet, count, halt.is_settled)
                    return count
        self.part(together)
        return -1

    def count_waiting(self, inlet: "Inlet", address: "Address", is_settled: bool, count: int) -> None:
        """Count so many more that wait, or fewer."""
        inlet.parked += count
        address.waiting += count
        if inlet.is_fabric:
            address.waiting_from_siblings += count
        if is_settled:
            inlet.waiting += count
        if inlet.is_short and count < 0:
            inlet.top_up()

    def have_come(self, inlet: "Inlet", address: "Address", count: int) -> None:
        """Count messages that came together."""
        inlet.deliveries += count
        inlet.peer.active_at = self.now
        if not inlet.is_fabric:
            address.ingress += count

    def have_left(self, inlet: "Inlet", outlet: "Outlet", count: int, is_settled: bool) -> None:
        """Count messages that left together."""
        address = outlet.address
        outlet.deliveries += count
        outlet.peer.active_at = self.now
        if not outlet.is_fabric:
            address.egress += count
        if outlet.link.credit == 0:
            outlet.ran_dry(self.now)
        if address.fabric_inlets:
            address.note_credit()
        if is_settled:
            inlet.presettled += count
            outlet.presettled += count
            inlet.top_up()
