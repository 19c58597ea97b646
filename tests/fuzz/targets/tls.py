"""Any octets at a port where TLS may come, or has to: taken as what they are, or refused, and whole or cut the same.

The first octet of an input says what the listener wants, and whether a right client has done its handshake before the
others come: then they are what it sends, or what somebody else puts on its way.
"""

import asyncio
import ssl
import tempfile
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from routerd.core import Peer, Router, RouterSettings
from routerd.io.scheduling.busy_poll import BusyPoll
from routerd.io.sockets.filtered_transport import FilteredTransport
from routerd.io.sockets.filters import FilterBuffers
from routerd.io.sockets.worker_turn import Turn
from routerd.io.tls.filter import TLS_HEADER, TlsFilter
from routerd.io.tls.handshakes import Handshakes
from routerd.io.tls.session import TlsSession
from routerd.wire import Connection, ConnectionConfig, Handler
from tests.fuzz.broken import check
from tests.fuzz.play import Cuts, one_by_one, whole
from tests.interop.certificates import Authority

REQUIRES, SHAKEN, ENCRYPTED = 1, 2, 4
HANDSHAKE_RECORD = 0x16
loop = asyncio.new_event_loop()


@cache
def contexts() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return what a server and a client are made with."""
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(Path(folder))
        own = authority.issue()
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.load_cert_chain(own.certificate, own.key)
        return server, ssl.create_default_context(cafile=str(authority.certificate))


@dataclass
class Socket:
    """What the transport writes to."""

    written: bytearray = field(default_factory=bytearray)
    closing: bool = False

    def write(self, octets: bytes) -> None:
        self.written += octets

    def close(self) -> None:
        self.closing = True

    abort = close

    def is_closing(self) -> bool:
        return self.closing

    def get_extra_info(self, name: str) -> Any:
        return ("127.0.0.1", 1) if name == "peername" else None

    def pause_reading(self) -> None:
        """What comes has come by now."""

    resume_reading = pause_reading

    def set_write_buffer_limits(self, high: int, low: int) -> None:
        """There is no bound here."""


class Place:
    """A worker's part: buffers, turns of the loop, and what comes through."""

    def __init__(self, read_size: int) -> None:
        self.filter_buffers = FilterBuffers(read_size)
        self.turns: deque[Callable[[], None]] = deque()
        router = Router(RouterSettings(id="R"), lambda: "token")
        self.turn = Turn(self, router, self.turns.append, BusyPoll(self.turns.append, 0.0))
        self.handshakes = Handshakes(self.turns.append)
        self.begun = 0
        self.delivered = bytearray()

    def connected(self, transport: Any) -> None:
        self.begun += 1

    def look_at(self, transport: Any, was_open: bool, now: float) -> None:
        """It never opens."""

    def conclude(self, now: float) -> None:
        """There is nobody to tell."""

    def disconnected(self, transport: Any) -> None:
        """It is over."""


class Listening(Connection):
    """A connection that keeps what it is given."""

    def __init__(self, place: Place) -> None:
        super().__init__(ConnectionConfig(container_id="engine"), Handler(), is_client=False)
        self.place = place

    def receive_some(self, data: bytes | bytearray, now: float, start: int, end: int, enough: int) -> int:
        check(self.place.begun == 1, "octets of a connection that has not begun")
        self.place.delivered += data[start:end]
        return end


class Entrance:
    """A transport, and the peer's side of its socket."""

    def __init__(self, options: int, read_size: int = 1 << 16) -> None:
        self.place, self.socket = Place(read_size), Socket()
        server = contexts()[0]
        place: Any = self.place
        made: Any = (_Nobody(), TlsSession(server, is_server=True))
        requires_tls = options & REQUIRES == REQUIRES
        self.filter = TlsFilter(self.place.handshakes, lambda: made, is_client=False, requires_tls=requires_tls)
        self.transport = FilteredTransport(place, Peer(1), Listening(self.place), [self.filter])
        socket: Any = self.socket
        self.transport.connection_made(socket)

    def take(self, octets: bytes, cuts: Cuts) -> None:
        """Let octets arrive in pieces, each with a turn of the loop behind it."""
        start = 0
        for end in cuts(len(octets)):
            if self.socket.closing:
                return
            view = self.transport.get_buffer(-1)
            view[: end - start] = octets[start:end]
            self.transport.buffer_updated(end - start)
            while self.place.turns:
                self.place.turns.popleft()()
            start = end

    def shake_hands(self) -> TlsSession:
        """Have a right client do its handshake."""
        client = TlsSession(contexts()[1], is_server=False, server_name="localhost")
        client.shake_hands()
        while not (client.is_established and self.place.begun):
            self.take(client.output(), whole)
            answer, self.socket.written = bytes(self.socket.written), bytearray()
            client.shake_hands(answer)
        return client

    def end(self) -> None:
        """The socket is gone."""
        self.transport.connection_lost(None)
        check(self.transport.is_over, "the socket is gone, and the transport is not over")


class _Nobody:
    """A profile that gives no certificate a user."""

    def user_of(self, certificate: bytes) -> None:
        return None


def run(data: bytes) -> None:
    """Play an input whole and in pieces."""
    loop.run_until_complete(_play(data))


async def _play(data: bytes) -> None:
    options, octets = data[0] if data else 0, data[1:]
    found = [_outcome(options, octets, cuts) for cuts in (whole, one_by_one)]
    check(found[0] == found[1], f"whole it comes to {found[0]}, in pieces to {found[1]}")


def _outcome(options: int, octets: bytes, cuts: Cuts) -> tuple[object, ...]:
    entrance = Entrance(options)
    if options & SHAKEN:
        _check_shaken(entrance, options, octets, cuts)
    elif octets:
        entrance.take(octets, cuts)
        _check_first(entrance, options, octets)
    place, transport = entrance.place, entrance.transport
    check(entrance.socket.closing or not transport.failure, "it failed and was not closed")
    found = (place.begun, bytes(place.delivered), transport.failure, entrance.socket.closing)
    entrance.end()
    return found


def _check_shaken(entrance: Entrance, options: int, octets: bytes, cuts: Cuts) -> None:
    client = entrance.shake_hands()
    sent = octets
    if options & ENCRYPTED:
        records: list[bytes] = []
        client.send(octets, records.append)
        sent = b"".join(records)
    entrance.take(sent, cuts)
    if options & ENCRYPTED:
        check(entrance.place.delivered == octets, "not what the client sent came through")
    else:
        check(not entrance.place.delivered, "octets that the client did not send came through")


def _check_first(entrance: Entrance, options: int, octets: bytes) -> None:
    """See whether the first octets were taken as what they are."""
    place, written = entrance.place, bytes(entrance.socket.written)
    if place.begun:
        check(not options & REQUIRES, "a connection without TLS has begun where TLS is required")
        check(octets[0] != HANDSHAKE_RECORD, "TLS was taken for something else")
        check(place.delivered == octets and not written, "what came is not what was passed on")
    elif octets.startswith(TLS_HEADER):
        check(written.startswith(TLS_HEADER), "the header of TLS was not answered")
    elif octets[0] == HANDSHAKE_RECORD:
        check(not written.startswith(TLS_HEADER), "TLS was answered with a header")
    elif entrance.socket.closing:
        check(written == TLS_HEADER, "what was refused was not told why")
    else:
        check(TLS_HEADER[:5].startswith(octets[:5]) and len(octets) < len(TLS_HEADER), "nothing came of it")
