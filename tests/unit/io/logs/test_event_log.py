"""What the log says of connections: which one, between which ends, and why it is over."""

from types import SimpleNamespace
from typing import Any

import pytest

from routerd.config import ConnectorConfig, ListenerConfig
from routerd.core import LinkDirection, LinkRouteSettings, Peer, VhostCounters
from routerd.io.logs import event_log
from routerd.io.logs.connection_ends import ends_of
from routerd.io.logs.event_log import EventLog
from routerd.wire import (
    Connection,
    ConnectionConfig,
    Error,
    FramingError,
    Handler,
    HttpReceived,
    Open,
    SessionError,
    Source,
    Target,
)
from routerd.wire.sasl import SaslFailed
from tests.routers import Workers
from tests.unit.core.containers import NOT_FOUND, add, auto_link, container, remove
from tests.unit.core.routed import Routed

LISTENER = ListenerConfig(host="127.0.0.1", port=5672, name="main")
CONNECTOR = ConnectorConfig(host="b", port=5673, name="to-b")
HOST = "127.0.0.1:40188"
DENIALS = {"sessions_denied": 0, "senders_denied": 3, "receivers_denied": 0, "message_size_denied": 0}


class Shell:
    """What the log asks a transport."""

    def __init__(self) -> None:
        self.host = HOST
        self.failure = self.loss = ""


class LogOfLinks(EventLog):
    """Says nothing of connections, which have no sockets here."""

    def connection_opened(self, peer: Peer, performative: Open) -> None:
        pass

    def connection_closed(self, peer: Peer, error: Error | None) -> None:
        pass


def peer_at(details: object, *, is_opened: bool = False) -> Peer:
    peer = Peer(3)
    peer.shell = Shell()
    peer.details = details
    peer.is_initiator = isinstance(details, ConnectorConfig)
    peer.connection = Connection(ConnectionConfig(container_id="R"), Handler(), is_client=peer.is_initiator)
    if is_opened:
        far = Connection(ConnectionConfig(container_id="B"), Handler(), is_client=not peer.is_initiator)
        for one in (far, peer.connection):
            one.start(0.0)
            one.open()
        peer.connection.receive_data(bytes(far.data_to_send(0.0)), 0.0)
    return peer


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    written: list[str] = []

    def write(text: str, *values: Any) -> None:
        written.append(text % values)

    for log in (event_log._server, event_log._core, event_log._policy):
        monkeypatch.setattr(log, "is_info", True)
        for level in ("info", "warning", "trace"):
            monkeypatch.setattr(log, level, write)
    return written


def test_the_ends_of_a_connection_are_its_peer_and_what_is_configured() -> None:
    assert ends_of(peer_at(LISTENER)) == "from 127.0.0.1:40188 (to 127.0.0.1:5672)"
    assert ends_of(peer_at(CONNECTOR)) == "to 127.0.0.1:40188 (connector/b:5673:to-b)"
    assert ends_of(peer_at(None)) == "from 127.0.0.1:40188"
    assert ends_of(Peer(1)) == "from unknown"


@pytest.mark.parametrize(
    ("error", "failure", "loss", "why"),
    [
        (None, "", "", ""),
        (Error(condition="amqp:connection:forced", description="bye"), "", "", ": amqp:connection:forced: bye"),
        (None, "", "Connection reset by peer", ": Connection reset by peer"),
        (None, "the certificate has expired", "a loss", ": the certificate has expired"),
    ],
)
def test_a_connection_that_is_over_is_named_with_its_ends_and_the_reason(
    lines: list[str], error: Error | None, failure: str, loss: str, why: str
) -> None:
    peer = peer_at(LISTENER, is_opened=True)
    peer.shell.failure, peer.shell.loss = failure, loss
    EventLog().connection_closed(peer, error)
    assert lines == [f"[C3] Connection Closed: from 127.0.0.1:40188 (to 127.0.0.1:5672){why}"]


def test_one_that_was_never_opened_has_failed(lines: list[str]) -> None:
    peer = peer_at(LISTENER)
    peer.shell.loss = "its socket was closed before it was opened"
    EventLog().connection_closed(peer, None)
    assert lines == [
        "[C3] Connection from 127.0.0.1:40188 (to 127.0.0.1:5672) failed: its socket was closed before it was opened"
    ]


def test_why_a_connection_failed_is_said_once(lines: list[str]) -> None:
    log = EventLog()
    violating, given_up, outgoing = peer_at(LISTENER), peer_at(LISTENER), peer_at(CONNECTOR)
    log.violation(violating, FramingError("a frame of 9 octets"))
    given_up.shell.failure = "no open was received in time"
    for peer in (violating, given_up, outgoing):
        log.connection_closed(peer, None)
    assert lines == [
        f"[C3] Connection from 127.0.0.1:40188 (to 127.0.0.1:5672) failed: {FramingError.condition}:"
        " a frame of 9 octets"
    ]


def test_http_is_no_connection_that_failed(lines: list[str]) -> None:
    peer = peer_at(LISTENER)
    peer.shell.carries_amqp = False
    EventLog().connection_closed(peer, None)
    assert lines == []


def test_a_peer_that_speaks_http_is_named_once_a_second(lines: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [7.0]
    log = EventLog()
    monkeypatch.setattr(log._probes, "_now", lambda: now[0])
    monkeypatch.setattr(event_log._server, "log", lambda level, form, *texts: lines.append(form % texts))
    for step_s in (0.0, 0.5, 0.5):
        now[0] += step_s
        log.violation(peer_at(LISTENER), HttpReceived())
    line = (
        "[C3] Connection from 127.0.0.1:40188 (to 127.0.0.1:5672) failed: amqp:connection:framing-error:"
        " HTTP came, and this port takes AMQP"
    )
    assert lines == [line, f"{line} (and 1 times more since this was last said)"]


def test_what_a_peer_does_wrong_that_the_router_connected_to_is_for_the_connector_to_say(lines: list[str]) -> None:
    peer = peer_at(CONNECTOR)
    EventLog().violation(peer, FramingError("a frame of 9 octets"))
    assert lines == []
    assert peer.shell.failure == f"{FramingError.condition}: a frame of 9 octets"


def test_a_violation_of_a_session_names_the_ends_of_its_connection(lines: list[str]) -> None:
    error = SessionError("a window of 0")
    EventLog().violation(peer_at(CONNECTOR, is_opened=True), error)
    assert lines == [
        f"[C3] Connection to 127.0.0.1:40188 (connector/b:5673:to-b): {SessionError.condition}: a window of 0"
    ]


def test_a_login_that_fails_names_the_ends(lines: list[str]) -> None:
    EventLog().authentication_failed(peer_at(LISTENER))
    assert lines == [
        "[C3] Authentication failed [mech=none] from 127.0.0.1:40188 (to 127.0.0.1:5672):"
        " the exchange was broken off"
    ]


def test_a_login_of_a_connector_that_fails_is_one_line_as_in_qdrouterd(lines: list[str]) -> None:
    start = "[C3] Connection to 127.0.0.1:40188 (connector/b:5673:to-b) failed: amqp:unauthorized-access "
    log, peer = EventLog(), peer_at(CONNECTOR)
    log.authentication_failed(peer)
    log.violation(peer, SaslFailed("no password"))
    log.authentication_failed(peer)
    assert lines == [
        f"{start}Authentication failed [mech=none]: the exchange was broken off",
        f"{start}Authentication failed [mech=none]: no password",
    ]
    assert peer.shell.failure == "amqp:unauthorized-access Authentication failed [mech=none]: no password"


@pytest.mark.parametrize(
    ("counters", "told"),
    [
        (VhostCounters(sessions_denied=1, senders_denied=5), "1, senders_denied=5, receivers_denied=0"),
        (None, "0, senders_denied=3, receivers_denied=0"),
    ],
)
def test_a_connection_that_something_was_denied_to_ends_with_a_line_about_it_and_its_vhost(
    lines: list[str], counters: VhostCounters | None, told: str
) -> None:
    grant: Any = SimpleNamespace(vhost="blue", denials=3, **DENIALS)
    EventLog().policy_summary(peer_at(LISTENER), grant, counters)
    assert lines == [
        f"[C3] Connection closed with sessions_denied={told}, max_message_size_denied=0 in vhost 'blue',"
        " of these 0, 3, 0, 0 by this connection"
    ]
    grant.denials = 0
    EventLog().policy_summary(peer_at(LISTENER), grant, counters)
    assert len(lines) == 1


class LinkLog(EventLog):
    """The lines of links, in tests without transports."""

    def connection_opened(self, peer: Peer, performative: Open) -> None:
        """Write nothing."""

    def connection_closed(self, peer: Peer, error: Error | None) -> None:
        """Write nothing."""


@pytest.mark.parametrize("sessions", [1, 3])
def test_not_every_link_that_ends_with_its_session_has_a_line(
    lines: list[str], monkeypatch: pytest.MonkeyPatch, sessions: int
) -> None:
    monkeypatch.setattr(event_log, "LOST_MAX", 2)
    workers = Workers(observer=LinkLog)
    client = workers.client()
    for number in range(sessions):
        session = client.connection.session()
        session.begin()
        for name in ("a", "b", "c", "d"):
            session.receiver(f"{name}{number}").attach(source=Source(address="q"), target=Target())
    workers.pump()
    [peer] = workers[0].router.peers.values()
    lines.clear()
    peer.connection.transport_closed()
    assert sum(" detached: " in line or " lost: " in line for line in lines) == 2 * sessions
    told = "[C1] More than 2 links end with their session: there is no line for each of the others"
    assert lines.count(told) == sessions


def test_each_link_that_is_detached_has_a_line(lines: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_log, "LOST_MAX", 2)
    workers = Workers(observer=LinkLog)
    client = workers.client()
    links = [client.consumer("q", str(number)) for number in range(4)]
    lines.clear()
    for link in links:
        client.detach(link)
    assert sum(" detached: " in line for line in lines) == 4


def test_link_routes_and_auto_links_are_in_the_log_as_long_as_they_are_used(lines: list[str]) -> None:
    workers = Workers(observer=LogOfLinks)
    router = workers[0].router
    router.link_route_uses.add(
        LinkRouteSettings(name="route", direction=LinkDirection.IN, pattern="lr/#", connection="broker-1")
    )
    router.link_route_uses.add(
        LinkRouteSettings(name="other", direction=LinkDirection.OUT, pattern="a/*/b", container_id="elsewhere")
    )
    add(workers, auto_link("q", "in", name="link"), auto_link("bad", "out", name="worse"))
    broker = container(workers, place="broker-1", refused={"bad": NOT_FOUND})
    broker.leave()
    remove(workers, "link")
    router.link_route_uses.remove("route")
    assert [line for line in lines if "Link Route" in line or "Link route" in line or "Auto Link" in line] == [
        "Link route prefix pattern added: pattern=lr/# name=route",
        "Link route pattern added: pattern=a/*/b name=other",
        "Link Route Activated 'route' on connection broker-1",
        "Auto Link Activated 'link' on container broker",
        "Auto Link Activated 'worse' on container broker",
        "Auto Link Activation Failed. no such queue 'worse' on container broker",
        "Link Route Deactivated 'route' on connection broker-1",
        "Auto Link Deactivated 'link' on container broker",
        "Auto Link Deactivated 'worse' on container broker",
        "Link route prefix pattern removed: pattern=lr/# name=route",
    ]


def test_auto_links_are_attached_and_lost_as_links_of_clients_are(lines: list[str]) -> None:
    workers = Workers(observer=LogOfLinks)
    add(workers, auto_link("q", "in"))
    container(workers).leave()
    attached, lost = [line for line in lines if "[L" in line]
    assert attached.startswith("[C1][L1] Link attached: dir=in source={q ")
    assert lost.startswith("[C1][L1] Link detached: del=0 ")


def test_of_a_routed_link_the_log_has_the_attach_of_the_client_and_the_end_of_both(lines: list[str]) -> None:
    routed = Routed(observer=LogOfLinks)
    link, _ = routed.consumer()
    routed.client.detach(link)
    assert [line.split(":")[0] for line in lines if "[L" in line] == [
        "[C1][L1] Link attached",
        "[C1][L1] Link detached",
        "[C2][L2] Link detached",
    ]


def test_the_annotations_of_a_router_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[str] = []
    monkeypatch.setattr(event_log._router, "debug", lambda text, *values: written.append(text % values))
    EventLog().connection_opened(Peer(3), Open(container_id="B", properties={"qd.annotations-version": 1}))
    assert written == ["Remote router annotations version: 1"]
