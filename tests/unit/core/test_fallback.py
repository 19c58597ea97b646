"""Fallback destinations: they get what reaches nobody else, at one worker, over workers, and over routers."""

from typing import Any

import pytest

from routerd.core import AddressSettings, AutoLinkSettings, Distribution, LinkDirection
from routerd.wire import ACCEPTED, RELEASED, Modified, Rejected, Source, Symbol, Target
from tests.routers import Client, Workers, message, message_to, outcome
from tests.unit.core.edge_routers import EdgeMesh
from tests.unit.core.joined_routers import Mesh, mapped, marked, neighbour, routes, to_router

CAPACITY = 250
FALLBACK = (Symbol("qd.fallback"),)
SETTINGS = (
    AddressSettings(pattern="orders/#", has_fallback=True),
    AddressSettings(pattern="near/#", distribution=Distribution.CLOSEST, has_fallback=True),
    AddressSettings(pattern="news/#", distribution=Distribution.MULTICAST, has_fallback=True),
)


def stand_in(client: Client, address: str = "orders", *, credit: int = 10) -> Any:
    """A consumer of a fallback destination."""
    return client.consumer(address, credit=credit, source=Source(address=address, capabilities=FALLBACK))


class Ends:
    """A producer at the first worker, and a fallback consumer at the last one."""

    def __init__(self, workers: int = 1, *, address: str = "orders", credit: int = 10) -> None:
        self.workers = Workers(workers, addresses=SETTINGS)
        self.address = address
        self.client, self.other = self.workers.client(0), self.workers.client(workers - 1)
        self.sender = self.client.producer(address)
        self.link = stand_in(self.other, address, credit=credit)

    def send(self, body: Any = "hello", **options: Any) -> Any:
        return self.client.send(self.sender, message(body), **options)

    def come(self, credit: int = 10) -> tuple[Client, Any]:
        client = self.workers.client(self.workers.last)
        return client, client.consumer(self.address, credit=credit)

    @property
    def diverted(self) -> int:
        return len(self.other.received(self.link))

    @property
    def redirected(self) -> list[int]:
        return [worker.router.intake.redirected for worker in self.workers.workers.values()]


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
def count(request):
    return request.param


@pytest.mark.parametrize("address", ["orders", "near", "news"])
@pytest.mark.parametrize("state", [ACCEPTED, RELEASED, Rejected()], ids=repr)
def test_it_gets_what_nobody_else_can_and_decides(count, address, state):
    ends = Ends(count, address=address)
    delivery = ends.send()
    assert (ends.diverted, ends.redirected[0]) == (1, 1)
    ends.other.latest(ends.link).update(state, True)
    ends.workers.pump()
    assert outcome(delivery) == (state, True)
    assert ends.workers[0].router.addresses[f"M0{address}"].redirected == 1
    assert ends.workers[0].router.addresses[f"M0{address}"].ingress == 1


@pytest.mark.parametrize("address", ["orders", "near", "news"])
def test_it_gets_nothing_while_there_is_a_consumer(count, address):
    ends = Ends(count, address=address)
    client, link = ends.come()
    ends.send()
    assert (ends.diverted, len(client.received(link))) == (0, 1)
    client.detach(link)
    ends.send()
    assert (ends.diverted, ends.redirected[0]) == (1, 1)


def test_a_message_waits_for_a_consumer_without_credit_and_is_released_when_that_leaves(count):
    ends = Ends(count)
    client, link = ends.come(credit=0)
    delivery = ends.send()
    assert (ends.diverted, outcome(delivery)) == (0, (None, False))
    client.detach(link)
    assert (ends.diverted, outcome(delivery)) == (0, (RELEASED, True))


def test_what_a_consumer_releases_does_not_go_there():
    ends = Ends()
    client, link = ends.come()
    delivery = ends.send()
    client.latest(link).update(RELEASED, True)
    ends.workers.pump()
    assert (ends.diverted, outcome(delivery)) == (0, (RELEASED, True))


def test_messages_wait_for_its_credit(count):
    ends = Ends(count, credit=0)
    deliveries = [ends.send() for _ in range(3)]
    assert ends.diverted == 0
    ends.link.grant(10)
    ends.workers.pump()
    assert ends.diverted == 3
    ends.other.leave()
    ends.workers.pump()
    assert [outcome(one) for one in deliveries] == [(Modified(delivery_failed=True), True)] * 3


def test_producers_have_credit_while_it_is_there(count):
    workers = Workers(count, addresses=SETTINGS)
    client, other = workers.client(0), workers.client(count - 1)
    sender = client.producer("orders")
    assert sender.credit == 0
    link = stand_in(other)
    assert sender.credit == CAPACITY
    consumer = workers.client(0)
    primary = consumer.consumer("orders", credit=1)
    other.detach(link)
    assert sender.credit == CAPACITY
    consumer.detach(primary)
    assert sender.credit == 0


def test_the_last_consumer_that_leaves_takes_no_credit_while_it_is_there(count):
    ends = Ends(count)
    client, link = ends.come()
    client.detach(link)
    assert ends.sender.credit == CAPACITY


def test_without_the_setting_its_consumers_get_nothing():
    ends = Ends(address="other")
    assert ends.sender.credit == 0
    assert list(ends.workers[0].router.addresses) == ["M0other", "MFother"]


def test_a_producer_with_the_capability_is_an_ordinary_one_whose_messages_are_not_diverted():
    ends = Ends()
    sender = ends.client.producer("orders", target=Target(address="orders", capabilities=FALLBACK))
    assert sender.credit == 0
    client, link = ends.come()
    assert sender.credit == CAPACITY
    ends.client.send(sender, message())
    assert len(client.received(link)) == 1
    client.detach(link)
    assert sender.credit == 0
    assert ends.diverted == 0


def test_an_anonymous_producers_messages_go_there_too(count):
    ends = Ends(count)
    sender = ends.client.producer(None)
    ends.client.detach(ends.sender)
    delivery = ends.client.send(sender, message_to("orders"))
    assert ends.diverted == 1
    assert outcome(ends.client.send(sender, message_to("nobody"))) == (RELEASED, True)
    assert outcome(delivery) == (None, False)


def test_settled_messages_go_there(count):
    ends = Ends(count)
    ends.send(settled=True)
    assert ends.diverted == 1


def test_messages_that_come_together_go_there_one_by_one(count):
    ends = Ends(count, credit=100)
    for number in range(40):
        ends.sender.send(message(f"{number:05}" + "." * 60), None, False)
    ends.workers.pump()
    assert [int(octets[5:10]) for octets in ends.other.received(ends.link)] == list(range(40))
    assert ends.redirected[0] == 40


def test_a_large_message_goes_there(count):
    ends = Ends(count)
    octets = message(b"x" * 5000)
    ends.client.stream(ends.sender, octets[:3000], octets[3000:])
    ends.workers.pump()
    assert ends.other.received(ends.link) == [octets]


def test_nothing_is_left_when_all_have_gone(count):
    ends = Ends(count)
    ends.send()
    for client in (ends.client, ends.other):
        client.leave()
    ends.workers.pump()
    assert ends.workers.left_over() == {}


@pytest.mark.parametrize("has_client_annotations", [False, True])
def test_it_is_reached_over_routers_by_its_phase(has_client_annotations):
    mesh = Mesh("A", "B", "C", addresses=SETTINGS)
    mesh.join("A", "B")
    mesh.join("B", "C")
    producer, other = mesh["A"].client(0), mesh["C"].client(0)
    sender = producer.producer("orders")
    link = stand_in(other)
    assert sender.credit == CAPACITY
    annotations = {Symbol("x-opt-mine"): 1} if has_client_annotations else None
    delivery = producer.send(sender, message(message_annotations=annotations))
    assert len(other.received(link)) == 1
    other.latest(link).update(ACCEPTED, True)
    mesh.pump()
    assert outcome(delivery) == (ACCEPTED, True)
    assert [mesh[id].router.intake.redirected for id in "ABC"] == [1, 0, 0]
    client = mesh["B"].client(0)
    primary = client.consumer("orders", credit=10)
    producer.send(sender, message())
    assert (len(client.received(primary)), len(other.received(link))) == (1, 1)


def test_what_it_says_to_the_next_router():
    mesh = Mesh("A", addresses=SETTINGS)
    near = neighbour(mesh["A"], "B").attach()
    mesh["A"].tell(routes=routes((near, {"B": 1})), radius=1, mapped=mapped(B=("MForders",)))
    producer = mesh["A"].client(0)
    sender = producer.producer("orders")
    producer.send(sender, message())
    [octets] = near.arrived()
    assert marked(octets) == {"phase": 22, "to": "orders", "ingress": "0/A", "trace": ["0/A"]}


def test_a_router_on_the_way_diverts_what_has_no_consumer_any_more():
    mesh = Mesh("A", addresses=SETTINGS)
    near, far = neighbour(mesh["A"], "B").attach(), neighbour(mesh["A"], "C").attach()
    mesh["A"].tell(
        routes=routes((near, {"B": 1}), (far, {"C": 1})),
        radius=1,
        mapped=mapped(C=("MForders",)),
        through={"B": frozenset({"C"})},
    )
    client = mesh["A"].client(0)
    client.detach(client.consumer("orders"))
    mesh.pump(2.0)
    near.pass_on(to_router(annotations={"to": "orders", "ingress": "0/B", "trace": ["0/B"]}))
    [octets] = far.arrived()
    assert marked(octets) == {"phase": 22, "to": "orders", "ingress": "0/B", "trace": ["0/B", "0/A"]}


PLACES = [("E", "E"), ("E", "I"), ("E", "F"), ("E", "P"), ("E", "G"), ("I", "E"), ("P", "E"), ("P", "I")]


class TestEdges:
    @pytest.fixture
    def mesh(self):
        """I and P in a line; E and F at I, G at P."""
        mesh = EdgeMesh("I", "P", addresses=SETTINGS)
        mesh.join("I", "P")
        for edge, router in (("E", "I"), ("F", "I"), ("G", "P")):
            mesh.hang(edge, router, addresses=SETTINGS)
        return mesh

    @pytest.mark.parametrize(("start", "end"), PLACES)
    @pytest.mark.parametrize("is_anonymous", [False, True])
    def test_a_message_is_diverted_once_and_its_outcome_comes_back(self, mesh, start, end, is_anonymous):
        client, there = mesh[start].client(), mesh[end].client()
        link = stand_in(there)
        sender = client.producer(None if is_anonymous else "orders")
        assert sender.credit == CAPACITY
        delivery = client.send(sender, message_to("orders"))
        assert len(there.received(link)) == 1
        there.latest(link).update(ACCEPTED, True)
        mesh.pump()
        assert outcome(delivery) == (ACCEPTED, True)
        assert sum(mesh[id].router.intake.redirected for id in "IPEFG") == 1

    @pytest.mark.parametrize(("start", "end"), PLACES)
    @pytest.mark.parametrize("place", ["E", "I", "F", "P", "G"])
    def test_a_consumer_anywhere_gets_the_message_first(self, mesh, start, end, place):
        client, there, elsewhere = mesh[start].client(), mesh[end].client(), mesh[place].client()
        sender = client.producer("orders")
        link = stand_in(there)
        primary = elsewhere.consumer("orders", credit=10)
        client.send(sender, message())
        assert (len(elsewhere.received(primary)), len(there.received(link))) == (1, 0)
        elsewhere.detach(primary)
        client.send(sender, message())
        assert len(there.received(link)) == 1

    def test_nothing_is_left_when_all_have_gone(self, mesh):
        client, there = mesh["E"].client(), mesh["G"].client()
        link = stand_in(there)
        client.send(client.producer("orders"), message(), settled=True)
        assert len(there.received(link)) == 1
        client.leave()
        there.leave()
        mesh.pump()
        assert mesh.left_over() == {}


class TestAutoLinks:
    def test_one_out_of_the_router_is_the_fallback_destination_and_what_it_sends_in_is_not_diverted(self):
        out = AutoLinkSettings(
            name="out", address="orders", direction=LinkDirection.OUT, phase=0, is_fallback=True, container_id="broker"
        )
        into = AutoLinkSettings(
            name="in", address="orders", direction=LinkDirection.IN, phase=0, is_fallback=True, container_id="broker"
        )
        workers = Workers(1, addresses=SETTINGS)
        router = workers[0].router
        router.auto_links.add(out)
        router.auto_links.add(into)
        assert [use.address.key for use in router.auto_links.uses.values()] == ["MForders", "M0orders"]
