"""What a recorder hands over: sums of flows, decisions in columns, events, and the texts of numbers."""

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from routerd.core.recorder import Flow

ROWS = 8192
"""Decisions of one set of columns."""
CELLS_OF_ROW = 4
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
    """Decisions, column by column; the first `rows` and `cells` of each array count."""

    def __init__(self, register: Register, rows: int = ROWS) -> None:
        # All that one decision may have fit in any case.
        cells = max(CELLS_OF_ROW * rows, CANDIDATES_MAX)
        self.register = register
        self.rows = 0
        self.cells = 0
        self.time_s = array("d", bytes(8 * rows))
        """Since 1970."""
        self.latency_s = array("d", bytes(8 * rows))
        """-1 where there is none."""
        self.key = array("q", bytes(8 * rows))
        """0 where there is none."""
        self.flow = array("i", bytes(4 * rows))
        self.path = array("i", bytes(4 * rows))
        """-1 for a message that entered here."""
        self.size = array("i", bytes(4 * rows))
        self.last_cell = array("i", bytes(4 * rows))
        """Behind the last candidate of a row."""
        self.priority = array("b", bytes(rows))
        self.choice = array("b", bytes(rows))
        """-1 where there is none."""
        self.outcome = array("b", bytes(rows))
        self.cause = array("b", bytes(rows))
        self.hop = array("b", bytes(rows))
        self.cell_link = array("i", bytes(4 * cells))
        self.cell_cost = array("i", bytes(4 * cells))
        self.cell_outstanding = array("i", bytes(4 * cells))


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

    @property
    def rows(self) -> int:
        """How many rows they are, over all tables."""
        return (
            sum(one.rows for one in self.decisions) + sum(len(one.flows) for one in self.flows) + len(self.events)
        )
