"""What messages are marked with before they leave for another router, and what of it comes out at the other end."""

import pytest

from routerd.core import AddressSettings
from routerd.wire import ACCEPTED, RELEASED, Header, Message, Properties, Source, Symbol, Target
from tests.routers import TREATMENTS, message, message_to, outcome
from tests.unit.core.joined_routers import Mesh, mapped, marked, neighbour, routers_keys, routes

USER = Symbol("x-user")
ENTERED = {"ingress": "0/R", "trace": ["0/R"]}
TENANT = {"peer": {"is_multi_tenant": True}, "config": {"hostname": "vhost"}}


class Leaving:
    """A router with a neighbour that has some addresses, and a client."""

    def __init__(self, *keys, peer=None, config=None, **options):
        self.router = Mesh("R", **options)["R"]
        self.far = neighbour(self.router).attach(credit=20_000)
        self.router.tell(routes=routes((self.far, {"P": 1})), radius=1, mapped=mapped(P=keys))
        self.client = self.router.client(peer=peer or {}, **(config or {}))

    def left(self):
        """What the last message that left was marked with."""
        return marked(self.far.arrived()[-1])

    def send(self, address, octets=None, **options):
        return self.client.send(self.client.producer(address, **options), octets or message())


class TestTargets:
    @pytest.mark.parametrize("address", ["orders", "/orders", "amqp://host/orders", "orders."])
    def test_the_address_of_the_link_is_said_as_it_was_written(self, address):
        leaving = Leaving("M0orders")
        leaving.send(address)
        assert leaving.left() == {"to": address} | ENTERED

    def test_it_says_more_than_the_messages_own_properties(self):
        leaving = Leaving("M0orders")
        leaving.send("orders", message_to("others"))
        assert leaving.left() == {"to": "orders"} | ENTERED
        assert Message.decode(leaving.far.arrived()[0]).properties == Properties(to="others")

    def test_everything_else_stays_as_it_is(self):
        leaving = Leaving("M0orders")
        sections = {
            "header": Header(durable=True, priority=4),
            "properties": Properties(subject="s", message_id="7"),
            "application_properties": {"a": 1},
            "footer": {Symbol("f"): 2},
        }
        leaving.send("orders", message(delivery_annotations={Symbol("d"): 3}, **sections))
        expected = message(
            delivery_annotations={Symbol("d"): 3},
            message_annotations={Symbol(k): v for k, v in routers_keys({"to": "orders"} | ENTERED).items()},
            **sections,
        )
        assert leaving.far.arrived() == [expected]

    def test_annotations_of_users_come_first(self):
        leaving = Leaving("M0orders")
        leaving.send("orders", message(message_annotations={USER: 5, Symbol("x-other"): "a"}))
        assert list(leaving.left().items()) == [
            ("x-user", 5),
            ("x-other", "a"),
            ("to", "orders"),
            ("ingress", "0/R"),
            ("trace", ["0/R"]),
        ]

    @pytest.mark.parametrize("strips_in", [True, False])
    def test_a_client_cannot_mark_messages_itself(self, strips_in):
        leaving = Leaving("M0orders", peer={"strips_in": strips_in})
        lies = {Symbol(k): v for k, v in routers_keys({"to": "x", "trace": ["0/P"], "stream": 1, "phase": 99}).items()}
        leaving.send("orders", message(message_annotations={USER: 5} | lies))
        assert leaving.left() == {"x-user": 5, "to": "orders"} | ENTERED
        leaving.send("orders", message(message_annotations=lies))
        assert leaving.left() == {"to": "orders"} | ENTERED

    @pytest.mark.parametrize(("strips_in", "path"), [(True, ["0/R"]), (False, ["0/X", "0/R"])])
    def test_the_path_that_a_client_claims_counts_where_its_listener_strips_nothing(self, strips_in, path):
        leaving = Leaving("M0orders", peer={"strips_in": strips_in})
        claimed = {Symbol(k): v for k, v in routers_keys({"ingress": "0/X", "trace": ["0/X"]}).items()}
        leaving.send("orders", message(message_annotations=claimed))
        assert leaving.left() == {"to": "orders", "ingress": path[0], "trace": path}

    @pytest.mark.parametrize("strips_in", [True, False])
    def test_annotations_that_are_no_annotations_do_not_leave(self, strips_in):
        leaving = Leaving("M0orders", peer={"strips_in": strips_in})
        delivery = leaving.send("orders", bytes.fromhex("005372c1050202a1") + message())
        assert delivery.remote_state.error.condition == "amqp:decode-error"
        assert leaving.far.arrived() == []

    @pytest.mark.parametrize("strips_in", [True, False])
    @pytest.mark.parametrize("cut", [0, 1, 5, 6, 9, 14, 20])
    def test_a_message_is_marked_wherever_it_is_cut(self, strips_in, cut):
        leaving = Leaving("M0orders", peer={"strips_in": strips_in})
        sender = leaving.client.producer("orders")
        octets = message(header=Header(priority=4), message_annotations={USER: 5})
        leaving.client.stream(sender, octets[:cut], octets[cut:])
        assert leaving.left() == {"x-user": 5, "to": "orders"} | ENTERED
        assert Message.decode(leaving.far.arrived()[0]).header == Header(priority=4)

    def test_a_message_that_waited_is_marked_when_it_leaves(self):
        leaving = Leaving("M0orders")
        for link in leaving.far.data_in:
            link.set_credit(0)
        leaving.router.pump()
        leaving.send("orders", message(message_annotations={USER: 5}))
        assert leaving.far.arrived() == []
        for link in leaving.far.data_in:
            link.grant(1)
        leaving.router.pump()
        assert leaving.left() == {"x-user": 5, "to": "orders"} | ENTERED

    def test_a_dynamic_target_is_an_address_like_others(self):
        leaving = Leaving()
        client = leaving.router.client()
        sender = client.producer(None, target=Target(dynamic=True))
        address = sender.remote_target.address
        key = "M0" + address.removeprefix("amqp:/")
        leaving.router.tell(mapped=mapped(P=(key,)))
        leaving.router.pump()
        client.send(sender, message())
        assert leaving.left() == {"to": address} | ENTERED


class TestAnonymous:
    def test_the_properties_say_where_a_message_goes(self):
        leaving = Leaving("M0orders")
        leaving.send(None, message_to("orders"))
        assert leaving.left() == ENTERED
        leaving.send(None, message_to("orders", message_annotations={USER: 5}))
        assert leaving.left() == {"x-user": 5} | ENTERED

    def test_what_nobody_has_is_released(self):
        leaving = Leaving("M0orders")
        assert outcome(leaving.send(None, message_to("others"))) == (RELEASED, True)
        leaving.router.tell(mapped=mapped(P=("M0others",)))
        leaving.send(None, message_to("others"))
        assert leaving.left() == ENTERED
        leaving.router.tell(forgotten=("P",))
        leaving.router.pump()
        assert outcome(leaving.send(None, message_to("others"))) == (RELEASED, True)

    def test_addresses_that_pass_by_are_not_kept_for_ever(self):
        leaving = Leaving(*[f"M0a{number}" for number in range(10_050)])
        sender = leaving.client.producer(None)
        for number in range(10_050):
            sender.send(message_to(f"a{number}"), settled=True)
            if number % 100 == 0:
                leaving.router.pump()
        leaving.router.pump()
        assert len(leaving.router.router.addresses) <= 10_000
        assert len(leaving.far.arrived()) == 10_050


class TestPhases:
    def test_producers_of_a_waypoint_say_their_phase_unless_it_is_0(self):
        late = AddressSettings(pattern="late", ingress_phase=3, egress_phase=4)
        leaving = Leaving("M0waypoint", "M3late", addresses=(*TREATMENTS, late))
        leaving.send("waypoint")
        assert leaving.left() == {"to": "waypoint"} | ENTERED
        leaving.send("late")
        assert list(leaving.left().items()) == [("phase", 3), ("to", "late"), *ENTERED.items()]
        leaving.send(None, message_to("late"))
        assert leaving.left() == {"phase": 3, "to": "late"} | ENTERED

    def test_a_waypoint_says_the_phase_that_it_sends_to(self):
        leaving = Leaving("M2orders")
        leaving.send("orders", target=Target(address="orders", capabilities=(Symbol("qd.waypoint.2"),)))
        assert leaving.left() == {"phase": 2, "to": "orders"} | ENTERED

    @pytest.mark.parametrize(("at", "end"), [("A", "C"), ("B", "C"), ("C", "C"), ("C", "A")])
    def test_a_message_passes_a_waypoint_at_any_router(self, at, end):
        mesh = Mesh("A", "B", "C")
        mesh.join("A", "B")
        mesh.join("B", "C")
        consumer, worker, producer = mesh[end].client(), mesh[at].client(), mesh["A"].client()
        last = consumer.consumer("waypoint", credit=1)
        capability = {"capabilities": (Symbol("qd.waypoint"),)}
        taken = worker.consumer(None, credit=1, source=Source(address="waypoint", **capability))
        given = worker.producer(None, target=Target(address="waypoint", **capability))
        producer.send(producer.producer("waypoint"), message("raw"))
        assert (worker.received(taken), consumer.received(last)) == ([message("raw")], [])
        worker.send(given, message("done"))
        assert consumer.received(last) == [message("done")]


class TestTenants:
    def test_addresses_of_tenants_are_written_out(self):
        leaving = Leaving("M0vhost/orders", **TENANT)
        leaving.send("/orders")
        assert leaving.left() == {"to": "vhost/orders"} | ENTERED
        leaving.send(None, message_to("orders"))
        assert leaving.left() == {"to": "vhost/orders"} | ENTERED
        assert Message.decode(leaving.far.arrived()[-1]).properties == Properties(to="orders")

    def test_addresses_that_are_nobodys_own_are_as_they_are(self):
        leaving = Leaving("M0_$temp.x", **TENANT)
        leaving.send("_$temp.x")
        assert leaving.left() == {"to": "_$temp.x"} | ENTERED
        leaving.send("_topo/0/P/temp.x")
        assert leaving.left() == {"to": "_topo/0/P/temp.x"} | ENTERED

    def test_a_reply_to_another_router_says_itself_where_it_goes(self):
        leaving = Leaving("M0orders", **TENANT)
        leaving.send(None, message_to("_topo/0/P/temp.x"))
        assert leaving.left() == ENTERED
        other = leaving.router.client()
        other.send(other.producer(None), message_to("amqp:/_topo/0/P/temp.y"))
        assert leaving.left() == ENTERED

    def test_a_consumer_of_another_router_has_the_messages_of_its_tenant(self):
        mesh = Mesh("A", "B")
        mesh.join("A", "B")
        tenant = {"peer": {"is_multi_tenant": True}, "hostname": "vhost"}
        consumer, stranger = mesh["B"].client(**tenant), mesh["B"].client()
        receiver, other = consumer.consumer("orders", credit=9), stranger.consumer("orders", credit=9)
        producer = mesh["A"].client(**tenant)
        producer.send(producer.producer("orders"), message("a"))
        producer.send(producer.producer(None), message_to("orders", "b"))
        assert consumer.received(receiver) == [message("a"), message_to("orders", "b")]
        assert stranger.received(other) == []
        # Who is nobody's tenant writes addresses out.
        outside = mesh["A"].client()
        outside.send(outside.producer("vhost/orders"), message("c"))
        outside.send(outside.producer("orders"), message("d"))
        assert (consumer.received(receiver)[2:], stranger.received(other)) == ([message("c")], [message("d")])


class TestAcross:
    @pytest.fixture
    def mesh(self):
        mesh = Mesh("A", "B", "C")
        mesh.join("A", "B")
        mesh.join("C", "B")
        return mesh

    @pytest.mark.parametrize("address", ["orders", "closest", "multicast"])
    def test_a_consumer_gets_what_the_producer_sent(self, mesh, address):
        consumer, producer = mesh["C"].client(), mesh["A"].client()
        receiver = consumer.consumer(address, credit=9)
        sent = [
            message(),
            message(header=Header(priority=9), message_annotations={USER: 5}),
            message(b"x" * 5000, properties=Properties(subject="s")),
        ]
        sender = producer.producer(address)
        deliveries = [producer.send(sender, octets) for octets in sent]
        assert consumer.received(receiver) == sent
        for delivery in consumer.unsettled[receiver.name]:
            delivery.accept()
        mesh.pump()
        assert [outcome(delivery) for delivery in deliveries] == [(ACCEPTED, True)] * 3

    def test_every_router_that_was_passed_is_named_in_order(self, mesh):
        far = neighbour(mesh["C"]).attach()
        client = mesh["A"].client()
        consumer = mesh["C"].client(peer={"strips_out": False})
        receiver = consumer.consumer("orders", credit=9)
        client.send(client.producer("orders"), message())
        assert [marked(octets) for octets in consumer.received(receiver)] == [
            {"to": "orders", "ingress": "0/A", "trace": ["0/A", "0/B", "0/C"]}
        ]
        assert far.arrived() == []

    def test_replies_find_their_way_to_a_dynamic_address(self, mesh):
        requester, server = mesh["A"].client(), mesh["C"].client()
        replies = requester.consumer(None, credit=9, source=Source(dynamic=True))
        address = replies.remote_source.address
        assert address.startswith("amqp:/_topo/0/A/temp.")
        delivery = server.send(server.producer(None), message_to(address, "anonymous"))
        server.send(server.producer(address), message("targeted"))
        assert requester.received(replies) == [message_to(address, "anonymous"), message("targeted")]
        for one in requester.unsettled[replies.name]:
            one.accept()
        mesh.pump()
        assert outcome(delivery) == (ACCEPTED, True)
        requester.leave()
        late = server.send(server.producer(None), message_to(address)), server.send(server.producer(address), message())
        assert [outcome(one) for one in late] == [(RELEASED, True)] * 2

    @pytest.mark.parametrize("form", ["_topo/0/{}/{}", "amqp:/_topo/0/{}/{}"])
    @pytest.mark.parametrize("start", ["A", "B", "C"])
    def test_an_address_of_a_certain_router_is_reached_from_all(self, mesh, start, form):
        consumers = {id: mesh[id].client() for id in "ABC"}
        receivers = {id: client.consumer("_local/orders", credit=9) for id, client in consumers.items()}
        client = mesh[start].client()
        anonymous = client.producer(None)
        for id, receiver in receivers.items():
            to = form.format(id, "orders")
            client.send(client.producer(to), message(id))
            client.send(anonymous, message_to(to, id))
            assert consumers[id].received(receiver) == [message(id), message_to(to, id)]
        lost = [(id, "nobody") for id in "ABC"] + [("Q", "orders")]
        outcomes = [outcome(client.send(anonymous, message_to(form.format(*to)))) for to in lost]
        assert outcomes == [(RELEASED, True)] * 4

    def test_nothing_is_left_behind(self, mesh):
        consumer, producer = mesh["C"].client(), mesh["A"].client()
        receivers = [consumer.consumer(address, credit=9) for address in ("orders", "closest", "multicast", "a", "b")]
        for receiver in receivers:
            address = receiver.source.address
            producer.send(producer.producer(address), message())
            producer.send(producer.producer(None), message_to(address))
        for deliveries in consumer.unsettled.values():
            for delivery in deliveries:
                delivery.accept()
        mesh.pump()
        producer.leave()
        consumer.leave()
        assert mesh.left_over() == {}


class TestHints:
    def test_the_treatment_is_that_of_the_router_that_has_the_address(self):
        mesh = Mesh("A")
        mesh.add("B", addresses=(AddressSettings(pattern="special", distribution=TREATMENTS[0].distribution),))
        mesh.join("A", "B")
        consumers = [mesh["B"].client() for _ in range(2)]
        receivers = [client.consumer("special", credit=1) for client in consumers]
        near = mesh["A"].client()
        receiver = near.consumer("special", credit=1)
        producer = mesh["A"].client()
        producer.send(producer.producer("special"), message())
        found = [client.received(one) for client, one in zip([*consumers, near], [*receivers, receiver], strict=True)]
        assert found == [[message()]] * 3

    def test_ones_own_configuration_says_more(self):
        leaving = Leaving()
        leaving.router.tell(mapped=mapped(1, P=("M0closest", "M0orders")))
        leaving.router.pump()
        client = leaving.client
        near = [client.consumer("closest", credit=9) for _ in range(2)]
        leaving.send("closest")
        assert sum(len(client.received(one)) for one in near) == 1
        assert leaving.router.router.addresses["M0closest"].distribution is TREATMENTS[1].distribution

    @pytest.mark.parametrize("hint", [-1, 4, 5, 99])
    def test_a_hint_that_nobody_knows_is_none(self, hint):
        leaving = Leaving()
        leaving.router.tell(mapped=mapped(hint, P=("M0orders",)))
        leaving.send("orders")
        assert leaving.left() == {"to": "orders"} | ENTERED

    def test_an_address_that_nobody_may_use_is_open_while_another_router_has_it(self):
        leaving = Leaving("M0unavailable/x")
        leaving.send("unavailable/x")
        assert leaving.left() == {"to": "unavailable/x"} | ENTERED
        link = leaving.client.session.sender("closed")
        link.attach(source=Source(), target=Target(address="unavailable/y"))
        leaving.router.pump()
        assert ("link detached", "closed", True, "amqp:not-found") in leaving.client.events
