"""What operators see of the topics of a real router, and the end of a subscription by their hands."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from routerd.io.topics.names import ATTACH_COUNT, EXACTLY_ONCE
from routerd.wire import ACCEPTED, Detach, Disposition, Source, Symbol, Transfer, UInt, ULong
from tests.system.management_client import ManagementClient
from tests.system.raw_client import RawClient
from tests.system.routers import IN_PROCESS, RunningRouter, configuration, listener, section
from tests.waiting import WITHIN_S, eventually

TOPIC = "prices/gold"
PRICES = section("address", prefix="prices", distribution="multicast", delivery="exactly-once")
SECOND = 1
MAPPED = {
    "snd_settle_mode": 0,
    "rcv_settle_mode": SECOND,
    "desired_capabilities": (EXACTLY_ONCE,),
    "properties": {ATTACH_COUNT: ULong(1)},
}
SLOW = f"subscription/{TOPIC}/slow/in-0"


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRouter]:
    text = configuration(listener(), PRICES, id="R1", topicGraceSeconds=0, managementAccess="change")
    running = RunningRouter(tmp_path_factory.mktemp("topics"), IN_PROCESS, text)
    yield running
    running.close()


@pytest.fixture
def management(router: RunningRouter) -> Iterator[ManagementClient]:
    with ManagementClient(router.port) as client:
        yield client


def subscriber(port: int, name: str) -> RawClient:
    """A client with a durable subscription, and credit."""
    client = RawClient(port)
    client.open(container_id=name)
    source = Source(address=TOPIC, durable=2, expiry_policy=Symbol("link-detach"), timeout=UInt(600))
    client.attach_consumer(TOPIC, credit=10, **MAPPED | {"source": source})
    return client


def publisher(port: int, name: str) -> RawClient:
    """A client with a sending link that has credit."""
    client = RawClient(port)
    client.open(container_id=name)
    client.attach_producer(TOPIC, **MAPPED | {"source": Source(durable=2, expiry_policy=Symbol("never"))})
    client.wait_for_credit()
    return client


def own(management: ManagementClient, name: str) -> list[dict[str, Any]]:
    return management.query(f"org.mobula.{name}")


def routerstat(port: int, *options: str) -> list[list[str]]:
    command = [sys.executable, "-m", "routerd.cli.routerstat", "-b", f"127.0.0.1:{port}", *options]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=WITHIN_S)
    return [line.split() for line in done.stdout.splitlines()]


def test_an_operator_finds_and_ends_the_subscription_that_holds_up_everybody(
    router: RunningRouter, management: ManagementClient
) -> None:
    port = router.port
    with subscriber(port, "quick") as quick, subscriber(port, "slow") as slow, publisher(port, "shop") as shop:
        shop.transfer(b"\x00\x53\x77\xa1\x03one")
        taken = quick.wait_for(Transfer)
        quick.send(Disposition(role=True, first=taken.delivery_id, state=ACCEPTED))
        slow.wait_for(Transfer)

        def holding() -> list[Any]:
            return [one["identity"] for one in own(management, "subscription") if one["publishersWaiting"]]

        eventually(lambda: holding() == [SLOW], "only one subscription holds up the publisher")
        [topic] = own(management, "deliveryTopic")
        assert (topic["identity"], topic["subscriptionCount"], topic["unsettledCount"]) == (f"topic/{TOPIC}", 2, 1)
        assert (topic["waitsFor"], topic["acceptedCount"]) == (["slow/in-0"], 0)
        [waiting] = own(management, "publisher")
        assert (waiting["identity"], waiting["attached"]) == (f"publisher/{TOPIC}/shop/out-0", True)
        assert waiting["waitsFor"] == ["slow/in-0"]

        eventually(
            lambda: all(one["oldestSeconds"] for one in own(management, "deliveryTopic")), "it has waited for a second"
        )
        lines = routerstat(port, "--subscriptions")
        first = next(line for line in lines if line[:1] == [TOPIC])
        assert first[1:5] == ["slow", "in-0", "R1", "attached"]
        assert any(line[:1] == [TOPIC] and "slow/in-0" in line for line in routerstat(port, "--topics"))

        told = management.ask({"operation": "DELETE", "type": "org.mobula.subscription", "identity": SLOW})
        assert (told.status, told.body) == (204, {})
        assert slow.wait_for_error(Detach) == "amqp:resource-deleted"
        assert shop.outcomes(1) == {0: ACCEPTED}
        assert [one["container"] for one in own(management, "subscription")] == ["quick"]


def test_a_subscription_that_there_is_not_is_not_found(management: ManagementClient) -> None:
    asked = {"operation": "DELETE", "type": "org.mobula.subscription", "identity": "subscription/x/y/z"}
    assert management.ask(asked).status == 404
