"""Records of a worker as Arrow tables, column by column: what is done row by row is what there are few of."""

from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from routerd.core import (
    CAUSE_WORDS,
    COUNTERS_OF_FLOW,
    OUTCOME_WORDS,
    DecisionColumns,
    FlowNames,
    FlowRows,
    RecordedEvent,
)
from routerd.records import DECISIONS, EVENTS, FLOWS
from routerd.records.parquet import arrow_schema

_DECISIONS = arrow_schema(DECISIONS)
_FLOWS = arrow_schema(FLOWS)
_EVENTS = arrow_schema(EVENTS)
_TIME = pa.timestamp("us", tz="UTC")
_BLOCK = 1 << 16
_WORTHWHILE = 16
"""So many rows for each name that there may be: then nobody has to find out which of them there are."""
_NAMES_OF_FLOW = ("address", "distribution", "ingress", "ingress_kind", "egress", "egress_kind", "egress_router")
_OUTCOMES = pa.array(OUTCOME_WORDS, pa.string())
_CAUSES = pa.array(CAUSE_WORDS, pa.string())


def decision_table(columns: DecisionColumns, router_id: str, weight: int) -> pa.Table:
    """Return decisions in the schema of their table.

    The recorder has written what is to be in the columns: here it is only said where, as long as all of a column is
    there, or nothing.
    """
    rows = columns.rows
    found = _of_flows(columns)
    found["time"] = _column(_TIME, columns.time_us, rows)
    found["priority"] = _column(pa.int8(), columns.priority, rows)
    found["size_octets"] = _column(pa.int32(), columns.size, rows)
    found["path"] = _paths(columns, router_id)
    found["hop"] = _column(pa.int8(), columns.hop, rows)
    found["candidates"] = _candidates(columns)
    choice = _column(pa.int8(), columns.choice, rows)
    found["choice"] = _present(choice, columns.choices, -1)
    found["outcome"] = pa.DictionaryArray.from_arrays(_column(pa.int32(), columns.outcome, rows), _OUTCOMES, safe=False)
    cause = _present(_column(pa.int32(), columns.cause, rows), columns.causes, 0)
    found["cause"] = pa.DictionaryArray.from_arrays(cause, _CAUSES, safe=False)
    found["latency_us"] = _present(_column(pa.int64(), columns.latency_us, rows), columns.latencies, -1)
    found["weight"] = _same(weight, pa.int32(), rows)
    found["message_key"] = _present(_column(pa.int64(), columns.key, rows), columns.keys, 0)
    return pa.table([found[name] for name in _DECISIONS.names], schema=_DECISIONS)


def flow_table(seconds: Iterable[FlowRows]) -> pa.Table:
    """Return sums of flows in the schema of their table."""
    flows: list[FlowNames] = []
    counters = array("q")
    times: list[int] = []
    for second in seconds:
        flows += [second.register.flows[number] for number in second.numbers]
        counters += second.counters
        times += [second.second_us] * len(second.numbers)
    found: dict[str, Any] = {
        name: pa.array([getattr(flow, name) for flow in flows], pa.string()).dictionary_encode()
        for name in (*_NAMES_OF_FLOW, "origin")
    }
    found["time"] = pa.array(times, pa.int64()).cast(_TIME)
    count = len(COUNTERS_OF_FLOW)
    for at, name in enumerate(COUNTERS_OF_FLOW):
        found[name] = pa.array(counters[at::count], pa.int64())
    return pa.table([found[name] for name in _FLOWS.names], schema=_FLOWS)


def event_table(events: Sequence[RecordedEvent]) -> pa.Table:
    """Return events in the schema of their table."""
    found = []
    for field in _EVENTS:
        if field.name == "time":
            found.append(pa.array([event.time_us for event in events], pa.int64()).cast(_TIME))
        elif field.name == "costs":
            costs = [None if event.costs is None else list(event.costs.items()) for event in events]
            found.append(pa.array(costs, field.type))
        elif pa.types.is_dictionary(field.type):
            texts = [getattr(event, field.name) for event in events]
            found.append(pa.array(texts, pa.string()).dictionary_encode())
        else:
            found.append(pa.array([getattr(event, field.name) for event in events], field.type))
    return pa.table(found, schema=_EVENTS)


def _of_flows(columns: DecisionColumns) -> dict[str, Any]:
    """Return what is the same for all decisions of a flow."""
    known = columns.register.flows
    numbers, codes = _numbers(_column(pa.int32(), columns.flow, columns.rows), len(known))
    flows = [known[number] for number in numbers]
    names = {name: _names([getattr(flow, name) for flow in flows]) for name in _NAMES_OF_FLOW}
    phases = pa.array([flow.phase for flow in flows], pa.int8())
    if len(flows) == 1:
        of_all = [_same_name(one, columns.rows) for one in names.values()]
        phase = _same(flows[0].phase, pa.int8(), columns.rows)
        return {**dict(zip(names, of_all, strict=True)), "phase": phase}
    taken = _taken(pa.RecordBatch.from_arrays([*names.values(), phases], [*names, "phase"]), codes)
    return dict(zip([*names, "phase"], taken.columns, strict=True))


def _paths(columns: DecisionColumns, router_id: str) -> pa.DictionaryArray:
    # Messages that entered here have -1, and the first name.
    texts = [router_id, *columns.register.paths]
    if len(texts) == 1:
        return _same_name(_names(texts), columns.rows)
    numbers, codes = _numbers(pc.add(_column(pa.int32(), columns.path, columns.rows), 1), len(texts))
    return _taken(_names([texts[number] for number in numbers]), codes)


def _candidates(columns: DecisionColumns) -> pa.Array:
    cells = columns.cells
    links = columns.register.links
    numbers, codes = _numbers(_column(pa.int32(), columns.cell_link, cells), len(links))
    names = _names([links[number] for number in numbers])
    kind = _DECISIONS.field("candidates").type
    values = pa.StructArray.from_arrays(
        [
            _same_name(names, cells) if len(names) == 1 else _taken(names, codes),
            _column(pa.int32(), columns.cell_cost, cells),
            _column(pa.int32(), columns.cell_outstanding, cells),
        ],
        fields=list(kind.value_type),
    )
    offsets = _column(pa.int32(), columns.last_cell, columns.rows + 1)
    return pa.ListArray.from_arrays(offsets, values, type=kind)


def _column(kind: pa.DataType, values: "memoryview[Any]", rows: int) -> pa.Array:
    """Return the first rows of a column, without a copy."""
    return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(values)])


def _numbers(values: pa.Array, count: int) -> tuple[Sequence[int], pa.Array]:
    """Return numbers below `count` that there are, and for each value which of these it is."""
    if count * _WORTHWHILE <= len(values) or count == 1:
        return range(count), values
    known = values.dictionary_encode()
    return known.dictionary.to_pylist(), known.indices


def _names(texts: Sequence[str | None]) -> pa.DictionaryArray:
    """Return texts, several of which may be the same."""
    return pa.array(texts, pa.string()).dictionary_encode()


def _taken(known: Any, codes: pa.Array) -> Any:
    return pc.take(known, codes, boundscheck=False)


def _same_name(name: pa.DictionaryArray, rows: int) -> pa.DictionaryArray:
    """Return a column that has one name in all rows, or none."""
    codes = _same(None if name.null_count else 0, pa.int32(), rows)
    return pa.DictionaryArray.from_arrays(codes, name.dictionary, safe=False)


def _same(value: int | None, kind: pa.DataType, rows: int) -> pa.Array:
    return _repeated(value, kind, max(_BLOCK, rows)).slice(0, rows)


@lru_cache(maxsize=16)
def _repeated(value: int | None, kind: pa.DataType, rows: int) -> pa.Array:
    return pa.nulls(rows, kind) if value is None else pa.repeat(pa.scalar(value, kind), rows)


def _present(values: pa.Array, count: int, absent: int) -> pa.Array:
    """Return values of which so many are there, and null for the others."""
    if count == len(values):
        return values
    return _same(None, values.type, len(values)) if not count else pc.if_else(pc.equal(values, absent), None, values)
