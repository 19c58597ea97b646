"""Rows of all three tables, drawn at random from one seed, and written as routers write them."""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from routerd.records import DECISIONS, EVENTS, FLOWS, Place, RecordFile, Table
from routerd.records.parquet import arrow_schema, write_record_file

BEGIN_US = 1_795_269_600_000_000
SECOND_US = 1_000_000
SPAN_S = 7_200
ROUTERS = ("A", "B", "C", "D")
COSTS = {("A", "B"): 1, ("B", "C"): 1, ("C", "D"): 2, ("A", "D"): 10}
ADDRESSES = ("orders.new", "orders/old", "rpc", "telemetry.1")
CLOCK_AHEAD_US = 3 * SECOND_US


@dataclass
class World:
    """Rows by table; each has its router as well."""

    directory: Path
    flows: list[dict[str, Any]] = field(default_factory=list)
    decisions: list[dict[str, Any]] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)


def made_world(directory: Path, seed: int = 3, messages: int = 600) -> World:
    """Draw rows and write them; the clock of D is ahead."""
    drawn = random.Random(seed)
    world = World(directory)
    for _ in range(messages):
        _message(world, drawn)
    world.events += _events(drawn)
    for table, rows in ((FLOWS, world.flows), (DECISIONS, world.decisions), (EVENTS, world.events)):
        write_rows(directory, table, rows)
    return world


PATHS = ("A", "A/B", "A/B/C", "A/D", "B/A", "B/C", "B/C/D", "C/B/A", "C/D", "D/C/B", "D/C", "D")


def _message(world: World, drawn: random.Random) -> None:
    path = drawn.choice(PATHS).split("/")
    address = drawn.choice(ADDRESSES)
    at = BEGIN_US + drawn.randrange(SPAN_S * SECOND_US)
    outcome, cause = drawn.choice(
        [("accepted", None)] * 8 + [("rejected", "consumer-decided"), ("released", "no-route")]
    )
    consumer = f"{address}/worker-{drawn.randrange(2)}-{path[-1]}"
    latency = drawn.randrange(300, 4000) * (40 if consumer == "rpc/worker-1-A" else 1)
    key = drawn.getrandbits(64) - 2**63
    weight = drawn.choice([1, 10])
    size = drawn.randrange(50, 5000)
    for hop, router in enumerate(path):
        is_last = hop == len(path) - 1
        skew = CLOCK_AHEAD_US if router == "D" else 0
        row = {
            "router": router,
            "time": at + hop * 200 + skew,
            "address": address,
            "distribution": "closest" if address == "rpc" else "balanced",
            "phase": 0,
            "priority": drawn.randrange(10),
            "size_octets": size,
            "ingress": f"trunk/{path[hop - 1]}" if hop else f"{address}/sender-{router}",
            "ingress_kind": "trunk" if hop else "client",
            "path": "/".join(path[: hop + 1]),
            "hop": hop,
            "egress": consumer if is_last else f"trunk/{path[hop + 1]}",
            "egress_kind": "client" if is_last else "trunk",
            "egress_router": router if is_last else path[hop + 1],
            "outcome": outcome,
            "cause": cause if is_last else None,
            "latency_us": latency + (len(path) - 1 - hop) * 500,
            "weight": weight,
            "message_key": key,
        }
        chosen = {"egress": row["egress"], "cost": 0 if is_last else 3, "outstanding": drawn.randrange(5)}
        other = {"egress": "another", "cost": 7, "outstanding": drawn.randrange(9)}
        row["candidates"] = [chosen, other]
        row["choice"] = 0
        world.decisions.append(row)
        _count(world, row, path[0], size, weight)


def _count(world: World, row: dict[str, Any], origin: str, size: int, weight: int) -> None:
    names = ("address", "distribution", "ingress", "ingress_kind", "egress", "egress_kind", "egress_router", "router")
    flow = {name: row[name] for name in names}
    flow |= {
        "time": row["time"] // SECOND_US * SECOND_US,
        "origin": origin,
        "messages": weight,
        "octets": size * weight,
    }
    outcomes = ("accepted", "rejected", "released", "modified", "presettled", "dropped")
    flow |= {name: weight if name == row["outcome"] else 0 for name in outcomes}
    world.flows.append(flow)


def costs_of(router: str) -> dict[str, int]:
    """Return what a router advertises."""
    found = {}
    for (one, other), cost in COSTS.items():
        if router in (one, other):
            found[other if router == one else one] = cost
    return found


def _events(drawn: random.Random) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for router in ROUTERS:
        rows.append({"router": router, "time": BEGIN_US, "kind": "link-state", "costs": costs_of(router)})
    for address in ADDRESSES:
        for router in ROUTERS:
            for n in range(2):
                link = {"address": address, "link": f"{address}/worker-{n}-{router}", "link_kind": "client"}
                attached = {"kind": "link-attached", "peer": f"box-{n}", "credit": 10 * (n + 1)}
                rows.append({"router": router, "time": BEGIN_US + 1, **link, **attached})
    for _ in range(40):
        router = drawn.choice(ROUTERS)
        at = BEGIN_US + drawn.randrange(SPAN_S * SECOND_US)
        kind = drawn.choice(
            ["credit-stall", "trunk-lost", "trunk-up", "route-changed", "address-removed", "link-detached"]
        )
        peer = drawn.choice(sorted(costs_of(router)))
        row = {"router": router, "time": at, "kind": kind, "peer": peer, "link": f"trunk/{peer}", "link_kind": "trunk"}
        if kind == "credit-stall":
            row["duration_us"] = drawn.randrange(10_000, 5_000_000)
        if kind == "address-removed":
            row["address"] = drawn.choice(ADDRESSES)
        rows.append(row)
    return rows


def write_rows(
    directory: Path, table: Table, rows: Iterable[dict[str, Any]], *, writer: str = "w0.1", version: int | None = None
) -> list[Path]:
    """Write rows in the files that they belong in."""
    places: dict[Place, list[dict[str, Any]]] = {}
    for row in rows:
        places.setdefault(Place.at(table.name, row["time"], row["router"]), []).append(row)
    written = []
    for place, some in places.items():
        ordered = sorted(some, key=lambda row: row["time"])
        file = RecordFile(place, ordered[0]["time"], writer, 1, table.version if version is None else version)
        written.append(write_record_file(directory, table, file, arrow_table(table, ordered)))
    return written


def arrow_table(table: Table, rows: list[dict[str, Any]]) -> pa.Table:
    """Return rows as Arrow has them; lists of dictionaries are made of plain text first."""
    schema = arrow_schema(table)
    columns = []
    for one in schema:
        values = [row.get(one.name) for row in rows]
        if pa.types.is_map(one.type):
            values = [None if value is None else list(value.items()) for value in values]
        columns.append(pa.array(values, _plain(one.type)).cast(one.type))
    return pa.table(columns, schema)


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_list(kind):
        return pa.list_(pa.struct([(one.name, _plain(one.type)) for one in kind.value_type]))
    return kind
