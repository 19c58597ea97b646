"""Address tracking: what interior routers tell of consumers elsewhere, and what producers at the edge get of it."""

import gc

import pytest

from routerd.core import AddressSettings, Distribution, MappedAddresses
from routerd.wire import RELEASED, Source, Symbol, Target
from tests.routers import TREATMENTS, message, message_to, outcome
from tests.unit.core.edge_routers import (
    CAPACITY,
    LINKS,
    TRACKING,
    EdgeMesh,
    edge_router,
    far_edge,
    far_interior,
    interior_router,
    kept_by_key,
    value,
)
from tests.unit.core.joined_routers import mapped, neighbour, routes

ADDRESSES = ["orders", "closest/a", "multicast/a"]

@pytest.fixture
def edge():
    return edge_router()


@pytest.fixture
def router():
    return interior_router()


@pytest.fixture
def mesh():
    mesh = EdgeMesh("I")
    mesh.hang("E", "I")
    return mesh


class TestNotices:
    """What an interior router tells."""

    def test_a_producer_of_the_edge_router_has_it_told_of_consumers_that_are_there(self, router):
        far = far_edge(router).attach()
        client = router.client()
        client.consumer("orders")
        assert far.notices() == []
        far.producer("orders")
        assert far.notices() == [["M0orders", True]]
        assert far.latest(far.tracking).remote_settled

    def test_they_are_messages_of_a_header_and_a_list(self, router):
        far = far_edge(router).attach()
        router.client().consumer("orders")
        far.producer("orders")
        # An empty header: it says no more than that it is there; then a list of a string and a boolean.
        assert far.received(far.tracking) == [bytes.fromhex("00537045" "005377" "c00c02" "a1084d306f7264657273" "41")]

    def test_consumers_that_come_and_go_later_are_told_of(self, router):
        far = far_edge(router).attach()
        far.producer("orders")
        client = router.client()
        for _ in range(3):
            client.detach(client.consumer("orders"))
        assert far.notices() == [["M0orders", True], ["M0orders", False]] * 3

    def test_only_changes_are_told(self, router):
        far = far_edge(router).attach()
        far.producer("orders")
        clients = [router.client() for _ in range(3)]
        consumers = [client.consumer("orders") for client in clients]
        for client, consumer in zip(clients, consumers, strict=True):
            client.detach(consumer)
        assert far.notices() == [["M0orders", True], ["M0orders", False]]

    def test_each_of_many_edge_routers_is_told_once_whoever_else_comes_and_goes(self, router):
        edges = [far_edge(router).attach() for _ in range(4)]
        consumers = []
        for far in edges:
            far.producer("orders")
            far.producer("orders")
            consumers.append(far.consumer("orders"))
        assert [far.notices() for far in edges] == [[["M0orders", True]]] * 4
        for far, consumer in zip(edges[1:], consumers[1:], strict=True):
            far.detach(consumer)
        # The first one is the only one left, and its own consumer does not count.
        assert edges[0].notices() == [["M0orders", True], ["M0orders", False]]
        assert [far.notices() for far in edges[1:]] == [[["M0orders", True]]] * 3

    def test_the_edge_routers_own_consumers_do_not_count(self, router):
        far = far_edge(router).attach()
        far.producer("orders")
        own = far.consumer("orders")
        assert far.notices() == []
        client = router.client()
        consumer = client.consumer("orders")
        client.detach(consumer)
        assert far.notices() == [["M0orders", True], ["M0orders", False]]
        far.detach(own)
        assert len(far.notices()) == 2

    def test_those_of_other_edge_routers_do(self, router):
        first, second = far_edge(router).attach(), far_edge(router).attach()
        first.producer("orders")
        second.producer("orders")
        consumer = second.consumer("orders")
        assert (first.notices(), second.notices()) == ([["M0orders", True]], [])
        second.detach(consumer)
        assert (first.notices(), second.notices()) == ([["M0orders", True], ["M0orders", False]], [])

    def test_those_of_other_routers_do(self):
        mesh = EdgeMesh("A", "B")
        mesh.join("A", "B")
        far = far_edge(mesh["A"]).attach()
        far.producer("orders")
        client = mesh["B"].client()
        consumer = client.consumer("orders")
        assert far.notices() == [["M0orders", True]]
        client.detach(consumer)
        assert far.notices() == [["M0orders", True], ["M0orders", False]]

    @pytest.mark.parametrize("workers", [2, 3])
    def test_those_of_other_workers_do(self, workers):
        router = interior_router(workers=workers)
        far = far_edge(router).attach()
        far.producer("orders")
        client = router.client(workers - 1)
        consumer = client.consumer("orders")
        assert far.notices() == [["M0orders", True]]
        client.detach(consumer)
        assert far.notices() == [["M0orders", True], ["M0orders", False]]

    def test_nobody_is_told_of_addresses_that_it_does_not_send_to(self, router):
        far = far_edge(router).attach()
        router.client().consumer("orders")
        far.producer("others")
        far.producer(None)
        assert far.notices() == []

    def test_the_phase_is_a_part_of_the_key(self, router):
        far = far_edge(router).attach()
        far.producer("waypoint/q")
        router.client().consumer("waypoint/q")
        assert far.notices() == []
        far.producer(None, target=Target(address="waypoint/q", capabilities=(Symbol("qd.waypoint.1"),)))
        assert far.notices() == [["M1waypoint/q", True]]

    def test_a_producer_that_comes_back_is_told_again(self, router):
        far = far_edge(router).attach()
        router.client().consumer("orders")
        for _ in range(2):
            far.detach(far.producer("orders"))
        assert far.notices() == [["M0orders", True]] * 2

    def test_a_producer_that_comes_back_is_told_of_what_it_has_missed(self, router):
        far = far_edge(router).attach()
        client = router.client()
        consumer = client.consumer("orders")
        far.detach(far.producer("orders"))
        client.detach(consumer)
        far.producer("orders")
        client.consumer("orders")
        assert far.notices()[-1] == ["M0orders", True]
        assert len(far.notices()) in (2, 3)

    def test_notices_wait_for_credit(self, router):
        far = far_edge(router)
        far.tracking = far.consumer(TRACKING, credit=1)
        client = router.client()
        for number in range(5):
            client.consumer(f"a{number}")
            far.producer(f"a{number}")
        assert far.notices() == [["M0a0", True]]
        far.tracking.grant(2)
        router.pump()
        assert far.notices() == [["M0a0", True], ["M0a1", True], ["M0a2", True]]
        far.tracking.grant(10)
        router.pump()
        assert far.notices() == [[f"M0a{number}", True] for number in range(5)]

    def test_what_changed_twice_while_there_was_no_credit_is_not_told(self, router):
        far = far_edge(router)
        far.tracking = far.consumer(TRACKING)
        far.producer("orders")
        client = router.client()
        client.detach(client.consumer("orders"))
        far.tracking.grant(10)
        router.pump()
        assert far.notices() == []

    def test_a_link_that_comes_later_is_told_of_what_is_there(self, router):
        far = far_edge(router)
        router.client().consumer("orders")
        far.producer("orders")
        far.tracking = far.consumer(TRACKING, credit=CAPACITY)
        assert far.notices() == [["M0orders", True]]

    def test_a_link_in_the_place_of_another_is_told_again(self, router):
        far = far_edge(router).attach()
        client = router.client()
        consumer = client.consumer("orders")
        far.producer("orders")
        far.detach(far.tracking)
        client.detach(consumer)
        client.consumer("orders")
        far.tracking = far.consumer(TRACKING, credit=CAPACITY)
        assert far.notices() == [["M0orders", True]]

    def test_nobody_is_told_without_a_link(self, router):
        far = far_edge(router).attach()
        far.producer("orders")
        far.detach(far.tracking)
        router.client().consumer("orders")
        assert far.notices() == []

    def test_the_end_of_another_link_changes_nothing(self, router):
        far = far_edge(router).attach()
        far.detach(far.downlink)
        far.producer("orders")
        router.client().consumer("orders")
        assert far.notices() == [["M0orders", True]]

    def test_nothing_is_kept_of_addresses_that_are_no_more(self, router):
        far = far_edge(router).attach()
        client = router.client()
        for number in range(50):
            consumer = client.consumer(f"tracked{number}")
            far.detach(far.producer(f"tracked{number}"))
            client.detach(consumer)
        gc.collect()
        known = [one for one in gc.get_objects() if type(one) is dict and "M0tracked7" in one]
        assert (list(router.router.addresses), known) == (["HX"], [])

    def test_nothing_is_kept_of_an_edge_router_that_is_no_more(self, router):
        far = far_edge(router).attach()
        router.client().consumer("orders")
        far.producer("orders")
        ends = [far.peer, *far.peer.inlets]
        far.vanish()
        assert kept_by_key(*ends) == []

    def test_of_addresses_that_have_gone_elsewhere_nothing_is_kept(self, router):
        far_edge(router).attach()
        other = neighbour(router, "M").attach(pairs=1)
        producer = router.client()
        sender = producer.producer(None)
        router.tell(routes=routes((other, {"P": 1})), radius=1, mapped=mapped(P=("M0elsewhere7",)))
        producer.send(sender, message_to("elsewhere7"))
        router.pump()
        router.tell(routes=routes((other, {"P": 2})), radius=1)
        router.tell(mapped=(MappedAddresses("P", {}, ("M0elsewhere7",)),))
        router.pump()
        known = [one for one in gc.get_objects() if type(one) is dict and "M0elsewhere7" in one]
        assert (list(router.router.addresses), known) == (["HX"], [])


class TestCredit:
    """What producers at an edge router get of it."""

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_a_producer_has_credit_while_there_is_a_consumer_elsewhere(self, mesh, address):
        sender = mesh["E"].client().producer(address)
        assert sender.credit == 0
        client = mesh["I"].client()
        for _ in range(2):
            consumer = client.consumer(address, credit=10)
            assert sender.credit == CAPACITY
            client.detach(consumer)
            assert sender.credit == 0

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_it_has_credit_while_there_is_a_consumer_here(self, mesh, address):
        sender = mesh["E"].client().producer(address)
        client = mesh["E"].client()
        consumer = client.consumer(address, credit=10)
        assert sender.credit == CAPACITY
        client.detach(consumer)
        assert sender.credit == 0

    def test_that_only_the_edge_router_itself_is_left_takes_the_way_and_not_the_credit(self, mesh):
        client, there = mesh["E"].client(), mesh["I"].client()
        sender = client.producer("orders")
        here = client.consumer("orders", credit=10)
        consumer = there.consumer("orders", credit=10)
        address = mesh["E"].router.addresses["M0orders"]
        assert [route.next_hop for route in address.routes] == ["I"]
        there.detach(consumer)
        assert (address.routes, sender.credit) == ([], CAPACITY)
        client.send(sender, message())
        assert client.received(here) == [message()]
        client.detach(here)
        assert sender.credit == 0

    def test_a_consumer_that_has_left_meanwhile_gives_no_credit_to_the_next_producer(self, mesh):
        client, there = mesh["E"].client(), mesh["I"].client()
        consumer = there.consumer("orders", credit=10)
        client.detach(client.producer("orders"))
        there.detach(consumer)
        sender = client.producer("orders")
        assert sender.credit == 0
        there.consumer("orders", credit=10)
        assert sender.credit == CAPACITY

    def test_a_consumer_that_is_still_there_gives_the_next_producer_credit(self, mesh):
        client = mesh["E"].client()
        mesh["I"].client().consumer("orders", credit=10)
        for _ in range(3):
            sender = client.producer("orders")
            assert sender.credit == CAPACITY
            client.detach(sender)

    def test_producers_of_very_many_addresses_get_credit(self, mesh):
        client, there = mesh["E"].client(), mesh["I"].client()
        for number in range(2 * CAPACITY):
            there.consumer(f"a{number}")
        senders = []
        for number in range(2 * CAPACITY):
            sender = client.session.sender(f"p{number}")
            sender.attach(target=Target(address=f"a{number}"))
            senders.append(sender)
        mesh.pump()
        assert [sender.credit for sender in senders] == [CAPACITY] * (2 * CAPACITY)

    def test_those_from_before_the_uplink_get_credit(self):
        mesh = EdgeMesh("I")
        mesh["I"].client().consumer("orders", credit=10)
        uplink = mesh.hang("E", "I")
        sender = mesh["E"].client().producer("orders")
        assert sender.credit == CAPACITY
        uplink.cut()
        assert sender.credit == 0
        mesh.hang("E", "I")
        assert sender.credit == CAPACITY

    def test_so_they_do_when_another_uplink_takes_over(self):
        mesh = EdgeMesh("A", "B")
        uplink = mesh.hang("E", "A")
        mesh.hang("E", "B")
        client, there = mesh["E"].client(), mesh["B"].client()
        senders = [client.producer(f"a{number}") for number in range(300)]
        for number in range(300):
            there.consumer(f"a{number}")
        assert {sender.credit for sender in senders} == {0}
        uplink.cut()
        assert {sender.credit for sender in senders} == {CAPACITY}

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_consumers_far_away_give_credit_too(self, address):
        mesh = EdgeMesh("A", "B", "C")
        mesh.join("A", "B")
        mesh.join("B", "C")
        mesh.hang("E", "A")
        mesh.hang("F", "C")
        sender = mesh["E"].client().producer(address)
        client = mesh["F"].client()
        consumer = client.consumer(address, credit=10)
        assert sender.credit == CAPACITY
        client.detach(consumer)
        assert sender.credit == 0

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_two_edge_routers_of_one_router_reach_each_other(self, address):
        mesh = EdgeMesh("I")
        mesh.hang("E", "I")
        mesh.hang("F", "I")
        client, there = mesh["E"].client(), mesh["F"].client()
        sender = client.producer(address)
        consumer = there.consumer(address, credit=10)
        client.send(sender, message())
        assert there.received(consumer) == [message()]
        there.detach(consumer)
        assert sender.credit == 0

    def test_a_producer_without_address_always_has_credit(self, mesh):
        assert mesh["E"].client().producer(None).credit == CAPACITY
        assert edge_router("F").client().producer(None).credit == CAPACITY

    def test_a_producer_to_a_place_elsewhere_has_credit_while_there_is_an_uplink(self):
        mesh = EdgeMesh("I")
        uplink = mesh.hang("E", "I")
        senders = [mesh["E"].client().producer(address) for address in ("_topo/0/I/x", "_topo/0/P/x", "_edge/F/x")]
        assert [sender.credit for sender in senders] == [CAPACITY] * 3
        uplink.cut()
        assert [sender.credit for sender in senders] == [0] * 3

    def test_an_address_that_is_unavailable_here_can_be_reached_elsewhere(self):
        closed = AddressSettings(pattern="orders", distribution=Distribution.UNAVAILABLE)
        mesh = EdgeMesh("I")
        mesh.hang("E", "I", addresses=(*TREATMENTS, closed))
        client = mesh["E"].client()
        link = client.producer("orders")
        assert not link.is_attached


class TestTaking:
    """What an edge router makes of notices, true or not."""

    @pytest.mark.parametrize("times", [1, 3])
    def test_a_notice_may_come_again(self, edge, times):
        far = far_interior(edge)
        sender = edge.client().producer("orders")
        for _ in range(times):
            far.tell("M0orders", True)
        assert sender.credit == CAPACITY
        for _ in range(times):
            far.tell("M0orders", False)
        assert sender.credit == 0

    def test_the_first_one_may_say_that_there_is_nobody(self, edge):
        far = far_interior(edge)
        sender = edge.client().producer("orders")
        far.tell("M0orders", False)
        assert sender.credit == 0
        far.tell("M0orders", True)
        assert sender.credit == CAPACITY

    def test_what_waits_is_released_when_nobody_is_left(self, edge):
        far = far_interior(edge, credit=0)
        client = edge.client()
        sender = client.producer("orders")
        far.tell("M0orders", True)
        delivery = client.send(sender, message())
        assert outcome(delivery) == (None, False)
        far.tell("M0orders", False)
        assert (outcome(delivery), sender.credit) == ((RELEASED, True), 0)

    def test_what_was_sent_is_not(self, edge):
        far = far_interior(edge)
        client = edge.client()
        sender = client.producer("orders")
        far.tell("M0orders", True)
        delivery = client.send(sender, message())
        far.tell("M0orders", False)
        assert outcome(delivery) == (None, False)
        far.latest(far.link_to(None)).release()
        edge.pump()
        assert outcome(delivery) == (RELEASED, True)

    @pytest.mark.parametrize(
        "octets",
        [
            b"",
            b"\x00",
            b"no message",
            message(b"data"),
            value(None),
            value(5),
            value("M0orders"),
            value([]),
            value(["M0orders"]),
            value(["M0orders", True, True]),
            value([b"M0orders", True]),
            value([5, True]),
            value([None, None]),
            value([["M0orders"], True]),
            value({"M0orders": True}),
            bytes.fromhex("0053774101"),
        ],
        ids=lambda octets: octets.hex() or "nothing",
    )
    def test_what_is_no_notice_is_passed_over(self, edge, octets):
        far = far_interior(edge)
        sender = edge.client().producer("orders")
        far.tell_octets(octets)
        assert sender.credit == 0
        far.tell("M0orders", True)
        assert sender.credit == CAPACITY

    @pytest.mark.parametrize("key", ["", "M", "orders", "HE", "L_edge", "@1:M0orders", "Tqdrouter", "Q", "M0", "\x00"])
    def test_keys_that_nobody_here_sends_to_change_nothing(self, edge, key):
        far = far_interior(edge)
        client = edge.client()
        sender = client.producer("orders")
        far.tell(key, True)
        far.tell(key, False)
        far.tell("M0orders", True)
        client.send(sender, message())
        assert far.received(far.link_to(None)) == [marked_for("orders")]

    def test_replies_to_clients_here_do_not_leave_whatever_is_told(self, edge):
        far = far_interior(edge)
        client = edge.client()
        consumer = client.consumer(None, source=Source(dynamic=True), credit=10)
        text = consumer.remote_source.address
        key = "L" + text.removeprefix("amqp:/_edge/E/")
        far.tell(key, True)
        for number in range(4):
            client.send(client.producer(None), message_to(text, str(number)), settled=True)
        assert len(client.received(consumer)) == 4
        assert far.received(far.link_to(None)) == []

    def test_keys_that_nobody_here_sends_to_are_not_kept(self, edge):
        far = far_interior(edge)
        for number in range(100):
            far.tell(f"M0a{number}", True)
        assert edge.router.directory.network.known_keys() == []

    def test_a_notice_of_an_uplink_that_is_given_up_is_none(self, edge):
        far = far_interior(edge)
        edge.client().producer("orders")
        link = far.link_from(TRACKING)
        far.link_to(None).detach()
        link.send(value(["M0orders", True]), settled=True)
        edge.pump()
        assert edge.router.directory.network.known_keys() == []

    def test_it_is_settled_or_accepted(self, edge):
        far = far_interior(edge)
        sender = edge.client().producer("orders")
        delivery = far.send(far.link_from(TRACKING), value(["M0orders", True]))
        assert (delivery.remote_settled, sender.credit) == (True, CAPACITY)

    def test_links_of_addresses_that_nobody_reaches_are_of_no_use_and_stay(self, edge):
        far = far_interior(edge)
        client = edge.client()
        client.producer("orders")
        far.tell("M0orders", False)
        assert far.ends() == [*LINKS, ("sender", None, "orders", (), ())]
        assert far.link_to("orders").is_attached


def marked_for(to):
    return message(message_annotations={Symbol("x-opt-qd.to"): to})
