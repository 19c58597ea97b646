"""Messages between the clients of edge routers and everybody else: their ways, marks, copies and outcomes."""

import pytest

from routerd.core import AddressSettings
from routerd.wire import (
    ACCEPTED,
    RELEASED,
    Error,
    Header,
    Int,
    Message,
    Modified,
    Properties,
    Rejected,
    Source,
    Symbol,
    Target,
)
from tests.routers import WAYPOINT, message, message_to, outcome
from tests.unit.core.edge_routers import CAPACITY, EdgeMesh, edge_router, far_edge, far_interior, interior_router
from tests.unit.core.joined_routers import marked, routers_keys, to_router

USER = Symbol("x-user")
ADDRESSES = ["orders", "closest/a", "multicast/a"]
PLACES = [("E", "I"), ("I", "E"), ("E", "F"), ("E", "P"), ("P", "E"), ("E", "G"), ("G", "E"), ("E", "E")]


@pytest.fixture
def mesh():
    """I, M and P in a line; E and F at I, G at P."""
    mesh = EdgeMesh("I", "M", "P")
    mesh.join("I", "M")
    mesh.join("M", "P")
    for edge, router in (("E", "I"), ("F", "I"), ("G", "P")):
        mesh.hang(edge, router)
    return mesh


@pytest.fixture
def edge():
    return edge_router()


@pytest.fixture
def router():
    return interior_router()


def annotations(**said):
    return {Symbol(key): one for key, one in routers_keys(said).items()}


class TestWays:
    @pytest.mark.parametrize(("start", "end"), PLACES)
    @pytest.mark.parametrize("address", ADDRESSES)
    def test_a_message_reaches_the_consumer_and_its_outcome_the_producer(self, mesh, start, end, address):
        client, there = mesh[start].client(), mesh[end].client()
        consumer = there.consumer(address, credit=100)
        sender = client.producer(address)
        for number in range(20):
            delivery = client.send(sender, message(str(number)))
            assert outcome(delivery) == (None, False)
            there.latest(consumer).accept()
            mesh.pump()
            assert outcome(delivery) == (ACCEPTED, True)
        assert there.received(consumer) == [message(str(number)) for number in range(20)]

    @pytest.mark.parametrize(("start", "end"), PLACES)
    @pytest.mark.parametrize("address", ADDRESSES)
    def test_so_it_does_without_an_address_of_the_link(self, mesh, start, end, address):
        client, there = mesh[start].client(), mesh[end].client()
        consumer = there.consumer(address, credit=100)
        delivery = client.send(client.producer(None), message_to(address))
        there.latest(consumer).accept()
        mesh.pump()
        assert (there.received(consumer), outcome(delivery)) == ([message_to(address)], (ACCEPTED, True))

    @pytest.mark.parametrize(("start", "end"), PLACES)
    def test_requests_and_their_replies_find_each_other(self, mesh, start, end):
        client, server = mesh[start].client(), mesh[end].client()
        requests = server.consumer("service", credit=10)
        replies = client.consumer(None, source=Source(dynamic=True), credit=10)
        reply_to = replies.remote_source.address
        request = message("ask", properties=Properties(reply_to=reply_to))
        assert client.send(client.producer("service"), request, settled=True).settled
        asked = Message.decode(server.received(requests)[0]).properties
        for link in (server.producer(None), server.producer(asked.reply_to)):
            server.send(link, message_to(asked.reply_to, "answer"), settled=True)
        assert client.received(replies) == [message_to(reply_to, "answer")] * 2

    @pytest.mark.parametrize(
        "state",
        [
            RELEASED,
            Modified(delivery_failed=True),
            Rejected(error=Error(condition="x:y", description="no")),
            Modified(undeliverable_here=True, message_annotations={USER: 1}),
        ],
        ids=["released", "failed", "rejected", "elsewhere"],
    )
    @pytest.mark.parametrize(("start", "end"), [("E", "I"), ("I", "E"), ("E", "G")])
    def test_every_outcome_is_that_of_the_consumer(self, mesh, start, end, state):
        client, there = mesh[start].client(), mesh[end].client()
        consumer = there.consumer("orders", credit=10)
        delivery = client.send(client.producer("orders"), message())
        there.latest(consumer).decide(state)
        mesh.pump()
        assert outcome(delivery) == (state, True)

    def test_what_the_interior_router_cannot_deliver_is_released(self, mesh):
        client = mesh["E"].client()
        for address in ("nobody", "_topo/0/P/nobody", "_topo/0/Q/x", "_edge/G/nobody", "_edge/Q/x", "multicast/nobody"):
            delivery = client.send(client.producer(None), message_to(address))
            assert (address, outcome(delivery)) == (address, (RELEASED, True))

    def test_what_is_for_nobody_is_released_without_uplink(self, edge):
        client = edge.client()
        sender = client.producer(None)
        for address in ("nobody", "_topo/0/P/x", "_edge/F/x", "_edge/E/x"):
            assert outcome(client.send(sender, message_to(address))) == (RELEASED, True)

    def test_what_has_no_consumer_at_the_edge_is_not_sent_back(self, edge):
        far = far_interior(edge)
        client = edge.client()
        consumer = client.consumer("orders", credit=10)
        delivery = far.send(far.link_from("E"), to_router("nobody", annotations={"ingress": "0/I", "trace": ["0/I"]}))
        assert outcome(delivery) == (RELEASED, True)
        for to in ("_topo/0/P/x", "_edge/F/x"):
            assert outcome(far.send(far.link_from("E"), to_router(to))) == (RELEASED, True)
        far.tell("M0orders", True)
        link = far.link_from("orders")
        client.detach(consumer)
        assert (link.is_attached, far.received(far.link_to(None))) == (False, [])

    @pytest.mark.parametrize("address", ["orders", "closest/a", "multicast/a"])
    def test_what_comes_down_does_not_go_up_again(self, edge, address):
        far = far_interior(edge)
        client = edge.client()
        client.producer(address)
        consumer = client.consumer(address, credit=0)
        far.tell(f"M0{address}", True)
        delivery = far.send(far.link_from(address), to_router())
        assert (outcome(delivery), far.received(far.link_to(None))) == ((None, False), [])
        client.detach(consumer)
        assert (delivery.remote_settled, far.received(far.link_to(None))) == (True, [])

    def test_a_consumer_here_is_preferred_to_those_elsewhere_while_it_has_less_to_do(self, mesh):
        client, here, there = mesh["E"].client(), mesh["E"].client(), mesh["P"].client()
        near, far = here.consumer("orders", credit=100), there.consumer("orders", credit=100)
        sender = client.producer("orders")
        client.send(sender, message("1"))
        assert (len(here.received(near)), len(there.received(far))) == (1, 0)
        for _ in range(29):
            client.send(sender, message("n"))
        shares = len(here.received(near)), len(there.received(far))
        assert (sum(shares), min(shares) > 5) == (30, True)
        closest = here.consumer("closest/a", credit=100)
        there.consumer("closest/a", credit=100)
        sender = client.producer("closest/a")
        for _ in range(20):
            client.send(sender, message("c"))
        assert len(here.received(closest)) == 20

    def test_consumers_at_all_edges_of_a_network_get_their_share(self, mesh):
        clients = {id: mesh[id].client() for id in ("E", "F", "G", "I", "P")}
        consumers = {id: clients[id].consumer("closest/a", credit=100) for id in ("F", "G")}
        sender = clients["E"].producer("closest/a")
        for _ in range(10):
            clients["E"].send(sender, message(), settled=True)
        # F hangs on the same router, so it is nearest.
        assert {id: len(clients[id].received(one)) for id, one in consumers.items()} == {"F": 10, "G": 0}
        clients["F"].detach(consumers["F"])
        clients["E"].send(sender, message(), settled=True)
        assert len(clients["G"].received(consumers["G"])) == 1



class TestFarAway:
    """Networks of many routers: what comes down has passed all of them."""

    @pytest.fixture
    def line(self):
        mesh = EdgeMesh(*"ABCDE")
        for pair in ("AB", "BC", "CD", "DE"):
            mesh.join(*pair)
        mesh.hang("X", "A")
        mesh.hang("Y", "E")
        return mesh

    @pytest.mark.parametrize("address", ADDRESSES)
    @pytest.mark.parametrize("start", ["A", "C", "X"])
    def test_a_message_comes_however_many_routers_it_has_passed(self, line, address, start):
        client, there = line[start].client(), line["Y"].client()
        consumer = there.consumer(address, credit=10)
        delivery = client.send(client.producer(address), message())
        assert there.received(consumer) == [message()]
        there.latest(consumer).accept()
        line.pump()
        assert outcome(delivery) == (ACCEPTED, True)

    @pytest.mark.parametrize("start", ["A", "C", "X"])
    def test_so_does_a_reply(self, line, start):
        client, there = line[start].client(), line["Y"].client()
        replies = there.consumer(None, source=Source(dynamic=True), credit=10)
        reply_to = replies.remote_source.address
        client.send(client.producer(None), message_to(reply_to), settled=True)
        client.send(client.producer(reply_to), message(), settled=True)
        assert there.received(replies) == [message_to(reply_to), message()]


class TestUpward:
    """What messages are marked with on their way up."""

    def sent(self, edge, address, octets, *, config=None, **options):
        far = far_interior(edge)
        client = edge.client(**(options or {}))
        sender = client.producer(address)
        if address is not None:
            far.tell(f"M0{address}", True)
        client.send(sender, octets, settled=True)
        return far.received(far.link_to(None))

    def test_the_address_of_the_link_and_no_more_is_said(self, edge):
        assert self.sent(edge, "orders", message()) == [message(message_annotations=annotations(to="orders"))]

    def test_without_an_address_of_the_link_nothing_is_said(self, edge):
        assert self.sent(edge, None, message_to("orders")) == [message_to("orders")]

    def test_annotations_of_users_come_first(self, edge):
        [octets] = self.sent(edge, "orders", message(message_annotations={USER: 5}))
        assert list(marked(octets).items()) == [("x-user", 5), ("to", "orders")]

    def test_annotations_of_users_are_all_that_is_left_without_an_address_of_the_link(self, edge):
        lies = annotations(to="x", ingress="0/P", trace=["0/P"], phase=Int(3), stream=Int(1))
        [octets] = self.sent(edge, None, message_to("orders", message_annotations={USER: 5} | lies))
        assert marked(octets) == {"x-user": 5}

    @pytest.mark.parametrize("strips_in", [True, False])
    @pytest.mark.parametrize("address", ["orders", None])
    def test_a_client_cannot_mark_messages_itself(self, edge, strips_in, address):
        lies = annotations(to="x", ingress="0/P", trace=["0/P"], phase=Int(3), stream=Int(1))
        octets = message(message_annotations=lies, properties=Properties(to="orders"))
        [octets] = self.sent(edge, address, octets, peer={"strips_in": strips_in})
        assert marked(octets) == ({} if address is None else {"to": "orders"})

    def test_the_phase_is_said_if_it_is_a_later_one(self, edge):
        far = far_interior(edge)
        client = edge.client()
        sender = client.producer(None, target=Target(address="orders", capabilities=(Symbol("qd.waypoint"),)))
        far.tell("M1orders", True)
        client.send(sender, message(), settled=True)
        assert marked(far.received(far.link_to(None))[0]) == {"to": "orders", "phase": 1}

    def test_the_phase_of_a_message_without_an_address_of_the_link_is_said_too(self):
        edge = edge_router(addresses=(AddressSettings(pattern="orders", ingress_phase=2, egress_phase=3),))
        assert marked(self.sent(edge, None, message_to("orders"))[0]) == {"to": "orders", "phase": 2}

    def test_addresses_of_tenants_are_written_out(self, edge):
        far = far_interior(edge)
        client = edge.client(peer={"is_multi_tenant": True}, hostname="vhost")
        for sender, octets in ((client.producer("orders"), message()), (client.producer(None), message_to("orders"))):
            far.tell("M0vhost/orders", True)
            client.send(sender, octets, settled=True)
        assert [marked(octets) for octets in far.received(far.link_to(None))] == [{"to": "vhost/orders"}] * 2

    def test_messages_leave_on_the_link_without_address_whatever_their_priority(self, edge):
        far = far_interior(edge)
        client = edge.client()
        sender = client.producer("orders")
        far.tell("M0orders", True)
        for priority in (0, 4, 9, 200):
            client.send(sender, message(header=Header(priority=priority)), settled=True)
        assert len(far.received(far.link_to(None))) == 4
        assert far.received(far.link_to("orders")) == []

    def test_the_interior_router_is_where_they_enter_the_network(self, mesh):
        client, there = mesh["E"].client(), mesh["P"].client(peer={"strips_out": False})
        consumer = there.consumer("orders", credit=10)
        client.send(client.producer("orders"), message(message_annotations={USER: 5}), settled=True)
        client.send(client.producer(None), message_to("orders"), settled=True)
        found = [marked(octets) for octets in there.received(consumer)]
        passed = {"ingress": "0/I", "trace": ["0/I", "0/M", "0/P"]}
        assert found == [{"x-user": 5, "to": "orders"} | passed, passed]

    @pytest.mark.parametrize("said", [{}, {"ingress": "0/X", "trace": ["0/X"]}, {"trace": []}])
    def test_an_edge_router_that_says_where_it_is_does_no_harm(self, mesh, said):
        far = far_edge(mesh["I"]).attach()
        there = mesh["P"].client()
        consumer = there.consumer("orders", credit=10)
        delivery = far.send(far.uplink, to_router("orders", annotations=said))
        there.latest(consumer).accept()
        mesh.pump()
        assert (outcome(delivery), len(there.received(consumer))) == ((ACCEPTED, True), 1)

    def test_the_links_of_single_addresses_take_messages_too(self, mesh):
        far = far_edge(mesh["I"]).attach()
        clients = {id: mesh[id].client() for id in ("I", "P", "F")}
        consumers = {id: client.consumer(f"orders{id}", credit=10) for id, client in clients.items()}
        for id, consumer in consumers.items():
            sender = far.producer(f"orders{id}")
            far.send(sender, to_router(annotations={"to": f"orders{id}"}))
            far.send(sender, to_router(f"orders{id}"))
            assert len(clients[id].received(consumer)) == 2

    @pytest.mark.parametrize("end", ["I", "P", "F", "G"])
    def test_there_the_link_says_where_a_message_goes(self, mesh, end):
        far = far_edge(mesh["I"]).attach()
        client = mesh[end].client()
        consumer = client.consumer("orders", credit=10)
        far.send(far.producer("orders"), message(), settled=True)
        assert client.received(consumer) == [message()]

    @pytest.mark.parametrize(
        ("octets", "condition"),
        [
            (message(), "amqp:precondition-failed"),
            (to_router(annotations={"to": 5}), "amqp:invalid-field"),
            (to_router("orders", annotations={"trace": "0/X"}), "amqp:invalid-field"),
            (to_router("orders", annotations={"phase": 99}), "amqp:invalid-field"),
            (bytes.fromhex("005372c1050202a1") + message(), "amqp:decode-error"),
        ],
    )
    def test_an_edge_router_that_marks_messages_wrongly_has_them_rejected(self, router, octets, condition):
        far = far_edge(router).attach()
        router.client().consumer("orders", credit=10)
        assert far.send(far.uplink, octets).remote_state.error.condition == condition

    def test_what_is_unavailable_is_released(self, router):
        far = far_edge(router).attach()
        assert outcome(far.send(far.uplink, to_router("unavailable/a"))) == (RELEASED, True)



class TestDownward:
    """What messages are marked with on their way down, and what of it clients see."""

    @pytest.mark.parametrize("said", [{}, {"to": "orders", "ingress": "0/P", "trace": ["0/P", "0/I"], "stream": 1}])
    @pytest.mark.parametrize("link", ["orders", "E"])
    def test_clients_do_not_see_it(self, edge, said, link):
        far = far_interior(edge)
        client = edge.client()
        consumer = client.consumer("orders", credit=10)
        text = None if said or link == "orders" else "orders"
        octets = to_router(text, annotations=said)
        far.send(far.link_from(link), octets, settled=True)
        [received] = client.received(consumer)
        assert (marked(received), Message.decode(received).body.value) == ({}, "hello")

    def test_annotations_of_users_stay(self, edge):
        far = far_interior(edge)
        client = edge.client()
        consumer = client.consumer("orders", credit=10)
        octets = message(message_annotations={USER: 5} | annotations(to="orders", ingress="0/I", trace=["0/I"]))
        far.send(far.link_from("orders"), octets, settled=True)
        assert client.received(consumer) == [message(message_annotations={USER: 5})]

    @pytest.mark.parametrize("hops", [0, 1, 2, 3, 10, 100])
    def test_how_many_routers_it_has_passed_does_not_matter(self, edge, hops):
        far = far_interior(edge)
        client = edge.client()
        consumer = client.consumer("orders", credit=10)
        trace = [f"0/R{number}" for number in range(hops)]
        for link in ("orders", "E"):
            far.send(far.link_from(link), to_router("orders", annotations={"trace": trace}), settled=True)
        assert len(client.received(consumer)) == 2

    @pytest.mark.parametrize("address", ["/orders", "amqp:/orders", "amqp://host/orders", "orders."])
    def test_an_address_may_be_written_in_any_form(self, edge, address):
        far = far_interior(edge)
        client = edge.client()
        consumer = client.consumer("orders", credit=10)
        far.send(far.link_from("E"), to_router(annotations={"to": address}), settled=True)
        assert len(client.received(consumer)) == 1

    def test_phases_lead_to_consumers_of_that_phase(self):
        edge = edge_router(addresses=(WAYPOINT,))
        far = far_interior(edge)
        client = edge.client()
        consumer = client.consumer("waypoint/q", credit=10)
        for phase in (0, 1):
            far.send(far.link_from("E"), to_router(annotations={"to": "waypoint/q", "phase": phase}), settled=True)
        assert len(client.received(consumer)) == 1

    @pytest.mark.parametrize(
        ("octets", "condition"),
        [
            (message(), "amqp:precondition-failed"),
            (to_router(annotations={"to": 5}), "amqp:invalid-field"),
            (bytes.fromhex("005372c1050202a1") + message(), "amqp:decode-error"),
        ],
    )
    def test_an_interior_router_that_marks_messages_wrongly_has_them_rejected(self, edge, octets, condition):
        far = far_interior(edge)
        assert far.send(far.link_from("E"), octets).remote_state.error.condition == condition

    def test_the_place_of_an_edge_router_gets_the_whole_path(self, mesh):
        far = far_edge(mesh["I"]).attach()
        for id in "IPF":
            client = mesh[id].client()
            client.send(client.producer(None), message_to("_edge/X/a", message_annotations={USER: 5}), settled=True)
            client.send(client.producer("_edge/X/a"), message(), settled=True)
        found = [list(marked(octets).items()) for octets in far.received(far.downlink)]
        near = [("ingress", "0/I"), ("trace", ["0/I"])]
        away = [("ingress", "0/P"), ("trace", ["0/P", "0/M", "0/I"])]
        assert found == [
            [("x-user", 5), *near],
            [("to", "_edge/X/a"), *near],
            [("x-user", 5), *away],
            [("to", "_edge/X/a"), *away],
            [("x-user", 5), *near],
            [("to", "_edge/X/a"), *near],
        ]

    @pytest.mark.parametrize("worker", [0, 1])
    def test_the_edge_router_may_be_at_another_worker(self, worker):
        mesh = EdgeMesh("I", workers=2)
        mesh.hang("E", "I", at=1)
        client, there = mesh["I"].client(worker), mesh["E"].client()
        replies = there.consumer(None, source=Source(dynamic=True), credit=10)
        reply_to = replies.remote_source.address
        client.send(client.producer(reply_to), message(), settled=True)
        client.send(client.producer(None), message_to(reply_to), settled=True)
        orders = there.consumer("orders", credit=10)
        client.send(client.producer("orders"), message(), settled=True)
        back = client.consumer("back", credit=10)
        there.send(there.producer("back"), message(), settled=True)
        assert (len(there.received(replies)), len(there.received(orders)), len(client.received(back))) == (2, 1, 1)

    def test_two_of_the_same_name_share_what_is_for_either(self, router):
        edges = [far_edge(router).attach() for _ in range(2)]
        client = router.client()
        for _ in range(10):
            client.send(client.producer(None), message_to("_edge/X/a"), settled=True)
        assert [len(far.received(far.downlink)) for far in edges] == [5, 5]


class TestMulticast:
    @pytest.mark.parametrize("start", ["E", "F", "G", "I", "M", "P"])
    @pytest.mark.parametrize("is_anonymous", [False, True])
    @pytest.mark.parametrize("settled", [False, True])
    def test_everybody_gets_one_copy(self, mesh, start, is_anonymous, settled):
        clients = {id: mesh[id].client() for id in ("E", "F", "G", "I", "M", "P")}
        everybody = [*clients.values()] * 2
        consumers = [(client, client.consumer("multicast/a", credit=10)) for client in everybody]
        client = mesh[start].client()
        sender = client.producer(None if is_anonymous else "multicast/a")
        delivery = client.send(sender, message_to("multicast/a"), settled=settled)
        assert [len(client.received(consumer)) for client, consumer in consumers] == [1] * 12
        for number, (other, consumer) in enumerate([] if settled else consumers):
            assert (number, outcome(delivery)) == (number, (None, False))
            other.latest(consumer).accept()
            mesh.pump()
        assert settled or outcome(delivery) == (ACCEPTED, True)

    def test_an_interior_router_sends_nothing_back(self, router):
        far, other = far_edge(router).attach(), far_edge(router).attach()
        own, another = far.consumer("multicast/a", credit=10), other.consumer("multicast/a", credit=10)
        delivery = far.send(far.uplink, to_router("multicast/a"))
        assert (len(far.received(own)), len(other.received(another))) == (0, 1)
        other.latest(another).accept()
        router.pump()
        assert outcome(delivery) == (ACCEPTED, True)
        other.detach(another)
        for settled in (False, True):
            delivery = far.send(far.uplink, to_router("multicast/a"), settled=settled)
        far.send(far.producer("multicast/a"), to_router("multicast/a"), settled=True)
        assert far.received(own) == []

    def test_what_only_the_sender_itself_could_get_is_released(self, router):
        far = far_edge(router).attach()
        far.consumer("multicast/a", credit=10)
        assert outcome(far.send(far.uplink, to_router("multicast/a"))) == (RELEASED, True)

    def test_a_copy_goes_up_though_nobody_was_told_of(self, edge):
        far = far_interior(edge)
        client = edge.client()
        consumer = client.consumer("multicast/a", credit=10)
        sender = client.producer("multicast/a")
        delivery = client.send(sender, message())
        assert (len(client.received(consumer)), len(far.received(far.link_to(None)))) == (1, 1)
        client.latest(consumer).accept()
        edge.pump()
        assert outcome(delivery) == (None, False)
        far.latest(far.link_to(None)).release()
        edge.pump()
        assert outcome(delivery) == (ACCEPTED, True)

    def test_and_only_one_when_somebody_was(self, edge):
        far = far_interior(edge)
        client = edge.client()
        client.consumer("multicast/a", credit=10)
        sender = client.producer("multicast/a")
        for is_reached in (True, True, False, True):
            far.tell("M0multicast/a", is_reached)
            client.send(sender, message(), settled=True)
        assert len(far.received(far.link_to(None))) == 4

    def test_copies_that_wait_for_the_uplink_are_not_lost_when_consumers_come_and_go(self, edge):
        far = far_interior(edge, credit=0)
        client = edge.client()
        consumer = client.consumer("multicast/a", credit=10)
        delivery = client.send(client.producer("multicast/a"), message())
        client.latest(consumer).accept()
        client.detach(client.consumer("multicast/a", credit=10))
        assert outcome(delivery) == (None, False)
        far.link_to(None).grant(10)
        edge.pump()
        assert len(far.received(far.link_to(None))) == 1
        far.latest(far.link_to(None)).accept()
        edge.pump()
        assert outcome(delivery) == (ACCEPTED, True)

    def test_those_that_wait_are_released_when_the_uplink_is_lost(self, edge):
        far = far_interior(edge, credit=0)
        client = edge.client()
        consumer = client.consumer("multicast/a", credit=10)
        delivery = client.send(client.producer("multicast/a"), message())
        client.latest(consumer).accept()
        edge.pump()
        assert outcome(delivery) == (None, False)
        far.vanish()
        assert outcome(delivery) == (ACCEPTED, True)

    def test_replies_are_not_copied(self, edge):
        far = far_interior(edge)
        client = edge.client()
        client.consumer("_topo/0/all/x", credit=10)
        client.send(client.producer("_topo/0/all/x"), message(), settled=True)
        assert far.received(far.link_to(None)) == []


class TestLarge:
    OCTETS = message(bytes(range(256)) * 200)

    @pytest.mark.parametrize(("start", "end"), [("E", "I"), ("I", "E"), ("E", "F"), ("E", "G"), ("P", "E")])
    @pytest.mark.parametrize("address", ADDRESSES)
    def test_they_pass_while_they_are_still_coming(self, mesh, start, end, address):
        client, there = mesh[start].client(), mesh[end].client()
        consumer = there.consumer(address, credit=10)
        parts = [self.OCTETS[at : at + 1000] for at in range(0, len(self.OCTETS), 1000)]
        delivery = client.stream(client.producer(address), *parts[:-1], ends=False)
        assert len(b"".join(there.bodies)) > len(self.OCTETS) - 2000
        assert there.received(consumer) == []
        client.go_on(delivery, parts[-1], more=False)
        assert there.received(consumer) == [self.OCTETS]
        there.latest(consumer).accept()
        mesh.pump()
        assert outcome(delivery) == (ACCEPTED, True)

    def test_they_have_a_link_without_address_and_capability_and_a_session_for_themselves(self, edge):
        far = far_interior(edge)
        client = edge.client()
        sender = client.producer("orders")
        far.tell("M0orders", True)
        client.stream(sender, self.OCTETS[:500], self.OCTETS[500:], settled=True)
        assert far.ends()[-1] == ("sender", None, None, (), ())
        stream = list(far.links.values())[-1]
        assert stream.session.channel == 2
        assert [marked(octets) for octets in far.received(stream)] == [{"to": "orders"}]
        client.stream(sender, self.OCTETS[:500], self.OCTETS[500:], settled=True)
        assert len(far.received(stream)) == 2

    def test_small_ones_overtake_one_that_has_stuck(self, mesh):
        client, there = mesh["E"].client(), mesh["I"].client()
        large, small = there.consumer("large", credit=10), there.consumer("small", credit=10)
        begun = client.stream(client.producer("large", session=client.another_session()), self.OCTETS[:500], ends=False)
        client.send(client.producer("small"), message(), settled=True)
        assert there.received(small) == [message()]
        client.go_on(begun, self.OCTETS[500:], more=False)
        assert there.received(large) == [self.OCTETS]

    def test_an_interior_router_may_open_links_for_them(self, edge):
        far = far_interior(edge)
        client = edge.client()
        consumer = client.consumer("orders", credit=10)
        session = far.connection.session()
        session.begin()
        link = session.sender("stream")
        link.attach(source=Source(), target=Target())
        edge.pump()
        assert link.credit == CAPACITY
        octets = to_router("orders", self.OCTETS, annotations={"stream": 1, "trace": ["0/I"]})
        far.stream(link, octets[:100], octets[100:], settled=True)
        assert [marked(octets) for octets in client.received(consumer)] == [{}]
        assert len(client.received(consumer)[0]) > len(self.OCTETS)

    @pytest.mark.parametrize("is_partial", [False, True])
    def test_one_that_the_interior_router_does_not_take_is_rejected(self, edge, is_partial):
        far = far_interior(edge, size_max=600)
        _, delivery = self.send(edge, far, is_partial)
        state, is_settled = outcome(delivery)
        assert (state.error.condition, is_settled) == ("amqp:link:message-size-exceeded", True)

    @pytest.mark.parametrize("is_partial", [False, True])
    def test_it_is_sent_all_the_same_where_large_messages_cut_connections(self, is_partial):
        edge = edge_router(cuts_for_large_messages=True)
        far = far_interior(edge, size_max=600)
        # The engine of the far end would end the link.
        link, delivery = self.send(edge, far, is_partial)
        assert far.connection is not None
        assert [event for event in far.take() if event[0] == "violation"] == [
            ("violation", "amqp:link:message-size-exceeded")
        ]
        state, is_settled = outcome(delivery)
        assert (state.error.condition, is_settled) == ("amqp:link:message-size-exceeded", True)
        assert link.is_attached

    def send(self, edge, far, is_partial):
        client = edge.client()
        link = client.producer("orders")
        far.tell("M0orders", True)
        if is_partial:
            return link, client.stream(link, self.OCTETS[:500], self.OCTETS[500:])
        return link, client.send(link, self.OCTETS)

    def test_one_that_is_aborted_is_aborted_at_the_consumer(self, mesh):
        client, there = mesh["E"].client(), mesh["G"].client()
        consumer = there.consumer("orders", credit=10)
        sender = client.producer("orders")
        delivery = client.stream(sender, self.OCTETS[:500], ends=False)
        sender.abort(delivery)
        mesh.pump()
        assert (there.aborted, there.received(consumer)) == ([consumer.name], [])

    def test_a_consumer_that_stalls_stalls_nobody_elses_messages(self):
        mesh = EdgeMesh("I")
        mesh.hang("E", "I", configs=({"max_frame_size": 512}, {"max_frame_size": 512}))
        client, slow, there = mesh["E"].client(), mesh["I"].client(), mesh["I"].client()
        slow.consumer("slow", credit=1000)
        fine = there.consumer("fine", credit=10_000)
        stuck, moving = client.producer("slow"), client.producer("fine", session=client.another_session())
        mesh["I"].router.set_blocked(slow.peer, True)
        for _ in range(100):
            # Each comes in one frame, and leaves in many.
            client.send(stuck, self.OCTETS[:10_000], settled=True)
        for _ in range(1000):
            client.send(moving, message(), settled=True)
        assert len(there.received(fine)) == 1000
