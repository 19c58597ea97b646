"""Makes up the events of one router in one hour."""

from typing import Any

import pyarrow as pa

from analytics.synthesize.plan import HOUR_S, Plan
from routerd.records import EVENTS
from routerd.records.parquet import arrow_schema

_STALLS_AN_HOUR = 12
_STALL_US = 900_000


def events_at(plan: Plan, hour: int, router: str) -> pa.Table:
    """Return the events that a router records in an hour, in the order of time."""
    rows = [*_standing(plan, hour, router), *_flaps(plan, hour, router), *_stalls(plan, hour, router)]
    skew_us = int(plan.planted.clock[1] * 1_000_000) if router == plan.planted.clock[0] else 0
    for row in rows:
        # Never before the hour: the first row says where the file belongs.
        row["time"] = row["time"] + skew_us
    schema = arrow_schema(EVENTS)
    rows.sort(key=lambda row: (row["time"], row["kind"]))
    columns = [[row.get(field.name) for row in rows] for field in schema]
    return pa.table([pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)], schema)


def _standing(plan: Plan, hour: int, router: str) -> list[dict[str, Any]]:
    at = hour * 1_000_000
    rows: list[dict[str, Any]] = [{"time": at, "kind": "link-state", "costs": plan.network.states[router]}]
    for address in plan.made_addresses:
        own = [one for one in address.consumers if one.router == router]
        rows += [
            {
                "time": at + 1,
                "kind": "link-attached",
                "address": address.name,
                "link": one.link,
                "link_kind": "client",
                "peer": f"container-{one.link}",
                "credit": one.credit,
            }
            for one in own
        ]
    return rows


def _flaps(plan: Plan, hour: int, router: str) -> list[dict[str, Any]]:
    ends = plan.planted.flapping
    if router not in ends:
        return []
    peer = ends[1] if router == ends[0] else ends[0]
    rows: list[dict[str, Any]] = []
    for begin, end in plan.lost_times(hour):
        trunk = {"peer": peer, "link": f"trunk/{peer}", "link_kind": "trunk"}
        rows.append({"time": begin * 1_000_000, "kind": "trunk-lost", **trunk})
        rows.append({"time": begin * 1_000_000, "kind": "link-state", "costs": plan.broken_network.states[router]})
        rows.append({"time": end * 1_000_000, "kind": "trunk-up", "cost": plan.network.states[router][peer], **trunk})
        rows.append({"time": end * 1_000_000, "kind": "link-state", "costs": plan.network.states[router]})
    return rows


def _stalls(plan: Plan, hour: int, router: str) -> list[dict[str, Any]]:
    address, link = plan.planted.slow_consumer
    consumers = next(one.consumers for one in plan.made_addresses if one.name == address)
    if not any(one.link == link and one.router == router for one in consumers):
        return []
    step = HOUR_S // (_STALLS_AN_HOUR + 1)
    return [
        {
            "time": (hour + step * n) * 1_000_000,
            "kind": "credit-stall",
            "address": address,
            "link": link,
            "link_kind": "client",
            "peer": f"container-{link}",
            "duration_us": _STALL_US + 10_000 * n,
        }
        for n in range(1, _STALLS_AN_HOUR + 1)
    ]
