"""Link routes at edge routers: look-ups at the interior router, links over the uplink, and proxies for containers."""

import pytest

from routerd.core import EDGE, LinkDirection, LinkRouteSettings, LoopBack
from routerd.wire import AmqpValue, Coordinator, Int, Message, Properties, Source, Symbol, Target, UInt
from tests.routers import message
from tests.unit.core.edge_routers import EdgeMesh
from tests.unit.core.routed import Container

LOST = "qd:routed-link-lost"
TYPE = "org.apache.qpid.dispatch.router.connection.linkRoute"
IN, OUT = LinkDirection.IN, LinkDirection.OUT


def answer_requests(joined):
    """Have the interior router's first worker send the answers to requests about connections."""
    for worker in joined.workers.values():
        loop = LoopBack(worker.router, joined.now)
        joined.lines.append(loop)
        producer = loop.produce()

        def send(reply_to, octets, producer=producer):
            producer.send(octets, settled=True)
            return True

        worker.router.connection_routes.send = send
        loop.consume("$management", lambda octets, delivery: None)


def add_routes(joined, pattern="lr/#"):
    for worker in joined.workers.values():
        for direction in LinkDirection:
            worker.router.link_routes.add(
                LinkRouteSettings(name=direction.value, pattern=pattern, direction=direction)
            )


def container_at(joined, pattern="lr/#", worker=0):
    """A container of a router, with link routes for both directions."""
    if not joined[worker].router.link_routes.patterns:
        add_routes(joined, pattern)
    found = joined.client(worker, container_id="broker", kind=Container)
    for direction in LinkDirection:
        found.server.handler.link_routes.activated(direction.value, found.peer)
    joined.pump()
    return found


def deactivate(container):
    for direction in LinkDirection:
        container.server.handler.link_routes.deactivated(direction.value, container.peer)


def end_of(client, link):
    [detach] = [event for event in client.events if event[:2] == ("link detached", link.name)]
    return detach[2:]


def tick(mesh, seconds):
    """Let seconds pass, with what routers do in each."""
    for _ in range(seconds):
        mesh.pump(1.0)
        for joined in (*mesh.routers.values(), *mesh.edges.values()):
            for worker in joined.workers.values():
                worker.router.each_second(mesh.now)
        mesh.pump()


class Meshed:
    """An interior router I, an edge router E, and a client at E."""

    def __init__(self, workers=1, **options):
        self.mesh = EdgeMesh("I", workers=workers)
        self.interior = self.mesh["I"]
        answer_requests(self.interior)
        self.mesh.pump()
        self.uplink = self.mesh.hang("E", "I", **options)
        self.edge = self.mesh["E"]
        self.client = self.edge.client(container_id="c1")


@pytest.fixture
def meshed():
    return Meshed()


def check_nothing_left(mesh):
    mesh.pump()
    for joined in (*mesh.routers.values(), *mesh.edges.values()):
        for worker in joined.workers.values():
            links = worker.router.routed_links
            assert (links.pending, links.namesakes) == ({}, {})
            for peer in worker.router.peers.values():
                assert (peer.routed, peer.stuck, peer.routed_in, peer.routed_out) == ({}, {}, 0, 0)


class TestLookups:
    @pytest.mark.parametrize("workers", [1, 2, 3])
    def test_links_go_over_the_uplink(self, workers):
        meshed = Meshed(workers)
        broker = container_at(meshed.interior, worker=workers - 1)
        client = meshed.client
        link = client.consumer("lr.q", credit=3)
        far = broker.latest_link
        assert link.is_attached
        assert broker.attaches[-1].name.startswith(f"{link.name}@c1@E")
        broker.send(far, message("one"))
        assert client.received(link) == [message("one")]
        producer = client.producer("lr.q")
        broker.latest_link.grant(5)
        meshed.mesh.pump()
        assert producer.credit == 5
        client.send(producer, message("two"))
        assert broker.received(broker.latest_link) == [message("two")]
        client.detach(link)
        client.detach(producer)
        assert not far.is_attached
        check_nothing_left(meshed.mesh)

    def test_other_addresses_go_by_messages(self, meshed):
        container_at(meshed.interior)
        consumer = meshed.client.consumer("orders", credit=1)
        producer = meshed.client.producer("orders")
        meshed.client.send(producer, message())
        assert meshed.client.received(consumer) == [message()]

    @pytest.mark.parametrize("kind", ["consumer", "producer"])
    def test_without_a_container_they_are_refused(self, meshed, kind):
        add_routes(meshed.interior)
        link = getattr(meshed.client, kind)("lr.q")
        assert end_of(meshed.client, link) == (True, "qd:no-route-to-dest")
        check_nothing_left(meshed.mesh)

    def test_each_direction_by_itself(self, meshed):
        broker = container_at(meshed.interior)
        meshed.interior.router.link_routes.remove("out")
        assert meshed.client.consumer("lr.q").is_attached
        assert broker.attaches == []
        assert meshed.client.producer("lr.q").is_attached
        assert len(broker.attaches) == 1

    def test_a_coordinator(self, meshed):
        broker = container_at(meshed.interior, "$coordinator")
        link = meshed.client.producer(None, target=Coordinator())
        assert link.is_attached
        assert isinstance(broker.attaches[-1].target, Coordinator)

    def test_a_dynamic_node(self, meshed):
        broker = container_at(meshed.interior)
        broker.answer_with = {"source": Source(address="lr.made")}
        properties = {Symbol("x-opt-qd.address"): "lr.new"}
        source = Source(dynamic=True, dynamic_node_properties=properties)
        assert meshed.client.consumer(None, source=source).remote_source.address == "lr.made"
        properties = {Symbol("x-opt-qd.address"): "other"}
        link = meshed.client.consumer(None, source=Source(dynamic=True, dynamic_node_properties=properties))
        assert end_of(meshed.client, link) == (True, "qd:no-route-to-dest")

    def test_two_clients_may_use_one_name(self, meshed):
        broker = container_at(meshed.interior)
        other = meshed.edge.client(container_id="c1")
        links = [one.producer("lr.q", "same") for one in (meshed.client, other)]
        assert [link.is_attached for link in links] == [True, True]
        assert len({attach.name for attach in broker.attaches}) == 2
        assert meshed.uplink.peer.is_open

    def test_credit_and_drain_before_the_answer_are_kept(self, meshed):
        broker = container_at(meshed.interior)
        line = meshed.uplink.line
        line.holds.add(line.client)
        link = meshed.client.session.receiver("early")
        link.attach(source=Source(address="lr.q"), target=Target())
        meshed.mesh.pump()
        link.set_credit(7, drain=True)
        meshed.mesh.pump()
        line.holds.clear()
        meshed.mesh.pump()
        far = broker.latest_link
        assert (link.is_attached, far.credit, far.drain, link.credit) == (True, 7, True, 7)
        far.drained()
        meshed.mesh.pump()
        assert link.credit == 0
        link.set_credit(9)
        meshed.mesh.pump()
        assert far.credit == 9

    def test_a_client_that_leaves_before_the_answer_leaves_nothing(self, meshed):
        container_at(meshed.interior)
        line = meshed.uplink.line
        line.holds.add(line.client)
        for leave in (lambda link: link.detach(), lambda _: meshed.client.connection.close()):
            link = meshed.client.session.receiver(f"early {leave}")
            link.attach(source=Source(address="lr.q"), target=Target())
            meshed.mesh.pump()
            leave(link)
            meshed.mesh.pump()
        line.holds.clear()
        check_nothing_left(meshed.mesh)

    def test_names_of_tenants_are_written_in_full(self, meshed):
        broker = container_at(meshed.interior, "vh/lr/#")
        tenant = meshed.edge.client(hostname="vh", peer={"is_multi_tenant": True})
        link = tenant.consumer("lr.q")
        assert link.is_attached
        assert broker.attaches[-1].source.address == "vh/lr.q"
        assert meshed.client.consumer("lr.q").is_attached
        assert len(broker.attaches) == 1

    def test_an_interior_router_that_does_not_answer_is_not_waited_for(self, meshed):
        line = meshed.uplink.line
        link = meshed.client.session.receiver("late")
        line.holds.add(line.server)
        link.attach(source=Source(address="orders"), target=Target())
        tick(meshed.mesh, 2)
        assert not link.is_attached
        tick(meshed.mesh, 2)
        assert link.is_attached

    def test_without_an_uplink_messages_are_routed(self, meshed):
        container_at(meshed.interior)
        meshed.uplink.line.cut()
        meshed.mesh.pump()
        consumer = meshed.client.consumer("lr.q", credit=1)
        meshed.client.send(meshed.client.producer("lr.q"), message())
        assert meshed.client.received(consumer) == [message()]

    def test_an_uplink_in_reserve_is_asked_when_the_first_is_lost(self):
        mesh = EdgeMesh("I", "J")
        broker = container_at(mesh["J"])
        first = mesh.hang("E", "I")
        mesh.hang("E", "J")
        client = mesh["E"].client()
        first.line.holds.add(first.line.server)
        link = client.session.receiver("early")
        link.attach(source=Source(address="lr.q"), target=Target())
        mesh.pump()
        assert not link.is_attached
        first.line.cut()
        mesh.pump()
        assert link.is_attached
        assert len(broker.attaches) == 1

    def test_many_at_once_have_their_answers(self, meshed):
        links = []
        for number in range(600):
            link = meshed.client.session.sender(f"p{number}")
            link.attach(source=Source(), target=Target(address=f"a{number}"))
            links.append(link)
        meshed.mesh.pump()
        assert all(link.is_attached for link in links)


class TestLoss:
    @pytest.mark.parametrize("kind", ["consumer", "producer"])
    @pytest.mark.parametrize("is_answered", [True, False])
    def test_clients_are_told_that_the_uplink_is_lost(self, meshed, kind, is_answered):
        broker = container_at(meshed.interior)
        broker.answers_links = is_answered
        link = getattr(meshed.client, kind)("lr.q")
        assert link.is_attached is is_answered
        meshed.uplink.line.cut()
        meshed.mesh.pump()
        assert end_of(meshed.client, link) == (True, LOST)
        check_nothing_left(meshed.mesh) if is_answered else None

    def test_a_container_hears_that_the_edge_router_is_lost(self, meshed):
        broker = container_at(meshed.interior)
        meshed.client.consumer("lr.q")
        far = broker.latest_link
        meshed.uplink.line.cut()
        meshed.mesh.pump()
        assert end_of(broker, far) == (True, LOST)


class TestProxies:
    @pytest.mark.parametrize("workers", [1, 2])
    def test_links_go_down_to_containers_of_the_edge_router(self, workers):
        meshed = Meshed(workers)
        broker = container_at(meshed.edge)
        client = meshed.interior.client(workers - 1, container_id="c2")
        link = client.consumer("lr.q", credit=1)
        assert link.is_attached
        assert broker.attaches[-1].name.startswith(f"{link.name}@c2")
        broker.send(broker.latest_link, message())
        assert client.received(link) == [message()]
        client.detach(link)
        check_nothing_left(meshed.mesh)

    def test_there_is_one_for_each_pattern_and_direction(self, meshed):
        routes = meshed.interior.router.link_routes
        broker, other = container_at(meshed.edge), container_at(meshed.edge)
        assert {key: len(one.containers) for key, one in routes.patterns.items()} == {"Clr": 1, "Dlr": 1}
        broker.leave()
        deactivate(broker)
        meshed.mesh.pump()
        assert set(routes.patterns) == {"Clr", "Dlr"}
        deactivate(other)
        meshed.mesh.pump()
        assert routes.patterns == {}
        assert meshed.interior.router.connection_routes.by_peer == {}

    def test_they_end_with_the_uplink_and_come_again_with_the_next(self, meshed):
        container_at(meshed.edge)
        routes = meshed.interior.router.link_routes
        meshed.uplink.line.cut()
        meshed.mesh.pump()
        assert routes.patterns == {}
        meshed.mesh.hang("E", "I")
        assert set(routes.patterns) == {"Clr", "Dlr"}

    def test_clients_of_the_edge_router_use_its_own_container(self, meshed):
        broker = container_at(meshed.edge)
        container_at(meshed.interior)
        link = meshed.client.consumer("lr.q")
        assert broker.attaches[-1].name == f"{link.name}@c1"
        assert len(meshed.interior.router.routed_links.pending) == 0

    def test_a_link_never_comes_back_to_the_edge_router_that_asks(self, meshed):
        broker = container_at(meshed.edge)
        line = meshed.uplink.line
        line.holds.add(line.client)
        deactivate(broker)
        link = meshed.client.session.receiver("asked")
        link.attach(source=Source(address="lr.q"), target=Target())
        meshed.mesh.pump()
        line.holds.clear()
        meshed.mesh.pump()
        assert not link.is_attached
        check_nothing_left(meshed.mesh)

    def test_edge_routers_reach_containers_of_each_other(self, meshed):
        broker = container_at(meshed.edge)
        meshed.mesh.hang("F", "I")
        client = meshed.mesh["F"].client(container_id="c3")
        link = client.producer("lr.q")
        broker.latest_link.grant(1)
        meshed.mesh.pump()
        client.send(link, message())
        assert broker.received(broker.latest_link) == [message()]


class Manager:
    """A client that sends requests about link routes of its connection."""

    def __init__(self, joined, worker=0, **options):
        self.client = joined.client(worker, container_id="maker", kind=Container, **options)
        self.replies = self.client.consumer(None, source=Source(dynamic=True), credit=100)
        self.requests = self.client.producer("$management")

    def ask(self, operation, body=None, entity_type=TYPE, *, in_parts=False, **about):
        octets = bytes(
            Message(
                properties=Properties(reply_to=self.replies.remote_source.address, correlation_id="x"),
                application_properties={"operation": operation, "type": entity_type, **about},
                body=AmqpValue(body),
            ).encode()
        )
        seen = len(self.client.received(self.replies))
        if in_parts:
            self.client.stream(self.requests, octets[:30], octets[30:60], octets[60:])
        else:
            self.client.send(self.requests, octets)
        answers = self.client.received(self.replies)[seen:]
        if not answers:
            return None
        [answer] = answers
        found = Message.decode(answer)
        assert found.properties.correlation_id == "x"
        about = found.application_properties
        assert type(about["statusCode"]) is Int
        return about["statusCode"], about["statusDescription"], found.body.value


@pytest.fixture
def open_to_all():
    """An interior router whose management may be changed by everybody."""
    from routerd.core import ManagementAccess

    mesh = EdgeMesh("I", management_access=ManagementAccess.CHANGE, workers=2)
    answer_requests(mesh["I"])
    mesh.pump()
    return mesh["I"]


class TestRoutesOfConnections:
    def test_one_is_made_seen_used_and_removed(self, open_to_all):
        manager = Manager(open_to_all)
        body = {"pattern": "own/#", "direction": "out"}
        status, text, made = manager.ask("CREATE", body, name="mine")
        assert (status, text) == (201, "Created")
        identity = made.pop("identity")
        shown = {"name": "mine", "type": TYPE, "pattern": "own/#", "direction": "out", "containerId": "maker"}
        assert made == shown
        assert manager.ask("READ", identity=identity) == (200, "OK", {**shown, "identity": identity})
        assert manager.ask("READ", name="mine")[2]["identity"] == identity
        query = manager.ask("QUERY", {"attributeNames": ["identity", "odd"]})
        assert query == (200, "OK", {"attributeNames": ["identity", "odd"], "results": [[identity, None]]})
        client = open_to_all.client(1)
        link = client.consumer("own.q")
        assert link.is_attached
        assert len(manager.client.attaches) == 3
        assert manager.ask("DELETE", identity=identity) == (204, "No Content", {})
        assert link.is_attached
        assert manager.ask("READ", identity=identity)[0] == 404
        assert manager.ask("QUERY", {})[2]["results"] == []
        assert open_to_all.router.link_routes.patterns == {}

    def test_it_is_seen_from_its_connection_alone(self, open_to_all):
        manager, other = Manager(open_to_all), Manager(open_to_all)
        made = manager.ask("CREATE", {"pattern": "own", "direction": "in"})[2]
        assert other.ask("QUERY", {})[2]["results"] == []
        assert other.ask("READ", identity=made["identity"])[0] == 404
        assert other.ask("DELETE", identity=made["identity"])[0] == 404
        assert len(manager.ask("QUERY", {})[2]["results"]) == 1

    def test_it_ends_with_the_connection(self, open_to_all):
        manager = Manager(open_to_all)
        manager.ask("CREATE", {"pattern": "own", "direction": "in"})
        assert set(open_to_all.router.link_routes.patterns) == {"Eown"}
        manager.client.vanish()
        assert open_to_all.router.link_routes.patterns == {}
        assert open_to_all[1].router.link_routes.patterns == {}

    def test_names_and_patterns_may_be_the_same(self, open_to_all):
        manager = Manager(open_to_all)
        body = {"pattern": "own", "direction": "in", "name": "n"}
        assert [manager.ask("CREATE", body)[0] for _ in range(2)] == [201, 201]
        assert len(manager.ask("QUERY", {})[2]["results"]) == 2

    def test_a_request_may_come_in_parts(self, open_to_all):
        manager = Manager(open_to_all)
        assert manager.ask("CREATE", {"pattern": "own", "direction": "in"}, in_parts=True)[0] == 201

    @pytest.mark.parametrize(
        ("body", "text"),
        [
            (None, "Body of request must be a map"),
            ({"direction": "in"}, "Pattern field is required"),
            ({"pattern": "", "direction": "in"}, "Pattern must be a non-empty string type"),
            ({"pattern": UInt(5), "direction": "in"}, "Pattern must be a non-empty string type"),
            ({"pattern": "/./", "direction": "in"}, "Pattern invalid - no tokens"),
            ({"pattern": "a"}, "Missing value for 'direction'"),
            ({"pattern": "a", "direction": "up"}, "Invalid value for 'direction'"),
            ({"pattern": "a", "direction": UInt(1)}, "Invalid value for 'direction'"),
        ],
    )
    def test_what_is_wrong_is_said(self, open_to_all, body, text):
        assert Manager(open_to_all).ask("CREATE", body) == (400, text, None)

    @pytest.mark.parametrize("operation", ["READ", "DELETE"])
    def test_one_has_to_be_named(self, open_to_all, operation):
        assert Manager(open_to_all).ask(operation) == (400, "No name or identity provided", {})

    def test_a_connection_has_not_too_many(self, open_to_all, monkeypatch):
        monkeypatch.setattr("routerd.core.roles.connection_routes.ROUTES_MAX", 2)
        manager = Manager(open_to_all)
        answers = [manager.ask("CREATE", {"pattern": f"a{n}", "direction": "in"})[0] for n in range(3)]
        assert answers == [201, 201, 400]

    @pytest.mark.parametrize(("peer", "status"), [({}, 403), ({"role": EDGE}, 201)])
    def test_clients_need_a_router_that_may_be_changed(self, meshed, peer, status):
        manager = Manager(meshed.interior, peer=peer)
        assert manager.ask("CREATE", {"pattern": "own", "direction": "in"})[0] == status
        assert manager.ask("QUERY", {})[0] == 200

    def test_requests_about_others_go_on(self, open_to_all):
        assert Manager(open_to_all).ask("QUERY", {}, entity_type="listener") is None
