"""Routes to other routers come and go: who gets credit, what waits, what is released, and what is lost on the way."""

from itertools import combinations_with_replacement

import pytest

from routerd.core import MappedAddresses, NetworkNews
from routerd.wire import (
    ACCEPTED,
    RELEASED,
    Described,
    Error,
    Header,
    Modified,
    Received,
    Rejected,
    Source,
    Symbol,
    Target,
    ULong,
)
from tests.routers import message, message_to, outcome
from tests.unit.core.joined_routers import Mesh, mapped, marked, neighbour, routes, to_router

MAYBE_SEEN = Modified(delivery_failed=True)
CAPACITY = 250
ADDRESSES = ["orders", "closest", "multicast"]
REFUSED = Error(condition=Symbol("x:refused"), description="a reason", info={Symbol("key"): "value"})
OUTCOMES = [
    RELEASED,
    Modified(delivery_failed=True, undeliverable_here=True, message_annotations={Symbol("x-opt-why"): 7}),
    ACCEPTED,
    Rejected(error=REFUSED),
]
"""Of those of several copies, the last one here prevails."""


@pytest.fixture
def router():
    return Mesh("R")["R"]


def line(workers=1):
    """The routers A, B and C, joined in a line."""
    mesh = Mesh("A", "B", "C", workers=workers)
    mesh.join("A", "B")
    mesh.join("B", "C")
    return mesh


class Ends:
    """A router with a producer, and a neighbour that leads to P, which has the address; the test gives it credit."""

    def __init__(self, router, address="orders", *, credit=0, pairs=1, **peer):
        self.router = router
        self.address = address
        self.far = neighbour(router).attach(pairs=pairs, credit=credit)
        self.have()
        self.client = router.client(peer=peer)
        self.sender = self.client.producer(address)

    def have(self):
        self.router.tell(
            routes=routes((self.far, {"P": 1})), radius=1, mapped=mapped(P=(f"M0{self.address}",))
        )
        self.router.pump()

    def send(self, octets=None, **options):
        return self.client.send(self.sender, octets or message(), **options)

    def grant(self, credit):
        for link in (*self.far.data_in, *self.far.streams):
            link.grant(credit)
        self.router.pump()

    @property
    def arrived(self):
        return [octets[-1:] for octets in self.far.arrived()]

    @property
    def inlet(self):
        """The router's end of the producer."""
        [inlet] = self.client.peer.inlets
        return inlet


class TestCredit:
    @pytest.mark.parametrize("address", ADDRESSES)
    def test_a_producer_has_it_while_another_router_has_consumers(self, router, address):
        client = router.client()
        sender = client.producer(address)
        assert sender.credit == 0
        far = neighbour(router).attach()
        router.tell(mapped=mapped(P=(f"M0{address}",)))
        router.pump()
        assert sender.credit == 0
        router.tell(routes=routes((far, {"P": 1})), radius=1)
        router.pump()
        assert sender.credit == CAPACITY
        router.tell(mapped=(MappedAddresses("P", {}, (f"M0{address}",)),))
        router.pump()
        assert sender.credit == 0
        router.tell(mapped=mapped(P=(f"M0{address}",)))
        router.pump()
        assert sender.credit == CAPACITY
        router.tell(routes={}, radius=0)
        router.pump()
        assert (sender.credit, router.router.addresses[f"M0{address}"].routes) == (0, [])

    def test_it_stays_while_there_is_one_way_left(self, router):
        ends = Ends(router)
        other = neighbour(router, "M").attach(pairs=1)
        both = routes((ends.far, {"P": 1}), (other, {"Q": 1}))
        router.tell(routes=both, mapped=mapped(Q=("M0orders",)))
        router.pump()
        address = router.router.addresses["M0orders"]
        known = [(route.next_hop, route.routers, route.cost) for route in address.routes]
        assert known == [("N", ("P",), 1), ("M", ("Q",), 1)]
        router.tell(forgotten=("P",))
        router.pump()
        assert ([route.next_hop for route in address.routes], ends.sender.credit) == (["M"], CAPACITY)

    def test_it_stays_while_consumers_of_this_router_are_left(self, router):
        ends = Ends(router)
        near = ends.client.consumer("orders")
        router.tell(forgotten=("P",))
        router.pump()
        assert ends.sender.credit == CAPACITY
        ends.client.detach(near)
        assert ends.sender.credit == 0
        ends.have()
        assert ends.sender.credit == CAPACITY

    def test_a_way_may_lead_to_other_routers_than_before(self, router):
        ends = Ends(router)
        known = routes((ends.far, {"P": 7, "Q": 3, "S": 3}))
        router.tell(routes=known, mapped=mapped(Q=("M0orders",), S=("M0orders",)))
        router.pump()
        [route] = router.router.addresses["M0orders"].routes
        assert (route.routers, route.cost, route.nearest, route.trunk) == (("P", "Q", "S"), 3, 2, ends.far.number)

    def test_another_trunk_is_another_way(self, router):
        ends = Ends(router)
        again = neighbour(router).attach(pairs=1)
        router.tell(routes=routes((again, {"P": 1})))
        ends.send()
        assert (ends.arrived, len(again.arrived())) == ([], 1)

    def test_late_news_change_nothing(self, router):
        ends = Ends(router)
        router.router.routes.apply_network(NetworkNews((1, 1), forgotten=("P",)))
        router.router.routes.apply_network(NetworkNews((0, 99), forgotten=("P",)))
        assert (ends.sender.credit, router.router.directory.network.version) == (CAPACITY, (1, 1))

    def test_full_news_stand_in_for_all_whatever_their_version(self, router):
        ends = Ends(router)
        router.router.routes.apply_network(NetworkNews((0, 5), is_full=True))
        router.pump()
        assert (ends.sender.credit, router.router.directory.network.version) == (0, (0, 5))


class TestWaiting:
    @pytest.mark.parametrize("address", ADDRESSES)
    @pytest.mark.parametrize("settled", [False, True])
    def test_messages_wait_for_credit_and_leave_in_order(self, router, address, settled):
        ends = Ends(router, address)
        for number in range(9):
            ends.send(message(str(number)), settled=settled)
        ends.grant(2)
        assert ends.arrived == [b"0", b"1"]
        ends.grant(3)
        ends.grant(4)
        assert ends.arrived == [b"%d" % number for number in range(9)]

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_they_are_released_when_nobody_can_get_them_any_more(self, router, address):
        ends = Ends(router, address)
        deliveries = [ends.send() for _ in range(3)]
        ends.send(settled=True)
        router.tell(forgotten=("P",))
        router.pump()
        assert [outcome(one) for one in deliveries] == [(RELEASED, True)] * 3
        assert (ends.inlet.released, ends.sender.credit, ends.sender.unsettled_count) == (3, 0, 0)

    @pytest.mark.parametrize("address", ["orders", "closest"])
    def test_they_take_another_way_when_theirs_is_gone(self, router, address):
        ends = Ends(router, address)
        delivery = ends.send()
        other = neighbour(router, "M").attach(pairs=1)
        router.tell(routes=routes((other, {"Q": 1})), mapped=mapped(Q=(f"M0{address}",)), forgotten=("P",))
        router.pump()
        other.settle_all()
        assert outcome(delivery) == (ACCEPTED, True)

    def test_a_consumer_of_this_router_may_take_them(self, router):
        ends = Ends(router)
        delivery = ends.send()
        receiver = ends.client.consumer("orders", credit=1)
        ends.client.latest(receiver).accept()
        router.pump()
        assert outcome(delivery) == (ACCEPTED, True)

    def test_those_of_a_neighbour_wait_with_the_others(self, router):
        ends = Ends(router)
        source = neighbour(router, "S").attach()
        for number in range(4):
            ends.send(message(str(number)))
            source.pass_on(to_router("orders", str(number + 4)))
        ends.grant(8)
        assert sorted(ends.arrived) == [b"%d" % number for number in range(8)]
        ours = [octets for octets in ends.arrived if octets < b"4"]
        assert ours == sorted(ours)
        ingress = {marked(octets)["ingress"] for octets in ends.far.arrived()}
        assert ingress == {"0/R"}

    def test_a_neighbours_are_released_when_nobody_can_get_them_any_more(self, router):
        Ends(router)
        source = neighbour(router, "S").attach()
        delivery = source.pass_on(to_router("orders"))
        source.pass_on(to_router("orders"), settled=True)
        router.tell(forgotten=("P",))
        router.pump()
        assert outcome(delivery) == (RELEASED, True)
        [inlet] = [one for one in source.peer.inlets if one.deliveries]
        assert (inlet.parked, inlet.waiting, inlet.dropped_presettled) == (0, 0, 1)

    def test_settled_messages_of_a_neighbour_do_not_wait_without_end(self, router):
        ends = Ends(router)
        source = neighbour(router, "S", capacity=20).attach()
        for number in range(50):
            # So many are kept at any rate, and more if they are small.
            source.pass_on(to_router("orders", f"{number:02}".rjust(1 << 18)), settled=True)
        [inlet] = [one for one in source.peer.inlets if one.deliveries]
        assert (inlet.parked, inlet.dropped_presettled) == (20, 30)
        ends.grant(100)
        assert [octets[-2:] for octets in ends.far.arrived()] == [b"%02d" % number for number in range(20)]

    def test_settled_copies_do_not_wait_without_end(self, router):
        ends = Ends(router, "multicast", capacity=20)
        near = ends.client.consumer("multicast", credit=100)
        for number in range(50):
            ends.send(message(f"{number:02}"), settled=True)
        links = [(one.link.name, one.dropped_presettled) for one in ends.far.peer.outlets if one.dropped_presettled]
        assert (len(ends.client.received(near)), links) == (50, [(ends.far.data_in[0].name, 30)])
        assert ends.inlet.dropped_presettled == 0
        ends.grant(100)
        assert [octets[-2:] for octets in ends.far.arrived()] == [b"%02d" % number for number in range(20)]

    def test_a_copy_that_waits_for_a_way_is_released_with_it(self, router):
        ends = Ends(router, "multicast")
        near = ends.client.consumer("multicast", credit=1)
        first, second = ends.send(), ends.send()
        ends.client.latest(near).accept()
        router.pump()
        assert outcome(first) == (None, False)
        router.tell(forgotten=("P",))
        router.pump()
        assert outcome(first) == (ACCEPTED, True)
        ends.client.detach(near)
        assert outcome(second) == (RELEASED, True)

    def test_copies_wait_behind_those_that_wait_already(self, router):
        ends = Ends(router, "multicast", pairs=10)
        for link in ends.far.data_in[:9]:
            link.grant(1)
        router.pump()
        ends.send(message("0", header=Header(priority=9)))
        ends.send(message("1", header=Header(priority=0)))
        assert ends.arrived == []
        ends.far.data_in[9].grant(1)
        router.pump()
        assert sorted(ends.arrived) == [b"0", b"1"]

    def test_a_copy_is_sent_though_its_producer_is_gone(self, router):
        ends = Ends(router, "multicast")
        near = router.client()
        near.consumer("multicast")
        ends.send()
        ends.client.leave()
        ends.grant(9)
        assert len(ends.arrived) == 1

    def test_a_settled_copy_is_sent_though_its_producer_is_gone(self, router):
        ends = Ends(router, "multicast")
        ends.send(settled=True)
        ends.client.leave()
        ends.grant(9)
        assert len(ends.arrived) == 1

    def test_a_waiting_message_is_forgotten_when_its_neighbour_is_lost(self, router):
        ends = Ends(router)
        source = neighbour(router, "S").attach(pairs=1)
        source.pass_on(to_router("orders"), priority=0)
        source.pass_on(to_router("orders"), priority=0, settled=True)
        source.vanish()
        ends.grant(9)
        assert len(ends.arrived) == 1

    def test_the_transport_may_have_no_room(self, router):
        ends = Ends(router, credit=9)
        router.router.set_blocked(ends.far.peer, True)
        ends.send()
        assert ends.arrived == []
        router.router.set_blocked(ends.far.peer, False)
        router.pump()
        assert len(ends.arrived) == 1

    @pytest.mark.parametrize("cut", [1, 6, 12, 30])
    @pytest.mark.parametrize("address", ["orders", "multicast"])
    @pytest.mark.parametrize("strips_in", [False, True])
    def test_a_message_that_was_cut_in_its_annotations_before_a_way_came_takes_it(
        self, router, strips_in, address, cut
    ):
        client = router.client(peer={"strips_in": strips_in})
        consumer = client.consumer(address)
        octets = message("x" * 50, message_annotations={Symbol("x-user"): "y" * 20})
        delivery = client.stream(client.producer(address), octets[:cut], ends=False)
        far = neighbour(router).attach()
        router.tell(routes=routes((far, {"P": 1})), radius=1, mapped=mapped(P=(f"M0{address}",)))
        router.pump()
        assert outcome(delivery) == (None, False)
        client.go_on(delivery, octets[cut:], more=False)
        [there] = far.arrived()
        assert marked(there) == {"x-user": "y" * 20, "to": address, "ingress": "0/R", "trace": ["0/R"]}
        consumer.grant(1)
        far.settle_all()
        router.pump()
        assert client.received(consumer) == ([octets] if address == "multicast" else [])

    @pytest.mark.parametrize("address", ["orders", "multicast"])
    @pytest.mark.parametrize("has_way", [True, False])
    def test_one_of_which_only_forged_annotations_have_come_takes_it_too(self, router, has_way, address):
        client = router.client()
        client.consumer(address)
        section = message(message_annotations={Symbol("x-opt-qd.ingress"): "0/Q"})[: -len(message())]
        far = neighbour(router).attach()
        news = {"routes": routes((far, {"P": 1})), "radius": 1, "mapped": mapped(P=(f"M0{address}",))}
        if has_way:
            router.tell(**news)
        octets = section + message("x" * 50)
        delivery = client.stream(client.producer(address), octets[: len(section) + 1], ends=False)
        if not has_way:
            router.tell(**news)
            router.pump()
        assert outcome(delivery) == (None, False)
        client.go_on(delivery, octets[len(section) + 1 :], more=False)
        [there] = far.arrived()
        assert marked(there) == {"to": address, "ingress": "0/R", "trace": ["0/R"]}

    @pytest.mark.parametrize("settled", [False, True])
    @pytest.mark.parametrize("address", ["orders", "multicast"])
    def test_annotations_that_are_none_do_not_leave_when_a_way_comes(self, address, settled):
        router = Mesh("R", workers=2)["R"]
        router.connects = False
        router.kill(1)
        router.start(1)
        far = neighbour(router).attach()
        client, sibling = router.client(0, peer={"strips_in": False}), router.client(1)
        # It is the sibling that connects, and until it tries messages wait for its consumers.
        sibling.consumer(address)
        client.send(client.producer(address), bytes.fromhex("005372c1050202a1") + message(), settled=settled)
        router.tell(routes=routes((far, {"P": 1})), radius=1, mapped=mapped(P=(f"M0{address}",)))
        router.pump()
        router[0].router.siblings.connect_failed(1)
        router.pump()
        assert far.arrived() == []

    def test_what_waits_is_looked_at_when_the_tree_of_its_origin_changes(self, router):
        ends = Ends(router)
        source, other = neighbour(router, "S").attach(pairs=1), neighbour(router, "M").attach(pairs=1)
        known = {"routes": routes((ends.far, {"P": 1}), (other, {"Q": 1}), (source, {"O": 1})), "radius": 1}
        router.tell(**known, through={"O": frozenset("P")}, mapped=mapped(Q=("M0orders",)))
        delivery = source.pass_on(to_router("orders", annotations={"ingress": "0/O"}), priority=0)
        assert (outcome(delivery), other.arrived()) == ((None, False), [])
        router.tell(through={"O": frozenset("Q")})
        router.pump()
        assert (len(ends.arrived), len(other.arrived())) == (0, 1)
        again = source.pass_on(to_router("orders", annotations={"ingress": "0/O"}), priority=0)
        assert (outcome(again), len(other.arrived())) == ((None, False), 2)

    def test_what_has_no_way_but_back_any_more_is_released(self, router):
        ends = Ends(router)
        source = neighbour(router, "S").attach(pairs=1)
        router.tell(
            routes=routes((ends.far, {"P": 1}), (source, {"O": 1})), radius=1, through={"O": frozenset("P")}
        )
        annotations = {"ingress": "0/O", "trace": ["0/O", "0/S"]}
        delivery = source.pass_on(to_router("orders", annotations=annotations), priority=0)
        assert outcome(delivery) == (None, False)
        router.tell(routes=routes((source, {"O": 1, "P": 9})), through={})
        router.pump()
        assert outcome(delivery) == (RELEASED, True)


class TestOutcomes:
    @pytest.mark.parametrize("state", OUTCOMES, ids=lambda state: type(state).__name__)
    @pytest.mark.parametrize("address", ADDRESSES)
    @pytest.mark.parametrize("workers", [1, 2])
    def test_a_consumers_outcome_comes_back_over_all_routers(self, state, address, workers):
        mesh = line(workers)
        # The trunks are at the first workers.
        consumer, producer = (mesh[id].client(workers - 1) for id in "CA")
        receiver = consumer.consumer(address, credit=9)
        delivery = producer.send(producer.producer(address), message())
        assert outcome(delivery) == (None, False)
        consumer.latest(receiver).decide(state)
        mesh.pump()
        assert outcome(delivery) == (state, True)
        places = [worker.router for id in "AB" for worker in mesh[id].workers.values()]
        routes = [route for router in places for one in router.addresses.values() for route in one.routes]
        assert {route.outstanding for route in routes} == {0}

    @pytest.mark.parametrize("states", [*combinations_with_replacement(OUTCOMES, 2)])
    def test_the_outcomes_of_copies_at_several_routers_become_one(self, states):
        mesh = line()
        consumers = [mesh[id].client() for id in "BC"]
        receivers = [client.consumer("multicast", credit=9) for client in consumers]
        producer = mesh["A"].client()
        delivery = producer.send(producer.producer("multicast"), message())
        for client, receiver, state in zip(consumers, receivers, states, strict=True):
            assert outcome(delivery) == (None, False)
            client.latest(receiver).decide(state)
            mesh.pump()
        assert outcome(delivery) == (states[-1], True)

    @pytest.mark.parametrize("consuming", [0, 1])
    @pytest.mark.parametrize("producing", [0, 1])
    @pytest.mark.parametrize("address", ADDRESSES)
    def test_the_producers_settlement_passes_from_end_to_end(self, address, producing, consuming):
        mesh = line()
        consumer, producer = mesh["C"].client(), mesh["A"].client()
        receiver = consumer.consumer(address, credit=9, rcv_settle_mode=consuming)
        delivery = producer.send(producer.producer(address, rcv_settle_mode=producing), message())
        arrived = consumer.latest(receiver)
        arrived.update(ACCEPTED, False)
        mesh.pump()
        assert (outcome(delivery), arrived.remote_settled) == ((ACCEPTED, False), False)
        delivery.settle()
        mesh.pump()
        assert arrived.remote_settled
        producer.leave()
        consumer.leave()
        assert mesh.left_over() == {}

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_a_consumers_settlement_passes_behind_its_outcome(self, address):
        mesh = Mesh("A", "B")
        mesh.join("A", "B")
        consumer, producer = mesh["B"].client(), mesh["A"].client()
        receiver = consumer.consumer(address, credit=9)
        delivery = producer.send(producer.producer(address), message())
        arrived = consumer.latest(receiver)
        arrived.update(RELEASED, False)
        mesh.pump()
        assert outcome(delivery) == (RELEASED, False)
        arrived.settle()
        mesh.pump()
        assert outcome(delivery) == (RELEASED, True)
        producer.leave()
        consumer.leave()
        assert mesh.left_over() == {}

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_a_trunk_that_is_lost_settles_what_is_decided_at_both_ends(self, address):
        mesh = Mesh("A", "B")
        trunk = mesh.join("A", "B")
        consumer, producer = mesh["B"].client(), mesh["A"].client()
        receiver = consumer.consumer(address, credit=9)
        delivery = producer.send(producer.producer(address), message())
        arrived = consumer.latest(receiver)
        arrived.update(ACCEPTED, False)
        mesh.pump()
        assert (outcome(delivery), arrived.remote_settled) == ((ACCEPTED, False), False)
        trunk.cut()
        assert (outcome(delivery), arrived.remote_settled) == ((ACCEPTED, True), True)
        producer.leave()
        consumer.leave()
        assert mesh.left_over() == {}

    @pytest.mark.parametrize("address", ADDRESSES)
    @pytest.mark.parametrize("how", ["detach", "vanish"])
    def test_a_lost_producer_settles_with_a_consumer_at_another_router(self, how, address):
        mesh = Mesh("A", "B")
        mesh.join("A", "B")
        consumer, producer = mesh["B"].client(), mesh["A"].client()
        receiver = consumer.consumer(address, credit=9)
        sender = producer.producer(address)
        producer.send(sender, message())
        arrived = consumer.latest(receiver)
        arrived.update(ACCEPTED, False)
        mesh.pump()
        producer.detach(sender) if how == "detach" else producer.vanish()
        mesh.pump()
        assert arrived.remote_settled
        producer.vanish()
        consumer.leave()
        assert mesh.left_over() == {}

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_an_outcome_is_settled_if_its_consumer_is_lost_before_the_producer_settles(self, address):
        mesh = Mesh("A", "B")
        mesh.join("A", "B")
        consumer, producer = mesh["B"].client(), mesh["A"].client()
        receiver = consumer.consumer(address, credit=9)
        delivery = producer.send(producer.producer(address), message())
        consumer.latest(receiver).update(ACCEPTED, False)
        mesh.pump()
        consumer.vanish()
        mesh.pump()
        assert outcome(delivery) == (ACCEPTED, True)
        producer.leave()
        assert mesh.left_over() == {}

    def test_states_that_are_no_outcomes_pass_over_trunks_unsettled(self):
        mesh = Mesh("A", "B")
        mesh.join("A", "B")
        consumer, producer = mesh["B"].client(), mesh["A"].client()
        receiver = consumer.consumer("orders", credit=9)
        sender = producer.producer("orders")
        delivery = sender.begin(state=Described(ULong(0x34), [b"posted"]))
        sender.write(delivery, message(), 0, len(message()), False)
        mesh.pump()
        arrived = consumer.latest(receiver)
        assert arrived.remote_state == Described(ULong(0x34), [b"posted"])
        for state in (Received(section_number=1, section_offset=9), Described(ULong(0x99), ["half"])):
            arrived.update(state, False)
            mesh.pump()
            assert (outcome(delivery), arrived.remote_settled) == ((state, False), False)
        delivery.update(Described(ULong(0x98), ["go on"]), False)
        mesh.pump()
        assert arrived.remote_state == Described(ULong(0x98), ["go on"])
        arrived.update(Described(ULong(0x97), ["done"]), True)
        mesh.pump()
        assert outcome(delivery) == (Described(ULong(0x97), ["done"]), True)
        producer.leave()
        consumer.leave()
        assert mesh.left_over() == {}

    def test_transit_is_counted_where_messages_pass(self):
        mesh = line()
        consumer, producer = mesh["C"].client(), mesh["A"].client()
        consumer.consumer("orders", credit=9)
        sender = producer.producer("orders")
        for _ in range(3):
            producer.send(sender, message())
        passed = [mesh[id].router.addresses["M0orders"] for id in "ABC"]
        assert [(one.ingress, one.egress, one.transit) for one in passed] == [(3, 0, 3), (0, 0, 3), (0, 3, 0)]

    def test_a_message_larger_than_a_neighbour_takes_is_rejected(self, router):
        ends = Ends(router)
        small = ends.far.session.receiver("small")
        ends.far.detach(ends.far.data_in.pop())
        capability = {"capabilities": (Symbol("qd.router-data"),)}
        small.attach(source=Source(**capability), target=Target(**capability), max_message_size=100)
        small.grant(9)
        router.pump()
        ends.far.data_in = [small]
        delivery = ends.send(message(b"x" * 200))
        assert delivery.remote_state.error.condition == "amqp:link:message-size-exceeded"
        ends.send()
        assert len(ends.arrived) == 1


class TestLoss:
    @pytest.mark.parametrize("address", ADDRESSES)
    def test_what_was_sent_on_a_trunk_that_is_lost_may_have_been_seen(self, router, address):
        ends = Ends(router, address, credit=2)
        deliveries = [ends.send() for _ in range(3)]
        ends.far.vanish()
        assert [outcome(one) for one in deliveries[:2]] == [(MAYBE_SEEN, True)] * 2
        assert outcome(deliveries[2]) == (None, False)
        router.tell(routes={})
        router.pump()
        assert outcome(deliveries[2]) == (RELEASED, True)
        assert router.router.addresses[f"M0{address}"].routes == []

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_what_a_lost_consumer_of_another_router_may_have_seen_is_modified(self, address):
        mesh = line()
        consumer, producer = mesh["C"].client(), mesh["A"].client()
        receiver = consumer.consumer(address, credit=5)
        sender = producer.producer(address)
        deliveries = [producer.send(sender, message(str(number))) for number in range(8)]
        assert len(consumer.received(receiver)) == 5
        staying = mesh["C"].client()
        other = staying.consumer(address)
        consumer.vanish()
        assert [outcome(one) for one in deliveries[:5]] == [(MAYBE_SEEN, True)] * 5
        other.grant(9)
        mesh.pump()
        # Copies for the one that was lost are no one else's.
        waited = [] if address == "multicast" else [message(str(number)) for number in (5, 6, 7)]
        assert staying.received(other) == waited
        staying.vanish()
        producer.leave()
        assert mesh.left_over() == {}

    def test_the_same_goes_for_a_link_that_is_lost(self, router):
        ends = Ends(router, credit=2)
        delivery = ends.send()
        ends.far.detach(ends.far.data_in[0])
        [route] = router.router.addresses["M0orders"].routes
        assert (outcome(delivery), route.outstanding) == ((MAYBE_SEEN, True), 0)

    def test_what_a_lost_router_had_sent_stays_with_its_consumer(self):
        mesh = Mesh("A", "B")
        trunk = mesh.join("A", "B")
        consumer, producer = mesh["B"].client(), mesh["A"].client()
        receiver = consumer.consumer("orders", credit=9)
        sender = producer.producer("orders")
        delivery = producer.send(sender, message())
        producer.send(sender, message(), settled=True)
        trunk.cut()
        assert (outcome(delivery), sender.credit) == ((MAYBE_SEEN, True), 0)
        for one in consumer.unsettled[receiver.name]:
            one.accept()
        mesh.pump()
        assert len(consumer.received(receiver)) == 2
        producer.leave()
        consumer.leave()
        assert mesh.left_over() == {}

    def test_a_message_that_is_cut_by_the_loss_is_aborted_or_maybe_seen(self):
        mesh = Mesh("A", "B")
        trunk = mesh.join("A", "B")
        consumer, producer = mesh["B"].client(), mesh["A"].client()
        receiver = consumer.consumer("orders", credit=9)
        delivery = producer.stream(producer.producer("orders"), message(b"x" * 300)[:100], ends=False)
        assert len(consumer.bodies) == 1
        trunk.cut()
        assert (outcome(delivery), consumer.aborted) == ((MAYBE_SEEN, True), [receiver.name])
        producer.go_on(delivery, b"more")
        producer.go_on(delivery, b"end", more=False)

    def test_another_trunk_takes_over(self):
        mesh = Mesh("A", "B", "C")
        short = mesh.join("A", "B")
        mesh.join("A", "C", cost=5)
        mesh.join("C", "B", cost=5)
        consumer, producer = mesh["B"].client(), mesh["A"].client()
        receiver = consumer.consumer("orders", credit=9)
        sender = producer.producer("orders")
        producer.send(sender, message("0"))
        short.cut()
        producer.send(sender, message("1"))
        assert consumer.received(receiver) == [message("0"), message("1")]

    def test_trunks_to_one_neighbour_stand_in_for_each_other(self):
        mesh = Mesh("A", "B")
        first = mesh.join("A", "B")
        mesh.join("B", "A", cost=3)
        consumer, producer = mesh["B"].client(), mesh["A"].client()
        receiver = consumer.consumer("orders", credit=9)
        sender = producer.producer("orders")
        producer.send(sender, message("0"))
        first.cut()
        producer.send(sender, message("1"))
        assert consumer.received(receiver) == [message("0"), message("1")]

    def test_a_copy_under_way_counts_as_maybe_seen(self, router):
        ends = Ends(router, "multicast", credit=1)
        near = ends.client.consumer("multicast", credit=1)
        delivery = ends.send()
        ends.client.latest(near).release()
        router.pump()
        ends.far.vanish()
        assert outcome(delivery) == (MAYBE_SEEN, True)


class TestEnd:
    def test_neighbours_know_at_once_that_a_router_ends(self):
        mesh = line()
        client = mesh["A"].client()
        consumer = mesh["C"].client()
        consumer.consumer("orders", credit=9)
        sender = client.producer("orders")
        assert sender.credit == CAPACITY
        delivery = client.send(sender, message())
        mesh["B"].router.leaving.drain()
        mesh.pump()
        assert (mesh["A"].up, mesh["B"].up, mesh["C"].up) == ({}, {}, {})
        assert sender.credit == 0
        # What is under way still comes back.
        assert not mesh["B"].router.leaving.is_drained()
        [deliveries] = consumer.unsettled.values()
        deliveries[0].accept()
        mesh.pump()
        assert (outcome(delivery), mesh["B"].router.leaving.is_drained()) == ((ACCEPTED, True), True)
        mesh["B"].router.leaving.close_all()
        mesh.pump()
        assert (mesh["A"].router.directory.trunks, mesh["C"].router.directory.trunks) == ({}, {})

    def test_what_waits_for_a_way_is_released_at_the_end(self, router):
        ends = [Ends(router, address) for address in ("orders", "multicast")]
        deliveries = [one.send() for one in ends]
        router.router.leaving.drain()
        router.pump()
        router.router.leaving.close_all()
        router.pump()
        assert [outcome(one) for one in deliveries] == [(RELEASED, True)] * 2

    def test_a_trunk_without_control_links_ends_too(self, router):
        far = neighbour(router)
        router.router.leaving.drain()
        assert router.router.leaving.is_drained()
        router.router.leaving.close_all()
        router.pump()
        assert ("closed", "amqp:connection:forced") in far.events


class TestAnonymous:
    def test_a_message_takes_a_way_as_soon_as_there_is_one(self, router):
        ends = Ends(router, credit=9)
        sender = ends.client.producer(None)
        assert outcome(ends.client.send(sender, message_to("elsewhere"))) == (RELEASED, True)
        router.tell(mapped=mapped(P=("M0elsewhere",)))
        delivery = ends.client.send(sender, message_to("elsewhere"))
        ends.far.settle_all()
        assert outcome(delivery) == (ACCEPTED, True)

    def test_what_waits_at_an_address_without_links_leaves_with_new_credit(self, router):
        ends = Ends(router)
        sender = ends.client.producer(None)
        router.tell(mapped=mapped(P=("M0elsewhere",)))
        delivery = ends.client.send(sender, message_to("elsewhere"))
        ends.grant(1)
        ends.far.settle_all()
        assert outcome(delivery) == (ACCEPTED, True)
        router.tell(forgotten=("P",))
        router.pump()
        assert list(router.router.addresses) == ["M0orders"]
