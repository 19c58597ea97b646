"""The data that a recorder hands over: sums of flows, decisions in columns, events, and names of numbers."""

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from struct import calcsize
from typing import Any, NamedTuple

ROWS = 1 << 13
"""The default number of decisions in a set of columns."""
CELLS_OF_ROW = 2
"""Space for candidates in a set of columns, for each decision."""
CANDIDATES_MAX = 127
"""Limit of the candidates of a decision: its choice is an 8-bit number."""
NO_LIMIT = 1 << 30
"""More messages than ever leave together."""
Memory = Callable[[int], "memoryview[Any]"]
"""Allocates writable memory of a number of octets."""
COUNTERS_OF_FLOW = ("messages", "octets", "accepted", "rejected", "released", "modified", "presettled", "dropped")
"""The sums of a flow, in the order of `FlowRows.counters`."""


_KINDS = {
    **{"time_us": "q", "latency_us": "q", "key": "q"},
    **{"flow": "i", "path": "i", "size": "i", "last_cell": "i", "outcome": "i", "cause": "i"},
    **{"cell_link": "i", "cell_cost": "i", "cell_outstanding": "i"},
    **{"priority": "b", "choice": "b", "hop": "b"},
}
"""The columns of decisions, with their types."""
COUNTS = ("rows", "cells", "latencies", "keys", "choices", "causes")
"""The counters of a set of columns."""
_ALIGNED = 8


class FlowNames(NamedTuple):
    """The names of a flow."""

    address: str
    phase: int
    distribution: str
    """One word; empty for an unknown address."""
    ingress: str
    """The name of the link; `egress` is one too."""
    ingress_kind: str
    origin: str
    """The router where the messages entered the network."""
    egress: str | None = None
    """None if no one gets the messages."""
    egress_kind: str | None = None
    egress_router: str | None = None


class Register:
    """The names behind the numbers in decisions. A register only grows, and a new one replaces it when it is full."""

    def __init__(self) -> None:
        self.flows: list[FlowNames] = []
        self.paths: list[str] = []
        self.links: list[str] = []
        """The links of candidates."""


class Room(NamedTuple):
    """The size of a set of columns."""

    rows: int
    cells: int

    @classmethod
    def of(cls, rows: int) -> "Room":
        """Return the size for a number of rows; all candidates of one decision always fit."""
        return cls(rows, CELLS_OF_ROW * rows + CANDIDATES_MAX)

    @property
    def octets(self) -> int:
        """The memory that it needs."""
        return sum(_octets(kind, self.length(name)) for name, kind in _KINDS.items())

    def length(self, name: str) -> int:
        """Return the length of a column."""
        if name.startswith("cell_"):
            return self.cells
        return self.rows + 1 if name == "last_cell" else self.rows


class DecisionColumns:
    """Decisions by column; the first `rows` and `cells` entries of each column count."""

    time_us: "memoryview[Any]"
    """Microseconds since 1970."""
    latency_us: "memoryview[Any]"
    """-1 for none."""
    key: "memoryview[Any]"
    """0 for none."""
    flow: "memoryview[Any]"
    path: "memoryview[Any]"
    """-1 for a message that entered here."""
    size: "memoryview[Any]"
    last_cell: "memoryview[Any]"
    """The end of the candidates of the row before, so the column has one more entry."""
    priority: "memoryview[Any]"
    choice: "memoryview[Any]"
    """-1 for none."""
    outcome: "memoryview[Any]"
    cause: "memoryview[Any]"
    """0 for none."""
    hop: "memoryview[Any]"
    cell_link: "memoryview[Any]"
    cell_cost: "memoryview[Any]"
    cell_outstanding: "memoryview[Any]"

    def __init__(self, room: Room, memory: "memoryview[Any]") -> None:
        """The columns follow each other in `memory`, which has at least the size of `room`."""
        self.room = room
        self.memory = memory
        self.register = Register()
        self.rows = 0
        self.cells = 0
        self.open_rows = array("i")
        """The rows without an outcome, which readers skip."""
        self.latencies = 0
        """Rows with an outcome that have a latency; the next three count likewise."""
        self.keys = 0
        self.choices = 0
        self.causes = 0
        start = 0
        for name, kind in _KINDS.items():
            length = room.length(name)
            column: memoryview[Any] = memory[start : start + length * calcsize(kind)].cast(kind)  # type: ignore[call-overload]
            setattr(self, name, column)
            start += _octets(kind, length)

    @property
    def settled(self) -> int:
        """The number of rows with an outcome."""
        return self.rows - len(self.open_rows)

    def copy(self) -> "DecisionColumns":
        """Return the decisions that have an outcome, in separate memory."""
        found = self._of([range(self.rows)] if not self.open_rows else list(_between(self.open_rows, self.rows)))
        for name in COUNTS[2:]:
            setattr(found, name, getattr(self, name))
        return found

    @classmethod
    def joined(cls, sets: "Sequence[DecisionColumns]") -> "DecisionColumns":
        """Join several sets of one register, in separate memory; all their rows have an outcome."""
        if len(sets) == 1:
            return sets[0]
        room = Room(sum(one.rows for one in sets), sum(one.cells for one in sets))
        found = cls(room, private_memory(room.octets))
        found.register = sets[0].register
        for one in sets:
            found._append(one, range(one.rows))
            for name in COUNTS[2:]:
                setattr(found, name, getattr(found, name) + getattr(one, name))
        return found

    def only(self, ranges: "Sequence[range]") -> "DecisionColumns":
        """Return some of the decisions, in separate memory; all of them have an outcome."""
        found = self._of(ranges)
        found.latencies = sum(one >= 0 for one in found.latency_us)
        found.keys = sum(one != 0 for one in found.key)
        found.choices = sum(one >= 0 for one in found.choice)
        found.causes = sum(one != 0 for one in found.cause)
        return found

    def _of(self, ranges: "Sequence[range]") -> "DecisionColumns":
        ends = self.last_cell
        room = Room(sum(map(len, ranges)), sum(ends[some.stop] - ends[some.start] for some in ranges))
        found = DecisionColumns(room, private_memory(room.octets))
        found.register = self.register
        for some in ranges:
            found._append(self, some)
        return found

    def _append(self, other: "DecisionColumns", some: range) -> None:
        first, last = other.last_cell[some.start], other.last_cell[some.stop]
        rows, cells = slice(self.rows, self.rows + len(some)), slice(self.cells, self.cells + last - first)
        for name in _KINDS:
            if name == "last_cell":
                ends = other.last_cell[some.start + 1 : some.stop + 1]
                shift = self.cells - first
                self.last_cell[rows.start + 1 : rows.stop + 1] = (
                    ends if not shift else memoryview(array("i", [shift + end for end in ends]))
                )
            elif name.startswith("cell_"):
                getattr(self, name)[cells] = getattr(other, name)[first:last]
            else:
                getattr(self, name)[rows] = getattr(other, name)[some.start : some.stop]
        self.rows, self.cells = rows.stop, cells.stop


def _between(gaps: "Sequence[int]", end: int) -> "Iterator[range]":
    """Return the ranges between the given numbers, up to an end."""
    start = 0
    for gap in gaps:
        if gap > start:
            yield range(start, gap)
        start = gap + 1
    if end > start:
        yield range(start, end)


class FlowRows:
    """The sums of one second: flows of a register, and their counters in the same order."""

    def __init__(self, second_us: int, register: Register) -> None:
        self.second_us = second_us
        self.register = register
        self.numbers = array("i")
        self.counters = array("q")


class RecordedEvent(NamedTuple):
    """A row of the table of events, with the columns of `routerd.records`."""

    time_us: int
    kind: str
    address: str | None = None
    link: str | None = None
    link_kind: str | None = None
    peer: str | None = None
    cost: int | None = None
    costs: Mapping[str, int] | None = None
    credit: int | None = None
    duration_us: int | None = None
    number: int | None = None
    detail: str | None = None


@dataclass(slots=True)
class Records:
    """The data that a recorder hands over at once."""

    weight: int
    """The number of decisions that each recorded one stands for."""
    decisions: list[DecisionColumns] = field(default_factory=list)
    flows: list[FlowRows] = field(default_factory=list)
    events: list[RecordedEvent] = field(default_factory=list)
    spare: list[DecisionColumns] = field(default_factory=list)
    """The place for columns that nobody reads any more; any thread may append."""

    @property
    def rows(self) -> int:
        """The number of rows in all tables."""
        return (
            sum(one.settled for one in self.decisions) + sum(len(one.numbers) for one in self.flows) + len(self.events)
        )


def private_memory(octets: int) -> "memoryview[Any]":
    """Return memory of this process, in one piece."""
    return memoryview(bytearray(octets))


def _octets(kind: str, length: int) -> int:
    return -(-length * calcsize(kind) // _ALIGNED) * _ALIGNED
