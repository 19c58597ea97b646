"""The rest of messages that begin to leave, or to wait, before they have come as a whole."""

from typing import TYPE_CHECKING, Any

from routerd.core.delivery.settlement import too_large
from routerd.core.delivery.windows import CLOSES, GIVES_UP, effect_of_stuck
from routerd.core.links.fan_out import MAYBE_SEEN
from routerd.core.links.parked import Parked
from routerd.core.recording.names import (
    RECORDED_DROPPED,
    RECORDED_REJECTED,
    RECORDED_RELEASED,
    TOO_LARGE,
    TOO_MANY_WAIT,
)
from routerd.wire import RELEASED
from routerd.wire.delivery import Delivery

if TYPE_CHECKING:
    from routerd.core.delivery.copies import Copies
    from routerd.core.delivery.queues import Queues
    from routerd.core.delivery.sending import Sending
    from routerd.core.delivery.settlement import Settlement
    from routerd.core.links.arrival import Arrival
    from routerd.core.links.fan_out import FanOut
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.recording.journal import Journal

_CLOSES = CLOSES
_GIVES_UP = GIVES_UP
_MAYBE_SEEN = MAYBE_SEEN
_RELEASED = RELEASED


class Remainders:
    """Sends the rest of a message after its beginning."""

    def __init__(
        self, journal: "Journal", settlement: "Settlement", sending: "Sending", copies: "Copies", queues: "Queues"
    ) -> None:
        self._journal = journal
        self._settlement = settlement
        self._sending = sending
        self._copies = copies
        self._queues = queues

    def go_on(self, arrival: "Arrival") -> None:
        """Take more of a message, its end, or its abort."""
        delivery = arrival.delivery
        context = delivery.context
        if type(context) is Delivery:
            self._go_on_with_one(arrival, delivery, context)
        elif type(context) is Parked:
            self._queues.go_on(arrival, context)
        else:
            self._go_on_with_copies(arrival, context)

    def _go_on_with_one(self, arrival: "Arrival", delivery: Delivery, out: Delivery) -> None:
        inlet = arrival.inlet
        outlet: Outlet | None = out.link.context
        size = arrival.end - arrival.start
        if outlet is None or not outlet.is_open or not out.link.is_attached:
            if out.ticket != 0:
                self._journal.lost(out, delivery.remote_settled)
            self._settlement.give_up(inlet, delivery, _MAYBE_SEEN)
            return
        link = outlet.link
        if delivery.is_aborted:
            if out.ticket != 0:
                # An abort settles the delivery, whatever the sender says.
                self._journal.aborted(out, out.settled)
            link.abort(out)
            self._settlement.forget_route(out)
            out.context = delivery.context = inlet.current = None
            inlet.top_up()
            self._queues.serve_outlet(outlet)
            return
        if link.remote_max_message_size and out.size + size > link.remote_max_message_size:
            self._give_up(inlet, delivery, outlet, out, too_large(link), RECORDED_REJECTED, TOO_LARGE)
            return
        link.write(out, arrival.data, arrival.start, arrival.end, delivery.is_partial)
        if out.ticket != 0:
            self._journal.grew(out, size)
        if delivery.is_partial:
            if self._sending.hold_back(inlet, outlet, size):
                self._give_up(inlet, delivery, outlet, out, _RELEASED, RECORDED_RELEASED, TOO_MANY_WAIT)
            return
        inlet.current = None
        if out.context is None:
            delivery.context = None
        elif out.settled or delivery.remote_settled:
            self._settlement.sent(inlet, outlet, delivery, out)
        self._queues.serve_outlet(outlet)

    def _give_up(
        self, inlet: "Inlet", delivery: Delivery, outlet: "Outlet", out: Delivery, outcome: Any, number: int, cause: int
    ) -> None:
        """Abort a message that is being sent, and settle it with its producer."""
        outlet.link.abort(out)
        self._settlement.forget_route(out)
        out.context = None
        if out.ticket != 0:
            self._journal.decided(out, RECORDED_DROPPED if delivery.remote_settled else number, cause)
        self._settlement.give_up(inlet, delivery, outcome)
        self._queues.serve_outlet(outlet)

    def _go_on_with_copies(self, arrival: "Arrival", fan: "FanOut") -> None:
        delivery = fan.delivery
        if delivery is None:
            return
        inlet = arrival.inlet
        if delivery.is_aborted:
            self.abort_copies(fan)
            inlet.current = None
            inlet.top_up()
            return
        size = arrival.end - arrival.start
        is_held = False
        inlet.link.session.connection.work += len(fan.under_way) >> 3
        for out in list(fan.under_way):
            outlet: Outlet | None = out.link.context
            if outlet is None or not out.link.is_attached:
                fan.under_way.remove(out)
                if out.ticket != 0:
                    self._journal.lost(out, fan.is_settled)
                continue
            link = outlet.link
            if link.remote_max_message_size and out.size + size > link.remote_max_message_size:
                self._abort(fan, outlet, out, too_large(link), RECORDED_REJECTED, TOO_LARGE)
                continue
            link.write(out, arrival.data, arrival.start, arrival.end, delivery.is_partial)
            if out.ticket != 0:
                self._journal.grew(out, size)
                if not delivery.is_partial and out.settled:
                    self._sending.copy_sent(fan, out)
            is_full = outlet.peer.is_blocked or link.session.has_backlog
            if delivery.is_partial and is_full and not is_held:
                effect = effect_of_stuck(inlet, outlet, size)
                if effect == _CLOSES:
                    is_held = True
                    outlet.hold(inlet.link.session)
                elif effect == _GIVES_UP:
                    self._abort(fan, outlet, out, _RELEASED, RECORDED_RELEASED, TOO_MANY_WAIT)
        fan.is_complete = not delivery.is_partial
        if fan.waiting:
            self._copies.keep(fan, arrival.data, arrival.start, arrival.end)
        if fan.is_complete:
            inlet.current = None
            under_way, fan.under_way = fan.under_way, []
            self._copies.all_sent(fan)
            for out in under_way:
                self._queues.serve_outlet(out.link.context)
            self._serve_routes(fan)

    def _abort(
        self, fan: "FanOut", outlet: "Outlet", out: Delivery, outcome: Any, number: int, cause: int
    ) -> None:
        """Abort a copy that is being sent."""
        outlet.link.abort(out)
        self._settlement.forget_route(out)
        fan.under_way.remove(out)
        if out.ticket != 0:
            self._journal.decided(out, RECORDED_DROPPED if fan.is_settled else number, cause)
        if fan.is_settled:
            outlet.dropped_presettled += 1
        if out.context is fan:
            fan.copy_over(out, outcome)
        self._queues.serve_outlet(outlet)

    def abort_copies(self, fan: "FanOut") -> None:
        """Abort the copies that are being sent: the rest of the message will never come."""
        for out in fan.under_way:
            outlet: Outlet | None = out.link.context
            out.context = None
            if out.ticket != 0:
                self._journal.aborted(out, fan.is_settled)
            self._settlement.forget_route(out)
            if outlet is not None and out.link.is_attached:
                outlet.link.abort(out)
                self._queues.serve_outlet(outlet)
        fan.under_way = []
        fan.settle_awaiting()
        delivery = fan.delivery
        if delivery is not None:
            delivery.context = None
            fan.delivery = None
        self._settlement.check_copies(fan)
        self._serve_routes(fan)

    def _serve_routes(self, fan: "FanOut") -> None:
        """Continue if a copy waits for a link for large messages: a complete or aborted message needs none."""
        routes, fan.routes = fan.routes, None
        for route in [] if routes is None else routes:
            self._copies.serve_route(route)
        outlets, fan.outlets = fan.outlets, None
        for outlet in [] if outlets is None else outlets:
            self._copies.serve(outlet)
