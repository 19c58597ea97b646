"""Large messages between workers of one router: links of their own, so that a slow one stops no other message."""

import pytest

from routerd.core.links.sibling_streams import IDLE_STREAMS_MAX
from routerd.wire import ACCEPTED, RELEASED, Modified
from tests.routers import Workers, message, outcome
from tests.unit.core.joined_routers import Mesh, mapped, neighbour, routes

MAYBE_SEEN = Modified(delivery_failed=True)
OCTETS = message(b"x" * 300)
FIRST, REST = OCTETS[:100], OCTETS[100:]
ADDRESSES = ["orders", "closest", "multicast"]


class Far:
    """Producers at worker 0 and a consumer at worker 1."""

    def __init__(self, address="orders", *, credit=100, **options):
        self.workers = Workers(2, **options)
        self.address = address
        self.consumer = self.workers.client(1)
        self.receiver = self.consumer.consumer(address, credit=credit)
        self.clients = []

    def begin(self, **options):
        """Begin a large message of a client of its own."""
        client = self.workers.client(0)
        self.clients.append(client)
        return client.stream(client.producer(self.address), FIRST, ends=False, **options)

    def end(self, delivery):
        [client] = [one for one in self.clients if one.connection is delivery.link.session.connection]
        client.go_on(delivery, REST, more=False)

    def send(self, **options):
        client = self.workers.client(0)
        return client.send(client.producer(self.address), message(), **options)

    def accept_all(self):
        for delivery in self.consumer.unsettled.pop(self.receiver.name, []):
            delivery.accept()
        self.workers.pump()

    @property
    def received(self):
        return self.consumer.received(self.receiver)

    @property
    def links(self):
        """How many links worker 0 has to worker 1."""
        return sum(peer.is_fabric and len(peer.outlets) for peer in self.workers[0].router.peers.values())


@pytest.mark.parametrize("address", ["orders", "closest"])
@pytest.mark.parametrize("settled", [False, True])
def test_others_reach_another_consumer_while_one_comes_slowly(address, settled):
    far = Far(address)
    slow = far.begin(settled=settled)
    other = far.workers.client(1)
    receiver = other.consumer(address, credit=100)
    deliveries = [far.send(settled=settled) for _ in range(4)]
    far.end(far.begin(settled=settled))
    assert [len(octets) for octets in other.received(receiver)] == [len(message())] * 4 + [len(OCTETS)]
    for delivery in other.unsettled.pop(receiver.name, []):
        delivery.accept()
    far.workers.pump()
    assert settled or [outcome(delivery) for delivery in deliveries] == [(ACCEPTED, True)] * 4
    assert far.received == []
    far.end(slow)
    assert far.received == [OCTETS]


@pytest.mark.parametrize("address", ADDRESSES)
def test_several_come_at_once_and_few_idle_links_are_kept(address):
    far = Far(address)
    consumers = [far.workers.client(1) for _ in range(11)]
    receivers = [consumer.consumer(address, credit=100) for consumer in consumers]
    deliveries = [far.begin() for _ in range(12)]
    assert far.links == 13
    for delivery in reversed(deliveries):
        far.end(delivery)
    counts = [len(far.received), *(len(one.received(link)) for one, link in zip(consumers, receivers, strict=True))]
    assert counts == [12 if address == "multicast" else 1] * 12
    for consumer, receiver in zip(consumers, receivers, strict=True):
        for delivery in consumer.unsettled.pop(receiver.name, []):
            delivery.accept()
    far.accept_all()
    assert far.links == 1 + IDLE_STREAMS_MAX
    assert [outcome(delivery) for delivery in deliveries] == [(ACCEPTED, True)] * 12
    far.send(settled=True)
    far.end(far.begin(settled=True))
    assert far.links == 1 + IDLE_STREAMS_MAX


@pytest.mark.parametrize("address", ["orders", "closest"])
def test_a_consumer_without_credit_is_not_asked_for_again_and_again(address):
    far = Far(address, credit=0)
    deliveries = [far.begin() for _ in range(3)]
    assert far.links <= 2
    for delivery in deliveries:
        far.end(delivery)
    far.receiver.grant(3)
    far.workers.pump()
    assert far.received == [OCTETS] * 3


@pytest.mark.parametrize("address", ["orders", "closest"])
def test_one_that_has_come_as_a_whole_before_it_leaves_goes_with_the_others(address):
    far = Far(address, credit=0)
    far.end(far.begin())
    far.receiver.grant(1)
    far.workers.pump()
    assert (far.received, far.links) == ([OCTETS], 1)


def test_an_idle_link_takes_no_share_of_the_credit():
    far = Far("orders", credit=100)
    far.end(far.begin(settled=True))
    peers = [peer for peer in far.workers[0].router.peers.values() if peer.is_fabric]
    credits = [outlet.link.credit for peer in peers for outlet in peer.outlets]
    assert len(credits) == 2
    assert min(credits) > 90


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("how", ["vanish", "abort"])
def test_a_producer_that_goes_leaves_its_link_to_the_next(address, how):
    far = Far(address)
    slow = far.begin()
    if how == "vanish":
        far.clients[0].vanish()
    else:
        slow.link.abort(slow)
        far.workers.pump()
    far.end(far.begin())
    assert (far.received, far.links) == ([OCTETS], 2)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_consumer_that_goes_meanwhile_may_have_seen_it(address):
    far = Far(address)
    slow = far.begin()
    far.consumer.vanish()
    far.end(slow)
    assert outcome(slow) == (MAYBE_SEEN, True)
    assert far.links == 0
    for client in far.clients:
        client.leave()
    assert far.workers.left_over() == {}


@pytest.mark.parametrize("address", ADDRESSES)
def test_what_waits_for_such_a_link_is_released_with_the_last_consumer(address):
    far = Far(address)
    line = far.workers[0].line_to(1)
    far.send(settled=True)
    line.holds = {line.client, line.server}
    waiting = far.begin()
    far.consumer.vanish()
    line.holds = set()
    far.end(waiting)
    assert outcome(waiting) == (RELEASED, True)
    for client in far.clients:
        client.leave()
    assert far.links == 0


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_sibling_that_dies_may_have_seen_it(address):
    far = Far(address)
    slow = far.begin()
    far.workers.kill(1)
    far.end(slow)
    assert outcome(slow) == (MAYBE_SEEN, True)
    assert far.links == 0


@pytest.mark.parametrize("address", ADDRESSES)
def test_others_pass_a_slow_one_on_the_way_to_a_siblings_trunk(address):
    router = Mesh("R", workers=2)["R"]
    there = neighbour(router, worker=1).attach()
    router.tell(routes=routes((there, {"P": 1})), radius=1, mapped=mapped(P=(f"M0{address}",)))
    slow, quick = router.client(0), router.client(0)
    delivery = slow.stream(slow.producer(address), FIRST, ends=False)
    quick.send(quick.producer(address), message())
    another = quick.stream(quick.producer(address), FIRST, REST)
    assert len(there.arrived()) == 2
    slow.go_on(delivery, REST, more=False)
    assert len(there.arrived()) == 3
    there.settle_all()
    assert [outcome(one) for one in (delivery, another)] == [(ACCEPTED, True)] * 2
    router.tell(forgotten=("P",))
    router.pump()
    for client in (slow, quick):
        client.leave()
    assert [peer.outlets for peer in router[0].router.peers.values() if peer.is_fabric] == [{}]


class Sharing:
    """A producer at worker 0 whose links share a session, and a consumer at worker 1 that takes one after the other."""

    def __init__(self, address, *, unheld_max=4 << 20):
        self.workers = Workers(2, fabric={"incoming_window": 8})
        self.consumer = self.workers.client(1)
        self.receiver = self.consumer.consumer(address, credit=9)
        self.producer = self.workers.client(0)
        self.links = [self.producer.producer(address) for _ in range(3)]
        self.producer.peer.unheld_max = unheld_max

    def begin(self, **options):
        return [self.producer.stream(link, FIRST, ends=False, **options) for link in self.links]

    def go_on(self, deliveries, part=b"x", *, times=1, ends=False):
        for _ in range(times):
            for delivery in deliveries:
                self.producer.go_on(delivery, part, more=not ends)

    @property
    def session(self):
        return self.links[0].session

    @property
    def received(self):
        return [len(octets) for octets in self.consumer.received(self.receiver)]

    def settle(self):
        for delivery in self.consumer.unsettled.pop(self.receiver.name, []):
            delivery.accept()
        self.workers.pump()


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("settled", [False, True])
def test_those_of_links_that_share_a_session_do_not_wait_for_each_other(address, settled):
    sharing = Sharing(address)
    window = sharing.session.remote_incoming_window
    deliveries = sharing.begin(settled=settled)
    sharing.go_on(deliveries, times=window)
    sharing.go_on(deliveries, ends=True)
    assert sharing.received == [len(FIRST) + window + 1] * 3
    sharing.settle()
    assert settled or [outcome(delivery) for delivery in deliveries] == [(ACCEPTED, True)] * 3
    assert sharing.producer.peer.unheld_octets == 0
    assert sharing.session.remote_incoming_window > window // 2


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("settled", [False, True])
def test_one_that_would_stop_another_is_given_up_once_too_much_is_stuck(address, settled):
    sharing = Sharing(address)
    deliveries = sharing.begin(settled=settled)
    sharing.go_on(deliveries, bytes(1 << 18), times=40)
    sharing.go_on(deliveries, ends=True)
    assert sharing.received == [len(FIRST) + 40 * (1 << 18) + 1]
    sharing.settle()
    if not settled:
        assert [outcome(delivery) for delivery in deliveries] == [(ACCEPTED, True), (RELEASED, True), (RELEASED, True)]
    assert sharing.producer.peer.unheld_octets == 0
    sharing.go_on(sharing.begin(settled=settled), ends=True)
    assert len(sharing.received) == 4


@pytest.mark.parametrize("address", ADDRESSES)
def test_one_that_is_alone_in_its_session_closes_the_window_while_its_consumer_is_slow(address):
    far = Far(address)
    slow = far.begin()
    session = slow.link.session
    window = session.remote_incoming_window
    far.workers[1].router.set_blocked(far.consumer.peer, True)
    for _ in range(3 * window):
        if session.remote_incoming_window == 0:
            break
        far.clients[0].go_on(slow, b"x")
    assert session.remote_incoming_window == 0
    far.workers[1].router.set_blocked(far.consumer.peer, False)
    far.workers.pump()
    assert session.remote_incoming_window > window // 2
    far.clients[0].go_on(slow, b"end", more=False)
    assert len(far.received) == 1
