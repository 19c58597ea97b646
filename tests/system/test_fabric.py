"""The fabric between hosts: messages over it, and what a stranger meets at its port."""

import socket
import ssl
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from actors.fabric_authority import keys_for
from routerd.io.settings.fabric_keys import FabricKeys, FabricTls
from routerd.io.tls.session import TlsFailed, TlsSession
from routerd.wire import Connection, ConnectionConfig, ConnectionState, Handler, Int, Symbol
from routerd.wire.sasl import AnonymousClient, SaslClient
from tests.conformance.raw_peer import AMQP_HEADER
from tests.interop.certificates import absence
from tests.system.fabric_workers import AWAY_ADDRESS, TwoWorkers
from tests.waiting import WITHIN_S, eventually

TLS_HEADER = b"AMQP\x02\x01\x00\x00"
LARGE = 3 << 20
BOTH_WAYS = pytest.mark.parametrize(("sender", "receiver"), [(0, 1), (1, 0)], ids=["away", "home"])


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoWorkers]:
    """Two workers that are joined by TLS."""
    if (reason := absence()) is not None:
        pytest.skip(reason)
    found = TwoWorkers(tmp_path_factory.mktemp("f"))
    try:
        eventually(lambda: found.connected() == (1, 1), "they are joined")
        yield found
    finally:
        found.close()


# --- between siblings


def test_the_worker_at_home_connects_and_the_one_away_listens_at_its_address(pair: TwoWorkers) -> None:
    assert pair.away.host == AWAY_ADDRESS
    assert pair.workers[0].sibling().endpoint.endswith(', "", 0]')
    assert pair.connections() == [("fabric", True)]


@BOTH_WAYS
def test_outcomes_come_back(pair: TwoWorkers, sender: int, receiver: int, address: str) -> None:
    with pair.connect(receiver) as to, pair.connect(sender) as of:
        consumer = to.consumer(address, outcome=None)
        producer = of.producer(address)
        sent = [producer.send(f"message {number}") for number in range(20)]
        received = [consumer.take() for _ in sent]
        assert [one.body for one in received] == [f"message {number}" for number in range(20)]
        for number, one in enumerate(received):
            one.decide("rejected" if number == 7 else "accepted")
        assert [one.outcome() for one in sent] == ["rejected" if number == 7 else "accepted" for number in range(20)]


@BOTH_WAYS
def test_large_messages_cross(pair: TwoWorkers, sender: int, receiver: int, address: str) -> None:
    with pair.connect(receiver) as to, pair.connect(sender) as of:
        consumer = to.consumer(address)
        assert of.producer(address).send("x" * LARGE).outcome() == "accepted"
        assert len(consumer.take().body) == LARGE


# --- strangers


class Stranger:
    """Somebody with a socket to the port of the worker away."""

    def __init__(self, pair: TwoWorkers) -> None:
        self.socket = socket.create_connection((pair.away.host, pair.away.port), timeout=WITHIN_S)

    def __enter__(self) -> "Stranger":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def rest(self) -> bytes:
        """Return what comes until the worker closes."""
        found = b""
        try:
            while octets := self.socket.recv(1 << 16):
                found += octets
        except ConnectionResetError:
            return found
        return found

    def shake_hands(self, session: TlsSession) -> None:
        """Go through a handshake of TLS; raises TlsFailed."""
        session.shake_hands()
        self.socket.sendall(session.output())
        while not session.is_established:
            octets = self.socket.recv(1 << 16)
            assert octets, "the worker has closed"
            session.shake_hands(octets)
            self.socket.sendall(session.output())

    def say(self, session: TlsSession, connection: Connection) -> None:
        """Have an engine talk to the worker until one of them has had enough."""
        into = bytearray(1 << 18)
        connection.start(0.0)
        while True:
            session.send(connection.data_to_send(0.0), self.socket.sendall)
            octets = self.socket.recv(1 << 16)
            if not octets:
                return
            take = partial(connection.receive_data, into, 0.0, 0)
            session.receive(memoryview(octets), memoryview(into), take)
            self.socket.sendall(session.output())
            if connection.is_finished or session.is_ended:
                return


def check_nobody_has_got_in(pair: TwoWorkers) -> None:
    """Expect that there is the connection of the sibling, and no other."""
    eventually(lambda: pair.connections() == [("fabric", True)], "the stranger is gone")
    assert pair.connected() == (1, 1)


def test_without_tls_nothing_is_said_but_that_it_is_wanted(pair: TwoWorkers) -> None:
    with Stranger(pair) as stranger:
        stranger.socket.sendall(AMQP_HEADER)
        assert stranger.rest() == TLS_HEADER
    check_nobody_has_got_in(pair)


def refusal(stranger: Stranger, context: ssl.SSLContext) -> str:
    """Return why a client with some context gets nothing."""
    with pytest.raises(ssl.SSLError) as refused, context.wrap_socket(stranger.socket) as tls:
        tls.recv(1)
    return str(refused.value.reason)


def context_of(keys: FabricKeys | None = None) -> ssl.SSLContext:
    """Return what a client trusts everybody with, and shows its own certificate, if any."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if keys is None else FabricTls(keys).client_context
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def test_without_a_certificate_there_is_no_tls(pair: TwoWorkers) -> None:
    with Stranger(pair) as stranger:
        assert refusal(stranger, context_of()) == "TLSV13_ALERT_CERTIFICATE_REQUIRED"
    check_nobody_has_got_in(pair)


def test_a_certificate_of_another_router_is_not_trusted(pair: TwoWorkers) -> None:
    other = keys_for([0])[0]
    with Stranger(pair) as stranger:
        assert refusal(stranger, context_of(other)) == "TLSV1_ALERT_UNKNOWN_CA"
    check_nobody_has_got_in(pair)


def test_tls_before_1_3_is_refused(pair: TwoWorkers) -> None:
    context = context_of(pair.keys[0])
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
    with Stranger(pair) as stranger:
        assert refusal(stranger, context) == "TLSV1_ALERT_PROTOCOL_VERSION"
    check_nobody_has_got_in(pair)


def test_who_connects_talks_to_the_worker_that_is_meant_and_to_no_other(pair: TwoWorkers) -> None:
    with Stranger(pair) as stranger, pytest.raises(TlsFailed, match="Hostname mismatch"):
        stranger.shake_hands(FabricTls(pair.keys[0]).connect(0)[1])
    check_nobody_has_got_in(pair)


def as_sibling(sasl: SaslClient | None) -> Connection:
    """Return an engine that says to be the worker at home."""
    properties = {Symbol("worker"): Int(0), Symbol("incarnation"): 100}
    config = ConnectionConfig(container_id="A#0", properties=properties)
    connection = Connection(config, Handler(), is_client=True, sasl=sasl)
    connection.open()
    return connection


@pytest.mark.parametrize("sasl", ["none", "anonymous", "another token"])
def test_without_the_token_tls_is_of_no_use(pair: TwoWorkers, sasl: str) -> None:
    offers = {
        "none": None,
        "anonymous": SaslClient([AnonymousClient()]),
        "another token": pair.other_keys(token="guessed").client(),
    }
    connection = as_sibling(offers[sasl])
    with Stranger(pair) as stranger:
        session = FabricTls(pair.keys[0]).connect(1)[1]
        stranger.shake_hands(session)
        stranger.say(session, connection)
    assert connection.remote_open is None
    assert connection.state is not ConnectionState.OPENED
    check_nobody_has_got_in(pair)


def test_who_says_nothing_is_sent_away(pair: TwoWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("routerd.io.connections.fabric.ANSWER_S", 0.2)
    with Stranger(pair) as stranger:
        stranger.shake_hands(FabricTls(pair.keys[0]).connect(1)[1])
        stranger.rest()
    check_nobody_has_got_in(pair)


def test_keys_are_shown_nowhere(pair: TwoWorkers, tmp_path: Path) -> None:
    keys = pair.keys[1]
    shown = repr(pair.workers[1].config) + repr(keys)
    assert keys.token not in shown
    assert "PRIVATE KEY" not in shown
    rows = pair.workers[1].reports.connections().result(WITHIN_S)
    assert keys.token not in repr(rows)
    assert [row.properties for row in rows] == [{"worker": 0, "incarnation": 100}]
