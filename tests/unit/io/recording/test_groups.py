"""Decisions of all kinds, written in columns and read row by row: against what was put in, and against Arrow's own."""

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from routerd.core import CAUSE_WORDS, OUTCOME_WORDS, DecisionColumns, FlowNames, RecordedEvent, Register, Room
from routerd.core.recording.columns import private_memory
from routerd.io.recording.groups import Decisions, Events
from routerd.records import DECISIONS, Place, RecordFile
from routerd.records.file_format import GroupWriter
from tests.unit.io.recording.recording_tables import decision_table, table_of
from tests.unit.records.test_writing import decisions

HOUR_US = 3_600_000_000
NOON_US = int(datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()) * 1_000_000
CLIENTS = ("client", "client", "R")
FLOWS = [
    FlowNames("orders", 0, "balanced", "source", "client", "R", "sink-1", *CLIENTS[1:]),
    FlowNames("orders", 0, "balanced", "source", "client", "R", "sink-2", *CLIENTS[1:]),
    FlowNames("", 0, "", "source-2", "edge", "E", None, None, None),
    FlowNames("bühne", 1, "closest", "source", "client", "R", "trunk/B", "trunk", "B"),
]
PATHS = ["A/R", "B/R", "A/B/R"]
LINKS = ["sink-1", "sink-2", "trunk/B"]


class Made:
    """Decisions that chance has made, in columns and as rows."""

    def __init__(self, rows: int, drawn: random.Random, flows: int = len(FLOWS)) -> None:
        candidates = [drawn.choice((0, 1, 1, 4)) for _ in range(rows)]
        room = Room(rows, sum(candidates))
        self.columns = DecisionColumns(room, private_memory(room.octets))
        self.columns.register = register = Register()
        register.flows, register.paths, register.links = FLOWS[:flows], PATHS, LINKS
        self.rows = [self._row(at, candidates[at], drawn, flows) for at in range(rows)]

    def _row(self, at: int, candidates: int, drawn: random.Random, flows: int) -> dict[str, Any]:
        columns = self.columns
        time_us = columns.time_us[at] = NOON_US + drawn.choice((0, 17, 40_000, 5_000_000_000)) + at // 3
        latency = columns.latency_us[at] = drawn.choice((-1, 0, 300, drawn.getrandbits(45)))
        key = columns.key[at] = drawn.choice((0, drawn.getrandbits(63)))
        flow = columns.flow[at] = drawn.randrange(flows)
        path = columns.path[at] = drawn.randrange(-1, len(PATHS))
        size = columns.size[at] = drawn.choice((0, 100, drawn.getrandbits(31)))
        priority = columns.priority[at] = drawn.choice((4, 4, 9))
        hop = columns.hop[at] = drawn.choice((0, 1, 127))
        outcome = columns.outcome[at] = drawn.randrange(len(OUTCOME_WORDS))
        cause = columns.cause[at] = drawn.randrange(len(CAUSE_WORDS))
        choice = columns.choice[at] = drawn.randrange(candidates) if candidates else -1
        cells = [self._cell(drawn) for _ in range(candidates)]
        columns.last_cell[at + 1] = columns.cells
        columns.rows += 1
        columns.latencies += latency >= 0
        columns.keys += key != 0
        columns.choices += choice >= 0
        columns.causes += cause != 0
        names = FLOWS[flow]
        return {
            "time": datetime.fromtimestamp(time_us // 1_000_000, UTC).replace(microsecond=time_us % 1_000_000),
            **{name: getattr(names, name) for name in ("address", "distribution", "phase")},
            **{"priority": priority, "size_octets": size},
            **{name: getattr(names, name) for name in ("ingress", "ingress_kind")},
            **{"path": "R" if path < 0 else PATHS[path], "hop": hop, "candidates": cells},
            "choice": None if choice < 0 else choice,
            **{name: getattr(names, name) for name in ("egress", "egress_kind", "egress_router")},
            **{"outcome": OUTCOME_WORDS[outcome], "cause": CAUSE_WORDS[cause] or None},
            **{"latency_us": None if latency < 0 else latency, "weight": 100, "message_key": key or None},
        }

    def _cell(self, drawn: random.Random) -> dict[str, Any]:
        columns = self.columns
        at = columns.cells
        link = columns.cell_link[at] = drawn.randrange(len(LINKS))
        cost = columns.cell_cost[at] = drawn.choice((0, 0, 1, 2**31 - 1))
        outstanding = columns.cell_outstanding[at] = drawn.choice((0, 3, drawn.getrandbits(10), 2**31 - 1))
        columns.cells += 1
        return {"egress": LINKS[link], "cost": cost, "outstanding": outstanding}


@pytest.mark.parametrize("flows", [1, 2, len(FLOWS)])
@pytest.mark.parametrize("rows", [1, 2, 7, 8, 9, 32, 33, 128, 129, 130, 1000])
def test_every_row_is_read_as_it_was_written(rows: int, flows: int) -> None:
    made = Made(rows, random.Random(100 * rows + flows), flows)
    assert decision_table(made.columns, "R", 100).to_pylist() == made.rows


def test_the_least_time_and_the_greatest_are_told(tmp_path) -> None:
    made = Made(500, random.Random(5))
    times = [row["time"] for row in made.rows]
    assert pa.compute.min_max(decision_table(made.columns, "R", 1)["time"]).as_py() == {
        "min": min(times),
        "max": max(times),
    }
    assert Decisions(made.columns, "R", 1).first_us == min(made.columns.time_us)


def test_decisions_are_told_apart_by_their_hours() -> None:
    made = Made(300, random.Random(7))
    by_hour = Decisions(made.columns, "R", 100).by_hour(HOUR_US)
    assert list(by_hour) == sorted({row["time"].timestamp() // 3600 for row in made.rows}, key=list(by_hour).index)
    assert len(by_hour) == 2
    for hour, found in by_hour.items():
        expected = [row for row in made.rows if row["time"].timestamp() // 3600 == hour]
        assert table_of(found).to_pylist() == expected


def test_sets_of_one_register_are_joined() -> None:
    drawn = random.Random(11)
    first, second, other = (Made(rows, drawn) for rows in (40, 3, 50))
    second.columns.register = first.columns.register
    sets = [Decisions(made.columns, "R", 100) for made in (first, other, second)]
    joined = sets[0].joined(sets[1:])
    assert [table_of(one).to_pylist() for one in joined] == [first.rows + second.rows, other.rows]


def test_decisions_of_another_sampling_are_not_joined() -> None:
    made = Made(5, random.Random(3))
    groups = Decisions(made.columns, "R", 1).joined([Decisions(made.columns, "R", 100)])
    assert [table_of(one)["weight"].to_pylist() for one in groups] == [[1] * 5, [100] * 5]


def test_a_decision_of_a_busy_router_takes_at_most_24_octets(tmp_path: Path) -> None:
    rows = decisions(20_000).to_pylist()
    room = Room(len(rows), sum(len(row["candidates"]) for row in rows))
    columns = DecisionColumns(room, private_memory(room.octets))
    flows: dict[FlowNames, int] = {}
    links: dict[str, int] = {}
    for at, row in enumerate(rows):
        names = [row[name] for name in ("address", "phase", "distribution", "ingress", "ingress_kind")]
        flow = FlowNames(*names, "A", row["egress"], row["egress_kind"], row["egress_router"])
        columns.flow[at] = flows.setdefault(flow, len(flows))
        columns.time_us[at] = round(row["time"].timestamp() * 1e6)
        columns.path[at] = ["A", "B/A", "C/B/A"].index(row["path"]) - 1
        columns.size[at], columns.priority[at], columns.choice[at] = row["size_octets"], row["priority"], row["choice"]
        columns.latency_us[at], columns.key[at] = row["latency_us"], row["message_key"]
        columns.outcome[at] = OUTCOME_WORDS.index(row["outcome"])
        for candidate in row["candidates"]:
            columns.cell_link[columns.cells] = links.setdefault(candidate["egress"], len(links))
            columns.cell_outstanding[columns.cells] = candidate["outstanding"]
            columns.cells += 1
        columns.last_cell[at + 1] = columns.cells
    columns.register.flows, columns.register.links, columns.register.paths = [*flows], [*links], ["B/A", "C/B/A"]
    columns.rows = columns.latencies = columns.keys = columns.choices = len(rows)
    written = Decisions(columns, "A", 100)
    assert table_of(written).to_pylist() == rows
    file = RecordFile(Place.at("decisions", NOON_US, "A"), NOON_US, "w0.1", 1, 1)
    writer = GroupWriter(tmp_path, DECISIONS, file)
    writer.write(written.pages(), len(rows))
    writer.complete()
    assert (tmp_path / file.path).stat().st_size <= 24 * len(rows)


def test_costs_may_be_missing_empty_or_many() -> None:
    costs = [None, {"B": 1}, {}, {f"R{number}": number for number in range(40)}, None, {"C": 2**31 - 1}]
    events = [RecordedEvent(NOON_US + at, "link-state", costs=one) for at, one in enumerate(costs)]
    found = [row["costs"] for row in table_of(Events(events)).to_pylist()]
    assert found == [None if one is None else list(one.items()) for one in costs]


def test_no_event_needs_to_have_costs() -> None:
    events = [RecordedEvent(NOON_US, "rows-lost", number=7, detail="a\nb"), RecordedEvent(NOON_US, "rows-lost")]
    rows = table_of(Events(events)).to_pylist()
    assert [(row["costs"], row["number"], row["detail"]) for row in rows] == [(None, 7, "a\nb"), (None, None, None)]


def test_a_text_that_cannot_be_written_is_written_as_well_as_it_can() -> None:
    [row] = table_of(Events([RecordedEvent(NOON_US, "rows-lost", detail="\udce4b")])).to_pylist()
    assert row["detail"] == "?b"
