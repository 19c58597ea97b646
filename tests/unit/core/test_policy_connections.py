"""Connections that policy lets in and refuses: by vhost, user, host and number (10.1, 10.2)."""

import pytest

from routerd.core import HostRange, PolicySettings, Rulebook
from routerd.wire import Source, Target
from tests.unit.core.policed import Guest, Policed, group, vhost

DENIED = ("amqp:resource-limit-exceeded", "connection disallowed by local policy")
LOCAL = HostRange(4, 0x7F000001, 0x7F000001)


def test_without_enforcement_nothing_is_refused() -> None:
    workers = Policed(policy={"is_enforced": False})
    client = workers.connect("nowhere", user="ann")
    assert client.is_in
    assert (client.peer.grant, workers.seen) == (None, [])


@pytest.mark.parametrize(
    ("hostname", "found"),
    [("a.com", "a.com"), ("alias.com", "a.com"), ("other.com", "$default"), (None, "$default"), ("", "$default")],
)
def test_a_connection_is_for_the_vhost_that_its_open_names(hostname: str | None, found: str) -> None:
    workers = Policed(vhost("a.com", group("A"), aliases=("alias.com",)), vhost("$default", group("D")))
    assert workers.connect(hostname, user="ann").is_in
    assert workers.seen == [("allowed", "ann", "127.0.0.1", found, "A" if found == "a.com" else "D")]


@pytest.mark.parametrize(
    ("hostname", "found"),
    [("a.b.com", "a.b.com"), ("x.b.com", "*.b.com"), ("x.y.com", "#.com"), ("deep.x.y.com", "#.com"), ("net", None)],
)
def test_names_of_vhosts_can_be_patterns(hostname: str, found: str | None) -> None:
    names = ("*.b.com", "a.b.com", "#.com")
    workers = Policed(*(vhost(name, group()) for name in names), policy={"uses_name_patterns": True})
    client = workers.connect(hostname)
    assert client.is_in is (found is not None)
    assert [event[3] for event in workers.seen if event[0] == "allowed"] == ([found] if found else [])


def test_the_listener_can_say_which_vhost_it_is() -> None:
    workers = Policed(vhost("a.com", group()), vhost("b.com", group()))
    assert workers.connect("b.com", policy_vhost="a.com").is_in
    assert [event[3] for event in workers.seen] == ["a.com"]


@pytest.mark.parametrize("policy", [{"default_vhost": ""}, {"default_vhost": "none.com"}, {}])
def test_a_connection_to_no_vhost_is_refused(policy: dict[str, str]) -> None:
    workers = Policed(vhost("a.com", group()), policy=policy)
    client = workers.connect("b.com", user="ann")
    assert client.opens
    assert client.end == DENIED
    assert workers.seen == [("denied", "ann", "127.0.0.1", "b.com", "No policy defined for vhost")]
    assert workers.left_over() == {}


def test_the_group_of_a_user_is_the_one_that_names_it() -> None:
    named, everybody = group("named", users=("ann", "bob")), group("everybody")
    workers = Policed(vhost("$default", everybody, named))
    for user in ("ann", "bob", "cid", ""):
        workers.connect(user=user)
    assert [(event[1], event[4]) for event in workers.seen] == [
        ("ann", "named"),
        ("bob", "named"),
        ("cid", "everybody"),
        ("anonymous", "everybody"),
    ]


def test_nobody_is_everybody_by_name() -> None:
    workers = Policed(vhost("$default", group("named", users=("ann",))))
    assert workers.connect(user="*").end == DENIED


@pytest.mark.parametrize("is_allowed", [True, False])
def test_a_user_of_no_group_is_in_the_default_one_where_that_is_allowed(is_allowed: bool) -> None:
    default = group("$default", users=())
    workers = Policed(vhost("$default", group("a", users=("ann",)), default, allows_unknown_user=is_allowed))
    client = workers.connect(user="bob")
    reason = "User is not in a user group and unknown users are denied"
    assert client.is_in is is_allowed
    assert workers.seen[:1] == [
        ("allowed", "bob", "127.0.0.1", "$default", "$default")
        if is_allowed
        else ("denied", "bob", "127.0.0.1", "$default", reason)
    ]


def test_the_group_of_connectors_is_for_no_user() -> None:
    workers = Policed(vhost("$default", group("$connector", users=("ann", "*"))))
    assert workers.connect(user="ann").end == DENIED


@pytest.mark.parametrize(
    ("host", "is_in"),
    [
        ("127.0.0.1:1", True),
        ("[::ffff:127.0.0.1]:1", True),
        ("127.0.0.2:1", False),
        ("[::1]:1", False),
        ("10.0.0.5:1", True),
        ("10.0.0.10:1", True),
        ("10.0.0.11:1", False),
        ("[fe80::5]:1", True),
        ("[fe80::6]:1", False),
        ("somewhere", False),
        ("", False),
    ],
)
def test_a_connection_comes_from_where_its_group_says(host: str, is_in: bool) -> None:
    ranges = (LOCAL, HostRange(4, 0x0A000001, 0x0A000007), HostRange(4, 0x0A000006, 0x0A00000A))
    ranges += (HostRange(6, 0xFE80 << 112, (0xFE80 << 112) + 5), HostRange(4, 0x0A000002, 0x0A000003))
    workers = Policed(vhost("$default", group(from_any_host=False, remote_hosts=ranges)))
    client = workers.connect(host=host)
    assert client.is_in is is_in
    assert [event[-1] for event in workers.seen if event[0] == "denied"] == (
        [] if is_in else ["User is not allowed to connect from this network host"]
    )


def test_a_group_without_hosts_is_for_nobody() -> None:
    workers = Policed(vhost("$default", group(from_any_host=False)))
    assert workers.connect().end == DENIED


TOTAL, USER, HOST = (
    f"Connection denied by application {limit} limit" for limit in ("connection", "per user", "per host")
)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("limits", "of_group", "reason"),
    [
        ({"max_connections": 2}, {}, TOTAL),
        ({"max_connections_per_user": 2}, {}, USER),
        ({"max_connections_per_host": 2}, {}, HOST),
        ({}, {"max_connections_per_user": 2}, USER),
        ({}, {"max_connections_per_host": 2}, HOST),
        ({"max_connections_per_user": 1}, {"max_connections_per_user": 2}, USER),
        ({"max_connections_per_host": 9}, {"max_connections_per_host": 2}, HOST),
    ],
)
def test_there_are_as_many_connections_as_may_be(
    workers: int, limits: dict[str, int], of_group: dict[str, int], reason: str
) -> None:
    router = Policed(vhost("$default", group(**of_group), **limits), workers=workers)
    clients = [router.connect(user="ann", worker=at) for at in (0, workers - 1)]
    assert [client.is_in for client in clients] == [True, True]
    refused = router.connect(user="ann", worker=workers - 1)
    assert refused.opens
    assert refused.end == DENIED
    assert router.watchers[workers - 1].seen[-1] == ("denied", "ann", "127.0.0.1", "$default", reason)
    # Another user from another host is in the way of nobody, but where it is the vhost that is full.
    other = router.connect(user="bob", host="10.1.1.1:1")
    assert other.is_in is (reason != TOTAL)
    for client in (clients[0], other):
        if client.is_in:
            client.leave()
    assert router.connect(user="ann").is_in
    assert router.connect(user="ann").end == DENIED


def test_a_limit_of_nothing_lets_nobody_in() -> None:
    workers = Policed(vhost("$default", group(), max_connections=0))
    assert workers.connect().end == DENIED


@pytest.mark.parametrize("role", ["edge", "route-container", "normal"])
def test_connections_of_all_roles_but_that_of_routers_are_held_against_policy(role: str) -> None:
    workers = Policed()
    assert workers.connect(peer={"role": role}).end == DENIED
    assert workers.gate().governs(workers[0].router.connections.new_peer("inter-router")) is False


class TestWhatOurOpenSays:
    def test_it_has_the_limits_of_the_group(self) -> None:
        workers = Policed(vhost("$default", group(max_frame_size=2048, max_sessions=3)))
        [told] = workers.connect().opens
        assert (told.max_frame_size, told.channel_max) == (2048, 2)

    def test_it_is_that_of_the_listener_where_the_group_says_nothing(self) -> None:
        workers = Policed(vhost("$default", group()))
        [told] = workers.connect(ours={"max_frame_size": 4096, "channel_max": 7}).opens
        assert (told.max_frame_size, told.channel_max) == (4096, 7)

    @pytest.mark.parametrize(
        ("of_group", "told"),
        [
            ({"max_frame_size": 1}, (512, 7)),
            ({"max_sessions": 100}, (4096, 7)),
            ({"max_sessions": 1, "max_frame_size": 1 << 40}, (0xFFFFFFFF, 0)),
        ],
    )
    def test_it_stays_within_what_can_be_said(self, of_group: dict[str, int], told: tuple[int, int]) -> None:
        workers = Policed(vhost("$default", group(**of_group)))
        [said] = workers.connect(ours={"max_frame_size": 4096, "channel_max": 7}).opens
        assert (said.max_frame_size, said.channel_max) == told

    def test_a_larger_frame_ends_the_connection(self) -> None:
        workers = Policed(vhost("$default", group(max_frame_size=512)))
        client = workers.connect()
        client.connection.output.put_frame(0, 0, b"\0" * 600)
        client.connection.wake()
        workers.pump()
        assert client.end is not None
        assert client.end[0] == "amqp:connection:framing-error"

    @pytest.mark.parametrize(
        ("window", "frames"), [(0, 77), (10 * 4096, 10), (4096 * 3 + 1, 3), (1, 1), (1 << 60, 0x7FFFFFFF)]
    )
    def test_a_session_has_the_window_of_the_group(self, window: int, frames: int) -> None:
        workers = Policed(vhost("$default", group(max_session_window=window)))
        client = workers.connect(ours={"max_frame_size": 4096, "incoming_window": 77})
        assert [begin.incoming_window for begin in client.begins] == [frames]


class TestSessions:
    def test_there_are_as_many_as_may_be(self) -> None:
        workers = Policed(vhost("$default", group(max_sessions=5)))
        client = workers.connect()
        # A client that heeds the channel-max never asks for more than it was told; this one was told more.
        workers.gate().configure(vhost("$default", group(max_sessions=2)))
        assert client.another_session().is_open
        refused = client.another_session()
        assert client.ends == [("amqp:resource-limit-exceeded", "session disallowed by local policy")]
        assert not refused.is_open
        assert workers.gate().counters.total_denials == 1
        assert workers.gate().vhosts["$default"].sessions_denied == 1
        client.session.end()
        workers.pump()
        assert client.another_session().is_open
        assert workers.seen[1:] == [("session denied", "anonymous")]
        client.leave()
        assert workers.seen == [("summary", "anonymous", 1)]
        assert workers.left_over() == {}

    def test_without_a_limit_there_are_any(self) -> None:
        workers = Policed(vhost("$default", group()))
        client = workers.connect()
        assert all(client.another_session().is_open for _ in range(20))


class TestConnectors:
    def connector(self, workers: Policed, policy_vhost: str | None, role: str = "normal") -> Guest:
        return workers.connect("b.com", peer={"role": role}, policy_vhost=policy_vhost, is_made_by_us=True)

    def test_one_without_a_vhost_is_free(self) -> None:
        workers = Policed()
        client = self.connector(workers, None)
        assert client.is_in
        assert client.peer.grant is None

    def test_one_is_held_against_the_group_for_connectors(self) -> None:
        mine = group("$connector", users=(), from_any_host=False, sources=("a",), max_sessions=1)
        workers = Policed(vhost("a.com", mine, max_connections=0))
        client = self.connector(workers, "a.com")
        assert client.is_in
        assert client.another_session().is_open
        assert client.consumer("a").is_attached
        assert not client.consumer("b").is_attached
        assert workers.gate().vhosts["a.com"].connections_current == 0
        client.leave()
        assert workers.left_over() == {}

    @pytest.mark.parametrize(
        ("policy_vhost", "reason"),
        [("a.com", "No group '$connector' defined for vhost"), ("c.com", "No policy defined for vhost")],
    )
    def test_one_without_such_a_group_is_closed(self, policy_vhost: str, reason: str) -> None:
        workers = Policed(vhost("a.com", group()))
        client = self.connector(workers, policy_vhost)
        assert client.end == DENIED
        assert [event[-1] for event in workers.seen] == [reason]
        assert workers.left_over() == {}

    @pytest.mark.parametrize("role", ["edge", "inter-router"])
    def test_one_between_routers_is_free(self, role: str) -> None:
        workers = Policed()
        peer = workers[0].router.connections.new_peer(role)
        peer.is_initiator = True
        peer.policy_vhost = "a.com"
        assert workers.gate().governs(peer) is False


class TestTenants:
    @pytest.mark.parametrize(
        ("hostname", "tenant"), [("a.com", "a.com"), ("alias.com", "a.com"), ("x.org", "*.org"), ("zzz", "rest")]
    )
    def test_the_tenant_is_the_vhost_as_it_is_configured(self, hostname: str, tenant: str) -> None:
        vhosts = [vhost("a.com", group(), aliases=("alias.com",)), vhost("*.org", group()), vhost("rest", group())]
        workers = Policed(*vhosts, policy={"uses_name_patterns": True, "default_vhost": "rest"})
        client = workers.connect(hostname, peer={"is_multi_tenant": True})
        assert client.peer.tenant == tenant

    def test_without_policy_it_is_what_the_peer_says(self) -> None:
        workers = Policed(policy={"is_enforced": False})
        assert workers.connect("a.com", peer={"is_multi_tenant": True}).peer.tenant == "a.com"
        assert workers.connect(peer={"is_multi_tenant": True}).peer.tenant == ""

    def test_rules_are_about_names_without_the_tenant(self) -> None:
        workers = Policed(vhost("a.com", group(sources=("q",), targets=("q",))))
        client = workers.connect("a.com", peer={"is_multi_tenant": True})
        assert client.producer("q").is_attached
        assert not client.producer("a.com/q").is_attached
        assert list(workers[0].router.addresses) == ["M0a.com/q"]


class TestWhileTheLedgerIsAsked:
    def workers(self) -> Policed:
        return Policed(vhost("$default", group(), max_connections=1), workers=2)

    def waiting(self, workers: Policed) -> Guest:
        """A client that has sent all it has to say, and waits for our open."""
        ledger, workers.ledger = workers.ledger, None
        client = workers.connect(user="ann")
        workers.ledger = ledger
        assert not client.opens
        return client

    def test_what_a_client_sends_meanwhile_is_kept(self) -> None:
        workers = self.workers()
        client = self.waiting(workers)
        link = client.session.receiver("early")
        link.attach(source=Source(address="q"), target=Target())
        workers.pump()
        assert client.is_in
        assert link.is_attached

    def test_one_that_is_refused_can_close(self) -> None:
        workers = self.workers()
        client, other = self.waiting(workers), self.waiting(workers)
        other.session.receiver("early").attach(source=Source(address="q"), target=Target())
        workers.pump()
        assert (client.is_in, other.end) == (True, DENIED)
        client.leave()
        assert workers.left_over() == {}

    def test_one_that_leaves_does_not_count(self) -> None:
        workers = self.workers()
        client = self.waiting(workers)
        client.vanish()
        workers.pump()
        assert workers.left_over() == {}
        assert workers.connect(worker=1).is_in

    def test_no_limit_that_can_be_reached_needs_no_question(self) -> None:
        workers = Policed(vhost("$default", group()), workers=2, policy={"max_connections": 100})
        ledger, workers.ledger = workers.ledger, None
        client = workers.connect()
        assert client.is_in
        workers.ledger = ledger
        workers.pump()
        assert ledger is not None
        assert ledger.count("$default") == 1
        client.leave()
        assert ledger.count("$default") == 0


def test_what_was_let_in_and_refused_is_counted_by_user_and_host() -> None:
    workers = Policed(vhost("$default", group("g", users=("ann",), max_connections_per_user=2)))
    clients = [workers.connect(user="ann", host=f"10.0.0.{n}:{n}") for n in (1, 2)]
    workers.connect(user="ann")
    workers.connect(user="bob")
    clients[0].leave()
    found = workers.gate().vhosts["$default"]
    assert (found.connections_approved, found.connections_denied, found.connections_current) == (2, 2, 1)
    assert found.by_user == {"ann": ["10.0.0.2:2"]}
    assert found.by_host == {"10.0.0.1": [], "10.0.0.2": ["10.0.0.2:2"]}
    assert workers.gate().counters.total_denials == 0


def test_statistics_stay_when_a_vhost_goes_and_comes_back() -> None:
    workers = Policed(vhost("$default", group()), vhost("a.com", group()))
    workers.connect("a.com")
    gate = workers.gate()
    gate.forget("a.com")
    gate.forget("a.com")
    assert gate.vhosts["a.com"].connections_approved == 1
    gate.configure(vhost("a.com", group()))
    workers.connect("a.com")
    assert gate.vhosts["a.com"].connections_approved == 2


def test_a_change_of_a_vhost_holds_for_new_connections() -> None:
    workers = Policed(
        vhost("a.*", group(), aliases=("b.*",)), vhost("c", group()), policy={"uses_name_patterns": True}
    )
    first = workers.connect("a.x")
    workers.gate().configure(vhost("a.*", group("g", users=("ann",)), aliases=("d.*",)))
    assert first.is_in
    assert workers.connect("a.x").end == DENIED
    assert workers.connect("b.x", user="ann").end == DENIED
    assert workers.connect("d.x", user="ann").is_in
    workers.gate().forget("a.*")
    assert workers.connect("d.x", user="ann").end == DENIED
    assert workers.connect("c").is_in


def test_sockets_are_counted_and_refused_beyond_the_limit_of_all() -> None:
    workers = Policed(policy={"max_connections": 2, "is_enforced": False})
    gate = workers.gate()
    heard: list[bool] = []
    assert [gate.accept(heard.append) for _ in range(3)] == [True, True, False]
    gate.socket_closed()
    assert gate.accept(heard.append) is True
    counters = gate.counters
    assert (counters.connections_processed, counters.connections_denied, counters.total_denials) == (4, 1, 1)
    assert (gate.account.sockets, heard) == (2, [])


def test_sockets_that_wait_for_the_ledger_are_counted_when_it_has_spoken() -> None:
    workers = Policed(policy={"max_connections": 1}, workers=2)
    heard: list[bool] = []
    assert [workers.gate().accept(heard.append) for _ in range(2)] == [None, None]
    workers.pump()
    assert heard == [True, False]
    assert workers.gate().counters.connections_denied == 1


def test_a_connection_without_a_shell_can_be_refused() -> None:
    workers = Policed()
    client = workers.client()
    assert ("closed", DENIED[0]) in client.events


def test_of_two_vhosts_with_one_pattern_the_first_has_it() -> None:
    book = Rulebook(PolicySettings(uses_name_patterns=True), [vhost("a.b"), vhost("a/b", aliases=("x.*",)), vhost(".")])
    assert [book.vhost_for(name).settings.hostname for name in ("a.b", "x.y")] == ["a.b", "a/b"]  # type: ignore[union-attr]
    book.forget(".")
    assert book.names == ("a.b", "a/b")
    book.forget("a/b")
    assert book.vhost_for("x.y") is None


@pytest.mark.parametrize("uses_patterns", [False, True])
def test_connections_that_name_no_host_have_a_vhost_of_their_own(uses_patterns: bool) -> None:
    settings = PolicySettings(uses_name_patterns=uses_patterns, default_vhost="rest")
    book = Rulebook(settings, [vhost("rest"), vhost("")])
    assert [book.vhost_for(one).settings.hostname for one in ("", "a")] == ["", "rest"]
    book.forget("")
    assert book.vhost_for("").settings.hostname == "rest"
