"""Sending a message: as it is, as a copy, or not at all."""

from typing import TYPE_CHECKING, Any

from routerd.core.delivery.marking import UNREADABLE
from routerd.core.delivery.settlement import STATE_TOO_LONG, how_settled, too_large
from routerd.core.delivery.windows import CLOSES, GIVES_UP, effect_of_stuck, open_for
from routerd.core.links.arrival import Arrival
from routerd.core.links.kept import Kept
from routerd.core.links.parked import parked
from routerd.core.recording.journal import outcome_number
from routerd.core.recording.names import (
    NO_CAUSE,
    NO_ROUTE,
    RECORDED_ACCEPTED,
    RECORDED_DROPPED,
    RECORDED_PRESETTLED,
    RECORDED_REJECTED,
    RECORDED_RELEASED,
    TOO_LARGE,
)
from routerd.wire import ACCEPTED, RELEASED, FrameTooLarge

if TYPE_CHECKING:
    from routerd.core.clock import Clock
    from routerd.core.delivery.marking import Marking
    from routerd.core.delivery.settlement import Settlement
    from routerd.core.links.address import Address
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.fan_out import FanOut
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.observer import Observer
    from routerd.core.recording.journal import Journal
    from routerd.wire.delivery import Delivery
    from routerd.wire.sender import Sender

_ACCEPTED = ACCEPTED
_CLOSES = CLOSES
_GIVES_UP = GIVES_UP
_RELEASED = RELEASED
_STATE_TOO_LONG = STATE_TOO_LONG
_MIXED = 2
_SETTLED = 1
_UNREADABLE = UNREADABLE


class Sending:
    """Writes messages to outlets, and counts them."""

    def __init__(
        self,
        clock: "Clock",
        observer: "Observer",
        marking: "Marking",
        journal: "Journal",
        settlement: "Settlement",
        is_edge: bool,
    ) -> None:
        self._is_edge = is_edge
        self._clock = clock
        self._observer = observer
        self._marking = marking
        self._journal = journal
        self._settlement = settlement
        self._spare = Arrival()
        # Deliveries that went on to other interior routers.
        self.transit = 0

    def forward(self, arrival: Arrival, outlet: "Outlet") -> bool:
        """Send a message, or its beginning; return whether the messages behind it may follow it."""
        delivery = arrival.delivery
        link = outlet.link
        data = arrival.data
        start = arrival.start
        end = arrival.end
        arrival.changed = -1
        if arrival.route is not None or outlet.is_dressed or (outlet.strips and not arrival.inlet.strips):
            size = self._marking.dress(arrival, outlet)
            if size >= 0:
                data = self._marking.octets
                start = 0
                end = arrival.changed = size
            elif size == _UNREADABLE:
                self.drop(arrival, _RELEASED, _address_of(arrival, outlet), NO_ROUTE)
                return False
        if link.remote_max_message_size and end - start > link.remote_max_message_size:
            self.drop(arrival, too_large(link), _address_of(arrival, outlet), TOO_LARGE)
            return False
        is_settled = delivery.remote_settled
        if link.snd_settle_mode != _MIXED:
            is_settled = link.snd_settle_mode == _SETTLED
        out = None
        if delivery.remote_state is not None:
            out = _begin_with(link, is_settled, delivery.message_format, delivery, delivery.remote_state)
            if out is None:
                self.drop(arrival, _STATE_TOO_LONG, _address_of(arrival, outlet), TOO_LARGE)
                return False
        flow = 0
        if self._journal.recorder is not None:
            flow = self._journal.departs(arrival, outlet, False)
        is_whole = not arrival.is_partial
        if out is not None or not (
            is_settled and is_whole and link.send_settled(data, start, end, delivery.message_format)
        ):
            if out is None:
                out = link.begin(None, is_settled, delivery.message_format, delivery)
            out.stamp = delivery.stamp
            if flow != 0:
                self._journal.keep(out, flow)
            link.write(out, data, start, end, delivery.is_partial)
        if outlet.is_watched:
            self._observer.message_sent(outlet, data, start, end, arrival.is_partial)
        self._count(arrival, outlet, out)
        if outlet.address.fabric_inlets:
            outlet.address.note_credit()
        if out is None:
            outlet.presettled += 1
            if flow != 0:
                self._journal.decided_at_once(flow, how_settled(delivery), NO_CAUSE)
            self._settlement.has_left(arrival.inlet, delivery)
            return delivery.remote_settled
        delivery.context = out
        if not is_whole:
            arrival.inlet.current = delivery
            self.hold_back(arrival.inlet, outlet, end - start)
            open_for(arrival.inlet)
        elif is_settled or delivery.remote_settled:
            self._settlement.sent(arrival.inlet, outlet, delivery, out)
        elif arrival.inlet.resends or _address_of(arrival, outlet).resends:
            self._keep(arrival, outlet)
        else:
            return True
        return False

    def _keep(self, arrival: Arrival, outlet: "Outlet") -> None:
        """Keep a message that goes elsewhere if it is released, and note its destination."""
        address = _address_of(arrival, outlet)
        delivery = arrival.delivery
        kept = self._settlement.kept.get(delivery)
        if kept is None:
            kept = Kept(parked(arrival.inlet, address, delivery, arrival.data, arrival.start, arrival.end))
            if not self._settlement.keep(kept):
                return
        if arrival.route is None:
            kept.goes_to(outlet)
        else:
            kept.tried.add(arrival.route.next_hop if arrival.route.beside is None else arrival.route.beside)

    def copy(self, arrival: Arrival, fan: "FanOut", outlet: "Outlet") -> None:
        """Send the copy of a message, or its beginning."""
        link = outlet.link
        more = arrival.is_partial
        data = arrival.data
        start = arrival.start
        end = arrival.end
        if arrival.route is not None or outlet.is_told or (outlet.strips and not fan.inlet.strips):
            size = self._marking.dress(arrival, outlet)
            if size >= 0:
                data = self._marking.octets
                start = 0
                end = size
            elif size == _UNREADABLE:
                self.unsent(fan, _address_of(arrival, outlet), outlet, RECORDED_RELEASED, NO_ROUTE)
                if not fan.is_settled:
                    fan.open_copies += 1
                    fan.combine(_RELEASED)
                return
        is_settled = fan.is_settled
        if link.snd_settle_mode != _MIXED:
            is_settled = link.snd_settle_mode == _SETTLED
        if not fan.is_settled:
            fan.open_copies += 1
        if link.remote_max_message_size and end - start > link.remote_max_message_size:
            self.unsent(fan, _address_of(arrival, outlet), outlet, RECORDED_REJECTED, TOO_LARGE)
            if not fan.is_settled:
                fan.combine(too_large(link))
            return
        flow = 0
        if self._journal.recorder is not None:
            flow = self._journal.departs(arrival, outlet, True)
        out = None
        context = None if fan.is_settled else fan
        if fan.state is not None:
            out = _begin_with(link, is_settled, fan.message_format, context, fan.state)
        if out is None:
            out = link.begin(None, is_settled, fan.message_format, context)
        out.stamp = fan.stamp
        if flow != 0:
            self._journal.keep(out, flow)
        link.write(out, data, start, end, more)
        if outlet.is_watched:
            self._observer.message_sent(outlet, data, start, end, more)
        self._count(arrival, outlet, out)
        if is_settled:
            outlet.presettled += 1
            out.context = None
            if not fan.is_settled:
                fan.combine(_ACCEPTED)
        if more:
            fan.under_way.append(out)
        elif is_settled and flow != 0:
            self.copy_sent(fan, out)

    def _count(self, arrival: Arrival, outlet: "Outlet", out: "Delivery | None") -> None:
        """Count a delivery that has begun to leave; a message that left settled as a whole has none."""
        self.count(arrival.inlet, outlet, arrival.route, 1)
        if arrival.route is not None and out is not None and not out.settled:
            arrival.route.outstanding += 1
            out.via = arrival.route

    def count(self, inlet: "Inlet", outlet: "Outlet", route: "AddressRoute | None", count: int) -> None:
        """Count deliveries that have begun to leave, by an outlet of their address or by a route."""
        now = self._clock.now
        if outlet.link.credit == 0:
            outlet.ran_dry(now)
        outlet.deliveries += count
        outlet.peer.active_at = now
        if route is None:
            if not outlet.is_fabric:
                outlet.address.egress += count
        elif route.beside is not None:
            route.address.egress += count
        elif inlet.trunk is not None or not inlet.peer.is_fabric:
            # A sibling that has the connection to the neighbour does not count it again.
            if self._is_edge:
                # Its uplink is like the link of a consumer.
                route.address.egress += count
            else:
                route.address.transit += count
                self.transit += count

    def copy_sent(self, fan: "FanOut", out: "Delivery") -> None:
        """Record a settled copy that has left as a whole."""
        self._journal.decided(out, RECORDED_PRESETTLED if fan.is_settled else RECORDED_ACCEPTED, NO_CAUSE)

    def unsent(self, fan: "FanOut", address: "Address", outlet: "Outlet | None", outcome: int, cause: int) -> None:
        """Record a copy that is not sent. If it is settled, count it at its outlet, or without one at its inlet."""
        if fan.is_settled:
            if outlet is not None:
                outlet.dropped_presettled += 1
            else:
                fan.inlet.dropped_presettled += 1
        if self._journal.recorder is not None:
            spare = self._spare
            spare.copy_of(fan)
            self._journal.stays(spare, address, RECORDED_DROPPED if fan.is_settled else outcome, cause)
            spare.is_over()

    def drop(self, arrival: Arrival, outcome: Any, address: "Address | None", cause: int) -> None:
        """Give up and record a message that nobody gets."""
        delivery = arrival.delivery
        if self._journal.recorder is not None:
            number = RECORDED_DROPPED if delivery.remote_settled else outcome_number(outcome)
            self._journal.stays(arrival, address, number, cause)
        self._settlement.give_up(arrival.inlet, delivery, outcome)

    def hold_back(self, inlet: "Inlet", outlet: "Outlet", size: int) -> bool:
        """Close the producer's window, frame by frame, if its message comes in faster than it leaves.

        Return whether the message has to be given up instead.
        """
        if not (outlet.peer.is_blocked or outlet.link.session.has_backlog):
            return False
        effect = effect_of_stuck(inlet, outlet, size)
        if effect == _CLOSES:
            outlet.hold(inlet.link.session)
        return effect == _GIVES_UP


def _begin_with(link: "Sender", is_settled: bool, message_format: int, context: Any, state: Any) -> "Delivery | None":
    """Begin a delivery with its producer's state; return None if that is too long for the consumer's frames."""
    try:
        return link.begin(None, is_settled, message_format, context, state)
    except FrameTooLarge:
        return None


def _address_of(arrival: Arrival, outlet: "Outlet") -> "Address":
    """Return the address of a message that is about to leave by an outlet."""
    return outlet.address if arrival.route is None else arrival.route.address
