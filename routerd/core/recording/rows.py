# Whatever is an index here is below what was asked for when the room was made.
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""Sets of columns for decisions: a row is written when a message leaves, and its outcome later.

A delivery keeps only a set and a row of it. With more per delivery, the data of a thousand messages under way would be
fetched into the cache twice. That took longer than the rest of the recording.
"""

from array import array
from typing import Any

from routerd.core.recording.columns import CANDIDATES_MAX, DecisionColumns

OPEN = -1
"""The outcome of a message that is under way."""

_CANDIDATES_MAX = CANDIDATES_MAX
_OPEN = OPEN
_NUMBER_MAX = 0x7FFFFFFF
_LAST_OUTCOME = 3
_NO_LARGE = memoryview(array("q", [0]))
_NO_WHOLE = memoryview(array("i", [0]))
_NO_SMALL = memoryview(array("b", [0]))


class Late:
    """A decision whose set was handed over before its outcome was known."""

    def __init__(self, flow: int, path: int, time_us: int, stamp_us: int) -> None:
        self.flow = flow
        self.path = path
        self.time_us = time_us
        self.stamp_us = stamp_us
        self.key = 0
        self.size = 0
        self.priority = 0
        self.hop = 0
        self.choice = -1
        # Link, cost and outstanding count of each candidate in turn.
        self.cells: list[int] = []


class Rows:
    """A set of columns, and its decisions under way."""

    columns: DecisionColumns | None
    late: dict[int, Late]
    _times: "memoryview[Any]"
    _latencies: "memoryview[Any]"
    _keys: "memoryview[Any]"
    flow_numbers: "memoryview[Any]"
    _path_numbers: "memoryview[Any]"
    _sizes: "memoryview[Any]"
    _last_cells: "memoryview[Any]"
    _priorities: "memoryview[Any]"
    _choices: "memoryview[Any]"
    _outcomes: "memoryview[Any]"
    _causes: "memoryview[Any]"
    _hops: "memoryview[Any]"
    _links: "memoryview[Any]"
    _costs: "memoryview[Any]"
    _outstanding: "memoryview[Any]"

    def __init__(self, columns: DecisionColumns, register: Any, rows_max: int, cells_max: int) -> None:
        columns.register = self.register = register
        self.columns = columns
        self.late = {}
        self.is_over = False
        # Rows without an outcome.
        self.open = 0
        self.count = 0
        self._cells = 0
        self._rows_max = rows_max
        self._cells_max = cells_max - _CANDIDATES_MAX
        self._latency_count = 0
        self._key_count = 0
        self._choice_count = 0
        self._cause_count = 0
        self._times = columns.time_us
        self._latencies = columns.latency_us
        self._keys = columns.key
        self.flow_numbers = columns.flow
        self._path_numbers = columns.path
        self._sizes = columns.size
        self._last_cells = columns.last_cell
        self._priorities = columns.priority
        self._choices = columns.choice
        self._outcomes = columns.outcome
        self._causes = columns.cause
        self._hops = columns.hop
        self._links = columns.cell_link
        self._costs = columns.cell_cost
        self._outstanding = columns.cell_outstanding

    def is_full(self) -> bool:
        """Whether there may be no room for another decision."""
        return self.count == self._rows_max or self._cells > self._cells_max

    def room(self, candidates: int) -> int:
        """Return how many decisions with this number of candidates fit in any case."""
        if self._cells > self._cells_max:
            return 0
        return min(self._rows_max - self.count, (self._cells_max - self._cells) // max(1, candidates) + 1)

    def begin(self, flow: int, path: int, hop: int, size: int) -> int:
        """Begin a decision, and return its row."""
        at = self.count
        self.flow_numbers[at] = flow
        self._path_numbers[at] = path
        self._hops[at] = hop
        self._sizes[at] = min(size, _NUMBER_MAX)
        self._outcomes[at] = _OPEN
        self._causes[at] = 0
        self._choices[at] = -1
        self._last_cells[at + 1] = self._cells
        self.count = at + 1
        self.open += 1
        return at

    def describe(self, time_us: int, stamp_us: int, priority: int, key: int) -> None:
        """Note the time of the last row's message, since 1970 and by the router's clock, with priority and key."""
        at = self.count - 1
        self._times[at] = time_us
        # Replaced by the latency once there is an outcome.
        self._latencies[at] = stamp_us
        self._priorities[at] = priority
        self._keys[at] = key
        if key != 0:
            self._key_count += 1

    def consider(self, link: int, cost: int, outstanding: int, is_chosen: bool) -> None:
        """Note a candidate of the last row. Those beyond the limit are left out, except for the chosen one."""
        at = self.count - 1
        cell = self._cells
        number = cell - self._last_cells[at]
        if number == _CANDIDATES_MAX:
            if not is_chosen:
                return
            number -= 1
            cell -= 1
        self._links[cell] = link
        self._costs[cell] = min(cost, _NUMBER_MAX)
        self._outstanding[cell] = min(outstanding, _NUMBER_MAX)
        if is_chosen:
            self._choices[at] = number
            self._choice_count += 1
        self._cells = cell + 1
        self._last_cells[at + 1] = cell + 1

    def grow(self, at: int, octets: int) -> None:
        """Count more octets of a message that is under way."""
        if not self.is_over:
            self._sizes[at] = min(self._sizes[at] + octets, _NUMBER_MAX)
        elif at in self.late:
            late = self.late[at]
            late.size = min(late.size + octets, _NUMBER_MAX)

    def complete(self, at: int, outcome: int, cause: int, now_us: int) -> None:
        """Note the outcome of a row, by its index in OUTCOME_WORDS, and the cause by its index in CAUSE_WORDS."""
        if outcome <= _LAST_OUTCOME:
            self._latencies[at] = now_us - self._latencies[at]
            self._latency_count += 1
        else:
            self._latencies[at] = -1
        self._outcomes[at] = outcome
        if cause != 0:
            self._causes[at] = cause
            self._cause_count += 1
        self.open -= 1

    def write_late(self, late: Late) -> int:
        """Write a decision of another set, and return the row; its outcome follows."""
        at = self.begin(late.flow, late.path, late.hop, late.size)
        self.describe(late.time_us, late.stamp_us, late.priority, late.key)
        cells = late.cells
        for i in range(0, len(cells), 3):
            self.consider(cells[i], cells[i + 1], cells[i + 2], late.choice * 3 == i)
        return at

    def hand_over(self, keeps_open: bool) -> DecisionColumns:
        """Hand over the columns; with `keeps_open`, keep a copy of the rows under way."""
        columns = self.columns
        assert columns is not None
        open_rows = array("i")
        if self.open:
            for at in range(self.count):
                if self._outcomes[at] == _OPEN:
                    open_rows.append(at)
                    if self._choices[at] >= 0:
                        self._choice_count -= 1
                    if self._keys[at] != 0:
                        self._key_count -= 1
                    if keeps_open:
                        self.late[at] = self._late(at)
        columns.open_rows = open_rows
        columns.rows = self.count
        columns.cells = self._cells
        columns.latencies = self._latency_count
        columns.keys = self._key_count
        columns.choices = self._choice_count
        columns.causes = self._cause_count
        self._let_go()
        return columns

    def _late(self, at: int) -> Late:
        late = Late(self.flow_numbers[at], self._path_numbers[at], self._times[at], self._latencies[at])
        late.key = self._keys[at]
        late.size = self._sizes[at]
        late.priority = self._priorities[at]
        late.hop = self._hops[at]
        late.choice = self._choices[at]
        for cell in range(self._last_cells[at], self._last_cells[at + 1]):
            late.cells += (self._links[cell], self._costs[cell], self._outstanding[cell])
        return late

    def _let_go(self) -> None:
        """Drop all references to the columns: a delivery may keep this object for long."""
        self.is_over = True
        self.columns = None
        self._times = self._latencies = self._keys = _NO_LARGE
        self.flow_numbers = self._path_numbers = self._sizes = self._last_cells = _NO_WHOLE
        self._outcomes = self._causes = self._links = self._costs = self._outstanding = _NO_WHOLE
        self._priorities = self._choices = self._hops = _NO_SMALL
