"""What is recorded of links and addresses as they come and go, and of links that stall."""

import pytest

from routerd.core import Recorder
from routerd.core.recording.names import kind_of
from tests.routers import Workers, message
from tests.unit.core.joined_routers import Mesh, mapped, neighbour, routes
from tests.unit.core.recorder_rows import OFFSET, event_rows, record, take


@pytest.fixture
def workers():
    workers = Workers()
    record(workers[0].router)
    take(workers[0].router)
    return workers


def events(workers, worker=0):
    return event_rows(take(workers[worker].router))


def stalls(found):
    return [
        (event["link"], event["duration_us"], event["number"]) for event in found if event["kind"] == "credit-stall"
    ]


def test_links_and_addresses_come_and_go(workers):
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=7)
    producer = client.producer(None, "source")
    ends = {"link_kind": "client", "peer": "client-1"}
    source = {"link": "client-1/source"} | ends
    sink = {"link": "client-1/sink", "address": "orders"} | ends
    assert events(workers) == [
        {"kind": "address-added", "address": "orders"},
        {"kind": "link-attached", "credit": 250} | source,
        {"kind": "link-attached", "credit": 7} | sink,
    ]
    client.detach(consumer)
    client.detach(producer)
    assert events(workers) == [
        {"kind": "address-removed", "address": "orders"},
        {"kind": "link-detached"} | sink,
        {"kind": "link-detached"} | source,
    ]


def test_a_link_that_comes_and_goes_within_a_second_is_told_of(workers):
    client = workers.client()
    client.detach(client.consumer("orders", "sink"))
    assert [event["kind"] for event in events(workers)] == [
        "address-added",
        "address-removed",
        "link-attached",
        "link-detached",
    ]


def test_a_second_consumer_makes_no_new_address():
    workers = Workers(2)
    for index in (0, 1):
        record(workers[index].router)
        take(workers[index].router)
    first, second = workers.client(0), workers.client(1)
    first.consumer("orders")
    second.consumer("orders")
    first.leave()
    found = [event["kind"] for index in (0, 1) for event in events(workers, index)]
    assert found == ["address-added", "link-attached", "link-detached", "link-attached"]
    second.leave()
    assert [event["kind"] for event in events(workers, 1)] == ["address-removed", "link-detached"]


def test_what_there_is_is_told_again_every_hour(workers):
    client = workers.client()
    client.consumer("orders", "sink", credit=7)
    client.producer("orders", "source")
    take(workers[0].router)
    assert events(workers) == []
    workers.pump(3600.0)
    assert [(event["kind"], event.get("link"), event.get("credit")) for event in events(workers)] == [
        ("link-state", None, None),
        ("link-attached", "client-1/source", 250),
        ("link-attached", "client-1/sink", 7),
    ]


def test_a_consumer_that_messages_wait_for_stalls(workers):
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=1)
    sender = client.producer("orders")
    for _ in range(4):
        client.send(sender, message(), settled=True)
    for seconds in (0.25, 0.5):
        workers.pump(seconds)
        consumer.grant(1)
        workers.pump()
    assert stalls(events(workers)) == [("client-1/sink", 750_000, 2)]


def test_a_consumer_without_credit_that_nobody_waits_for_does_not_stall(workers):
    client = workers.client()
    consumer = client.consumer("orders", "sink", credit=1)
    client.send(client.producer("orders"), message(), settled=True)
    workers.pump(20.0)
    assert stalls(events(workers)) == []
    consumer.grant(1)
    workers.pump()
    assert stalls(events(workers)) == []


def test_a_stall_that_is_short_is_not_worth_a_row(workers):
    client = workers.client()
    consumer = client.consumer("orders", "sink")
    client.send(client.producer("orders"), message(), settled=True)
    consumer.grant(1)
    workers.pump()
    assert stalls(events(workers)) == []


def test_a_stall_that_lasts_is_told_in_pieces(workers):
    client = workers.client()
    consumer = client.consumer("orders", "sink")
    client.send(client.producer("orders"), message(), settled=True)
    found = []
    for _ in range(25):
        workers.pump(1.0)
        found += stalls(events(workers))
    workers.pump(0.5)
    consumer.grant(1)
    workers.pump()
    found += stalls(events(workers))
    assert found == [("client-1/sink", 10_000_000, 1)] * 2 + [("client-1/sink", 5_500_000, 1)]


def test_a_consumer_stalls_again_when_messages_wait_again(workers):
    client = workers.client()
    consumer = client.consumer("orders", "sink")
    sender = client.producer("orders")
    for _ in range(2):
        client.send(sender, message(), settled=True)
        workers.pump(11.0)
        assert stalls(events(workers)) == [("client-1/sink", 11_000_000, 1)]
        consumer.grant(1)
        workers.pump()
        # Once nothing waits, a look at the stalls finds that.
        assert stalls(events(workers)) == []


def test_another_recorder_hears_of_messages_that_wait_then(workers):
    client = workers.client()
    client.consumer("orders", "sink")
    sender = client.producer("orders")
    client.send(sender, message(), settled=True)
    workers.pump(1.0)
    record(workers[0].router)
    take(workers[0].router)
    client.send(sender, message(), settled=True)
    workers.pump(11.0)
    assert stalls(events(workers)) == [("client-1/sink", 12_000_000, 1)]


def test_a_stall_ends_with_the_link(workers):
    client = workers.client()
    consumer = client.consumer("orders", "sink")
    client.send(client.producer("orders"), message(), settled=True)
    workers.pump(2.0)
    client.detach(consumer)
    assert stalls(events(workers)) == [("client-1/sink", 2_000_000, 1)]
    assert events(workers) == []


def test_a_consumer_that_copies_wait_for_stalls(workers):
    client = workers.client()
    consumer = client.consumer("multicast/a", "sink")
    client.send(client.producer("multicast/a"), message(), settled=True)
    workers.pump(11.0)
    assert stalls(events(workers)) == [("client-1/sink", 11_000_000, 1)]
    workers.pump(1.0)
    consumer.grant(1)
    workers.pump()
    assert stalls(events(workers)) == [("client-1/sink", 1_000_000, 1)]


def test_a_trunk_that_messages_wait_for_stalls():
    joined = Mesh("R")["R"]
    far = neighbour(joined).attach(pairs=1, credit=1)
    record(joined.router)
    joined.tell(routes=routes((far, {"P": 1})), radius=1, mapped=mapped(P=("M0orders",)))
    client = joined.client()
    sender = client.producer("orders")
    for _ in range(2):
        client.send(sender, message())
    joined.pump(3.0)
    far.data_in[0].grant(5)
    joined.pump()
    [stall] = [event for event in event_rows(take(joined.router)) if event["kind"] == "credit-stall"]
    assert stall == {
        "kind": "credit-stall",
        "link": "trunk/N",
        "link_kind": "trunk",
        "peer": "N",
        "duration_us": 3_000_000,
        "number": 1,
    }


def test_the_kinds_of_links_are_told_apart():
    mesh = Mesh("R", workers=2)
    neighbour(mesh["R"], "N")
    peers = mesh["R"].router.peers.values()
    edge = mesh["R"].router.connections.new_peer("edge")
    inner = mesh["R"].router.connections.new_peer("inner")
    client = mesh["R"].router.connections.new_peer()
    assert [kind_of(peer) for peer in (*peers, edge, inner, client)][-3:] == ["edge", "router", "client"]
    assert {kind_of(peer) for peer in peers} == {"sibling", "trunk", "edge", "router", "client"}


def test_rows_that_were_lost_are_told_of():
    recorder = Recorder("R", 1, OFFSET)
    recorder.events.rows_lost(5, "decisions: the disk is full", 1.0)
    [event] = recorder.take().events
    assert (event.kind, event.number, event.detail) == ("rows-lost", 5, "decisions: the disk is full")
