"""The way of a message through a router: in at an inlet, out at an outlet, its outcome back.

A delivery that came in and the one that went out point at each other by `context`. The incoming one may also point
at a `Parked` message, which waits for an outlet that can send, or at the `FanOut` of its copies. The router owns
no message: it settles with the producer what the consumer decided, `released` for what never left, and `modified`
for what a consumer may have seen before it vanished.
"""

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from routerd.core.address import Address
from routerd.core.fan_out import MAYBE_SEEN, FanOut
from routerd.core.multicast import Multicast
from routerd.core.parked import Collected, Parked
from routerd.core.policy.message_guard import FORBIDDEN_REQUEST
from routerd.core.recorder_hooks import AUTOMATIC
from routerd.core.recorder_names import (
    CONSUMER_LOST,
    LOOP,
    NO_CAUSE,
    NO_CONSUMER,
    NO_ROUTE,
    POLICY,
    RECORDED_DROPPED,
    RECORDED_REJECTED,
    RECORDED_RELEASED,
    TOO_LARGE,
    TOO_MANY_WAIT,
)
from routerd.core.router_annotations import may_carry_annotations
from routerd.core.settlement import too_large
from routerd.wire import ACCEPTED, RELEASED, DecodeError, Error, NeedsMore, Rejected, is_outcome
from routerd.wire.delivery import Delivery
from routerd.wire.sections import Sections

if TYPE_CHECKING:
    from routerd.core.inlet import Inlet
    from routerd.core.observer import Observer
    from routerd.core.outlet import Outlet
    from routerd.core.passage import Passage
    from routerd.core.peer import Peer
    from routerd.core.trunk import Trunk
    from routerd.core.way import Way
    from routerd.wire.link import Link
    from routerd.wire.receiver import Receiver
    from routerd.wire.session import Session

COLLECTED_MAX = 1 << 20
"""Octets of a message in which its address and annotations have to be."""
CONTROL_MAX = 1 << 26
"""Octets of a control message: one may have all the addresses of a router."""

LAG_OCTETS = 1 << 22
"""Octets that wait at an address for consumers that lag, before settled messages of other routers are dropped."""

_ACCEPTED = ACCEPTED
_RELEASED = RELEASED
_MAYBE_SEEN = MAYBE_SEEN
_MIXED = 2
_SETTLED = 1
_NOTHING = b""
_FORBIDDEN_REQUEST = FORBIDDEN_REQUEST
_NO_TO = Error(
    condition="amqp:precondition-failed", description="the message says in no `to` property where it goes"
)


class Forwarder(Multicast):
    """Forwards deliveries; says where those of anonymous inlets go by `destination`, which the router overrides."""

    def __init__(self, observer: "Observer", router_id: str, is_edge: bool = False) -> None:
        Multicast.__init__(self, observer, router_id, is_edge)
        self._sections = Sections(_NOTHING)
        # Answers a request to management that its sender may not make.
        self.answer_forbidden: Callable[[bytes], None] | None = None

    def destination(self, inlet: "Inlet", to: str) -> "Address | Error | None":
        """Return where a message of an anonymous inlet goes; None where nobody is, an error where nobody may send."""
        return None

    def trunk_destination(self, passage: "Passage", to: str) -> "Address | None":
        """Return where a message from another router goes; None where nobody is."""
        return None

    def expected_destination(self, passage: "Passage", to: str) -> "Address | None":
        """Return where a message from another router may go soon; `Trunks` knows."""
        return None

    def is_expected(self, inlet: "Inlet", address: "Address") -> bool:
        """Whether a message waits at an address where nobody is; `Trunks` knows."""
        return False

    def control_arrived(self, inlet: "Inlet", octets: bytes) -> None:
        """Take a message of the routing protocol."""

    # --- messages in

    def on_transfer(
        self, receiver: "Receiver", delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Forward what arrived, or keep it until it can be."""
        inlet: Inlet | None = receiver.context
        if inlet is None:
            return
        if delivery.context is not None:
            self._continue(inlet, delivery, data, start, end)
        elif inlet.collected is not None:
            self._collect(inlet, delivery, data, start, end)
        elif delivery.is_aborted:
            inlet.top_up()
        elif delivery.size == end - start and delivery.state is None:
            inlet.deliveries += 1
            inlet.peer.active_at = delivery.stamp = self.now
            if inlet.is_watched:
                self.observer.message_received(inlet, data, start, end, delivery.is_partial)
            address = inlet.address
            if inlet.trunk is not None:
                inlet.top_up()
                self._arrive(inlet, delivery, data, start, end)
            elif (
                address is None
                or inlet.guard is not None
                or ((inlet.strips or address.ways) and may_carry_annotations(data, start, end))
            ):
                self._read_sections(inlet, delivery, data, start, end)
            else:
                self._route(inlet, address, delivery, data, start, end, None)

    def _arrive(
        self, inlet: "Inlet", delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Take a message, or the beginning of one, from another router."""
        if inlet.is_control:
            if delivery.is_partial:
                self._begin_collecting(inlet, delivery, data, start, end)
                return
            inlet.presettled += 1
            if not delivery.remote_settled:
                delivery.accept()
            self.control_arrived(inlet, bytes(data[start:end]))
            return
        try:
            passage = self.passages.read(data, start, end, delivery.is_partial)
            to = passage.to
            if inlet.address is None and to is None and passage.error is None:
                to = self._to_of(data, start, end, delivery.is_partial)
            if inlet.guard is not None and self._is_refused(inlet, to, delivery, data, start, end):
                return
        except NeedsMore:
            self._begin_collecting(inlet, delivery, data, start, end)
            return
        except DecodeError as error:
            refusal = Rejected(error=Error(condition=error.condition, description=str(error)))
            self.drop(inlet, delivery, refusal, inlet.address, None, NO_CAUSE, data, start, end)
            return
        if passage.error is not None:
            refusal = Rejected(error=passage.error)
            self.drop(inlet, delivery, refusal, inlet.address, passage, NO_CAUSE, data, start, end)
        elif not to and inlet.address is None:
            self.drop(inlet, delivery, Rejected(error=_NO_TO), None, passage, NO_CAUSE, data, start, end)
        elif (passage.hops > self.hops_max or passage.has_passed_us) and not self.is_edge_router:
            # The paths are changing, and it runs in circles.
            self.drop(inlet, delivery, _RELEASED, inlet.address, passage, LOOP, data, start, end)
        else:
            address = inlet.address
            if address is None:
                place, stop = self.passages.place, self.passages.stop
                address = self.trunk_destination(passage, to or "")
                if address is None and inlet.trunk is not None and inlet.trunk.is_up:
                    address = self.expected_destination(passage, to or "")
                # An address that comes into use may send what waits there, and so read other annotations.
                self.passages.place, self.passages.stop = place, stop
            if address is None:
                self.drop(inlet, delivery, _RELEASED, None, passage, NO_CONSUMER, data, start, end)
                return
            self.read_last = delivery
            self.passage_read = passage
            self._route(inlet, address, delivery, data, start, end, passage)
            self.read_last = None

    def _route(
        self,
        inlet: "Inlet",
        address: "Address",
        delivery: Delivery,
        data: bytes | bytearray,
        start: int,
        end: int,
        passage: "Passage | None",
    ) -> None:
        if not inlet.is_fabric and inlet.trunk is None:
            address.ingress += 1
        self.routed = passage
        if self.recorder is not None and inlet.is_fabric:
            self.routed = self.passage_or_none(data, start, end, delivery.is_partial)
        queue = self._queue_for(address, inlet)
        if address.is_multicast:
            is_ahead = not address.has_outlet(inlet.is_fabric) and self.is_expected(inlet, address)
            if not queue and (address.missing == 0 or inlet.is_fabric) and not is_ahead:
                self.fan_out(inlet, address, delivery, data, start, end, passage)
                return
        elif not queue:
            outlet = address.choose(inlet.is_fabric)
            if address.ways and not inlet.is_fabric:
                priority = self.priority_of(address, data, start, end)
                way = self.choose_way(address, passage, outlet, priority, delivery.is_partial)
                if way is not None and self.picked is not None:
                    self._forward(inlet, self.picked, way, delivery, data, start, end)
                    return
            if outlet is not None:
                self._forward(inlet, outlet, None, delivery, data, start, end)
                return
        has_nobody = not address.has_outlet(inlet.is_fabric) or (
            address.ways and not inlet.is_fabric and not self.has_destination(address, passage)
        )
        if has_nobody and (passage is None or not self.is_expected(inlet, address)):
            self.drop(inlet, delivery, _RELEASED, address, passage, AUTOMATIC, data, start, end)
        elif inlet.trunk is not None and delivery.remote_settled and self._lags(address, inlet):
            # Credit of routers comes back at once, so nothing else bounds what waits for a consumer that lags.
            self.drop(inlet, delivery, _RELEASED, address, passage, TOO_MANY_WAIT, data, start, end)
        else:
            self._park(queue, Parked(inlet, address, delivery), data, start, end)

    def _lags(self, address: "Address", inlet: "Inlet") -> bool:
        return len(address.parked_from_trunks) >= inlet.capacity and address.octets_from_trunks >= LAG_OCTETS

    def _queue_for(self, address: "Address", inlet: "Inlet") -> Any:
        if inlet.is_fabric:
            return address.parked_from_siblings
        return address.parked if inlet.trunk is None else address.parked_from_trunks

    def _forward(
        self,
        inlet: "Inlet",
        outlet: "Outlet",
        way: "Way | None",
        delivery: Delivery,
        data: bytes | bytearray,
        start: int,
        end: int,
    ) -> None:
        link = outlet.link
        if way is not None or outlet.is_marked:
            if not inlet.is_relay and not inlet.is_fabric:
                try:
                    target = outlet.address if way is None else way.address
                    end = self.marked(inlet, target, delivery, data, start, end, delivery.is_partial)
                except (NeedsMore, DecodeError):
                    target = outlet.address if way is None else way.address
                    self.drop(inlet, delivery, _RELEASED, target, self.routed, NO_ROUTE, data, start, end)
                    return
                data = self.passages.spliced
                start = 0
        elif outlet.strips and not inlet.strips and may_carry_annotations(data, start, end):
            if self.read_last is delivery:
                end = self.passages.splice(data, start, end, self.passage_read.stripped)
                data = self.passages.spliced
                start = 0
            else:
                data, start, end = self.annotations.without_if_clear(data, start, end, delivery.is_partial)
        if link.remote_max_message_size and end - start > link.remote_max_message_size:
            target = outlet.address if way is None else way.address
            self.drop(inlet, delivery, too_large(link), target, self.routed, TOO_LARGE, data, start, end)
            return
        record = None
        if self.recorder is not None:
            record = self.note_departure(
                inlet, outlet, way, self.routed, delivery.stamp, delivery.size, data, start, end, False
            )
        is_settled = delivery.remote_settled
        if link.snd_settle_mode != _MIXED:
            is_settled = link.snd_settle_mode == _SETTLED
        out = link.begin(None, is_settled, delivery.message_format, delivery)
        out.stamp = delivery.stamp
        out.record = record
        link.write(out, data, start, end, delivery.is_partial)
        if link.credit == 0:
            outlet.ran_dry(self.now)
        if outlet.is_watched:
            self.observer.message_sent(outlet, data, start, end, delivery.is_partial)
        outlet.deliveries += 1
        outlet.peer.active_at = self.now
        address = outlet.address
        if way is not None:
            self.departed(inlet, way, out)
        elif not outlet.is_fabric:
            address.egress += 1
        if address.fabric_inlets:
            address.note_credit()
        delivery.context = out
        if delivery.is_partial:
            inlet.current = delivery
            self._hold_back(inlet, outlet)
        elif is_settled or delivery.remote_settled:
            self.sent(inlet, outlet, delivery, out)


    def _continue(self, inlet: "Inlet", delivery: Delivery, data: bytes | bytearray, start: int, end: int) -> None:
        context = delivery.context
        if type(context) is Delivery:
            self._continue_one(inlet, delivery, context, data, start, end)
        elif type(context) is Parked:
            self._continue_parked(inlet, context, data, start, end)
        else:
            self.continue_copies(inlet, context, data, start, end)

    def _continue_one(
        self, inlet: "Inlet", delivery: Delivery, out: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        outlet: Outlet | None = out.link.context
        if outlet is None or not outlet.is_open or not out.link.is_attached:
            if out.record is not None:
                self.note_loss(out, delivery.remote_settled)
            self.give_up(inlet, delivery, _MAYBE_SEEN)
            return
        link = outlet.link
        if delivery.is_aborted:
            if out.record is not None:
                # An abort settles, whatever the message was.
                self.note_abort(out, out.settled)
            link.abort(out)
            self.forget_way(out)
            out.context = delivery.context = inlet.current = None
            inlet.top_up()
            self.serve_outlet(outlet)
            return
        if link.remote_max_message_size and out.size + end - start > link.remote_max_message_size:
            link.abort(out)
            self.forget_way(out)
            out.context = None
            if out.record is not None:
                number = RECORDED_DROPPED if delivery.remote_settled else RECORDED_REJECTED
                self.note_outcome(out, number, TOO_LARGE)
            self.give_up(inlet, delivery, too_large(link))
            self.serve_outlet(outlet)
            return
        link.write(out, data, start, end, delivery.is_partial)
        if out.record is not None:
            self.note_more(out, end - start)
        if delivery.is_partial:
            self._hold_back(inlet, outlet)
            return
        inlet.current = None
        if out.context is None:
            delivery.context = None
        elif out.settled or delivery.remote_settled:
            self.sent(inlet, outlet, delivery, out)
        self.serve_outlet(outlet)

    def _hold_back(self, inlet: "Inlet", outlet: "Outlet") -> None:
        # What comes in faster than it leaves closes the producer's window, frame by frame.
        if (outlet.peer.is_blocked or outlet.link.session.has_backlog) and not inlet.is_shared:
            outlet.hold(inlet.link.session)

    # --- messages that wait

    def _park(
        self, queue: "deque[Parked]", parked: Parked, data: bytes | bytearray, start: int, end: int
    ) -> None:
        queue.append(parked)
        if self.recorder is not None:
            self.recorder.events.waits(parked.address)
        if parked.inlet.is_fabric:
            parked.address.note_credit()
        delivery = parked.delivery
        delivery.context = parked
        parked.inlet.parked += 1
        if parked.is_settled:
            parked.inlet.waiting += 1
        if delivery.is_partial:
            parked.inlet.current = delivery
        self._continue_parked(parked.inlet, parked, data, start, end)

    def _continue_parked(
        self, inlet: "Inlet", parked: Parked, data: bytes | bytearray, start: int, end: int
    ) -> None:
        delivery = parked.delivery
        if delivery.is_aborted:
            self._unpark(parked)
            delivery.context = inlet.current = None
            inlet.top_up()
            return
        parked.octets += data[start:end]
        if inlet.trunk is not None:
            parked.address.octets_from_trunks += end - start
        if not delivery.is_partial:
            parked.is_complete = True
            if delivery is inlet.current:
                inlet.current = None
            if parked.frames and parked.address.ways:
                # Now that it is all there it needs no link of its own to leave.
                self.serve(parked.address)
        else:
            # One frame a message is bounded by the link's credit; what is more, by the session's window.
            if not inlet.is_shared:
                parked.frames += 1
                inlet.link.session.withhold(1)

    def _unpark(self, parked: Parked) -> None:
        address = parked.address
        if parked.inlet.is_fabric:
            address.parked_from_siblings = deque(one for one in address.parked_from_siblings if one is not parked)
        elif parked.inlet.trunk is not None:
            address.parked_from_trunks = deque(one for one in address.parked_from_trunks if one is not parked)
        else:
            address.parked = deque(one for one in address.parked if one is not parked)
        self._leave_queue(parked)

    def _leave_queue(self, parked: Parked) -> None:
        parked.inlet.parked -= 1
        if parked.inlet.trunk is not None:
            parked.address.octets_from_trunks -= len(parked.octets)
        if parked.is_settled:
            parked.inlet.waiting -= 1
        if parked.frames:
            parked.inlet.link.session.give_back(parked.frames)
            parked.frames = 0

    def serve(self, address: "Address") -> None:
        """Send what waits at an address, as far as outlets can send; those from siblings take turns with the others."""
        ours = address.parked
        theirs = address.parked_from_siblings
        others = address.parked_from_trunks
        is_moving = True
        while is_moving and (ours or theirs or others):
            is_moving = self._serve_one(address, theirs, True)
            is_moving = self._serve_one(address, others, False) or is_moving
            is_moving = self._serve_one(address, ours, False) or is_moving

    def _serve_one(self, address: "Address", queue: "deque[Parked]", is_local_only: bool) -> bool:
        if not queue:
            return False
        outlet: Outlet | None = None
        way: Way | None = None
        passage: Passage | None = None
        parked: Parked = queue[0]
        octets = parked.octets
        if not is_local_only and parked.inlet.trunk is not None:
            passage = self._passage_of(parked)
        if address.is_multicast:
            if address.missing > 0 and not is_local_only:
                return False
            if not address.has_outlet(is_local_only) and address.expected_until > self.now:
                return False
        else:
            outlet = address.choose(is_local_only)
            if address.ways and not is_local_only:
                priority = self.priority_of(address, octets, 0, len(octets))
                way = self.choose_way(address, passage, outlet, priority, not parked.is_complete)
                if way is not None:
                    outlet = self.picked
            if outlet is None:
                if is_local_only or self.has_destination(address, passage) or address.expected_until > self.now:
                    return False
                queue.popleft()
                self._leave_queue(parked)
                self.drop(
                    parked.inlet, parked.delivery, _RELEASED, address, passage, AUTOMATIC, octets, 0, len(octets)
                )
                return True
        queue.popleft()
        self._leave_queue(parked)
        self.routed = passage
        if self.recorder is not None and parked.inlet.is_fabric:
            self.routed = self.passage_or_none(octets, 0, len(octets), True)
        delivery = parked.delivery
        delivery.context = None
        if outlet is None:
            self.fan_out(parked.inlet, address, delivery, octets, 0, len(octets), passage)
            return True
        self._forward(parked.inlet, outlet, way, delivery, octets, 0, len(octets))
        return True

    def _passage_of(self, parked: Parked) -> "Passage":
        try:
            return self.passages.read(parked.octets, 0, len(parked.octets), not parked.is_complete)
        except (NeedsMore, DecodeError):
            # They were all there when the message came.
            return self.passages.unmarked

    def release_parked(self, address: "Address") -> None:
        """Release what waits for consumers that are no more."""
        queues = (address.parked_from_siblings, True), (address.parked_from_trunks, False), (address.parked, False)
        for queue, is_local_only in queues:
            while queue and not address.has_outlet(is_local_only):
                parked = queue.popleft()
                self._leave_queue(parked)
                self._note_unsent_parked(parked, AUTOMATIC)
                self.give_up(parked.inlet, parked.delivery, _RELEASED)

    def _note_unsent_parked(self, parked: Parked, cause: int) -> None:
        """Record a message that has waited for nothing."""
        if self.recorder is not None:
            inlet, octets = parked.inlet, parked.octets
            passage = None if inlet.trunk is None else self._passage_of(parked)
            number = RECORDED_DROPPED if parked.is_settled else RECORDED_RELEASED
            stamp, size = parked.delivery.stamp, parked.delivery.size
            self.note_stay(inlet, parked.address, passage, stamp, size, octets, 0, len(octets), number, cause)

    def serve_outlet(self, outlet: "Outlet") -> None:
        """Send what waits for an outlet, its copies of multicast messages first."""
        waiting = outlet.waiting
        while waiting and outlet.can_send():
            fan: FanOut = waiting.popleft()
            self.leave_wait(fan)
            if fan.delivery is not None or (fan.is_settled and fan.is_complete):
                self.send_copy(fan, outlet, None, fan.octets, 0, len(fan.octets), not fan.is_complete)
            self.check_copies(fan)
        if outlet.trunk is not None:
            self.serve_trunk(outlet.trunk)
            return
        if outlet.way is not None:
            self.serve_way(outlet.way)
        self.serve(outlet.address)

    def serve_trunk(self, trunk: "Trunk") -> None:
        """Send what waits for a connection to another router, address by address."""
        trunk.use_control_credit()
        hungry = trunk.hungry
        if not hungry:
            return
        trunk.hungry = {}
        # Each that finds no link for its large message wants one again; some are on their way.
        trunk.wanted_streams = -len(trunk.opening)
        for address in hungry:
            for way in address.ways:
                self.serve_way(way)
            self.serve(address)
            self.forget_if_idle(address)

    def forget_if_idle(self, address: "Address") -> None:
        """Forget an address that nobody uses; `Siblings` has them."""

    def relieve(self, peer: "Peer") -> None:
        """Go on with the outlets of a connection that had no room, since it may have some again."""
        starved = peer.starved
        peer.starved = {}
        for outlet in starved:
            if not outlet.is_open:
                continue
            if peer.is_blocked or outlet.link.session.has_backlog:
                peer.starved[outlet] = None
                continue
            outlet.let_go()
            self.serve_outlet(outlet)
            outlet.address.note_credit()
            self._answer_drain(outlet)

    def _answer_drain(self, outlet: "Outlet") -> None:
        link = outlet.link
        if not link.drain or not link.is_attached or outlet in outlet.peer.starved:
            return
        address = outlet.address
        if link.credit > 0 and not outlet.is_fabric and address.fabric_inlets and not address.is_multicast:
            if not outlet.is_draining:
                address.drain_siblings()
                outlet.is_draining = True
        else:
            link.drained()
            outlet.note_flow(self.now)

    def siblings_drained(self, address: "Address") -> None:
        """Answer the drains that waited for siblings, if all of them have sent what they could."""
        for inlet in address.fabric_inlets:
            if inlet.link.credit > 0:
                return
        for outlet in address.outlets[: address.local_count]:
            if outlet.is_draining:
                outlet.is_draining = False
                if outlet.link.drain and outlet.link.is_attached:
                    outlet.link.drained()
                    outlet.note_flow(self.now)
        address.note_credit()

    # --- flows

    def on_link_flow(self, link: "Link") -> None:
        """Use new credit, answer a drain, or see what credit a producer gave back."""
        end = link.context
        if end is None:
            return
        if link.is_sender:
            outlet: Outlet = end
            if outlet.dry_since != 0.0 and link.credit > 0 and self.recorder is not None:
                self.recorder.events.credit_came(outlet, self.now)
            outlet.note_flow(self.now)
            if outlet.is_open:
                if outlet.peer.starved:
                    self.relieve(outlet.peer)
                outlet.is_draining = outlet.is_draining and link.drain
                if outlet.address.fabric_inlets:
                    # Before what waits here takes all of the new credit, or siblings would never get any.
                    outlet.address.share_credit()
                self.serve_outlet(outlet)
                self._answer_drain(outlet)
        else:
            inlet: Inlet = end
            inlet.is_quiet = not inlet.is_open
            if inlet.is_fabric and inlet.address is not None:
                self.siblings_drained(inlet.address)
            inlet.top_up()

    def on_session_flow(self, session: "Session") -> None:
        """Go on with what waited for the session's window."""
        peer: Peer | None = session.connection.context
        if peer is not None and peer.starved:
            self.relieve(peer)

    # --- ends of links

    def outlet_lost(self, outlet: "Outlet") -> None:
        """Settle with the producers what a consumer's link leaves behind."""
        if outlet.dry_since != 0.0 and self.recorder is not None:
            self.recorder.events.credit_came(outlet, self.now)
        outlet.is_open = False
        outlet.let_go()
        for out in _unsettled(outlet.link):
            context = out.context
            out.context = None
            if out.record is not None:
                self.note_loss(out, False)
            self.forget_way(out)
            if type(context) is Delivery:
                self._consumer_lost(context)
            elif context is not None:
                context.combine(_MAYBE_SEEN)
                self.check_copies(context)
            if out.is_tracked and outlet.link.is_over:
                # A link that is detached and not closed could be resumed; here nothing is kept for that (2.6.13).
                out.settle()
        waiting, outlet.waiting = outlet.waiting, None
        for fan in [] if waiting is None else waiting:
            self._copy_lost(fan, outlet.address, CONSUMER_LOST)

    def _consumer_lost(self, delivery: Delivery) -> None:
        inlet: Inlet | None = delivery.link.context
        delivery.context = None
        if inlet is None:
            return
        if delivery is inlet.current:
            inlet.current = None
        if delivery.remote_settled:
            inlet.dropped_presettled += 1
            inlet.top_up()
        elif delivery.state is None or not is_outcome(delivery.state):
            self.settle(inlet, delivery, _MAYBE_SEEN)

    def inlet_lost(self, inlet: "Inlet") -> None:
        """Let go of what a producer's link leaves behind: what it began is aborted, what it waits for is forgotten."""
        inlet.is_open = False
        inlet.collected = None
        current = inlet.current
        inlet.current = None
        if current is not None:
            self._producer_lost(current)
        suspended = inlet.link.suspended
        for delivery in [] if suspended is None else list(suspended.values()):
            outcome = _RELEASED if type(delivery.context) is Parked else _MAYBE_SEEN
            self._producer_lost(delivery)
            if delivery.is_tracked:
                # Nothing is kept for a link that was not closed: what becomes of the rest, nobody will say.
                if delivery.state is not None and is_outcome(delivery.state):
                    delivery.settle()
                else:
                    delivery.update(outcome, True)

    def _producer_lost(self, delivery: Delivery) -> None:
        context = delivery.context
        delivery.context = None
        if type(context) is Delivery:
            context.context = None
            outlet: Outlet | None = context.link.context
            if delivery.is_partial:
                self.forget_way(context)
                if context.record is not None:
                    self.note_abort(context, delivery.remote_settled)
            if delivery.is_partial and outlet is not None and context.link.is_attached:
                outlet.link.abort(context)
                self.serve_outlet(outlet)
            elif is_outcome(context.remote_state) and not context.settled and not context.remote_settled:
                context.settle()
        elif type(context) is Parked:
            if not (context.is_settled and context.is_complete):
                self._unpark(context)
                self._note_unsent_parked(context, NO_CAUSE)
        elif type(context) is FanOut and context.delivery is delivery:
            context.delivery = None
            if delivery.is_partial:
                context.is_complete = False
                self.abort_copies(context)

    # --- sections

    def _read_sections(
        self, inlet: "Inlet", delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        is_partial = delivery.is_partial
        address: Any = inlet.address
        try:
            if inlet.guard is not None and self._is_refused(inlet, None, delivery, data, start, end):
                return
            if address is None:
                address = self._destination_of(inlet, data, start, end, is_partial)
            if inlet.strips and may_carry_annotations(data, start, end):
                data, start, end = self.annotations.without(data, start, end, is_partial)
            elif isinstance(address, Address) and address.ways:
                self.passages.read(data, start, end, is_partial)
        except NeedsMore:
            self._begin_collecting(inlet, delivery, data, start, end)
            return
        except DecodeError as error:
            refusal = Rejected(error=Error(condition=error.condition, description=str(error)))
            self.drop(inlet, delivery, refusal, inlet.address, None, NO_CAUSE, data, start, end)
            return
        if address is None:
            self.drop(inlet, delivery, _RELEASED, None, None, NO_CONSUMER, data, start, end)
        elif isinstance(address, Error):
            self.drop(inlet, delivery, Rejected(error=address), None, None, NO_CAUSE, data, start, end)
        else:
            self._route(inlet, address, delivery, data, start, end, None)

    def _is_refused(
        self, inlet: "Inlet", to: str | None, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> bool:
        """Give up a message that policy does not allow; raises NeedsMore and DecodeError."""
        error = inlet.guard.refusal(to, data, start, end, delivery.is_partial)
        if error is None:
            return False
        if error is _FORBIDDEN_REQUEST and self.answer_forbidden is not None:
            # Who asks is told by an answer, as of all that management does not do.
            self.give_up(inlet, delivery, _ACCEPTED)
            self.answer_forbidden(bytes(data[start:end]))
        else:
            self.drop(inlet, delivery, Rejected(error=error), inlet.address, None, POLICY, data, start, end)
        return True

    def _destination_of(
        self, inlet: "Inlet", data: bytes | bytearray, start: int, end: int, is_partial: bool
    ) -> "Address | Error | None":
        to = self._to_of(data, start, end, is_partial)
        return self.destination(inlet, to) if to else _NO_TO

    def _to_of(self, data: bytes | bytearray, start: int, end: int, is_partial: bool) -> str | None:
        sections = self._sections
        sections.reset(data, start, end, is_partial)
        try:
            return sections.to
        finally:
            sections.reset(_NOTHING, 0, 0, False)

    def _begin_collecting(
        self, inlet: "Inlet", delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        collected = Collected(delivery)
        collected.octets += data[start:end]
        inlet.collected = collected

    def _collect(self, inlet: "Inlet", delivery: Delivery, data: bytes | bytearray, start: int, end: int) -> None:
        collected = inlet.collected
        inlet.collected = None
        if collected is None or delivery is not collected.delivery:
            return
        if delivery.is_aborted:
            inlet.top_up()
            return
        octets = collected.octets
        octets += data[start:end]
        if inlet.is_control and delivery.is_partial and len(octets) <= CONTROL_MAX:
            inlet.collected = collected
            return
        if len(octets) > COLLECTED_MAX and not (inlet.is_control and len(octets) <= CONTROL_MAX):
            self.give_up(
                inlet,
                delivery,
                Rejected(
                    error=Error(
                        condition="amqp:link:message-size-exceeded",
                        description=f"address and annotations are not within the first {COLLECTED_MAX} octets",
                    )
                ),
            )
            return
        if inlet.trunk is not None:
            self._arrive(inlet, delivery, octets, 0, len(octets))
        else:
            self._read_sections(inlet, delivery, octets, 0, len(octets))


def _unsettled(link: "Link") -> list[Delivery]:
    """Return the deliveries that a link leaves behind, or as long as it is attached those that are under way on it."""
    if link.suspended is not None:
        return list(link.suspended.values())
    if not link.is_attached:
        return []
    return [delivery for delivery in link.session.outgoing.all() if delivery.link is link]


