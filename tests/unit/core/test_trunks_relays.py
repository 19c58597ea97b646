"""Workers of one router of which one has the trunk: links to it for messages that it is to send on."""

import pytest

from routerd.core import AddressSettings, Distribution, MappedAddresses
from routerd.wire import ACCEPTED, RELEASED, Connection, ConnectionConfig, Header, Modified, Rejected, Source, Target
from tests.endpoints import Recorder
from tests.routers import message, message_to, outcome
from tests.unit.core.joined_routers import Mesh, mapped, marked, neighbour, routes, to_router

MAYBE_SEEN = Modified(delivery_failed=True)
CAPACITY = 250
ADDRESSES = ["orders", "closest", "multicast"]


@pytest.fixture
def router():
    return Mesh("R", workers=2)["R"]


class Relay:
    """A router with the producer at worker 0 and the trunk at worker 1."""

    def __init__(self, router, address="orders", *, credit=1000, pairs=10):
        self.router = router
        self.address = address
        self.far = neighbour(router, worker=1).attach(pairs=pairs, credit=credit)
        self.have()
        self.client = router.client(0)
        self.sender = self.client.producer(address)

    def have(self, *keys, **news):
        self.router.tell(
            **{"routes": routes((self.far, {"P": 1})), "radius": 1, "mapped": mapped(P=keys or (f"M0{self.address}",))}
            | news
        )
        self.router.pump()

    def forget(self):
        self.router.tell(forgotten=("P",))
        self.router.pump()

    def send(self, octets=None, **options):
        return self.client.send(self.sender, octets or message(), **options)

    def links(self):
        """The links from worker 0 to worker 1, by their targets."""
        line = self.router[0].line_to(1)
        [peer] = [end.context for end in (line.client, line.server) if end.handler is self.router[0].router]
        return sorted(outlet.link.target.address for outlet in peer.outlets)

    @property
    def name(self):
        return f"@{self.far.number}:M0{self.address}"

    @property
    def arrived(self):
        return [octets[-1:] for octets in self.far.arrived()]


class TestMessages:
    @pytest.mark.parametrize("address", ADDRESSES)
    @pytest.mark.parametrize("settled", [False, True])
    def test_they_reach_the_neighbour_and_outcomes_come_back(self, router, address, settled):
        relay = Relay(router, address)
        deliveries = [relay.send(message(str(number)), settled=settled) for number in range(5)]
        assert relay.arrived == [b"0", b"1", b"2", b"3", b"4"]
        assert [marked(octets) for octets in relay.far.arrived()] == [
            {"to": address, "ingress": "0/R", "trace": ["0/R"]}
        ] * 5
        if settled:
            assert all(one.remote_settled for one in relay.far.unsettled[relay.far.data_in[4].name])
            return
        relay.far.settle_all("reject")
        assert [outcome(delivery) for delivery in deliveries] == [(Rejected(), True)] * 5

    def test_those_of_a_neighbour_are_marked_once(self, router):
        relay = Relay(router)
        source = neighbour(router, "S", worker=0).attach()
        annotations = {"to": "orders", "ingress": "0/O", "trace": ["0/O", "0/S"]}
        delivery = source.pass_on(to_router(annotations=annotations))
        assert [marked(octets) for octets in relay.far.arrived()] == [
            annotations | {"trace": ["0/O", "0/S", "0/R"]}
        ]
        relay.far.settle_all()
        assert outcome(delivery) == (ACCEPTED, True)

    def test_those_without_annotations_are_relayed_as_they_are(self, router):
        relay = Relay(router)
        client = router.client(0)
        client.send(client.producer(None), message_to("orders"))
        assert [marked(octets) for octets in relay.far.arrived()] == [{"ingress": "0/R", "trace": ["0/R"]}]

    @pytest.mark.parametrize("priority", [None, 0, 9])
    def test_their_priority_counts(self, router, priority):
        relay = Relay(router)
        relay.send(message(header=Header(priority=priority)))
        assert relay.far.priorities() == [number == (4 if priority is None else priority) for number in range(10)]

    @pytest.mark.parametrize("address", ["urgent", "urgent/copies"])
    def test_the_priority_of_an_address_counts(self, address):
        treatments = (
            AddressSettings(pattern="urgent", priority=8),
            AddressSettings(pattern="urgent/copies", priority=8, distribution=Distribution.MULTICAST),
        )
        relay = Relay(Mesh("R", workers=2, addresses=treatments)["R"], address)
        relay.send(message(header=Header(priority=1)))
        assert relay.far.priorities() == [number == 8 for number in range(10)]

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_they_wait_for_the_neighbours_credit_in_order(self, router, address):
        relay = Relay(router, address, credit=0)
        for number in range(5):
            relay.send(message(str(number)))
        assert relay.arrived == []
        relay.far.data_in[4].grant(2)
        router.pump()
        relay.far.data_in[4].grant(9)
        router.pump()
        assert relay.arrived == [b"0", b"1", b"2", b"3", b"4"]

    @pytest.mark.parametrize("settled", [False, True])
    def test_a_large_one_is_relayed_as_it_comes(self, router, settled):
        relay = Relay(router)
        octets = message(b"x" * 300)
        delivery = relay.client.stream(relay.sender, octets[:100], octets[100:200], ends=False, settled=settled)
        received = len(b"".join(relay.far.bodies))
        assert received > 200
        relay.client.go_on(delivery, octets[200:], more=False)
        assert len(relay.far.arrived()) == 1
        if not settled:
            relay.far.settle_all()
            assert outcome(delivery) == (ACCEPTED, True)

    @pytest.mark.parametrize("cut", [0, 1, 5, 9, 15, 30])
    def test_a_large_one_is_relayed_wherever_it_is_cut(self, router, cut):
        relay = Relay(router)
        octets = message(header=Header(priority=4), body="x" * 50)
        relay.client.stream(relay.sender, octets[:cut], octets[cut:])
        [arrived] = relay.far.arrived()
        assert (marked(arrived)["to"], arrived[-50:]) == ("orders", b"x" * 50)

    def test_what_a_relay_cannot_read_is_rejected_there(self, router):
        far = neighbour(router, worker=0).attach()
        session, _ = sibling_by_hand(router)
        link = session.sender("relayed")
        link.attach(source=Source(address=f"@{far.number}:M0a"), target=Target(address=f"@{far.number}:M0a"))
        router.pump()
        delivery = link.send(bytes.fromhex("005372c00101"))
        router.pump()
        assert delivery.remote_state.error.condition == "amqp:decode-error"


class TestLinks:
    @pytest.mark.parametrize("address", ADDRESSES)
    def test_there_is_one_for_each_address_and_trunk_while_somebody_sends(self, router, address):
        relay = Relay(router, address)
        other = relay.client.producer(address)
        assert relay.links() == [relay.name]
        relay.client.detach(other)
        assert relay.links() == [relay.name]
        relay.client.detach(relay.sender)
        assert relay.links() == []

    def test_there_is_none_where_nobody_sends(self, router):
        relay = Relay(router)
        relay.client.leave()
        relay.have("M0other")
        router.client(0).consumer("other")
        assert relay.links() == []

    def test_producers_that_come_and_go_leave_none_behind(self, router):
        relay = Relay(router)
        for _ in range(5):
            client = router.client(0)
            client.send(client.producer("orders"), message())
            client.leave()
        assert relay.links() == [relay.name]
        relay.client.leave()
        assert relay.links() == [relay.name]
        relay.far.settle_all()
        assert relay.links() == []

    def test_it_goes_with_the_way_once_nothing_is_under_way(self, router):
        relay = Relay(router)
        delivery = relay.send()
        relay.forget()
        assert (relay.links(), relay.sender.credit) == ([relay.name], 0)
        relay.far.settle_all()
        assert (outcome(delivery), relay.links()) == ((ACCEPTED, True), [])

    def test_it_goes_at_once_with_a_way_that_nothing_is_on(self, router):
        relay = Relay(router)
        assert relay.links() == [relay.name]
        relay.forget()
        assert relay.links() == []

    def test_a_large_message_under_way_keeps_it(self, router):
        relay = Relay(router)
        octets = message(b"x" * 300)
        delivery = relay.client.stream(relay.sender, octets[:100], ends=False, settled=True)
        relay.forget()
        assert relay.links() == [relay.name]
        relay.client.go_on(delivery, octets[100:], more=False)
        assert (relay.links(), len(relay.far.arrived())) == ([], 1)

    def test_it_goes_though_its_attach_was_not_answered_yet(self, router):
        relay = Relay(router)
        line = router[0].line_to(1)
        line.holds = {line.client, line.server}
        relay.have("M0orders", "M0other")
        relay.client.producer("other")
        relay.router.tell(mapped=(MappedAddresses("P", {}, ("M0other",)),))
        router.pump()
        line.holds = set()
        router.pump()
        assert relay.links() == [relay.name]

    def test_so_does_one_for_an_address_that_the_sibling_has_consumers_of(self, router):
        relay = Relay(router)
        consumer = router.client(1)
        receiver = consumer.consumer("other")
        line = router[0].line_to(1)
        line.holds = {line.client, line.server}
        relay.have("M0orders", "M0other")
        relay.client.producer("other")
        relay.router.tell(mapped=(MappedAddresses("P", {}, ("M0other",)),))
        router.pump()
        line.holds = set()
        router.pump()
        assert relay.links() == [relay.name, "M0other"]
        consumer.detach(receiver)
        assert relay.links() == [relay.name]

    def test_a_way_that_returns_has_another_link(self, router):
        relay = Relay(router)
        delivery = relay.send()
        relay.forget()
        relay.have()
        relay.send()
        assert len(relay.arrived) == 2
        relay.far.settle_all()
        assert (outcome(delivery), relay.links()) == ((ACCEPTED, True), [relay.name])

    def test_both_workers_may_have_trunks_to_the_same_router(self, router):
        relay = Relay(router)
        near = neighbour(router, "M", worker=0).attach()
        relay.have(routes=routes((relay.far, {"P": 1}), (near, {"Q": 1})), mapped=mapped(Q=("M0orders",)))
        for _ in range(6):
            relay.send()
        assert (len(relay.arrived), len(near.arrived())) == (3, 3)

    def test_a_way_may_move_to_another_worker(self, router):
        relay = Relay(router)
        near = neighbour(router, worker=0).attach()
        relay.have(routes=routes((near, {"P": 1})))
        relay.send()
        assert (relay.links(), relay.arrived, len(near.arrived())) == ([], [], 1)
        relay.have(routes=routes((relay.far, {"P": 1})))
        relay.send()
        assert (relay.links(), len(relay.arrived), len(near.arrived())) == ([relay.name], 1, 1)

    def test_messages_for_a_siblings_consumers_and_those_to_relay_have_links_of_their_own(self, router):
        relay = Relay(router)
        consumer = router.client(1)
        receiver = consumer.consumer("orders", credit=2)
        assert relay.links() == [relay.name, "M0orders"]
        for _ in range(5):
            relay.send()
        assert len(consumer.received(receiver)) + len(relay.arrived) == 5
        assert len(consumer.received(receiver)) == 2

    def test_a_consumer_of_the_worker_that_relays_takes_nothing_that_is_to_be_relayed(self, router):
        relay = Relay(router, credit=0)
        delivery = relay.send()
        consumer = router.client(1)
        receiver = consumer.consumer("orders", credit=5)
        assert (consumer.received(receiver), outcome(delivery)) == ([], (None, False))
        relay.far.data_in[4].grant(1)
        router.pump()
        assert len(relay.arrived) == 1


class TestFabric:
    def test_a_fabric_that_breaks_is_used_again_when_it_is_back(self, router):
        relay = Relay(router)
        delivery = relay.send()
        router[0].line_to(1).cut()
        router.pump()
        assert outcome(delivery) == (MAYBE_SEEN, True)
        relay.send()
        assert len(relay.arrived) == 2

    def test_the_same_goes_for_one_that_comes_late(self):
        mesh = Mesh("R", workers=2)
        router = mesh["R"]
        router.connects = False
        router[0].line_to(1).cut()
        relay = Relay(router, "orders")
        relay.send()
        assert relay.arrived == []
        router.connects = True
        router.pump()
        relay.send()
        assert len(relay.arrived) == 2

    def test_a_sibling_that_is_told_of_late_is_used_as_soon_as_it_is_known(self):
        mesh = Mesh("R", workers=2)
        mesh.untold = {"R"}
        router = mesh["R"]
        router.kill(0)
        far = neighbour(router, worker=1).attach()
        router.holds_deltas = {0}
        router.start(0)
        router.tell(routes=routes((far, {"P": 1})), radius=1, mapped=mapped(P=("M0orders",)))
        client = router.client(0)
        sender = client.producer("orders")
        router.holds_deltas = set()
        router.pump()
        client.send(sender, message())
        assert len(far.arrived()) == 1

    def test_a_relay_that_dies_takes_what_was_under_way_with_it(self, router):
        relay = Relay(router)
        first = relay.send()
        router.kill(1)
        router.pump()
        assert outcome(first) == (MAYBE_SEEN, True)
        second = relay.send()
        assert outcome(second) == (None, False)
        relay.router.tell(routes={})
        router.pump()
        assert (outcome(second), relay.sender.credit) == ((RELEASED, True), 0)

    def test_a_worker_that_has_to_learn_again_does_so_from_full_news(self):
        mesh = Mesh("A", "B", workers=2)
        mesh.join("A", "B", at=(1, 0))
        consumer = mesh["B"].client(1)
        receiver = consumer.consumer("orders", credit=9)
        mesh["A"].kill(0)
        worker = mesh["A"].start(0)
        mesh.pump()
        mesh["A"].learn_again(worker)
        client = mesh["A"].client(0)
        client.send(client.producer("orders"), message())
        assert consumer.received(receiver) == [message()]


class TestLostTrunks:
    @pytest.mark.parametrize("address", ADDRESSES)
    def test_what_was_sent_may_have_been_seen_and_what_waits_is_released(self, router, address):
        relay = Relay(router, address, credit=1)
        deliveries = [relay.send() for _ in range(3)]
        relay.far.vanish()
        assert [outcome(one) for one in deliveries] == [(MAYBE_SEEN, True), (RELEASED, True), (RELEASED, True)]

    def test_what_comes_before_the_news_waits_for_them(self, router):
        relay = Relay(router)
        relay.far.vanish()
        delivery = relay.send()
        assert outcome(delivery) == (None, False)
        router.tell(routes={})
        router.pump()
        assert (outcome(delivery), relay.links()) == ((RELEASED, True), [])

    def test_a_link_for_a_trunk_that_is_gone_is_refused_once(self, router):
        relay = Relay(router)
        relay.have("M0orders", "M0other")
        relay.far.vanish()
        line = router[0].line_to(1)
        carried = []
        carry = line.carry

        def counted(now):
            carried.append(now)
            assert len(carried) < 200, "the workers ask each other without end"
            return carry(now)

        line.carry = counted
        sender = relay.client.producer("other")
        assert sender.credit == CAPACITY
        delivery = relay.client.send(sender, message())
        assert outcome(delivery) == (None, False)
        router.tell(routes={})
        router.pump()
        assert (outcome(delivery), sender.credit, relay.links()) == ((RELEASED, True), 0, [])

    def test_a_way_over_another_trunk_of_the_sibling_takes_over(self, router):
        relay = Relay(router)
        other = neighbour(router, worker=1).attach()
        relay.far.vanish()
        router.tell(routes=routes((other, {"P": 1})))
        router.pump()
        relay.send()
        assert len(other.arrived()) == 1

    @pytest.mark.parametrize("target", ["@", "@x:M0a", "@7", "@99:M0a", "@:", "@-1:M0a"])
    def test_a_link_for_no_trunk_is_refused(self, router, target):
        session, stranger = sibling_by_hand(router)
        session.sender("odd").attach(source=Source(address=target), target=Target(address=target))
        router.pump()
        assert ("link detached", "odd", True, "qd:no-route-to-dest") in stranger.events
        assert router[0].router.addresses == {}


def sibling_by_hand(router):
    """A session with worker 0, that of a sibling which does only what the test does."""
    stranger = Recorder()
    worker = router[0]
    router.connects = False
    worker.line_to(1).cut()
    peer = worker.router.connections.new_peer("fabric")
    server = worker.end(peer, ConnectionConfig(container_id="R"), is_client=False)
    properties = {"worker": 1, "incarnation": router[1].sibling.incarnation}
    client = Connection(ConnectionConfig(container_id="x", properties=properties), stranger, is_client=True)
    client.open()
    router.line(client, server)
    router.pump()
    session = client.session()
    session.begin()
    return session, stranger


class TestLeftOver:
    @pytest.mark.parametrize("address", ADDRESSES)
    def test_nothing_is_left_when_all_have_gone(self, address):
        mesh = Mesh("A", "B", "C", workers=2)
        mesh.join("A", "B", at=(1, 0))
        mesh.join("B", "C", at=(1, 1))
        consumers = [mesh["C"].client(index) for index in (0, 1)]
        receivers = [client.consumer(address, credit=9) for client in consumers]
        producer = mesh["A"].client(0)
        sender = producer.producer(address)
        deliveries = [producer.send(sender, message(str(number))) for number in range(4)]
        producer.send(producer.producer(None), message_to(address), settled=True)
        producer.stream(sender, message(b"x" * 300)[:100], message(b"x" * 300)[100:])
        got = [client.received(receiver) for client, receiver in zip(consumers, receivers, strict=True)]
        assert sum(map(len, got)) == (12 if address == "multicast" else 6)
        for client in consumers:
            for unsettled in client.unsettled.values():
                for delivery in unsettled:
                    delivery.accept()
        mesh.pump()
        assert [outcome(delivery) for delivery in deliveries] == [(ACCEPTED, True)] * 4
        producer.leave()
        for client in consumers:
            client.leave()
        assert mesh.left_over() == {}

    def test_a_settled_message_that_waited_at_a_relay_leaves_nothing_behind(self, router):
        relay = Relay(router, credit=0)
        relay.send(settled=True)
        relay.client.leave()
        relay.forget()
        relay.far.data_in[4].grant(1)
        router.pump()
        assert [router[index].router.addresses for index in (0, 1)] == [{}, {}]
