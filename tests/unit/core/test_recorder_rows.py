"""Decisions whose columns are handed over before their outcome is known."""

import pytest

from routerd.core.recording.columns import CANDIDATES_MAX
from routerd.wire import Properties
from tests.routers import Workers, message
from tests.unit.core.recorder_rows import decision_rows, flow_rows, record, take


@pytest.fixture
def workers():
    workers = Workers()
    record(workers[0].router, rows=8)
    return workers


def rows(workers):
    return decision_rows(take(workers[0].router))


def test_an_outcome_that_comes_late_is_told_with_all_that_was_known(workers):
    client = workers.client()
    consumer, other = (client.consumer("orders", name, credit=9) for name in ("near", "far"))
    sender = client.producer("orders", "source")
    octets = message("x", properties=Properties(message_id="m1"))
    for _ in range(2):
        client.send(sender, octets)
    workers.pump(0.25)
    client.latest(consumer).accept()
    workers.pump()
    [soon] = rows(workers)
    assert rows(workers) == []
    workers.pump(3.0)
    client.latest(other).reject()
    workers.pump()
    [late] = rows(workers)
    expected = {"outcome": "rejected", "cause": "consumer-decided", "latency": 3.25}
    candidates = [("client-1/near", 0, 1), ("client-1/far", 0, 0)]
    assert late == soon | expected | {"egress": "client-1/far", "choice": 1, "candidates": candidates}


def test_it_may_come_after_any_number_of_others(workers):
    client = workers.client()
    slow, quick = (client.consumer(address, credit=99) for address in ("slow", "quick"))
    senders = {address: client.producer(address) for address in ("slow", "quick")}
    for _ in range(3):
        for _ in range(5):
            client.send(senders["slow"], message())
            client.send(senders["quick"], message())
            client.latest(quick).accept()
            workers.pump()
        assert {row["address"] for row in rows(workers)} == {"quick"}
    for delivery in client.unsettled[slow.name]:
        delivery.accept()
    workers.pump()
    taken = take(workers[0].router)
    assert [(row["address"], row["outcome"]) for row in decision_rows(taken)] == [("slow", "accepted")] * 15
    assert [(flow["address"], flow["accepted"]) for flow in flow_rows(taken)] == [("slow", 15)]


def test_a_set_of_which_nothing_is_known_is_used_again(workers):
    recorder = workers[0].router.journal.recorder
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=99)
    sender = client.producer("orders")
    client.send(sender, message())
    records = recorder.take()
    assert (records.decisions, records.rows, len(records.spare)) == ([], 2, 1)
    client.latest(consumer).accept()
    workers.pump()
    assert len(rows(workers)) == 1


def test_full_columns_wait_for_messages_under_way(workers):
    recorder = workers[0].router.journal.recorder
    client = workers.client()
    client.consumer("orders", "sink", credit=99)
    sender = client.producer("orders")
    for _ in range(8 * 3 + 1):
        client.send(sender, message(), settled=True)
    assert recorder.is_pressed
    assert [columns.rows for columns in recorder.take(False).decisions] == [8, 8]
    assert [columns.rows for columns in recorder.take(True).decisions] == [8, 1]


def test_what_is_counted_is_that_of_decisions_with_an_outcome(workers):
    recorder = workers[0].router.journal.recorder
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=99)
    sender = client.producer("orders")
    octets = message("x", properties=Properties(message_id="m1"))
    client.send(sender, octets)
    client.latest(consumer).accept()
    workers.pump()
    for _ in range(2):
        client.send(sender, octets)
    [columns] = recorder.take().decisions
    assert list(columns.open_rows) == [1, 2]
    assert (columns.rows, columns.settled) == (3, 1)
    assert (columns.keys, columns.choices, columns.latencies, columns.causes) == (1, 1, 1, 0)
    copy = columns.copy()
    assert (copy.rows, copy.cells, copy.settled, copy.choices) == (1, 1, 1, 1)


def test_a_message_that_goes_on_after_its_columns_has_its_size(workers):
    recorder = workers[0].router.journal.recorder
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=9)
    sender = client.producer("orders")
    octets = message("x" * 1000)
    delivery = client.stream(sender, octets[:400], ends=False)
    recorder.take()
    client.go_on(delivery, octets[400:], more=False)
    client.latest(consumer).accept()
    workers.pump()
    assert [row["size"] for row in rows(workers)] == [len(octets)]


def test_what_the_last_recorder_began_is_lost(workers):
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=9)
    sender = client.producer("orders")
    client.send(sender, message())
    recorder = record(workers[0].router)
    client.latest(consumer).accept()
    workers.pump()
    assert (recorder.lost_decisions, recorder.lost_flows) == (1, 1)
    assert rows(workers) == []


def test_outcomes_that_find_no_room_are_lost():
    workers = Workers()
    recorder = record(workers[0].router, rows=2, waiting_max=1)
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=9)
    sender = client.producer("orders")
    client.send(sender, message())
    recorder.take()
    for _ in range(4):
        client.send(sender, message(), settled=True)
    client.unsettled[consumer.name][0].accept()
    workers.pump()
    assert recorder.lost_decisions == 1
    assert len(rows(workers)) == 4


def test_of_too_many_candidates_the_chosen_one_is_there():
    workers = Workers()
    record(workers[0].router)
    client = workers.client()
    for number in range(CANDIDATES_MAX + 3):
        client.consumer("orders", f"c{number}", credit=2)
    sender = client.producer("orders")
    for _ in range(CANDIDATES_MAX + 3):
        client.send(sender, message(), settled=True)
    found = rows(workers)
    assert [len(row["candidates"]) for row in found] == [CANDIDATES_MAX] * (CANDIDATES_MAX + 3)
    assert all(row["candidates"][row["choice"]][0] == row["egress"] for row in found)
