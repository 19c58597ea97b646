"""Connections to other routers: their links, when they can be used, what they cost, and who is turned away."""

import pytest

from routerd.core import ControlArrived, TrunkClosed, TrunkOpened
from routerd.wire import Connection, ConnectionConfig, Int, Source, Symbol, Target, ULong
from tests.routers import Recorder, message
from tests.unit.core.joined_routers import CONTROL, COST, DATA, Mesh, dialled, neighbour

LINKS = [CONTROL, CONTROL, *[DATA] * 20]
PRIORITIES = range(10)
AMPLE = 250 - 250 // 8
"""Credit is given back by the eighth."""


@pytest.fixture
def router():
    return Mesh("R")["R"]


def open_both(*ids, **options):
    mesh = Mesh(*ids)
    return mesh, mesh.join(*ids, **options)


def attached(recorder):
    """What each link that a router has attached says of itself: which end, capability, session."""
    found = []
    for link, attach in zip(recorder.links.values(), recorder.attaches, strict=True):
        [capability] = attach.source.capabilities
        assert attach.target.capabilities == (capability,)
        found.append(("receiver" if link.is_sender else "sender", capability, link.session.channel))
    return found


class TestLinks:
    def test_the_router_that_connects_attaches_a_pair_for_control_and_one_for_each_priority(self, router):
        found = attached(dialled(router))
        pairs = [(CONTROL, 0), *[(DATA, 1 + priority) for priority in PRIORITIES]]
        assert found == [(end, *pair) for pair in pairs for end in ("receiver", "sender")]

    def test_links_are_known_by_a_capability_that_is_a_bare_symbol(self, router):
        far = Recorder()
        far.answers = False
        server = Connection(ConnectionConfig(container_id="N"), far, is_client=False)
        host = router[0]
        peer = host.router.connections.new_peer("inter-router")
        peer.is_initiator = True
        client = host.end(peer, ConnectionConfig(container_id="R"), is_client=True)
        client.open()
        server.start(0.0)
        client.start(0.0)
        server.receive_data(client.data_to_send(0.0), 0.0)
        server.open()
        client.receive_data(server.data_to_send(0.0), 0.0)
        octets = client.data_to_send(0.0)
        for capability, links in ((CONTROL, 2), (DATA, 20)):
            # Existing routers do not take an array of one for it, in which it would have no constructor of its own.
            symbol = bytes((0xA3, len(capability))) + capability.encode()
            assert octets.count(symbol) == 2 * links

    def test_their_names_are_not_the_same_twice(self, router):
        names = [*dialled(router).links, *dialled(router, "M").links]
        assert len(set(names)) == 44
        assert all(name.startswith("qdlink.") for name in names)

    @pytest.mark.parametrize(("channel_max", "sessions"), [(0, 1), (1, 2), (5, 6), (10, 11), (100, 11)])
    def test_priorities_share_a_session_where_the_neighbour_takes_fewer(self, router, channel_max, sessions):
        far = dialled(router, channel_max=channel_max)
        found = attached(far)
        assert [capability for _, capability, _ in found] == LINKS
        assert [channel for _, _, channel in found[::2]] == [min(number, sessions - 1) for number in range(11)]
        assert router.take_events() == [TrunkOpened(far.number, 1)]

    def test_the_router_that_is_connected_to_answers_and_attaches_nothing(self, router):
        far = neighbour(router).attach()
        assert len(far.links) == 22
        assert [inlet.link.credit for inlet in far.peer.inlets] == [250] * 11
        assert [link.credit for link in (far.control_out, *far.data_out)] == [250] * 11
        assert router.take_events() == [TrunkOpened(far.number, 1)]

    def test_what_comes_back_on_the_links_that_it_attached_has_credit_too(self, router):
        far = dialled(router)
        senders = [link for link in far.links.values() if link.is_sender]
        assert [link.credit for link in senders] == [250] * 11

    def test_the_capacity_is_that_of_the_listener(self, router):
        far = neighbour(router, capacity=40).attach(pairs=1)
        assert (far.control_out.credit, far.data_out[0].credit) == (40, 40)

    def test_credit_is_given_back_for_what_comes_and_not_for_what_is_settled(self, router):
        far = neighbour(router, capacity=8).attach()
        client = router.client()
        consumer = client.consumer("orders", credit=1000)
        for number in range(100):
            far.send(far.data_out[4], message(str(number), message_annotations=None), settled=False)
        assert (far.data_out[4].credit, client.received(consumer)) == (8, [])
        for _ in range(100):
            far.send(far.data_out[4], to_orders(), settled=False)
        assert (far.data_out[4].credit, len(client.received(consumer))) == (8, 100)
        assert far.data_out[4].unsettled_count == 100


def to_orders():
    return message(message_annotations={Symbol("x-opt-qd.to"): "orders"})


class TestEvents:
    def test_both_routers_tell_of_a_trunk_that_can_take_control_messages(self):
        mesh, trunk = open_both("A", "B")
        numbers = [peer.number for peer in trunk.peers]
        assert [mesh[id].take_events() for id in "AB"] == [[TrunkOpened(number, 1)] for number in numbers]
        assert [mesh[id].router.trunks.open_trunks() for id in "AB"] == [[TrunkOpened(number, 1)] for number in numbers]

    def test_its_number_tells_the_worker_that_has_it(self):
        mesh = Mesh("A", "B", workers=3)
        trunks = [mesh.join("A", "B", at=(at, 2 - at)) for at in range(3)]
        for at, trunk in enumerate(trunks):
            assert [(peer.number - 1) % 3 for peer in trunk.peers] == [at, 2 - at]
            assert list(mesh["A"][at].router.directory.trunks) == [trunk.peers[0].number]

    @pytest.mark.parametrize(("costs", "cost"), [((1, 1), 1), ((2, 5), 5), ((5, 2), 5), ((7, 7), 7)])
    def test_it_costs_what_the_end_says_that_asks_for_more(self, costs, cost):
        mesh, _ = open_both("A", "B", costs=costs)
        assert [mesh[id].take_events()[0].cost for id in "AB"] == [cost, cost]

    @pytest.mark.parametrize(
        ("said", "cost"), [(None, 3), (Int(1), 3), (Int(4), 4), (9, 9), ("5", 3), (Int(-8), 3), (b"5", 3)]
    )
    def test_what_is_no_number_says_nothing_of_the_cost(self, router, said, cost):
        properties = {} if said is None else {COST: said}
        far = dialled(router, cost=3, properties=properties)
        assert router.take_events() == [TrunkOpened(far.number, cost)]

    @pytest.mark.parametrize("said", [2**31, 2**40, ULong(2**64 - 1)])
    def test_there_is_an_end_to_what_a_neighbour_may_ask_for(self, router, said):
        far = dialled(router, properties={COST: said})
        assert router.take_events() == [TrunkOpened(far.number, 2**31 - 1)]

    def test_a_trunk_is_up_with_its_control_links_alone(self, router):
        far = neighbour(router)
        far.attach_in(CONTROL)
        assert router.take_events() == []
        far.attach_out(CONTROL)
        assert router.take_events() == [TrunkOpened(far.number, 1)]
        far.attach(is_controlling=False)
        assert (router.take_events(), router.router.trunks.open_trunks()) == ([], [TrunkOpened(far.number, 1)])

    def test_the_control_links_may_come_in_any_order_and_last(self, router):
        far = neighbour(router).attach(is_controlling=False)
        far.attach_out(CONTROL)
        assert router.take_events() == []
        assert router.router.trunks.open_trunks() == []
        far.attach_in(CONTROL)
        assert router.take_events() == [TrunkOpened(far.number, 1)]

    def test_a_trunk_that_was_never_up_is_not_told_to_be_lost(self, router):
        far = neighbour(router)
        far.attach_in(CONTROL)
        far.vanish()
        assert (router.take_events(), router.router.directory.trunks) == ([], {})
        early = neighbour(router)
        early.connection.close()
        router.pump()
        assert router.take_events() == []

    @pytest.mark.parametrize("end", ["control_in", "control_out"])
    def test_a_trunk_without_a_control_link_is_down_until_there_is_one_again(self, router, end):
        far = neighbour(router).attach()
        router.take_events()
        far.detach(getattr(far, end))
        assert (router.take_events(), router.router.trunks.open_trunks()) == ([TrunkClosed(far.number)], [])
        far.attach_in(CONTROL) if end == "control_in" else far.attach_out(CONTROL)
        assert router.take_events() == [TrunkOpened(far.number, 1)]

    def test_a_trunk_whose_connection_is_lost_is_told_once(self):
        mesh, trunk = open_both("A", "B")
        numbers = [peer.number for peer in trunk.peers]
        for id in "AB":
            mesh[id].take_events()
        trunk.cut()
        assert [mesh[id].take_events() for id in "AB"] == [[TrunkClosed(number)] for number in numbers]
        assert [mesh[id].router.directory.trunks for id in "AB"] == [{}, {}]

    def test_a_connection_that_ends_before_its_open_is_no_trunk(self, router):
        host = router[0]
        peer = host.router.connections.new_peer("inter-router")
        connection = host.end(peer, ConnectionConfig(container_id="R"), is_client=False)
        connection.start(0.0)
        connection.transport_closed()
        assert (router.router.peers, router.router.directory.trunks, router.take_events()) == ({}, {}, [])

    def asked(self, router):
        """A neighbour to which the router has attached its links, and which has answered none of them."""
        far = dialled(router, answers=False)
        far.connection.open()
        router.pump()
        for session in far.sessions:
            session.begin()
        router.pump()
        assert far.links
        return far

    def test_a_neighbour_that_refuses_control_links_is_no_neighbour(self, router):
        far = self.asked(router)
        for link in list(far.links.values())[:2]:
            link.refuse(None)
        router.pump()
        assert router.take_events() == []
        assert [trunk.is_up for trunk in router.router.directory.trunks.values()] == [False]

    def test_a_neighbour_may_not_leave_open_what_it_has_not_settled(self, router):
        far = self.asked(router)
        for link in list(far.links.values()):
            termini = {"source": link.remote_source, "target": link.remote_target}
            link.attach(**termini, incomplete_unsettled=not link.is_sender)
        router.pump()
        detached = [event[1:] for event in far.take() if event[0] == "link detached"]
        assert {event[2] for event in detached} == {"amqp:precondition-failed"}
        assert len(detached) == len(LINKS) // 2
        assert [trunk.is_up for trunk in router.router.directory.trunks.values()] == [False]

    def test_a_neighbour_that_leaves_with_its_open_is_no_trunk(self, router):
        far = dialled(router, answers=False)
        far.connection.open()
        far.connection.close()
        router.pump()
        assert (router.take_events(), router.router.directory.trunks) == ([], {})


class TestRefusals:
    def refused(self, recorder, *, name="link"):
        return [event[1:] for event in recorder.take() if event[0] == "link detached" and event[1] == name]

    @pytest.mark.parametrize("capability", [CONTROL, DATA])
    @pytest.mark.parametrize("is_sender", [False, True])
    @pytest.mark.parametrize("terminus", ["source", "target"])
    def test_a_client_cannot_have_the_links_of_routers(self, router, capability, is_sender, terminus):
        client = router.client()
        link = client.session.sender("link") if is_sender else client.session.receiver("link")
        termini = {"source": Source(address="a"), "target": Target(address="a")}
        termini[terminus].capabilities = (Symbol(capability),)
        link.attach(**termini)
        router.pump()
        assert self.refused(client) == [("link", True, "qd:forbidden")]
        assert router.router.addresses == {}

    def test_links_of_clients_are_not_for_a_trunk(self, router):
        far = neighbour(router)
        for address in ("orders", None):
            link = far.session.sender("link")
            link.attach(source=Source(), target=Target(address=address))
            router.pump()
            assert self.refused(far) == [("link", True, "qd:connection-role")]
        far.attach(pairs=1)
        far.session.receiver("link").attach(source=Source(address="orders"), target=Target())
        router.pump()
        # Later they are routed links, and there is no route.
        assert self.refused(far) == [("link", True, "qd:no-route-to-dest")]

    def test_a_link_without_termini_is_refused(self, router):
        far = neighbour(router)
        far.session.sender("link").attach(source=None, target=None)
        router.pump()
        assert self.refused(far) == [("link", True, "qd:connection-role")]

    def test_an_answer_that_does_not_fit_the_neighbours_frames_is_a_refusal(self, router):
        far = neighbour(router, max_frame_size=512)
        far.session.sender("link").attach(
            source=Source(capabilities=(Symbol(DATA),), address="a" * 300),
            target=Target(capabilities=(Symbol(DATA),), address="b" * 300),
        )
        router.pump()
        assert self.refused(far) == [("link", True, "amqp:frame-size-too-small")]
        assert list(far.peer.inlets) == []

    def test_a_router_that_ends_still_takes_the_links_of_neighbours(self, router):
        far = neighbour(router)
        router.router.leaving.drain()
        far.attach(pairs=1)
        assert (far.data_in[0].is_attached, far.data_out[0].credit) == (True, 250)


class TestControl:
    def test_messages_go_both_ways(self):
        mesh, trunk = open_both("A", "B")
        for id in "AB":
            mesh[id].take_events()
        numbers = [peer.number for peer in trunk.peers]
        for number in range(300):
            mesh["A"].router.trunks.send_control(numbers[0], b"up %d" % number)
            mesh["B"].router.trunks.send_control(numbers[1], b"down %d" % number)
        mesh.pump()
        assert mesh["B"].take_events() == [ControlArrived(numbers[1], b"up %d" % number) for number in range(300)]
        assert mesh["A"].controls() == [b"down %d" % number for number in range(300)]

    def test_they_are_settled_and_in_one_link(self, router):
        far = neighbour(router).attach()
        router.router.trunks.send_control(far.number, b"hello")
        router.pump()
        assert (far.received(far.control_in), far.latest(far.control_in).remote_settled) == ([b"hello"], True)

    def test_those_of_a_neighbour_that_waits_for_an_outcome_are_accepted(self, router):
        far = neighbour(router).attach()
        delivery = far.send(far.control_out, b"hello")
        assert (delivery.remote_settled, router.controls()) == (True, [b"hello"])

    @pytest.mark.parametrize("settled", [False, True])
    def test_a_message_may_have_several_frames(self, router, settled):
        far = neighbour(router).attach()
        delivery = far.stream(far.control_out, b"one ", b"two ", ends=False, settled=settled)
        assert router.controls() == []
        far.go_on(delivery, b"three", more=False)
        far.send(far.control_out, b"another", settled=True)
        assert (router.controls(), delivery.remote_settled) == ([b"one two three", b"another"], not settled)

    def test_a_large_message_is_sent_in_as_many_frames_as_it_takes(self):
        mesh, trunk = open_both("A", "B", configs=({"max_frame_size": 512}, {"max_frame_size": 512}))
        octets = bytes(range(256)) * 40
        mesh["A"].router.trunks.send_control(trunk.peers[0].number, octets)
        mesh.pump()
        assert mesh["B"].controls() == [octets]

    def test_a_message_that_is_aborted_is_none(self, router):
        far = neighbour(router).attach()
        delivery = far.stream(far.control_out, b"one ", ends=False)
        far.control_out.abort(delivery)
        router.pump()
        far.send(far.control_out, b"another")
        assert (router.controls(), far.control_out.credit > AMPLE) == ([b"another"], True)

    def test_a_message_that_has_no_end_is_given_up(self, router):
        far = neighbour(router, max_frame_size=1 << 24, send_frame_size=1 << 24).attach(pairs=1)
        server = far.peer.connection
        assert server.remote_open is not None
        part = bytes(1 << 20)
        delivery = far.stream(far.control_out, part, ends=False)
        for _ in range(70):
            far.go_on(delivery, part)
        assert delivery.remote_state.error.condition == "amqp:link:message-size-exceeded"
        far.go_on(delivery, b"end", more=False)
        far.send(far.control_out, b"another")
        assert router.controls() == [b"another"]

    def test_messages_wait_for_credit_in_order(self, router):
        far = neighbour(router)
        far.control_in = far.attach_in(CONTROL, credit=0)
        far.attach_out(CONTROL)
        for number in range(5):
            router.router.trunks.send_control(far.number, b"%d" % number)
        router.pump()
        assert far.received(far.control_in) == []
        far.control_in.grant(2)
        router.pump()
        assert far.received(far.control_in) == [b"0", b"1"]
        far.control_in.grant(9)
        router.pump()
        assert far.received(far.control_in) == [b"0", b"1", b"2", b"3", b"4"]

    def test_there_is_an_end_to_what_waits(self, router):
        far = neighbour(router)
        far.control_in = far.attach_in(CONTROL, credit=0)
        trunk = far.peer.trunk
        assert all(trunk.send_control(b"early") for _ in range(10_000))
        assert not trunk.send_control(b"late")
        far.control_in.grant(20_000)
        router.pump()
        assert far.received(far.control_in) == [b"early"] * 10_000

    def test_nothing_is_sent_on_a_trunk_that_has_no_control_link_or_is_none(self, router):
        far = neighbour(router)
        far.attach_out(CONTROL)
        router.router.trunks.send_control(far.number, b"x")
        router.router.trunks.send_control(far.number + 7, b"x")
        far.peer.trunk.use_control_credit()
        far.control_in = far.attach_in(CONTROL)
        assert (len(far.peer.trunk.queue), far.received(far.control_in)) == (0, [])

    def test_what_waits_for_a_link_that_is_gone_is_not_sent_later(self, router):
        far = neighbour(router)
        far.control_in = far.attach_in(CONTROL, credit=0)
        far.attach_out(CONTROL)
        router.router.trunks.send_control(far.number, b"old")
        far.detach(far.control_in)
        far.control_in = far.attach_in(CONTROL)
        router.router.trunks.send_control(far.number, b"new")
        router.pump()
        assert far.received(far.control_in) == [b"new"]
