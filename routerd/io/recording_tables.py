"""Records of a worker as Arrow tables, column by column: what is done row by row is what there are few of."""

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from routerd.core import CAUSE_WORDS, COUNTERS_OF_FLOW, OUTCOME_WORDS, DecisionColumns, Flow, FlowRows, RecordedEvent
from routerd.records import DECISIONS, EVENTS, FLOWS
from routerd.records.parquet import arrow_schema

_DECISIONS = arrow_schema(DECISIONS)
_FLOWS = arrow_schema(FLOWS)
_EVENTS = arrow_schema(EVENTS)
_TIME = pa.timestamp("us", tz="UTC")
_US = 1_000_000.0
_NAMES_OF_FLOW = ("address", "distribution", "ingress", "ingress_kind", "egress", "egress_kind", "egress_router")
_OUTCOMES = pa.array(OUTCOME_WORDS, pa.string())
_CAUSES = pa.array(CAUSE_WORDS[1:], pa.string())


def decision_table(columns: DecisionColumns, router_id: str, weight: int) -> pa.Table:
    """Return decisions in the schema of their table."""
    rows = columns.rows
    register = columns.register
    codes = _column(pa.int32(), columns.flow, rows).dictionary_encode()
    flows = [register.flows[number] for number in codes.dictionary.to_pylist()]
    found: dict[str, Any] = {
        name: _named([getattr(flow, name) for flow in flows], codes.indices) for name in _NAMES_OF_FLOW
    }
    found["time"] = _times(_column(pa.float64(), columns.time_s, rows))
    found["phase"] = pa.array([flow.phase for flow in flows], pa.int8()).take(codes.indices)
    found["priority"] = _column(pa.int8(), columns.priority, rows)
    found["size_octets"] = _column(pa.int32(), columns.size, rows)
    paths = _column(pa.int32(), columns.path, rows).dictionary_encode()
    texts = [router_id if number < 0 else register.paths[number] for number in paths.dictionary.to_pylist()]
    found["path"] = _named(texts, paths.indices)
    found["hop"] = _column(pa.int8(), columns.hop, rows)
    found["candidates"] = _candidates(columns)
    found["choice"] = _null_below(_column(pa.int8(), columns.choice, rows), 0)
    outcome = _column(pa.int8(), columns.outcome, rows).cast(pa.int32())
    found["outcome"] = pa.DictionaryArray.from_arrays(outcome, _OUTCOMES)
    cause = pc.subtract(_column(pa.int8(), columns.cause, rows).cast(pa.int32()), 1)
    found["cause"] = pa.DictionaryArray.from_arrays(_null_below(cause, 0), _CAUSES)
    latency = pc.round(pc.multiply(_column(pa.float64(), columns.latency_s, rows), _US)).cast(pa.int64())
    found["latency_us"] = _null_below(latency, 0)
    found["weight"] = pa.repeat(pa.scalar(weight, pa.int32()), rows)
    key = _column(pa.int64(), columns.key, rows)
    found["message_key"] = pc.if_else(pc.equal(key, 0), pa.scalar(None, pa.int64()), key)
    return pa.table([found[name] for name in _DECISIONS.names], schema=_DECISIONS)


def flow_table(seconds: Iterable[FlowRows]) -> pa.Table:
    """Return sums of flows in the schema of their table."""
    flows: list[Flow] = []
    counters = array("q")
    times: list[int] = []
    for second in seconds:
        flows += second.flows
        counters += second.counters
        times += [second.second_us] * len(second.flows)
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


def _candidates(columns: DecisionColumns) -> pa.Array:
    cells = columns.cells
    codes = _column(pa.int32(), columns.cell_link, cells).dictionary_encode()
    links = _named([columns.register.links[number] for number in codes.dictionary.to_pylist()], codes.indices)
    kind = _DECISIONS.field("candidates").type
    values = pa.StructArray.from_arrays(
        [
            links,
            _column(pa.int32(), columns.cell_cost, cells),
            _column(pa.int32(), columns.cell_outstanding, cells),
        ],
        fields=list(kind.value_type),
    )
    first = pa.array([0], pa.int32())
    offsets = pa.concat_arrays([first, _column(pa.int32(), columns.last_cell, columns.rows)])
    return pa.ListArray.from_arrays(offsets, values, type=kind)


def _column(kind: pa.DataType, values: "array[Any]", rows: int) -> pa.Array:
    """Return the first rows of a column, without a copy."""
    return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(values)])


def _named(texts: Sequence[str | None], indices: pa.Array) -> pa.DictionaryArray:
    """Return texts by number; several numbers may have the same text."""
    known = pa.array(texts, pa.string()).dictionary_encode()
    return pa.DictionaryArray.from_arrays(known.indices.take(indices), known.dictionary)


def _times(seconds: pa.Array) -> pa.Array:
    return pc.round(pc.multiply(seconds, _US)).cast(pa.int64()).cast(_TIME)


def _null_below(values: pa.Array, least: int) -> pa.Array:
    return pc.if_else(pc.less(values, least), pa.scalar(None, values.type), values)
