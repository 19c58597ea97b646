"""Filters lie on a connection in any number and order: octets come through as they were, and each tells of the end."""

import asyncio
import socket
import struct
from collections.abc import Awaitable, Callable, Iterator
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
import uvloop

from routerd.core import Router, RouterSettings
from routerd.io.scheduling.busy_poll import BusyPoll
from routerd.io.sockets.filtered_transport import FilteredTransport
from routerd.io.sockets.filters import Filter, FilterBuffers
from routerd.io.sockets.worker_turn import READ_SIZE, SHARE_S, Turn
from routerd.io.tls.filter import TlsFilter
from routerd.io.tls.handshakes import Handshakes
from routerd.io.tls.session import TlsSession
from routerd.wire import Connection, ConnectionConfig
from tests.fuzz.targets.tls import contexts
from tests.interop.certificates import absence
from tests.waiting import eventually_beside

pytestmark = pytest.mark.skipif(absence() is not None, reason=str(absence()))
WITHIN_S = 20.0
MASK = 0x5A
HELLO = b"hello"
FRAME_MAX = 1 << 24
_TABLE = bytes(octet ^ MASK for octet in range(256))


def masked(octets: Any) -> bytes:
    return bytes(octets).translate(_TABLE)


def framed(octets: Any) -> bytes:
    return struct.pack(">I", len(octets)) + bytes(octets)


class Masked(Filter):
    """Turns bits, both ways."""

    def receive(self, octets: memoryview) -> None:
        self.hand_on(masked(octets))

    def send(self, octets: Any) -> None:
        self.below(masked(octets))


class Framed(Filter):
    """Frames what is sent at a time. It is ready when the peer has greeted it; an empty frame is the end."""

    def __init__(self) -> None:
        super().__init__()
        self._partial = bytearray()

    def begin(self) -> None:
        self.answer(framed(HELLO))

    def receive(self, octets: memoryview) -> None:
        self._partial += octets
        while len(self._partial) >= 4:
            (size,) = struct.unpack_from(">I", self._partial)
            if size > FRAME_MAX:
                self.stack.fail(f"a frame of {size} octets is above {FRAME_MAX}")
                return
            if len(self._partial) < 4 + size:
                return
            frame = bytes(self._partial[4 : 4 + size])
            del self._partial[: 4 + size]
            if self.is_ready:
                self.hand_on(frame)
            else:
                assert frame == HELLO
                self.ready()

    def send(self, octets: Any) -> None:
        self.below(framed(octets))

    def close(self) -> None:
        self.answer(framed(b""))


class Held(Filter):
    """Keeps what is to be sent until it is told to go on."""

    def __init__(self) -> None:
        super().__init__()
        self._kept = b""

    def send(self, octets: Any) -> None:
        self._kept += bytes(octets)

    def go_on(self) -> None:
        self.below(self._kept)
        self._kept = b""

    @property
    def waiting_octets(self) -> int:
        return len(self._kept)


class Busy(Filter):
    """Takes long for what comes, and is never ready."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = b""

    def begin(self) -> None:
        """Wait."""

    def receive(self, octets: memoryview) -> None:
        done_at = monotonic() + SHARE_S
        while monotonic() <= done_at:
            pass
        self.taken += octets


class Keeping(Connection):
    """An engine that keeps what it is given."""

    def __init__(self, router: Router) -> None:
        super().__init__(ConnectionConfig(container_id="R"), router, is_client=False)
        self.taken = bytearray()

    def receive_some(self, data: bytes | bytearray, now: float, start: int, end: int, enough: int) -> int:
        self.taken += data[start:end]
        return end


class Line:
    """A transport with filters, and the other end of its socket."""

    def __init__(self, loop: asyncio.AbstractEventLoop, make: Callable[[Handshakes], list[Filter]]) -> None:
        self.loop = loop
        near, self.far = socket.socketpair()
        self.far.setblocking(False)
        router = Router(RouterSettings(id="R"), lambda: "token")
        self.engine = Keeping(router)
        self.told: list[str] = []
        worker: Any = SimpleNamespace(
            connected=lambda transport: self.told.append("connected"),
            disconnected=lambda transport: self.told.append("disconnected"),
            set_blocked=lambda *arguments: None,
            filter_buffers=FilterBuffers(READ_SIZE),
            look_at=lambda *arguments: None,
            conclude=lambda now: None,
        )
        worker.turn = Turn(worker, router, loop.call_soon, BusyPoll(loop.call_soon, 0.0))
        self.filters = make(Handshakes(lambda step: loop.call_soon(step)))
        self.transport = FilteredTransport(worker, router.connections.new_peer(), self.engine, self.filters)
        near.setblocking(False)
        self.run(loop.create_connection(lambda: self.transport, sock=near))

    def run(self, awaitable: Awaitable[Any]) -> Any:
        return self.loop.run_until_complete(asyncio.wait_for(awaitable, WITHIN_S))

    def do(self, call: Callable[[], None]) -> None:
        """Have the loop do something."""

        async def in_loop() -> None:
            call()

        self.run(in_loop())

    def until(self, claim: Callable[[], bool]) -> None:
        self.run(eventually_beside(claim, "it comes to hold", WITHIN_S))

    def write(self, octets: bytes) -> None:
        """Have the engine send octets."""
        self.engine.output.put_raw(octets)
        self.transport.flush(0.0)

    def send(self, octets: bytes) -> None:
        """Send octets from the other end."""
        self.run(self.loop.sock_sendall(self.far, octets))

    def read(self) -> bytes:
        """Read at the other end what comes next; nothing at the end."""
        return self.run(self.loop.sock_recv(self.far, 1 << 16))


class Peer:
    """The other side of bits that are turned below TLS, and of frames above it."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.session = TlsSession(contexts()[1], is_server=False, server_name="localhost")
        self.taken = bytearray()
        self._room = bytearray(READ_SIZE)

    def shake_hands(self) -> None:
        self.session.shake_hands()
        while not self.session.is_established:
            self.line.send(masked(self.session.output()))
            self.session.shake_hands(masked(self.line.read()))
        self.line.send(masked(self.session.output()))

    def send(self, octets: bytes) -> None:
        records: list[bytes] = []
        self.session.send(framed(octets), records.append)
        self.line.send(masked(b"".join(records)))

    def read(self, size: int) -> bytes:
        """Read until as many octets have come as these frames have."""
        while len(self.taken) < size:
            assert self.take_some(), "the connection was closed"
        taken, self.taken = bytes(self.taken), bytearray()
        return taken

    def take_some(self) -> bool:
        octets = self.line.read()
        if octets:
            self.session.receive(memoryview(masked(octets)), memoryview(self._room), self._keep)
        return bool(octets)

    def _keep(self, size: int) -> None:
        self.taken += self._room[:size]


def tls(handshakes: Handshakes, *, requires_tls: bool = True) -> TlsFilter:
    session = TlsSession(contexts()[0], is_server=True)
    return TlsFilter(handshakes, lambda: (None, session), is_client=False, requires_tls=requires_tls)


def masked_tls_framed(handshakes: Handshakes) -> list[Filter]:
    return [Masked(), tls(handshakes), Framed()]


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = uvloop.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture
def make_line(loop: asyncio.AbstractEventLoop) -> Iterator[Callable[[Callable[[Handshakes], list[Filter]]], Line]]:
    made: list[Line] = []

    def make(filters: Callable[[Handshakes], list[Filter]]) -> Line:
        made.append(Line(loop, filters))
        return made[-1]

    yield make
    for line in made:
        line.transport.abort()
        line.until(lambda line=line: line.transport.is_over)
        line.far.close()


def test_octets_come_through_a_filter_below_tls_and_one_above_it(make_line: Any) -> None:
    line = make_line(masked_tls_framed)
    peer = Peer(line)
    peer.shake_hands()
    line.until(lambda: line.transport.is_encrypted)
    # TLS is ready, and the filter above it waits for its peer.
    assert (line.told, line.transport.is_ready) == ([], False)
    peer.send(HELLO)
    line.until(lambda: line.transport.is_ready)
    assert (line.told, line.transport.tls_protocol) == (["connected"], "TLSv1.3")
    assert peer.read(4 + len(HELLO)) == framed(HELLO)

    message = bytes(range(256)) * 4096
    peer.send(message)
    line.until(lambda: len(line.engine.taken) == len(message))
    assert line.engine.taken == message
    line.write(message)
    assert peer.read(4 + len(message)) == framed(message)


def test_each_filter_tells_its_peer_of_the_end_from_the_engine_down(make_line: Any) -> None:
    line = make_line(masked_tls_framed)
    peer = Peer(line)
    peer.shake_hands()
    peer.send(HELLO)
    line.until(lambda: line.transport.is_ready)
    line.do(line.transport.finish)
    while peer.take_some():
        pass
    assert (bytes(peer.taken), peer.session.is_ended) == (framed(HELLO) + framed(b""), True)
    line.until(lambda: line.transport.is_over)
    assert (line.told, line.transport.failure) == (["connected", "disconnected"], "")


class Answered(Framed):
    """Waits for its peer to answer the end."""

    is_told = is_answered = False

    def close(self) -> None:
        if not self.is_told:
            self.is_told = True
            super().close()

    @property
    def is_awaiting_end(self) -> bool:
        return self.is_told and not self.is_answered

    def hand_on(self, octets: Any) -> None:
        if octets:
            super().hand_on(octets)
        else:
            self.is_answered = True
            self.stack.finish()


def closing(make_line: Any) -> tuple[Line, Peer]:
    """Return a connection whose end the peer has been told of."""
    line = make_line(lambda handshakes: [Masked(), tls(handshakes), Answered()])
    peer = Peer(line)
    peer.shake_hands()
    peer.send(HELLO)
    line.until(lambda: line.transport.is_ready)
    peer.read(4 + len(HELLO))
    line.do(line.transport.finish)
    line.do(line.transport.finish)
    assert peer.read(4) == framed(b"")
    return line, peer


def test_the_answer_to_the_end_comes_before_that_of_the_filters_below(make_line: Any) -> None:
    line, peer = closing(make_line)
    assert (line.transport.is_open, peer.session.is_ended) == (True, False)
    peer.send(b"")
    while peer.take_some():
        pass
    assert peer.session.is_ended
    line.until(lambda: line.transport.is_over)


def test_a_peer_that_ends_instead_is_not_waited_for(make_line: Any) -> None:
    line, _ = closing(make_line)
    line.far.shutdown(socket.SHUT_WR)
    line.until(lambda: line.transport.is_over)


def test_a_peer_that_answers_nothing_is_cut_off(make_line: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("routerd.io.sockets.transport.LINGER_S", 0.0)
    line, _ = closing(make_line)
    line.until(lambda: line.transport.is_over)


def test_filters_are_told_that_the_router_drains(make_line: Any) -> None:
    told: list[Filter] = []

    class Told(Filter):
        def retire(self) -> None:
            told.append(self)

    line = make_line(lambda handshakes: [Told(), Filter(), Told()])
    line.do(line.transport.retire)
    assert told == [line.filters[0], line.filters[2]]


def test_a_filter_that_is_not_needed_leaves_its_place_to_the_one_above(make_line: Any) -> None:
    line = make_line(lambda handshakes: [Masked(), tls(handshakes, requires_tls=False), Framed()])
    line.send(masked(framed(HELLO) + framed(b"first")))
    line.until(lambda: line.engine.taken == b"first")
    assert (line.told, line.transport.is_encrypted) == (["connected"], False)
    line.write(b"answer")
    expected = masked(framed(HELLO) + framed(b"answer"))
    received = b""
    while len(received) < len(expected):
        received += line.read()
    assert received == expected


class Leaving(Filter):
    """Leaves when a line has come, and carries no AMQP until then."""

    carries_amqp = False

    def begin(self) -> None:
        """Wait."""

    def receive(self, octets: memoryview) -> None:
        _, _, rest = bytes(octets).partition(b"\n")
        self.stack.remove(self, rest)


class Cut(Filter):
    """Hands on three octets at a time, by the neighbour that it had when it began."""

    def receive(self, octets: memoryview) -> None:
        room, deliver = self.room, self.deliver
        for at in range(0, len(octets), 3):
            piece = octets[at : at + 3]
            room[: len(piece)] = piece
            deliver(len(piece))


@pytest.mark.parametrize("above", [(), (Masked,)], ids=["the engine", "a filter"])
def test_who_is_above_one_that_leaves_has_what_is_handed_on_in_the_same_turn(make_line: Any, above: Any) -> None:
    line = make_line(lambda handshakes: [Cut(), Leaving(), *(one() for one in above)])
    assert not line.transport.carries_amqp
    code = masked if above else bytes
    line.send(b"a\n" + code(b"the rest of it"))
    line.until(lambda: line.engine.taken == b"the rest of it")
    assert (line.told, line.transport.carries_amqp) == (["connected"], True)


def test_without_the_filter_that_leaves_octets_are_read_where_those_of_plain_sockets_are(make_line: Any) -> None:
    line = make_line(lambda handshakes: [tls(handshakes, requires_tls=False)])
    line.send(b"first")
    line.until(lambda: line.engine.taken == b"first")
    assert line.transport.get_buffer(-1) is line.transport.turn.buffer_view
    line.send(b" second")
    line.until(lambda: line.engine.taken == b"first second")
    line.write(b"answer")
    assert line.read() == b"answer"


def test_a_filter_that_fails_closes_the_connection_and_says_why(make_line: Any) -> None:
    line = make_line(masked_tls_framed)
    peer = Peer(line)
    peer.shake_hands()
    records: list[bytes] = []
    peer.session.send(struct.pack(">I", FRAME_MAX + 1), records.append)
    line.send(masked(b"".join(records)))
    while peer.take_some():
        pass
    line.until(lambda: line.transport.is_over)
    assert line.transport.failure == f"a frame of {FRAME_MAX + 1} octets is above {FRAME_MAX}"
    assert line.told == ["disconnected"]


def test_the_filter_that_was_not_ready_says_what_the_loss_of_the_socket_means(make_line: Any) -> None:
    line = make_line(masked_tls_framed)
    line.far.close()
    line.until(lambda: line.transport.is_over)
    assert line.transport.failure == "TLS failed: the connection was closed during the handshake"


def test_what_a_filter_takes_counts_before_it_is_ready(make_line: Any) -> None:
    line = make_line(lambda handshakes: [Busy()])
    line.send(b"x")
    line.until(lambda: line.filters[0].taken == b"x")
    assert line.transport.used_s >= SHARE_S


def test_what_a_filter_holds_back_waits_to_be_written(make_line: Any) -> None:
    line = make_line(lambda handshakes: [Filter(), Held()])
    line.until(lambda: line.transport.is_ready)
    line.write(b"later")
    assert line.transport.buffered_octets == 5
    line.filters[1].go_on()
    assert line.read() == b"later"
    assert line.transport.buffered_octets == 0
