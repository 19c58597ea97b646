"""Turns batches of messages into columns, many rows at a time."""

from array import array
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from analytics.synthesize.flavours import Batch, Flavour
from analytics.synthesize.plan import HOP_US, USUAL_LATENCY_US, Plan
from routerd.records import DECISIONS, FLOWS
from routerd.records.parquet import arrow_schema

_SECOND_US = 1_000_000
_FLOW_SUMS = ("accepted", "rejected", "released", "modified", "presettled", "dropped")


@dataclass(frozen=True)
class Messages:
    """Messages that entered at one router: which flavour each has, and what differs from one to the next."""

    flavours: list[Flavour]
    flavour: pa.Array
    time_us: pa.Array
    size_octets: pa.Array
    latency_us: pa.Array
    key: pa.Array


def messages_of(batches: list[Batch], seed: int) -> Messages:
    """Draw the messages of some batches."""
    flavour, begin, end = array("i"), array("d"), array("d")
    for at, batch in enumerate(batches):
        total = sum(last - first for first, last in batch.spans)
        left = batch.count
        for first, last in batch.spans[:-1]:
            part = min(left, round(batch.count * (last - first) / total))
            _extend(flavour, begin, end, (at, first, last), part)
            left -= part
        _extend(flavour, begin, end, (at, *batch.spans[-1]), left)
    count = len(flavour)
    order, time_us = _times(pa.array(begin), pa.array(end), count, seed)
    index = pc.take(pa.array(flavour), order)
    means = pa.array([float(one.flavour.consumer.latency_us if one.flavour.consumer else 40) for one in batches])
    waits = pc.multiply(pc.take(means, index), pc.add(0.4, pc.multiply(_exponential(count, seed + 1), 0.6)))
    sizes = pc.add(80, pc.multiply(_exponential(count, seed + 2), 900.0))
    return Messages(
        [one.flavour for one in batches],
        index,
        time_us,
        pc.cast(sizes, pa.int32(), safe=False),
        pc.cast(waits, pa.int64(), safe=False),
        pc.cast(pc.multiply(pc.subtract(pc.random(count, initializer=seed + 3), 0.5), 2.0**63), pa.int64(), safe=False),
    )


def _extend(
    flavour: "array[int]", begin: "array[float]", end: "array[float]", of: tuple[int, int, int], n: int
) -> None:
    flavour.extend(array("i", [of[0]]) * n)
    begin.extend(array("d", [of[1]]) * n)
    end.extend(array("d", [of[2]]) * n)


def _times(begin: pa.Array, end: pa.Array, count: int, seed: int) -> tuple[pa.Array, pa.Array]:
    drawn = pc.add(begin, pc.multiply(pc.subtract(end, begin), pc.random(count, initializer=seed)))
    times = pc.cast(pc.multiply(drawn, 1e6), pa.int64(), safe=False)
    order = pc.sort_indices(times)
    return order, pc.take(times, order)


def _exponential(count: int, seed: int) -> pa.Array:
    return pc.negate(pc.ln(pc.subtract(1.0, pc.random(count, initializer=seed))))


def decisions_at(plan: Plan, messages: Messages, router: str, seed: int) -> pa.Table:
    """Return what one router decided of the messages that passed it."""
    hops = [flavour.path.index(router) if router in flavour.path else -1 for flavour in messages.flavours]
    index, rows = _passing(messages, hops)
    names = [_row_of(plan, flavour, hop) for flavour, hop in zip(messages.flavours, hops, strict=True)]
    count = len(index)
    columns: dict[str, Any] = {
        name: _named([row[name] for row in names], index)
        for name in ("address", "distribution", "ingress", "ingress_kind", "path", "egress", "egress_kind")
    }
    columns |= {name: _named([row[name] for row in names], index) for name in ("egress_router", "outcome", "cause")}
    for name, kind in (("hop", pa.int8()), ("choice", pa.int8()), ("priority", pa.int8())):
        columns[name] = pc.take(pa.array([row[name] for row in names], kind), index)
    columns["time"] = _as_time(_arrival(plan, messages, router, rows, hops, index))
    columns["phase"] = pa.repeat(pa.scalar(0, pa.int8()), count)
    columns["size_octets"] = pc.take(messages.size_octets, rows)
    columns["candidates"] = _candidates([row["candidates"] for row in names], index, seed)
    columns["latency_us"] = _latency(messages, rows, hops, index)
    columns["weight"] = pa.repeat(pa.scalar(plan.weight, pa.int32()), count)
    columns["message_key"] = pc.take(messages.key, rows)
    return pa.table([columns[field.name] for field in arrow_schema(DECISIONS)], arrow_schema(DECISIONS))


def flows_at(plan: Plan, messages: Messages, router: str) -> pa.Table:
    """Return the sums of each second for the messages that passed a router."""
    hops = [flavour.path.index(router) if router in flavour.path else -1 for flavour in messages.flavours]
    index, rows = _passing(messages, hops)
    names = [_row_of(plan, flavour, hop) for flavour, hop in zip(messages.flavours, hops, strict=True)]
    arrival = _arrival(plan, messages, router, rows, hops, index)
    second = pc.multiply(pc.floor(pc.divide(pc.cast(arrival, pa.float64()), 1e6)), 1e6)
    outcomes = pa.array([row["outcome"] for row in names])
    # Flavours that differ in their outcome only belong to one row.
    keys = [tuple(row[name] for name in ("address", "ingress", "egress", "path")) for row in names]
    first = {key: at for at, key in reversed(list(enumerate(keys)))}
    sums = {"octets": pc.cast(pc.take(messages.size_octets, rows), pa.int64())}
    for outcome in _FLOW_SUMS:
        sums[outcome] = pc.cast(pc.equal(pc.take(outcomes, index), outcome), pa.int64())
    keyed = pc.take(pa.array([first[key] for key in keys], pa.int32()), index)
    by_second = pa.table({"second": second, "flavour": keyed, "messages": pa.repeat(1, len(index)), **sums}).group_by(
        ["second", "flavour"]
    )
    summed = by_second.aggregate([(name, "sum") for name in ("messages", *sums)]).sort_by("second")
    flavour = summed["flavour"].combine_chunks()
    columns: dict[str, Any] = {
        name: _named([row[name] for row in names], flavour)
        for name in ("address", "distribution", "ingress", "ingress_kind", "egress", "egress_kind", "egress_router")
    }
    columns["origin"] = _named([row["path"].partition("/")[0] for row in names], flavour)
    columns["time"] = _as_time(pc.cast(summed["second"], pa.int64()))
    for name in ("messages", *sums):
        columns[name] = pc.multiply(summed[f"{name}_sum"], plan.weight)
    return pa.table([columns[field.name] for field in arrow_schema(FLOWS)], arrow_schema(FLOWS))


def _passing(messages: Messages, hops: list[int]) -> tuple[pa.Array, pa.Array]:
    """Return the flavours of the messages that pass, and where these messages are."""
    passes = pc.take(pa.array([hop >= 0 for hop in hops]), messages.flavour)
    rows = pc.indices_nonzero(passes)
    return pc.take(messages.flavour, rows), rows


def _arrival(plan: Plan, messages: Messages, router: str, rows: Any, hops: list[int], index: Any) -> pa.Array:
    skew_us = int(plan.planted.clock[1] * _SECOND_US) if router == plan.planted.clock[0] else 0
    delay = pc.take(pa.array([hop * HOP_US + skew_us for hop in hops], pa.int64()), index)
    return pc.add(pc.take(messages.time_us, rows), delay)


def _latency(messages: Messages, rows: Any, hops: list[int], index: Any) -> pa.Array:
    """Return how long each message took from here: to its consumer and back."""
    beyond = [2 * HOP_US * (len(flavour.path) - 1 - hop) for flavour, hop in zip(messages.flavours, hops, strict=True)]
    return pc.add(pc.take(messages.latency_us, rows), pc.take(pa.array(beyond, pa.int64()), index))


def _row_of(plan: Plan, flavour: Flavour, hop: int) -> dict[str, Any]:
    """Return what all decisions of a flavour have in common at a hop."""
    at = max(hop, 0)
    is_last = at == len(flavour.path) - 1
    router = flavour.path[at]
    to_consumer = is_last and flavour.consumer is not None
    following = None if is_last else flavour.path[at + 1]
    egress = flavour.consumer.link if to_consumer and flavour.consumer else f"trunk/{following}" if following else None
    candidates = _candidates_at(plan, flavour, router, at)
    choice = next((n for n, one in enumerate(candidates) if one[0] == egress), None)
    return {
        "address": flavour.address.name,
        "distribution": flavour.address.distribution,
        "ingress": f"trunk/{flavour.path[at - 1]}" if at else f"{flavour.address.name}/sender-{router}",
        "ingress_kind": "trunk" if at else "client",
        "path": "/".join(flavour.path[: at + 1]),
        "hop": at,
        "priority": 4,
        "candidates": [(*one, n == choice) for n, one in enumerate(candidates)],
        "choice": choice,
        "egress": egress,
        "egress_kind": "client" if to_consumer else "trunk" if following else None,
        "egress_router": router if to_consumer else following,
        "outcome": flavour.outcome,
        "cause": flavour.cause if at == flavour.cause_at else None,
    }


def _candidates_at(plan: Plan, flavour: Flavour, router: str, hop: int) -> list[tuple[str, int, float]]:
    """Return the link, cost and mean load of each candidate."""
    found: dict[str, tuple[str, int, float]] = {}
    for one in flavour.address.consumers:
        load = one.latency_us / USUAL_LATENCY_US * 4
        if one.router == router:
            found[one.link] = (one.link, 0, load)
            continue
        is_ours = flavour.consumer is not None and one.router == flavour.consumer.router
        way = flavour.path[hop:] if is_ours else plan.network.path(router, one.router) or ()
        if len(way) > 1 and way[1] not in flavour.path[:hop]:
            cost = plan.network.cost_along(way) or 0
            link = f"trunk/{way[1]}"
            found[link] = (link, min(cost, found.get(link, (link, cost, 0))[1]), 4.0)
    return list(found.values())


def _candidates(by_flavour: list[list[tuple[str, int, float, bool]]], index: pa.Array, seed: int) -> pa.Array:
    kind = pa.struct([("egress", pa.string()), ("cost", pa.int32()), ("mean", pa.float64()), ("chosen", pa.bool_())])
    known = [[dict(zip(("egress", "cost", "mean", "chosen"), one, strict=True)) for one in some] for some in by_flavour]
    lists = pc.take(pa.array(known, pa.list_(kind)), index)
    flat = lists.flatten()
    egress, cost, mean, chosen = (flat.field(at) for at in range(4))
    drawn = pc.random(len(flat), initializer=seed)
    least = pc.multiply(pc.multiply(mean, drawn), 0.5)
    load = pc.if_else(chosen, pc.floor(least), pc.ceil(pc.multiply(mean, pc.add(0.5, drawn))))
    field = arrow_schema(DECISIONS).field("candidates").type.value_field
    values = pa.StructArray.from_arrays(
        [pc.dictionary_encode(egress), cost, pc.cast(load, pa.int32())], fields=list(field.type)
    )
    return pa.ListArray.from_arrays(lists.offsets, values, type=pa.list_(field))


def _named(words: list[str | None], index: pa.Array) -> pa.DictionaryArray:
    dictionary = list(dict.fromkeys(word for word in words if word is not None))
    codes = pa.array([None if word is None else dictionary.index(word) for word in words], pa.int32())
    return pa.DictionaryArray.from_arrays(pc.take(codes, index), pa.array(dictionary, pa.string()))


def _as_time(micros: Any) -> Any:
    return micros.cast(pa.timestamp("us", tz="UTC"))
