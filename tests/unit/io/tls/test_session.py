"""TLS in memory: what goes in at one end comes out at the other, however it is cut, and both say when they end."""

import contextlib
import ssl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.io.tls.session import PIECE, RECORD_MAX, TlsFailed, TlsSession
from tests.interop.certificates import Authority, absence

pytestmark = pytest.mark.skipif(absence() is not None, reason=str(absence()))

READ_SIZE = 1 << 18


class Contexts:
    """What both ends are made with."""

    def __init__(self, ca: Authority) -> None:
        own = ca.issue()
        self.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.server.load_cert_chain(own.certificate, own.key)
        self.server.num_tickets = 0
        self.client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.client.load_verify_locations(ca.certificate)

    def pair(self, name: str = "localhost") -> tuple[TlsSession, TlsSession]:
        """Client and server before the handshake."""
        client = TlsSession(self.client, is_server=False, server_name=name)
        return client, TlsSession(self.server, is_server=True)

    def joined(self) -> tuple[TlsSession, TlsSession]:
        """Client and server after the handshake."""
        client, server = self.pair()
        client.shake_hands()
        while not (client.is_established and server.is_established):
            server.shake_hands(client.output())
            client.shake_hands(server.output())
        return client, server


@pytest.fixture(scope="module")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> Contexts:
    return Contexts(Authority(tmp_path_factory.mktemp("authority")))


def sent(session: TlsSession, octets: bytes) -> bytes:
    pieces: list[bytes] = []
    session.send(octets, pieces.append)
    return b"".join(pieces)


class Reader:
    """Takes what a session delivers from the buffer that it decrypts into."""

    def __init__(self, session: TlsSession, room: int = READ_SIZE) -> None:
        self._session = session
        self._into = memoryview(bytearray(room))
        self.chunks: list[bytes] = []

    def take(self, octets: bytes) -> None:
        self._session.receive(memoryview(octets), self._into, self._deliver)

    def _deliver(self, size: int) -> None:
        self.chunks.append(bytes(self._into[:size]))

    @property
    def octets(self) -> bytes:
        return b"".join(self.chunks)


def test_both_ends_know_what_they_have_agreed_on(contexts: Contexts) -> None:
    client, server = contexts.joined()
    for end in (client, server):
        assert (end.protocol, end.cipher) == ("TLSv1.3", ("TLS_AES_256_GCM_SHA384", 256))
    assert server.peer_certificate is None
    assert client.peer_certificate is not None


@pytest.mark.parametrize("size", [0, 1, RECORD_MAX, PIECE, PIECE + 1, 1_000_000])
def test_what_is_sent_is_received(contexts: Contexts, size: int) -> None:
    client, server = contexts.joined()
    octets = bytes(range(256)) * (size // 256) + bytes(size % 256)
    reader = Reader(server)
    reader.take(sent(client, octets))
    assert reader.octets == octets


def test_what_does_not_fit_the_buffer_is_delivered_in_parts(contexts: Contexts) -> None:
    client, server = contexts.joined()
    octets = bytes(range(251)) * 1000
    reader = Reader(server, room=3 * RECORD_MAX)
    reader.take(sent(client, octets))
    assert reader.octets == octets
    assert {len(chunk) > 2 * RECORD_MAX for chunk in reader.chunks[:-1]} == {True}


def test_how_the_octets_are_cut_changes_nothing(contexts: Contexts) -> None:
    @given(st.lists(st.binary(max_size=40_000), max_size=6), st.lists(st.integers(1, 50_000), min_size=1, max_size=20))
    def cut(messages: list[bytes], sizes: list[int]) -> None:
        client, server = contexts.joined()
        stream = b"".join(sent(client, message) for message in messages)
        reader = Reader(server)
        number = 0
        while stream:
            size = sizes[number % len(sizes)]
            reader.take(stream[:size])
            stream, number = stream[size:], number + 1
        assert reader.octets == b"".join(messages)

    cut()


def test_the_end_is_told_behind_what_was_sent_before_it(contexts: Contexts) -> None:
    client, server = contexts.joined()
    stream = sent(client, b"last words")
    client.close()
    reader = Reader(server)
    reader.take(stream + client.output())
    assert (reader.octets, server.is_ended) == (b"last words", True)
    server.close()
    assert server.output() != b""
    # Once more does no harm.
    server.close()


def test_octets_that_are_no_tls_are_told_of(contexts: Contexts) -> None:
    client, server = contexts.joined()
    reader = Reader(server)
    with pytest.raises(TlsFailed, match=r"wrong version number|record layer failure"):
        reader.take(sent(client, b"good") + b"AMQP\0\1\0\0 and more of that")
    assert reader.octets == b"good"
    with pytest.raises(TlsFailed):
        server.send(b"more", lambda octets: None)


def test_a_name_that_the_certificate_has_not_is_told_of(contexts: Contexts) -> None:
    client, server = contexts.pair("elsewhere.example")
    client.shake_hands()
    server.shake_hands(client.output())
    with pytest.raises(TlsFailed, match=r"^the peer's certificate is not trusted: Hostname mismatch"):
        client.shake_hands(server.output())
    with pytest.raises(TlsFailed, match=r"unknown ca|bad certificate|certificate unknown"):
        server.shake_hands(client.output())


@pytest.mark.parametrize("name", ["", "a" * 300, "..", "\0"])
def test_what_is_no_name_is_told_of(contexts: Contexts, name: str) -> None:
    with pytest.raises(TlsFailed, match="is not a name that a certificate can have"):
        contexts.pair(name)


@given(octets=st.binary(max_size=2000))
def test_any_octets_end_a_handshake_or_are_waited_behind(octets: bytes) -> None:
    server = TlsSession(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), is_server=True)
    with contextlib.suppress(TlsFailed):
        server.shake_hands(octets)
    assert not server.is_established
