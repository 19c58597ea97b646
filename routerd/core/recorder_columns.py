"""What a recorder hands over: sums of flows, decisions in columns, events, and the texts of numbers."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import calcsize
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from routerd.core.recorder import Flow

ROWS = 1 << 13
"""Decisions of one set of columns, unless it is said how many."""
CELLS_OF_ROW = 2
"""Candidates that there is room for, for each decision of a set of columns."""
CANDIDATES_MAX = 127
"""Candidates of a decision: the choice among them is a number of 8 bits."""
COUNTERS_OF_FLOW = ("messages", "octets", "accepted", "rejected", "released", "modified", "presettled", "dropped")
"""The sums of a flow, in the order in which they stand in `FlowRows.counters`."""


class Register:
    """What decisions name by number; only added to, and replaced by another when it is full."""

    def __init__(self) -> None:
        self.flows: list[Flow] = []
        self.paths: list[str] = []
        self.links: list[str] = []
        """Of candidates."""


class DecisionColumns:
    """Decisions, column by column; the first `rows` and `cells` of each column count."""

    def __init__(self, rows: int = ROWS) -> None:
        # All that one decision may have fit in any case.
        cells = max(CELLS_OF_ROW * rows, CANDIDATES_MAX)
        self.register = Register()
        self.rows = 0
        self.cells = 0
        self.time_us = _empty("q", rows)
        """Since 1970."""
        self.latency_us = _empty("q", rows)
        """-1 where there is none."""
        self.latencies = 0
        """Rows that have one."""
        self.key = _empty("q", rows)
        """0 where there is none."""
        self.keys = 0
        """Rows that have one."""
        self.flow = _empty("i", rows)
        self.path = _empty("i", rows)
        """-1 for a message that entered here."""
        self.size = _empty("i", rows)
        self.last_cell = _empty("i", rows + 1)
        """Behind the last candidate of the row before; so there is one more."""
        self.priority = _empty("b", rows)
        self.choice = _empty("b", rows)
        """-1 where there is none."""
        self.choices = 0
        """Rows that have one."""
        self.outcome = _empty("i", rows)
        self.cause = _empty("i", rows)
        """0 where there is none."""
        self.causes = 0
        """Rows that have one."""
        self.hop = _empty("b", rows)
        self.cell_link = _empty("i", cells)
        self.cell_cost = _empty("i", cells)
        self.cell_outstanding = _empty("i", cells)


class FlowRows:
    """The sums of one second: flows, and their counters one flow behind the other."""

    def __init__(self, second_us: int) -> None:
        self.second_us = second_us
        self.flows: list[Flow] = []
        self.counters = array("q")


class RecordedEvent(NamedTuple):
    """One row of the table of events; the columns are as `routerd.records` says."""

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
    """All that a recorder has to hand over at a time."""

    weight: int
    """How many decisions each of them stands for."""
    decisions: list[DecisionColumns] = field(default_factory=list)
    flows: list[FlowRows] = field(default_factory=list)
    events: list[RecordedEvent] = field(default_factory=list)
    spare: list[DecisionColumns] = field(default_factory=list)
    """Where columns go back to once nobody reads them any more; to be appended to by any thread."""

    @property
    def rows(self) -> int:
        """How many rows they are, over all tables."""
        return (
            sum(one.rows for one in self.decisions) + sum(len(one.flows) for one in self.flows) + len(self.events)
        )


def _empty(kind: str, length: int) -> "memoryview[Any]":
    # All in one piece, which is filled in place and read there by who writes it.
    column: memoryview[Any] = memoryview(bytearray(length * calcsize(kind))).cast(kind)  # type: ignore[call-overload]
    return column
