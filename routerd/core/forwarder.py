"""The way of a message through a router: in at an inlet, out at an outlet, its outcome back.

A delivery that came in and the one that went out point at each other by `context`. The incoming one may also point
at a `Parked` message, which waits for an outlet that can send, or at the `FanOut` of its copies. The router owns
no message: it settles with the producer what the consumer decided, `released` for what never left, and `modified`
for what a consumer may have seen before it vanished.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from routerd.core.address import Address
from routerd.core.endings import Endings
from routerd.core.fan_out import MAYBE_SEEN
from routerd.core.outlet import BURST
from routerd.core.parked import Collected, Parked, parked
from routerd.core.policy.message_guard import FORBIDDEN_REQUEST, MessageGuard
from routerd.core.recorder_hooks import AUTOMATIC
from routerd.core.recorder_names import (
    LOOP,
    NO_CAUSE,
    NO_CONSUMER,
    NO_ROUTE,
    POLICY,
    RECORDED_DROPPED,
    RECORDED_REJECTED,
    TOO_LARGE,
    TOO_MANY_WAIT,
)
from routerd.core.settlement import how_settled, too_large
from routerd.wire import ACCEPTED, RELEASED, DecodeError, Error, NeedsMore, Rejected
from routerd.wire.delivery import Delivery
from routerd.wire.section_scan import may_carry_annotations
from routerd.wire.sections import Sections

if TYPE_CHECKING:
    from routerd.core.inlet import Inlet
    from routerd.core.observer import Observer
    from routerd.core.outlet import Outlet
    from routerd.core.passage import Passage
    from routerd.core.way import Way
    from routerd.wire import Receiver
    from routerd.wire.convoy import Convoy
    from routerd.wire.link import Link

COLLECTED_MAX = 1 << 20
"""Octets of a message in which its address and annotations have to be."""
CONTROL_MAX = 1 << 26
"""Octets of a control message: one may have all the addresses of a router."""

_ACCEPTED = ACCEPTED
_RELEASED = RELEASED
_MAYBE_SEEN = MAYBE_SEEN
_BURST = BURST
_MIXED = 2
_SETTLED = 1
_NOTHING = b""
_FORBIDDEN_REQUEST = FORBIDDEN_REQUEST
_NO_TO = Error(
    condition="amqp:precondition-failed", description="the message says in no `to` property where it goes"
)


class Forwarder(Endings):
    """Forwards deliveries; says where those of anonymous inlets go by `destination`, which the router overrides."""

    def __init__(self, observer: "Observer", router_id: str, is_edge: bool = False) -> None:
        Endings.__init__(self, observer, router_id, is_edge)
        self._sections = Sections(_NOTHING)
        # Answers a request to management that its sender may not make; whether there is an answer.
        self.answer_forbidden: Callable[[bytes], bool] | None = None
        # What is being looked at again, now that there is more of it.
        self._collecting: Collected | None = None

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
            if inlet.trunk is not None or inlet.is_short:
                inlet.top_up()
            address = inlet.address
            if inlet.trunk is not None:
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
        queue = self.queue_for(address, inlet)
        waits = delivery.is_partial or queue.is_ready if address.is_fair else bool(queue)
        if address.is_multicast:
            is_ahead = not address.has_outlet(inlet.is_fabric) and self.is_expected(inlet, address)
            if not waits and (address.missing == 0 or inlet.is_fabric) and not is_ahead:
                self.fan_out(inlet, address, delivery, data, start, end, passage)
                return
        elif not waits:
            # Each of the consumers is looked at where all of them are at work.
            inlet.link.session.connection.work += len(address.outlets) >> 7
            outlet = address.choose(inlet.is_fabric)
            if address.ways and not inlet.is_fabric:
                priority = self.priority_of(address, data, start, end)
                way = self.choose_way(address, passage, outlet, priority, delivery.is_partial)
                if way is not None and self.picked is not None:
                    self.forward(inlet, self.picked, way, delivery, data, start, end)
                    return
            if outlet is not None and outlet.side is not None and delivery.is_partial:
                side = outlet.side
                outlet = side.pick(0, True)
                if outlet is not None:
                    self.forward(inlet, outlet, side, delivery, data, start, end)
                    return
            elif outlet is not None:
                if self.forward(inlet, outlet, None, delivery, data, start, end):
                    self._aim(inlet, outlet, delivery)
                return
        has_nobody = not address.has_outlet(inlet.is_fabric) or (
            address.ways and not inlet.is_fabric and not self.has_destination(address, passage)
        )
        if has_nobody and (passage is None or not self.is_expected(inlet, address)):
            self.drop(inlet, delivery, _RELEASED, address, passage, AUTOMATIC, data, start, end)
        elif inlet.trunk is not None and delivery.remote_settled and self.lags(address, inlet):
            # Credit of routers comes back at once, so nothing else bounds what waits for a consumer that lags.
            self.drop(inlet, delivery, _RELEASED, address, passage, TOO_MANY_WAIT, data, start, end)
        else:
            self.park(queue, parked(inlet, address, delivery, data, start, end), end - start)
            if not delivery.is_partial and not inlet.is_watched and self.may_go_together(inlet, address):
                # Those behind it wait where it does.
                behind = None if delivery.remote_settled else delivery
                inlet.link.session.connection.relay.halt(inlet.link, behind)

    def forward(
        self,
        inlet: "Inlet",
        outlet: "Outlet",
        way: "Way | None",
        delivery: Delivery,
        data: bytes | bytearray,
        start: int,
        end: int,
    ) -> bool:
        link = outlet.link
        if way is not None or outlet.is_marked:
            if self.has_to_mark(inlet, way):
                try:
                    target = outlet.address if way is None else way.address
                    end = self.marked(inlet, target, delivery, data, start, end, delivery.is_partial)
                except (NeedsMore, DecodeError):
                    target = outlet.address if way is None else way.address
                    self.drop(inlet, delivery, _RELEASED, target, self.routed, NO_ROUTE, data, start, end)
                    return False
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
            return False
        flow = 0
        if self.recorder is not None:
            flow = self.note_departure(
                inlet, outlet, way, self.routed, delivery.stamp, delivery.size, data, start, end, False
            )
        is_settled = delivery.remote_settled
        if link.snd_settle_mode != _MIXED:
            is_settled = link.snd_settle_mode == _SETTLED
        out = None
        is_whole = not delivery.is_partial
        if not (is_settled and is_whole and link.send_settled(data, start, end, delivery.message_format)):
            out = link.begin(None, is_settled, delivery.message_format, delivery)
            out.stamp = delivery.stamp
            if flow != 0:
                self.keep_record(out, flow)
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
        if out is None:
            outlet.presettled += 1
            if flow != 0 and self.recorder is not None:
                self.recorder.settled_at_once(flow, how_settled(delivery), NO_CAUSE, self.now)
            self.has_left(inlet, delivery)
            return delivery.remote_settled
        delivery.context = out
        if delivery.is_partial:
            inlet.current = delivery
            self._hold_back(inlet, outlet)
        elif is_settled or delivery.remote_settled:
            self.sent(inlet, outlet, delivery, out)
        else:
            return True
        return False

    def _aim(self, inlet: "Inlet", outlet: "Outlet", delivery: Delivery) -> None:
        """Let those behind a message that has just left take its way, where nobody looks at them."""
        if self._may_relay(inlet, outlet):
            # Annotations of what a sibling took in say where that entered the network.
            is_plain_only = inlet.strips or outlet.strips or (inlet.is_fabric and self.recorder is not None)
            behind = None if delivery.remote_settled else delivery
            relay = inlet.link.session.connection.relay
            relay.aim(inlet.link, outlet.link, is_plain_only, _BURST, behind, self.together_room())

    def _may_relay(self, inlet: "Inlet", outlet: "Outlet") -> bool:
        """Whether the messages behind one that left take the same way, and nobody looks at them."""
        address = outlet.address
        return not inlet.is_watched and self.may_go_together(inlet, address) and self.may_take_many(outlet)

    def on_relayed(
        self,
        receiver: "Link",
        sender: "Link",
        count: int,
        convoy: "Convoy | None",
        data: bytes | bytearray,
        start: int,
    ) -> None:
        """Count messages that took the way of the one before them."""
        inlet: Inlet = receiver.context
        outlet: Outlet = sender.context
        if convoy is not None:
            convoy.stamp = self.now
        self.have_come(inlet, outlet.address, count)
        self.note_together(inlet, outlet, self.now, count, convoy, data, start, receiver.remote_handle)
        self.have_left(inlet, outlet, count, convoy is None)

    def _continue(self, inlet: "Inlet", delivery: Delivery, data: bytes | bytearray, start: int, end: int) -> None:
        context = delivery.context
        if type(context) is Delivery:
            self._continue_one(inlet, delivery, context, data, start, end)
        elif type(context) is Parked:
            self.continue_parked(inlet, context, data, start, end)
        else:
            self.continue_copies(inlet, context, data, start, end)

    def _continue_one(
        self, inlet: "Inlet", delivery: Delivery, out: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        outlet: Outlet | None = out.link.context
        if outlet is None or not outlet.is_open or not out.link.is_attached:
            if out.record_flow != 0:
                self.note_loss(out, delivery.remote_settled)
            self.give_up(inlet, delivery, _MAYBE_SEEN)
            return
        link = outlet.link
        if delivery.is_aborted:
            if out.record_flow != 0:
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
            if out.record_flow != 0:
                number = RECORDED_DROPPED if delivery.remote_settled else RECORDED_REJECTED
                self.note_outcome(out, number, TOO_LARGE)
            self.give_up(inlet, delivery, too_large(link))
            self.serve_outlet(outlet)
            return
        link.write(out, data, start, end, delivery.is_partial)
        if out.record_flow != 0:
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
                is_guarded = inlet.guard is not None
                address = self._destination_of(inlet, data, start, end, is_partial)
                # Where a message goes may be why it has to be looked at.
                is_due = not is_guarded and inlet.guard is not None
                if is_due and self._is_refused(inlet, None, delivery, data, start, end):
                    return
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
        guard: MessageGuard = inlet.guard
        error = guard.refusal(to, data, start, end, delivery.is_partial)
        if error is None:
            return False
        answer = self.answer_forbidden if error is _FORBIDDEN_REQUEST else None
        if answer is not None and answer(bytes(data[start:end])):
            # Who asks is told by an answer, as of all that management does not do.
            self.give_up(inlet, delivery, _ACCEPTED)
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
        collected = self._collecting
        if collected is None or collected.delivery is not delivery:
            collected = Collected(delivery)
            collected.octets += data[start:end]
        # A peer may send its octets one by one, and each attempt is to look at as many more as there are octets.
        size = len(collected.octets)
        collected.due = size + (size >> 4)
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
        if delivery.is_partial and len(octets) < collected.due:
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
        self._collecting = collected
        if inlet.trunk is not None:
            self._arrive(inlet, delivery, octets, 0, len(octets))
        else:
            self._read_sections(inlet, delivery, octets, 0, len(octets))
        self._collecting = None
