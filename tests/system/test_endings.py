"""A router that ends in order loses nothing, and says why it goes."""

import signal
import time

import pytest

from routerd.wire import Close, Detach
from tests.system.conftest import Connect, Start
from tests.system.load import IN_FLIGHT_MAX, LOST, Load
from tests.system.raw_client import RawClient
from tests.system.routers import IN_PROCESS, ONE_ACTOR, THREE_ACTORS, configuration
from tests.waiting import WITHIN_S, eventually

GRACE = ("--shutdown-grace", "30")
SHORT_GRACE = ("--shutdown-grace", "6")


@pytest.mark.parametrize(
    ("form", "number"),
    [(IN_PROCESS, signal.SIGINT), (ONE_ACTOR, signal.SIGTERM), (THREE_ACTORS, signal.SIGINT)],
    indirect=["form"],
    ids=["in-process-SIGINT", "ray-1-SIGTERM", "ray-3-SIGINT"],
    scope="session",
)
def test_a_router_under_load_ends_in_order_and_loses_nothing(
    start: Start, address: str, number: signal.Signals
) -> None:
    router = start(configuration(), *GRACE)
    load = Load(router.port, address)
    load.start()
    assert router.end(number) == 0
    load.stop()
    outcomes = load.check()
    assert outcomes["accepted"] > 40
    # What was still on its way to the router when the producer's link was detached has no outcome.
    assert set(outcomes) <= {"accepted", "released", LOST}
    assert outcomes[LOST] < len(load.producers) * IN_FLIGHT_MAX
    reasons = {reason for party in load.parties for reason in party.reasons}
    assert reasons == {"amqp:connection:forced"}
    assert "Router ended in order" in router.log()


def test_what_is_under_way_may_be_settled_before_a_router_ends(start: Start, connect_to: Connect, address: str) -> None:
    router = start(configuration(), *SHORT_GRACE)
    consumer = connect_to(router.port).consumer(address, outcome=None, credit=2, is_renewed=False)
    producer = connect_to(router.port).producer(address)
    sent = producer.send_all(["one", "two", "three"])
    producer.wait_until_written()
    received = [consumer.take(), consumer.take()]
    router.launcher.terminate()
    producer.wait_for_no_credit()
    for one in received:
        one.decide("accepted")
    # What has not left is for somebody else.
    assert [one.outcome() for one in sent] == ["accepted", "accepted", "released"]
    assert router.launcher.wait(WITHIN_S) == 0


def test_who_does_not_settle_is_waited_for_no_longer_than_the_grace(
    start: Start, connect_to: Connect, address: str
) -> None:
    router = start(configuration(), "--shutdown-grace", "1")
    consumer = connect_to(router.port).consumer(address, outcome=None)
    sent = connect_to(router.port).producer(address).send("one")
    consumer.take()
    begun = time.monotonic()
    assert router.end() == 0
    assert time.monotonic() - begun >= 1.0
    assert sent.outcome() == "modified"


def test_everybody_is_told_why(start: Start, address: str) -> None:
    router = start(configuration(), *GRACE)
    with RawClient(router.port) as client:
        client.open()
        client.attach_consumer(address, credit=1)
        client.attach_producer(address, handle=1)
        router.launcher.terminate()
        told: list[Detach | Close] = []
        while not told or not isinstance(told[-1], Close):
            if isinstance(found := client.frame().performative, Detach | Close):
                told.append(found)
        client.send(Close())
        assert list(client.rest()) == []
    assert [one.error and one.error.condition for one in told] == ["amqp:connection:forced"] * 3
    assert {one.handle for one in told if isinstance(one, Detach)} == {0, 1}
    assert router.launcher.wait(WITHIN_S) == 0


def is_refused(port: int) -> bool:
    """Whether nobody listens at a port."""
    try:
        RawClient(port).close()
    except ConnectionRefusedError:
        return True
    return False


def test_nobody_can_come_while_a_router_ends(start: Start, connect_to: Connect, address: str) -> None:
    router = start(configuration(), *GRACE)
    client = connect_to(router.port)
    consumer = client.consumer(address, outcome=None)
    producer = connect_to(router.port).producer(address)
    sent = producer.send("one")
    received = consumer.take()
    router.launcher.terminate()
    eventually(lambda: is_refused(router.port), "nobody listens any more")
    assert client.refused_consumer(f"{address}.late") == "amqp:connection:forced"
    received.decide("accepted")
    assert sent.outcome() == "accepted"
    assert router.launcher.wait(WITHIN_S) == 0


@pytest.mark.parametrize("form", [THREE_ACTORS], indirect=True, ids=["ray-3"], scope="session")
def test_consumers_stay_until_nothing_is_under_way_in_any_actor(
    start: Start, connect_to: Connect, address: str
) -> None:
    router = start(configuration(), *GRACE)
    consumer = connect_to(router.port).consumer(address, outcome=None)
    sent = connect_to(router.port).producer(address).send("one")
    received = consumer.take()
    # So many that all actors have some.
    idle = [connect_to(router.port) for _ in range(12)]
    for client in idle:
        client.consumer(f"{address}.idle")
    producers = [client.producer(f"{address}.idle") for client in idle]
    router.launcher.terminate()
    for producer in producers:
        producer.wait_until_detached()
    assert {client.refused_consumer(f"{address}.late") for client in idle} == {"amqp:connection:forced"}
    assert [client for client in idle if not client.is_open] == []
    received.decide("accepted")
    assert sent.outcome() == "accepted"
    assert router.launcher.wait(WITHIN_S) == 0
    assert {client.closed_with for client in idle} == {"amqp:connection:forced"}


def test_a_second_signal_ends_a_router_at_once(start: Start, connect_to: Connect, address: str) -> None:
    router = start(configuration(), "--shutdown-grace", "600")
    consumer = connect_to(router.port).consumer(address, outcome=None)
    connect_to(router.port).producer(address).send("one")
    consumer.take()
    router.launcher.terminate()
    eventually(lambda: "deliveries have 600 s" in router.log(), "it waits for what is under way")
    router.launcher.terminate()
    assert router.launcher.wait(WITHIN_S) == 1
