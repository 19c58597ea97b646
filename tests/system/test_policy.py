"""Policy at a running router, by proton: each attribute below its limit and above it (10)."""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from proton import Handler, Message
from proton.reactor import Container

from tests.system.conftest import running
from tests.system.guest import Capabilities, Guest, refusal, refused
from tests.system.launched import routerstat
from tests.system.management_client import ManagementClient
from tests.system.routers import IN_PROCESS, RunningRouter, configuration, listener, section
from tests.waiting import WITHIN_S, eventually

CONNECTION_DENIED = ("amqp:resource-limit-exceeded", "connection disallowed by local policy")
LINK_DENIED = ("amqp:unauthorized-access", "link disallowed by local policy")
TOO_MANY_LINKS = ("amqp:resource-limit-exceeded", "link disallowed by local policy")
REJECTED = ("outcome", "37")

EVERYTHING = {
    "users": "*",
    "remoteHosts": "*",
    "sources": "*",
    "targets": "*",
    "allowDynamicSource": True,
    "allowAnonymousSender": True,
}
STRICT = {"users": "*", "remoteHosts": "*"}


def vhost_section(hostname: str, groups: dict[str, Any], **attributes: Any) -> str:
    """The section of a vhost."""
    return section("vhost", hostname=hostname, **attributes, groups=json.dumps(groups))


def group(hostname: str, settings: dict[str, Any], **attributes: Any) -> str:
    """The section of a vhost with one group."""
    return vhost_section(hostname, {"g": settings}, **attributes)


VHOSTS = (
    group("strict", STRICT),
    group("counted", STRICT),
    group("open", EVERYTHING),
    group("names", STRICT | {"sources": "a, b.*", "targets": "a, b.*"}),
    group("patterns", STRICT | {"sourcePattern": "${user}.#, x/*", "targetPattern": "*.${user}"}),
    group("of-user", STRICT | {"sources": "q.${user}.*", "targets": "q.${user}"}),
    group("no-dynamic", EVERYTHING | {"allowDynamicSource": False}),
    group("no-anonymous", EVERYTHING | {"allowAnonymousSender": False}),
    group("some-targets", EVERYTHING | {"targets": "a"}),
    group("proxy", EVERYTHING | {"allowUserIdProxy": True}),
    group("no-waypoints", EVERYTHING | {"allowWaypointLinks": False}),
    group("no-fallbacks", EVERYTHING | {"allowFallbackLinks": False}),
    group("no-status", EVERYTHING | {"allowAdminStatusUpdate": False}),
    group("no-routes", EVERYTHING | {"allowDynamicLinkRoutes": False}),
    group("no-changes", EVERYTHING | {"allowManagementChanges": False}),
    group("two-links", EVERYTHING | {"maxSenders": 2, "maxReceivers": 2}),
    group("two-sessions", EVERYTHING | {"maxSessions": 2}),
    group("small-frames", EVERYTHING | {"maxFrameSize": 1024, "maxSessionWindow": 8192}),
    group("small-messages", EVERYTHING | {"maxMessageSize": 500}),
    group("small-by-vhost", EVERYTHING, maxMessageSize=500),
    group("two", EVERYTHING, maxConnections=2),
    group("two-of-user", EVERYTHING, maxConnectionsPerUser=2),
    group("two-of-host", EVERYTHING, maxConnectionsPerHost=2),
    group("two-of-user-of-group", EVERYTHING | {"maxConnectionsPerUser": 2}, maxConnectionsPerUser=1),
    group("two-of-host-of-group", EVERYTHING | {"maxConnectionsPerHost": 2}, maxConnectionsPerHost=1),
    group("here", EVERYTHING | {"remoteHosts": "10.0.0.1, 127.0.0.0-127.0.0.9"}),
    group("by-name", EVERYTHING | {"remoteHosts": "127.0.0.1, ::1"}),
    group("elsewhere", EVERYTHING | {"remoteHosts": "10.0.0.1-10.0.0.9"}),
    group("nowhere", {"users": "*"}),
    group("named", EVERYTHING | {"users": "anonymous, ann"}, aliases="alias.one, alias.two"),
    group("others", EVERYTHING | {"users": "ann"}),
    vhost_section("unknown", {"$default": EVERYTHING}, allowUnknownUser="true"),
    vhost_section("known", {"$default": EVERYTHING | {"users": "ann"}}),
)


@pytest.fixture(scope="module")
def router(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRouter]:
    """A router with all these vhosts, and one more in a file of its own."""
    folder = tmp_path_factory.mktemp("policies")
    (folder / "more.json").write_text(
        json.dumps([["vhost", {"hostname": "in-a-file", "groups": {"g": EVERYTHING}}], ["listener", {"port": "x"}]])
    )
    text = configuration(
        section("policy", enableVhostPolicy="yes", maxMessageSize=900, policyDir=folder),
        *VHOSTS,
        listener(idleTimeoutSeconds=0),
        listener("of-strict", policyVhost="strict"),
        listener("tenants", multiTenant="yes"),
        listener("tools", policyVhost="open"),
        section("address", prefix="topics", distribution="multicast", delivery="at-least-once"),
        managementAccess="policy",
        topicGraceSeconds=0,
    )
    with running(IN_PROCESS, tmp_path_factory.mktemp("router"), text) as router:
        yield router


@pytest.fixture
def guest(router: RunningRouter) -> Iterator[Callable[..., Guest]]:
    """Connect to a vhost of the router."""
    guests: list[Guest] = []

    def connect(vhost: str | None, port: int = 0) -> Guest:
        guests.append(Guest(port or router.port, vhost))
        return guests[-1]

    yield connect
    for one in guests:
        one.close()


Connect = Callable[..., Guest]


class TestConnections:
    @pytest.mark.parametrize("vhost", ["open", "in-a-file", "named", "alias.one", "alias.two", "here", "unknown"])
    def test_one_that_is_allowed_is_opened(self, router: RunningRouter, vhost: str) -> None:
        assert refused(router.port, vhost) is None

    @pytest.mark.parametrize(
        ("vhost", "reason"),
        [
            ("none", "No policy defined for vhost"),
            ("others", "User is not in a user group and unknown users are denied"),
            ("known", "User is not in a user group and unknown users are denied"),
            ("elsewhere", "User is not allowed to connect from this network host"),
            ("nowhere", "User is not allowed to connect from this network host"),
        ],
    )
    def test_one_that_is_not_is_told_nothing_but_that(self, router: RunningRouter, vhost: str, reason: str) -> None:
        assert refused(router.port, vhost) == CONNECTION_DENIED
        line = f"DENY AMQP Open for user 'anonymous', rhost '127.0.0.1', vhost '{vhost}': {reason}"
        eventually(lambda: f"POLICY (info) {line}" in router.log(), "the log has it")

    @pytest.mark.parametrize(
        ("vhost", "limit"),
        [
            ("two", "connection"),
            ("two-of-user", "per user"),
            ("two-of-host", "per host"),
            ("two-of-user-of-group", "per user"),
            ("two-of-host-of-group", "per host"),
        ],
    )
    def test_there_are_as_many_as_may_be(self, router: RunningRouter, guest: Connect, vhost: str, limit: str) -> None:
        first = guest(vhost)
        guest(vhost)
        assert refused(router.port, vhost) == CONNECTION_DENIED
        line = f"vhost '{vhost}': Connection denied by application {limit} limit"
        eventually(lambda: line in router.log(), "the log has it")
        first.close()
        assert refused(router.port, vhost) is None

    def test_a_listener_can_say_which_vhost_it_is(self, router: RunningRouter, guest: Connect) -> None:
        assert refused(router.port_of("of-strict"), "none") is None
        bound = guest("open", router.port_of("of-strict"))
        assert refusal(lambda: bound.sender("a")) == LINK_DENIED

    def test_our_open_has_the_limits_of_the_group(self, guest: Connect) -> None:
        assert guest("two-sessions").connection.conn.transport.remote_channel_max == 1
        assert guest("small-frames").connection.conn.transport.remote_max_frame_size == 1024
        assert guest("open").connection.conn.transport.remote_channel_max == 32_767


class TestLinks:
    @pytest.mark.parametrize(
        ("vhost", "address", "is_allowed"),
        [
            *(("strict", "a", False), ("open", "a", True), ("names", "a", True), ("names", "b.x", True)),
            *(("names", "c", False), ("patterns", "q.anonymous", True), ("patterns", "anonymous", False)),
            *(("of-user", "q.anonymous", True), ("of-user", "q.ann", False)),
        ],
    )
    def test_a_target_is_one_of_the_targets(self, guest: Connect, vhost: str, address: str, is_allowed: bool) -> None:
        client = guest(vhost)
        assert refusal(lambda: client.sender(address)) == (None if is_allowed else LINK_DENIED)

    @pytest.mark.parametrize(
        ("vhost", "address", "is_allowed"),
        [
            *(("strict", "a", False), ("open", "a", True), ("names", "a", True), ("names", "b.x", True)),
            *(("names", "c", False), ("patterns", "anonymous.x", True), ("patterns", "x.y", True)),
            *(("patterns", "y.x", False), ("of-user", "q.anonymous.x", True), ("of-user", "q.ann.x", False)),
        ],
    )
    def test_a_source_is_one_of_the_sources(self, guest: Connect, vhost: str, address: str, is_allowed: bool) -> None:
        client = guest(vhost)
        assert refusal(lambda: client.receiver(address)) == (None if is_allowed else LINK_DENIED)

    @pytest.mark.parametrize(("vhost", "is_allowed"), [("open", True), ("no-dynamic", False)])
    def test_a_dynamic_source(self, guest: Connect, vhost: str, is_allowed: bool) -> None:
        client = guest(vhost)
        assert refusal(lambda: client.receiver(None, dynamic=True)) == (None if is_allowed else LINK_DENIED)

    @pytest.mark.parametrize(("vhost", "is_allowed"), [("open", True), ("no-anonymous", False)])
    def test_an_anonymous_sender(self, guest: Connect, vhost: str, is_allowed: bool) -> None:
        client = guest(vhost)
        assert refusal(lambda: client.sender(None)) == (None if is_allowed else LINK_DENIED)

    @pytest.mark.parametrize(
        ("vhost", "capability", "is_allowed"),
        [
            *(("open", "qd.waypoint", True), ("no-waypoints", "qd.waypoint.1", False)),
            *(("no-waypoints", "qd.fallback", True), ("no-fallbacks", "qd.fallback", False)),
        ],
    )
    def test_waypoints_and_fallbacks(self, guest: Connect, vhost: str, capability: str, is_allowed: bool) -> None:
        client = guest(vhost)
        for attach in (client.sender, client.receiver):
            told = refusal(lambda: attach("w", Capabilities(capability)))  # noqa: B023
            assert told == (None if is_allowed else LINK_DENIED)

    def test_there_are_as_many_as_may_be(self, guest: Connect) -> None:
        client = guest("two-links")
        for attach in (client.sender, client.receiver):
            first = attach("a")
            attach("a")
            assert refusal(lambda: attach("a")) == TOO_MANY_LINKS  # noqa: B023
            first.close()
            assert refusal(lambda: attach("a")) is None  # noqa: B023


class TestMessages:
    def test_a_user_id_is_the_users_own(self, guest: Connect) -> None:
        for vhost, told in (("open", REJECTED), ("proxy", None)):
            client, other = guest(vhost), guest(vhost)
            address = f"user-ids.{vhost}"
            receiver = other.receiver(address)
            for message in (Message("mine"), Message("mine", user_id=b"anonymous")):
                client.post(address, message)
                assert receiver.receive(20).body == "mine"
            if told is None:
                client.post(address, Message("other", user_id=b"ann"))
                assert receiver.receive(20).body == "other"
            else:
                asked = client.sender(address)
                message = Message("other", user_id=b"ann")
                assert refusal(lambda: asked.send(message)) == told  # noqa: B023

    def test_a_message_of_an_anonymous_sender_goes_to_one_of_the_targets(self, guest: Connect) -> None:
        client, other = guest("some-targets"), guest("open")
        receiver = other.receiver("a")
        other.receiver("b")
        sender = client.sender(None)
        client.post(None, Message("to a", address="a"))
        assert receiver.receive(20).body == "to a"
        assert refusal(lambda: sender.send(Message("to b", address="b"))) == REJECTED

    @pytest.mark.parametrize("vhost", ["small-messages", "small-by-vhost", "open"])
    def test_a_message_is_no_larger_than_may_be(self, router: RunningRouter, guest: Connect, vhost: str) -> None:
        limit = 900 if vhost == "open" else 500
        client, other = guest(vhost), guest("open")
        receiver = other.receiver(f"sizes.{vhost}")
        client.post(f"sizes.{vhost}", Message(b"x" * (limit - 100)))
        assert len(receiver.receive(20).body) == limit - 100
        seen = TooLarge(router.port, vhost, f"sizes.{vhost}", limit)
        Container(seen).run()
        told = ("amqp:link:message-size-exceeded", "Message size exceeded")
        assert seen.told == [("rejected", *told), ("detached", *told), ("closed", "amqp:connection:forced", told[1])]
        eventually(lambda: "DENY AMQP Transfer maxMessageSize exceeded" in router.log(), "the log has it")


class TooLarge(Handler):  # type: ignore[misc]
    """Sends one message that is too large, and notes what it is told."""

    def __init__(self, port: int, vhost: str, address: str, size: int) -> None:
        super().__init__()
        self._port, self._vhost, self._address, self._size = port, vhost, address, size
        self.told: list[tuple[str, str, str]] = []

    def on_reactor_init(self, event: Any) -> None:
        url = f"127.0.0.1:{self._port}"
        connection = event.container.connect(
            url, virtual_host=self._vhost, allowed_mechs="ANONYMOUS", reconnect=False, handler=self
        )
        event.container.create_sender(connection, self._address, handler=self)

    def on_link_flow(self, event: Any) -> None:
        if event.sender is not None and event.sender.credit and not self.told and self._size:
            size, self._size = self._size, 0
            event.sender.send(Message(b"x" * size))

    def on_delivery(self, event: Any) -> None:
        condition = event.delivery.remote.condition
        if condition is not None:
            self._note("rejected", condition)

    def on_link_remote_close(self, event: Any) -> None:
        self._note("detached", event.link.remote_condition)

    def on_connection_remote_close(self, event: Any) -> None:
        self._note("closed", event.connection.remote_condition)
        event.connection.close()

    def _note(self, what: str, condition: Any) -> None:
        self.told.append((what, condition.name, condition.description))


FORBIDDEN = (403, "You are not allowed to perform this operation.")


class TestManagement:
    def ask(self, guest: Guest, properties: dict[str, Any], body: Any, address: str | None = "$management") -> Any:
        """Make a request and return status and text of the answer."""
        answers = guest.receiver(None, dynamic=True)
        reply_to = answers.link.remote_source.address
        sender = guest.sender(address)
        sender.send(Message(address="$management", properties=properties, body=body, reply_to=reply_to))
        told = answers.receive(20).properties
        return int(told["statusCode"]), told["statusDescription"]

    @pytest.mark.parametrize("address", ["$management", None])
    def test_who_may_read_and_not_change(self, guest: Connect, address: str | None) -> None:
        listener_type = "org.apache.qpid.dispatch.listener"
        create = {"operation": "CREATE", "type": listener_type, "name": "new"}
        query = {"operation": "QUERY", "entityType": listener_type}
        port = {"host": "127.0.0.1", "port": "nowhere"}
        client = guest("no-changes")
        assert self.ask(client, create, port, address) == FORBIDDEN
        assert self.ask(client, query | {"type": "org.amqp.management", "name": "self"}, {}, address)[0] == 200
        assert self.ask(guest("open"), create, port, address)[0] == 400

    def test_who_may_not_close_connections(self, guest: Connect) -> None:
        update = {"operation": "UPDATE", "type": "org.apache.qpid.dispatch.connection", "identity": "999999"}
        assert self.ask(guest("no-status"), update, {"adminStatus": "deleted"}) == FORBIDDEN
        assert self.ask(guest("no-status"), update, {"enableProtocolTrace": True})[0] == 400
        assert self.ask(guest("open"), update, {"adminStatus": "deleted"})[0] == 400

    @pytest.mark.parametrize("address", ["$management", None])
    def test_who_may_not_end_subscriptions(self, guest: Connect, address: str | None) -> None:
        """Policy says so for all that is deleted, of other clients' subscriptions as well."""
        subscriber = guest("open")
        link = subscriber.receiver("topics/held")
        identity = f"subscription/topics/held/{subscriber.connection.container.container_id}/{link.link.name}"
        delete = {"operation": "DELETE", "type": "org.mobula.subscription", "identity": identity}
        read = {"operation": "READ", "type": "org.mobula.subscription", "identity": identity}
        refused_one, allowed = guest("no-changes"), guest("open")
        assert self.ask(refused_one, delete, {}, address) == FORBIDDEN
        assert self.ask(refused_one, read, {}, address)[0] == 200
        assert self.ask(allowed, delete, {}, address)[0] == 204
        assert self.ask(allowed, read, {}, address)[0] == 404
        assert refusal(lambda: link.receive(WITHIN_S)) == (
            "amqp:resource-deleted",
            "the subscription has ended: an operator has ended it",
        )

    @pytest.mark.parametrize("vhost", ["strict", "some-targets"])
    def test_who_may_not_even_ask(self, guest: Connect, vhost: str) -> None:
        """Without `$management` among its targets, a client ends nothing."""
        client = guest(vhost)
        assert refusal(lambda: client.sender("$management")) == LINK_DENIED

    def test_who_may_not_make_link_routes(self, guest: Connect) -> None:
        create = {"operation": "CREATE", "type": "org.apache.qpid.dispatch.connection.linkRoute", "name": "n"}
        assert self.ask(guest("no-routes"), create, {"pattern": "a", "direction": "in"}) == FORBIDDEN
        assert self.ask(guest("open"), create, {"pattern": "a", "direction": "in"})[0] != 403

    def test_who_may_not_ask_at_all(self, guest: Connect) -> None:
        assert refusal(lambda: guest("names").sender("$management")) == LINK_DENIED


def test_tenants_are_apart_by_the_configured_name_of_their_vhost(router: RunningRouter, guest: Connect) -> None:
    port = router.port_of("tenants")
    alias, named, other = guest("alias.one", port), guest("named", port), guest("open", port)
    receiver, elsewhere = named.receiver("q"), other.receiver("q")
    alias.post("q", Message("ours"))
    assert receiver.receive(20).body == "ours"
    other.post("q", Message("theirs"))
    assert elsewhere.receive(20).body == "theirs"
    outside = guest("open")
    inside = outside.receiver("named/q")
    receiver.close()
    alias.post("q", Message("seen from outside"))
    assert inside.receive(20).body == "seen from outside"


def test_the_start_tells_how_policy_is_configured(router: RunningRouter) -> None:
    assert "POLICY (info) Policy configured maxConnections: 65535, policyDir: '" in router.log()
    assert "access rules enabled: 'true', use hostname patterns: 'false'" in router.log()


def test_statistics_are_those_of_what_happened(router: RunningRouter, guest: Connect) -> None:
    client = guest("counted")
    refusal(lambda: client.sender("x"))
    refusal(lambda: client.receiver("x"))
    refusal(lambda: client.receiver("x"))
    with Management(router.port) as management:
        [stats] = [row for row in management.query("vhostStats") if row["hostname"] == "counted"]
        counts = ("connectionsCurrent", "senderDenied", "receiverDenied", "sessionDenied", "maxMessageSizeDenied")
        assert [stats[name] for name in counts] == [1, 1, 2, 0, 0]
        [[name]] = stats["perUserState"].values()
        assert stats["perHostState"] == {"127.0.0.1": [name]}
        assert stats["identity"] == "vhostStats/counted"
        [policy] = management.query("policy")
        assert policy["linksDenied"] >= 3
        assert policy["connectionsCurrent"] >= 2
        assert policy["connectionsProcessed"] >= policy["connectionsCurrent"]
        assert policy["enableVhostPolicy"] is True
        assert policy["identity"] == "policy/None"


class Management(ManagementClient):
    """Management, as a client of a vhost sees it."""

    def __init__(self, port: int) -> None:
        self._guest = Guest(port, "open")
        self._connection = self._guest.connection
        self._answers = self._connection.create_receiver(None, dynamic=True)
        self._requests = self._connection.create_sender("$management")
        self._number = 0

    def __enter__(self) -> "Management":
        return self

    def __exit__(self, *_: object) -> None:
        self._guest.close()


def test_vhosts_come_change_and_go_while_the_router_runs(router: RunningRouter, guest: Connect) -> None:
    groups = {"g": EVERYTHING}
    with Management(router.port) as management:
        created = management.create("vhost", "made", hostname="made.here", aliases="made.alias", groups=groups)
        assert (created.status, created.body["identity"]) == (201, "vhost/made.here")
        client = guest("made.alias")
        assert refusal(lambda: client.sender("a")) is None
        told = management.create("vhost", "clash", hostname="x", aliases="made.alias", groups=groups)
        assert (told.status, "used in vhost/made.here already" in told.description) == (500, True)
        update = {"operation": "UPDATE", "type": "org.apache.qpid.dispatch.vhost", "identity": "vhost/made.here"}
        told = management.ask(update, {"maxConnections": 1, "groups": {"g": EVERYTHING | {"targets": "b"}}})
        assert (told.status, told.body["maxConnections"]) == (200, 1)
        assert refusal(lambda: client.sender("a")) == LINK_DENIED
        assert refusal(lambda: client.sender("b")) is None
        assert refused(router.port, "made.here") == CONNECTION_DENIED
        told = management.ask(update, {"groups": {"g": {"sources": "a", "sourcePattern": "a"}}})
        assert (told.status, "conflicting 'sources' and 'sourcePattern'" in told.description) == (500, True)
        assert management.ask(update, {"hostname": "other"}).status == 400
        assert management.ask(update, {"aliases": "alias.one"}).status == 500
        assert refusal(lambda: client.receiver("a")) is None
        told = management.ask({"operation": "DELETE", "type": "org.apache.qpid.dispatch.vhost", "name": "made"})
        assert told.status == 204
        assert refused(router.port, "made.here") == CONNECTION_DENIED
        assert refusal(lambda: client.receiver("a")) == LINK_DENIED
        [stats] = [row for row in management.query("vhostStats") if row["hostname"] == "made.here"]
        assert stats["connectionsApproved"] == 1
        assert [row["hostname"] for row in management.query("vhost") if row["hostname"] == "made.here"] == []


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ("--policy", ("Maximum Concurrent Connections  65535", "Enable Vhost Policy             True")),
        ("--vhosts", ("two-of-user", "in-a-file")),
        ("--vhostgroups", ("Vhost 'names' UserGroup 'g'", "sourcePattern  ${user}.#, x/*")),
        ("--vhoststats", ("connectionsApproved", "anonymous")),
    ],
)
def test_the_views_show_it(router: RunningRouter, view: str, words: tuple[str, ...]) -> None:
    shown = routerstat(router.port_of("tools"), view)
    assert [word for word in words if word not in shown] == []


def test_sockets_beyond_the_limit_of_all_are_closed_without_an_octet(tmp_path: Path) -> None:
    text = configuration(section("policy", maxConnections=2))
    with running(IN_PROCESS, tmp_path, text) as router, ExitStack() as sockets:
        for _ in range(2):
            sockets.enter_context(socket.create_connection(("127.0.0.1", router.port), timeout=WITHIN_S))
        with socket.create_connection(("127.0.0.1", router.port), timeout=WITHIN_S) as third:
            assert third.recv(1) == b""
        line = "POLICY (info) DENY Connection '127.0.0.1' based on global connection count. nConnections= 2"
        eventually(lambda: line in router.log(), "the log has it")


def test_a_connector_is_held_against_the_group_for_connectors(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    with running(IN_PROCESS, tmp_path / "far", configuration(section("address", prefix="a"))) as far:
        connectors = [
            section("connector", name=name, host="127.0.0.1", port=far.port, policyVhost=vhost)
            for name, vhost in (("good", "with"), ("bad", "without"), ("none", "missing"))
        ]
        text = configuration(
            section("policy", enableVhostPolicy="yes", defaultVhost="nothing"),
            vhost_section("with", {"$connector": {"sources": "*"}, "g": EVERYTHING}),
            vhost_section("without", {"g": EVERYTHING}),
            *connectors,
        )
        (tmp_path / "near").mkdir()
        with running(IN_PROCESS, tmp_path / "near", text) as near:
            for vhost, reason in (
                ("without", "No group '$connector' defined for vhost"),
                ("missing", "No policy defined for vhost"),
            ):
                line = f"vhost '{vhost}': {reason}"
                eventually(lambda: line in near.log(), "it is refused")  # noqa: B023
            eventually(lambda: "Connection Opened: dir=out" in near.log(), "the other is opened")
            assert "ALLOW" not in near.log()
        assert "amqp:resource-limit-exceeded: connection disallowed by local policy" in far.log()
