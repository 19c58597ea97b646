# Whatever is an index here is below what was asked for when the room was made.
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""The recorder: sums of each flow, and decisions with all their candidates.

Forwarding calls `depart` when a message leaves, and keeps the returned number with the delivery. One message in `every`
is sampled; its delivery also keeps its set of rows and its row. `settled` takes the outcome. A message without a sample
costs a few additions, because its inlet remembers the latest flows. Flows are numbers, since a reference to an object
for each message would cost more than all of this. All data is in columns of a fixed size, which `take` hands over. Data
beyond them is counted in `lost`, and forwarding goes on.
"""

import itertools
from array import array
from typing import TYPE_CHECKING, Any

from routerd.core.links.recorded_flow import Flow
from routerd.core.recording.columns import (
    CANDIDATES_MAX,
    COUNTERS_OF_FLOW,
    NO_LIMIT,
    ROWS,
    DecisionColumns,
    FlowNames,
    FlowRows,
    Memory,
    Records,
    Register,
    Room,
    private_memory,
)
from routerd.core.recording.events import RecordedEvents
from routerd.core.recording.names import address_text, container_of, kind_of, link_text, route_kind, route_text
from routerd.core.recording.rows import Late, Rows

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import RouterAnnotations
    from routerd.core.links.address import Address
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet

FLOWS_MAX = 1 << 15
"""Limit of the flows, links and paths with numbers; the register starts again beyond it."""
WAITING_MAX = 16
"""Limit of the full sets that wait to be taken; later decisions are lost."""
STEPS_MAX = 16
"""Flows of an inlet that are compared one by one, before a search of all."""

_CANDIDATES_MAX = CANDIDATES_MAX
_STEPS_MAX = STEPS_MAX
_NO_LIMIT = NO_LIMIT
_SUMS = len(COUNTERS_OF_FLOW)
_FIRST_OUTCOME = COUNTERS_OF_FLOW.index("accepted")
_EPOCH_BITS = 16
_FLOW_BITS = (1 << _EPOCH_BITS) - 1
_SUMS_LEAST = 64
"""Flows with space from the start."""
_epochs = itertools.count(1)
_OFFSET_BASIS = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_ALL_BITS = 0xFFFFFFFFFFFFFFFF
_LOW_BITS = 0x7FFFFFFFFFFFFFFF
_HIGH_BIT = 0x8000000000000000


class Recorder:
    """Records the decisions of one worker; `events` has the events of links, addresses and the network."""

    rows: Rows
    """The set that is written to."""
    _counters: "memoryview[Any]"

    def __init__(
        self,
        router_id: str,
        every: int,
        offset: float,
        *,
        is_witness: bool = True,
        waiting_max: int = WAITING_MAX,
        rows: int = ROWS,
        memory: Memory = private_memory,
    ) -> None:
        """`every` is the interval of samples, 0 for none. `now` plus `offset` is the time in seconds since 1970.

        One worker of a router is the witness of its network. A set of columns has `rows` rows, in `memory`.
        """
        self.router_id = router_id
        self.every = every
        self.offset = offset
        self.events = RecordedEvents(router_id, offset, is_witness)
        self.lost_decisions = 0
        self.lost_flows = 0
        self._waiting_max = waiting_max
        self._pressed_at = max(1, waiting_max // 8)
        self._memory = memory
        self._room = Room.of(rows)
        self._rows_max, self._cells_max = self._room
        self._countdown = every
        # Whether the message that left last is sampled, and its row.
        self.is_sampled = False
        self.row = 0
        # The messages before the first sampled one, of those that left together last.
        self.skipped = 0
        self._register = Register()
        self._flows: dict[tuple[Any, ...], Flow] = {}
        # Numbers of messages that left under another register are unknown.
        self._epoch = next(_epochs)
        # The counters of all flows, one flow after the other.
        self._counters = memoryview(array("q", bytes(8 * _SUMS * _SUMS_LEAST)))
        self._is_active = bytearray(_SUMS_LEAST)
        self._paths: dict[RouterAnnotations, int] = {}
        self._active: list[int] = []
        self._sums: list[FlowRows] = []
        self._full: list[Rows] = []
        self._spare: list[DecisionColumns] = []
        self._begin_rows()

    # --- messages

    def depart(
        self,
        inlet: "Inlet",
        outlet: "Outlet",
        route: "AddressRoute | None",
        annotations: "RouterAnnotations | None",
        size: int,
    ) -> int:
        """Count a message that leaves; return its flow for the outcome, and note whether it is sampled."""
        number = outlet.number if route is None else -route.trunk
        # The flows of an inlet form a ring. Consumers take turns, so the next flow in the ring is the likely one. The
        # flow is not bound to a local name here, because a reference count costs more than the access.
        if (
            inlet.flow is not None
            and inlet.flow.following is not None
            and inlet.flow.following.egress_number == number
            and inlet.flow.following.annotations is annotations
            and inlet.flow.following.register is self._register
            and (
                inlet.flow.following.key is outlet.address.key
                if route is None
                else inlet.flow.following.key is route.address.key
            )
        ):
            if inlet.flow.following is not inlet.flow:
                inlet.flow = inlet.flow.following
        else:
            inlet.flow = self._look_for(inlet, outlet, route, number, annotations)
        index = inlet.flow.index
        return self._counted(index, annotations, size)

    def room(self, candidates: int) -> int:
        """Return how many messages may leave together: each sampled one needs a row in the present set.

        Each row has at most `candidates` of them.
        """
        if not self.every:
            return _NO_LIMIT
        return self._countdown - 1 + self.every * self.rows.room(min(candidates, _CANDIDATES_MAX))

    def depart_together(
        self,
        inlet: "Inlet",
        outlet: "Outlet",
        route: "AddressRoute | None",
        annotations: "RouterAnnotations | None",
        count: int,
    ) -> int:
        """Count messages that leave together, no more than `room` returned; return their flow as `depart` does.

        The caller reports their octets by `add`, and sampled messages by `begin`. The first sampled message follows
        `skipped` others, and then every `every`-th one is sampled.
        """
        number = outlet.number if route is None else -route.trunk
        inlet.flow = self._look_for(inlet, outlet, route, number, annotations)
        index = inlet.flow.index
        self._counters[_SUMS * index] += count
        if not self._is_active[index]:
            self._activate(index)
        self.skipped = count
        self.row = self.rows.count
        if self.every:
            self.skipped = self._countdown - 1
            self._countdown -= count
            if self._countdown <= 0:
                self._countdown += self.every * (-self._countdown // self.every + 1)
        return self._epoch << _EPOCH_BITS | index

    def begin(self, flow: int, annotations: "RouterAnnotations | None", size: int) -> None:
        """Begin the row of a message that left together with others."""
        self._begin(flow & _FLOW_BITS, annotations, size)

    def _is_of(self, flow: Flow | None, number: int, key: str, annotations: "RouterAnnotations | None") -> bool:
        return (
            flow is not None
            and flow.egress_number == number
            and flow.annotations is annotations
            and flow.key is key
            and flow.register is self._register
        )

    def _look_for(
        self,
        inlet: "Inlet",
        outlet: "Outlet",
        route: "AddressRoute | None",
        number: int,
        annotations: "RouterAnnotations | None",
    ) -> Flow:
        """Return the flow of a message that is not of the likely flow."""
        address = outlet.address if route is None else route.address
        last = inlet.flow
        flow = None if last is None else last.following
        steps = 0
        while flow is not None and not self._is_of(flow, number, address.key, annotations):
            steps += 1
            flow = None if flow is last or steps == _STEPS_MAX else flow.following
        if flow is None:
            flow = self._find(inlet, address, number, annotations, outlet, route)
        return flow

    def stay(
        self, inlet: "Inlet", address: "Address | None", text: str, annotations: "RouterAnnotations | None", size: int
    ) -> int:
        """Count a message that no one gets, by its address or the text of it; return its flow as `depart` does."""
        name = (inlet.number, 0, text if address is None else address.key, self._origin(annotations))
        flow = self._flows.get(name)
        if flow is None:
            flow = self._new_flow(name, inlet, address, text, (None, None, None))
        return self._counted(flow.index, annotations, size)

    def _counted(self, flow: int, annotations: "RouterAnnotations | None", size: int) -> int:
        # A new set may bring a new register; the outcome belongs to the one before.
        epoch = self._epoch
        self._counters[_SUMS * flow] += 1
        self._counters[_SUMS * flow + 1] += size
        if not self._is_active[flow]:
            self._activate(flow)
        self.is_sampled = False
        if self.every:
            self._countdown -= 1
            if self._countdown <= 0:
                self._countdown = self.every
                if not self.rows.is_full() or self._next_rows():
                    self._begin(flow, annotations, size)
                else:
                    self.lost_decisions += 1
        return epoch << _EPOCH_BITS | flow

    def _begin(self, flow: int, annotations: "RouterAnnotations | None", size: int) -> None:
        path = -1
        hop = 0
        if annotations is not None:
            path = self._path_number(annotations)
            hop = min(annotations.hops, _CANDIDATES_MAX)
        self.row = self.rows.begin(flow, path, hop, size)
        self.is_sampled = True

    def add(self, flow: int, rows: Rows | None, row: int, octets: int) -> None:
        """Count further octets of a message; `rows` has its `row` if it is sampled."""
        if rows is not None:
            rows.grow(row, octets)
        if flow >> _EPOCH_BITS == self._epoch:
            self._counters[_SUMS * (flow & _FLOW_BITS) + 1] += octets
            if not self._is_active[flow & _FLOW_BITS]:
                self._activate(flow & _FLOW_BITS)

    def settled(self, flow: int, rows: Rows | None, row: int, outcome: int, cause: int, now: float) -> None:
        """Record an outcome, by its index in OUTCOME_WORDS, and its cause, by its index in CAUSE_WORDS."""
        if flow >> _EPOCH_BITS == self._epoch:
            self._counters[_SUMS * (flow & _FLOW_BITS) + _FIRST_OUTCOME + outcome] += 1
            if not self._is_active[flow & _FLOW_BITS]:
                self._activate(flow & _FLOW_BITS)
            if rows is not None:
                if rows.is_over:
                    self._complete_late(rows, row, outcome, cause, now)
                else:
                    rows.complete(row, outcome, cause, int(now * 1e6 + 0.5))
        else:
            # Its numbers belong to an earlier register.
            self.lost_flows += 1
            if rows is not None:
                self.lost_decisions += 1

    def settled_together(
        self, flow: int, rows: Rows | None, row: int, row_count: int, count: int, outcome: int, now: float
    ) -> None:
        """Record the outcome of `count` messages that left together, with `row_count` rows from `row` on, without a
        cause.
        """
        if flow >> _EPOCH_BITS == self._epoch:
            self._counters[_SUMS * (flow & _FLOW_BITS) + _FIRST_OUTCOME + outcome] += count
            if not self._is_active[flow & _FLOW_BITS]:
                self._activate(flow & _FLOW_BITS)
            if rows is not None:
                now_us = int(now * 1e6 + 0.5)
                for at in range(row, row + row_count):
                    if not rows.is_over:
                        rows.complete(at, outcome, 0, now_us)
                    elif flow >> _EPOCH_BITS == self._epoch:
                        self._complete_late(rows, at, outcome, 0, now)
                    else:
                        self.lost_decisions += 1
        else:
            self.lost_flows += count
            self.lost_decisions += row_count

    def settled_at_once(self, flow: int, outcome: int, cause: int, now: float) -> None:
        """Record the outcome of the message that left last."""
        self.settled(flow, self.rows if self.is_sampled else None, self.row, outcome, cause, now)

    def _complete_late(self, rows: Rows, row: int, outcome: int, cause: int, now: float) -> None:
        late: Late = rows.late.pop(row)
        if not self.rows.is_full() or self._next_rows():
            self.rows.complete(self.rows.write_late(late), outcome, cause, int(now * 1e6 + 0.5))
        else:
            self.lost_decisions += 1

    # --- the decision that was begun last

    def describe(self, stamp: float, priority: int, identifier: bytes | None) -> None:
        """Note the time of its message, the priority and the message-id."""
        key = 0 if identifier is None else _message_key(identifier)
        self.rows.describe(int((stamp + self.offset) * 1e6 + 0.5), int(stamp * 1e6 + 0.5), priority, key)

    def consider(self, outlet: "Outlet", is_chosen: bool) -> None:
        """Note an outlet as a candidate."""
        self.consider_with(outlet, outlet.link.unsettled_count, is_chosen)

    def consider_with(self, outlet: "Outlet", outstanding: int, is_chosen: bool) -> None:
        """Note an outlet as a candidate, with its deliveries under way."""
        if outlet.recorded_in is not self._register:
            outlet.recorded_in = self._register
            outlet.recorded_as = self._link_number(link_text(outlet))
        self.rows.consider(outlet.recorded_as, 0, outstanding, is_chosen)

    def consider_route(self, route: "AddressRoute", is_chosen: bool) -> None:
        """Note a route to another router as a candidate."""
        self.consider_route_with(route, route.outstanding, is_chosen)

    def consider_route_with(self, route: "AddressRoute", outstanding: int, is_chosen: bool) -> None:
        """Note a route to another router as a candidate, with its deliveries under way."""
        if route.recorded_in is not self._register:
            route.recorded_in = self._register
            route.recorded_as = self._link_number(route_text(route))
        self.rows.consider(route.recorded_as, route.cost, outstanding, is_chosen)

    # --- handing over

    @property
    def is_pressed(self) -> bool:
        """Whether enough full columns wait to take them now: small portions cost everybody less."""
        return len(self._full) > self._pressed_at

    def tick(self, now: float, offset: float, second_us: int) -> None:
        """Close a second that began at `second_us`, in microseconds since 1970."""
        self.offset = self.events.offset = offset
        self._sum_up(second_us)

    def take(self, is_all: bool = True) -> Records:
        """Return the data recorded since the last call.

        Without `is_all`, the result has the full columns but the last, as most of its messages are still under way.
        Decisions without an outcome are kept, and come later in another set.
        """
        if is_all:
            self._end_rows()
            self._begin_rows()
        newest = [] if is_all or not self._full else [self._full.pop()]
        decisions = []
        for rows in self._full:
            columns = rows.hand_over(rows.register is self._register)
            if len(columns.open_rows) < columns.rows:
                decisions.append(columns)
            else:
                self._spare.append(columns)
        records = Records(max(1, self.every), decisions, self._sums, self.events.take(), self._spare)
        self._full, self._sums = newest, []
        return records

    # --- flows

    def _find(
        self,
        inlet: "Inlet",
        address: "Address",
        number: int,
        annotations: "RouterAnnotations | None",
        outlet: "Outlet",
        route: "AddressRoute | None",
    ) -> Flow:
        name = (inlet.number, number, address.key, self._origin(annotations))
        found = self._flows.get(name)
        if found is None:
            found = self._new_flow(name, inlet, address, "", _egress_of(self.router_id, outlet, route))
        # An address that was forgotten meanwhile has another text object.
        found.key = address.key
        found.annotations = annotations
        if found.following is None:
            last = inlet.flow
            if last is None or last.register is not self._register:
                found.following = found
            else:
                found.following = last.following
                last.following = found
        return found

    def _origin(self, annotations: "RouterAnnotations | None") -> str:
        return annotations.ingress if annotations is not None and annotations.ingress else self.router_id

    def _new_flow(
        self,
        name: tuple[Any, ...],
        inlet: "Inlet",
        address: "Address | None",
        text: str,
        egress: tuple[str | None, str | None, str | None],
    ) -> Flow:
        if len(self._flows) >= FLOWS_MAX:
            self._turn_over()
        text, phase = (text, 0) if address is None else address_text(address.key, self.router_id)
        distribution = "" if address is None else address.distribution.value
        names = FlowNames(text, phase, distribution, link_text(inlet), kind_of(inlet.peer), name[3], *egress)
        flow = Flow(self._register, name[2], name[1], len(self._register.flows))
        self._register.flows.append(names)
        if flow.index >= len(self._is_active):
            self._grow()
        self._flows[name] = flow
        return flow

    def _grow(self) -> None:
        """Double the space for the sums of flows."""
        room = 2 * len(self._is_active)
        counters = array("q", self._counters)
        counters.frombytes(bytes(8 * (_SUMS * room - len(counters))))
        self._counters = memoryview(counters)
        self._is_active = bytearray(room)
        for flow in self._active:
            self._is_active[flow] = 1

    def _activate(self, flow: int) -> None:
        self._is_active[flow] = 1
        self._active.append(flow)

    def _sum_up(self, second_us: int) -> None:
        if not self._active:
            return
        if len(self._sums) >= self._waiting_max:
            self.lost_flows += len(self._active)
        else:
            rows = FlowRows(second_us, self._register)
            rows.numbers.extend(self._active)
            for flow in self._active:
                rows.counters.extend(self._counters[_SUMS * flow : _SUMS * (flow + 1)])
            self._sums.append(rows)
        for flow in self._active:
            self._is_active[flow] = 0
            for counter in range(_SUMS * flow, _SUMS * (flow + 1)):
                self._counters[counter] = 0
        self._active = []

    def _turn_over(self) -> None:
        """Begin an empty register: flows and links that are over have filled it."""
        self._end_rows()
        self._sum_up(self.events.second_us)
        for flow in self._flows.values():
            flow.following = None
            flow.annotations = None
        self._register = Register()
        self._epoch = next(_epochs)
        self._flows.clear()
        self._paths.clear()
        self._begin_rows()

    def _link_number(self, text: str) -> int:
        self._register.links.append(text)
        return len(self._register.links) - 1

    # --- decisions

    def _path_number(self, annotations: "RouterAnnotations") -> int:
        number = self._paths.get(annotations)
        if number is None:
            number = len(self._register.paths)
            if number >= FLOWS_MAX:
                return -1
            self._register.paths.append(f"{annotations.path}/{self.router_id}" if annotations.path else self.router_id)
            self._paths[annotations] = number
        return number

    def _next_rows(self) -> bool:
        """Begin another set of columns; return whether that is possible."""
        if len(self._full) >= self._waiting_max:
            return False
        if len(self._register.links) >= FLOWS_MAX:
            # Decisions under way name their candidates by numbers of this register, so they are lost.
            self._turn_over()
            return False
        self._end_rows()
        self._begin_rows()
        return True

    def _end_rows(self) -> None:
        if self.rows.count:
            self._full.append(self.rows)
        else:
            self._spare.append(self.rows.hand_over(False))

    def _begin_rows(self) -> None:
        # Used columns come first: the memory of new ones must be found and cleared.
        columns = self._spare.pop() if self._spare else DecisionColumns(self._room, self._memory(self._room.octets))
        self.rows = Rows(columns, self._register, self._rows_max, self._cells_max)


def _egress_of(
    router_id: str, outlet: "Outlet", route: "AddressRoute | None"
) -> tuple[str | None, str | None, str | None]:
    """Return the name and kind of a link, and the router that it leads to."""
    if route is not None:
        return route_text(route), route_kind(route), route.next_hop
    return link_text(outlet), kind_of(outlet.peer), container_of(outlet.peer) if outlet.peer.is_edge else router_id


def _message_key(identifier: bytes) -> int:
    """Return the signed 64-bit FNV-1a hash. 0 stands for none; it is as unlikely as any other value."""
    view = identifier
    key = _OFFSET_BASIS
    for i in range(len(identifier)):
        key = ((key ^ view[i]) * _PRIME) & _ALL_BITS
    return (key & _LOW_BITS) - (key & _HIGH_BIT)
