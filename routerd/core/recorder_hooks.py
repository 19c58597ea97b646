"""What forwarding tells the recorder, if there is one: which way a message went, out of which, or why it went none."""

from typing import TYPE_CHECKING, Any

from routerd.core.departures import DEFAULT_PRIORITY, Departures
from routerd.core.recorder_columns import NO_LIMIT
from routerd.core.recorder_events import written_address
from routerd.core.recorder_names import (
    CONSUMER_LOST,
    NO_CAUSE,
    NO_CONSUMER,
    NO_ROUTE,
    RECORDED_DROPPED,
    RECORDED_MODIFIED,
    RECORDED_PRESETTLED,
    TRUNK_LOST,
)
from routerd.core.settlement import outcome_number
from routerd.wire import DecodeError, NeedsMore
from routerd.wire.delivery import Delivery
from routerd.wire.plain_transfer import payload_of
from routerd.wire.section_scan import read_u32, skip_value

if TYPE_CHECKING:
    from routerd.core.address import Address
    from routerd.core.inlet import Inlet
    from routerd.core.outlet import Outlet
    from routerd.core.passage import Passage
    from routerd.core.recorder import Recorder
    from routerd.core.way import Way
    from routerd.wire.convoy import Convoy

AUTOMATIC = -1
"""Stands for the cause that follows from who can receive from the address."""

_AUTOMATIC = AUTOMATIC
_DEFAULT_PRIORITY = DEFAULT_PRIORITY
_NOTHING = b""
_NO_LIMIT = NO_LIMIT
_PRESETTLED = RECORDED_PRESETTLED
_PROPERTIES = 0x73
_SMALL_DESCRIPTOR = 0x53
_SHORTEST = 4
"""Octets that a section has at least."""


class Recorded(Departures):
    """Tells the recorder of departures and their ends; does nothing where there is none."""

    def note_departure(
        self,
        inlet: "Inlet",
        outlet: "Outlet",
        way: "Way | None",
        passage: "Passage | None",
        stamp: float,
        size: int,
        data: bytes | bytearray,
        start: int,
        end: int,
        is_copy: bool,
    ) -> int:
        """Return what the outcome of a message about to leave is to be told with; 0 for what a sibling decided."""
        recorder = self.recorder
        if recorder is None or inlet.is_relay:
            return 0
        if way is not None and way.beside is not None:
            outlet, way = way.beside, None
        flow = recorder.depart(inlet, outlet, way, passage, size)
        if recorder.is_sampled:
            address = outlet.address if way is None else way.address
            self._describe(recorder, address, stamp, data, start, end)
            if not is_copy:
                self._compare(recorder, inlet, address, outlet, way, passage)
            elif way is None:
                recorder.consider(outlet, True)
            else:
                recorder.consider_way(way, True)
        return flow

    def together_room(self) -> int:
        """How many messages the recorder lets go together."""
        return _NO_LIMIT if self.recorder is None else self.recorder.room()

    def note_together(
        self,
        inlet: "Inlet",
        outlet: "Outlet",
        stamp: float,
        count: int,
        convoy: "Convoy | None",
        data: bytes | bytearray,
        start: int,
        remote_handle: int,
    ) -> None:
        """Record messages that left together, whose frames begin at data[start]; those not settled are a convoy."""
        recorder = self.recorder
        if recorder is None or inlet.is_relay:
            return
        # Of those that a sibling took in, none has annotations.
        passage = self.passages.unmarked if inlet.is_fabric else None
        flow = recorder.depart_together(inlet, outlet, passage, count)
        row = recorder.row
        sampled = skipped = recorder.skipped
        outstanding = outlet.link.unsettled_count
        step = 0
        if convoy is not None:
            outstanding -= count
            step = 1
        view = data
        octets = 0
        rows = 0
        at = start
        for number in range(count):
            end = at + read_u32(view, at)
            at = payload_of(view, at, remote_handle, convoy is None)
            octets += end - at
            if number == sampled:
                recorder.begin(flow, passage, end - at)
                self._describe(recorder, outlet.address, stamp, data, at, end)
                recorder.consider_with(outlet, outstanding + step * number, True)
                sampled += recorder.every
                rows += 1
            at = end
        recorder.add(flow, None, 0, octets)
        if convoy is None:
            recorder.settled_together(flow, recorder.rows, row, rows, count, _PRESETTLED, self.now)
        else:
            convoy.record_flow = flow
            convoy.record_skip = skipped
            convoy.record_every = max(1, recorder.every)
            if rows:
                convoy.record = recorder.rows
                convoy.record_row = row

    def keep_record(self, out: Delivery, flow: int) -> None:
        """Keep with a delivery what its outcome is to be told with, if that is anything."""
        recorder = self.recorder
        if flow != 0 and recorder is not None:
            out.record_flow = flow
            if recorder.is_sampled:
                out.record = recorder.rows
                out.record_row = recorder.row

    def note_stay(
        self,
        inlet: "Inlet",
        address: "Address | None",
        passage: "Passage | None",
        stamp: float,
        size: int,
        data: bytes | bytearray,
        start: int,
        end: int,
        outcome: int,
        cause: int,
    ) -> None:
        """Record a message, or the copy of one, that nobody gets."""
        recorder = self.recorder
        if recorder is None or inlet.is_control or inlet.is_relay:
            return
        if cause == _AUTOMATIC:
            is_wanted = address is not None and address.has_outlet(inlet.is_fabric)
            cause = NO_ROUTE if is_wanted else NO_CONSUMER
        text = ""
        if address is None:
            text = self._written_address(passage, data, start, end)
        flow = recorder.stay(inlet, address, text, passage, size)
        if recorder.is_sampled:
            self._describe(recorder, address, stamp, data, start, end)
            if address is not None and not address.is_multicast:
                self._compare(recorder, inlet, address, None, None, passage)
        recorder.settled_at_once(flow, outcome, cause, self.now)

    def drop(
        self,
        inlet: "Inlet",
        delivery: Delivery,
        outcome: Any,
        address: "Address | None",
        passage: "Passage | None",
        cause: int,
        data: bytes | bytearray,
        start: int,
        end: int,
    ) -> None:
        """Give up a message that nobody gets, and record it."""
        if self.recorder is not None:
            number = RECORDED_DROPPED if delivery.remote_settled else outcome_number(outcome)
            self.note_stay(inlet, address, passage, delivery.stamp, delivery.size, data, start, end, number, cause)
        self.give_up(inlet, delivery, outcome)

    def note_loss(self, out: Delivery, is_settled: bool) -> None:
        """Record that a consumer's link, or the connection to the next router, was lost before there was an outcome."""
        outlet: Outlet | None = out.link.context
        is_trunk = out.way is not None or (outlet is not None and outlet.trunk is not None)
        outcome = RECORDED_DROPPED if is_settled else RECORDED_MODIFIED
        self.note_outcome(out, outcome, TRUNK_LOST if is_trunk else CONSUMER_LOST)

    def note_abort(self, out: Delivery, is_settled: bool) -> None:
        """Record that the rest of a message will never come."""
        self.note_outcome(out, RECORDED_DROPPED if is_settled else RECORDED_MODIFIED, NO_CAUSE)

    def note_more(self, out: Delivery, octets: int) -> None:
        """Record more octets of a message."""
        if self.recorder is not None:
            self.recorder.add(out.record_flow, out.record, out.record_row, octets)

    def passage_or_none(
        self, data: bytes | bytearray, start: int, end: int, is_partial: bool
    ) -> "Passage | None":
        """Return how a message has come that a sibling took in; it still says so if that was from another router."""
        try:
            return self.passages.read(data, start, end, is_partial)
        except (NeedsMore, DecodeError):
            return None

    def _written_address(
        self, passage: "Passage | None", data: bytes | bytearray, start: int, end: int
    ) -> str:
        """Return where a message says that it goes."""
        if passage is not None and passage.to is not None:
            return written_address(passage.to)
        header = self._header
        header.reset(data, start, end, True)
        try:
            return written_address(header.to or "")
        except (NeedsMore, DecodeError):
            return ""
        finally:
            header.reset(_NOTHING, 0, 0, False)

    def _describe(
        self,
        recorder: "Recorder",
        address: "Address | None",
        stamp: float,
        data: bytes | bytearray,
        start: int,
        end: int,
    ) -> None:
        priority = _DEFAULT_PRIORITY if address is None else self.priority_of(address, data, start, end)
        identifier = None
        if _may_have_properties(data, start, end):
            header = self._header
            header.reset(data, start, end, True)
            try:
                identifier = header.message_id
            except (NeedsMore, DecodeError):
                identifier = None
            finally:
                header.reset(_NOTHING, 0, 0, False)
        recorder.describe(stamp, priority, None if identifier is None else _octets_of(identifier))

    def _compare(
        self,
        recorder: "Recorder",
        inlet: "Inlet",
        address: "Address",
        chosen: "Outlet | None",
        taken: "Way | None",
        passage: "Passage | None",
    ) -> None:
        """Note all that could have been chosen: who had credit, and the ways that the message may take."""
        outlets = address.outlets
        count = address.local_count if inlet.is_fabric else len(outlets)
        for at in range(count):
            outlet = outlets[at]
            is_chosen = taken is None and outlet is chosen
            if is_chosen or (outlet.is_open and outlet.link.credit > 0):
                recorder.consider(outlet, is_chosen)
        if not inlet.is_fabric:
            for way in address.ways:
                if way is taken or self.may_take(address, way, passage):
                    recorder.consider_way(way, way is taken)


def _may_have_properties(data: bytes | bytearray, start: int, end: int) -> bool:
    """Whether properties come before the body; whatever looks unusual is left to a closer look."""
    view = data
    at = start
    while end - at >= _SHORTEST and view[at] == 0 and view[at + 1] == _SMALL_DESCRIPTOR:
        if view[at + 2] >= _PROPERTIES:
            return view[at + 2] == _PROPERTIES
        at = skip_value(view, at + 3, end)
        if at < 0:
            return True
    return True


def _octets_of(identifier: Any) -> bytes:
    """Return a message-id as it is hashed."""
    if isinstance(identifier, bytes):
        return identifier
    return str(identifier).encode(errors="surrogatepass")
