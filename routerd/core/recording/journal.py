"""The journal: the parts of a router tell it the route, the outlet, and the outcome of messages, for the recorder."""

from typing import TYPE_CHECKING, Any

from routerd.core.links.arrival import Arrival
from routerd.core.recording.batch import RecordedBatch
from routerd.core.recording.columns import NO_LIMIT
from routerd.core.recording.events import written_address
from routerd.core.recording.names import (
    CONSUMER_LOST,
    NO_CAUSE,
    NO_CONSUMER,
    NO_ROUTE,
    RECORDED_ACCEPTED,
    RECORDED_DROPPED,
    RECORDED_MODIFIED,
    RECORDED_PRESETTLED,
    RECORDED_REJECTED,
    RECORDED_RELEASED,
    TRUNK_LOST,
)
from routerd.wire import ACCEPTED, RELEASED, DecodeError, Modified, NeedsMore, Rejected
from routerd.wire.plain_transfer import payload_of
from routerd.wire.section_scan import read_u32, skip_value
from routerd.wire.sections import Sections

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import AnnotationReader, RouterAnnotations
    from routerd.core.clock import Clock
    from routerd.core.directory.path_rules import PathRules
    from routerd.core.links.address import Address
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.recording.recorder import Recorder
    from routerd.wire.delivery import Delivery
    from routerd.wire.delivery_batch import DeliveryBatch

AUTOMATIC = -1
"""Stands for the cause that follows from the consumers of the address."""

_AUTOMATIC = AUTOMATIC
_ACCEPTED = ACCEPTED
_RELEASED = RELEASED
_NOTHING = b""
_NO_LIMIT = NO_LIMIT
_RECORDED_ACCEPTED = RECORDED_ACCEPTED
_PRESETTLED = RECORDED_PRESETTLED
_PROPERTIES = 0x73
_SMALL_DESCRIPTOR = 0x53
_SHORTEST = 4
"""The least octets of a section."""


class Journal:
    """Tells the recorder of departures and outcomes; it does nothing without a recorder.

    A delivery that leaves keeps three things for its outcome. `ticket` is its flow, `book` its set of rows and `page`
    its row. A `RecordedBatch` stands for these in deliveries that left together.
    """

    recorder: "Recorder | None"

    def __init__(self, clock: "Clock", rules: "PathRules", reader: "AnnotationReader") -> None:
        self._clock = clock
        self._rules = rules
        self._reader = reader
        self.recorder = None
        self._header = Sections(_NOTHING)
        self._one = Arrival()

    # --- messages that leave

    def departs(self, arrival: Arrival, outlet: "Outlet", is_copy: bool) -> int:
        """Return the flow of a message that is about to leave; 0 for messages that a sibling recorded."""
        recorder = self.recorder
        inlet = arrival.inlet
        if recorder is None or inlet.is_relay:
            return 0
        route = arrival.route
        if route is not None and route.beside is not None:
            outlet, route = route.beside, None
        elif outlet.main is not None:
            outlet = outlet.main
        flow = recorder.depart(inlet, outlet, route, arrival.recorded, arrival.size)
        if recorder.is_sampled:
            address = outlet.address if route is None else route.address
            self._describe(recorder, arrival, address)
            if not is_copy:
                self._compare(recorder, arrival, address, outlet, route)
            elif route is None:
                recorder.consider(outlet, True)
            else:
                recorder.consider_route(route, True)
        return flow

    def keep(self, out: "Delivery", flow: int) -> None:
        """Keep the flow and row with a delivery, if it is recorded."""
        recorder = self.recorder
        if flow != 0 and recorder is not None:
            out.ticket = flow
            if recorder.is_sampled:
                out.book = recorder.rows
                out.page = recorder.row

    def grew(self, out: "Delivery", octets: int) -> None:
        """Record further octets of a message."""
        if self.recorder is not None:
            self.recorder.add(out.ticket, out.book, out.page, octets)

    # --- messages that leave together

    def room(self, address: "Address") -> int:
        """Return how many messages of an address may leave together."""
        if self.recorder is None:
            return _NO_LIMIT
        return self.recorder.room(len(address.outlets) + len(address.routes))

    def left_together(
        self,
        inlet: "Inlet",
        outlet: "Outlet",
        route: "AddressRoute | None",
        annotations: "RouterAnnotations | None",
        stamp: float,
        count: int,
        batch: "DeliveryBatch | None",
        data: bytes | bytearray,
        start: int,
        remote_handle: int,
    ) -> None:
        """Record messages that left together, with frames from data[start] on; unsettled ones have a batch.

        `annotations` are those of messages from another router.
        """
        recorder = self.recorder
        if recorder is None or inlet.is_relay:
            return
        if inlet.is_fabric:
            # Messages that a sibling took in and that go together have no annotations.
            annotations = self._reader.unmarked
        flow = recorder.depart_together(inlet, outlet, route, annotations, count)
        row = recorder.row
        sampled = skipped = recorder.skipped
        # What was under way on the destination when the first of them left.
        outstanding = outlet.link.unsettled_count if route is None else route.outstanding
        step = 0
        if batch is not None:
            outstanding -= count
            step = 1
        address = outlet.address if route is None else route.address
        is_only_one = route is None and len(address.outlets) == 1 and (inlet.is_fabric or not address.routes)
        view = data
        octets = 0
        rows = 0
        at = start
        one = self._one
        one.data = data
        one.stamp = stamp
        for number in range(count):
            end = at + read_u32(view, at)
            at = payload_of(view, at, remote_handle, batch is None)
            octets += end - at
            if number == sampled:
                recorder.begin(flow, annotations, end - at)
                one.start = at
                one.end = end
                self._describe(recorder, one, address)
                one.forget_priority()
                if is_only_one:
                    recorder.consider_with(outlet, outstanding + step * number, True)
                else:
                    self._compare_together(recorder, inlet, outlet, route, annotations, outstanding + step * number)
                sampled += recorder.every
                rows += 1
            at = end
        one.data = _NOTHING
        recorder.add(flow, None, 0, octets)
        if batch is None:
            recorder.settled_together(flow, recorder.rows, row, rows, count, _PRESETTLED, self._clock.now)
        else:
            batch.context = RecordedBatch(flow, recorder.rows if rows else None, row, skipped, max(1, recorder.every))

    def _compare_together(
        self,
        recorder: "Recorder",
        inlet: "Inlet",
        chosen: "Outlet",
        taken: "AddressRoute | None",
        annotations: "RouterAnnotations | None",
        outstanding: int,
    ) -> None:
        """Note all candidates; `outstanding` deliveries were under way on the one that was chosen."""
        address = chosen.address if taken is None else taken.address
        outlets = address.outlets
        count = address.local_count if inlet.is_fabric else len(outlets)
        for at in range(count):
            outlet = outlets[at]
            if taken is None and outlet is chosen:
                recorder.consider_with(outlet, outstanding, True)
            elif outlet.is_open and outlet.link.credit > 0:
                recorder.consider(outlet, False)
        for route in [] if inlet.is_fabric else address.routes:
            if route is taken:
                recorder.consider_route_with(route, outstanding, True)
            elif self._rules.may_take(address, route, annotations):
                recorder.consider_route(route, False)

    def accepted_together(self, batch: RecordedBatch, count: int) -> None:
        """Record that `count` messages at the front of a batch were accepted."""
        rows = batch.pass_rows(count)
        if self.recorder is not None:
            self.recorder.settled_together(
                batch.flow, batch.rows, batch.row - rows, rows, count, _RECORDED_ACCEPTED, self._clock.now
            )

    def part(self, batch: RecordedBatch, out: "Delivery") -> None:
        """Keep the flow and row with the next delivery of a batch, which is treated singly from now on."""
        out.ticket = batch.flow
        if batch.rows is not None and batch.skip == 0:
            out.book = batch.rows
            out.page = batch.row
        batch.pass_rows(1)

    # --- outcomes

    def decided(self, out: "Delivery", outcome: int, cause: int) -> None:
        """Record the outcome of a message."""
        flow, out.ticket = out.ticket, 0
        if self.recorder is not None and flow != 0:
            self.recorder.settled(flow, out.book, out.page, outcome, cause, self._clock.now)
        if out.book is not None:
            out.book = None

    def decided_at_once(self, flow: int, outcome: int, cause: int) -> None:
        """Record the outcome of the message that left last."""
        if self.recorder is not None:
            self.recorder.settled_at_once(flow, outcome, cause, self._clock.now)

    def lost(self, out: "Delivery", is_settled: bool) -> None:
        """Record the loss of a consumer's link, or of the connection to the next router, before an outcome."""
        outlet: Outlet | None = out.link.context
        is_trunk = out.via is not None or (outlet is not None and outlet.trunk is not None)
        outcome = RECORDED_DROPPED if is_settled else RECORDED_MODIFIED
        self.decided(out, outcome, TRUNK_LOST if is_trunk else CONSUMER_LOST)

    def aborted(self, out: "Delivery", is_settled: bool) -> None:
        """Record that the rest of a message will not come."""
        self.decided(out, RECORDED_DROPPED if is_settled else RECORDED_MODIFIED, NO_CAUSE)

    # --- messages that stay

    def stays(self, arrival: Arrival, address: "Address | None", outcome: int, cause: int) -> None:
        """Record a message, or a copy of one, that no one gets."""
        recorder = self.recorder
        inlet = arrival.inlet
        if recorder is None or inlet.is_relay:
            return
        if cause == _AUTOMATIC:
            is_wanted = address is not None and address.has_outlet(inlet.is_fabric)
            cause = NO_ROUTE if is_wanted else NO_CONSUMER
        text = ""
        if address is None:
            text = self._written_address(arrival)
        flow = recorder.stay(inlet, address, text, arrival.recorded, arrival.size)
        if recorder.is_sampled:
            self._describe(recorder, arrival, address)
            if address is not None and not address.is_multicast:
                self._compare(recorder, arrival, address, None, None)
        recorder.settled_at_once(flow, outcome, cause, self._clock.now)

    def waits(self, address: "Address") -> None:
        """Note that messages wait at an address."""
        if self.recorder is not None and address.hungry_in is not self.recorder.events:
            self.recorder.events.waits(address)

    def recall(self, arrival: Arrival, is_partial: bool) -> None:
        """Read again the annotations of a message that a sibling took in from another router."""
        try:
            arrival.recorded = self._reader.read(arrival.data, arrival.start, arrival.end, is_partial)
        except (NeedsMore, DecodeError):
            arrival.recorded = None

    # --- the content of a row

    def _written_address(self, arrival: Arrival) -> str:
        """Return the destination that a message names."""
        annotations = arrival.recorded
        if annotations is not None and annotations.to is not None:
            return written_address(annotations.to)
        header = self._header
        header.reset(arrival.data, arrival.start, arrival.end, True)
        try:
            return written_address(header.to or "")
        except (NeedsMore, DecodeError):
            return ""
        finally:
            header.reset(_NOTHING, 0, 0, False)

    def _describe(self, recorder: "Recorder", arrival: Arrival, address: "Address | None") -> None:
        priority = arrival.priority(address)
        identifier = None
        if _may_have_properties(arrival.data, arrival.start, arrival.end):
            header = self._header
            header.reset(arrival.data, arrival.start, arrival.end, True)
            try:
                identifier = header.message_id
            except (NeedsMore, DecodeError):
                identifier = None
            finally:
                header.reset(_NOTHING, 0, 0, False)
        recorder.describe(arrival.stamp, priority, None if identifier is None else _octets_of(identifier))

    def _compare(
        self,
        recorder: "Recorder",
        arrival: Arrival,
        address: "Address",
        chosen: "Outlet | None",
        taken: "AddressRoute | None",
    ) -> None:
        """Note all candidates: outlets with credit, and routes that the message may take."""
        outlets = address.outlets
        is_fabric = arrival.inlet.is_fabric
        count = address.local_count if is_fabric else len(outlets)
        for at in range(count):
            outlet = outlets[at]
            is_chosen = taken is None and outlet is chosen
            if is_chosen or (outlet.is_open and outlet.link.credit > 0):
                recorder.consider(outlet, is_chosen)
        if not is_fabric:
            for route in address.routes:
                if route is taken or self._rules.may_take(address, route, arrival.recorded):
                    recorder.consider_route(route, route is taken)


def outcome_number(state: Any) -> int:
    """Return the index of an outcome in OUTCOME_WORDS; None counts as released."""
    if state is _ACCEPTED:
        return RECORDED_ACCEPTED
    if state is _RELEASED or state is None:
        return RECORDED_RELEASED
    if isinstance(state, Rejected):
        return RECORDED_REJECTED
    return RECORDED_MODIFIED if isinstance(state, Modified) else RECORDED_ACCEPTED


def _may_have_properties(data: bytes | bytearray, start: int, end: int) -> bool:
    """Whether properties come before the body; True for unusual encodings, which need a full read."""
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
    """Return a message-id as the octets to hash."""
    if isinstance(identifier, bytes):
        return identifier
    return str(identifier).encode(errors="surrogatepass")
