"""Edge routers and their interior routers when something is lost, late, refused or not true."""

import pytest

from routerd.core import AddressSettings, Observer
from routerd.wire import (
    ACCEPTED,
    RELEASED,
    AmqpValue,
    Error,
    Int,
    Message,
    Modified,
    Properties,
    Rejected,
    Source,
    Symbol,
    Target,
    UInt,
    ULong,
)
from tests.routers import message, message_to, outcome
from tests.unit.core.edge_routers import (
    CAPACITY,
    DOWNLINK,
    HEARTBEAT,
    LINKS,
    LOOKUP,
    TRACKING,
    EdgeMesh,
    edge_router,
    far_edge,
    far_interior,
    interior_router,
    kept_by_key,
    refusals,
    value,
)
from tests.unit.core.joined_routers import to_router

ADDRESSES = ["orders", "closest/a", "multicast/a"]
MAYBE_SEEN = Modified(delivery_failed=True)


@pytest.fixture
def edge():
    return edge_router()


@pytest.fixture
def router():
    return interior_router()


class TestHeartbeats:
    """What an edge router sends every two seconds."""

    def beats(self, far):
        return [Message.decode(octets).body.value for octets in far.received(far.link_to(HEARTBEAT))]

    def look_after(self, edge, times=1):
        for _ in range(times):
            edge.router.look_after_edges(edge.now)
            edge.pump()

    def test_they_count_from_0(self, edge):
        far = far_interior(edge)
        self.look_after(edge, 3)
        assert self.beats(far) == [0, 1, 2]
        assert {type(beat) for beat in self.beats(far)} == {Int}
        assert far.latest(far.link_to(HEARTBEAT)).remote_settled

    def test_they_are_messages_of_a_header_and_an_int(self, edge):
        far = far_interior(edge)
        self.look_after(edge)
        assert far.received(far.link_to(HEARTBEAT)) == [bytes.fromhex("00537045" "005377" "5400")]

    def test_the_count_begins_again_when_it_is_used_up(self, edge):
        far = far_interior(edge)
        edge.router.uplinks.active.beats = 2**31 - 1
        self.look_after(edge, 2)
        assert self.beats(far) == [2**31 - 1, 0]

    def test_without_credit_none_is_sent_and_none_is_made_up_for(self, edge):
        far = far_interior(edge, credit=0)
        self.look_after(edge, 3)
        assert self.beats(far) == []
        far.link_to(HEARTBEAT).grant(2)
        self.look_after(edge, 3)
        assert self.beats(far) == [0, 1]

    def test_none_is_sent_where_the_link_is_refused_or_gone(self, edge):
        far = far_interior(edge)
        far.detach(far.link_to(HEARTBEAT))
        self.look_after(edge, 3)
        assert far.messages == {}

    def test_none_is_sent_without_uplink_or_to_one_in_reserve(self, edge):
        self.look_after(edge)
        first, second = far_interior(edge, "A"), far_interior(edge, "B")
        self.look_after(edge)
        assert (self.beats(first), second.ends()) == ([0], [])

    def test_one_that_takes_over_has_its_own_count(self, edge):
        first, second = far_interior(edge, "A"), far_interior(edge, "B")
        self.look_after(edge, 3)
        first.vanish()
        self.look_after(edge, 2)
        assert self.beats(second) == [0, 1]


class TestSilence:
    """What an interior router does about an edge router that it does not hear."""

    def test_8_seconds_are_not_too_long(self, router):
        far = far_edge(router).attach()
        for seconds in (0, 4, 4):
            router.pump(seconds)
            router.router.look_after_edges(router.now)
        assert far.peer.is_open

    def test_more_than_that_cuts_its_connection_and_no_other(self, router):
        far, other, client = far_edge(router).attach(), far_edge(router).attach(), router.client()
        for _ in range(4):
            router.pump(2)
            other.beat()
            router.router.look_after_edges(router.now)
        router.pump(0.1)
        router.router.look_after_edges(router.now)
        assert far.peer.shell.is_ending
        router.pump()
        assert far.take()[-1] == ("closed", "amqp:connection:forced")
        assert sorted(router.router.peers) == sorted([other.peer.number, client.peer.number])

    def test_each_heartbeat_begins_the_time_again(self, router):
        far = far_edge(router).attach()
        for _ in range(20):
            router.pump(7.9)
            far.beat()
            router.router.look_after_edges(router.now)
        assert far.peer.is_open

    @pytest.mark.parametrize(
        "octets",
        [
            value(5),
            value("text"),
            value(None),
            value([1, {"a": b"b"}]),
            value(ULong(2**64 - 1)),
            message(b"data"),
            b"",
            b"\x00",
            b"no message",
            bytes(300),
        ],
        ids=lambda octets: octets[:12].hex() or "nothing",
    )
    def test_it_does_not_matter_what_it_says(self, router, octets):
        far = far_edge(router).attach()
        for _ in range(5):
            router.pump(7)
            far.beat(octets)
            router.router.look_after_edges(router.now)
        assert far.peer.is_open

    def test_an_edge_router_without_such_a_link_is_not_cut(self, router):
        far = far_edge(router)
        router.pump(1000)
        router.router.look_after_edges(router.now)
        assert far.peer.is_open

    def test_nor_is_one_that_has_detached_it(self, router):
        far = far_edge(router).attach()
        inlets = list(far.peer.inlets)
        far.detach(far.heartbeat)
        router.pump(1000)
        router.router.look_after_edges(router.now)
        assert far.peer.is_open
        assert kept_by_key(*inlets) == list(far.peer.inlets)

    def test_a_link_that_never_has_any_counts_from_its_beginning(self, router):
        far = far_edge(router)
        router.pump(100)
        far.attach()
        for seconds in (0, 4, 4):
            router.pump(seconds)
            router.router.look_after_edges(router.now)
        assert far.peer.is_open
        router.pump(1)
        router.router.look_after_edges(router.now)
        router.pump()
        assert router.router.peers == {}

    def test_a_client_that_attaches_it_has_to_send_heartbeats_too(self, router):
        client = router.client()
        client.producer(HEARTBEAT)
        for seconds in (0, 4, 4, 1):
            router.pump(seconds)
            router.router.look_after_edges(router.now)
        router.pump()
        assert router.router.peers == {}

    def test_after_a_standstill_of_the_router_it_begins_anew(self, router):
        far = far_edge(router).attach()
        router.router.look_after_edges(router.now)
        router.pump(20)
        router.router.look_after_edges(router.now)
        assert far.peer.is_open
        for _ in range(2):
            router.pump(4.5)
            router.router.look_after_edges(router.now)
        router.pump()
        assert router.router.peers == {}

    def test_one_whose_close_was_sent_before_is_ended(self, router):
        far = far_edge(router).attach()
        router.router.look_after_edges(router.now)
        far.line.holds.add(far.server)
        router.router.connections.close(far.peer.number)
        far.peer.shell.is_ending = False
        for _ in range(3):
            router.pump(3)
            router.router.look_after_edges(router.now)
        assert far.peer.shell.is_ending

    def test_a_heartbeat_that_is_lost_is_reported_once_with_who_sent_it(self):
        lost = []

        class Watcher(Observer):
            def heartbeat_lost(self, peer, silence_s):
                lost.append((peer.connection.remote_open.container_id, silence_s))

        router = interior_router(observer=Watcher)
        far_edge(router).attach()
        for _ in range(4):
            router.pump(3)
            router.router.look_after_edges(router.now)
        assert lost == [("X", 9.0)]

    def test_a_qdrouterd_goes_on_beating_though_only_flows_let_it(self, router):
        far = far_edge(router).attach()
        beats = []
        for _ in range(20):
            router.pump(2)
            beats.append(far.beat_as_qdrouterd())
            router.router.look_after_edges(router.now)
        assert (beats, far.peer.is_open) == ([True] * 20, True)

    def test_heartbeats_have_their_credit_back_one_by_one(self, router):
        far = far_edge(router).attach()
        far.take()
        for _ in range(3):
            far.beat()
            assert far.take() == [("link flow", far.heartbeat.name, 2)]

    def test_the_link_is_detached_without_an_error_when_the_router_ends(self, router):
        far = far_edge(router).attach()
        router.router.leaving.drain()
        far.take()
        router.router.leaving.close_all()
        router.pump()
        events = far.take()
        errors = {event[1]: event[3] for event in events if event[0] == "link detached"}
        assert (errors[far.heartbeat.name], errors[far.uplink.name]) == (None, "amqp:connection:forced")
        assert ("closed", "amqp:connection:forced") in events

    def test_a_client_may_use_the_address_and_is_not_cut(self, router):
        client = router.client()
        link = client.producer(HEARTBEAT)
        router.pump(1000)
        router.router.look_after_edges(router.now)
        assert (link.is_attached, client.peer.is_open) == (True, True)

    def test_our_own_edge_routers_are_heard(self):
        mesh = EdgeMesh("I")
        mesh.hang("E", "I")
        mesh.hang("F", "I")
        for _ in range(10):
            mesh.beat()
        assert len(mesh["I"].router.peers) == 2
        mesh.edges.pop("F")
        for _ in range(5):
            mesh.beat()
        assert [peer.connection.remote_open.container_id for peer in mesh["I"].router.peers.values()] == ["E"]

    def test_a_connection_that_has_no_transport_any_more_is_passed_over(self, router):
        far = far_edge(router).attach()
        far.peer.shell = None
        router.router.look_after_edges(router.now + 100)
        assert far.peer.is_open


class TestReserve:
    """A second uplink takes over."""

    @pytest.fixture
    def mesh(self):
        """A and B, joined; E at A, and at B in reserve."""
        mesh = EdgeMesh("A", "B")
        mesh.join("A", "B")
        mesh.first = mesh.hang("E", "A")
        mesh.second = mesh.hang("E", "B")
        return mesh

    def test_it_has_no_links_until_then(self, mesh):
        assert [mesh["E"].router.uplinks.is_in_reserve(one.peer) for one in (mesh.first, mesh.second)] == [False, True]
        assert (list(mesh.second.peer.inlets), list(mesh.second.peer.outlets)) == ([], [])
        assert mesh["B"].interests() == {}
        mesh.first.cut()
        assert not mesh["E"].router.uplinks.is_in_reserve(mesh.second.peer)
        assert [len(mesh.second.peer.inlets), len(mesh.second.peer.outlets)] == [3, 2]
        assert (mesh["A"].interests(), mesh["B"].interests()) == ({}, {"HE": 3})

    @pytest.mark.parametrize("address", ADDRESSES)
    @pytest.mark.parametrize("end", ["A", "B"])
    def test_messages_go_on_over_it(self, mesh, address, end):
        client, there = mesh["E"].client(), mesh[end].client()
        consumer, back = there.consumer(address, credit=100), client.consumer(f"{address}/back", credit=100)
        sender, answering = client.producer(address), there.producer(f"{address}/back")
        for _ in range(2):
            client.send(sender, message(), settled=True)
            there.send(answering, message(), settled=True)
            mesh.first.cut()
        assert (len(there.received(consumer)), len(client.received(back))) == (2, 2)

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_what_was_under_way_is_modified(self, mesh, address):
        client, there = mesh["E"].client(), mesh["B"].client()
        consumer = there.consumer(address, credit=10)
        up = client.send(client.producer(address), message())
        back = client.consumer("back", credit=10)
        down = there.send(there.producer("back"), message())
        mesh.first.cut()
        assert (outcome(up), outcome(down)) == ((MAYBE_SEEN, True), (MAYBE_SEEN, True))
        there.latest(consumer).accept()
        client.latest(back).accept()
        mesh.pump()
        ends = [end for peer in mesh["E"].router.peers.values() for end in (*peer.inlets, *peer.outlets)]
        assert sum(end.link.unsettled_count for end in ends) == 0

    def test_what_waited_here_goes_over_it(self, edge):
        first, second = far_interior(edge, "A", credit=0), far_interior(edge, "B")
        client = edge.client()
        delivery = client.send(client.producer(None), message_to("orders"))
        assert outcome(delivery) == (None, False)
        first.vanish()
        assert second.received(second.link_to(None)) == [message_to("orders")]
        second.latest(second.link_to(None)).accept()
        edge.pump()
        assert outcome(delivery) == (ACCEPTED, True)

    def test_the_links_of_addresses_come_with_it(self, edge):
        first, second = far_interior(edge, "A"), far_interior(edge, "B")
        client = edge.client()
        client.consumer("orders")
        client.producer("others")
        assert (first.addresses(), second.ends()) == ((["orders"], ["others"]), [])
        first.vanish()
        assert (second.ends()[: len(LINKS)], second.addresses()) == (LINKS, (["orders"], ["others"]))

    def test_what_the_first_has_told_does_not_count_any_more(self, edge):
        first, second = far_interior(edge, "A"), far_interior(edge, "B")
        sender = edge.client().producer("orders")
        first.tell("M0orders", True)
        assert sender.credit == CAPACITY
        first.vanish()
        assert sender.credit == 0
        second.tell("M0orders", True)
        assert sender.credit == CAPACITY

    def test_one_in_reserve_that_is_lost_is_not_taken(self, edge):
        first, second, third = (far_interior(edge, id) for id in "ABC")
        second.vanish()
        assert first.ends() == LINKS
        first.vanish()
        assert (second.ends(), third.ends()) == ([], LINKS)

    def test_the_uplink_that_comes_back_is_in_reserve(self, edge):
        first, second = far_interior(edge, "A"), far_interior(edge, "B")
        first.vanish()
        third = far_interior(edge, "A")
        assert (second.ends(), third.ends()) == (LINKS, [])
        second.leave()
        assert third.ends() == LINKS

    def test_one_that_takes_a_single_session_will_do(self, edge):
        first, second = far_interior(edge, "A"), far_interior(edge, "B", channel_max=0)
        client = edge.client()
        sender = client.producer("orders")
        first.tell("M0orders", True)
        first.vanish()
        assert (second.ends()[: len(LINKS)], sender.credit) == (LINKS, 0)
        second.tell("M0orders", True)
        client.send(sender, message(), settled=True)
        assert len(second.received(second.link_to(None))) == 1
        assert list(edge.router.directory.trunks) == [second.peer.number]

    def test_copies_go_over_it(self, mesh):
        client, there = mesh["E"].client(), mesh["A"].client()
        here, far = client.consumer("multicast/a", credit=10), there.consumer("multicast/a", credit=10)
        sender = client.producer("multicast/a")
        for _ in range(2):
            client.send(sender, message(), settled=True)
            mesh.first.cut()
        assert (len(client.received(here)), len(there.received(far))) == (2, 2)

    def test_a_large_message_in_the_middle_is_modified_and_the_next_goes_over_it(self, mesh):
        client, there = mesh["E"].client(), mesh["B"].client()
        consumer = there.consumer("orders", credit=10)
        sender = client.producer("orders")
        octets = message(bytes(5000))
        delivery = client.stream(sender, octets[:1000], ends=False)
        mesh.first.cut()
        assert outcome(delivery) == (MAYBE_SEEN, True)
        client.go_on(delivery, octets[1000:], more=False)
        client.stream(sender, octets[:1000], octets[1000:], settled=True)
        assert (there.aborted, there.received(consumer)) == ([consumer.name], [octets])


class TestLoss:
    """The last uplink is lost."""

    @pytest.mark.parametrize("address", ADDRESSES)
    @pytest.mark.parametrize("how", ["vanish", "leave"])
    def test_ways_and_credit_are_gone_and_what_waits_is_released(self, edge, address, how):
        far = far_interior(edge, credit=0)
        client = edge.client()
        sender = client.producer(address)
        far.tell(f"M0{address}", True)
        delivery = client.send(sender, message())
        getattr(far, how)()
        assert (outcome(delivery), sender.credit) == ((RELEASED, True), 0)
        assert edge.router.addresses[f"M0{address}"].routes == []
        assert (edge.router.uplinks.active, edge.router.directory.trunks) == (None, {})

    @pytest.mark.parametrize("address", ADDRESSES)
    def test_clients_here_go_on(self, edge, address):
        far = far_interior(edge)
        client = edge.client()
        consumer, sender = client.consumer(address, credit=10), client.producer(address)
        far.tell(f"M0{address}", True)
        far.vanish()
        assert sender.credit == CAPACITY
        delivery = client.send(sender, message())
        client.latest(consumer).accept()
        edge.pump()
        assert (client.received(consumer), outcome(delivery)) == ([message()], (ACCEPTED, True))

    def test_what_was_settled_and_waits_is_dropped(self, edge):
        far = far_interior(edge, credit=0)
        client = edge.client()
        client.send(client.producer(None), message_to("orders"), settled=True)
        [inlet] = client.peer.inlets
        assert (inlet.waiting, inlet.dropped_presettled) == (1, 0)
        far.vanish()
        assert (inlet.waiting, inlet.dropped_presettled) == (0, 1)

    def test_clients_that_come_meanwhile_get_links_when_it_is_back(self, edge):
        far_interior(edge).vanish()
        client = edge.client()
        client.consumer("orders")
        client.producer("others")
        assert far_interior(edge).addresses() == (["orders"], ["others"])

    def test_it_leaves_nothing_behind_at_either_end(self):
        mesh = EdgeMesh("I")
        client = mesh["I"].client()
        ends = []
        for _ in range(3):
            uplink = mesh.hang("E", "I")
            ends += [*uplink.peers, *(inlet for peer in uplink.peers for inlet in peer.inlets)]
            there = mesh["E"].client()
            there.consumer("orders", credit=10)
            there.producer("others")
            replies = there.consumer(None, source=Source(dynamic=True), credit=10)
            client.send(client.producer("orders"), message())
            client.send(client.producer(None), message_to(replies.remote_source.address))
            there.send(there.producer(None), message_to("nobody"))
            uplink.cut()
            there.leave()
        client.leave()
        assert (mesh.left_over(), kept_by_key(*ends)) == ({}, [])

    def test_one_that_never_opened_is_none(self, edge):
        far = far_interior(edge, answers=False)
        far.vanish()
        assert (edge.router.uplinks.active, edge.router.peers) == (None, {})

    def test_an_interior_router_that_detaches_the_link_up_is_not_used_for_ever(self, edge):
        far = far_interior(edge)
        client = edge.client()
        sender = client.producer(None)
        far.detach(far.link_to(None))
        delivery = client.send(sender, message_to("orders"))
        assert outcome(delivery) == (RELEASED, True)

    def test_without_a_link_up_another_uplink_takes_over(self, edge):
        first, second = far_interior(edge, "A"), far_interior(edge, "B")
        first.peer.shell = None
        first.detach(first.link_to(None))
        assert second.ends() == LINKS
        client = edge.client()
        client.send(client.producer(None), message_to("orders"), settled=True)
        assert len(second.received(second.link_to(None))) == 1
        assert first.take()[-1] == ("closed", "amqp:not-allowed")

    @pytest.mark.parametrize("address", [TRACKING, HEARTBEAT, "E"])
    def test_without_one_of_the_other_links_the_rest_goes_on(self, edge, address):
        far = far_interior(edge)
        far.detach(far.link_to(address) if address == HEARTBEAT else far.link_from(address))
        client = edge.client()
        consumer = client.consumer("orders", credit=10)
        far.send(far.link_from("orders"), to_router(), settled=True)
        client.send(client.producer(None), message_to("others"), settled=True)
        assert (len(client.received(consumer)), len(far.received(far.link_to(None)))) == (1, 1)
        edge.router.look_after_edges(edge.now)
        edge.pump()

    def test_a_link_of_an_address_that_the_interior_router_detaches_changes_nothing_else(self, edge):
        far = far_interior(edge)
        client = edge.client()
        consumer, sender = client.consumer("orders", credit=10), client.producer("others")
        far.detach(far.link_from("orders"))
        far.detach(far.link_to("others"))
        far.send(far.link_from("E"), to_router("orders"), settled=True)
        far.tell("M0others", True)
        client.send(sender, message(), settled=True)
        assert (len(client.received(consumer)), len(far.received(far.link_to(None)))) == (1, 1)
        client.detach(consumer)
        client.detach(sender)
        client.consumer("orders")
        assert far.addresses() == (["orders"], [])


class TestEnd:
    """Routers that end in order."""

    def test_an_edge_router_ends_when_nothing_is_under_way(self):
        mesh = EdgeMesh("I")
        mesh.hang("E", "I")
        client, there = mesh["E"].client(), mesh["I"].client()
        consumer = there.consumer("orders", credit=10)
        delivery = client.send(client.producer("orders"), message())
        edge = mesh["E"].router
        edge.leaving.drain()
        mesh.pump()
        assert not edge.leaving.is_drained()
        there.latest(consumer).accept()
        mesh.pump(2.0)
        assert outcome(delivery) == (ACCEPTED, True)
        for _ in range(3):
            edge.leaving.is_drained()
            mesh.pump()
        assert edge.leaving.is_drained()
        edge.leaving.close_all()
        mesh.pump()
        assert mesh["I"].interests() == {"M0orders": 3}
        assert client.take()[-1] == ("closed", "amqp:connection:forced")

    def test_an_edge_router_that_ends_uses_none_of_its_reserve(self):
        mesh = EdgeMesh("A", "B")
        first, second = mesh.hang("E", "A"), mesh.hang("E", "B")
        edge = mesh["E"].router
        edge.leaving.drain()
        for _ in range(3):
            mesh.pump(2.0)
            edge.leaving.is_drained()
        edge.leaving.close_all()
        mesh.pump()
        assert (edge.peers, mesh["A"].interests(), mesh["B"].interests()) == ({}, {}, {})
        assert [uplink.line.is_cut for uplink in (first, second)] == [True, True]

    def test_an_interior_router_ends_and_the_edge_router_goes_to_another(self):
        mesh = EdgeMesh("A", "B")
        mesh.hang("E", "A")
        mesh.hang("E", "B")
        client, there = mesh["E"].client(), mesh["B"].client()
        consumer = there.consumer("orders", credit=10)
        sender = client.producer("orders")
        router = mesh["A"].router
        router.leaving.drain()
        for _ in range(3):
            router.leaving.is_drained()
            mesh.pump(2.0)
        assert router.leaving.is_drained()
        router.leaving.close_all()
        mesh.pump()
        client.send(sender, message(), settled=True)
        assert there.received(consumer) == [message()]

    def ending(self):
        """An interior router that ends, has an edge router, and cannot yet: a delivery of another client is open."""
        mesh = EdgeMesh("I", "A")
        mesh.join("I", "A")
        far, there = far_edge(mesh["I"]).attach(), mesh["A"].client()
        there.consumer("orders", credit=10)
        there.consumer("others", credit=10)
        for address in ("orders", "others"):
            far.producer(address)
        client = mesh["I"].client()
        client.send(client.producer("orders"), message())
        told = [["M0orders", True], ["M0others", True]]
        assert far.notices() == told
        mesh["I"].router.leaving.drain()
        return mesh, far, there

    def test_an_interior_router_that_ends_tells_edge_routers_nothing_of_addresses(self):
        mesh, far, there = self.ending()
        for _ in range(5):
            mesh.pump(2.0)
            assert not mesh["I"].router.leaving.is_drained()
        there.vanish()
        mesh.pump()
        assert len(far.notices()) == 2
        mesh["I"].router.leaving.close_all()
        mesh.pump()
        assert (len(far.notices()), far.take()[-1]) == (2, ("closed", "amqp:connection:forced"))

    def test_credit_brings_no_notice_either(self, router):
        far = far_edge(router).attach()
        far.producer("orders")
        far.tracking.set_credit(0)
        router.client().consumer("orders")
        router.router.leaving.drain()
        far.tracking.grant(CAPACITY)
        router.pump()
        assert far.notices() == []

    def test_an_interior_router_that_ends_hears_its_edge_routers(self):
        mesh, far, _ = self.ending()
        for _ in range(10):
            mesh.pump(2.0)
            assert not mesh["I"].router.leaving.is_drained()
            assert far.beat_as_qdrouterd()
            mesh["I"].router.look_after_edges(mesh.now)
        assert far.peer.is_open


class TestRefusals:
    """Links that are not for everybody, or not for that direction."""

    def refused(self, peer, *, source=None, target=None, is_sender):
        link = peer.session.sender("link") if is_sender else peer.session.receiver("link")
        peer.take()
        link.attach(
            source=source if isinstance(source, Source) else Source(address=source),
            target=target if isinstance(target, Target) else Target(address=target),
        )
        peer._workers.pump()
        return refusals(peer)

    @pytest.mark.parametrize("address", [TRACKING, HEARTBEAT, LOOKUP])
    def test_none_is_for_both_directions(self, router, address):
        far = far_edge(router)
        is_down = address == TRACKING
        wrong = {"source": None, "target": address} if is_down else {"source": address, "target": None}
        reason = "amqp:not-allowed" if is_down else None
        assert self.refused(far, **wrong, is_sender=is_down) == [("link", True, reason)]
        right = {"source": address, "target": None} if is_down else {"source": None, "target": address}
        assert self.refused(far, **right, is_sender=not is_down) == []

    @pytest.mark.parametrize("address", [TRACKING, HEARTBEAT, LOOKUP])
    def test_a_client_cannot_have_those_of_edge_routers(self, router, address):
        client = router.client()
        if address == TRACKING:
            found = self.refused(client, source=address, is_sender=False)
        else:
            found = self.refused(client, target=address, is_sender=True)
        # A heartbeat is nobody's secret.
        reasons = {TRACKING: ["qd:forbidden"], HEARTBEAT: [], LOOKUP: [None]}
        assert [reason for _, _, reason in found] == reasons[address]

    @pytest.mark.parametrize("address", [TRACKING, HEARTBEAT, LOOKUP])
    def test_neither_can_a_client_in_the_wrong_direction(self, router, address):
        client = router.client()
        is_sender = address == TRACKING
        assert len(self.refused(client, source=address, target=address, is_sender=is_sender)) == 1

    def test_an_edge_router_tracks_for_nobody(self, edge):
        far = far_interior(edge)
        session = far.connection.session()
        session.begin()
        link = session.receiver("link")
        far.take()
        link.attach(source=Source(address=TRACKING), target=Target())
        edge.pump()
        assert refusals(far) == [("link", True, "qd:forbidden")]

    @pytest.mark.parametrize("capability", ["qd.router", "qd.router-data"])
    @pytest.mark.parametrize("is_sender", [False, True])
    def test_links_between_routers_are_not_for_edge_routers(self, router, capability, is_sender):
        far = far_edge(router)
        termini = {"source": Source(capabilities=(Symbol(capability),)), "target": Target()}
        assert self.refused(far, **termini, is_sender=is_sender) == [("link", True, "qd:forbidden")]

    def test_an_answer_that_does_not_fit_the_frames_of_an_edge_router_is_a_refusal(self, router):
        far = far_edge(router, max_frame_size=512)
        filler = {Symbol("x"): "x" * 220}
        for address, is_sender in ((TRACKING, False), (HEARTBEAT, True)):
            far.take()
            link = far.session.sender(address) if is_sender else far.session.receiver(address)
            options = {"dynamic_node_properties": filler}
            link.attach(
                source=Source(address=None if is_sender else address, **options),
                target=Target(address=address if is_sender else None, **options),
            )
            router.pump()
            assert refusals(far) == [(address, True, "amqp:frame-size-too-small")]
        assert (far.peer.inlets, far.peer.outlets, kept_by_key(far.peer)) == ({}, {}, [])

    def test_a_router_that_ends_takes_no_new_links_of_addresses(self, router):
        far = far_edge(router).attach()
        router.router.leaving.drain()
        assert self.refused(far, source="orders", is_sender=False) == [("link", True, "amqp:connection:forced")]

    @pytest.mark.parametrize("terminus", [None, Source(address=5), Source(address=b"x")])
    def test_odd_sources_are_no_links_of_edge_routers(self, router, terminus):
        far = far_edge(router)
        link = far.session.receiver("link")
        far.take()
        link.attach(source=terminus, target=Target())
        router.pump()
        assert [reason for _, _, reason in refusals(far)] == ["amqp:invalid-field"]

    @pytest.mark.parametrize("terminus", [None, Target(address=5), Target(address=b"x")])
    def test_nor_are_odd_targets(self, router, terminus):
        far = far_edge(router)
        link = far.session.sender("link")
        far.take()
        link.attach(source=Source(), target=terminus)
        router.pump()
        assert [reason for _, _, reason in refusals(far)] == ["amqp:invalid-field"]


class TestLookups:
    """Whether an address is a link route: none is."""

    def asked(self, router, octets, *, credit=CAPACITY, address=LOOKUP):
        far = far_edge(router).attach()
        self.replies = far.consumer(None, source=Source(dynamic=True), credit=credit)
        self.reply_to = self.replies.remote_source.address
        self.far = far
        far.send(far.producer(address), octets(self.reply_to), settled=True)
        return [Message.decode(answer) for answer in far.received(self.replies)]

    def question(self, reply_to, **properties):
        about = {"version": UInt(1), "opcode": UInt(1)} | properties
        return bytes(
            Message(
                properties=Properties(reply_to=reply_to, correlation_id="client-1f"),
                application_properties=about,
                body=AmqpValue(["orders", True]),
            ).encode()
        )

    def test_the_answer_is_3(self, router):
        [answer] = self.asked(router, self.question)
        assert answer.properties == Properties(to=self.reply_to, correlation_id="client-1f")
        assert answer.application_properties == {"version": 1, "opcode": 1, "status": 3}
        assert {type(one) for one in answer.application_properties.values()} == {UInt}
        assert answer.body.value == [False, False]
        assert self.far.latest(self.replies).remote_settled

    def test_each_question_has_its_answer(self, router):
        self.asked(router, self.question)
        sender = self.far.producer(LOOKUP)
        for _ in range(2 * CAPACITY):
            self.far.send(sender, self.question(self.reply_to), settled=True)
            self.replies.grant(1)
        assert len(self.far.received(self.replies)) == 2 * CAPACITY + 1

    def rejected(self, router, octets):
        """Ask, and check that there is no answer but a rejection."""
        assert self.asked(router, self.question) != []
        delivery = self.far.send(self.far.producer(LOOKUP), octets(self.reply_to))
        assert self.far.received(self.replies)[1:] == []
        assert (type(delivery.remote_state), delivery.remote_settled) == (Rejected, True)
        assert delivery.remote_state.error.condition == "amqp:decode-error"

    @pytest.mark.parametrize("body", [None, 5, [], ["orders"], [5, 5], {"a": 1}], ids=repr)
    def test_a_body_without_address_and_direction_is_rejected(self, router, body):
        def octets(reply_to):
            properties = Properties(reply_to=reply_to, correlation_id="x")
            about = {"version": UInt(1), "opcode": UInt(1)}
            return bytes(Message(properties=properties, application_properties=about, body=AmqpValue(body)).encode())

        self.rejected(router, octets)

    @pytest.mark.parametrize("name", ["version", "opcode"])
    @pytest.mark.parametrize("value", [5, "text", None, -1.5, b"x"], ids=repr)
    def test_another_version_or_opcode_is_rejected(self, router, name, value):
        self.rejected(router, lambda reply_to: self.question(reply_to, **{name: value}))

    @pytest.mark.parametrize("octets", [message(), message(properties=Properties(correlation_id="x"))])
    def test_what_is_no_request_is_rejected(self, router, octets):
        self.rejected(router, lambda reply_to: octets)

    def test_an_opcode_that_is_no_value_of_a_property_does_no_harm(self, router):
        # application-properties {"opcode": []}
        octets = bytes.fromhex("005374c10a02a1066f70636f646545")

        def asked(reply_to):
            plain = Message(properties=Properties(reply_to=reply_to), body=AmqpValue(None)).encode()
            body = plain.index(bytes.fromhex("005377"))
            return plain[:body] + octets + plain[body:]

        self.asked(router, asked)
        self.far.send(self.far.producer(LOOKUP), self.question(self.reply_to), settled=True)
        assert Message.decode(self.far.received(self.replies)[-1]).application_properties["status"] == 3

    @pytest.mark.parametrize(
        "octets",
        [
            lambda reply_to: b"",
            lambda reply_to: b"no message",
            lambda reply_to: message(),
            lambda reply_to: message(properties=Properties(correlation_id="x")),
            lambda reply_to: message(properties=Properties(reply_to="_topo/0/I/nobody")),
            lambda reply_to: message(properties=Properties(reply_to="")),
            lambda reply_to: message(properties=Properties()),
        ],
    )
    def test_what_cannot_be_answered_is_not(self, router, octets):
        assert self.asked(router, octets) == []
        assert self.far.peer.is_open

    def test_only_who_has_asked_is_answered(self, router):
        client = router.client()
        consumer = client.consumer("orders", credit=10)
        assert self.asked(router, lambda reply_to: self.question("orders")) == []
        assert client.received(consumer) == []

    def test_without_credit_there_is_no_answer(self, router):
        assert self.asked(router, self.question, credit=0) == []
        self.replies.grant(1)
        router.pump()
        self.far.send(self.far.producer(LOOKUP), self.question(self.reply_to), settled=True)
        assert len(self.far.received(self.replies)) == 1

    def test_a_question_that_wants_an_outcome_is_accepted(self, router):
        self.asked(router, self.question)
        assert outcome(self.far.send(self.far.producer(LOOKUP), self.question(self.reply_to))) == (ACCEPTED, True)


class TestLies:
    """Far ends that do what they should not."""

    def test_a_second_link_of_each_purpose_does_no_harm(self, router):
        far = far_edge(router).attach()
        far.attach()
        client = router.client()
        far.producer("orders")
        client.consumer("orders", credit=10)
        assert far.notices() == [["M0orders", True]]
        client.send(client.producer(None), message_to("_edge/X/a"), settled=True)
        ends = [far.peer, *far.peer.inlets]
        far.vanish()
        assert kept_by_key(*ends) == []

    def test_an_interior_router_with_the_id_of_the_edge_router_is_one_like_others(self, edge):
        far = far_interior(edge, "E")
        client = edge.client()
        sender = client.producer("orders")
        far.tell("M0orders", True)
        client.send(sender, message(), settled=True)
        assert len(far.received(far.link_to(None))) == 1

    def test_one_without_an_id_is_too(self, edge):
        far = far_interior(edge, "")
        client = edge.client()
        sender = client.producer("orders")
        far.tell("M0orders", True)
        client.send(sender, message(), settled=True)
        assert len(far.received(far.link_to(None))) == 1

    def test_messages_on_the_tracking_link_are_no_messages_of_clients(self, edge):
        far = far_interior(edge)
        client = edge.client()
        consumer = client.consumer("orders", credit=10)
        far.tell_octets(message_to("orders"))
        assert client.received(consumer) == []

    def test_an_interior_router_may_have_links_to_addresses_here(self, edge):
        far = far_interior(edge)
        session = far.connection.session()
        session.begin()
        client = edge.client()
        receiver = session.receiver("in")
        receiver.attach(source=Source(address="orders"), target=Target())
        edge.pump()
        receiver.grant(10)
        edge.pump()
        client.send(client.producer("orders"), message(), settled=True)
        assert far.received(receiver) == [message()]

    @pytest.mark.parametrize("address", [HEARTBEAT, LOOKUP])
    def test_links_that_are_for_interior_routers_do_no_harm_at_an_edge_router(self, edge, address):
        far = far_interior(edge)
        session = far.connection.session()
        session.begin()
        link = session.sender("out")
        link.attach(source=Source(), target=Target(address=address))
        edge.pump()
        for body in (5, ["a", True], None):
            if link.is_attached and link.credit:
                far.send(link, value(body), settled=True)
        edge.router.look_after_edges(edge.now + 100)
        edge.pump()
        client = edge.client()
        client.send(client.producer(None), message_to("orders"), settled=True)
        assert len(far.received(far.link_to(None))) == 1

    def test_links_on_a_connection_in_reserve_do_no_harm(self, edge):
        far_interior(edge, "A")
        far = far_interior(edge, "B")
        session = far.connection.session()
        session.begin()
        client = edge.client()
        consumer = client.consumer("orders", credit=10)
        for address in (HEARTBEAT, LOOKUP, TRACKING, "orders", None):
            session.sender(f"out-{address}").attach(source=Source(), target=Target(address=address))
            session.receiver(f"in-{address}").attach(source=Source(address=address), target=Target())
        edge.pump()
        link = far.links["out-None"]
        if link.is_attached and link.credit:
            far.send(link, to_router("orders", annotations={"trace": ["0/B"]}), settled=True)
        assert len(client.received(consumer)) <= 1
        ends = [far.peer, *far.peer.inlets]
        far.vanish()
        edge.router.look_after_edges(edge.now + 100)
        assert kept_by_key(*ends) == []

    def test_credit_that_it_takes_back_holds_messages_up(self, edge):
        far = far_interior(edge)
        client = edge.client()
        far.link_to(None).set_credit(0)
        edge.pump()
        delivery = client.send(client.producer(None), message_to("orders"))
        assert outcome(delivery) == (None, False)
        far.link_to(None).grant(1)
        edge.pump()
        assert len(far.received(far.link_to(None))) == 1

    def test_an_edge_router_whose_addresses_are_too_long_is_refused_one(self, router):
        far = far_edge(router, max_frame_size=1 << 16)
        far.take()
        far.session.receiver("link").attach(source=Source(address="a" * 5000), target=Target())
        router.pump()
        assert [reason for _, _, reason in refusals(far)] == ["amqp:invalid-field"]

    def test_an_edge_router_that_ends_its_sessions_has_no_links_left(self, router):
        far = far_edge(router).attach()
        inlets = list(far.peer.inlets)
        far.session.end(Error(condition="x:y"))
        router.pump()
        assert (router.router.addresses, kept_by_key(far.peer, *inlets)) == ({}, [])
        assert far.peer.is_open

    def test_the_capability_of_downlinks_and_the_address_of_tracking_are_tracking(self, router):
        far = far_edge(router)
        far.tracking = far.consumer(
            None, source=Source(address=TRACKING, capabilities=(Symbol(DOWNLINK),)), credit=CAPACITY
        )
        far.producer("orders")
        router.client().consumer("orders")
        assert far.notices() == [["M0orders", True]]

    def test_a_pattern_of_the_settings_does_not_hide_what_edge_routers_use(self):
        router = interior_router(addresses=(AddressSettings(pattern="#", ingress_phase=3),))
        far = far_edge(router).attach()
        assert far.heartbeat.credit > 0
        router.pump(7)
        far.beat()
        router.pump(7)
        router.router.look_after_edges(router.now)
        assert far.peer.is_open
