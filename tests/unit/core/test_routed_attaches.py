"""Routed links: which attaches go to a container and how, what is answered, and what is refused."""

import pytest

from routerd.core import InvalidPattern, LinkDirection, LinkRouteSettings
from routerd.core.directory.link_routes import key_of
from routerd.wire import Coordinator, Error, Modified, Received, Source, Symbol, Target, UInt
from tests.routers import Client, message
from tests.unit.core.routed import IN, OUT, Container, Routed

LOST = "qd:routed-link-lost"
NO_ROUTE = (True, "qd:no-route-to-dest")
PROPERTY = Symbol("x-opt-qd.address")


def symbols(*names):
    return tuple(Symbol(name) for name in names)


@pytest.fixture
def routed():
    return Routed()


class TestKeys:
    @pytest.mark.parametrize(
        ("pattern", "keys"),
        [
            ("lr/#", ("Clr", "Dlr")),
            ("lr.#", ("Clr", "Dlr")),
            ("/a/b.#", ("Ca/b", "Da/b")),
            ("lr", ("Elr", "Flr")),
            ("a.*.c/#", ("Ea.*.c/#", "Fa.*.c/#")),
            ("a*b/#", ("Ea*b/#", "Fa*b/#")),
            ("#", ("E#", "F#")),
        ],
    )
    def test_a_prefix_has_its_own(self, pattern, keys):
        assert (key_of(pattern, IN), key_of(pattern, OUT)) == keys

    @pytest.mark.parametrize("pattern", ["", ".", "/./"])
    def test_a_pattern_needs_a_token(self, pattern):
        with pytest.raises(InvalidPattern):
            key_of(pattern, LinkDirection.IN)


class TestNewsOfSiblings:
    """The container is at the other worker, and this worker learns of it late."""

    @pytest.fixture
    def routed(self):
        routed = Routed(2, at=1)
        routed.deactivate(routed.container, "in", "out")
        routed.workers.holds_deltas.add(0)
        return routed

    def test_a_link_waits_for_it(self, routed):
        routed.activate(routed.container)
        link = routed.client.producer("lr.x", name="out")
        assert (link.is_attached, routed.container.attaches) == (False, [])
        routed.workers.holds_deltas.clear()
        routed.pump()
        assert link.is_attached
        assert routed.container.latest_link.remote_target.address == "lr.x"

    def test_one_without_a_container_is_refused_when_that_is_known(self, routed):
        routed.workers.holds_deltas.clear()
        routed.client.producer("lr.x", name="out")
        assert routed.client.errors["out"].condition == "qd:no-route-to-dest"

    @pytest.mark.parametrize("is_detached", [True, False])
    def test_one_that_has_gone_meanwhile_is_forgotten(self, routed, is_detached):
        routed.activate(routed.container)
        link = routed.client.producer("lr.x", name="out")
        if is_detached:
            routed.client.detach(link)
        else:
            routed.client.leave()
        routed.workers.holds_deltas.clear()
        routed.pump()
        assert routed.container.attaches == []
        assert [peer.routed_in for peer in routed.router.peers.values() if not peer.is_fabric] == [0] * is_detached


class TestChoice:
    @pytest.mark.parametrize("address", ["lr", "lr.x", "lr/x/y", "/lr.q", "amqp://host/lr.q", "lr.q.", Symbol("lr.q")])
    def test_an_address_in_any_form(self, routed, address):
        link, far = routed.consumer(address)
        assert link.is_attached
        assert far.remote_source.address == address

    def test_another_address_goes_by_messages(self, routed):
        link = routed.client.consumer("other")
        assert link.is_attached
        assert routed.container.attaches == []

    def test_each_direction_by_itself(self):
        routed = Routed()
        routed.router.link_routes.remove("out")
        assert routed.client.consumer("lr.q").is_attached
        assert routed.container.attaches == []
        routed.producer("lr.q")
        assert len(routed.container.attaches) == 1

    def test_the_most_specific_pattern(self, routed):
        other = routed.workers.client(container_id="other", kind=Container)
        routed.add("special", "lr.special.*", OUT)
        routed.activate(other, "special")
        routed.client.consumer("lr.special.x")
        routed.client.consumer("lr.special")
        assert [attach.source.address for attach in other.attaches] == ["lr.special.x"]
        assert [attach.source.address for attach in routed.container.attaches] == ["lr.special"]

    def test_containers_take_turns_in_each_direction(self, routed):
        other = routed.workers.client(container_id="other", kind=Container)
        routed.activate(other)
        for kind in (routed.client.consumer, routed.client.producer, routed.client.producer, routed.client.consumer):
            kind("lr.q")
        roles = [[attach.role for attach in one.attaches] for one in (routed.container, other)]
        assert roles == [[True, False], [False, True]]

    def test_patterns_that_are_written_differently(self, routed):
        routed.add("again", "lr.#", OUT)
        routed.router.link_routes.remove("out")
        assert routed.client.consumer("lr.q").is_attached is False
        assert routed.container.attaches == []
        routed.activate(routed.container, "again")
        routed.consumer("lr.q")
        assert len(routed.container.attaches) == 1
        routed.router.link_routes.remove("again")
        routed.router.link_routes.remove("in")
        assert not routed.router.link_routes

    def test_links_stay_when_their_link_route_goes(self, routed):
        link, far = routed.consumer("lr.q", credit=1)
        routed.router.link_routes.remove("out")
        routed.deactivate(routed.container, "in")
        far.send(message())
        routed.pump()
        assert routed.client.received(link) == [message()]

    def test_a_route_that_leads_back_to_its_container(self, routed):
        link = routed.container.consumer("lr.q")
        assert link.is_attached
        assert [attach.name for attach in routed.container.attaches] == [
            f"{link.name}@broker",
            link.name,
        ]


class TestFirstAttach:
    def test_of_a_consumer_all_is_carried(self, routed):
        source = Source(
            address="lr.q",
            durable=2,
            expiry_policy=Symbol("connection-close"),
            distribution_mode=Symbol("copy"),
            filter={Symbol("selector"): "x > 1"},
            default_outcome=Modified(delivery_failed=True),
            outcomes=symbols("amqp:accepted:list", "amqp:modified:list"),
            capabilities=symbols("queue", "shared"),
        )
        target = Target(address="mine", timeout=3, capabilities=symbols("c"))
        routed.client.consumer(
            None,
            "sub",
            source=source,
            target=target,
            snd_settle_mode=1,
            rcv_settle_mode=1,
            max_message_size=5000,
            offered_capabilities=symbols("o"),
            desired_capabilities=symbols("d", "e"),
            properties={Symbol("p"): "v"},
        )
        [attach] = routed.container.attaches
        assert (attach.name, attach.role) == ("sub@c1", True)
        assert (attach.source, attach.target) == (source, target)
        assert (attach.snd_settle_mode, attach.rcv_settle_mode) == (1, 1)
        assert attach.max_message_size == 5000
        assert (attach.offered_capabilities, attach.desired_capabilities) == (symbols("o"), symbols("d", "e"))
        assert attach.properties == {"p": "v"}
        assert attach.unsettled is None

    def test_of_a_producer_all_is_carried(self, routed):
        target = Target(address="lr.q", durable=1, capabilities=symbols("queue"))
        routed.client.producer(None, "p", target=target, source=Source(address="here"), initial_delivery_count=7)
        [attach] = routed.container.attaches
        assert (attach.role, attach.target, attach.source) == (False, target, Source(address="here"))
        assert (attach.initial_delivery_count, attach.rcv_settle_mode) == (0, 0)

    def test_a_null_terminus_stays_null(self, routed):
        routed.client.consumer("lr.q", target=None)
        routed.client.producer("lr.q", source=None)
        assert [attach.target if attach.role else attach.source for attach in routed.container.attaches] == [None, None]

    @pytest.mark.parametrize("is_incomplete", [False, True])
    def test_an_unsettled_map_is_carried(self, routed, is_incomplete):
        unsettled = {b"a": None, b"b": Received(section_number=UInt(1), section_offset=2)}
        routed.container.answer_with = {"unsettled": {b"b": None}, "incomplete_unsettled": is_incomplete}
        routed.client.consumer("lr.q", unsettled=unsettled, incomplete_unsettled=is_incomplete)
        [attach], [answer] = routed.container.attaches, routed.client.attaches
        assert (attach.unsettled, attach.incomplete_unsettled) == (unsettled, is_incomplete)
        assert (answer.unsettled, answer.incomplete_unsettled) == ({b"b": None}, is_incomplete)

    def test_each_link_has_a_session_of_its_own(self, routed):
        ends = [routed.consumer("lr.q")[1] for _ in range(3)]
        assert len({id(end.session) for end in ends}) == 3

    def test_links_share_a_session_where_there_is_no_other(self):
        routed = Routed()
        small = routed.workers.client(container_id="small", kind=Container, channel_max=1)
        routed.deactivate(routed.container)
        routed.activate(small)
        links = [routed.client.consumer("lr.q") for _ in range(3)]
        assert all(link.is_attached for link in links)
        sessions = [small.links[attach.name].session for attach in small.attaches]
        assert sessions[1] is sessions[2]
        for link in links:
            routed.client.detach(link)
        routed.container = small
        routed.check_nothing_left()

    def test_a_name_that_another_client_has_gets_a_number(self, routed):
        twin = routed.workers.client(container_id="c1")
        assert routed.client.consumer("lr.q", "same").is_attached
        assert twin.consumer("lr.q", "same").is_attached
        assert [attach.name for attach in routed.container.attaches] == ["same@c1", "same@c1@2"]

    def test_the_same_name_again_waits_for_the_container(self, routed):
        routed.consumer("lr.q", name="sub")
        routed.container.line.holds.add(routed.container.connection)
        routed.client.vanish()
        again = routed.workers.client(container_id="c1")
        waiting = again.consumer("lr.q", "sub")
        assert not waiting.is_attached
        assert len(routed.container.attaches) == 1
        routed.container.line.holds.clear()
        routed.pump()
        assert waiting.is_attached
        assert [attach.name for attach in routed.container.attaches] == ["sub@c1", "sub@c1"]
        again.leave()
        routed.check_nothing_left()

    def test_who_waits_for_a_name_can_leave(self, routed):
        routed.consumer("lr.q", name="sub")
        routed.container.line.holds.add(routed.container.connection)
        routed.client.vanish()
        again = routed.workers.client(container_id="c1")
        waiting = again.consumer("lr.q", "sub")
        assert not waiting.is_attached
        again.leave()
        routed.container.line.holds.clear()
        routed.pump()
        assert len(routed.container.attaches) == 1
        routed.check_nothing_left()


class TestSecondAttach:
    def test_the_client_is_answered_when_the_container_was(self, routed):
        routed.container.answers_links = False
        link = routed.client.consumer("lr.q")
        assert (link.is_attached, routed.client.attaches) == (False, [])
        routed.container.answer(routed.container.latest_link)
        routed.pump()
        assert link.is_attached

    def test_all_of_the_answer_is_carried(self, routed):
        source = Source(address="lr.other", capabilities=symbols("queue"), default_outcome=Modified())
        routed.container.answer_with = {
            "source": source,
            "target": Target(address="there"),
            "snd_settle_mode": 0,
            "max_message_size": 900,
            "offered_capabilities": symbols("x"),
            "desired_capabilities": symbols("y"),
            "properties": {Symbol("k"): 1},
            "initial_delivery_count": 77,
        }
        link, _ = routed.consumer("lr.q", name="sub")
        [answer] = routed.client.attaches
        assert (answer.name, answer.source, answer.target) == ("sub", source, Target(address="there"))
        assert (answer.snd_settle_mode, link.snd_settle_mode, answer.max_message_size) == (0, 0, 900)
        assert (answer.offered_capabilities, answer.desired_capabilities) == (symbols("x"), symbols("y"))
        assert answer.properties == {"k": 1}
        assert answer.initial_delivery_count == 0

    def test_the_smaller_bound_on_messages_holds(self):
        routed = Routed()
        routed.client.peer.max_message_size = 500
        routed.container.answer_with = {"max_message_size": 900}
        routed.producer("lr.q")
        routed.client.peer.max_message_size = 1500
        routed.producer("lr.q")
        routed.container.answer_with = {}
        routed.producer("lr.q")
        assert [attach.max_message_size for attach in routed.client.attaches] == [500, 900, 1500]

    def test_a_refusal_stays_one(self, routed):
        routed.container.refuses = Error(condition="amqp:not-found", description="no such queue")
        link = routed.client.consumer("lr.q")
        assert routed.refusal(link) == (True, "amqp:not-found")
        assert routed.client.errors[link.name] == routed.container.refuses
        sender = routed.client.producer("lr.q")
        assert routed.refusal(sender) == (True, "amqp:not-found")
        routed.check_nothing_left()


class TestRefused:
    def test_no_container_is_connected(self, routed):
        routed.deactivate(routed.container)
        assert routed.refusal(routed.client.consumer("lr.q")) == NO_ROUTE
        assert routed.refusal(routed.client.producer("lr.q")) == NO_ROUTE
        routed.check_nothing_left()

    def test_a_dynamic_terminus_that_no_link_route_takes(self, routed):
        properties = {PROPERTY: "nowhere"}
        source = Source(dynamic=True, dynamic_node_properties=properties)
        target = Target(dynamic=True, dynamic_node_properties=properties)
        assert routed.refusal(routed.client.consumer(None, source=source)) == NO_ROUTE
        assert routed.refusal(routed.client.producer(None, target=target)) == NO_ROUTE

    @pytest.mark.parametrize("kept", [{"timeout": 30}, {"expiry_policy": Symbol("never")}])
    def test_links_to_be_resumed_where_that_is_switched_off(self, kept):
        routed = Routed(allows_resumable_link_routes=False)
        expected = (True, "qd:link-expiration")
        assert routed.refusal(routed.client.consumer(None, source=Source(address="lr.q", **kept))) == expected
        assert routed.refusal(routed.client.producer(None, target=Target(address="lr.q", **kept))) == expected
        # It is the terminus at the container that would be kept.
        assert routed.client.consumer("lr.q", target=Target(**kept)).is_attached

    @pytest.mark.parametrize("policy", ["link-detach", "session-end", "connection-close"])
    def test_other_policies_of_expiry_are_allowed(self, policy):
        routed = Routed(allows_resumable_link_routes=False)
        source = Source(address="lr.q", expiry_policy=Symbol(policy))
        assert routed.client.consumer(None, source=source).is_attached

    def test_a_coordinator_without_a_link_route(self, routed):
        link = routed.client.producer(None, target=Coordinator())
        assert routed.refusal(link) == (True, "amqp:precondition-failed")
        assert "linkRoute to a coordinator" in routed.client.errors[link.name].description

    def test_a_coordinator_whose_container_is_away(self, routed):
        routed.add("tx", "$coordinator", IN)
        assert routed.refusal(routed.client.producer(None, target=Coordinator())) == NO_ROUTE

    def test_an_attach_that_does_not_fit_the_frames_of_the_container(self):
        routed = Routed()
        small = routed.workers.client(container_id="small", kind=Container, max_frame_size=512)
        routed.deactivate(routed.container)
        routed.activate(small)
        link = routed.client.consumer("lr." + "x" * 600)
        assert routed.refusal(link) == (True, "amqp:frame-size-too-small")
        routed.container = small
        routed.check_nothing_left()

    def test_an_answer_that_does_not_fit_the_frames_of_the_client(self):
        routed = Routed()
        small = routed.workers.client(container_id="small", max_frame_size=512)
        routed.container.answer_with = {"properties": {Symbol("p"): "x" * 600}}
        link = small.consumer("lr.q")
        routed.client = small
        assert routed.refusal(link) == (True, "amqp:frame-size-too-small")
        routed.check_nothing_left()

    def test_a_container_that_has_no_session_left(self):
        routed = Routed()
        small = routed.workers.client(container_id="small", kind=Container, channel_max=0)
        routed.deactivate(routed.container)
        routed.activate(small)
        link = routed.client.consumer("lr.q")
        # The session that the container itself has begun does.
        assert link.is_attached
        small.session.end()
        routed.pump()
        assert routed.end_of(routed.client, link) == (True, LOST)


class TestCoordinators:
    def test_one_is_routed_by_its_own_address(self, routed):
        routed.add("tx", "$coordinator", IN)
        routed.activate(routed.container, "tx")
        coordinator = Coordinator(capabilities=symbols("amqp:local-transactions"))
        link = routed.client.producer(None, target=coordinator)
        assert link.is_attached
        assert [attach.target for attach in routed.container.attaches] == [coordinator]

    def test_of_a_tenant(self):
        routed = Routed()
        tenant = routed.workers.client(peer={"is_multi_tenant": True}, container_id="t", hostname="vh1")
        routed.add("tx", "vh1/$coordinator", IN)
        routed.activate(routed.container, "tx")
        assert tenant.producer(None, target=Coordinator()).is_attached
        assert [attach.target for attach in routed.container.attaches] == [Coordinator()]


class TestDynamic:
    @pytest.mark.parametrize(
        "properties", [{PROPERTY: "lr.dyn"}, {Symbol("other"): 1, PROPERTY: "lr.dyn"}], ids=["first", "second"]
    )
    def test_the_property_says_where_whatever_its_place(self, routed, properties):
        routed.container.answer_with = {
            "source": Source(address="made-up", dynamic=True, dynamic_node_properties=properties)
        }
        routed.client.consumer(None, source=Source(dynamic=True, dynamic_node_properties=properties))
        [attach], [answer] = routed.container.attaches, routed.client.attaches
        assert (attach.source.dynamic, attach.source.address) == (True, None)
        assert attach.source.dynamic_node_properties == properties
        assert (answer.source.address, answer.source.dynamic) == ("made-up", True)

    def test_a_dynamic_target(self, routed):
        target = Target(dynamic=True, dynamic_node_properties={PROPERTY: "lr.dyn"})
        routed.client.producer(None, target=target)
        assert [attach.target for attach in routed.container.attaches] == [target]

    def test_without_the_property_it_is_the_router_that_makes_an_address(self, routed):
        assert routed.client.consumer(None, source=Source(dynamic=True)).is_attached
        assert routed.container.attaches == []


class TestTenants:
    def tenant(self, routed):
        return routed.workers.client(peer={"is_multi_tenant": True}, container_id="t", hostname="vh1")

    def test_their_addresses_are_written_out(self, routed):
        tenant = self.tenant(routed)
        routed.add("vh", "vh1/lr/#", OUT)
        routed.activate(routed.container, "vh")
        assert tenant.consumer("/lr.q2").is_attached
        [attach], [answer] = routed.container.attaches, tenant.attaches
        assert attach.source.address == answer.source.address == "vh1/lr.q2"

    def test_they_do_not_reach_what_is_not_theirs(self, routed):
        tenant = self.tenant(routed)
        assert tenant.consumer("lr.q").is_attached
        assert routed.container.attaches == []

    def test_the_property_of_a_dynamic_source_is_theirs_too(self, routed):
        tenant = self.tenant(routed)
        routed.add("vh", "vh1/lr/#", OUT)
        routed.activate(routed.container, "vh")
        tenant.consumer(None, source=Source(dynamic=True, dynamic_node_properties={PROPERTY: "lr.dyn"}))
        [attach] = routed.container.attaches
        assert attach.source.dynamic_node_properties == {PROPERTY: "vh1/lr.dyn"}


class TestPrefixes:
    def ask(self, routed, address):
        routed.client.consumer(address)
        return routed.container.attaches[-1].source.address, routed.client.attaches[-1].source.address

    def test_they_are_exchanged_on_the_way_there_and_back(self, routed):
        routed.add("p", "xp/#", OUT, add_prefix="add/", del_prefix="xp.")
        routed.activate(routed.container, "p")
        assert self.ask(routed, "xp.a") == ("add/a", "xp.a")
        assert self.ask(routed, "xp") == ("add/xp", "xp")
        assert self.ask(routed, "amqp://h/xp.c") == ("add/c", "xp.c")
        routed.container.answer_with = {"source": Source(address="add/other")}
        assert self.ask(routed, "xp.a") == ("add/a", "xp.other")

    def test_a_producer_has_them_in_its_target(self, routed):
        routed.add("p", "xp/#", IN, add_prefix="add/")
        routed.activate(routed.container, "p")
        routed.client.producer("xp.a")
        assert routed.container.attaches[-1].target.address == "add/xp.a"
        assert routed.client.attaches[-1].target.address == "xp.a"

    def test_each_link_route_has_its_own(self, routed):
        other = routed.workers.client(container_id="other", kind=Container)
        routed.add("one", "xp/#", OUT, add_prefix="1.")
        routed.add("two", "xp/#", OUT, add_prefix="2.")
        routed.activate(routed.container, "one")
        routed.activate(other, "two")
        routed.client.consumer("xp.a")
        routed.client.consumer("xp.a")
        assert [one.attaches[-1].source.address for one in (routed.container, other)] == ["1.xp.a", "2.xp.a"]

    def test_a_tenant_is_hidden_by_one(self, routed):
        tenant = routed.workers.client(peer={"is_multi_tenant": True}, container_id="t", hostname="vh1")
        routed.add("vh", "vh1/lr/#", OUT, del_prefix="vh1/")
        routed.activate(routed.container, "vh")
        tenant.consumer("lr.q")
        assert routed.container.attaches[-1].source.address == "lr.q"

    def test_the_property_of_a_dynamic_source_has_them(self, routed):
        routed.add("p", "xp/#", OUT, add_prefix="add/")
        routed.activate(routed.container, "p")
        routed.client.consumer(None, source=Source(dynamic=True, dynamic_node_properties={PROPERTY: "xp.d"}))
        assert routed.container.attaches[-1].source.dynamic_node_properties == {PROPERTY: "add/xp.d"}
        assert routed.client.attaches[-1].source.dynamic_node_properties == {PROPERTY: "xp.d"}


def test_a_settings_object_of_a_link_route_says_how_addresses_differ():
    settings = LinkRouteSettings(name="n", direction=OUT, pattern="a/#", add_prefix="x.", del_prefix="a.")
    assert [settings.to_container(text) for text in ("a.b", "a.", "b")] == ["x.b", "x.a.", "x.b"]
    assert [settings.to_client(text) for text in ("x.b", "b")] == ["a.b", "a.b"]
    assert settings.has_prefixes


def test_a_client_is_a_client_of_messages_as_well(routed):
    assert isinstance(routed.client, Client)
    consumer = routed.client.consumer("plain", credit=1)
    producer = routed.client.producer("plain")
    routed.consumer("lr.q")
    routed.client.send(producer, message())
    assert routed.client.received(consumer) == [message()]
