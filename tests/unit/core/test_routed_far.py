"""Routed links over the workers of a router, and over routers: their containers are anywhere."""

from itertools import pairwise

import pytest

from routerd.core import Interest, LinkRouteSettings
from routerd.wire import ACCEPTED, Coordinator, Source, Symbol, Target
from tests.routers import message
from tests.unit.core.joined_routers import Mesh, neighbour
from tests.unit.core.routed import IN, OUT, Container, Routed

LOST = "qd:routed-link-lost"
NO_ROUTE = (True, "qd:no-route-to-dest")


@pytest.fixture
def routed():
    """Two workers: the client is at one, the container at the other."""
    return Routed(2, client=0, at=1)


class TestSiblings:
    def test_a_worker_tells_of_its_containers(self, routed):
        neighbour = routed.workers[0].router.directory.neighbours[1]
        assert neighbour.interests == {"Clr": 1, "Dlr": 1}
        everything = routed.workers[1].router.siblings.all_interests()
        assert set(everything.interests) == {Interest("Clr", 1), Interest("Dlr", 1)}
        routed.deactivate(routed.container, "in")
        assert neighbour.interests == {"Dlr": 1}

    def test_all_passes_both_ways(self, routed):
        link, far = routed.consumer(name="sub", credit=3)
        assert [attach.name for attach in routed.container.attaches] == ["sub@c1"]
        assert far.credit == 3
        sent = far.send(message(), tag=b"tag")
        routed.pump()
        assert routed.client.latest(link).tag == b"tag"
        routed.client.latest(link).accept()
        routed.pump()
        assert (sent.remote_state, sent.remote_settled) == (ACCEPTED, True)
        sender, receiver = routed.producer(credit=2)
        delivery = routed.client.send(sender, message())
        routed.container.latest(receiver).release()
        routed.pump()
        assert delivery.remote_settled
        routed.client.detach(link)
        routed.client.detach(sender, closed=False)
        routed.check_nothing_left()

    def test_a_worker_takes_its_own_container_first(self, routed):
        own = routed.workers.client(0, container_id="own", kind=Container)
        routed.activate(own)
        for _ in range(3):
            routed.client.consumer("lr.q")
        assert (len(own.attaches), len(routed.container.attaches)) == (3, 0)

    def test_a_worker_without_the_link_route_knows_of_it(self):
        routed = Routed(2, client=0, at=1)
        routed.workers[0].router.link_routes.remove("in")
        routed.workers[0].router.link_routes.remove("out")
        routed.consumer("lr.q")
        assert len(routed.container.attaches) == 1
        routed.workers[1].router.link_routes.remove("out")
        routed.pump()
        assert not routed.workers[0].router.link_routes.patterns.get("Dlr")

    def test_a_container_that_has_just_gone(self, routed):
        routed.workers.holds_deltas.add(0)
        routed.deactivate(routed.container)
        assert routed.refusal(routed.client.consumer("lr.q")) == NO_ROUTE
        routed.workers.holds_deltas.clear()
        routed.check_nothing_left()

    @pytest.mark.parametrize("kind", ["consumer", "producer"])
    def test_a_worker_dies(self, routed, kind):
        link, _ = getattr(routed, kind)()
        routed.workers.kill(1)
        routed.pump()
        assert routed.end_of(routed.client, link) == (True, LOST)
        assert routed.workers[0].router.link_routes.siblings_with("Clr") == []

    def test_the_client_is_lost(self, routed):
        _, far = routed.consumer(source=Source(address="lr.q", timeout=5))
        _, other = routed.consumer()
        routed.client.vanish()
        assert routed.end_of(routed.container, far) == (False, LOST)
        assert routed.end_of(routed.container, other) == (True, LOST)
        routed.check_nothing_left()

    def test_a_coordinator_of_a_tenant(self):
        routed = Routed(2, client=0, at=1)
        tenant = routed.workers.client(0, peer={"is_multi_tenant": True}, container_id="t", hostname="vh1")
        routed.add("tx", "vh1/$coordinator", IN)
        routed.activate(routed.container, "tx")
        assert tenant.producer(None, target=Coordinator()).is_attached
        assert [attach.target for attach in routed.container.attaches] == [Coordinator()]

    def test_the_prefixes_of_the_container(self, routed):
        routed.add("p", "xp/#", OUT, add_prefix="add/", del_prefix="xp.")
        routed.activate(routed.container, "p")
        routed.client.consumer("amqp://h/xp.c")
        assert routed.container.attaches[-1].source.address == "add/c"
        assert routed.client.attaches[-1].source.address == "xp.c"

    def test_keys_with_blanks(self, routed):
        routed.add("b", "with blanks/#", OUT)
        routed.activate(routed.container, "b")
        routed.client.consumer("with blanks.x y", "a name")
        assert [attach.name for attach in routed.container.attaches] == ["a name@c1"]


class Network:
    """Routers in a row with a client at the first; the container is at the last."""

    def __init__(self, *ids, workers=1, client=0, at=0, trunks_at=0):
        self.mesh = Mesh(*ids, workers=workers)
        self.trunks = [
            self.mesh.join(one, other, at=(trunks_at, trunks_at))
            for one, other in pairwise(ids)
        ]
        self.first, self.last = self.mesh[ids[0]], self.mesh[ids[-1]]
        self.client = self.first.client(client, container_id="c1")
        self.container = self.add(ids[-1], at)

    def add(self, id, worker=0, pattern="lr/#"):
        """Another container."""
        router = self.mesh[id]
        container = router.client(worker, container_id=f"broker-{id}", kind=Container)
        for host in router.workers.values():
            for name, direction in (("in", IN), ("out", OUT)):
                host.router.link_routes.add(LinkRouteSettings(name=name, pattern=pattern, direction=direction))
        for name in ("in", "out"):
            router[worker].router.link_routes.activated(name, container.peer)
        self.mesh.pump()
        return container

    def check_nothing_left(self):
        self.mesh.pump()
        for router in self.mesh.routers.values():
            for worker in router.workers.values():
                links = worker.router.routed_links
                assert (links.pending, links.namesakes) == ({}, {})
                for peer in worker.router.peers.values():
                    assert (peer.routed, peer.stuck, peer.routed_in, peer.routed_out) == ({}, {}, 0, 0)
                    if peer.is_router:
                        assert len(peer.connection.sessions()) == 11
                    for session in peer.connection.sessions():
                        assert (session.incoming.count, session.outgoing.count) == (0, 0)


@pytest.mark.parametrize("ids", [("A", "B"), ("A", "B", "C")], ids="".join)
@pytest.mark.parametrize(
    "places", [{}, {"workers": 2, "client": 1, "at": 1}, {"workers": 2, "trunks_at": 1}], ids=["one", "far", "near"]
)
class TestRouters:
    def test_all_passes_both_ways(self, ids, places):
        network = Network(*ids, **places)
        client, container = network.client, network.container
        link = client.consumer("lr.q", "sub", credit=3, properties={Symbol("p"): 1})
        [attach] = container.attaches
        # The name grows where the client is, and nowhere between routers.
        assert (attach.name, attach.source, attach.properties) == ("sub@c1", Source(address="lr.q"), {"p": 1})
        far = container.latest_link
        assert far.credit == 3
        sent = [far.send(message(str(number)), tag=b"t%d" % number) for number in range(3)]
        network.mesh.pump()
        assert [one.tag for one in client.unsettled[link.name]] == [b"t0", b"t1", b"t2"]
        for one in client.unsettled[link.name]:
            one.accept()
        network.mesh.pump()
        assert [(one.remote_state, one.remote_settled) for one in sent] == [(ACCEPTED, True)] * 3
        sender = client.producer("lr.q")
        container.latest_link.grant(5)
        network.mesh.pump()
        assert sender.credit == 5
        client.detach(sender)
        container.detach(far, closed=False)
        assert not link.is_attached
        network.check_nothing_left()

    def test_a_trunk_is_lost(self, ids, places):
        network = Network(*ids, **places)
        link = network.client.consumer("lr.q", credit=3)
        far = network.container.latest_link
        network.trunks[0].cut()
        network.mesh.pump()
        assert (network.client.errors[link.name].condition, link.is_closed) == (LOST, True)
        assert network.container.errors[far.name].condition == LOST
        assert network.first[0].router.link_routes.match("lr.q", OUT) is None

    def test_the_container_is_lost(self, ids, places):
        network = Network(*ids, **places)
        link = network.client.consumer("lr.q")
        network.container.vanish()
        assert network.client.errors[link.name].condition == LOST
        network.check_nothing_left()


@pytest.mark.parametrize("receives", [True, False], ids=["receiver", "sender"])
def test_two_routers_choose_one_name_for_two_links_at_once(receives):
    """Each has a client with the same container-id and link name, one that sends and one that receives."""
    network = Network("A", "B")
    first, last = network.client, network.last.client(container_id="c1")
    at_first = network.add("A", pattern="at-first/#")
    # The router that connected receives at one end of the trunk, or sends, on both links.
    at_a = (first.session.receiver if receives else first.session.sender)("same")
    at_b = (last.session.sender if receives else last.session.receiver)("same")
    at_a.attach(source=Source(address="lr.q"), target=Target(address="lr.q"))
    at_b.attach(source=Source(address="at-first.q"), target=Target(address="at-first.q"))
    network.mesh.pump()
    assert (at_a.is_attached, at_b.is_attached) == (True, True)
    names = [attach.name for attach in (*network.container.attaches, *at_first.attaches)]
    assert names == ["same@c1@2", "same@c1"]
    far_of_a, far_of_b = network.container.latest_link, at_first.latest_link
    receivers = (at_a, far_of_b) if receives else (far_of_a, at_b)
    for receiver in receivers:
        receiver.grant(3)
    network.mesh.pump()
    assert [link.credit for link in (at_a, far_of_a, at_b, far_of_b)] == [3, 3, 3, 3]
    first.detach(at_a)
    last.detach(at_b)
    network.check_nothing_left()


class TestChoice:
    def test_routers_take_turns_and_containers_here_go_first(self):
        network = Network("A", "B")
        network.mesh.add("C")
        network.mesh.join("A", "C")
        other = network.add("C")
        for _ in range(4):
            assert network.client.consumer("lr.q").is_attached
        assert (len(network.container.attaches), len(other.attaches)) == (2, 2)
        own = network.add("A")
        assert network.client.consumer("lr.q").is_attached
        assert len(own.attaches) == 1

    def test_a_link_does_not_go_back_where_it_came_from(self):
        network = Network("A", "B")
        for name in ("in", "out"):
            network.last[0].router.link_routes.deactivated(name, network.container.peer)
        network.mesh.untold.add("A")
        network.mesh.pump()
        assert not network.client.consumer("lr.q").is_attached
        network.check_nothing_left()

    def test_a_dynamic_source_goes_as_far(self):
        network = Network("A", "B", "C")
        properties = {Symbol("x-opt-qd.address"): "lr.dyn"}
        source = Source(dynamic=True, dynamic_node_properties=properties)
        network.client.consumer(None, source=source)
        assert [attach.source for attach in network.container.attaches] == [source]

    def test_a_coordinator_goes_as_far(self):
        network = Network("A", "B")
        network.last[0].router.link_routes.add(LinkRouteSettings(name="tx", pattern="$coordinator", direction=IN))
        network.last[0].router.link_routes.activated("tx", network.container.peer)
        network.mesh.pump()
        assert network.client.producer(None, target=Coordinator()).is_attached

    def test_links_without_a_link_route_are_none_for_a_trunk(self):
        router = Mesh("R")["R"]
        far = neighbour(router).attach()
        link = far.session.sender("stray")
        link.attach(source=Source(), target=Target(address="nowhere"))
        router.pump()
        assert not link.is_attached
        assert far.errors["stray"].condition == "qd:no-route-to-dest"
