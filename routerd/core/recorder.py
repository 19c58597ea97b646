# Whatever is an index here is below what was asked for when the room was made.
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Records what becomes of messages: sums of each flow, and decisions with all that could have been chosen.

Forwarding calls `depart` when a message leaves, and keeps what that returns with the delivery: the flow, or for one
message in `every` the set that has a row for it, and `row`. The outcome is told to `settled`. A message that is not
sampled costs a few additions: its inlet remembers the flows of those before. Everything is kept in columns of a fixed
size, which `take` hands over; what does not fit is counted in `lost`, and forwarding goes on.
"""

from typing import TYPE_CHECKING, Any

from routerd.core.recorder_columns import (
    CANDIDATES_MAX,
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
from routerd.core.recorder_events import RecordedEvents
from routerd.core.recorder_names import address_text, container_of, kind_of, link_text, way_kind, way_text
from routerd.core.recorder_rows import Late, Rows

if TYPE_CHECKING:
    from routerd.core.address import Address
    from routerd.core.inlet import Inlet
    from routerd.core.outlet import Outlet
    from routerd.core.passage import Passage
    from routerd.core.way import Way

FLOWS_MAX = 1 << 15
"""Flows, links and paths that are known by number at a time; then all begins anew."""
WAITING_MAX = 16
"""Full sets of columns that wait to be taken; what comes then is lost."""
STEPS_MAX = 16
"""Flows of an inlet that are looked at one by one, before it is looked among all."""

_CANDIDATES_MAX = CANDIDATES_MAX
_STEPS_MAX = STEPS_MAX
_OFFSET_BASIS = 0xCBF29CE484222325
_PRIME = 0x100000001B3
_ALL_BITS = 0xFFFFFFFFFFFFFFFF
_LOW_BITS = 0x7FFFFFFFFFFFFFFF
_HIGH_BIT = 0x8000000000000000


class Flow:
    """The messages of one address that came in by one link, left by another and entered the network at one router."""

    passage: "Passage | None"
    following: "Flow | None"
    register: Any

    def __init__(self, register: Any, key: str, egress_number: int, index: int) -> None:
        self.register = register
        self.key = key
        self.egress_number = egress_number
        # Of its names in the register.
        self.index = index
        self.passage = None
        # The next one in the ring of the inlet.
        self.following = None
        self.is_active = False
        self.clear()

    def clear(self) -> None:
        """Begin another second."""
        self.messages = 0
        self.octets = 0
        self.accepted = 0
        self.rejected = 0
        self.released = 0
        self.modified = 0
        self.presettled = 0
        self.dropped = 0

    def count(self, outcome: int) -> None:
        """Count an outcome, by its place among OUTCOME_WORDS."""
        if outcome == 0:
            self.accepted += 1
        elif outcome == 1:
            self.rejected += 1
        elif outcome == 2:
            self.released += 1
        elif outcome == 3:
            self.modified += 1
        elif outcome == 4:
            self.presettled += 1
        else:
            self.dropped += 1


class Recorder:
    """Records the decisions of one worker; `events` has what happens to links, addresses and the network."""

    _rows: Rows

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
        """One decision in `every` is recorded, none if that is 0. `offset` is what makes seconds since 1970 of `now`.

        One worker of a router is the witness of its network. A set of columns has so many `rows`, in `memory`.
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
        # The one that was begun last.
        self.row = 0
        self._register = Register()
        self._flows: dict[tuple[Any, ...], Flow] = {}
        # By their numbers in the register.
        self._numbered: list[Flow] = []
        self._paths: dict[Passage, int] = {}
        self._active: list[Flow] = []
        self._sums: list[FlowRows] = []
        self._full: list[Rows] = []
        self._spare: list[DecisionColumns] = []
        self._begin_rows()

    # --- messages

    def depart(self, inlet: "Inlet", outlet: "Outlet", way: "Way | None", passage: "Passage | None", size: int) -> Any:
        """Count a message that leaves; return its flow, or the set of its `row` if it is sampled, for the outcome."""
        address = outlet.address if way is None else way.address
        number = outlet.number if way is None else -way.trunk
        # The flows of an inlet make a ring. Consumers take turns, so the one behind the last is likely to be next.
        last = inlet.flow
        flow = None if last is None else last.following
        steps = 0
        while flow is not None and (
            flow.egress_number != number
            or flow.passage is not passage
            or flow.key is not address.key
            or flow.register is not self._register
        ):
            steps += 1
            flow = None if flow is last or steps == _STEPS_MAX else flow.following
        if flow is None:
            flow = self._find(inlet, address, number, passage, outlet, way)
        if flow is not last:
            inlet.flow = flow
        return self._counted(flow, passage, size)

    def stay(
        self, inlet: "Inlet", address: "Address | None", text: str, passage: "Passage | None", size: int
    ) -> Any:
        """Count a message that nobody gets, for an address or what was written for one; return as `depart` does."""
        name = (inlet.number, 0, text if address is None else address.key, self._origin(passage))
        flow = self._flows.get(name)
        if flow is None:
            flow = self._new_flow(name, inlet, address, text, (None, None, None))
        return self._counted(flow, passage, size)

    def _counted(self, flow: Flow, passage: "Passage | None", size: int) -> Any:
        flow.messages += 1
        flow.octets += size
        if not flow.is_active:
            self._activate(flow)
        if self.every:
            self._countdown -= 1
            if self._countdown <= 0:
                self._countdown = self.every
                if not self._rows.is_full() or self._next_rows():
                    return self._decided(flow, passage, size)
                self.lost_decisions += 1
        return flow

    def _decided(self, flow: Flow, passage: "Passage | None", size: int) -> Any:
        path = -1
        hop = 0
        if passage is not None:
            path = self._path_number(passage)
            hop = min(passage.hops, _CANDIDATES_MAX)
        self.row = self._rows.begin(flow.index, path, hop, size)
        return self._rows

    def add(self, record: Any, row: int, octets: int) -> None:
        """Count more octets of a message that leaves while it comes."""
        flow = self._flow_of(record, row)
        if type(record) is Rows:
            rows: Rows = record
            rows.grow(row, octets)
        if flow is not None:
            flow.octets += octets
            if not flow.is_active:
                self._activate(flow)

    def settled(self, record: Any, row: int, outcome: int, cause: int, now: float) -> None:
        """Take the outcome of a message, by its place among OUTCOME_WORDS, and the cause among CAUSE_WORDS."""
        flow = self._flow_of(record, row)
        if flow is not None:
            flow.count(outcome)
            if not flow.is_active:
                self._activate(flow)
            if type(record) is Rows:
                rows: Rows = record
                if rows.is_over:
                    self._complete_late(rows, row, outcome, cause, now)
                else:
                    rows.complete(row, outcome, cause, int(now * 1e6 + 0.5))
        else:
            # What it names by number is known no more.
            self.lost_flows += 1
            if type(record) is Rows:
                self.lost_decisions += 1

    def _flow_of(self, record: Any, row: int) -> Flow | None:
        """Return the flow of a message, if it is still known by its number."""
        flow: Flow
        if type(record) is Flow:
            flow = record
            return flow if flow.register is self._register else None
        rows: Rows = record
        if rows.register is not self._register:
            return None
        if not rows.is_over:
            flow = self._numbered[rows.flow_numbers[row]]
            return flow
        late: Late = rows.late[row]
        flow = self._numbered[late.flow]
        return flow

    def _complete_late(self, rows: Rows, row: int, outcome: int, cause: int, now: float) -> None:
        late: Late = rows.late.pop(row)
        if not self._rows.is_full() or self._next_rows():
            self._rows.complete(self._rows.write_late(late), outcome, cause, int(now * 1e6 + 0.5))
        else:
            self.lost_decisions += 1

    # --- what is known of the decision that was begun last

    def describe(self, stamp: float, priority: int, identifier: bytes | None) -> None:
        """Note when its message came, its priority and its message-id."""
        key = 0 if identifier is None else _message_key(identifier)
        self._rows.describe(int((stamp + self.offset) * 1e6 + 0.5), int(stamp * 1e6 + 0.5), priority, key)

    def consider(self, outlet: "Outlet", is_chosen: bool) -> None:
        """Note an outlet as a candidate."""
        if outlet.recorded_in is not self._register:
            outlet.recorded_in = self._register
            outlet.recorded_as = self._link_number(link_text(outlet))
        self._rows.consider(outlet.recorded_as, 0, outlet.link.unsettled_count, is_chosen)

    def consider_way(self, way: "Way", is_chosen: bool) -> None:
        """Note a way to other routers as a candidate."""
        if way.recorded_in is not self._register:
            way.recorded_in = self._register
            way.recorded_as = self._link_number(way_text(way))
        self._rows.consider(way.recorded_as, way.cost, way.outstanding, is_chosen)

    # --- what is handed over

    @property
    def is_pressed(self) -> bool:
        """Whether so many full columns wait that they should be taken: a few at a time is less work for everybody."""
        return len(self._full) > self._pressed_at

    def tick(self, now: float, offset: float, second_us: int) -> None:
        """Close a second that began at `second_us`, by the clock of the world."""
        self.offset = self.events.offset = offset
        self._sum_up(second_us)

    def take(self, is_all: bool = True) -> Records:
        """Return what has been recorded and not been taken.

        If that is not to be all, it is the full columns but the last, most of which are of messages that are under way.
        Decisions without an outcome are kept until they have one, and come with others then.
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
        passage: "Passage | None",
        outlet: "Outlet",
        way: "Way | None",
    ) -> Flow:
        name = (inlet.number, number, address.key, self._origin(passage))
        found = self._flows.get(name)
        if found is None:
            found = self._new_flow(name, inlet, address, "", _egress_of(self.router_id, outlet, way))
        # The text of the same address may be another object, if it had been forgotten meanwhile.
        found.key = address.key
        found.passage = passage
        if found.following is None:
            last = inlet.flow
            if last is None or last.register is not self._register:
                found.following = found
            else:
                found.following = last.following
                last.following = found
        return found

    def _origin(self, passage: "Passage | None") -> str:
        return passage.ingress if passage is not None and passage.ingress else self.router_id

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
        self._numbered.append(flow)
        self._flows[name] = flow
        return flow

    def _activate(self, flow: Flow) -> None:
        flow.is_active = True
        self._active.append(flow)

    def _sum_up(self, second_us: int) -> None:
        if not self._active:
            return
        if len(self._sums) >= self._waiting_max:
            self.lost_flows += len(self._active)
            for flow in self._active:
                flow.is_active = False
                flow.clear()
        else:
            rows = FlowRows(second_us, self._register)
            for flow in self._active:
                rows.numbers.append(flow.index)
                rows.counters.extend(
                    (
                        *(flow.messages, flow.octets, flow.accepted, flow.rejected),
                        *(flow.released, flow.modified, flow.presettled, flow.dropped),
                    )
                )
                flow.is_active = False
                flow.clear()
            self._sums.append(rows)
        self._active = []

    def _turn_over(self) -> None:
        """Begin with an empty register: flows and links that are no more have filled it."""
        self._end_rows()
        self._sum_up(self.events.second_us)
        for flow in self._flows.values():
            flow.following = None
            flow.passage = None
        self._register = Register()
        self._flows.clear()
        self._numbered = []
        self._paths.clear()
        self._begin_rows()

    def _link_number(self, text: str) -> int:
        self._register.links.append(text)
        return len(self._register.links) - 1

    # --- decisions

    def _path_number(self, passage: "Passage") -> int:
        number = self._paths.get(passage)
        if number is None:
            number = len(self._register.paths)
            if number >= FLOWS_MAX:
                return -1
            self._register.paths.append(f"{passage.path}/{self.router_id}" if passage.path else self.router_id)
            self._paths[passage] = number
        return number

    def _next_rows(self) -> bool:
        """Begin another set of columns; whether there may be one."""
        if len(self._full) >= self._waiting_max:
            return False
        if len(self._register.links) >= FLOWS_MAX:
            # Decisions that are under way name their candidates by numbers of this register: they are lost.
            self._turn_over()
            return False
        self._end_rows()
        self._begin_rows()
        return True

    def _end_rows(self) -> None:
        if self._rows.count:
            self._full.append(self._rows)
        else:
            self._spare.append(self._rows.hand_over(False))

    def _begin_rows(self) -> None:
        # Those that were written to before: the memory of new ones would have to be found and cleared first.
        columns = self._spare.pop() if self._spare else DecisionColumns(self._room, self._memory(self._room.octets))
        self._rows = Rows(columns, self._register, self._rows_max, self._cells_max)


def _egress_of(
    router_id: str, outlet: "Outlet", way: "Way | None"
) -> tuple[str | None, str | None, str | None]:
    """Return a link, of what kind it is, and the router that it leads to."""
    if way is not None:
        return way_text(way), way_kind(way), way.next_hop
    return link_text(outlet), kind_of(outlet.peer), container_of(outlet.peer) if outlet.peer.is_edge else router_id


def _message_key(identifier: bytes) -> int:
    """Return the 64-bit FNV-1a hash, signed; 0 stands for none, and is as unlikely as any."""
    view = identifier
    key = _OFFSET_BASIS
    for i in range(len(identifier)):
        key = ((key ^ view[i]) * _PRIME) & _ALL_BITS
    return (key & _LOW_BITS) - (key & _HIGH_BIT)
