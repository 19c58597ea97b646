"""What a worker reports of itself, worked out from the records of the router."""

from collections.abc import Generator
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from routerd.config import ConnectorConfig, ListenerConfig
from routerd.core import COUNTERS, LoopBack, Peer, RouterMode
from routerd.io.reports import reports
from routerd.io.reports.octets import OctetTotals
from routerd.io.reports.reports import (
    RATE_S,
    Lag,
    LinkSamples,
    TrunkPlaces,
    WorkerHost,
    address_keys,
    address_rows,
    connection_rows,
    link_rows,
    worker_row,
)
from routerd.management import AddressRow, ConnectionRow, LinkRow, WorkerRow
from routerd.wire import Connection, ConnectionConfig, Source, Symbol, Target
from tests.routers import Client, Workers, message, message_to

UNTOUCHED = {
    **dict.fromkeys(("credit", "unsettled", "undelivered", "deliveries", "presettled", "dropped_presettled"), 0),
    **dict.fromkeys(("accepted", "rejected", "released", "modified", "delayed_1s", "delayed_10s", "stuck"), 0),
    **dict.fromkeys(("aborted", "stalls", "oldest_unsettled_s", "zero_credit_s", "settle_rate"), 0),
}


@pytest.fixture
def workers() -> Workers:
    return Workers()


def changed(row: LinkRow) -> dict[str, Any]:
    """What a row says beyond that nothing has happened."""
    row_as_dict = row._asdict()
    return {name: row_as_dict[name] for name, nothing in UNTOUCHED.items() if row_as_dict[name] != nothing}


def rows(workers: Workers, worker: int = 0) -> dict[str, LinkRow]:
    """The rows of links, by the end of their names."""
    return {row.name.split()[0]: row for row in link_rows(workers[worker].router, workers.now)}


def report(workers: Workers, **options: Any) -> dict[str, Any]:
    host = WorkerHost("connection.0", workers.now - 60.0, restarts=2, pid=4711, name="here")
    return asdict(made(worker_row(workers[0].router, workers.now, host, Lag(0.25, 0.5), **options)))


def made(steps: Generator[None, None, WorkerRow]) -> WorkerRow:
    """What a report says in the end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            row: WorkerRow = end.value
            return row


def attached(workers: Workers, credit: int) -> tuple[Client, Any, Client, Any]:
    """A producer and a consumer of an address, at clients of their own."""
    producer, consumer = workers.client(), workers.client()
    receiver = consumer.consumer("orders", "out", credit=credit)
    return producer, producer.producer("orders", "in"), consumer, receiver


def test_a_row_says_what_link_it_is(workers: Workers) -> None:
    workers.client(peer={"capacity": 40}).producer("orders", "in")
    workers.client().consumer("orders", "out", credit=5)
    assert rows(workers) == {
        "in": LinkRow(
            **{"worker": 0, "connection": 1, "link": 1, "name": "in", "role": "normal", "is_outgoing": False},
            **UNTOUCHED | {"address": "M0orders", "priority": 4, "capacity": 40, "credit": 40},
        ),
        "out": LinkRow(
            **{"worker": 0, "connection": 2, "link": 2, "name": "out", "role": "normal", "is_outgoing": True},
            **UNTOUCHED | {"address": "M0orders", "priority": 4, "capacity": 250, "credit": 5},
        ),
    }


def test_each_counter_has_its_place(workers: Workers) -> None:
    attached(workers, 5)
    router = workers[0].router
    [end] = [inlet for peer in router.peers.values() for inlet in peer.inlets]
    [other] = [outlet for peer in router.peers.values() for outlet in peer.outlets]
    counted = {name: number for number, name in enumerate(COUNTERS, 1)}
    for one in (end, other):
        for name, number in counted.items():
            setattr(one, name, number)
    other.stalls = 77
    found = rows(workers)
    assert {name: number for name, number in changed(found["in"]).items() if name != "credit"} == counted
    assert changed(found["out"]) == counted | {"credit": 5, "stalls": 77}
    for number, name in enumerate(("ingress", "egress", "transit"), 1):
        setattr(end.address, name, number)
    [row] = [row for row in address_rows(router, workers.now) if row.key == "M0orders"]
    assert (row.ingress, row.egress, row.transit, row.producers, row.consumers) == (1, 2, 3, 1, 1)


def test_an_anonymous_producer_has_no_address(workers: Workers) -> None:
    workers.client().producer(None, "in")
    assert rows(workers)["in"].address is None


def test_what_is_unsettled_is_counted_with_its_age(workers: Workers) -> None:
    producer, sender, consumer, _ = attached(workers, 10)
    producer.send(sender, message("1"))
    workers.pump(3.0)
    producer.send(sender, message("2"))
    workers.pump(4.0)
    found = rows(workers)
    for name in ("in", "out"):
        assert changed(found[name]) | {"credit": 0} == {
            "credit": 0,
            "unsettled": 2,
            "deliveries": 2,
            "oldest_unsettled_s": 7.0,
        }
    consumer.unsettled["out"][0].accept()
    workers.pump()
    found = rows(workers)
    for name in ("in", "out"):
        row = found[name]
        assert (row.unsettled, row.accepted, row.delayed_1s, row.oldest_unsettled_s) == (1, 1, 1, 4.0)


def test_what_waits_for_credit_is_undelivered(workers: Workers) -> None:
    producer, sender, _, receiver = attached(workers, 1)
    for body in "123":
        producer.send(sender, message(body), settled=body == "3")
    found = rows(workers)
    assert (found["in"].undelivered, found["in"].unsettled, found["out"].undelivered) == (0, 2, 2)
    receiver.grant(2)
    workers.pump()
    assert rows(workers)["out"].undelivered == 0


def test_what_waits_for_no_consumer_of_this_worker_is_undelivered_at_its_producer() -> None:
    workers = Workers(2)
    workers.client(1).consumer("orders")
    producer = workers.client(0)
    link = producer.producer("orders", "in")
    producer.send(link, message())
    assert rows(workers)["in"].undelivered == 1
    workers.client(0).consumer("orders", "out")
    found = rows(workers)
    assert (found["in"].undelivered, found["out"].undelivered) == (0, 1)


def test_what_an_anonymous_producer_sent_is_undelivered_at_the_consumers(workers: Workers) -> None:
    client = workers.client()
    client.consumer("orders", "out")
    client.send(client.producer(None, "in"), message_to("orders"))
    found = rows(workers)
    assert (found["in"].undelivered, found["out"].undelivered) == (0, 1)


def test_what_a_producer_aborts_is_undelivered_no_more_and_is_counted(workers: Workers) -> None:
    producer, sender, _, _ = attached(workers, 0)
    delivery = producer.stream(sender, message()[:5], ends=False)
    assert (rows(workers)["out"].undelivered, rows(workers)["in"].aborted) == (1, 0)
    sender.abort(delivery)
    workers.pump()
    assert (rows(workers)["out"].undelivered, rows(workers)["in"].aborted) == (0, 1)


def test_settled_messages_that_wait_have_come_settled(workers: Workers) -> None:
    producer, sender, _, _ = attached(workers, 1)
    for _ in range(3):
        producer.send(sender, message(), settled=True)
    found = rows(workers)
    assert [(found[name].deliveries, found[name].presettled) for name in ("in", "out")] == [(3, 3), (1, 1)]


def test_settled_messages_that_are_too_many_are_dropped_at_their_consumer() -> None:
    workers = Workers(gives_credit_at_once=True)
    workers.client().consumer("orders", "out", credit=10)
    producer = workers.client(peer={"capacity": 20})
    sender = producer.producer("orders", "in")
    for _ in range(40):
        producer.send(sender, message(), settled=True)
    found = rows(workers)
    assert changed(found["in"]) == {"credit": 20, "deliveries": 40, "presettled": 40}
    assert changed(found["out"]) | {"stalls": 0} == {
        **{"stalls": 0, "deliveries": 10, "undelivered": 10},
        **{"presettled": 10, "dropped_presettled": 20},
    }


def test_copies_that_wait_are_undelivered_to_their_consumer(workers: Workers) -> None:
    client = workers.client()
    client.consumer("multicast", "quick", credit=5)
    client.consumer("multicast", "slow")
    link = client.producer("multicast", "in")
    client.send(link, message())
    client.send(link, message())
    found = rows(workers)
    assert {name: row.undelivered for name, row in found.items()} == {"quick": 0, "slow": 2, "in": 0}


def test_what_waits_for_the_window_of_a_session_is_undelivered(workers: Workers) -> None:
    producer, _, consumer, _ = attached(workers, 0)
    session = consumer.another_session(incoming_window=1)
    receiver = consumer.consumer("window", "narrow", credit=5, session=session)
    link = producer.producer("window", "in2")
    session.withhold(1)
    delivery = producer.stream(link, message(bytes(100_000)), ends=False)
    assert (rows(workers)["narrow"].undelivered, delivery.is_partial, receiver.credit) == (0, True, 4)


def test_deliveries_that_take_too_long_are_stuck(workers: Workers) -> None:
    producer, sender, _, _ = attached(workers, 1)
    producer.send(sender, message("unsettled"))
    producer.send(sender, message("parked"))
    producer.send(sender, message("parked and settled"), settled=True)
    workers.pump(9.0)
    producer.send(sender, message("parked later"), settled=True)
    assert {name: row.stuck for name, row in rows(workers).items()} == {"in": 0, "out": 0}
    assert report(workers)["stuck"] == 0
    workers.pump(2.0)
    assert {name: row.stuck for name, row in rows(workers).items()} == {"in": 3, "out": 1}
    assert (report(workers)["stuck"], report(workers, stuck_s=1.0)["stuck"]) == (4, 5)


@pytest.mark.parametrize("settled", [False, True])
def test_those_that_wait_together_are_stuck_each(workers: Workers, settled: bool) -> None:
    _, sender, _, _ = attached(workers, 1)
    for number in range(41):
        sender.send(message(f"{number:04}" + "." * 60), None, settled)
    workers.pump()
    workers.pump(11.0)
    # The one that was sent is settled, or waits for its outcome.
    assert rows(workers)["in"].stuck == (40 if settled else 41)
    assert report(workers)["stuck"] == (40 if settled else 42)
    [address, _] = address_rows(workers[0].router, workers.now)
    assert (address.parked, address.oldest_parked_s) == (40, 11.0)


def test_a_message_that_still_streams_is_not_stuck(workers: Workers) -> None:
    producer, sender, _, _ = attached(workers, 1)
    producer.stream(sender, message(bytes(1000))[:500], ends=False)
    workers.pump(11.0)
    found = rows(workers)
    assert {name: (row.stuck, row.oldest_unsettled_s) for name, row in found.items()} == {
        "in": (0, 11.0),
        "out": (0, 11.0),
    }


def test_copies_are_as_old_as_their_message(workers: Workers) -> None:
    client = workers.client()
    slow = client.consumer("multicast", "slow")
    client.send(client.producer("multicast", "in"), message())
    workers.pump(11.0)
    slow.grant(1)
    workers.pump()
    assert (rows(workers)["slow"].oldest_unsettled_s, rows(workers)["slow"].stuck) == (11.0, 1)


def test_a_consumer_that_gives_no_credit_is_timed(workers: Workers) -> None:
    producer, sender, _, receiver = attached(workers, 0)
    workers.pump(5.0)
    row = rows(workers)["out"]
    assert (row.credit, row.zero_credit_s, row.stalls) == (0, 5.0, 0)
    receiver.grant(1)
    workers.pump(6.0)
    row = rows(workers)["out"]
    assert (row.credit, row.zero_credit_s, row.stalls) == (1, 0.0, 0)
    producer.send(sender, message())
    workers.pump(7.0)
    row = rows(workers)["out"]
    assert (row.credit, row.zero_credit_s, row.stalls, report(workers)["links_blocked"]) == (0, 7.0, 1, 0)


def test_a_consumer_without_credit_is_blocked_after_a_while(workers: Workers) -> None:
    _, _, _, receiver = attached(workers, 0)
    workers.pump(9.0)
    assert report(workers)["links_blocked"] == 0
    workers.pump(2.0)
    assert (report(workers)["links_blocked"], report(workers, stuck_s=12.0)["links_blocked"]) == (1, 0)
    receiver.grant(1)
    workers.pump()
    assert report(workers)["links_blocked"] == 0


@pytest.mark.parametrize("address", ["orders", "multicast"])
def test_a_consumer_that_took_what_it_asked_for_is_blocked_once_there_is_more(workers: Workers, address: str) -> None:
    client = workers.client()
    client.consumer(address, "out", credit=1)
    sender = client.producer(address, "in")
    client.send(sender, message())
    workers.pump(11.0)
    assert (rows(workers)["out"].zero_credit_s, report(workers)["links_blocked"]) == (11.0, 0)
    client.send(sender, message())
    assert report(workers)["links_blocked"] == 1


def test_a_producer_that_gets_no_credit_is_timed_by_samples(workers: Workers) -> None:
    samples = LinkSamples()
    router = workers[0].router
    client = workers.client()
    client.producer("orders", "in")

    def sample(after_s: float) -> tuple[float, int]:
        workers.pump(after_s)
        list(samples.sample(router, workers.now))
        [row] = link_rows(router, workers.now, samples=samples)
        return row.zero_credit_s, report(workers, samples=samples)["links_blocked"]

    assert [sample(RATE_S) for _ in range(4)] == [(0.0, 0), (5.0, 0), (10.0, 0), (15.0, 1)]
    workers.client().consumer("orders", "out", credit=5)
    [row, _] = link_rows(router, workers.now, samples=samples)
    assert (row.credit, row.zero_credit_s, report(workers, samples=samples)["links_blocked"]) == (250, 0.0, 0)


def test_a_producer_that_sent_since_the_sample_before_had_credit(workers: Workers) -> None:
    samples = LinkSamples()
    router = workers[0].router
    receiver = workers.client().consumer("orders", "out")
    producer = workers.client(peer={"capacity": 4})
    sender = producer.producer("orders", "in")

    def dry_s(after_s: float) -> float:
        while sender.credit:
            producer.send(sender, message(), settled=True)
        workers.pump(after_s)
        list(samples.sample(router, workers.now))
        return next(row for row in link_rows(router, workers.now, samples=samples) if row.name == "in").zero_credit_s

    assert (dry_s(RATE_S), dry_s(RATE_S)) == (0.0, 5.0)
    receiver.grant(4)
    workers.pump()
    assert (dry_s(RATE_S), dry_s(RATE_S)) == (0.0, 5.0)


@pytest.mark.parametrize("flow", [{"credit": 5, "drain": True}, {"credit": 0}])
def test_credit_that_is_drained_or_taken_back_is_gone_from_then_on(workers: Workers, flow: dict[str, Any]) -> None:
    link = workers.client().consumer("orders", "out", credit=5)
    workers.pump(3.0)
    link.set_credit(**flow)
    workers.pump()
    workers.pump(2.0)
    row = rows(workers)["out"]
    assert (row.credit, row.zero_credit_s, row.stalls) == (0, 2.0, 0)


def test_a_transport_without_room_is_a_stall_each_time(workers: Workers) -> None:
    producer, sender, consumer, _ = attached(workers, 10)
    for _ in range(2):
        workers[0].router.set_blocked(consumer.peer, True)
        producer.send(sender, message())
        producer.send(sender, message())
        workers[0].router.set_blocked(consumer.peer, False)
        workers.pump()
    row = rows(workers)["out"]
    assert (row.stalls, row.deliveries) == (2, 4)


def test_the_report_sums_up_what_is_and_was(workers: Workers) -> None:
    producer, sender, consumer, _ = attached(workers, 10)
    producer.send(sender, message())
    inside = LoopBack(workers[0].router, workers.now)
    workers.lines.append(inside)  # type: ignore[arg-type]
    inside.consume("sink", lambda octets, delivery: delivery.accept())
    workers.pump()
    producer.send(producer.producer("sink"), message())
    consumer.leave()
    found = report(workers)
    sums = {name: found.pop(name) for name in ("ingress", "egress", "fabric_in", "fabric_out", "inner_in", "inner_out")}
    others = ("trunk_in", "trunk_out", "endpoint_in", "endpoint_out")
    assert [set(found.pop(name).values()) for name in others] == [{0}] * 4
    assert found.pop("memory_octets") > 0
    assert (found.pop("recording_status"), found.pop("recording")) == ("off", {})
    assert found == {
        "worker": 0,
        "role": "connection.0",
        "pid": 4711,
        "host": "here",
        "node": "",
        "uptime_s": 60.0,
        "restarts": 2,
        "buffered_octets": 0,
        "connections": 1,
        "links": 2,
        "addresses": 3,
        "siblings": 0,
        "event_loop_lag_s": 0.25,
        "event_loop_lag_max_s": 0.5,
        "stuck": 0,
        "links_blocked": 0,
        "authentication_failures": 0,
        "transit": 0,
        "container_in": 0,
        "container_out": 0,
        "redirected": 0,
        "dropped_presettled": 0,
        "stalls": 0,
        "octets_in": {"client": 0, "router": 0, "fabric": 0},
        "octets_out": {"client": 0, "router": 0, "fabric": 0},
    }
    assert {name: (found["deliveries"], found["accepted"], found["modified"]) for name, found in sums.items()} == {
        "ingress": (2, 1, 1),
        "egress": (1, 0, 0),
        "fabric_in": (0, 0, 0),
        "fabric_out": (0, 0, 0),
        "inner_in": (0, 0, 0),
        "inner_out": (1, 1, 0),
    }


def test_the_report_counts_settled_copies_that_were_dropped(workers: Workers) -> None:
    producer, consumer = workers.client(), workers.client(peer={"capacity": 5})
    sender = producer.producer("multicast/a")
    consumer.consumer("multicast/a")
    for _ in range(8):
        producer.send(sender, message(), settled=True)
    counted = {row.name.split()[0]: row.dropped_presettled for row in link_rows(workers[0].router, workers.now)}
    assert (sum(counted.values()), report(workers)["dropped_presettled"]) == (3, 3)
    # Those that waited for it are dropped, too.
    consumer.leave()
    assert report(workers)["dropped_presettled"] == 8


def test_the_report_counts_stalls_of_consumers_that_are_gone(workers: Workers) -> None:
    producer, sender, consumer, _ = attached(workers, 1)
    producer.send(sender, message())
    producer.send(sender, message())
    stalls = sum(row.stalls for row in link_rows(workers[0].router, workers.now))
    assert stalls > 0
    assert report(workers)["stalls"] == stalls
    consumer.leave()
    assert report(workers)["stalls"] == stalls


def test_a_report_of_many_links_pauses_and_counts_each_once(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "ENDS_AT_ONCE", 3)
    monkeypatch.setattr(reports, "ADDRESSES_AT_ONCE", 4)
    producer, consumer = workers.client(), workers.client()
    senders = [producer.producer(f"a/{number}") for number in range(7)]
    for number, sender in enumerate(senders):
        consumer.consumer(f"a/{number}", credit=10)
        producer.send(sender, message(), settled=True)
    router, host = workers[0].router, WorkerHost("connection.0", workers.now)
    # Each connection has seven links, and one pause after these. There are seven addresses.
    assert len(list(worker_row(router, workers.now, host, Lag()))) == 2 * (3 + 1) + 2
    steps = worker_row(router, workers.now, host, Lag())
    next(steps)
    # Three links of the producer are added up, and all end before the others are.
    producer.leave()
    row = made(steps)
    assert (row.ingress["deliveries"], row.egress["deliveries"], row.links) == (7, 7, 14)
    after = report(workers)
    assert (after["ingress"]["deliveries"], after["egress"]["deliveries"], after["links"]) == (7, 7, 7)


def test_the_report_counts_octets_by_who_sends_and_takes_them(workers: Workers) -> None:
    ended = OctetTotals()
    for number, (role, came, went) in enumerate((("normal", 10, 1), ("edge", 20, 2), ("fabric", 40, 4))):
        peer = Peer(number, role)
        peer.shell = SimpleNamespace(octets_in=came, octets_out=went)
        ended.add(peer)
    client = workers.client()
    client.peer.shell = SimpleNamespace(octets_in=100, octets_out=200)
    for _ in range(2):
        found = report(workers, ended=ended)
        assert found["octets_in"] == {"client": 110, "router": 20, "fabric": 40}
        assert found["octets_out"] == {"client": 201, "router": 2, "fabric": 4}


def test_a_row_says_who_is_connected(workers: Workers) -> None:
    properties = {Symbol("product"): "test"}
    client = workers.client(hostname="vhost", properties=properties)
    client.peer.details = ListenerConfig(host="127.0.0.1", port=5672, name="clients")
    client.consumer("orders")
    client.producer("orders")
    workers.pump(5.0)
    LoopBack(workers[0].router, workers.now)
    first, inside = connection_rows(workers[0].router, workers.now)
    assert first == ConnectionRow(
        worker=0,
        connection=1,
        role="normal",
        is_incoming=True,
        host="",
        container="client-1",
        hostname="vhost",
        mechanism=None,
        user=None,
        tenant=None,
        listener="listener/127.0.0.1:5672:clients",
        is_open=True,
        is_blocked=False,
        is_traced=False,
        producers=1,
        consumers=1,
        uptime_s=5.0,
        last_delivery_s=None,
        properties=properties,
    )
    assert (inside.role, inside.host, inside.is_open, inside.uptime_s) == ("inner", "inside the router", False, 0.0)


def test_a_connection_that_the_router_made_has_the_place_that_was_configured(workers: Workers) -> None:
    client = workers.client()
    client.peer.details = ConnectorConfig(host="b.example.com", port=5672, given_port="amqp", name="b")
    [row] = connection_rows(workers[0].router, workers.now)
    assert (row.host, row.listener) == ("b.example.com:amqp", "connector/b.example.com:amqp:b")


def test_http_is_no_connection_of_amqp(workers: Workers) -> None:
    workers.client()
    before = report(workers)["connections"], len(list(connection_rows(workers[0].router, workers.now)))
    peer = workers[0].router.connections.new_peer()
    peer.connection = Connection(ConnectionConfig(container_id="R"), workers[0].router, is_client=False)
    for carries_amqp, more in ((False, 0), (True, 1)):
        peer.shell = SimpleNamespace(carries_amqp=carries_amqp)
        after = report(workers)["connections"], len(list(connection_rows(workers[0].router, workers.now)))
        assert after == (before[0] + more, before[1] + more)


@dataclass
class End:
    """A link as far as its ends say what it is for."""

    is_sender: bool
    source: Any
    target: Any


def end(*capabilities: str, is_sender: bool) -> Any:
    symbols = tuple(map(Symbol, capabilities))
    ours, other = (Source, Target) if is_sender else (Target, Source)
    termini = (ours(capabilities=symbols), other()) if is_sender else (other(), ours(capabilities=symbols))
    return End(is_sender, *termini)


def test_our_end_of_a_link_between_routers_says_what_it_is_for() -> None:
    places = TrunkPlaces()
    for is_sender in (False, True):
        assert places.of(end("qd.router", is_sender=is_sender)) == ("router-control", 9)
        assert places.of(end(is_sender=is_sender)) == ("endpoint", 4)
        assert places.of(end("qd.waypoint", is_sender=is_sender)) == ("endpoint", 4)
        assert places.of(end("qd.router-edge-downlink", is_sender=is_sender)) == ("edge-downlink", 4)
    assert places.of(End(True, None, Target(capabilities=(Symbol("qd.router"),)))) == ("endpoint", 4)  # type: ignore[arg-type]


def test_the_order_of_the_links_between_routers_is_that_of_their_priorities() -> None:
    places = TrunkPlaces()
    found = [
        [places.of(end("qd.router-data", is_sender=is_sender)) for is_sender in (False, True)] for _ in range(12)
    ]
    assert found == [[("inter-router", priority)] * 2 for priority in (*range(10), 4, 4)]


def test_a_row_says_since_when_a_connection_is_quiet(workers: Workers) -> None:
    producer, sender, consumer, _ = attached(workers, 10)
    producer.send(sender, message())
    workers.pump(3.0)
    found = {row.container: row.last_delivery_s for row in connection_rows(workers[0].router, workers.now)}
    assert list(found.values()) == [3.0, 3.0]
    assert consumer.connection.is_client


def test_the_rate_of_a_link_is_that_since_the_older_sample(workers: Workers) -> None:
    rates = LinkSamples()
    router = workers[0].router
    producer, sender, _, _ = attached(workers, 10)

    def rates_now() -> list[int]:
        return [row.settle_rate for row in link_rows(router, workers.now, samples=rates)]

    assert len(list(rates.sample(router, workers.now))) == 2
    workers.pump(RATE_S)
    assert len(list(rates.sample(router, workers.now))) == 2
    for _ in range(10):
        producer.send(sender, message(), settled=True)
    assert rates_now() == [2, 2]
    workers.pump(RATE_S)
    assert rates_now() == [1, 1]


def test_a_row_says_how_an_address_is_used() -> None:
    workers = Workers(2)
    here, there = workers.client(0), workers.client(1)
    there.consumer("orders")
    here.consumer("orders")
    sender = here.producer("orders")
    here.send(sender, message())
    workers.pump(2.0)
    here.send(sender, message())
    inside = LoopBack(workers[0].router, workers.now)
    workers.lines.append(inside)  # type: ignore[arg-type]
    inside.consume("sink", lambda octets, delivery: None)
    workers.pump()
    unused = {"worker": 0, "distribution": "balanced", "priority": -1}
    unused |= {"producers": 0, "consumers": 0, "inner_consumers": 0}
    unused |= {"sibling_consumers": 0, "ingress": 0, "egress": 0, "parked": 0, "oldest_parked_s": 0.0}
    used = {"producers": 1, "consumers": 1, "sibling_consumers": 1, "ingress": 2}
    waiting = {"parked": 2, "oldest_parked_s": 2.0}
    assert list(address_rows(workers[0].router, workers.now)) == [
        AddressRow(**unused | used | waiting | {"key": "M0orders"}),
        AddressRow(**unused | {"key": "M0sink", "inner_consumers": 1}),
        AddressRow(**unused | {"key": "M0_$qd.edge_heartbeat"}),
    ]
    assert list(address_rows(workers[1].router, workers.now)) == [
        AddressRow(**unused | {"worker": 1, "key": "M0orders", "consumers": 1, "sibling_consumers": 1}),
    ]


@pytest.mark.parametrize(
    ("mode", "services"),
    [
        (RouterMode.EDGE, []),
        (RouterMode.STANDALONE, ["M0_$qd.edge_heartbeat balanced 0"]),
        (
            RouterMode.INTERIOR,
            [
                "M0_$qd.edge_heartbeat balanced 0",
                "M0_$qd.addr_lookup balanced 0",
                "M0_$qd.edge_addr_tracking balanced 0",
                "Lqdhello flood 1",
                "Lqdrouter flood 1",
                "Tqdrouter flood 1",
                "Lqdrouter.ma multicast 1",
                "Tqdrouter.ma multicast 1",
            ],
        ),
    ],
)
def test_where_a_router_serves_others_is_listed_and_counted_once(mode: RouterMode, services: list[str]) -> None:
    workers = Workers(mode=mode)
    router = workers[0].router
    assert [
        f"{row.key} {row.distribution} {row.inner_consumers}" for row in address_rows(router, workers.now)
    ] == services
    workers.client().consumer("_local/qdhello")
    keys = {"Lqdhello", *(one.split()[0] for one in services)}
    assert {key for (key,) in address_keys(router)} == keys
    assert report(workers)["addresses"] == len(keys)


def test_of_several_workers_one_lists_where_the_router_serves_others() -> None:
    workers = Workers(2)
    assert list(address_keys(workers[0].router)) == [("M0_$qd.edge_heartbeat",)]
    assert list(address_keys(workers[1].router)) == []


def test_links_between_workers_have_rows_of_their_own() -> None:
    workers = Workers(2)
    workers.client(1).consumer("orders", credit=1)
    producer = workers.client(0)
    producer.send(producer.producer("orders", "in"), message())
    [fabric] = [row for row in link_rows(workers[0].router, workers.now) if row.role == "fabric"]
    assert (fabric.is_outgoing, fabric.address, fabric.deliveries, fabric.unsettled) == (True, "M0orders", 1, 1)
    assert report(workers)["links"] == 1
