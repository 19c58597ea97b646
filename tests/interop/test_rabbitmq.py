"""A queue of RabbitMQ as a waypoint: auto-links through a router, and what becomes of messages when the broker dies."""

import threading
from collections.abc import Iterator

import pytest

from bench.rabbitmq import RabbitMq, absence
from tests.interop.containers import auto_link, auto_link_states, connector, wait_until_active, waypoint
from tests.system.conftest import running
from tests.system.management_client import ManagementClient
from tests.system.proton_client import ProtonClient
from tests.system.proton_links import Sent
from tests.system.routers import IN_PROCESS, THREE_ACTORS, configuration, listener
from tests.waiting import eventually

pytestmark = pytest.mark.skipif(absence() is not None, reason=str(absence()))

MANY = 400
AHEAD = 20
"""Messages of a producer that are under way."""


@pytest.fixture(scope="module")
def broker() -> Iterator[RabbitMq]:
    with RabbitMq() as broker:
        yield broker


@pytest.fixture(scope="module")
def second() -> Iterator[RabbitMq]:
    with RabbitMq("s") as broker:
        yield broker


def test_messages_pass_through_the_queue(broker: RabbitMq, tmp_path_factory: pytest.TempPathFactory) -> None:
    queue = "through"
    text = configuration(listener(), connector("broker", broker.port), *waypoint(queue, "broker"))
    # Clients and the broker are at different actors.
    with running(THREE_ACTORS, tmp_path_factory.mktemp("router"), text) as router:
        wait_until_active(router)
        with ProtonClient(router.port) as sends, ProtonClient(router.port) as receives:
            producer = sends.producer(queue)
            sent = producer.send_all(range(MANY))
            assert {one.outcome() for one in sent} == {"accepted"}
            eventually(lambda: broker.counts()[queue] == MANY, "the queue has all of them", every_s=0.5)
            consumer = receives.consumer(queue)
            assert consumer.wait_for(MANY) == list(range(MANY))
            eventually(lambda: broker.counts()[queue] == 0, "the queue is empty", every_s=0.5)


def test_what_is_left_open_stays_in_the_queue_and_a_queue_that_is_not_there_hurts_no_other_link(
    broker: RabbitMq, tmp_path_factory: pytest.TempPathFactory
) -> None:
    bad = auto_link("bad", "in", "broker", externalAddress="/amq/queue/nowhere")
    text = configuration(listener(), connector("broker", broker.port), bad, *waypoint("open", "broker"))
    with running(IN_PROCESS, tmp_path_factory.mktemp("router"), text) as router:
        eventually(
            lambda: [one[2] for one in auto_link_states(router)] == ["failed", "active", "active"],
            lambda: str(auto_link_states(router)),
            every_s=0.2,
        )
        [found] = [one for one in auto_link_states(router) if one[0] == "bad"]
        assert found[3] is not None
        assert "nowhere" in found[3]
        with ProtonClient(router.port) as sends:
            assert sends.producer("open").send("a").outcome() == "accepted"
            with ProtonClient(router.port) as lost:
                assert lost.consumer("open", outcome=None).take().body == "a"
            with ProtonClient(router.port) as receives:
                assert receives.consumer("open").take().body == "a"
        assert {one[2:] for one in auto_link_states(router) if one[0] == "open"} == {("active", None)}


def test_a_queue_over_two_brokers(
    broker: RabbitMq, second: RabbitMq, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = configuration(
        *(listener(), connector("first", broker.port), connector("second", second.port)),
        *waypoint("sharded", "first", "second"),
    )
    with running(IN_PROCESS, tmp_path_factory.mktemp("router"), text) as router:
        wait_until_active(router)
        with ProtonClient(router.port) as sends, ProtonClient(router.port) as receives:
            producer = sends.producer("sharded")
            assert {one.outcome() for one in producer.send_all(range(MANY))} == {"accepted"}
            counts = [one.counts()["sharded"] for one in (broker, second)]
            assert min(counts) > 0
            assert sum(counts) == MANY
            assert sorted(receives.consumer("sharded").wait_for(MANY)) == list(range(MANY))


def test_shards_are_added_and_removed_while_messages_pass(
    broker: RabbitMq, second: RabbitMq, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """The queue moves from one broker to another, and nothing that was accepted is lost on the way."""
    # A client that only asks now and then has no heartbeats between.
    text = configuration(
        listener(idleTimeoutSeconds=0), connector("first", broker.port), *waypoint("moving", "first")
    )
    with (
        running(IN_PROCESS, tmp_path_factory.mktemp("router"), text) as router,
        ManagementClient(router.port) as manage,
        ProtonClient(router.port) as receives,
        Sending(router.port, "moving") as sending,
    ):
        consumer = receives.consumer("moving")
        consumer.wait_for(MANY)
        place = {"host": "127.0.0.1", "port": str(second.port), "role": "route-container"}
        assert manage.create("connector", "second", **place).status == 201
        for direction in ("out", "in"):
            shard = {"address": "moving", "direction": direction, "connection": "second"}
            told = manage.create(
                "router.config.autoLink", f"second-{direction}", externalAddress="/queue/moving", **shard
            )
            assert told.status == 201, told
        eventually(lambda: passed_through(manage, "second"), "messages pass through the second broker")
        assert manage.delete("router.config.autoLink", auto_link_at(manage, "first", "out")).status == 204
        eventually(lambda: broker.counts()["moving"] == 0, "the first broker has none left", every_s=0.5)
        assert manage.delete("router.config.autoLink", auto_link_at(manage, "first", "in")).status == 204
        assert manage.delete("connector", "first").status == 204
        consumer.wait_for(len(consumer.received) + MANY)
        accepted = sending.stop()
        receives.wait_until(lambda: accepted <= set(consumer.bodies), "all that was accepted has come", 60.0)
        assert {one[2:] for one in auto_link_states(router)} == {("active", None)}


def test_nothing_that_was_accepted_is_lost_when_the_broker_is_killed(
    second: RabbitMq, tmp_path_factory: pytest.TempPathFactory
) -> None:
    durable = {"durable": True}
    queue = "kept"
    second.declare(queue)
    text = configuration(
        listener(), connector("broker", second.port), *waypoint(queue, "broker", prefix="/amq/queue/")
    )
    with running(IN_PROCESS, tmp_path_factory.mktemp("router"), text) as router:
        wait_until_active(router)
        with ProtonClient(router.port) as sends, ProtonClient(router.port) as receives:
            producer = sends.producer(queue)
            sent = {number: producer.send(number, **durable) for number in range(MANY)}
            second.kill()
            outcomes = {number: one.outcome() for number, one in sent.items()}
            accepted = {number for number, outcome in outcomes.items() if outcome == "accepted"}
            producer.wait_for_no_credit()
            second.start()
            wait_until_active(router, 120.0)
            consumer = receives.consumer(queue)
            rest = [producer.send(number, **durable) for number in range(MANY, MANY + 10)]
            assert {one.outcome() for one in rest} == {"accepted"}
            wanted = accepted | set(range(MANY, MANY + 10))
            receives.wait_until(lambda: wanted <= set(consumer.bodies), "all that was accepted has come", 120.0)


def auto_link_at(manage: ManagementClient, connection: str, direction: str) -> str:
    """The name of the auto-link of a shard."""
    rows = manage.query("router.config.autoLink")
    [found] = [one["name"] for one in rows if (one["connection"], one["direction"]) == (connection, direction)]
    return str(found)


def passed_through(manage: ManagementClient, connection: str) -> bool:
    """Whether messages have come out of a shard."""
    rows = manage.query("router.config.autoLink")
    links = {one["identity"]: one for one in manage.query("router.link")}
    [found] = [one["linkRef"] for one in rows if (one["connection"], one["direction"]) == (connection, "in")]
    return found in links and int(links[found]["acceptedCount"]) >= MANY


class Sending:
    """A producer that sends all the time, in a thread."""

    def __init__(self, port: int, address: str) -> None:
        self._client = ProtonClient(port)
        self._producer = self._client.producer(address)
        self._sent: dict[int, Sent] = {}
        self._is_stopping = False
        self._thread = threading.Thread(target=self._send, daemon=True)

    def __enter__(self) -> "Sending":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_stopping = True
        self._thread.join()
        self._client.close()

    def stop(self) -> set[int]:
        """Send no more; return what was accepted, once all is decided. Nothing was rejected."""
        self._is_stopping = True
        self._thread.join()
        outcomes = {number: one.outcome() for number, one in self._sent.items()}
        assert set(outcomes.values()) <= {"accepted", "released", "modified"}
        return {number for number, outcome in outcomes.items() if outcome == "accepted"}

    def _send(self) -> None:
        number = 0
        while not self._is_stopping:
            if len(self._producer.undecided) < AHEAD:
                number += 1
                self._sent[number] = self._producer.send(number, durable=True)
            else:
                self._sent[number].outcome()
