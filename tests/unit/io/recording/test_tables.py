"""What a recorder hands over, as Arrow reads it from files that were written without it."""

from datetime import UTC, datetime

import pytest

from routerd.core import CAUSE_WORDS, OUTCOME_WORDS, NetworkNews
from routerd.io.recording.groups import Events, Flows
from routerd.records import Cause, Outcome
from tests.routers import Workers, message, message_to
from tests.unit.core.joined_routers import Mesh
from tests.unit.core.recorder_rows import OFFSET, record, take
from tests.unit.io.recording.recording_tables import decision_table, table_of

ROWS_OF_EACH = 20
"""Enough for names to be looked up without a search for those that there are."""
START = datetime.fromtimestamp(OFFSET + 100, UTC)


def test_the_words_are_those_of_records() -> None:
    assert set(OUTCOME_WORDS) == {one.value for one in Outcome}
    assert set(CAUSE_WORDS[1:]) == {one.value for one in Cause}


def test_decisions_have_all_columns() -> None:
    mesh = Mesh("A", "B")
    mesh.join("A", "B", 3)
    router = mesh["B"].router
    record(router, every=1)
    client, other = mesh["A"].client(), mesh["B"].client()
    consumer = other.consumer("orders", "sink", credit=5)
    client.send(client.producer("orders", "source"), message())
    mesh.pump(0.5)
    other.latest(consumer).reject()
    mesh.pump()
    other.send(other.producer(None, "anonymous"), message_to("nowhere"), settled=True)
    [columns] = take(router).decisions
    table = decision_table(columns, "B", 7)
    first, second = table.to_pylist()
    assert first == {
        "time": START,
        "address": "orders",
        "distribution": "balanced",
        "phase": 0,
        "priority": 4,
        "size_octets": first["size_octets"],
        "ingress": "trunk/A",
        "ingress_kind": "trunk",
        "path": "A/B",
        "hop": 1,
        "candidates": [{"egress": "client-1/sink", "cost": 0, "outstanding": 0}],
        "choice": 0,
        "egress": "client-1/sink",
        "egress_kind": "client",
        "egress_router": "B",
        "outcome": "rejected",
        "cause": "consumer-decided",
        "latency_us": 500_000,
        "weight": 7,
        "message_key": None,
    }
    absent = ("choice", "egress", "egress_kind", "egress_router", "latency_us", "message_key")
    assert [second[name] for name in absent] == [None] * 6
    assert [second[name] for name in ("path", "hop", "candidates", "outcome", "cause")] == [
        *("B", 0, [], "dropped", "no-consumer"),
    ]


def test_what_all_decisions_have_and_what_none_has_are_columns_too() -> None:
    workers = Workers()
    router = workers[0].router
    record(router)
    client = workers.client()
    sinks = [client.consumer("orders", name, credit=50) for name in ("near", "far")]
    sender = client.producer("orders", "source")
    for _ in range(ROWS_OF_EACH):
        for sink in sinks:
            client.send(sender, message())
            workers.pump(0.001)
            client.latest(sink).accept()
            workers.pump(0.001)
    [columns] = take(router).decisions
    table = decision_table(columns, "R", 1)
    assert {name: table[name].null_count for name in ("cause", "message_key", "latency_us", "choice", "egress")} == {
        **{"cause": 2 * ROWS_OF_EACH, "message_key": 2 * ROWS_OF_EACH},
        **{"latency_us": 0, "choice": 0, "egress": 0},
    }
    assert table["egress"].to_pylist() == ["client-1/near", "client-1/far"] * ROWS_OF_EACH
    chosen = [row["candidates"][row["choice"]]["egress"] for row in table.select(["candidates", "choice"]).to_pylist()]
    assert chosen == table["egress"].to_pylist()
    assert set(table["path"].to_pylist()) == {"R"}


def test_sums_of_several_seconds_are_one_table() -> None:
    workers = Workers()
    router = workers[0].router
    recorder = record(router, every=0)
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=5)
    sender = client.producer("orders", "source")
    octets = message()
    client.send(sender, octets)
    recorder.tick(router.now, OFFSET, 1_000_000)
    client.latest(consumer).accept()
    workers.pump()
    recorder.tick(router.now, OFFSET, 2_000_000)
    table = table_of(Flows(recorder.take().flows))
    names = ("time", "address", "ingress", "origin", "egress", "egress_router", "messages", "octets", "accepted")
    ends = ("orders", "client-1/source", "R", "client-1/sink", "R")
    assert [tuple(row[name] for name in names) for row in table.to_pylist()] == [
        (datetime.fromtimestamp(1, UTC), *ends, 1, len(octets), 0),
        (datetime.fromtimestamp(2, UTC), *ends, 0, 0, 1),
    ]


def test_events_have_the_columns_that_they_need() -> None:
    workers = Workers()
    router = workers[0].router
    record(router)
    router.routes.apply_network(NetworkNews((1, 1), link_state={"B": 2, "C": 5}))
    client = workers.client()
    client.consumer("orders", "sink", credit=9)
    table = table_of(Events(take(router).events))
    rows = [{name: value for name, value in row.items() if value is not None} for row in table.to_pylist()]
    assert rows[:3] == [
        {"time": START, "kind": "trunk-up", "link": "trunk/B", "link_kind": "trunk", "peer": "B", "cost": 2},
        {"time": START, "kind": "trunk-up", "link": "trunk/C", "link_kind": "trunk", "peer": "C", "cost": 5},
        {"time": START, "kind": "link-state", "costs": [("B", 2), ("C", 5)]},
    ]


@pytest.mark.parametrize("make", [Flows, Events])
def test_a_file_without_rows_is_one_too(make) -> None:
    assert table_of(make([])).num_rows == 0
