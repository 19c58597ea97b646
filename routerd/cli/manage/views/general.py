"""The router as a whole: -g, and its memory: -m."""

from dataclasses import replace
from typing import Any

from routerd.cli.manage.figures import duration, grouped, octets, plain
from routerd.cli.manage.node import PREFIX, Entity, Node
from routerd.cli.manage.table import (
    COUNTER,
    NUMBER,
    TEXT,
    Block,
    Column,
    Kind,
    Line,
    Message,
    Record,
    Show,
    of,
    tabulate,
)
from routerd.cli.manage.views.view import Ask

ROUTER = PREFIX + "router"
ALLOCATOR = PREFIX + "allocator"

_LINES: tuple[tuple[str, str, Kind, Show], ...] = (
    ("Version", "version", TEXT, plain),
    ("Mode", "mode", TEXT, plain),
    ("Router Id", "id", TEXT, plain),
    ("Worker Threads", "workerThreads", NUMBER, plain),
    ("Uptime", "uptimeSeconds", NUMBER, duration),
    ("Memory Usage", "memoryUsage", NUMBER, octets),
    ("Area", "area", TEXT, plain),
    ("Link Routes", "linkRouteCount", NUMBER, plain),
    ("Auto Links", "autoLinkCount", NUMBER, plain),
    ("Links", "linkCount", NUMBER, plain),
    ("Nodes", "nodeCount", NUMBER, plain),
    ("Addresses", "addrCount", NUMBER, plain),
    ("Connections", "connectionCount", NUMBER, plain),
    ("Presettled Count", "presettledDeliveries", COUNTER, plain),
    ("Dropped Presettled Count", "droppedPresettledDeliveries", COUNTER, plain),
    ("Accepted Count", "acceptedDeliveries", COUNTER, plain),
    ("Rejected Count", "rejectedDeliveries", COUNTER, plain),
    ("Released Count", "releasedDeliveries", COUNTER, plain),
    ("Modified Count", "modifiedDeliveries", COUNTER, plain),
    ("Deliveries Delayed > 1sec", "deliveriesDelayed1Sec", COUNTER, plain),
    ("Deliveries Delayed > 10sec", "deliveriesDelayed10Sec", COUNTER, plain),
    ("Deliveries Stuck > 10sec", "deliveriesStuck", NUMBER, plain),
    ("Deliveries to Fallback", "deliveriesRedirectedToFallback", COUNTER, plain),
    ("Links Blocked", "linksBlocked", NUMBER, plain),
    ("Ingress Count", "deliveriesIngress", COUNTER, plain),
    ("Egress Count", "deliveriesEgress", COUNTER, plain),
    ("Transit Count", "deliveriesTransit", COUNTER, plain),
    ("Deliveries from Route Container", "deliveriesIngressRouteContainer", COUNTER, plain),
    ("Deliveries to Route Container", "deliveriesEgressRouteContainer", COUNTER, plain),
)
_TROUBLES = frozenset({"droppedPresettledDeliveries", "rejectedDeliveries", "deliveriesStuck", "linksBlocked"})

POOL_COLUMNS: tuple[Column, ...] = (
    Column("type", lambda pool: str(pool.get("identity")).partition("/")[2] or pool.get("identity"), ("identity",)),
    of("typeSize", "size", NUMBER, grouped),
    of("transferBatchSize", "batch", NUMBER),
    of("localFreeListMax", "thread-max", NUMBER, grouped),
    of("totalAllocFromHeap", "total", NUMBER, grouped),
    of("heldByThreads", "in-threads", NUMBER, grouped),
    of("batchesRebalancedToThreads", "rebal-in", COUNTER, grouped),
    of("batchesRebalancedToGlobal", "rebal-out", COUNTER, grouped),
)
_POOL_ATTRIBUTES = tuple(column.needs[0] for column in POOL_COLUMNS)
OBJECT_COLUMNS: tuple[Column, ...] = (
    *POOL_COLUMNS[:2],
    of("heldByThreads", "count", NUMBER, grouped),
    Column("octets", lambda pool: pool["heldByThreads"] * (pool.get("typeSize") or 0), ("typeSize",), NUMBER, octets),
)
"""Of a router without pools: how many objects of a kind are in use."""
MEMORY_COLUMNS = (*POOL_COLUMNS, *OBJECT_COLUMNS[2:])
_NO_POOLS = "this router keeps no pools: these are the objects that it has most of, each without what it refers to"


def general_record(router: Entity) -> Record:
    """Return the figures of a router."""
    return Record(
        title="Router Statistics",
        lines=tuple(
            Line(label, router[name], kind, show, name in _TROUBLES)
            for label, name, kind, show in _LINES
            if name in router and not (name == "memoryUsage" and router[name] is None)
        ),
    )


def memory_blocks(pools: list[Entity], router: Entity) -> list[Block]:
    """Return the pools of a router, and the sum of their sizes; of one without pools, the objects in use."""
    if not pools or any(pool.get("totalAllocFromHeap") is None for pool in pools):
        return [Message(("No memory statistics available",), "Memory Pools")]
    pools = sorted(pools, key=lambda pool: str(pool.get("identity")))
    pooled = sum(pool["totalAllocFromHeap"] * (pool.get("typeSize") or 0) for pool in pools)
    summary: dict[str, Any] = {"memoryUsage": router.get("memoryUsage"), "pooled": pooled}
    has_pools = any(pool.get("localFreeListMax") for pool in pools)
    title = "Pooled" if has_pools else "In These Objects"
    columns = (of("memoryUsage", "Memory Usage", NUMBER, octets), of("pooled", title, NUMBER, octets))
    if not has_pools:
        return [
            replace(tabulate("Objects", OBJECT_COLUMNS, pools), note=_NO_POOLS),
            tabulate("Memory Summary", columns, [summary]),
        ]
    return [
        tabulate("Memory Pools", POOL_COLUMNS, pools),
        tabulate("Memory Summary", columns, [summary]),
    ]


def fetch_general(node: Node, ask: Ask) -> list[Block]:
    """Return what -g shows."""
    return [general_record(router) for router in node.query(ROUTER)[:1]]


def fetch_memory(node: Node, ask: Ask) -> list[Block]:
    """Return what -m shows."""
    pools = node.query(ALLOCATOR, _POOL_ATTRIBUTES, ask.limit)
    return memory_blocks(pools, next(iter(node.query(ROUTER, ("memoryUsage",))), {}))
