"""What a recorder hands over, as rows: a dict each, without the columns that do not hold anything."""

from typing import Any

from routerd.core import CAUSE_WORDS, COUNTERS_OF_FLOW, OUTCOME_WORDS, Recorder, Records, Router

OFFSET = 1_795_270_000.0
"""What makes seconds since 1970 of the clock of a test."""


def record(router: Router, every: int = 1, **options: Any) -> Recorder:
    """Have a router record."""
    router.journal.recorder = Recorder(router.router_id, every, OFFSET, **options)
    return router.journal.recorder


def take(router: Router, second_us: int = 0) -> Records:
    """Close a second, and take all that has been recorded."""
    recorder = router.journal.recorder
    recorder.events.tick(router.now, router.peers.values(), router.directory.network)
    recorder.tick(router.now, OFFSET, second_us)
    return recorder.take()


def decision_rows(records: Records) -> list[dict[str, Any]]:
    """The decisions."""
    return [row for columns in records.decisions for row in _decisions(columns)]


def _decisions(columns: Any) -> list[dict[str, Any]]:
    rows = []
    first = 0
    for at in range(columns.rows):
        flow = columns.register.flows[columns.flow[at]]
        last = columns.last_cell[at + 1]
        if at in columns.open_rows:
            first = last
            continue
        latency = columns.latency_us[at] / 1e6
        row = {
            "at": round(columns.time_us[at] / 1e6 - OFFSET, 3),
            "address": flow.address,
            "phase": flow.phase,
            "distribution": flow.distribution,
            "ingress": flow.ingress,
            "ingress_kind": flow.ingress_kind,
            "path": columns.register.paths[columns.path[at]] if columns.path[at] >= 0 else None,
            "hop": columns.hop[at],
            "candidates": [
                (columns.register.links[columns.cell_link[i]], columns.cell_cost[i], columns.cell_outstanding[i])
                for i in range(first, last)
            ],
            "choice": columns.choice[at] if columns.choice[at] >= 0 else None,
            "egress": flow.egress,
            "egress_kind": flow.egress_kind,
            "egress_router": flow.egress_router,
            "outcome": OUTCOME_WORDS[columns.outcome[at]],
            "cause": CAUSE_WORDS[columns.cause[at]] or None,
            "latency": round(latency, 3) if latency >= 0 else None,
            "priority": columns.priority[at],
            "size": columns.size[at],
            "key": columns.key[at] or None,
        }
        first = last
        rows.append(row)
    return rows


def flow_rows(records: Records) -> list[dict[str, Any]]:
    """The sums of flows, without those that are 0."""
    rows = []
    for second in records.flows:
        for number, index in enumerate(second.numbers):
            flow = second.register.flows[index]
            counters = second.counters[8 * number : 8 * number + 8]
            sums = {name: count for name, count in zip(COUNTERS_OF_FLOW, counters, strict=True) if count}
            ends = {"address": flow.address, "ingress": flow.ingress, "origin": flow.origin, "egress": flow.egress}
            rows.append(ends | sums)
    return rows


def event_rows(records: Records) -> list[dict[str, Any]]:
    """The events."""
    return [
        {name: value for name, value in event._asdict().items() if value is not None and name != "time_us"}
        for event in records.events
    ]
