"""Messages that go together, or wait together, where nobody looks at each of them.

One message is routed. Those that were received behind it on the same link go where it went, or wait where it waits, as
long as one question is answered with yes: `may_go_together`. These are its conditions:

| condition | why |
|---|---|
| the link is for this address, and has no guard | each message would have to be read |
| it is no link of another router | each message has annotations, and its own origin |
| the address has no routes, and is no multicast or fair address | each message is a choice, or a copy |
| neither address nor link resends what is released | each message is kept |
| there is an outlet that this link's messages can take | else they wait for news, each for itself |

Several consumers take turns, or the one with the least load is next. Each of them gets a run of messages then: its part
of those that are here, and no more than `RUN_MAX` (`Address.run_behind`).

To leave, it takes more (`may_take_many`): the outlet is not watched, and nothing has to be marked. What the frames have
to be like is the engine's matter (`routerd.wire.relay`): whole messages, encoded as most peers encode them, settled as
the first one was, with ids and tags that follow one another, and within credit, windows and sizes.
"""

from typing import TYPE_CHECKING, Any, cast

from routerd.core.links.outlet import BURST
from routerd.core.links.parked import ParkedTogether, parked

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.links.address import Address
    from routerd.core.links.arrival import Arrival
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.recording.journal import Journal
    from routerd.wire.delivery_batch import DeliveryBatch
    from routerd.wire.held_batch import HeldBatch
    from routerd.wire.link import Link

_BURST = BURST
_UNSETTLED, _SETTLED, _MIXED = 0, 1, 2


class Batches:
    """Has messages go together, and counts them."""

    def __init__(self, clock: "Clock", journal: "Journal") -> None:
        self._clock = clock
        self._journal = journal

    # --- the question

    def may_go_together(self, inlet: "Inlet", address: "Address") -> bool:
        """Whether all messages of a link take the same way, and nobody looks at them when they come."""
        return (
            inlet.address is address
            and inlet.guard is None
            and inlet.trunk is None
            and not address.routes
            and not address.is_multicast
            and not address.is_fair
            and not (address.resends or inlet.resends)
            and (address.local_count if inlet.is_fabric else len(address.outlets)) > 0
        )

    def may_take_many(self, outlet: "Outlet") -> bool:
        """Whether nobody looks at messages when they leave."""
        return not outlet.is_watched and not outlet.is_marked

    # --- those that leave with the one before them

    def follow(self, arrival: "Arrival", outlet: "Outlet") -> None:
        """Have those behind a message that has just left by an outlet take its way, if they may."""
        inlet = arrival.inlet
        if inlet.is_watched or not self.may_go_together(inlet, outlet.address) or not self.may_take_many(outlet):
            return
        # Annotations of what a sibling took in say where that entered the network.
        is_plain_only = inlet.strips or outlet.strips or (inlet.is_fabric and self._journal.recorder is not None)
        delivery = arrival.delivery
        behind = None if delivery.remote_settled else delivery
        relay = inlet.link.session.connection.relay
        limit = self._journal.room(outlet.address)
        if len(outlet.address.outlets) > 1:
            limit = min(limit, outlet.address.run_behind(relay.count_behind(), inlet.is_fabric))
        if limit > 0:
            relay.aim(inlet.link, outlet.link, is_plain_only, _BURST, behind, limit)

    def relayed(
        self,
        receiver: "Link",
        sender: "Link",
        count: int,
        batch: "DeliveryBatch | None",
        data: bytes | bytearray,
        start: int,
    ) -> None:
        """Count messages that took the way of the one before them."""
        inlet: Inlet = receiver.context
        outlet: Outlet = sender.context
        if batch is not None:
            batch.stamp = self._clock.now
        self._have_come(inlet, outlet.address, count)
        self._journal.left_together(
            inlet, outlet, self._clock.now, count, batch, data, start, receiver.remote_handle
        )
        self._have_left(inlet, outlet, count, batch is None)

    # --- those that wait with the one before them

    def wait_too(self, arrival: "Arrival", address: "Address") -> None:
        """Have those behind a message that has just begun to wait do so where it does, if they may."""
        inlet = arrival.inlet
        if not arrival.is_partial and not inlet.is_watched and self.may_go_together(inlet, address):
            delivery = arrival.delivery
            behind = None if delivery.remote_settled else delivery
            inlet.link.session.connection.relay.hold(inlet.link, behind)

    def hold(self, held: "HeldBatch") -> None:
        """Keep messages behind one that waits, as they are."""
        inlet: Inlet = held.receiver.context
        address = cast("Address", inlet.address)
        together = ParkedTogether(inlet, address, held, self._clock.now)
        held.context = together
        if held.batch is not None:
            held.batch.stamp = self._clock.now
        address.queue_for(inlet).append(together)
        self._have_come(inlet, address, held.count)
        self.count_waiting(inlet, address, held.is_settled, held.count)
        if inlet.is_fabric:
            address.note_credit()

    def part(self, together: ParkedTogether) -> None:
        """Put each of the messages into the place of all."""
        inlet, address, held = together.inlet, together.address, together.held
        held.context = None
        alone = []
        for delivery in held.dissolve():
            octets = held.take_first()
            delivery.size = len(octets)
            delivery.stamp = together.stamp
            one = parked(inlet, address, delivery, octets, 0, len(octets))
            one.is_complete = True
            delivery.context = one
            alone.append(one)
        address.queue_for(inlet).part(together, alone)

    def serve_together(self, address: "Address", queue: Any, together: ParkedTogether, is_local_only: bool) -> int:
        """Send what waits in front as far as the outlet can take it, and return how many messages that were.

        -1 is that each now waits for itself.
        """
        inlet, held = together.inlet, together.held
        if self.may_go_together(inlet, address):
            outlet = address.choose(is_local_only)
            if outlet is None:
                return 0
            mode = outlet.link.snd_settle_mode
            if self.may_take_many(outlet) and mode in (_MIXED, _SETTLED if held.is_settled else _UNSETTLED):
                # Those that came elsewhere take turns with these.
                others = address.parked if inlet.is_fabric else address.parked_from_siblings
                is_alone = not others and not address.parked_from_trunks
                limit = min(self._journal.room(address), held.count if is_alone else 1)
                if limit > 1 and len(address.outlets) > 1:
                    limit = min(limit, 1 + address.run_behind(held.count - 1, is_local_only))
                at = held.at
                count = held.leave(outlet.link, limit, _BURST)
                if count > 0:
                    batch = None if held.is_settled else held.gone
                    self._journal.left_together(
                        inlet, outlet, together.stamp, count, batch, held.octets, at, held.remote_handle
                    )
                    if held.count == 0:
                        # Nor is it to wait for the garbage collector, with all its octets.
                        held.context = None
                        queue.popleft()
                    self.count_waiting(inlet, address, held.is_settled, -count)
                    self._have_left(inlet, outlet, count, held.is_settled)
                    return count
        self.part(together)
        return -1

    # --- counters

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

    def _have_come(self, inlet: "Inlet", address: "Address", count: int) -> None:
        inlet.deliveries += count
        inlet.peer.active_at = self._clock.now
        if not inlet.is_fabric:
            address.ingress += count

    def _have_left(self, inlet: "Inlet", outlet: "Outlet", count: int, is_settled: bool) -> None:
        address = outlet.address
        outlet.deliveries += count
        outlet.peer.active_at = self._clock.now
        if not outlet.is_fabric:
            address.egress += count
        if outlet.link.credit == 0:
            outlet.ran_dry(self._clock.now)
        if address.fabric_inlets:
            address.note_credit()
        if is_settled:
            inlet.presettled += count
            outlet.presettled += count
            inlet.top_up()
