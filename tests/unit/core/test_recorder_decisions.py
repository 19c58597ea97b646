"""Decisions as they are recorded: what could have been chosen, what was, and what became of the message."""

import pytest

from routerd.core import Recorder
from routerd.records import message_key
from routerd.wire import Header, Properties, Rejected, Symbol
from tests.routers import Workers, message, message_to
from tests.unit.core.recorder_rows import decision_rows, flow_rows, record, take


@pytest.fixture
def workers():
    workers = Workers()
    record(workers[0].router)
    return workers


def rows(workers, worker=0):
    return decision_rows(take(workers[worker].router))


def row_of(row, *names):
    return {name: row[name] for name in names}


def what_became(found):
    return [(row["egress"], row["outcome"], row["cause"]) for row in found]


def test_a_decision_says_what_was_known_and_what_became_of_the_message(workers):
    client = workers.client()
    client.consumer("orders", "near", credit=5)
    other = client.consumer("orders", "far", credit=5)
    sender = client.producer("orders", "source")
    octets = message("hello", header=Header(priority=7), properties=Properties(message_id="m1"))
    client.send(sender, octets)
    client.send(sender, octets)
    workers.pump(0.25)
    client.latest(other).accept()
    workers.pump()
    [row] = rows(workers)
    assert row == {
        "at": 100.0,
        "address": "orders",
        "phase": 0,
        "distribution": "balanced",
        "ingress": "client-1/source",
        "ingress_kind": "client",
        "path": None,
        "hop": 0,
        "candidates": [("client-1/near", 0, 1), ("client-1/far", 0, 0)],
        "choice": 1,
        "egress": "client-1/far",
        "egress_kind": "client",
        "egress_router": "R",
        "outcome": "accepted",
        "cause": None,
        "latency": 0.25,
        "priority": 7,
        "size": len(octets),
        "key": row["key"],
    }
    assert row["key"] is not None


@pytest.mark.parametrize(
    ("sections", "identifier"),
    [
        ({"properties": Properties(message_id="m1")}, "m1"),
        ({"header": Header(durable=True), "properties": Properties(message_id="m1")}, "m1"),
        ({"message_annotations": {Symbol("x"): "a" * 300}, "properties": Properties(message_id="m1")}, "m1"),
        ({"properties": Properties(subject="s")}, None),
        ({"header": Header(), "application_properties": {"a": 1}}, None),
        ({}, None),
    ],
)
def test_a_decision_has_the_message_id_wherever_it_stands(workers, sections, identifier):
    client = workers.client()
    client.consumer("orders", "sink", credit=5)
    client.send(client.producer("orders", "source"), message("hello", **sections), settled=True)
    [row] = rows(workers)
    assert row["key"] == (None if identifier is None else message_key(identifier.encode()))


@pytest.mark.parametrize(
    ("decide", "outcome", "cause"),
    [
        (lambda delivery: delivery.accept(), "accepted", None),
        (lambda delivery: delivery.release(), "released", "consumer-decided"),
        (lambda delivery: delivery.reject(), "rejected", "consumer-decided"),
        (lambda delivery: delivery.modify(delivery_failed=True), "modified", "consumer-decided"),
        (lambda delivery: delivery.update(None, True), "released", "consumer-decided"),
    ],
)
def test_the_outcome_is_that_of_the_consumer(workers, decide, outcome, cause):
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=5)
    client.send(client.producer("orders"), message())
    decide(client.latest(consumer))
    workers.pump()
    assert what_became(rows(workers)) == [("client-1/sink", outcome, cause)]


def test_a_settled_message_is_done_when_it_has_left(workers):
    client = workers.client()
    client.consumer("orders", "sink", credit=5)
    client.send(client.producer("orders"), message(), settled=True)
    [row] = rows(workers)
    assert row_of(row, "egress", "outcome", "latency") == {
        "egress": "client-1/sink",
        "outcome": "presettled",
        "latency": None,
    }


def test_a_consumer_that_wants_settled_deliveries_accepts_them_all(workers):
    client = workers.client()
    client.consumer("orders", "sink", credit=5, snd_settle_mode=1)
    client.send(client.producer("orders"), message())
    [row] = rows(workers)
    assert row_of(row, "outcome", "latency") == {"outcome": "accepted", "latency": 0.0}


def test_a_producer_that_settles_first_does_not_wait_for_the_outcome(workers):
    client = workers.client()
    client.consumer("orders", "sink", credit=5)
    delivery = client.send(client.producer("orders"), message())
    delivery.update(None, True)
    workers.pump()
    assert what_became(rows(workers)) == [("client-1/sink", "presettled", None)]


def test_a_consumer_that_vanishes_may_have_seen_the_message(workers):
    client, other = workers.client(), workers.client()
    other.consumer("orders", "sink", credit=5)
    client.send(client.producer("orders"), message())
    other.vanish()
    assert what_became(rows(workers)) == [("client-2/sink", "modified", "consumer-lost")]


def test_the_outcome_is_known_when_the_producer_is_gone(workers):
    client, other = workers.client(), workers.client()
    consumer = other.consumer("orders", "sink", credit=5)
    client.send(client.producer("orders"), message())
    client.vanish()
    other.latest(consumer).accept()
    workers.pump()
    assert what_became(rows(workers)) == [("client-2/sink", "accepted", None)]


def test_a_message_that_waited_is_decided_when_it_leaves(workers):
    client = workers.client()
    consumer = client.consumer("orders", "sink")
    client.send(client.producer("orders"), message())
    workers.pump(2.0)
    consumer.grant(1)
    workers.pump()
    client.latest(consumer).accept()
    workers.pump()
    [row] = rows(workers)
    assert row_of(row, "at", "candidates", "choice", "latency", "outcome") == {
        "at": 100.0,
        "candidates": [("client-1/sink", 0, 0)],
        "choice": 0,
        "latency": 2.0,
        "outcome": "accepted",
    }


@pytest.mark.parametrize(("settled", "outcome"), [(False, "released"), (True, "dropped")])
def test_what_waits_when_the_last_consumer_leaves_goes_nowhere(workers, settled, outcome):
    client = workers.client()
    consumer = client.consumer("orders", "sink")
    client.send(client.producer("orders"), message(), settled=settled)
    client.detach(consumer)
    [row] = rows(workers)
    assert row_of(row, "address", "candidates", "choice", "egress", "outcome", "cause") == {
        "address": "orders",
        "candidates": [],
        "choice": None,
        "egress": None,
        "outcome": outcome,
        "cause": "no-consumer",
    }


def test_what_waits_when_its_producer_leaves_is_forgotten_where_that_is_configured():
    workers = Workers(forgets_of_lost_producers=True)
    record(workers[0].router)
    client, other = workers.client(), workers.client()
    other.consumer("orders", "sink")
    client.send(client.producer("orders"), message())
    client.vanish()
    assert what_became(rows(workers)) == [(None, "released", None)]


@pytest.mark.parametrize(("settled", "outcome"), [(False, "released"), (True, "dropped")])
def test_a_message_for_an_address_that_nobody_has_says_so(workers, settled, outcome):
    client = workers.client()
    sender = client.producer(None, "source")
    octets = message_to("nowhere", "hello")
    client.send(sender, octets, settled=settled)
    [row] = rows(workers)
    assert row_of(row, "address", "distribution", "ingress", "egress", "outcome", "cause", "size") == {
        "address": "nowhere",
        "distribution": "",
        "ingress": "client-1/source",
        "egress": None,
        "outcome": outcome,
        "cause": "no-consumer",
        "size": len(octets),
    }


def test_messages_that_do_not_say_where_they_go_are_recorded_as_rejected(workers):
    client = workers.client()
    sender = client.producer(None)
    client.send(sender, message())
    client.send(sender, message_to("unavailable/x"))
    client.send(sender, b"\x00\x53\x73\x45\xff")
    assert [(row["address"], row["outcome"]) for row in rows(workers)] == [
        ("", "rejected"),
        ("unavailable/x", "rejected"),
        ("", "rejected"),
    ]


def test_an_anonymous_producer_has_a_flow_for_each_address(workers):
    client = workers.client()
    client.consumer("one", "c1", credit=9)
    client.consumer("two", "c2", credit=9)
    sender = client.producer(None, "source")
    for address in ("one", "two", "one", "two", "two"):
        client.send(sender, message_to(address), settled=True)
    found = flow_rows(take(workers[0].router))
    assert [(row["address"], row["egress"], row["messages"], row["presettled"]) for row in found] == [
        ("one", "client-1/c1", 2, 2),
        ("two", "client-1/c2", 3, 3),
    ]


def test_a_message_larger_than_its_consumer_takes_is_rejected(workers):
    client = workers.client()
    client.consumer("orders", credit=5, max_message_size=100)
    sender = client.producer("orders")
    client.send(sender, message("x" * 200))
    client.stream(sender, message(b"y" * 50)[:60], b"z" * 100)
    assert what_became(rows(workers)) == [
        (None, "rejected", "too-large"),
        ("client-1/consumer-1", "rejected", "too-large"),
    ]


def test_a_streamed_message_counts_with_all_its_octets(workers):
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=5)
    sender = client.producer("orders", "source")
    octets = message(b"x" * 1000)
    client.stream(sender, octets[:300], octets[300:700], octets[700:])
    client.latest(consumer).accept()
    workers.pump()
    records = take(workers[0].router)
    [row] = decision_rows(records)
    assert row_of(row, "size", "outcome") == {"size": len(octets), "outcome": "accepted"}
    ends = {"address": "orders", "ingress": "client-1/source", "origin": "R", "egress": "client-1/sink"}
    assert flow_rows(records) == [ends | {"messages": 1, "octets": len(octets), "accepted": 1}]


def test_a_message_that_is_aborted_was_not_delivered(workers):
    client = workers.client()
    client.consumer("orders", "sink", credit=5)
    sender = client.producer("orders")
    octets = message(b"x" * 100)
    for settled in (False, True):
        delivery = client.stream(sender, octets[:50], ends=False, settled=settled)
        sender.abort(delivery)
        workers.pump()
    client.stream(sender, octets[:50], ends=False)
    client.detach(sender)
    assert what_became(rows(workers)) == [
        ("client-1/sink", "modified", None),
        ("client-1/sink", "dropped", None),
        ("client-1/sink", "modified", None),
    ]


def test_a_settled_message_whose_consumer_leaves_in_the_middle_is_dropped(workers):
    client, other = workers.client(), workers.client()
    other.consumer("orders", "sink", credit=5)
    sender = client.producer("orders")
    octets = message(b"x" * 100)
    delivery = client.stream(sender, octets[:50], ends=False, settled=True)
    other.vanish()
    client.go_on(delivery, octets[50:], more=False)
    assert what_became(rows(workers)) == [("client-2/sink", "dropped", "consumer-lost")]


# --- several copies


def test_each_copy_of_a_multicast_message_has_a_row(workers):
    client = workers.client()
    first = client.consumer("multicast/a", "first", credit=5)
    second = client.consumer("multicast/a", "second", credit=5)
    sender = client.producer("multicast/a", "source")
    client.send(sender, message())
    client.latest(first).accept()
    client.latest(second).release()
    workers.pump()
    client.send(sender, message(), settled=True)
    records = take(workers[0].router)
    assert [(row["candidates"], row["choice"], row["outcome"]) for row in decision_rows(records)] == [
        ([("client-1/first", 0, 0)], 0, "accepted"),
        ([("client-1/second", 0, 0)], 0, "released"),
        ([("client-1/first", 0, 0)], 0, "presettled"),
        ([("client-1/second", 0, 0)], 0, "presettled"),
    ]
    assert [(row["egress"], row["messages"]) for row in flow_rows(records)] == [
        ("client-1/first", 2),
        ("client-1/second", 2),
    ]


def test_copies_that_are_not_sent_have_rows_of_their_own(workers):
    client, other = workers.client(peer={"capacity": 1}), workers.client()
    client.consumer("multicast/a", "slow")
    client.consumer("multicast/a", "narrow", credit=9, max_message_size=10)
    other.consumer("multicast/a", "lost")
    sender = other.producer("multicast/a")
    for _ in range(2):
        other.send(sender, message("a text that is too long"), settled=True)
    other.vanish()
    assert sorted((str(row["egress"]), row["outcome"], str(row["cause"])) for row in rows(workers)) == [
        ("None", "dropped", "consumer-lost"),
        ("None", "dropped", "consumer-lost"),
        ("None", "dropped", "too-large"),
        ("None", "dropped", "too-large"),
        ("None", "dropped", "too-many-wait"),
    ]


def test_a_multicast_message_that_nobody_gets_is_released(workers):
    client = workers.client()
    sender = client.producer(None)
    client.producer("multicast/a")
    client.send(sender, message_to("multicast/a"))
    assert what_became(rows(workers)) == [(None, "released", "no-consumer")]


def test_streamed_copies_end_as_their_consumers_do(workers):
    client, other = workers.client(), workers.client()
    client.consumer("multicast/a", "whole", credit=5)
    client.consumer("multicast/a", "narrow", credit=5, max_message_size=60)
    client.consumer("multicast/a", "settled", credit=5, snd_settle_mode=1)
    other.consumer("multicast/a", "lost", credit=5)
    sender = client.producer("multicast/a")
    octets = message(b"x" * 100)
    delivery = client.stream(sender, octets[:50], ends=False, settled=True)
    other.vanish()
    client.go_on(delivery, octets[50:], more=False)
    records = take(workers[0].router)
    assert sorted(what_became(decision_rows(records))) == sorted(
        [
            ("client-1/narrow", "dropped", "too-large"),
            ("client-1/settled", "presettled", None),
            ("client-1/whole", "presettled", None),
            ("client-2/lost", "dropped", "consumer-lost"),
        ]
    )
    sizes = {row["egress"]: row["octets"] for row in flow_rows(records)}
    assert sizes["client-1/whole"] == sizes["client-1/settled"] == len(octets)


def test_copies_of_an_aborted_message_were_not_delivered(workers):
    client = workers.client()
    client.consumer("multicast/a", "sink", credit=5)
    sender = client.producer("multicast/a")
    delivery = client.stream(sender, message(b"x" * 100)[:50], ends=False)
    sender.abort(delivery)
    workers.pump()
    assert what_became(rows(workers)) == [("client-1/sink", "modified", None)]


# --- several workers


def test_each_worker_records_the_decision_that_it_makes():
    workers = Workers(2)
    for index in (0, 1):
        record(workers[index].router)
    client, other = workers.client(0), workers.client(1)
    consumer = other.consumer("orders", "sink", credit=5)
    client.send(client.producer("orders", "source"), message())
    other.latest(consumer).accept()
    workers.pump()
    names = "ingress", "ingress_kind", "egress", "egress_kind", "egress_router", "outcome"
    assert [row_of(row, *names) for index in (0, 1) for row in rows(workers, index)] == [
        {
            "ingress": "client-1/source",
            "ingress_kind": "client",
            "egress": "sibling/1",
            "egress_kind": "sibling",
            "egress_router": "R",
            "outcome": "accepted",
        },
        {
            "ingress": "sibling/0",
            "ingress_kind": "sibling",
            "egress": "client-2/sink",
            "egress_kind": "client",
            "egress_router": "R",
            "outcome": "accepted",
        },
    ]


# --- how much is recorded


def test_one_in_so_many_is_recorded(workers):
    record(workers[0].router, every=3)
    client = workers.client()
    client.consumer("orders", "sink", credit=20)
    sender = client.producer("orders")
    for number in range(7):
        client.send(sender, message("x" * number), settled=True)
    records = take(workers[0].router)
    assert [row["size"] for row in decision_rows(records)] == [len(message("x" * 2)), len(message("x" * 5))]
    assert records.weight == 3
    [flow] = flow_rows(records)
    assert flow["messages"] == flow["presettled"] == 7
    assert records.rows == 3 + len(records.events)


def test_of_messages_that_nobody_gets_one_in_so_many_is_recorded(workers):
    record(workers[0].router, every=2)
    client = workers.client()
    sender = client.producer(None)
    for number in range(5):
        client.send(sender, message_to("nowhere", "x" * number))
    records = take(workers[0].router)
    assert [row["size"] for row in decision_rows(records)] == [len(message_to("nowhere", "x" * n)) for n in (1, 3)]
    assert [row["messages"] for row in flow_rows(records)] == [5]


def test_an_early_outcome_of_a_streamed_message_is_the_outcome(workers):
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=5)
    sender = client.producer("orders")
    octets = message(b"x" * 100)
    delivery = client.stream(sender, octets[:50], ends=False)
    outgoing = [one for one in client.session.incoming.all() if one.link is consumer]
    outgoing[0].reject()
    workers.pump()
    client.go_on(delivery, octets[50:], more=False)
    assert [(row["size"], row["outcome"]) for row in rows(workers)] == [(50, "rejected")]


def test_the_rest_of_a_message_of_an_earlier_recording_is_not_counted(workers):
    client = workers.client()
    client.consumer("orders", "sink", credit=5)
    sender = client.producer("orders")
    octets = message(b"x" * 100)
    for every in (1, 0):
        record(workers[0].router, every=every)
        delivery = client.stream(sender, octets[:50], ends=False, settled=True)
        recorder = record(workers[0].router)
        client.go_on(delivery, octets[50:], more=False)
        assert flow_rows(take(workers[0].router)) == []
        assert recorder.lost_flows == 1


def test_a_message_that_outlives_recording_is_not_recorded(workers):
    client = workers.client()
    client.consumer("orders", "sink", credit=5)
    sender = client.producer("orders")
    octets = message(b"x" * 100)
    delivery = client.stream(sender, octets[:50], ends=False)
    workers[0].router.journal.recorder = None
    client.go_on(delivery, octets[50:])
    assert delivery.remote_state is None


def test_without_sampling_only_sums_are_kept(workers):
    record(workers[0].router, every=0)
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=20)
    delivery = client.send(client.producer("orders"), message())
    client.latest(consumer).reject()
    workers.pump()
    assert delivery.remote_state == Rejected()
    client.send(client.producer(None), message_to("nowhere"))
    records = take(workers[0].router)
    assert decision_rows(records) == []
    found = flow_rows(records)
    assert [(row["egress"], row["messages"], row.get("rejected"), row.get("released")) for row in found] == [
        ("client-1/sink", 1, 1, None),
        (None, 1, None, 1),
    ]
    assert take(workers[0].router).flows == []


def test_what_was_under_way_when_recording_ended_is_forgotten(workers):
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=20)
    sender = client.producer("orders")
    client.send(sender, message())
    workers[0].router.journal.recorder = None
    client.latest(consumer).accept()
    workers.pump()
    client.send(sender, message())
    record(workers[0].router)
    client.latest(consumer).accept()
    workers.pump()
    assert rows(workers) == []


def test_an_outcome_of_an_earlier_recording_is_not_counted(workers):
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=20)
    sender = client.producer("orders")
    client.send(sender, message())
    recorder = record(workers[0].router)
    client.latest(consumer).accept()
    workers.pump()
    assert rows(workers) == []
    assert (recorder.lost_decisions, recorder.lost_flows) == (1, 1)


def test_consumers_take_turns_and_each_has_its_sums(workers):
    client = workers.client()
    for number in range(3):
        client.consumer("closest/a", f"c{number}", credit=20)
    sender = client.producer("closest/a")
    for _ in range(9):
        client.send(sender, message(), settled=True)
    assert [row["messages"] for row in flow_rows(take(workers[0].router))] == [3, 3, 3]


def test_of_many_candidates_as_many_are_kept_as_the_choice_can_name(workers):
    client = workers.client()
    for number in range(140):
        client.consumer("orders", f"c{number}", credit=1)
    sender = client.producer("orders")
    for _ in range(135):
        client.send(sender, message(), settled=True)
    found = rows(workers)
    assert len(found) == 135
    assert {len(row["candidates"]) for row in found[:12]} == {127}
    assert all(row["candidates"][row["choice"]][0] == row["egress"] for row in found)


def test_all_that_can_be_seen_of_the_recorder_is_read_only():
    recorder = Recorder("R", 5, 1.0)
    assert (recorder.router_id, recorder.every, recorder.offset, recorder.is_pressed) == ("R", 5, 1.0, False)
    records = recorder.take()
    assert (records.rows, records.weight) == (0, 5)


