"""Messages that wait at an address, and leave as soon as a destination can take them."""

from typing import TYPE_CHECKING, Any

from routerd.core.delivery.batches import LAG_OCTETS
from routerd.core.delivery.windows import CLOSES, GIVES_UP, STAYS_OPEN, effect_of
from routerd.core.links.arrival import Arrival
from routerd.core.links.fair_queue import MESSAGE_MAX
from routerd.core.links.parked import Parked, ParkedTogether, parked
from routerd.core.recording.journal import AUTOMATIC
from routerd.core.recording.names import RECORDED_DROPPED, RECORDED_RELEASED, TOO_LARGE, TOO_MANY_WAIT
from routerd.wire import RELEASED, DecodeError, Error, NeedsMore, Rejected

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.batches import Batches
    from routerd.core.delivery.copies import Copies
    from routerd.core.delivery.marking import Marking
    from routerd.core.delivery.resending import Resending
    from routerd.core.delivery.routing import Routing
    from routerd.core.delivery.sending import Sending
    from routerd.core.delivery.settlement import Settlement
    from routerd.core.directory.directory import Directory
    from routerd.core.directory.path_rules import PathRules
    from routerd.core.links.address import Address
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.trunk import Trunk
    from routerd.core.recording.journal import Journal

_RELEASED = RELEASED
_FAIR_MESSAGE_MAX = MESSAGE_MAX
_CLOSES = CLOSES
_STAYS_OPEN = STAYS_OPEN
_GIVES_UP = GIVES_UP
_TOO_LARGE_FOR_ENDPOINTS = Rejected(
    error=Error(
        condition="amqp:link:message-size-exceeded",
        description=f"the router takes messages of {MESSAGE_MAX} octets at most here",
    )
)


class Queues:
    """Keeps messages that cannot leave yet, by address and by origin."""

    def __init__(
        self,
        clock: "Clock",
        directory: "Directory",
        rules: "PathRules",
        journal: "Journal",
        marking: "Marking",
        settlement: "Settlement",
        routing: "Routing",
        sending: "Sending",
        copies: "Copies",
        batches: "Batches",
        resending: "Resending",
    ) -> None:
        self._clock = clock
        self._directory = directory
        self._rules = rules
        self._journal = journal
        self._marking = marking
        self._settlement = settlement
        self._routing = routing
        self._sending = sending
        self._copies = copies
        self._batches = batches
        self._resending = resending
        self._arrival = Arrival()
        self._spare = Arrival()

    def lags(self, address: "Address", inlet: "Inlet") -> bool:
        """Whether too much waits. Settled messages of other routers are dropped then: their credit is back already."""
        return address.waiting_from_trunks >= inlet.capacity and (
            address.is_fair or address.octets_from_trunks >= LAG_OCTETS
        )

    def make_room(self, address: "Address", inlet: "Inlet") -> None:
        """Drop all settled messages of clients that wait, as qdrouterd does, once consumers' links would be full."""
        count = address.local_count
        if address.is_fair or address.waiting < inlet.capacity * max(1, count):
            return
        turn = 0
        for one in [one for one in address.parked if type(one) is Parked and one.is_settled and one.is_complete]:
            self.unpark(one)
            self.note_unsent(one, TOO_MANY_WAIT)
            if count == 0:
                self._settlement.give_up(one.inlet, one.delivery, _RELEASED)
                continue
            # In qdrouterd each of them waits at one consumer's link, which counts it as dropped.
            outlet = address.outlets[turn % count]
            outlet.dropped_presettled += 1
            one.delivery.context = None
            self._settlement.has_left(one.inlet, one.delivery)
            turn += 1

    # --- messages that come

    def park(self, arrival: Arrival, address: "Address", queue: Any) -> None:
        """Keep a message that waits, or its beginning."""
        inlet, delivery = arrival.inlet, arrival.delivery
        one = parked(inlet, address, delivery, arrival.data, arrival.start, arrival.end)
        queue.append(one)
        self._journal.waits(address)
        if inlet.is_fabric:
            address.note_credit()
        delivery.context = one
        self._batches.count_waiting(inlet, address, one.is_settled, 1)
        if delivery.is_partial:
            inlet.current = delivery
        # The link's credit limits the first frame of each message; the session's window limits all others.
        self._note_came(inlet, one, arrival.end - arrival.start, _STAYS_OPEN if inlet.is_shared else _CLOSES)

    def go_on(self, arrival: Arrival, one: Parked) -> None:
        """Take more of a waiting message, or its end."""
        delivery = one.delivery
        inlet = arrival.inlet
        if delivery.is_aborted:
            self.unpark(one)
            one.octets = b""
            delivery.context = inlet.current = None
            inlet.top_up()
            return
        size = arrival.end - arrival.start
        if one.address.is_fair and len(one.octets) + size > _FAIR_MESSAGE_MAX:
            self._give_up(one, TOO_LARGE, _TOO_LARGE_FOR_ENDPOINTS)
            return
        effect = _STAYS_OPEN if inlet.is_shared else _CLOSES
        if delivery.is_partial and not one.address.is_fair:
            effect = effect_of(inlet, size, self._unheld(one))
        if effect == _GIVES_UP:
            self._give_up(one, TOO_MANY_WAIT, _RELEASED)
            return
        one.octets += arrival.data[arrival.start : arrival.end]
        if effect == _STAYS_OPEN:
            self._count_unheld(one, size)
        self._note_came(inlet, one, size, effect)

    def _give_up(self, one: Parked, cause: int, outcome: Any) -> None:
        self.unpark(one)
        self.note_unsent(one, cause)
        self._settlement.give_up(one.inlet, one.delivery, outcome)

    def _unheld(self, one: Parked) -> int:
        """Return what counts against the limit of octets that have closed no window."""
        return one.address.unheld_octets if one.inlet.trunk is not None else one.inlet.peer.unheld_octets

    def _count_unheld(self, one: Parked, size: int) -> None:
        one.unheld += size
        if one.inlet.trunk is not None:
            one.address.unheld_octets += size
        else:
            one.inlet.peer.unheld_octets += size

    def _note_came(self, inlet: "Inlet", one: Parked, size: int, effect: int) -> None:
        if inlet.trunk is not None:
            one.address.octets_from_trunks += size
        delivery = one.delivery
        if not delivery.is_partial:
            one.is_complete = True
            is_end = delivery is inlet.current
            if is_end:
                inlet.current = None
            if one.address.is_fair:
                self._take_part(inlet, one)
            elif is_end:
                # The whole message is here now, so it can leave on a link that others use too.
                self.serve(one.address)
        elif effect == _CLOSES:
            one.frames += 1
            if not one.address.is_fair:
                inlet.link.session.withhold(1)

    def _take_part(self, inlet: "Inlet", one: Parked) -> None:
        queue: Any = one.address.queue_for(inlet)
        if queue.complete(one):
            # This must not happen earlier: a message that is larger than the window would never come as a whole.
            if one.frames:
                inlet.link.session.withhold(one.frames)
            self.serve(one.address)

    # --- messages that leave

    def leave_behind(self, one: Parked) -> bool:
        """Let a message wait without its producer, unless too many do; return whether it waits."""
        one.left_octets = self._settlement.leave_behind(len(one.octets))
        return one.left_octets != 0

    def unpark(self, one: Parked) -> None:
        """Remove a message from wherever it waits."""
        one.address.queue_for(one.inlet).remove(one)
        self._leave_queue(one)

    def _leave_queue(self, one: Parked) -> None:
        self._batches.count_waiting(one.inlet, one.address, one.is_settled, -1)
        if one.left_octets:
            self._settlement.left_is_over(one.left_octets)
            one.left_octets = 0
        if one.inlet.trunk is not None:
            one.address.octets_from_trunks -= len(one.octets)
        if one.unheld:
            self._count_unheld(one, -one.unheld)
        if one.frames:
            if one.is_complete or not one.address.is_fair:
                one.inlet.link.session.give_back(one.frames)
            one.frames = 0

    def serve(self, address: "Address") -> None:
        """Send what waits at an address, as far as outlets can take it. Siblings' messages take turns with others."""
        if address.returned is not None:
            self._resending.serve(address)
        ours = address.parked
        theirs = address.parked_from_siblings
        others = address.parked_from_trunks
        is_moving = True
        while is_moving and (ours or theirs or others):
            is_moving = self._serve_one(address, theirs, True)
            is_moving = self._serve_one(address, others, False) or is_moving
            is_moving = self._serve_one(address, ours, False) or is_moving

    def _serve_one(self, address: "Address", queue: Any, is_local_only: bool) -> bool:
        if not queue:
            return False
        if address.is_fair and not queue.is_ready:
            return False
        first = queue[0]
        if type(first) is ParkedTogether:
            count = self._batches.serve_together(address, queue, first, is_local_only)
            if count >= 0:
                return count > 0
            first = queue[0]
        arrival = self._arrival
        arrival.wait_over(first)
        try:
            return self._send_first(arrival, address, queue, first, is_local_only)
        finally:
            arrival.is_over()

    def _send_first(
        self, arrival: Arrival, address: "Address", queue: Any, one: Parked, is_local_only: bool
    ) -> bool:
        outlet: Outlet | None = None
        if not is_local_only and one.inlet.trunk is not None:
            self._recall(arrival)
        if address.is_multicast:
            if address.missing > 0 and not is_local_only:
                return False
            if not address.has_outlet(is_local_only) and address.expected_until > self._clock.now:
                return False
        else:
            outlet = self._routing.choose(arrival, address, is_local_only)
            if outlet is None:
                is_expected = address.expected_until > self._clock.now
                if is_local_only or is_expected or self._rules.has_destination(address, arrival.annotations):
                    return False
                queue.popleft()
                self._leave_queue(one)
                self._sending.drop(arrival, _RELEASED, address, AUTOMATIC)
                return True
        queue.popleft()
        self._leave_queue(one)
        if one.inlet.is_fabric and self._journal.recorder is not None:
            self._journal.recall(arrival, True)
        one.delivery.context = None
        if outlet is None:
            self._copies.fan_out(arrival, address)
        else:
            self._sending.forward(arrival, outlet)
        return True

    def _recall(self, arrival: Arrival) -> None:
        """Read the path of a message that has waited."""
        try:
            self._marking.read(arrival)
            arrival.annotations = arrival.read
        except (NeedsMore, DecodeError):
            # All annotations were there when the message came.
            arrival.annotations = self._marking.reader.unmarked
        arrival.recorded = arrival.annotations

    def release_parked(self, address: "Address") -> None:
        """Release messages that wait for consumers that are gone."""
        if address.returned is not None:
            self._resending.serve(address)
        queues: list[tuple[Any, bool]] = [
            (address.parked_from_siblings, True),
            (address.parked_from_trunks, False),
            (address.parked, False),
        ]
        for queue, is_local_only in queues:
            while queue and not address.has_outlet(is_local_only):
                first = queue[0]
                if type(first) is ParkedTogether:
                    self._batches.part(first)
                one = queue.popleft()
                self._leave_queue(one)
                self.note_unsent(one, AUTOMATIC)
                self._settlement.give_up(one.inlet, one.delivery, _RELEASED)
                if one.inlet.gives_credit_at_once and one.inlet.address is address:
                    one.inlet.was_turned_back()

    def note_unsent(self, one: Parked, cause: int) -> None:
        """Record a message that has waited in vain."""
        if self._journal.recorder is not None:
            spare = self._spare
            spare.wait_over(one)
            if one.inlet.trunk is not None:
                self._recall(spare)
            self._journal.stays(spare, one.address, RECORDED_DROPPED if one.is_settled else RECORDED_RELEASED, cause)
            spare.is_over()

    # --- what becomes free

    def serve_outlet(self, outlet: "Outlet") -> None:
        """Send what waits for an outlet: copies of multicast messages first."""
        if outlet.main is not None:
            # The outlet for whole messages has what waits for any of its links.
            outlet = outlet.main
            if outlet.streams is not None:
                outlet.streams.became_free()
            if not outlet.is_open:
                return
        self._copies.serve(outlet)
        if outlet.trunk is not None:
            self.serve_trunk(outlet.trunk)
            return
        if outlet.route is not None:
            self._copies.serve_route(outlet.route)
        is_of_clients = outlet.route is None and outlet.side is None and not outlet.address.is_multicast
        if is_of_clients and not outlet.can_send():
            # Nothing can leave by it, and nothing has changed for the others.
            return
        self.serve(outlet.address)

    def serve_trunk(self, trunk: "Trunk") -> None:
        """Send what waits for a connection to another router, address by address, and notices for an edge router."""
        trunk.use_control_credit()
        if trunk.hungry:
            self._serve_hungry(trunk)
        self._directory.tracking.go_on(trunk.peer)

    def _serve_hungry(self, trunk: "Trunk") -> None:
        hungry, trunk.hungry = trunk.hungry, {}
        # Each large message that finds no link asks for one again; some links are on their way already.
        trunk.wanted_streams = -len(trunk.opening)
        if trunk.wanting is not None:
            # The end of the turn starts the count again.
            trunk.wanting[trunk] = None
        for address in hungry:
            for route in address.routes:
                self._copies.serve_route(route)
            if trunk.sides:
                for route in trunk.sides.get(address, ()):
                    self._copies.serve_route(route)
            self.serve(address)
            self._directory.forget_if_idle(address)
