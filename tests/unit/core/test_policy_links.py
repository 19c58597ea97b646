"""Links and messages that policy allows and refuses (10.3): each rule with what it lets through and what not."""

from typing import Any

import pytest

from routerd.core import EDGE, ManagementAccess, RouterMode
from routerd.wire import (
    ACCEPTED,
    AmqpValue,
    Coordinator,
    Error,
    Message,
    Properties,
    Rejected,
    Source,
    Symbol,
    Target,
    Transfer,
)
from routerd.wire.composite import composite_octets
from routerd.wire.encoder import Encoder
from routerd.wire.frames import AMQP_FRAME
from tests.routers import message, message_to, outcome
from tests.unit.core.policed import ANYBODY, GroupSettings, Guest, Policed, group, vhost

UNAUTHORIZED = ("amqp:unauthorized-access", "link disallowed by local policy")
TOO_MANY = ("amqp:resource-limit-exceeded", "link disallowed by local policy")


def rejection(description: str, condition: str = "amqp:unauthorized-access") -> tuple[Rejected, bool]:
    """What a producer is told of a message that policy refuses."""
    return Rejected(error=Error(condition=Symbol(condition), description=description)), True


def router(**options: Any) -> Policed:
    """A router with one vhost and one group."""
    return Policed(vhost("$default", group(**options)))


def strict(**options: Any) -> Policed:
    """The same with a group that may do nothing unless that is said."""
    return Policed(vhost("$default", GroupSettings(name="g", **ANYBODY | options)))


class TestNumbers:
    @pytest.mark.parametrize("direction", ["producer", "consumer"])
    def test_there_are_as_many_links_as_may_be(self, direction: str) -> None:
        workers = router(**{"max_senders" if direction == "producer" else "max_receivers": 2})
        client = workers.connect()
        attach = getattr(client, direction)
        other = client.consumer if direction == "producer" else client.producer
        links = [attach("q"), attach("q")]
        assert [link.is_attached for link in links] == [True, True]
        refused = attach("q")
        assert not refused.is_attached
        assert client.refusals == {refused.name: TOO_MANY}
        assert other("q").is_attached
        client.detach(links[0])
        assert attach("q").is_attached

    def test_none_is_no_bound(self) -> None:
        client = router(max_senders=0, max_receivers=0).connect()
        assert client.producer("q").is_attached
        assert client.consumer("q").is_attached

    def test_what_is_refused_is_counted_and_told(self) -> None:
        workers = strict(max_senders=1, targets=("a",), sources=("a",))
        client = workers.connect(user="ann")
        client.producer("a")
        client.producer("a")
        client.consumer("b")
        found, counters = workers.gate().vhosts["$default"], workers.gate().counters
        assert (found.senders_denied, found.receivers_denied) == (1, 1)
        assert (counters.links_denied, counters.total_denials) == (2, 2)
        assert workers.seen[1:] == [("link denied", "ann", "maxSenders"), ("link denied", "ann", "source name")]
        client.leave()
        assert workers.seen == [("summary", "ann", 2)]
        assert workers.left_over() == {}


class TestNames:
    def test_a_producer_needs_its_target_among_the_targets(self) -> None:
        client = strict(targets=("a", "b.*"), sources=()).connect()
        assert [client.producer(name).is_attached for name in ("a", "b.c", "c", "b")] == [True, True, False, False]
        assert set(client.refusals.values()) == {UNAUTHORIZED}

    def test_a_consumer_needs_its_source_among_the_sources(self) -> None:
        client = strict(sources=("a", "b.*")).connect()
        assert [client.consumer(name).is_attached for name in ("a", "b.c", "c", "b")] == [True, True, False, False]
        assert set(client.refusals.values()) == {UNAUTHORIZED}

    def test_names_can_be_patterns_with_the_user(self) -> None:
        client = strict(source_patterns=("${user}.#",), target_patterns=("*.${user}",)).connect(user="ann")
        assert [client.consumer(name).is_attached for name in ("ann.x", "ann", "annx", "bob.x")] == [
            *(True, True, False, False)
        ]
        assert [client.producer(name).is_attached for name in ("x.ann", "ann", "x.bob")] == [True, False, False]

    @pytest.mark.parametrize("source", [None, Source(), Source(address="")])
    def test_a_consumer_without_a_source_is_refused(self, source: Source | None) -> None:
        client = router(allows_dynamic_source=True).connect()
        assert not client.consumer(None, "c", source=source).is_attached
        assert client.refusals == {"c": UNAUTHORIZED}

    @pytest.mark.parametrize("address", [7, b"orders"])
    def test_a_name_that_is_no_text_is_refused(self, address: object) -> None:
        client = router().connect()
        assert not client.producer(address, "p").is_attached
        assert not client.consumer(address, "c").is_attached
        assert client.refusals == {"p": UNAUTHORIZED, "c": UNAUTHORIZED}

    def test_what_is_no_target_is_for_others_to_refuse(self) -> None:
        client = router(allows_anonymous_sender=True).connect()
        client.producer(None, "p", target=Coordinator())
        client.producer(None, "q", target=None)
        assert {name: told[0] for name, told in client.refusals.items()} == {
            "p": "amqp:precondition-failed",
            "q": "amqp:invalid-field",
        }


class TestRoutedTermini:
    """Links that may be routed to a container by another address than that of their terminus."""

    PROPERTY = Symbol("x-opt-qd.address")

    @pytest.mark.parametrize(("routed", "is_allowed"), [("lr.ann", True), ("lr.bob", False), (Symbol("lr.bob"), False)])
    def test_a_dynamic_source_needs_its_address(self, routed: str, is_allowed: bool) -> None:
        client = strict(sources=("lr.ann",), allows_dynamic_source=True).connect()
        client.consumer(None, "c", source=Source(dynamic=True, dynamic_node_properties={self.PROPERTY: routed}))
        # There is no link route: what policy lets pass is refused for that.
        assert client.refusals["c"][0] == ("qd:no-route-to-dest" if is_allowed else UNAUTHORIZED[0])

    @pytest.mark.parametrize(("routed", "is_allowed"), [("lr.ann", True), ("lr.bob", False)])
    def test_a_dynamic_target_needs_its_address(self, routed: str, is_allowed: bool) -> None:
        client = strict(targets=("lr.ann",), allows_anonymous_sender=True).connect()
        client.producer(None, "p", target=Target(dynamic=True, dynamic_node_properties={self.PROPERTY: routed}))
        assert client.refusals["p"][0] == ("qd:no-route-to-dest" if is_allowed else UNAUTHORIZED[0])

    @pytest.mark.parametrize("is_allowed", [True, False])
    def test_a_coordinator_counts_as_an_anonymous_sender(self, is_allowed: bool) -> None:
        client = strict(targets=("*",), allows_anonymous_sender=is_allowed).connect()
        client.producer(None, "p", target=Coordinator())
        assert client.refusals["p"][0] == ("amqp:precondition-failed" if is_allowed else UNAUTHORIZED[0])


class TestWhatIsAllowedByName:
    @pytest.mark.parametrize("is_allowed", [True, False])
    def test_a_dynamic_source(self, is_allowed: bool) -> None:
        client = strict(sources=("*",), allows_dynamic_source=is_allowed).connect()
        link = client.consumer(None, "c", source=Source(dynamic=True))
        assert link.is_attached is is_allowed
        assert client.refusals == ({} if is_allowed else {"c": UNAUTHORIZED})

    @pytest.mark.parametrize("target", [Target(), Target(address=""), Target(dynamic=True)])
    @pytest.mark.parametrize("is_allowed", [True, False])
    def test_a_sender_without_a_target(self, is_allowed: bool, target: Target) -> None:
        client = strict(targets=("*",), allows_anonymous_sender=is_allowed).connect()
        assert client.producer(None, "p", target=target).is_attached is is_allowed
        assert client.refusals == ({} if is_allowed else {"p": UNAUTHORIZED})

    @pytest.mark.parametrize("is_allowed", [True, False])
    @pytest.mark.parametrize("capability", ["qd.waypoint", "qd.waypoint.2", "qd.fallback"])
    def test_a_waypoint_and_a_fallback(self, capability: str, is_allowed: bool) -> None:
        name = "allows_fallback_links" if capability == "qd.fallback" else "allows_waypoint_links"
        client = router(**{name: is_allowed}).connect()
        capabilities = (Symbol("other"), Symbol(capability))
        client.producer(None, "p", target=Target(address="q", capabilities=capabilities))
        client.consumer(None, "c", source=Source(address="q", capabilities=capabilities))
        assert client.refusals == ({} if is_allowed else {"p": UNAUTHORIZED, "c": UNAUTHORIZED})


def signed(user_id: bytes | None, to: str | None = None) -> bytes:
    """A message that says who sent it."""
    return message(properties=Properties(user_id=user_id, to=to))


class TestUserIds:
    @pytest.mark.parametrize("user_id", [None, b"", b"ann"])
    def test_a_message_in_the_users_own_name_passes(self, user_id: bytes | None) -> None:
        workers = router()
        client = workers.connect(user="ann")
        receiver = client.consumer("q", credit=10)
        delivery = client.send(client.producer("q"), signed(user_id))
        client.latest(receiver).accept()
        workers.pump()
        assert outcome(delivery) == (ACCEPTED, True)

    def test_one_in_another_name_is_rejected(self) -> None:
        workers = router()
        client = workers.connect(user="ann")
        receiver = client.consumer("q", credit=10)
        sender = client.producer("q")
        assert outcome(client.send(sender, signed(b"bob"))) == rejection("user_id proxy violation")
        settled = client.send(sender, signed(b"bob"), settled=True)
        assert outcome(settled) == (None, False)
        assert client.received(receiver) == []
        assert sender.is_attached

    def test_it_passes_where_that_is_allowed(self) -> None:
        workers = router(allows_user_id_proxy=True)
        client = workers.connect(user="ann")
        receiver = client.consumer("q", credit=10)
        sender = client.producer("q")
        [inlet] = client.peer.inlets
        assert inlet.guard is None
        client.send(sender, signed(b"bob"))
        assert client.received(receiver) == [signed(b"bob")]

    def test_a_message_of_several_frames_is_looked_at_once_its_properties_are_there(self) -> None:
        workers = router()
        client = workers.connect(user="ann")
        receiver = client.consumer("q", credit=10)
        sender = client.producer("q")
        octets = signed(b"bob")
        delivery = client.stream(sender, octets[:5], octets[5:])
        assert outcome(delivery) == rejection("user_id proxy violation")
        own = signed(b"ann")
        client.stream(sender, own[:5], own[5:])
        assert client.received(receiver) == [own]

    def test_a_user_id_that_is_none_is_rejected(self) -> None:
        workers = router()
        client = workers.connect(user="ann")
        octets = signed(b"ann").replace(b"\xa0\x03ann", b"\xa1\x03ann")
        delivery = client.send(client.producer("q", source=None), octets) if client.consumer("q", credit=1) else None
        assert delivery is not None
        assert outcome(delivery)[0].error.condition == "amqp:decode-error"

    def test_messages_of_edge_routers_are_looked_at_as_well(self) -> None:
        workers = router(allows_anonymous_sender=True)
        client = workers.connect(user="ann", peer={"role": "edge"})
        assert client.is_in
        sender = client.producer(None)
        assert outcome(client.send(sender, signed(b"bob", "q"))) == rejection("user_id proxy violation")


class TestAnonymousSenders:
    def workers(self, **options: Any) -> Policed:
        return strict(sources=("*",), allows_anonymous_sender=True, **options)

    def test_each_message_needs_its_address_among_the_targets(self) -> None:
        workers = self.workers(targets=("a", "b.*"))
        client = workers.connect()
        receivers = [client.consumer(name, credit=10) for name in ("a", "b.c", "c")]
        sender = client.producer(None)
        deliveries = [client.send(sender, message_to(name)) for name in ("a", "b.c", "c")]
        assert [len(client.received(receiver)) for receiver in receivers] == [1, 1, 0]
        assert outcome(deliveries[2]) == rejection("policy violation on target")
        assert workers.gate().counters.links_denied == 0

    def test_a_refused_address_leaves_nothing_behind(self) -> None:
        workers = self.workers(targets=("a",))
        client = workers.connect()
        client.send(client.producer(None), message_to("c"))
        assert list(workers[0].router.addresses) == []

    def test_all_targets_are_no_question(self) -> None:
        workers = self.workers(targets=("*",), allows_user_id_proxy=True)
        client = workers.connect()
        client.producer(None)
        [inlet] = client.peer.inlets
        assert inlet.guard is None

    def test_a_message_without_an_address_is_refused_as_ever(self) -> None:
        workers = self.workers(targets=("a",))
        client = workers.connect()
        assert outcome(client.send(client.producer(None), message()))[0].error.condition == "amqp:precondition-failed"


def send_whatever_was_said(client: Guest, link: Any, *parts: bytes, settled: bool = False) -> None:
    """Send a message in so many frames, as a client would that does not heed the largest size it was told."""
    delivery_id = client.session.next_outgoing_id
    for number, part in enumerate(parts, 1):
        transfer = Transfer(
            handle=link.handle,
            delivery_id=delivery_id,
            delivery_tag=b"t",
            message_format=0,
            settled=settled,
            more=number < len(parts),
        )
        body = composite_octets(Encoder(), transfer)
        client.connection.output.put_frame(0, AMQP_FRAME, body + part)
        client.connection.wake()
        client.pump()


class TestSizes:
    @pytest.mark.parametrize(
        ("of_group", "of_vhost", "of_router"),
        [(100, None, 0), (None, 100, 0), (None, None, 100), (100, 5, 5), (None, 100, 5)],
    )
    def test_a_message_is_no_larger_than_may_be(
        self, of_group: int | None, of_vhost: int | None, of_router: int
    ) -> None:
        one = vhost("$default", group(max_message_size=of_group), max_message_size=of_vhost)
        workers = Policed(one, policy={"max_message_size": of_router})
        client, other = workers.connect(), workers.connect()
        receiver = other.consumer("q", credit=10)
        sender = client.producer("q")
        assert [attach.max_message_size for attach in client.attaches] == [100]
        fits = message(b"x" * 90)
        client.send(sender, fits)
        assert other.received(receiver) == [fits]
        send_whatever_was_said(client, sender, message(b"x" * 100))
        assert client.refusals[sender.name] == ("amqp:link:message-size-exceeded", "Message size exceeded")
        assert client.end == ("amqp:connection:forced", "Message size exceeded")
        assert other.received(receiver) == [fits]
        assert [event for event in workers.seen if event[0] == "message size denied"] == [("message size denied", 2)]
        found, counters = workers.gate().vhosts["$default"], workers.gate().counters
        assert (found.message_size_denied, counters.message_size_denied, counters.total_denials) == (1, 1, 1)
        other.leave()
        assert workers.left_over() == {}

    def test_only_the_close_has_the_error_where_large_messages_cut_connections(self) -> None:
        one = vhost("$default", group(max_message_size=100))
        workers = Policed(one, cuts_for_large_messages=True)
        client = workers.connect()
        client.consumer("q", credit=10)
        sender = client.producer("q")
        send_whatever_was_said(client, sender, message(b"x" * 100))
        assert ("link detached", sender.name, True, None) in client.events
        assert client.end == ("amqp:connection:forced", "Message size exceeded")

    def test_one_that_grows_too_large_is_aborted(self) -> None:
        workers = Policed(vhost("$default", group(max_message_size=100)))
        client, other = workers.connect(), workers.connect()
        receiver = other.consumer("q", credit=10)
        sender = client.producer("q")
        octets = message(b"x" * 150)
        send_whatever_was_said(client, sender, octets[:60], octets[60:])
        assert client.end == ("amqp:connection:forced", "Message size exceeded")
        assert other.aborted == [receiver.name]
        other.leave()
        assert workers.left_over() == {}

    def test_a_settled_one_ends_the_connection_as_well(self) -> None:
        workers = Policed(vhost("$default", group(max_message_size=100)))
        client = workers.connect()
        client.consumer("q", credit=10)
        send_whatever_was_said(client, client.producer("q"), message(b"x" * 100), settled=True)
        assert client.end == ("amqp:connection:forced", "Message size exceeded")

    def test_nothing_is_no_bound(self) -> None:
        one = vhost("$default", group(max_message_size=0), max_message_size=5)
        workers = Policed(one, policy={"max_message_size": 5})
        client = workers.connect()
        receiver = client.consumer("q", credit=10)
        client.send(client.producer("q"), message(b"x" * 1000))
        assert client.received(receiver) == [message(b"x" * 1000)]
        assert {attach.max_message_size for attach in client.attaches} == {None}


class TestChanges:
    def test_a_change_holds_for_new_links(self) -> None:
        workers = strict(targets=("a",), sources=("a",))
        client = workers.connect()
        before = client.producer("a")
        workers.gate().configure(vhost("$default", group(targets=("b",), max_message_size=9)))
        assert before.is_attached
        assert not client.producer("a").is_attached
        after = client.producer("b", "after")
        assert after.is_attached
        assert client.attaches[-1].max_message_size == 9

    @pytest.mark.parametrize("is_deleted", [True, False])
    def test_who_is_in_no_group_any_more_gets_no_new_links(self, is_deleted: bool) -> None:
        workers = Policed(vhost("$default", group(users=("ann",))))
        client = workers.connect(user="ann")
        before = client.consumer("q")
        if is_deleted:
            workers.gate().forget("$default")
        else:
            workers.gate().configure(vhost("$default", group(users=("bob",))))
        assert not client.consumer("q", "after").is_attached
        assert client.refusals == {"after": UNAUTHORIZED}
        assert before.is_attached
        assert workers.seen[1:] == [("link denied", "ann", "nothing is configured for the user any more")]

    def test_a_connection_of_ours_is_in_the_group_for_connectors_still(self) -> None:
        workers = Policed(vhost("a.com", group("$connector", sources=("a",))))
        client = workers.connect(policy_vhost="a.com", is_made_by_us=True)
        workers.gate().configure(vhost("a.com", group("$connector", sources=("b",))))
        assert [client.consumer(name).is_attached for name in ("a", "b")] == [False, True]
        workers.gate().forget("a.com")
        assert not client.consumer("b").is_attached


def request(operation: str, type_: str = "listener", body: Any = None, **properties: Any) -> bytes:
    """A request to management."""
    return bytes(
        Message(
            properties=Properties(reply_to="r", **properties),
            application_properties={"operation": operation, "type": type_},
            body=AmqpValue({} if body is None else body),
        ).encode()
    )


CONNECTION = "org.apache.qpid.dispatch.connection"
STATUS = {"adminStatus": "deleted"}


class TestManagement:
    def passes(self, octets: bytes, to: str | None = "$management", **options: Any) -> bool:
        """Whether a request comes through to management, or is answered as forbidden before."""
        workers = strict(
            **{"sources": ("*",), "targets": ("*",), "allows_anonymous_sender": True, "allows_user_id_proxy": True}
            | options
        )
        forbidden: list[bytes] = []
        client = workers.connect()
        receiver = client.consumer("$management", credit=10)
        sender = client.producer(to)
        workers[0].router.intake.answer_forbidden = lambda octets: not forbidden.append(octets)
        delivery = client.send(sender, octets)
        received = client.received(receiver)
        assert sorted([*received, *forbidden]) == [octets]
        if forbidden:
            assert outcome(delivery) == (ACCEPTED, True)
        return bool(received)

    @pytest.mark.parametrize("operation", ["CREATE", "UPDATE", "DELETE", "create", "Delete"])
    def test_who_may_not_change_may_read(self, operation: str) -> None:
        assert not self.passes(request(operation), allows_management_changes=False)
        assert self.passes(request(operation))
        assert self.passes(request("QUERY"), allows_management_changes=False)
        assert self.passes(request("READ"), allows_management_changes=False)

    def test_who_may_not_close_connections_may_do_all_else(self) -> None:
        no = {"allows_admin_status_update": False}
        for name in (CONNECTION, "connection"):
            assert not self.passes(request("UPDATE", name, STATUS), **no)
        assert self.passes(request("UPDATE", CONNECTION, STATUS))
        assert self.passes(request("UPDATE", CONNECTION, {"enableProtocolTrace": True}), **no)
        assert self.passes(request("UPDATE", CONNECTION, "text"), **no)
        assert self.passes(request("UPDATE", "log", STATUS), **no)
        assert self.passes(request("CREATE", CONNECTION), **no)

    def test_who_may_not_make_link_routes_may_do_all_else(self) -> None:
        no = {"allows_dynamic_link_routes": False}
        assert not self.passes(request("CREATE", "org.apache.qpid.dispatch.connection.linkRoute"), **no)
        assert not self.passes(request("CREATE", "org.apache.qpid.dispatch.router.connection.linkRoute"), **no)
        assert self.passes(request("CREATE", "org.apache.qpid.dispatch.connection.linkRoute"))
        assert self.passes(request("CREATE", "listener"), **no)
        assert self.passes(request("DELETE", "connection.linkRoute"), **no)

    def test_requests_of_anonymous_senders_are_looked_at(self) -> None:
        no = {"allows_management_changes": False}
        assert not self.passes(request("CREATE", to="$management"), to=None, **no)
        assert not self.passes(request("CREATE", to="/$management"), to=None, **no)
        assert self.passes(request("QUERY", to="$management"), to=None, **no)

    def test_what_is_no_request_passes(self) -> None:
        broken = message_to("$management")[:-4]
        assert self.passes(message_to("$management"), allows_management_changes=False)
        assert self.passes(broken, allows_management_changes=False)

    def test_without_an_answer_a_request_is_rejected(self) -> None:
        workers = router(allows_management_changes=False)
        client = workers.connect()
        client.consumer("_topo/0/R/$management", credit=10)
        delivery = client.send(client.producer("_topo/0/R/$management"), request("CREATE"))
        assert outcome(delivery) == rejection("You are not allowed to perform this operation.")

    def test_where_no_answer_can_go_a_request_is_rejected(self) -> None:
        workers = router(allows_management_changes=False, allows_user_id_proxy=True)
        workers[0].router.intake.answer_forbidden = lambda octets: False
        client = workers.connect()
        client.consumer("$management", credit=10)
        delivery = client.send(client.producer("$management"), request("CREATE"))
        assert outcome(delivery) == rejection("You are not allowed to perform this operation.")

    def test_a_request_of_several_frames_is_looked_at_when_it_is_all_there(self) -> None:
        workers = router(allows_management_changes=False, allows_user_id_proxy=True)
        client = workers.connect()
        receiver = client.consumer("$management", credit=10)
        sender = client.producer("$management")
        change, look = request("DELETE"), request("READ")
        delivery = client.stream(sender, change[:30], change[30:])
        assert outcome(delivery) == rejection("You are not allowed to perform this operation.")
        client.stream(sender, look[:30], look[30:])
        assert client.received(receiver) == [look]

    def test_other_addresses_are_not_looked_at(self) -> None:
        workers = router(allows_management_changes=False, allows_user_id_proxy=True)
        client = workers.connect()
        client.producer("q")
        [inlet] = client.peer.inlets
        assert inlet.guard is None


def test_what_was_allowed_before_is_allowed_and_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("routerd.core.policy.gate.KNOWN_NAMES_MAX", 2)
    monkeypatch.setattr("routerd.core.policy.vhost.KNOWN_USERS_MAX", 2)
    workers = strict(targets=("a", "b", "c"), sources=("${user}.*",), max_senders=4, max_receivers=2)
    for user in ("ann", "bob", "cid", "ann"):
        client = workers.connect(user=user)
        assert [client.producer(name).is_attached for name in ("a", "b", "c", "a", "b")] == [True] * 4 + [False]
        names = (f"{user}.x", f"{user}.x", f"{user}.x")
        assert [client.consumer(name).is_attached for name in names] == [True, True, False]
        assert not client.consumer("dan.x").is_attached
    capable = workers.connect(user="ann")
    assert capable.producer("a").is_attached
    workers.gate().configure(vhost("$default", group(allows_waypoint_links=False)))
    refused = capable.producer("a", target=Target(address="a", capabilities=(Symbol("qd.waypoint"),)))
    assert not refused.is_attached


class TestOtherRoutersManagement:
    """A router with policy takes for allowed what comes from another router: that looks at what its clients ask."""

    OTHER = "_topo/0/B/$management"

    def is_forbidden(self, to: str, operation: str, *, peer: dict[str, Any] | None = None, **options: Any) -> bool:
        """Whether a request that says itself where it goes is answered here."""
        workers = Policed(policy={"is_enforced": False}, **{"mode": RouterMode.INTERIOR} | options)
        forbidden: list[bytes] = []
        workers[0].router.intake.answer_forbidden = lambda octets: not forbidden.append(octets)
        client = workers.connect(peer=peer)
        sender = client.producer(None, target=Target())
        # A message to somebody else is as it ever was, and so is the next request.
        client.send(sender, message_to("orders"))
        deliveries = [client.send(sender, request_to(to, operation)) for _ in range(2)]
        if not forbidden:
            return False
        assert forbidden == [request_to(to, operation)] * 2
        assert [outcome(one) for one in deliveries] == [(ACCEPTED, True)] * 2
        return True

    @pytest.mark.parametrize("mode", [RouterMode.INTERIOR, RouterMode.EDGE])
    @pytest.mark.parametrize("to", [OTHER, "amqp:/_topo/0/B/$management", "_edge/E/$management"])
    def test_who_may_change_nothing_here_may_change_nothing_there(self, to: str, mode: RouterMode) -> None:
        for operation in ("CREATE", "update", "Delete"):
            assert self.is_forbidden(to, operation, mode=mode)
            assert not self.is_forbidden(to, operation, mode=mode, has_policy=True)
            assert not self.is_forbidden(to, operation, mode=mode, management_access=ManagementAccess.CHANGE)
        for operation in ("QUERY", "READ", ""):
            assert not self.is_forbidden(to, operation, mode=mode)

    @pytest.mark.parametrize(
        "to", ["$management", "_local/$management", "_topo/0/R/$management", "orders", "_topo/0/B/temp.1"]
    )
    def test_what_is_for_this_router_is_for_its_own_agent(self, to: str) -> None:
        assert not self.is_forbidden(to, "CREATE")

    def test_edge_routers_look_at_their_clients_themselves(self) -> None:
        assert not self.is_forbidden(self.OTHER, "CREATE", peer={"role": EDGE})

    @pytest.mark.parametrize(
        ("address", "is_looked_at"), [(OTHER, True), ("$management", True), ("orders", False), (None, False)]
    )
    def test_a_link_is_looked_at_that_leads_there(self, address: str | None, is_looked_at: bool) -> None:
        client = Policed(policy={"is_enforced": False}, mode=RouterMode.INTERIOR).connect()
        client.producer(address, target=Target(address=address))
        [inlet] = client.peer.inlets
        assert (inlet.guard is not None) is is_looked_at


def request_to(address: str, operation: str) -> bytes:
    """A request that says itself where it goes."""
    return bytes(
        Message(
            properties=Properties(to=address, reply_to="answers"),
            application_properties={"operation": operation, "type": "listener", "name": "n"},
            body=AmqpValue({}),
        ).encode()
    )
