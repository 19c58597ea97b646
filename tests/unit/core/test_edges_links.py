"""The links between an edge router and its interior router: those of the beginning, and those of single addresses."""

import pytest

from routerd.core import AddressSettings, Distribution, LoopBack
from routerd.wire import Source, Symbol, Target
from tests.routers import TREATMENTS, WAYPOINT, message
from tests.unit.core.edge_routers import (
    CAPACITY,
    DOWNLINK,
    HEARTBEAT,
    LINKS,
    TRACKING,
    EdgeMesh,
    edge_router,
    far_edge,
    far_interior,
    interior_router,
)

WAYPOINT_NAME = "waypoint/q"


@pytest.fixture
def edge():
    return edge_router()


@pytest.fixture
def router():
    return interior_router()


def waypoint(ordinal=""):
    return (Symbol("qd.waypoint" + ordinal),)


class TestBeginning:
    def test_the_links_of_the_beginning_come_in_order(self, edge):
        far = far_interior(edge)
        assert far.ends() == LINKS
        assert [link.session.channel for link in far.links.values()] == [0, 0, 1, 1, 1]
        assert all(link.is_attached and link.name.startswith("qdlink.") for link in far.links.values())
        assert len(far.links) == len(LINKS)

    def test_they_do_not_wait_for_answers(self, edge):
        far = far_interior(edge, answers=False)
        assert far.ends() == []
        far.connection.open()
        edge.pump()
        assert far.ends() == LINKS
        assert [link.is_attached for link in far.links.values()] == [False] * 5

    def test_the_interior_router_answers_with_the_same_termini(self):
        mesh = EdgeMesh("I")
        uplink = mesh.hang("E", "I")
        ends = [*uplink.peer.inlets, *uplink.peer.outlets]
        assert all(end.link.is_attached and end.is_open for end in ends)
        down, tracking, _replies = (inlet.link for inlet in uplink.peer.inlets)
        up, heartbeat = (outlet.link for outlet in uplink.peer.outlets)
        assert (down.remote_source.address, down.remote_source.capabilities) == ("E", (DOWNLINK,))
        assert down.remote_target.capabilities == (DOWNLINK,)
        assert (tracking.remote_source.address, heartbeat.remote_target.address) == (TRACKING, HEARTBEAT)
        assert (up.remote_target.address, up.remote_target.capabilities) == (None, ())
        assert [link.credit for link in (up, heartbeat)] == [CAPACITY, 2]
        assert [inlet.link.credit for inlet in uplink.peer.inlets] == [CAPACITY] * 3
        outlets = [(outlet.address.key, outlet.link.credit) for outlet in uplink.far_peer.outlets]
        assert outlets == [("HE", CAPACITY), ("", CAPACITY), ("Ltemp.I-token1", CAPACITY)]

    def test_the_interior_router_attaches_nothing(self, router):
        far = far_edge(router)
        assert (far.links, list(far.peer.inlets), list(far.peer.outlets)) == ({}, [], [])

    def test_neither_end_tells_the_routing_engine_of_it(self):
        mesh = EdgeMesh("I")
        uplink = mesh.hang("E", "I")
        uplink.cut()
        assert [mesh[id].take_events() for id in "EI"] == [[], []]
        assert [mesh[id].router.directory.trunks for id in "EI"] == [{}, {}]

    def test_the_place_of_the_edge_router_is_known_to_the_network_while_it_is_there(self):
        mesh = EdgeMesh("I")
        uplink = mesh.hang("E", "I")
        assert mesh["I"].interests() == {"HE": 3}
        uplink.cut()
        assert mesh["I"].interests() == {}

    @pytest.mark.parametrize("channel_max", [0, 1])
    def test_an_interior_router_that_takes_few_sessions_will_do(self, edge, channel_max):
        far = far_interior(edge, channel_max=channel_max)
        client = edge.client()
        consumer = client.consumer("orders", credit=10)
        sender = client.producer("others")
        assert far.ends() == [*LINKS, ("receiver", "orders", None, (), ()), ("sender", None, "others", (), ())]
        far.tell("M0others", True)
        client.send(sender, message("up"))
        far.send(far.link_from("orders"), message("down"), settled=True)
        assert len(far.received(far.link_to(None))) == 1
        assert client.received(consumer) == [message("down")]

    def test_the_interior_router_does_without_links_that_do_not_come(self, router):
        far = far_edge(router)
        consumer = far.consumer("orders", credit=10)
        client = router.client()
        client.send(client.producer("orders"), message())
        assert far.received(consumer) == [message()]
        router.router.look_after_edges(router.now + 100)
        assert router.router.peers != {}


class TestDownlinks:
    def test_it_is_a_consumer_for_all_that_is_under_the_place_of_the_edge_router(self, router):
        far = far_edge(router).attach()
        assert {key: address.local_count for key, address in router.router.addresses.items()} == {"HX": 1}
        far.detach(far.downlink)
        assert router.router.addresses == {}

    def test_the_capability_means_nothing_on_the_connection_of_a_client(self, router):
        client = router.client()
        source = Source(address="X", capabilities=(Symbol(DOWNLINK),))
        client.consumer(None, source=source)
        assert list(router.router.addresses) == ["M0X"]

    def test_it_means_nothing_on_a_link_that_sends_to_the_router(self, router):
        far = far_edge(router)
        far.producer(None, target=Target(address="X", capabilities=(Symbol(DOWNLINK),)))
        assert list(router.router.addresses) == ["M0X"]

    def test_it_means_nothing_to_an_edge_router(self, edge):
        far = far_interior(edge)
        session = far.connection.session()
        session.begin()
        link = session.receiver("down")
        link.attach(source=Source(address="X", capabilities=(Symbol(DOWNLINK),)), target=Target())
        edge.pump()
        assert link.is_attached
        assert list(edge.router.addresses) == ["M0X"]

    @pytest.mark.parametrize("address", [5, b"X", "X" * 5000], ids=["number", "octets", "long"])
    def test_what_is_no_name_of_a_router_is_refused(self, router, address):
        far = far_edge(router)
        link = far.downlink_from(address)
        assert (link.is_attached, router.router.addresses) == (False, {})


class TestConsumers:
    def test_one_that_leaves_before_the_link_for_it_is_answered_leaves_none_behind(self, edge):
        far = far_interior(edge)
        far.answers = False
        client = edge.client()
        client.consumer("orders", credit=10)
        [link] = [one for one in far.links.values() if not one.is_attached]
        client.leave()
        edge.pump()
        link.session.begin()
        link.attach(source=link.remote_source, target=link.remote_target)
        edge.pump()
        assert (link.is_attached, edge.router.uplinks.active.receivers) == (False, {})

    def test_the_first_one_brings_a_link_and_the_last_one_takes_it_away(self, edge):
        far = far_interior(edge)
        clients = [edge.client() for _ in range(2)]
        links = [client.consumer("orders") for client in clients]
        assert far.addresses() == (["orders"], [])
        clients[0].detach(links[0])
        assert far.addresses() == (["orders"], [])
        far.take()
        clients[1].detach(links[1])
        assert far.addresses() == ([], [])
        [(name, is_closed, error)] = [event[1:] for event in far.take() if event[0] == "link detached"]
        assert (name.startswith("qdlink."), is_closed, error) == (True, True, None)

    def test_the_interior_router_has_a_consumer_as_long(self):
        mesh = EdgeMesh("I")
        mesh.hang("E", "I")
        client = mesh["E"].client()
        consumer = client.consumer("orders")
        assert mesh["I"].interests() == {"HE": 3, "M0orders": 3}
        client.detach(consumer)
        assert mesh["I"].interests() == {"HE": 3}

    def test_those_from_before_the_uplink_get_theirs_with_it(self, edge):
        client = edge.client()
        client.consumer("orders")
        client.producer("others")
        client.detach(client.consumer("gone"))
        assert far_interior(edge).addresses() == (["orders"], ["others"])

    def test_each_has_a_session_of_its_own(self, edge):
        far = far_interior(edge)
        client = edge.client()
        for number in range(5):
            client.consumer(f"orders{number}")
        channels = [far.link_from(f"orders{number}").session.channel for number in range(5)]
        assert channels == [2, 3, 4, 5, 6]

    def test_sessions_do_not_outlive_their_links(self):
        mesh = EdgeMesh("I")
        uplink = mesh.hang("E", "I")
        client = mesh["E"].client()
        for number in range(20):
            client.detach(client.consumer(f"orders{number}"))
        connections = [peer.connection for peer in uplink.peers]
        assert [len(connection.sessions()) for connection in connections] == [2, 2]

    def test_consumers_that_come_and_go_leave_nothing_behind(self):
        mesh = EdgeMesh("I")
        mesh.hang("E", "I")
        client, there = mesh["E"].client(), mesh["I"].client()
        for number in range(20):
            for address in (f"a{number}", f"multicast/{number}"):
                client.detach(client.consumer(address, credit=1))
                client.detach(client.producer(address))
                there.detach(there.consumer(address))
        client.leave()
        there.leave()
        assert mesh.left_over() == {}

    def test_one_that_takes_anothers_place_at_once_gets_messages(self):
        mesh = EdgeMesh("I")
        mesh.hang("E", "I")
        client = mesh["E"].client()
        first = client.consumer("orders", credit=10)
        first.detach()
        second = client.consumer("orders", credit=10)
        there = mesh["I"].client()
        delivery = there.send(there.producer("orders"), message(), settled=False)
        assert client.received(second) == [message()]
        client.latest(second).accept()
        mesh.pump()
        assert delivery.remote_settled

    def test_one_that_comes_and_goes_at_once_brings_none(self, edge):
        far = far_interior(edge)
        client = edge.client()
        link = client.session.receiver("short")
        link.attach(source=Source(address="orders"), target=Target())
        link.detach()
        edge.pump()
        assert far.ends() == LINKS

    @pytest.mark.parametrize(
        "address", ["_local/a", "_edge/E/a", "_topo/0/E/a", "_topo/0/P/a", "_edge/P/a", "_topo/0/all/a"]
    )
    def test_addresses_of_places_bring_none(self, edge, address):
        far = far_interior(edge)
        client = edge.client()
        client.consumer(address)
        client.producer(address)
        assert far.ends() == LINKS

    def test_dynamic_addresses_are_under_the_place_of_the_edge_router_and_bring_none(self, edge):
        far = far_interior(edge)
        client = edge.client()
        consumer = client.consumer(None, source=Source(dynamic=True))
        assert consumer.remote_source.address.startswith("amqp:/_edge/E/temp.")
        assert far.ends() == LINKS

    def test_dynamic_targets_are_addresses_like_others(self, edge):
        far = far_interior(edge)
        client = edge.client()
        sender = client.producer(None, target=Target(dynamic=True))
        assert far.addresses() == ([], [sender.remote_target.address.removeprefix("amqp:/")])

    def test_endpoints_in_the_router_bring_none(self, edge):
        far = far_interior(edge)
        loop = LoopBack(edge.router, edge.now)
        edge.lines.append(loop)
        loop.consume("$management", lambda octets, delivery: None)
        loop.produce("events")
        edge.pump()
        assert far.ends() == LINKS
        assert {"M0$management", "M0events"} <= edge.router.addresses.keys()

    def test_a_client_beside_an_endpoint_in_the_router_brings_one(self, edge):
        far = far_interior(edge)
        loop = LoopBack(edge.router, edge.now)
        edge.lines.append(loop)
        loop.consume("shared", lambda octets, delivery: None)
        edge.pump()
        client = edge.client()
        consumer = client.consumer("shared")
        assert far.addresses() == (["shared"], [])
        client.detach(consumer)
        assert far.addresses() == ([], [])

    def test_a_link_that_the_interior_router_refuses_is_asked_for_again_by_the_next(self):
        unavailable = AddressSettings(pattern="orders", distribution=Distribution.UNAVAILABLE)
        mesh = EdgeMesh("I", addresses=(*TREATMENTS, unavailable))
        mesh.hang("E", "I", addresses=TREATMENTS)
        client = mesh["E"].client()
        first, sender = client.consumer("orders", credit=10), client.producer("orders")
        assert mesh["I"].interests().keys() == {"HE"}
        client.send(sender, message())
        assert client.received(first) == [message()]
        client.detach(client.consumer("orders"))
        client.detach(first)
        client.detach(sender)
        mesh["I"].router.configured_addresses.remove("orders")
        client.consumer("orders")
        assert mesh["I"].interests().keys() == {"HE", "M0orders"}


class TestProducers:
    def test_the_first_one_brings_a_link_and_the_last_one_takes_it_away(self, edge):
        far = far_interior(edge)
        client = edge.client()
        links = [client.producer("orders") for _ in range(2)]
        assert far.addresses() == ([], ["orders"])
        client.detach(links[0])
        assert far.addresses() == ([], ["orders"])
        client.detach(links[1])
        assert far.addresses() == ([], [])

    def test_those_without_address_bring_none(self, edge):
        far = far_interior(edge)
        edge.client().producer(None)
        assert far.ends() == LINKS

    def test_its_first_credit_waits_for_a_consumer_and_is_not_taken_back(self):
        mesh = EdgeMesh("I")
        uplink = mesh.hang("E", "I")
        mesh["E"].client().producer("orders")
        link = list(uplink.peer.outlets)[-1].link
        assert (link.target.address, link.credit) == ("orders", 0)
        client = mesh["I"].client()
        consumer = client.consumer("orders")
        assert link.credit == CAPACITY
        client.detach(consumer)
        assert link.credit == CAPACITY

    def test_credit_is_given_back_for_what_comes_and_not_for_what_is_settled(self, router):
        far = far_edge(router).attach()
        client = router.client()
        consumer = client.consumer("orders", credit=10_000)
        sender = far.producer("orders")
        for _ in range(1000):
            far.send(sender, message(), settled=False)
        assert (len(client.received(consumer)), sender.unsettled_count) == (1000, 1000)
        assert sender.credit > CAPACITY - CAPACITY // 4

    def test_an_interior_router_that_has_ended_all_sessions_gets_no_links(self, edge):
        far = far_interior(edge)
        for session in list(far.sessions):
            session.end()
        edge.pump()
        client = edge.client()
        client.producer("orders")
        client.consumer("orders", credit=1)
        client.send(client.producer("orders"), message())
        assert list(client.messages.values()) == [[message()]]


class TestPhases:
    @pytest.mark.parametrize(
        ("capabilities", "key"),
        [
            ((), "M1waypoint/q"),
            (waypoint(), "M0waypoint/q"),
            (waypoint(".2"), "M1waypoint/q"),
            (waypoint(".4"), "M3waypoint/q"),
        ],
    )
    def test_a_consumer_of_a_phase_is_one_at_the_interior_router_as_well(self, capabilities, key):
        mesh = EdgeMesh("I")
        mesh.hang("E", "I")
        client = mesh["E"].client()
        client.consumer(None, source=Source(address=WAYPOINT_NAME, capabilities=capabilities))
        assert list(mesh["E"].interests()) == [key]
        assert mesh["I"].interests() == {"HE": 3, key: 3}

    @pytest.mark.parametrize(
        ("capabilities", "key"),
        [
            ((), "M0waypoint/q"),
            (waypoint(), "M1waypoint/q"),
            (waypoint(".1"), "M1waypoint/q"),
            (waypoint(".5"), "M5waypoint/q"),
        ],
    )
    def test_a_producer_to_a_phase_is_one_at_the_interior_router_as_well(self, capabilities, key):
        mesh = EdgeMesh("I")
        mesh.hang("E", "I")
        mesh["E"].client().producer(None, target=Target(address=WAYPOINT_NAME, capabilities=capabilities))
        assert key in mesh["I"].router.addresses

    def test_phase_0_needs_no_words_where_it_is_the_usual_one(self, edge):
        far = far_interior(edge)
        client = edge.client()
        client.consumer("orders")
        client.producer("orders")
        assert far.ends()[len(LINKS) :] == [("receiver", "orders", None, (), ()), ("sender", None, "orders", (), ())]

    def test_a_later_phase_is_said_by_a_capability_of_the_terminus(self, edge):
        far = far_interior(edge)
        client = edge.client()
        client.consumer(None, source=Source(address="orders", capabilities=waypoint(".3")))
        client.producer(None, target=Target(address="orders", capabilities=waypoint(".3")))
        assert far.ends()[len(LINKS) :] == [
            ("receiver", "orders", None, ("qd.waypoint.3",), ()),
            ("sender", None, "orders", (), ("qd.waypoint.3",)),
        ]

    def test_the_last_phase_has_no_words_for_consumers_and_is_left_to_the_interior_router(self):
        edge = edge_router(addresses=(AddressSettings(pattern="orders", ingress_phase=9, egress_phase=9),))
        far = far_interior(edge)
        client = edge.client()
        client.consumer("orders")
        client.producer("orders")
        assert far.ends()[len(LINKS) :] == [
            ("receiver", "orders", None, (), ()),
            ("sender", None, "orders", (), ("qd.waypoint.9",)),
        ]

    @pytest.mark.parametrize("start", ["E", "F", "I"])
    def test_messages_pass_a_waypoint_at_an_edge_router(self, start):
        mesh = EdgeMesh("I")
        mesh.hang("E", "I")
        mesh.hang("F", "I")
        middle, client, end = mesh["E"].client(), mesh[start].client(), mesh["I"].client()
        taken = middle.consumer(None, source=Source(address=WAYPOINT_NAME, capabilities=waypoint()), credit=10)
        given = middle.producer(None, target=Target(address=WAYPOINT_NAME, capabilities=waypoint()))
        last = end.consumer(WAYPOINT_NAME, credit=10)
        client.send(client.producer(WAYPOINT_NAME), message("one"), settled=True)
        assert (middle.received(taken), end.received(last)) == ([message("one")], [])
        middle.send(given, message("two"), settled=True)
        assert (middle.received(taken), end.received(last)) == ([message("one")], [message("two")])

    def test_the_interior_router_need_not_know_the_address(self):
        mesh = EdgeMesh("I", addresses=())
        mesh.hang("E", "I", addresses=(WAYPOINT,))
        client = mesh["E"].client()
        client.consumer(WAYPOINT_NAME)
        client.producer(WAYPOINT_NAME)
        assert mesh["I"].interests() == {"HE": 3, "M1waypoint/q": 3}
        found = [key for key in mesh["I"].router.addresses if not key.startswith("Ltemp.")]
        assert found == ["HE", "M1waypoint/q", "M0waypoint/q"]

