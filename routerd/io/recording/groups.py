"""Records of a worker as row groups of files: their columns, and their hour."""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

from routerd.core import (
    CAUSE_WORDS,
    COUNTERS_OF_FLOW,
    OUTCOME_WORDS,
    DecisionColumns,
    FlowNames,
    FlowRows,
    RecordedEvent,
)
from routerd.records import DECISIONS, EVENTS, FLOWS, Table
from routerd.records.file_format import (
    BYTE_ARRAY,
    INT32,
    INT64,
    Page,
    absent,
    constant,
    everywhere,
    here_and_there,
    list_levels,
    looked_up,
    named,
    numeric,
    of_few,
    pages_of_column,
    present,
    range_of,
    series,
    which_of,
    wide,
)

_NAMES_OF_FLOW = ("address", "distribution", "ingress", "ingress_kind", "egress", "egress_kind", "egress_router")
_OPTIONAL_NAMES = frozenset(column.name for column in DECISIONS.columns if column.is_optional)
_ELEMENT = "candidates.list.element"

Pages = dict[str, Page]


class Group(Protocol):
    """Rows of one table."""

    table: Table

    @property
    def rows(self) -> int:
        """The number of rows."""

    @property
    def first_us(self) -> int:
        """The least time of the rows."""

    def by_hour(self, hour_us: int) -> "dict[int, Group]":
        """Return the rows of each hour, by its number."""

    def pages(self) -> Pages:
        """Return all columns, by the names of their leaves."""

    def joined(self, others: "Sequence[Any]") -> "list[Group]":
        """Return these rows and others of the table in as few groups as they can be."""


@dataclass(frozen=True, slots=True)
class Decisions:
    """Decisions of a router. Each row stands for `weight` decisions."""

    columns: DecisionColumns
    router_id: str
    weight: int
    table = DECISIONS

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.columns.rows

    @property
    def first_us(self) -> int:
        """The least time of the rows."""
        return range_of(self.columns.time_us, self.columns.rows)[0]

    def by_hour(self, hour_us: int) -> "dict[int, Group]":
        """Return the decisions of each hour, by its number."""
        columns = self.columns
        first, last = (one // hour_us for one in range_of(columns.time_us, columns.rows))
        if first == last:
            return {first: self}
        found: dict[int, list[range]] = {}
        start = 0
        for hour, rows in groupby(columns.time_us[: columns.rows], lambda time_us: time_us // hour_us):
            end = start + sum(1 for _ in rows)
            found.setdefault(hour, []).append(range(start, end))
            start = end
        return {hour: Decisions(columns.only(some), self.router_id, self.weight) for hour, some in found.items()}

    def joined(self, others: "Sequence[Decisions]") -> "list[Group]":
        """Return these decisions and others; each register of flows has a separate group."""
        found: dict[tuple[int, int], list[DecisionColumns]] = {}
        for one in (self, *others):
            found.setdefault((id(one.columns.register), one.weight), []).append(one.columns)
        return [Decisions(DecisionColumns.joined(sets), self.router_id, key[1]) for key, sets in found.items()]

    def pages(self) -> Pages:
        """Return all columns, as the recorder has written them."""
        columns = self.columns
        rows = columns.rows
        found = self._of_flows()
        found["time"] = numeric(columns.time_us, rows, INT64, with_range=True)
        found["priority"] = of_few(columns.priority, rows)
        found["size_octets"] = numeric(columns.size, rows, INT32)
        # Messages that entered here have -1.
        found["path"] = _by_number(columns.path, rows, -1, [self.router_id, *columns.register.paths], False)
        found["hop"] = of_few(columns.hop, rows)
        found |= self._candidates()
        found["choice"] = _optional(columns.choice, rows, columns.choices, -1, of_few)
        found["outcome"] = named(columns.outcome, rows, OUTCOME_WORDS, BYTE_ARRAY)
        found["cause"] = _optional(columns.cause, rows, columns.causes, 0, _causes)
        found["latency_us"] = _optional(columns.latency_us, rows, columns.latencies, -1, _latencies)
        found["weight"] = constant(self.weight, rows, INT32)
        found["message_key"] = _optional(columns.key, rows, columns.keys, 0, wide)
        return found

    def _of_flows(self) -> Pages:
        """Return the columns that are the same for all decisions of a flow."""
        known = self.columns.register.flows
        rows = self.columns.rows
        numbers = [0] if len(known) == 1 else which_of(self.columns.flow, rows, 0, len(known))
        found = {
            name: _by_number(
                self.columns.flow, rows, 0, _at(known, numbers, name), name in _OPTIONAL_NAMES, numbers
            )
            for name in _NAMES_OF_FLOW
        }
        found["phase"] = _by_number(self.columns.flow, rows, 0, _at(known, numbers, "phase"), False, numbers, INT32)
        return found

    def _candidates(self) -> Pages:
        columns = self.columns
        cells = columns.cells
        again, there, count = list_levels(columns.last_cell, columns.rows)
        repetition, definition = series(again, count, 1), series(there, count, 1)
        if cells:
            found = {
                "egress": _by_number(columns.cell_link, cells, 0, columns.register.links, False),
                "cost": numeric(columns.cell_cost, cells, INT32),
                "outstanding": numeric(columns.cell_outstanding, cells, INT32),
            }
        else:
            found = {name: absent(count) for name in ("egress", "cost", "outstanding")}
        for page in found.values():
            page.count, page.repetition, page.definition = count, repetition, definition
        return {f"{_ELEMENT}.{name}": page for name, page in found.items()}


@dataclass(frozen=True, slots=True)
class Flows:
    """Sums of flows, second by second."""

    seconds: Sequence[FlowRows]
    table = FLOWS

    @property
    def rows(self) -> int:
        """The number of rows."""
        return sum(len(second.numbers) for second in self.seconds)

    @property
    def first_us(self) -> int:
        """The least time of the rows."""
        return min(second.second_us for second in self.seconds)

    def by_hour(self, hour_us: int) -> "dict[int, Group]":
        """Return the sums of each hour, by its number."""
        found: dict[int, list[FlowRows]] = {}
        for second in self.seconds:
            found.setdefault(second.second_us // hour_us, []).append(second)
        return {hour: Flows(seconds) for hour, seconds in found.items()}

    def joined(self, others: "Sequence[Flows]") -> "list[Group]":
        """Return these sums and others."""
        return [Flows([second for one in (self, *others) for second in one.seconds])]

    def pages(self) -> Pages:
        """Return all columns."""
        flows: list[FlowNames] = []
        counters = array("q")
        times: list[int] = []
        for second in self.seconds:
            flows += [second.register.flows[number] for number in second.numbers]
            counters += second.counters
            times += [second.second_us] * len(second.numbers)
        count = len(COUNTERS_OF_FLOW)
        values: dict[str, Sequence[Any]] = {
            name: counters[at::count] for at, name in enumerate(COUNTERS_OF_FLOW)
        }
        values["time"] = times
        for name in (*_NAMES_OF_FLOW, "origin"):
            values[name] = [getattr(flow, name) for flow in flows]
        return _pages_of_rows(FLOWS, values)


@dataclass(frozen=True, slots=True)
class Events:
    """Rows of events."""

    events: Sequence[RecordedEvent]
    table = EVENTS

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.events)

    @property
    def first_us(self) -> int:
        """The least time of the rows."""
        return min(event.time_us for event in self.events)

    def by_hour(self, hour_us: int) -> "dict[int, Group]":
        """Return the events of each hour, by its number."""
        found: dict[int, list[RecordedEvent]] = {}
        for event in self.events:
            found.setdefault(event.time_us // hour_us, []).append(event)
        return {hour: Events(events) for hour, events in found.items()}

    def joined(self, others: "Sequence[Events]") -> "list[Group]":
        """Return these events and others."""
        return [Events([event for one in (self, *others) for event in one.events])]

    def pages(self) -> Pages:
        """Return all columns."""
        names = {column.name: "time_us" if column.name == "time" else column.name for column in EVENTS.columns}
        return _pages_of_rows(
            EVENTS, {name: [getattr(event, of) for event in self.events] for name, of in names.items()}
        )


def _pages_of_rows(table: Table, values: Mapping[str, Sequence[Any]]) -> Pages:
    found: Pages = {}
    for column in table.columns:
        found |= pages_of_column(column, values[column.name])
    return found


def _at(flows: Sequence[FlowNames], numbers: Iterable[int], name: str) -> list[Any]:
    return [getattr(flows[number], name) for number in numbers]


def _by_number(
    values: "memoryview[int]",
    count: int,
    least: int,
    entries: Sequence[Any],
    is_optional: bool,
    numbers: Sequence[int] | None = None,
    physical: int = BYTE_ARRAY,
) -> Page:
    """Return a column of the names of numbers.

    The entries are for all numbers from `least` on, or for the given ones. There may be more of them than are used.
    """
    if numbers is None:
        limit = least + len(entries)
        numbers = [least] if len(entries) == 1 else which_of(values, count, least, limit)
        entries = [entries[number - least] for number in numbers]
    known: dict[Any, int] = {}
    codes = [-1 if entry is None else known.setdefault(entry, len(known)) for entry in entries]
    if len(set(codes)) == 1:
        if not known:
            return absent(count)
        page = constant(entries[0], count, physical)
        return everywhere(page) if is_optional else page
    table = array("i", bytes(4 * (numbers[-1] - least + 1)))
    for number, code in zip(numbers, codes, strict=True):
        table[number - least] = code
    found = looked_up(memoryview(table), values, count, least)
    if -1 not in codes:
        page = named(found, count, list(known), physical)
        return everywhere(page) if is_optional else page
    there, length, levels = present(found, count, -1)
    return here_and_there(named(there, length, list(known), physical), levels, count)


def _optional(values: "memoryview[int]", rows: int, count: int, missing: int, make: Any) -> Page:
    """Return a column in which `count` values are there, and the others are `missing`."""
    if not count:
        return absent(rows)
    if count == rows:
        return everywhere(make(values, rows))
    there, length, levels = present(values, rows, missing)
    return here_and_there(make(there, length), levels, rows)


def _causes(values: "memoryview[int]", count: int) -> Page:
    return named(values, count, [word or "" for word in CAUSE_WORDS], BYTE_ARRAY)


def _latencies(values: "memoryview[int]", count: int) -> Page:
    return numeric(values, count, INT64)
