"""Messages that a consumer releases: others get them before their producer hears of it."""

from typing import Any

import pytest

from routerd.core import AddressSettings, Distribution
from routerd.wire import ACCEPTED, RELEASED, Modified, Rejected, Source, Symbol, Target
from tests.routers import Client, Workers, message, message_to, outcome
from tests.unit.core.joined_routers import Mesh, mapped, marked, neighbour, routes, to_router

AGAIN = AddressSettings(pattern="again/#", resends_released=True)
NEAR = AddressSettings(pattern="near/#", distribution=Distribution.CLOSEST, resends_released=True)
COPIES = AddressSettings(pattern="copies/#", distribution=Distribution.MULTICAST, resends_released=True)
SETTINGS = (AGAIN, NEAR, COPIES)
ASKS = (Symbol("qd.resend-released"),)


def decide(client: Client, link: Any, state: Any = RELEASED) -> bool:
    """Have a consumer decide about the oldest message that it has; return whether there is one."""
    waiting = [one for one in client.unsettled.get(link.name, ()) if not (one.settled or one.remote_settled)]
    if waiting:
        waiting[0].update(state, True)
        client._workers.pump()
    return bool(waiting)


class Ends:
    """A producer at the first worker, and consumers at those named."""

    def __init__(self, *at: int, address: str = "again", credit: int = 10, asks: bool = False, **options: Any) -> None:
        self.workers = Workers(max(at) + 1, addresses=SETTINGS, **options)
        self.consumers = [self.come(worker, address, credit) for worker in at]
        self.client = self.workers.client(0)
        target = Target(address=address, capabilities=ASKS if asks else ())
        self.sender = self.client.producer(address, target=target)

    def come(self, worker: int, address: str = "again", credit: int = 10) -> tuple[Client, Any]:
        client = self.workers.client(worker)
        return client, client.consumer(address, credit=credit)

    def send(self, body: Any = "hello", **options: Any) -> Any:
        return self.client.send(self.sender, message(body), **options)

    @property
    def counts(self) -> list[int]:
        return [len(client.received(link)) for client, link in self.consumers]

    def release_all(self) -> int:
        """Release all that there is; return how many deliveries that were."""
        count = 0
        while any(decide(client, link) for client, link in self.consumers):
            count += 1
        return count


def nothing_is_kept(ends: Ends) -> bool:
    return all(worker.router.settlement.kept_octets == 0 for worker in ends.workers.workers.values())


@pytest.mark.parametrize("at", [(0, 0, 0), (0, 1), (1, 1), (0, 1, 2)])
@pytest.mark.parametrize("address", ["again", "near"])
def test_each_consumer_gets_a_released_message_once_before_the_producer_hears(at, address):
    ends = Ends(*at, address=address)
    delivery = ends.send()
    for _ in range(len(at) - 1):
        assert any(decide(client, link) for client, link in ends.consumers)
        assert outcome(delivery) == (None, False)
    assert ends.counts == [1] * len(at)
    ends.release_all()
    assert ends.counts == [1] * len(at)
    assert outcome(delivery) == (RELEASED, True)


def test_a_consumer_that_takes_no_message_as_large_is_passed_over():
    ends = Ends(0)
    client = ends.workers.client(0)
    narrow = client.consumer("again", credit=10, max_message_size=30)
    ends.consumers.append(ends.come(0))
    delivery = ends.send("x" * 100)
    while outcome(delivery) == (None, False):
        assert any(decide(*one) for one in ends.consumers)
    assert (ends.counts, client.received(narrow), outcome(delivery)) == ([1, 1], [], (RELEASED, True))


@pytest.mark.parametrize(
    "state", [ACCEPTED, Rejected(), Modified(delivery_failed=True), Modified(undeliverable_here=True)], ids=repr
)
def test_all_other_outcomes_are_passed_on_at_once(state):
    ends = Ends(0, 0, 0)
    delivery = ends.send()
    [first] = [one for one in ends.consumers if one[0].received(one[1])]
    decide(*first)
    [second] = [one for one in ends.consumers if one[0].received(one[1]) and one is not first]
    decide(*second, state)
    assert outcome(delivery) == (state, True)
    assert sum(ends.counts) == 2


def test_without_the_setting_a_released_message_is_the_producers():
    ends = Ends(0, 0, address="orders")
    delivery = ends.send()
    ends.release_all()
    assert sum(ends.counts) == 1
    assert outcome(delivery) == (RELEASED, True)


def test_a_producer_can_ask_for_it():
    ends = Ends(0, 0, address="orders", asks=True)
    delivery = ends.send()
    ends.release_all()
    assert ends.counts == [1, 1]
    assert outcome(delivery) == (RELEASED, True)
    assert nothing_is_kept(ends)


def test_copies_of_a_multicast_message_are_not_sent_again():
    ends = Ends(0, 0, address="copies")
    delivery = ends.send()
    ends.release_all()
    assert ends.counts == [1, 1]
    assert outcome(delivery) == (RELEASED, True)


def test_each_message_of_those_that_come_together_is_sent_again():
    ends = Ends(0, 0, credit=100)
    deliveries = [ends.sender.send(message(f"{number:05}" + "." * 60), None, False) for number in range(20)]
    ends.workers.pump()
    ends.release_all()
    assert ends.counts == [20, 20]
    assert all(outcome(one) == (RELEASED, True) for one in deliveries)


def test_a_message_waits_for_the_credit_of_those_that_have_not_had_it():
    ends = Ends(0, 0, credit=0)
    (first, link), (second, other) = ends.consumers
    link.grant(1)
    delivery = ends.send()
    assert ends.counts == [1, 0]
    decide(first, link)
    link.grant(5)
    ends.workers.pump()
    assert (ends.counts, outcome(delivery)) == ([1, 0], (None, False))
    another = ends.send("another")
    assert ends.counts == [2, 0]
    other.set_credit(5, drain=True)
    ends.workers.pump()
    assert (ends.counts, other.credit) == ([2, 1], 0)
    decide(second, other, ACCEPTED)
    assert outcome(delivery) == (ACCEPTED, True)
    decide(first, link, ACCEPTED)
    assert outcome(another) == (ACCEPTED, True)
    assert nothing_is_kept(ends)


@pytest.mark.parametrize("at", [(0, 0), (0, 1)])
def test_what_waits_for_a_consumer_that_leaves_is_released(at):
    ends = Ends(*at, credit=0)
    (first, link), (second, other) = ends.consumers
    link.grant(1)
    delivery = ends.send()
    decide(first, link)
    assert outcome(delivery) == (None, False)
    second.detach(other)
    ends.workers.pump()
    assert outcome(delivery) == (RELEASED, True)
    assert nothing_is_kept(ends)


def test_a_sibling_that_has_had_a_message_does_not_get_it_over_its_next_connection():
    ends = Ends(0, 1, credit=0)
    (first, link), (second, other) = ends.consumers
    other.grant(5)
    ends.workers.pump()
    delivery = ends.send()
    decide(second, other)
    ends.workers[0].line_to(1).cut()
    ends.workers.pump()
    assert (ends.counts, outcome(delivery)) == ([0, 1], (None, False))
    first.detach(link)
    ends.workers.pump()
    assert (ends.counts, outcome(delivery)) == ([0, 1], (RELEASED, True))
    assert nothing_is_kept(ends)


def test_what_a_lost_consumer_may_have_seen_is_modified():
    ends = Ends(0, 0)
    delivery = ends.send()
    [client] = [client for client, link in ends.consumers if client.received(link)]
    client.vanish()
    ends.workers.pump()
    assert outcome(delivery) == (Modified(delivery_failed=True), True)
    assert nothing_is_kept(ends)


def test_the_producer_keeps_its_capacity_taken_and_leaves_nothing():
    ends = Ends(0, 0)
    credit = ends.sender.credit
    ends.send()
    [(client, link)] = [one for one in ends.consumers if one[0].received(one[1])]
    decide(client, link)
    assert ends.sender.credit == credit - 1
    ends.client.leave()
    ends.workers.pump()
    assert nothing_is_kept(ends)
    ends.release_all()
    assert ends.counts == [1, 1]


def test_a_large_message_that_has_left_in_part_is_the_producers():
    ends = Ends(0, 0)
    octets = message(b"x" * 5000)
    delivery = ends.client.stream(ends.sender, octets[:3000], octets[3000:])
    ends.workers.pump()
    ends.release_all()
    assert sum(ends.counts) == 1
    assert outcome(delivery) == (RELEASED, True)


def test_messages_are_kept_up_to_a_limit():
    ends = Ends(0, 0)
    ends.workers[0].router.settlement.kept_max = 100
    small, large = ends.send("small"), ends.send(b"x" * 200)
    ends.release_all()
    assert outcome(small) == outcome(large) == (RELEASED, True)
    assert sum(ends.counts) == 3


def test_an_anonymous_producers_message_is_sent_again():
    ends = Ends(0, 0)
    sender = ends.client.producer(None)
    delivery = ends.client.send(sender, message_to("again"))
    ends.release_all()
    assert ends.counts == [1, 1]
    assert outcome(delivery) == (RELEASED, True)


def test_a_router_that_stops_releases_what_waits():
    ends = Ends(0, 0, credit=0)
    (first, link), _ = ends.consumers
    link.grant(1)
    delivery = ends.send()
    decide(first, link)
    router = ends.workers[0].router
    router.leaving.drain()
    assert not router.leaving.is_drained()
    router.leaving.close_all()
    ends.workers.pump()
    assert outcome(delivery) == (RELEASED, True)
    assert nothing_is_kept(ends)


def test_other_routers_get_what_the_consumers_here_release():
    mesh = Mesh("A", "B", "C", addresses=SETTINGS)
    mesh.join("A", "B")
    mesh.join("A", "C")
    consumers = []
    for id in ("A", "B", "B", "C"):
        client = mesh[id].client(0)
        consumers.append((client, client.consumer("again", credit=10)))
    producer = mesh["A"].client(0)
    sender = producer.producer("again", source=Source())
    delivery = producer.send(sender, message())
    for count in range(1, len(consumers) + 1):
        assert sum(len(client.received(link)) for client, link in consumers) == count
        assert outcome(delivery) == (None, False)
        assert any(decide(client, link) for client, link in consumers)
    assert [len(client.received(link)) for client, link in consumers] == [1, 1, 1, 1]
    assert outcome(delivery) == (RELEASED, True)
    assert all(marked(client.received(link)[0]) == {} for client, link in consumers)


def test_a_released_message_without_another_destination_leaves_nothing_at_the_routers_between():
    mesh = Mesh("A", "B", "C", addresses=SETTINGS)
    mesh.join("A", "B")
    mesh.join("B", "C")
    consumer, producer = mesh["C"].client(), mesh["A"].client()
    receiver = consumer.consumer("again", credit=9, rcv_settle_mode=1)
    delivery = producer.send(producer.producer("again"), message())
    arrived = consumer.latest(receiver)
    arrived.update(RELEASED, False)
    mesh.pump()
    assert (outcome(delivery), arrived.remote_settled) == ((RELEASED, False), False)
    delivery.settle()
    mesh.pump()
    assert arrived.remote_settled
    producer.leave()
    consumer.leave()
    assert mesh.left_over() == {}


def test_a_message_on_its_way_through_is_sent_elsewhere_by_routes_that_came_after_its_address_was_forgotten():
    router = Mesh("R", addresses=SETTINGS)["R"]
    source, here = neighbour(router, "S").attach(), neighbour(router, "N").attach()
    trunks = {"routes": routes((here, {"P": 1}), (source, {"S": 1})), "radius": 1}
    router.tell(**trunks, mapped=mapped(P=("M0again",)))
    delivery = source.pass_on(to_router("again", annotations={"to": "again", "ingress": "0/S", "trace": ["0/S"]}))
    assert len(here.arrived()) == 1
    # Nobody here uses the address, so that it is forgotten with the next news.
    router.tell(**trunks)
    assert "M0again" not in router.router.addresses
    there = neighbour(router, "M").attach(credit=0)
    trunks["routes"] |= routes((there, {"Q": 1}))
    router.tell(**trunks, mapped=mapped(Q=("M0again",)), through={"S": frozenset("PQ")})
    here.settle_all("release")
    assert (outcome(delivery), there.arrived()) == ((None, False), [])
    there.vanish()
    again = neighbour(router, "M").attach()
    router.tell(**(trunks | {"routes": routes((here, {"P": 1}), (source, {"S": 1}), (again, {"Q": 1}))}))
    router.let_pass(2)
    assert len(again.arrived()) == 1
    again.settle_all()
    assert outcome(delivery) == (ACCEPTED, True)
