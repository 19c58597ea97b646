"""Messages that go together, or wait together, as nobody has to look at each of them.

One message is routed. Those that were received behind it on the same link go where it went, or wait where it waits.
They do so as long as `may_go_together` says yes. These are its conditions:

| condition | why |
|---|---|
| the link is for this address, or annotations name it | the destination of each message would have to be read |
| the link has no guard | each message would have to be read |
| the address is no multicast or fair address | each message has copies, or a turn |
| neither address nor link resends released messages | each message is kept |
| there is an outlet or a route that this link's messages can take | otherwise each of them waits alone for news |

If there are several consumers or routes, they take turns, or the one with the least load is next. Each of them gets a
run of messages: its part of the messages that are here, and no more than `RUN_MAX` (`Address.run_behind`). Where the
least load decides between routers, a run ends when another one has less (`Routing.part_of`).

To leave together, they need more (`may_take_many`): the outlet is not watched, and its client is not told the path of
each message. The engine checks the frames (`routerd.wire.relay`). They hold whole messages, encoded as most peers
encode them, and settled as the first one was. Their ids and tags follow one another, and they keep within credit,
windows and sizes.

Messages to and from other routers have annotations. They go together only if their header and annotations are the same,
octet by octet. So their priority, path and destination are those of the first one. They leave with the header and
annotations that the first one left with.
"""

from typing import TYPE_CHECKING, Any

from routerd.core.delivery.marking import UNREADABLE
from routerd.core.links.arrival import Arrival
from routerd.core.links.outlet import BURST
from routerd.core.links.parked import ParkedTogether, parked
from routerd.wire import DecodeError, NeedsMore

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import RouterAnnotations
    from routerd.core.clock import Clock
    from routerd.core.delivery.marking import Marking
    from routerd.core.delivery.routing import Routing
    from routerd.core.delivery.sending import Sending
    from routerd.core.directory.path_rules import PathRules
    from routerd.core.links.address import Address
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.recording.journal import Journal
    from routerd.wire.delivery_batch import DeliveryBatch
    from routerd.wire.held_batch import HeldBatch
    from routerd.wire.link import Link
    from routerd.wire.relay import Relay

LAG_OCTETS = 1 << 22
"""Octets that may wait at an address for slow consumers, before settled messages of other routers are dropped."""

_BURST = BURST
_LAG_OCTETS = LAG_OCTETS
_UNREADABLE = UNREADABLE
_UNSETTLED, _SETTLED, _MIXED = 0, 1, 2


class Batches:
    """Lets messages go together, and counts them."""

    _address: "Address"

    def __init__(
        self,
        clock: "Clock",
        rules: "PathRules",
        journal: "Journal",
        marking: "Marking",
        routing: "Routing",
        sending: "Sending",
    ) -> None:
        self._clock = clock
        self._rules = rules
        self._journal = journal
        self._marking = marking
        self._routing = routing
        self._sending = sending
        self._arrival = Arrival()
        # Of the message that others may follow: its address, its route, and its annotations from another router.
        self._address = None  # type: ignore[assignment]
        self._route: AddressRoute | None = None
        self._annotations: RouterAnnotations | None = None

    # --- the question

    def may_go_together(self, inlet: "Inlet", address: "Address") -> bool:
        """Whether all messages of a link take the same way, and nobody looks at each when it comes."""
        return (
            (inlet.address is address or (inlet.address is None and inlet.trunk is not None))
            and inlet.guard is None
            and not address.is_multicast
            and not address.is_fair
            and not (address.resends or inlet.resends)
            and (address.local_count if inlet.is_fabric else len(address.outlets) + len(address.routes)) > 0
        )

    def _is_for(self, arrival: Arrival, address: "Address") -> bool:
        """Whether the link of a message, or else its annotations, name its address."""
        if arrival.inlet.address is not None:
            return True
        # Otherwise the properties of each message name it, or a message was diverted to a fallback destination.
        return arrival.annotations is not None and arrival.annotations.to is not None and address.primary is None

    def may_take_many(self, outlet: "Outlet") -> bool:
        """Whether nobody looks at each message when it leaves."""
        return not outlet.is_watched and not outlet.is_dressed

    # --- those that leave with the one before them

    def follow(self, arrival: Arrival, outlet: "Outlet") -> None:
        """Let messages behind one that has just left by an outlet follow it, if they may."""
        inlet = arrival.inlet
        address = outlet.address if arrival.route is None else arrival.route.address
        if inlet.is_watched or not self.may_go_together(inlet, address) or not self.may_take_many(outlet):
            return
        if not self._is_for(arrival, address):
            return
        # Annotations of a sibling's message say where it entered the network. The recorder has to read them.
        is_plain_only = inlet.strips or outlet.strips or (inlet.is_fabric and self._journal.recorder is not None)
        delivery = arrival.delivery
        behind = None if delivery.remote_settled else delivery
        relay = inlet.link.session.connection.relay
        limit = self._journal.room(address)
        if len(address.outlets) + len(address.routes) > 1:
            limit = min(limit, self._part_of(arrival, address, outlet, relay.count_behind(), behind is not None))
        if limit <= 0:
            return
        self._address = address
        self._route = arrival.route
        self._annotations = None
        if inlet.trunk is None and arrival.route is None:
            relay.aim(inlet.link, outlet.link, is_plain_only, _BURST, behind, limit)
        elif arrival.read is not None:
            self._annotations = arrival.annotations
            relay.aim(inlet.link, outlet.link, False, _BURST, behind, limit)
            self._change(relay, arrival)

    def _part_of(
        self, arrival: Arrival, address: "Address", outlet: "Outlet", behind: int, is_unsettled: bool
    ) -> int:
        """Return how many of the messages behind one may follow it to its outlet."""
        is_fabric = arrival.inlet.is_fabric
        if is_unsettled and address.is_balanced and address.routes and not is_fabric:
            part = self._routing.part_of(arrival, address, outlet, behind)
            if part >= 0:
                return part
        return address.run_behind(behind, is_fabric)

    def _change(self, relay: "Relay", arrival: Arrival) -> None:
        """Have messages that begin as one that has left do so with the same header and annotations as this one."""
        head = bytes(arrival.data[arrival.start : arrival.stop])
        front = head if arrival.changed < 0 else self._front(arrival, arrival.changed)
        relay.change(head, front, arrival.place < arrival.stop)

    def _front(self, arrival: Arrival, size: int) -> bytes:
        """Return what a message that was changed to some size has in the place of its header and annotations."""
        octets = self._marking.octets
        return bytes(octets[: size - (arrival.end - arrival.stop)])

    def relayed(
        self,
        receiver: "Link",
        sender: "Link",
        count: int,
        batch: "DeliveryBatch | None",
        data: bytes | bytearray,
        start: int,
    ) -> None:
        """Count messages that followed the one before them."""
        inlet: Inlet = receiver.context
        outlet: Outlet = sender.context
        route = self._route
        if batch is not None:
            batch.stamp = self._clock.now
            if route is not None:
                batch.via = route
                route.outstanding += count
        self._have_come(inlet, self._address, count)
        self._journal.left_together(
            inlet,
            outlet,
            route,
            self._annotations,
            self._clock.now,
            count,
            batch,
            data,
            start,
            receiver.remote_handle,
        )
        self._have_left(inlet, outlet, route, count, batch is None)

    # --- those that wait with the one before them

    def wait_too(self, arrival: Arrival, address: "Address") -> None:
        """Let messages behind one that has just begun to wait do so at the same place, if they may."""
        inlet = arrival.inlet
        if arrival.is_partial or inlet.is_watched or not self.may_go_together(inlet, address):
            return
        delivery = arrival.delivery
        if inlet.gives_credit_at_once and delivery.remote_settled:
            # Each of them may be the one that is too many.
            return
        behind = None if delivery.remote_settled else delivery
        relay = inlet.link.session.connection.relay
        is_alike = inlet.trunk is not None or (len(address.routes) > 0 and not inlet.is_fabric)
        self._annotations = None
        if is_alike:
            if not self._is_for(arrival, address) or not self._knows_sections(arrival):
                return
            if behind is None and address.octets_from_trunks + relay.octets_behind >= _LAG_OCTETS:
                # Settled messages beyond this are dropped, one by one.
                return
            self._annotations = arrival.annotations
        self._address = address
        relay.hold(inlet.link, behind)
        if is_alike:
            head = bytes(arrival.data[arrival.start : arrival.stop])
            relay.change(head, head, arrival.place < arrival.stop)

    def _knows_sections(self, arrival: Arrival) -> bool:
        """Read where the annotations of a message are, unless that is known; return whether it is."""
        if arrival.read is None:
            try:
                self._marking.read(arrival)
            except (NeedsMore, DecodeError):
                return False
        return True

    def hold(self, held: "HeldBatch") -> None:
        """Keep messages behind one that waits, in the frames they came in."""
        inlet: Inlet = held.receiver.context
        address = self._address
        together = ParkedTogether(inlet, address, held, self._clock.now, self._annotations)
        held.context = together
        if held.batch is not None:
            held.batch.stamp = self._clock.now
        address.queue_for(inlet).append(together)
        self._have_come(inlet, address, held.count)
        self.count_waiting(inlet, address, held.is_settled, held.count)
        if inlet.is_fabric:
            address.note_credit()
        elif inlet.trunk is not None:
            address.octets_from_trunks += held.size_of(held.at, held.count)

    def part(self, together: ParkedTogether) -> None:
        """Replace the batch in the queue by its single messages."""
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
        """Send messages of a held batch in front, as far as the outlet can take them; return their number.

        The result is -1 if each of them waits alone now.
        """
        inlet, held = together.inlet, together.held
        # If a route has come since, they need not be alike.
        is_known = held.head is not None or inlet.is_fabric or not address.routes
        if is_known and self.may_go_together(inlet, address):
            arrival = self._arrival
            self._recall(arrival, together)
            try:
                outlet = self._routing.choose(arrival, address, is_local_only)
                if outlet is not None:
                    count = self._leave(arrival, address, together, outlet, is_local_only)
                    if count > 0:
                        if held.count == 0:
                            # The object must not live on until the garbage collector comes, with all its octets.
                            held.context = None
                            queue.popleft()
                        return count
                elif not self._has_nobody(arrival, address, is_local_only):
                    return 0
            finally:
                arrival.is_over()
        self.part(together)
        return -1

    def _recall(self, arrival: Arrival, together: ParkedTogether) -> None:
        """Have the first message of a held batch for an arrival: in what decides where it goes, all are like it."""
        held = together.held
        arrival.inlet = together.inlet
        arrival.is_partial = False
        if held.head is not None:
            arrival.data = held.octets
            arrival.start, arrival.end = held.first()
            self._marking.read(arrival)
            arrival.annotations = together.annotations

    def _has_nobody(self, arrival: Arrival, address: "Address", is_local_only: bool) -> bool:
        """Whether messages that cannot leave now have no destination at all any more."""
        return not (
            is_local_only
            or address.expected_until > self._clock.now
            or self._rules.has_destination(address, arrival.annotations)
        )

    def _leave(
        self, arrival: Arrival, address: "Address", together: ParkedTogether, outlet: "Outlet", is_local_only: bool
    ) -> int:
        """Send messages of a held batch to an outlet; return their number, 0 if each has to be looked at."""
        inlet, held, route = together.inlet, together.held, arrival.route
        mode = outlet.link.snd_settle_mode
        if not self.may_take_many(outlet) or mode not in (_MIXED, _SETTLED if held.is_settled else _UNSETTLED):
            return 0
        front = None
        if route is not None or (held.head is not None and outlet.strips and not inlet.strips):
            size = self._marking.dress(arrival, outlet)
            if size == _UNREADABLE:
                return 0
            if size >= 0:
                front = self._front(arrival, size)
        limit = min(self._journal.room(address), held.count if self._is_alone(address, inlet) else 1)
        if limit > 1 and len(address.outlets) + len(address.routes) > 1:
            count = held.count - 1
            limit = min(limit, 1 + self._part_of(arrival, address, outlet, count, not held.is_settled))
        at = held.at
        count = held.leave(outlet.link, limit, _BURST, front)
        if count == 0:
            return 0
        batch = None if held.is_settled else held.gone
        if batch is not None and route is not None:
            batch.via = route
            route.outstanding += count
        self._journal.left_together(
            inlet,
            outlet,
            route,
            together.annotations,
            together.stamp,
            count,
            batch,
            held.octets,
            at,
            held.remote_handle,
        )
        if inlet.trunk is not None:
            address.octets_from_trunks -= held.size_of(at, count)
        self.count_waiting(inlet, address, held.is_settled, -count)
        self._have_left(inlet, outlet, route, count, held.is_settled)
        return count

    def _is_alone(self, address: "Address", inlet: "Inlet") -> bool:
        """Whether no messages that came from elsewhere take turns with those of an inlet."""
        return (
            (inlet.is_fabric or not address.parked_from_siblings)
            and (inlet.trunk is not None or not address.parked_from_trunks)
            and ((not inlet.is_fabric and inlet.trunk is None) or not address.parked)
        )

    # --- counters

    def count_waiting(self, inlet: "Inlet", address: "Address", is_settled: bool, count: int) -> None:
        """Count `count` more messages that wait; a negative number counts fewer."""
        inlet.parked += count
        address.waiting += count
        if inlet.is_fabric:
            address.waiting_from_siblings += count
        elif inlet.trunk is not None:
            address.waiting_from_trunks += count
        if is_settled:
            inlet.waiting += count
        if inlet.is_short and count < 0:
            inlet.top_up()

    def _have_come(self, inlet: "Inlet", address: "Address", count: int) -> None:
        inlet.deliveries += count
        inlet.peer.active_at = self._clock.now
        if inlet.trunk is not None:
            inlet.top_up()
        elif not inlet.is_fabric:
            address.ingress += count

    def _have_left(
        self, inlet: "Inlet", outlet: "Outlet", route: "AddressRoute | None", count: int, is_settled: bool
    ) -> None:
        self._sending.count(inlet, outlet, route, count)
        if outlet.address.fabric_inlets:
            outlet.address.note_credit()
        if is_settled:
            inlet.presettled += count
            outlet.presettled += count
            inlet.top_up()
