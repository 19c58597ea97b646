"""Large messages for edge routers: each on a link of its own, so that one that is slow holds up no other."""

import pytest

from routerd.core import AddressSettings
from routerd.wire import ACCEPTED, RELEASED, Message, Modified, Source
from tests.routers import message, message_to, outcome
from tests.unit.core.edge_routers import CAPACITY, EdgeMesh, far_edge, interior_router
from tests.unit.core.joined_routers import marked, neighbour, routes, to_router

MAYBE_SEEN = Modified(delivery_failed=True)
OCTETS = message(b"x" * 300)
PARTS = [OCTETS[:100], OCTETS[100:200], OCTETS[200:]]
ADDRESSES = ["orders", "closest/a", "multicast/a"]


@pytest.fixture
def router():
    return interior_router()


class Streaming:
    """An edge router that receives from an address, and a client that is sending a large message there."""

    def __init__(self, router, address="orders", *, worker=0, edge_worker=0, stream_credit=CAPACITY, **config):
        self.router = router
        self.address = address
        self.far = far_edge(router, worker=edge_worker, **config).attach()
        self.far.stream_credit = stream_credit
        self.consumer = self.far.consumer(address, credit=CAPACITY)
        self.client = router.client(worker)
        self.other = router.client(worker)
        self.small = self.other.producer(address)
        self.large = self.client.producer(address)

    def begin(self):
        """Begin a large message."""
        self.delivery = self.client.stream(self.large, PARTS[0], ends=False)
        return self.delivery

    def end(self):
        """Send the rest of it."""
        self.client.go_on(self.delivery, PARTS[1])
        self.client.go_on(self.delivery, PARTS[2], more=False)

    def send_small(self, octets=None):
        """Send a small message."""
        return self.other.send(self.small, message() if octets is None else octets)

    def came(self):
        """How many messages came whole on the link of the address, and on those for large ones."""
        return len(self.far.received(self.consumer)), [len(self.far.received(link)) for link in self.far.streams]


class TestLinks:
    @pytest.mark.parametrize("address", ADDRESSES)
    @pytest.mark.parametrize("settled", [False, True])
    def test_a_large_message_has_a_link_of_its_own_and_others_pass_it(self, router, address, settled):
        streaming = Streaming(router, address)
        delivery = streaming.client.stream(streaming.large, PARTS[0], ends=False, settled=settled)
        streaming.delivery = delivery
        assert (streaming.came(), len(streaming.far.partial)) == ((0, [0]), 1)
        small = streaming.send_small()
        assert streaming.came() == (1, [0])
        streaming.far.latest(streaming.consumer).accept()
        router.pump()
        assert outcome(small) == (ACCEPTED, True)
        streaming.end()
        assert streaming.came() == (1, [1])
        [link] = streaming.far.streams
        if not settled:
            streaming.far.latest(link).release()
            router.pump()
            assert outcome(delivery) == (RELEASED, True)
        assert streaming.far.peer.trunk.sides

    def test_it_is_attached_without_address_and_capability_in_a_session_of_its_own(self, router):
        streaming = Streaming(router)
        streaming.begin()
        attach = streaming.far.attaches[-1]
        assert (attach.source.address, attach.target.address) == (None, None)
        assert (attach.source.capabilities, attach.target.capabilities) == ((), ())
        [link] = streaming.far.streams
        assert list(link.session.links()) == [link]

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_what_it_says_leads_to_the_address(self, router, address):
        streaming = Streaming(router, address)
        streaming.begin()
        streaming.end()
        [octets] = streaming.far.received(streaming.far.streams[0])
        assert marked(octets) == {"to": address, "ingress": "0/I", "trace": ["0/I"]}
        assert Message.decode(octets).body == Message.decode(OCTETS).body

    def test_the_phase_is_said_as_well(self):
        router = interior_router(addresses=(AddressSettings(pattern="w/#", ingress_phase=1, egress_phase=1),))
        streaming = Streaming(router, "w/a")
        streaming.begin()
        streaming.end()
        [octets] = streaming.far.received(streaming.far.streams[0])
        assert marked(octets) == {"phase": 1, "to": "w/a", "ingress": "0/I", "trace": ["0/I"]}

    def test_a_message_of_an_anonymous_producer_has_its_to(self, router):
        streaming = Streaming(router)
        octets = message_to("orders", b"x" * 300)
        sender = streaming.client.producer(None)
        streaming.client.stream(sender, octets[:200], octets[200:])
        [came] = streaming.far.received(streaming.far.streams[0])
        assert marked(came) == {"ingress": "0/I", "trace": ["0/I"]}
        assert Message.decode(came).properties.to == "orders"

    def test_one_from_another_router_keeps_what_it_says(self, router):
        streaming = Streaming(router)
        far = neighbour(router).attach()
        router.tell(routes=routes((far, {"P": 1})), radius=1)
        octets = to_router("orders", b"y" * 300, annotations={"to": "orders", "ingress": "0/N", "trace": ["0/N"]})
        delivery = far.stream(far.data_out[4], octets[:250], ends=False)
        streaming.send_small()
        assert streaming.came() == (1, [0])
        far.go_on(delivery, octets[250:], more=False)
        [came] = streaming.far.received(streaming.far.streams[0])
        assert marked(came) == {"to": "orders", "ingress": "0/N", "trace": ["0/N", "0/I"]}

    def test_one_that_is_free_is_used_again(self, router):
        streaming = Streaming(router)
        for _ in range(3):
            streaming.begin()
            streaming.end()
        assert streaming.came() == (0, [3])

    def test_several_have_a_link_each(self, router):
        streaming = Streaming(router)
        for _ in range(12):
            client = router.client()
            client.stream(client.producer("orders"), PARTS[0], ends=False)
        assert (len(streaming.far.partial), len(streaming.far.streams)) == (12, 12)

    def test_what_is_opened_in_a_turn_counts_in_that_turn_alone(self, router):
        streaming = Streaming(router)
        streaming.far.answers = False
        clients = [router.client() for _ in range(2)]
        for client in clients:
            client.stream(client.producer("orders"), PARTS[0], ends=False)
        assert streaming.far.peer.trunk.wanted_streams == 0
        for number in range(2):
            link = [link for link in streaming.far.links.values() if link.name.startswith("qdlink.")][number]
            link.session.begin()
            link.attach(source=link.remote_source, target=link.remote_target)
            link.grant(9)
            router.pump()
        assert (len(streaming.far.partial), streaming.far.peer.trunk.wanted_streams) == (2, 0)

    def test_those_beyond_what_is_kept_are_detached_once_they_are_free(self, router, monkeypatch):
        monkeypatch.setattr("routerd.core.roles.trunks.IDLE_STREAMS_MAX", 1)
        streaming = Streaming(router)
        client = router.client()
        other = client.stream(client.producer("orders"), PARTS[0], ends=False)
        streaming.begin()
        streaming.end()
        client.go_on(other, PARTS[1], more=False)
        for link in streaming.far.streams:
            streaming.far.latest(link).accept()
        router.pump()
        assert len(streaming.far.peer.trunk.streams) == 2
        # It is looked up when another is wanted, or one ends.
        streaming.begin()
        another = router.client()
        another.stream(another.producer("orders"), PARTS[0], ends=False)
        assert len(streaming.far.partial) == 2

    def test_with_test_hooks_few_are_kept(self):
        router = interior_router(has_test_hooks=True)
        streaming = Streaming(router)
        clients = [router.client() for _ in range(4)]
        begun = [client.stream(client.producer("orders"), PARTS[0], ends=False) for client in clients]
        for client, delivery in zip(clients, begun, strict=True):
            client.go_on(delivery, PARTS[1], more=False)
        for link in streaming.far.streams:
            streaming.far.latest(link).accept()
        router.pump()
        trunk = streaming.far.peer.trunk
        assert len(trunk.streams) == 4
        for _ in range(4):
            # They are looked at when one of them ends.
            trunk.wanting[trunk] = None
            streaming.send_small()
        assert len(trunk.streams) == 2

    def test_replies_to_an_edge_router_pass_one_that_is_large(self, router):
        far = far_edge(router).attach()
        client, other = router.client(), router.client()
        octets = message_to("_edge/X/temp.a", b"x" * 300)
        delivery = client.stream(client.producer(None), octets[:200], ends=False)
        other.send(other.producer(None), message_to("_edge/X/temp.b"))
        assert (len(far.received(far.downlink)), len(far.partial)) == (1, 1)
        client.go_on(delivery, octets[200:], more=False)
        [came] = far.received(far.streams[0])
        assert marked(came) == {"ingress": "0/I", "trace": ["0/I"]}

    def test_edge_routers_send_each_other_large_messages_so(self, router):
        streaming = Streaming(router)
        far = far_edge(router).attach()
        sender = far.producer("orders")
        octets = to_router("orders", b"y" * 300, annotations={"to": "orders"})
        delivery = far.stream(sender, octets[:200], ends=False)
        far.send(far.producer("orders"), to_router("orders", annotations={"to": "orders"}))
        assert streaming.came() == (1, [0])
        far.go_on(delivery, octets[200:], more=False)
        assert streaming.came() == (1, [1])

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_so_does_one_that_a_sibling_takes_in(self, address):
        router = interior_router(workers=2)
        streaming = Streaming(router, address, worker=1)
        streaming.begin()
        assert len(streaming.far.partial) == 1
        client = router.client(0)
        client.send(client.producer(address), message())
        assert streaming.came() == (1, [0])
        streaming.end()
        assert streaming.came() == (1, [1])
        [octets] = streaming.far.received(streaming.far.streams[0])
        assert marked(octets)["to"] == address

    def test_so_does_a_reply_that_a_sibling_takes_in(self):
        router = interior_router(workers=2)
        far = far_edge(router).attach()
        client = router.client(1)
        octets = message_to("_edge/X/temp.a", b"x" * 300)
        client.stream(client.producer(None), octets[:200], octets[200:])
        [came] = far.received(far.streams[0])
        assert marked(came) == {"ingress": "0/I", "trace": ["0/I"]}


class TestWaiting:
    @pytest.mark.parametrize("address", ADDRESSES)
    def test_a_message_that_waited_until_it_was_whole_goes_by_the_link_of_its_address(self, router, address):
        streaming = Streaming(router, address, stream_credit=0)
        streaming.begin()
        assert streaming.far.partial == []
        streaming.end()
        streaming.consumer.grant(1)
        router.pump()
        assert streaming.came() == (1, [0])
        streaming.far.latest(streaming.consumer).accept()
        router.pump()
        assert outcome(streaming.delivery) == (ACCEPTED, True)

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_it_waits_for_the_credit_of_its_link(self, router, address):
        streaming = Streaming(router, address, stream_credit=0)
        streaming.begin()
        streaming.far.streams[0].grant(1)
        router.pump()
        assert len(streaming.far.partial) == 1

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_one_that_refuses_such_links_gets_it_by_the_link_of_the_address(self, router, address):
        streaming = Streaming(router, address)
        streaming.far.refuses_streams = True
        streaming.begin()
        assert len(streaming.far.partial) == 1
        streaming.end()
        assert streaming.came() == (1, [])
        streaming.begin()
        streaming.end()
        assert streaming.came() == (2, [])

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_so_does_one_that_takes_no_more_sessions(self, router, address):
        streaming = Streaming(router, address, channel_max=0)
        streaming.begin()
        assert len(streaming.far.partial) == 1
        streaming.end()
        assert streaming.came() == (1, [])

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_what_waits_is_released_with_the_link_of_the_address(self, router, address):
        streaming = Streaming(router, address, stream_credit=0)
        streaming.begin()
        streaming.far.detach(streaming.consumer)
        streaming.end()
        assert outcome(streaming.delivery) == (RELEASED, True)
        assert (streaming.far.peer.trunk.sides.keys(), streaming.far.partial) == (
            {router.router.addresses["HX"]},
            [],
        )

    def test_copies_behind_one_that_waits_for_its_link_do_not_overtake_it(self, router):
        streaming = Streaming(router, "multicast/a", stream_credit=0)
        streaming.begin()
        streaming.client.send(streaming.small, message(), settled=True)
        assert streaming.came() == (0, [0])
        streaming.far.streams[0].grant(1)
        router.pump()
        assert (streaming.came(), len(streaming.far.partial)) == ((1, [0]), 1)

    def test_copies_leave_as_soon_as_one_that_waits_for_its_link_is_whole(self, router):
        streaming = Streaming(router, "multicast/a", stream_credit=0)
        streaming.begin()
        streaming.client.send(streaming.small, message(), settled=True)
        streaming.end()
        assert streaming.came() == (2, [0])

    def test_a_copy_that_its_producer_aborts_while_it_waits_holds_up_none(self, router):
        streaming = Streaming(router, "multicast/a", stream_credit=0)
        streaming.begin()
        streaming.client.send(streaming.small, message(), settled=True)
        streaming.large.abort(streaming.delivery)
        router.pump()
        assert streaming.came() == (1, [0])

    def test_a_router_that_ends_waits_for_copies_that_wait(self, router):
        streaming = Streaming(router, "multicast/a", stream_credit=0)
        streaming.client.stream(streaming.large, PARTS[0], PARTS[1], settled=True)
        streaming.consumer.set_credit(0)
        router.pump()
        streaming.begin()
        router.router.leaving.drain()
        router.pump(5.0)
        assert not router.router.leaving.is_drained()

    def test_settled_copies_beyond_what_may_wait_are_dropped_and_counted(self, router):
        streaming = Streaming(router, "multicast/a", stream_credit=0)
        streaming.consumer.set_credit(0)
        router.pump()
        for _ in range(CAPACITY + 2):
            streaming.client.stream(streaming.large, *PARTS, settled=True)
        [outlet] = router.router.addresses["M0multicast/a"].outlets
        assert outlet.dropped_presettled == 2

    def test_a_balanced_address_counts_what_is_under_way_on_them(self, router):
        streaming = Streaming(router)
        there = router.client()
        consumer = there.consumer("orders", credit=9)
        for _ in range(4):
            client = router.client()
            client.stream(client.producer("orders"), *PARTS)
        assert (streaming.came(), len(there.received(consumer))) == ((0, [2]), 2)

    def test_its_connection_may_be_lost(self, router):
        streaming = Streaming(router)
        streaming.begin()
        streaming.far.vanish()
        assert outcome(streaming.delivery) == (MAYBE_SEEN, True)
        assert (router.router.trunks.wanting, router.router.peers.keys() & {streaming.far.peer.number}) == ({}, set())

    def test_a_second_link_of_the_address_has_them_too(self, router):
        streaming = Streaming(router)
        second = streaming.far.consumer("orders", credit=CAPACITY)
        streaming.begin()
        streaming.end()
        streaming.far.detach(streaming.consumer)
        streaming.begin()
        streaming.end()
        assert [len(streaming.far.received(link)) for link in streaming.far.streams] == [2]
        streaming.far.detach(second)
        assert len(streaming.far.peer.trunk.sides) == 1


class TestArrivals:
    def test_those_of_one_session_do_not_wait_for_each_other_and_what_waits_is_bounded(self, router):
        far = far_edge(router).attach()
        client = router.client()
        receiver = client.consumer("orders")
        links = [far.producer("orders") for _ in range(2)]
        first, second = (far.stream(link, to_router("orders", "x"), ends=False) for link in links)
        far.peer.unheld_max = 4 << 20
        for delivery in (first, second) * 2:
            far.go_on(delivery, bytes(1 << 20))
        far.go_on(second, b"x")
        far.go_on(second, b"end", more=False)
        assert outcome(second) == (RELEASED, True)
        receiver.grant(2)
        far.go_on(first, b"end", more=False)
        assert len(client.received(receiver)) == 1
        assert router.router.addresses["M0orders"].unheld_octets == 0


class TestMeshes:
    """Routers of ours at both ends."""

    @pytest.mark.parametrize("address", ADDRESSES[:2])
    @pytest.mark.parametrize("is_down", [True, False])
    def test_a_large_message_that_stalls_holds_up_no_other(self, address, is_down):
        mesh = EdgeMesh("I")
        mesh.hang("E", "I")
        near, far = (mesh["I"], mesh["E"]) if is_down else (mesh["E"], mesh["I"])
        receivers = [far.client(), far.client()]
        consumers = [client.consumer(address, credit=20) for client in receivers]
        client, other = near.client(), near.client()
        delivery = client.stream(client.producer(address), PARTS[0], ends=False)
        small = other.producer(address)
        for _ in range(10):
            other.send(small, message(), settled=True)
        came = [len(one.received(link)) for one, link in zip(receivers, consumers, strict=True)]
        assert sorted(came) == [0, 10]
        client.go_on(delivery, PARTS[1], more=False)
        assert sum(len(one.received(link)) for one, link in zip(receivers, consumers, strict=True)) == 11
        for one in (*receivers, client, other):
            one.leave()
        assert {key: one for key, one in mesh.left_over().items() if "links" not in key and "sessions" not in key} == {}

    @pytest.mark.parametrize("is_down", [True, False])
    def test_copies_of_one_that_stalls_hold_up_none_for_those_who_come_later(self, is_down):
        mesh = EdgeMesh("I")
        mesh.hang("E", "I")
        near, far = (mesh["I"], mesh["E"]) if is_down else (mesh["E"], mesh["I"])
        first, second, client, other = far.client(), far.client(), near.client(), near.client()
        early = first.consumer("multicast/a", credit=20)
        delivery = client.stream(client.producer("multicast/a"), PARTS[0], ends=False)
        late = second.consumer("multicast/a", credit=20)
        small = other.producer("multicast/a")
        for _ in range(10):
            other.send(small, message())
        assert (len(first.received(early)), len(second.received(late))) == (0, 10)
        client.go_on(delivery, PARTS[1], more=False)
        assert (len(first.received(early)), len(second.received(late))) == (11, 10)

    def test_a_large_message_passes_a_network_between_two_edge_routers(self):
        mesh = EdgeMesh("A", "B")
        mesh.join("A", "B")
        mesh.hang("E", "A")
        mesh.hang("F", "B")
        there, here = mesh["F"].client(), mesh["E"].client()
        consumer = there.consumer(None, source=Source(dynamic=True), credit=9)
        octets = message_to(consumer.remote_source.address, b"x" * 300)
        delivery = here.stream(here.producer(None), octets[:200], ends=False)
        assert len(there.partial) == 1
        here.go_on(delivery, octets[200:], more=False)
        there.latest(consumer).accept()
        mesh.pump()
        assert (len(there.received(consumer)), outcome(delivery)) == (1, (ACCEPTED, True))
