"""Two routers in network namespaces, as if on hosts of their own; the cable between them is pulled and plugged."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.system.conftest import running
from tests.system.management_client import ManagementClient
from tests.system.namespaces import Cable, inside, why_not
from tests.system.proton_client import ProtonClient
from tests.system.routers import IN_PROCESS, RunningRouter, listener, section
from tests.waiting import eventually

PORT = 5671
IDLE_S = 4


def interior(name: str, *sections: str) -> str:
    router = section("router", mode="interior", id=name)
    return "\n".join([router, section("log", module="DEFAULT", enable="info+", outputFile="stderr"), *sections, ""])


class Hosts:
    """A router in each namespace; B connects to A."""

    def __init__(self, cable: Cable, routers: dict[str, RunningRouter]) -> None:
        self.cable = cable
        self.routers = routers
        self._names = dict(zip("AB", cable.names, strict=True))

    def connect(self, name: str) -> ProtonClient:
        """Return a client on the host of a router."""
        with inside(self._names[name]):
            return ProtonClient(self.routers[name].port_of("clients"), container_id=f"client-{name}")

    def reached(self, name: str) -> list[str]:
        """Return the routers that a router can reach."""
        with inside(self._names[name]), ManagementClient(self.routers[name].port_of("clients")) as client:
            return [row["id"] for row in client.query("router.node") if row["cost"] is not None]

    def wait_joined(self) -> None:
        """Wait until each reaches the other."""
        eventually(lambda: (self.reached("A"), self.reached("B")) == (["B"], ["A"]), "A and B reach each other")


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    """Two routers, each in a namespace."""
    if (reason := why_not()) is not None:
        pytest.skip(reason)
    common = {"role": "inter-router", "port": PORT, "idleTimeoutSeconds": IDLE_S}
    texts = (
        interior("A", listener("clients"), listener("routers", **common | {"host": Cable.ADDRESSES[0]})),
        interior("B", listener("clients"), section("connector", name="A", host=Cable.ADDRESSES[0], **common)),
    )
    cable = Cable()
    with ExitStack() as at_exit:
        at_exit.callback(cable.close)
        routers = {}
        for name, place, text in zip("AB", cable.names, texts, strict=True):
            with inside(place):
                routers[name] = at_exit.enter_context(running(IN_PROCESS, tmp_path_factory.mktemp("router"), text))
        yield Hosts(cable, routers)


def test_a_pulled_cable_is_noticed_and_a_plugged_one_joins_the_routers_again(hosts: Hosts, address: str) -> None:
    hosts.wait_joined()
    with hosts.connect("A") as sending, hosts.connect("B") as receiving:
        consumer, producer = receiving.consumer(address), sending.producer(address)
        assert producer.send("before").outcome() == "accepted"
        hosts.cable.pull()
        sent = [producer.send(number) for number in range(20)]
        producer.wait_for_no_credit()
        eventually(lambda: hosts.reached("A") == hosts.reached("B") == [], "each is alone")
        # What may have been seen has no other outcome than this, as nobody can tell.
        assert {one.outcome() for one in sent} == {"modified"}
        hosts.cable.plug()
        hosts.wait_joined()
        assert producer.send("after").outcome() == "accepted"
        assert [consumer.bodies[0], consumer.bodies[-1]] == ["before", "after"]
        assert (sending.is_open, receiving.is_open) == (True, True)


def test_a_cable_that_is_pulled_for_a_moment_costs_nothing(hosts: Hosts, address: str) -> None:
    hosts.wait_joined()
    with hosts.connect("A") as sending, hosts.connect("B") as receiving:
        consumer, producer = receiving.consumer(address), sending.producer(address)
        assert producer.send("before").outcome() == "accepted"
        for turn in range(3):
            hosts.cable.pull()
            sent = producer.send_all([turn] * 5)
            hosts.cable.plug()
            assert {one.outcome() for one in sent} == {"accepted"}
        assert consumer.bodies == ["before", *(turn for turn in range(3) for _ in range(5))]
