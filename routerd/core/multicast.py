"""The copies of a multicast message: sent to every outlet, kept for those that cannot take theirs yet."""

from collections import deque
from typing import TYPE_CHECKING

from routerd.core.fan_out import FanOut
from routerd.core.recorder_hooks import AUTOMATIC, Recorded
from routerd.core.recorder_names import (
    NO_CAUSE,
    NO_ROUTE,
    RECORDED_ACCEPTED,
    RECORDED_DROPPED,
    RECORDED_PRESETTLED,
    RECORDED_REJECTED,
    RECORDED_RELEASED,
    TOO_LARGE,
    TOO_MANY_WAIT,
)
from routerd.core.settlement import too_large
from routerd.wire import ACCEPTED, RELEASED, DecodeError, NeedsMore
from routerd.wire.delivery import Delivery
from routerd.wire.section_scan import may_carry_annotations

if TYPE_CHECKING:
    from routerd.core.address import Address
    from routerd.core.inlet import Inlet
    from routerd.core.outlet import Outlet
    from routerd.core.passage import Passage
    from routerd.core.way import Way

_ACCEPTED = ACCEPTED
_RELEASED = RELEASED
_MIXED = 2
_SETTLED = 1


class Multicast(Recorded):
    """Sends the copies of messages."""

    def serve_outlet(self, outlet: "Outlet") -> None:
        """Send what waits for an outlet that is free again; `Forwarder` has the queues."""

    def fan_out(
        self,
        inlet: "Inlet",
        address: "Address",
        delivery: Delivery,
        data: bytes | bytearray,
        start: int,
        end: int,
        passage: "Passage | None",
    ) -> None:
        count = address.local_count if inlet.is_fabric else len(address.outlets)
        ways = self.ways_for(address, passage) if address.ways and not inlet.is_fabric else None
        if count == 0 and not ways:
            self.drop(inlet, delivery, _RELEASED, address, passage, AUTOMATIC, data, start, end)
            return
        fan = FanOut(inlet, delivery)
        fan.passage = self.routed
        more = delivery.is_partial
        fan.is_complete = not more
        if more:
            inlet.current = delivery
        if more or not fan.is_settled:
            delivery.context = fan
        inlet.link.session.connection.work += count >> 2
        for outlet in address.outlets[:count]:
            if inlet.trunk is not None and outlet.peer is inlet.peer:
                # An edge router has given its own consumers theirs.
                continue
            link = None if outlet.waiting else _link_for(outlet, more)
            if link is None:
                self._wait_for(fan, outlet)
            else:
                self.send_copy(fan, link, None if link is outlet else outlet.side, data, start, end, more)
        if ways:
            priority = self.priority_of(address, data, start, end)
            for way in ways:
                link = None if way.waiting else way.pick(priority, more)
                if link is None:
                    self._wait_for_way(fan, way, priority)
                else:
                    self.send_copy(fan, link, way, data, start, end, more)
        if fan.waiting:
            self._keep(fan, data, start, end)
        if fan.is_complete:
            self._all_sent(fan)

    def send_copy(
        self,
        fan: FanOut,
        outlet: "Outlet",
        way: "Way | None",
        data: bytes | bytearray,
        start: int,
        end: int,
        more: bool,
    ) -> None:
        link = outlet.link
        if way is not None and self.has_to_mark(fan.inlet, way):
            try:
                end = self.marked(fan.inlet, way.address, fan.delivery, data, start, end, more)
                data = self.passages.spliced
                start = 0
            except (NeedsMore, DecodeError):
                # It came when there was no way yet; another router could not tell what it is.
                self._note_unsent(fan, way.address, outlet, RECORDED_RELEASED, NO_ROUTE)
                if not fan.is_settled:
                    fan.open_copies += 1
                    fan.combine(_RELEASED)
                return
        elif way is None and outlet.strips and not fan.inlet.strips and may_carry_annotations(data, start, end):
            data, start, end = self.annotations.without_if_clear(data, start, end, more)
        is_settled = fan.is_settled
        if link.snd_settle_mode != _MIXED:
            is_settled = link.snd_settle_mode == _SETTLED
        if not fan.is_settled:
            fan.open_copies += 1
        if link.remote_max_message_size and end - start > link.remote_max_message_size:
            address = outlet.address if way is None else way.address
            self._note_unsent(fan, address, outlet, RECORDED_REJECTED, TOO_LARGE)
            if not fan.is_settled:
                fan.combine(too_large(link))
            return
        flow = 0
        if self.recorder is not None:
            flow = self.note_departure(
                fan.inlet, outlet, way, fan.passage, fan.stamp, _size_of(fan), data, start, end, True
            )
        out = link.begin(None, is_settled, fan.message_format, None if fan.is_settled else fan)
        out.stamp = fan.stamp
        self.keep_record(out, flow)
        link.write(out, data, start, end, more)
        if link.credit == 0:
            outlet.ran_dry(self.now)
        if outlet.is_watched:
            self.observer.message_sent(outlet, data, start, end, more)
        outlet.deliveries += 1
        outlet.peer.active_at = self.now
        if way is not None:
            self.departed(fan.inlet, way, out)
        elif not outlet.is_fabric:
            outlet.address.egress += 1
        if is_settled:
            outlet.presettled += 1
            out.context = None
            if not fan.is_settled:
                fan.combine(_ACCEPTED)
        if more:
            fan.under_way.append(out)
        elif is_settled and flow != 0:
            self._note_sent(fan, out)

    def _note_sent(self, fan: FanOut, out: Delivery) -> None:
        self.note_outcome(out, RECORDED_PRESETTLED if fan.is_settled else RECORDED_ACCEPTED, NO_CAUSE)

    def _note_unsent(
        self, fan: FanOut, address: "Address", outlet: "Outlet | None", outcome: int, cause: int
    ) -> None:
        """Record a copy that is not sent; a settled one is counted where it would have left, or else where it came."""
        if fan.is_settled:
            if outlet is not None:
                outlet.dropped_presettled += 1
            else:
                fan.inlet.dropped_presettled += 1
        if self.recorder is not None:
            number = RECORDED_DROPPED if fan.is_settled else outcome
            size = _size_of(fan)
            octets = fan.octets
            self.note_stay(fan.inlet, address, fan.passage, fan.stamp, size, octets, 0, len(octets), number, cause)

    def serve_copies(self, outlet: "Outlet") -> None:
        """Send the copies that wait for an outlet, or for a link for large messages beside it."""
        waiting = outlet.waiting
        while waiting:
            fan: FanOut = waiting[0]
            link = None
            if _is_alive(fan):
                link = _link_for(outlet, not fan.is_complete)
                if link is None:
                    return
            waiting.popleft()
            self.leave_wait(fan)
            if link is not None:
                way = None if link is outlet else outlet.side
                self.send_copy(fan, link, way, fan.octets, 0, len(fan.octets), not fan.is_complete)
            self.check_copies(fan)

    def serve_way(self, way: "Way") -> None:
        """Send the copies that wait for a way."""
        if way.beside is not None:
            self.serve_copies(way.beside)
            return
        waiting = way.waiting
        while waiting:
            fan: FanOut = waiting[0]
            outlet = None
            if _is_alive(fan):
                priority = self.priority_of(way.address, fan.octets, 0, len(fan.octets))
                outlet = way.pick(priority, not fan.is_complete)
                if outlet is None:
                    return
            waiting.popleft()
            self.leave_wait(fan)
            if outlet is not None:
                self.send_copy(fan, outlet, way, fan.octets, 0, len(fan.octets), not fan.is_complete)
            self.check_copies(fan)

    def way_lost(self, way: "Way") -> None:
        """Release the copies that wait for a way that is no more."""
        waiting, way.waiting = way.waiting, None
        for fan in [] if waiting is None else waiting:
            self.copy_lost(fan, way.address, None, NO_ROUTE)

    def copy_lost(self, fan: FanOut, address: "Address", outlet: "Outlet | None", cause: int) -> None:
        self._note_unsent(fan, address, outlet, RECORDED_RELEASED, cause)
        self.leave_wait(fan)
        if not fan.is_settled:
            fan.open_copies += 1
            fan.combine(_RELEASED)
        self.check_copies(fan)

    def _wait_for_way(self, fan: FanOut, way: "Way", priority: int) -> None:
        if way.waiting is None:
            way.waiting = deque()
        if fan.is_settled and len(way.waiting) >= fan.inlet.capacity:
            outlet = way.outlet if way.end is None else way.end.link_of(priority)
            self._note_unsent(fan, way.address, outlet, RECORDED_DROPPED, TOO_MANY_WAIT)
            return
        if self.recorder is not None and way.address.hungry_in is not self.recorder.events:
            self.recorder.events.waits(way.address)
        way.waiting.append(fan)
        fan.waiting += 1
        if not fan.is_complete:
            fan.note_way(way)
        if not fan.is_settled:
            fan.open_copies += 1

    def _wait_for(self, fan: FanOut, outlet: "Outlet") -> None:
        if outlet.waiting is None:
            outlet.waiting = deque()
        if fan.is_settled and len(outlet.waiting) >= outlet.peer.capacity:
            # A settled copy is nobody's promise: a consumer that lags that far behind misses it.
            self._note_unsent(fan, outlet.address, outlet, RECORDED_DROPPED, TOO_MANY_WAIT)
            return
        if self.recorder is not None and outlet.address.hungry_in is not self.recorder.events:
            self.recorder.events.waits(outlet.address)
        outlet.waiting.append(fan)
        fan.waiting += 1
        if outlet.side is not None and not fan.is_complete:
            fan.note_way(outlet.side)
        if not fan.is_settled:
            fan.open_copies += 1

    def leave_wait(self, fan: FanOut) -> None:
        fan.waiting -= 1
        if not fan.is_settled:
            fan.open_copies -= 1

    def _keep(self, fan: FanOut, data: bytes | bytearray, start: int, end: int) -> None:
        fan.octets += data[start:end]
        if not fan.is_complete and not fan.inlet.is_shared:
            fan.frames += 1
            fan.inlet.link.session.withhold(1)

    def continue_copies(
        self, inlet: "Inlet", fan: FanOut, data: bytes | bytearray, start: int, end: int
    ) -> None:
        delivery = fan.delivery
        if delivery is None:
            return
        if delivery.is_aborted:
            self.abort_copies(fan)
            inlet.current = None
            inlet.top_up()
            return
        is_held = False
        inlet.link.session.connection.work += len(fan.under_way) >> 3
        for out in list(fan.under_way):
            outlet: Outlet | None = out.link.context
            if outlet is None or not out.link.is_attached:
                fan.under_way.remove(out)
                if out.record_flow != 0:
                    self.note_loss(out, fan.is_settled)
                continue
            link = outlet.link
            if link.remote_max_message_size and out.size + end - start > link.remote_max_message_size:
                link.abort(out)
                self.forget_way(out)
                fan.under_way.remove(out)
                if out.record_flow != 0:
                    self.note_outcome(out, RECORDED_DROPPED if fan.is_settled else RECORDED_REJECTED, TOO_LARGE)
                if fan.is_settled:
                    outlet.dropped_presettled += 1
                if out.context is fan:
                    out.context = None
                    fan.combine(too_large(link))
                self.serve_outlet(outlet)
                continue
            link.write(out, data, start, end, delivery.is_partial)
            if out.record_flow != 0:
                self.note_more(out, end - start)
                if not delivery.is_partial and out.settled:
                    self._note_sent(fan, out)
            is_full = outlet.peer.is_blocked or link.session.has_backlog
            if delivery.is_partial and is_full and not (is_held or inlet.is_shared):
                is_held = True
                outlet.hold(inlet.link.session)
        fan.is_complete = not delivery.is_partial
        if fan.waiting:
            self._keep(fan, data, start, end)
        if fan.is_complete:
            inlet.current = None
            under_way, fan.under_way = fan.under_way, []
            self._all_sent(fan)
            for out in under_way:
                self.serve_outlet(out.link.context)
            self._serve_ways(fan)

    def abort_copies(self, fan: FanOut) -> None:
        for out in fan.under_way:
            outlet: Outlet | None = out.link.context
            out.context = None
            if out.record_flow != 0:
                self.note_abort(out, fan.is_settled)
            self.forget_way(out)
            if outlet is not None and out.link.is_attached:
                outlet.link.abort(out)
                self.serve_outlet(outlet)
        fan.under_way = []
        delivery = fan.delivery
        if delivery is not None:
            delivery.context = None
            fan.delivery = None
        self.check_copies(fan)
        self._serve_ways(fan)

    def _serve_ways(self, fan: FanOut) -> None:
        """Go on where a copy waits for a link for large messages: a whole or an aborted one needs none."""
        ways, fan.ways = fan.ways, None
        for way in [] if ways is None else ways:
            self.serve_way(way)

    def _all_sent(self, fan: FanOut) -> None:
        if fan.is_settled:
            if fan.delivery is not None:
                fan.delivery.context = None
            fan.inlet.presettled += 1
            fan.inlet.top_up()
        else:
            self.check_copies(fan)


def _link_for(outlet: "Outlet", is_partial: bool) -> "Outlet | None":
    """Return the link for a copy, or None when it cannot leave now; beside that of an edge router there are others."""
    if is_partial and outlet.side is not None:
        return outlet.side.pick(0, True)
    return outlet if outlet.can_send() else None


def _is_alive(fan: FanOut) -> bool:
    """Whether a message is still to be sent; its producer may be gone, or have aborted it."""
    return fan.delivery is not None or (fan.is_settled and fan.is_complete)


def _size_of(fan: FanOut) -> int:
    """Return how much of a message has come."""
    return len(fan.octets) if fan.delivery is None else fan.delivery.size
