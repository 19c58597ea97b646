"""A connection's socket with TLS on it, or on which TLS may come."""

import asyncio
import time
from collections.abc import Callable
from enum import Enum

from routerd.config import ConnectorConfig, ListenerConfig
from routerd.core import Peer
from routerd.io.logs import failure_of, module_log
from routerd.io.scheduling import PeerTimer
from routerd.io.sockets.transport import Transport, TransportHost
from routerd.io.sockets.worker_turn import LEAST_READ, READ_SIZE, SHARE_S
from routerd.io.tls import TlsFailed, TlsProfile, TlsProfileBroken, TlsProfiles, TlsSession, server_context
from routerd.wire import Connection

HANDSHAKE_S = 10.0
"""What a peer gets from the connection to the end of the handshake, whatever else is configured."""
HANDSHAKE_OCTETS_MAX = 1 << 17
"""Octets that a peer may send before the end of the handshake; chains of certificates have some 10 000."""
PENDING_MAX = 1 << 19
"""Octets that may wait for a turn of the handshake."""
TLS_HEADER = b"AMQP\x02\x01\x00\x00"
"""AMQP 1.0 section 5.2.1."""

FIRST_READ = 1 << 16
"""Octets that are read at a time, to begin with."""

_HANDSHAKE_RECORD = 0x16
_TLS_PREFIX = TLS_HEADER[:5]
_AMQP = TLS_HEADER[:4]
_log = module_log("SERVER")


class TlsState(Enum):
    """How far a connection is."""

    UNDECIDED = "undecided"
    """Until the first octets say whether there will be TLS."""
    HANDSHAKE = "handshake"
    ESTABLISHED = "established"
    PLAIN = "plain"
    OVER = "over"


_UNDECIDED, _HANDSHAKE, _ESTABLISHED, _PLAIN, _OVER = TlsState


class TlsTransport(Transport):
    """One connection's socket, on which TLS comes first or may come.

    The worker is told of the connection once that is settled. All sockets with TLS of a worker read into one buffer,
    and decrypt into the one that those without read into.
    """

    __slots__ = (
        *("_first", "_handshake_octets", "_pending", "_handshake_s", "_make", "_profile", "_requires_tls", "_session"),
        *("_state", "_timer"),
        *("is_encrypted", "tls_cipher", "tls_protocol", "tls_ssf", "tls_user"),
    )

    def __init__(
        self,
        worker: TransportHost,
        peer: Peer,
        connection: Connection,
        make: Callable[[], tuple[TlsProfile | None, TlsSession]],
        *,
        requires_tls: bool = True,
        handshake_s: float = HANDSHAKE_S,
    ) -> None:
        """`make` may raise TlsFailed, TlsProfileBroken; only a profile says who the owner of a certificate is."""
        super().__init__(worker, peer, connection)
        self._make = make
        self._profile: TlsProfile | None = None
        self._requires_tls = requires_tls
        self._handshake_s = handshake_s
        self._session: TlsSession | None = None
        self._state = _UNDECIDED
        self._first = b""
        self._pending = b""
        """What has come and waits for its turn, while the handshake goes on."""
        self.read_octets = FIRST_READ
        self._handshake_octets = 0
        self._timer: PeerTimer | None = None
        self.is_ready = False
        self.is_encrypted = False
        self.tls_user: str | None = None
        self.tls_protocol: str | None = None
        self.tls_cipher: str | None = None
        self.tls_ssf = 0

    # --- called by the event loop

    def begin(self) -> None:
        """Wait for the peer's first octets, or begin the handshake with it."""
        self._timer = PeerTimer(asyncio.get_running_loop(), self._handshake_s, self._time_is_over)
        self._worker.handshakes.begin(self)
        if self.connection.is_client:
            self._begin_tls()
            self._go_on(b"")

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return where to read to."""
        if self._state is _PLAIN:
            return self.turn.buffer_view
        return self._worker.encrypted_view[: self.read_octets]

    def buffer_updated(self, nbytes: int) -> None:
        """Hand what was read to TLS, and what comes of it to the engine."""
        state = self._state
        if state is _ESTABLISHED:
            began, used_s = time.monotonic(), self.turn.used_by(self)
            self._decrypt(self._worker.encrypted_view[:nbytes])
            taken_s = time.monotonic() - began
            self._fit_reads(nbytes, taken_s)
            self.turn.charge(self, used_s + taken_s)
        elif state is _PLAIN:
            self.turn.received(self, nbytes)
        elif state is not _OVER:
            self._handshake_octets += nbytes
            octets = bytes(self._worker.encrypted_view[:nbytes])
            if state is _UNDECIDED:
                self._decide(self._first + octets)
            else:
                self._wait_for_turn(octets)

    def _fit_reads(self, octets: int, taken_s: float) -> None:
        """Read fewer octets at a time where they cost much, as tiny records do, and more where they do not."""
        if taken_s > SHARE_S:
            self.read_octets = max(octets >> 1, LEAST_READ)
        elif octets == self.read_octets:
            self.read_octets = min(2 * octets, READ_SIZE)

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone."""
        if self._state in (_UNDECIDED, _HANDSHAKE) and not self.failure:
            self.failure = "TLS failed: the connection was closed during the handshake"
        self._end()
        super().connection_lost(exc)

    # --- how it begins

    def _decide(self, octets: bytes) -> None:
        """See by the first octets whether they are TLS (AMQP 1.0 section 5.2)."""
        self._first = octets
        if octets[0] == _HANDSHAKE_RECORD:
            self._begin_tls()
            self._wait_for_turn(octets)
        elif (octets.startswith(_TLS_PREFIX) and len(octets) < len(TLS_HEADER)) or _AMQP.startswith(octets):
            # The rest of the header is on its way.
            return
        elif octets.startswith(TLS_HEADER):
            self._put(TLS_HEADER)
            self._begin_tls()
            self._wait_for_turn(octets[len(TLS_HEADER) :])
        elif self._requires_tls or octets.startswith(_TLS_PREFIX):
            # 2.2: answer with the header that we would take, and close.
            self._put(TLS_HEADER)
            self._fail("the peer does not begin with TLS, which this listener requires")
        else:
            self._go_without(octets)

    def _begin_tls(self) -> None:
        self._state = _HANDSHAKE
        self._first = b""
        try:
            self._profile, self._session = self._make()
        except (TlsFailed, TlsProfileBroken) as error:
            self._fail(str(error))

    def _wait_for_turn(self, octets: bytes) -> None:
        if octets and not self._pending:
            self._worker.handshakes.step_soon(self)
        self._pending += octets
        if len(self._pending) > PENDING_MAX:
            self._fail(f"TLS failed: more than {PENDING_MAX} octets have come before the end of the handshake")

    def step(self) -> None:
        """Go on with the handshake; called when it is this connection's turn."""
        octets, self._pending = self._pending, b""
        self._go_on(octets)
        # What comes behind the handshake at once does not count.
        if self._state is _HANDSHAKE and self._handshake_octets > HANDSHAKE_OCTETS_MAX:
            self._fail(f"TLS failed: the handshake has more than {HANDSHAKE_OCTETS_MAX} octets")

    def _go_on(self, octets: bytes) -> None:
        session = self._session
        if session is None or self._state is not _HANDSHAKE:
            return
        try:
            session.shake_hands(octets)
        except TlsFailed as error:
            self._put(session.output())
            self._fail(f"TLS failed: {error}")
            return
        self._put(session.output())
        if session.is_established:
            self._establish(session)

    def _establish(self, session: TlsSession) -> None:
        self._state = _ESTABLISHED
        self._leave_handshake()
        self.is_ready = self.is_encrypted = True
        self.tls_protocol = session.protocol
        self.tls_cipher, self.tls_ssf = session.cipher
        certificate = None if self.connection.is_client else session.peer_certificate
        if certificate is not None and self._profile is not None:
            self.tls_user = self._profile.user_of(certificate)
        self._worker.connected(self)
        self.flush(time.monotonic())
        if self.socket is not None and not self.socket.is_closing():
            # What the peer has sent behind its part of the handshake is there already.
            self._decrypt(memoryview(b""))

    def _go_without(self, octets: bytes) -> None:
        self._state = _PLAIN
        self._first = b""
        self.is_ready = True
        self._leave_handshake()
        self._worker.connected(self)
        if self.socket is not None and not self.socket.is_closing():
            self.turn.buffer_view[: len(octets)] = octets
            self.turn.received(self, len(octets))

    # --- while it lasts

    def _decrypt(self, octets: memoryview) -> None:
        session = self._session
        assert session is not None, "it is established"
        try:
            session.receive(octets, self.turn.buffer_view, self._deliver)
        except TlsFailed as error:
            if self._state is _ESTABLISHED:
                self._put(session.output())
                self._fail(f"TLS failed: {error}")
            return
        if self._state is not _ESTABLISHED:
            return
        # The answer to a change of keys, for example.
        self._put(session.output())
        if session.is_ended:
            # As at the end of a stream without TLS: a connection that is half open is of no use.
            self.flush(time.monotonic())
            self._close()

    def _deliver(self, size: int) -> None:
        if self._state is _ESTABLISHED and self.socket is not None and not self.socket.is_closing():
            self.turn.received(self, size)

    def put(self, octets: bytearray) -> None:
        """Write octets of the engine, encrypted unless TLS was done without."""
        if self._state is _PLAIN:
            super().put(octets)
        elif self.socket is not None and self._session is not None:
            try:
                self._session.send(octets, self.socket.write)
            except TlsFailed as error:
                self._fail(f"TLS failed: {error}")
            else:
                self.connection.written(octets)

    def _close(self) -> None:
        """Close the socket once all is written, saying before that this is the end."""
        if self._state is _ESTABLISHED and self._session is not None:
            self._session.close()
            self._put(self._session.output())
        self._end()
        super()._close()

    def _put(self, octets: bytes) -> None:
        if octets and self.socket is not None:
            self.socket.write(octets)
            if self.peer.is_blocked:
                self.answered += len(octets)

    # --- how it ends before its time

    def give_up(self, reason: str) -> None:
        """End the connection at once, for a reason."""
        self._fail(reason)
        self.abort()

    def _time_is_over(self) -> None:
        self.give_up(f"no end of the handshake in {self._handshake_s:g} s")

    def _fail(self, reason: str) -> None:
        """Close the connection for a reason, with what has been written before."""
        if not self.failure:
            self.failure = reason
            if not self.peer.is_initiator:
                # A connector logs it itself.
                _log.info("%s", failure_of(self.peer, reason))
        self._end()
        if self.socket is not None:
            self.socket.close()
            self.end_soon()

    def _end(self) -> None:
        self._state = _OVER
        self.is_ready = False
        self._pending = b""
        self._leave_handshake()

    def _leave_handshake(self) -> None:
        self._worker.handshakes.end(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def transport_at(
    worker: TransportHost, peer: Peer, connection: Connection, listener: ListenerConfig, profiles: TlsProfiles
) -> Transport:
    """Return the transport of a connection that comes in at a listener."""
    if listener.ssl_profile is None:
        return Transport(worker, peer, connection)
    name = listener.ssl_profile

    def make() -> tuple[TlsProfile, TlsSession]:
        profile = profiles.get(name)
        return profile, TlsSession(server_context(profile, listener), is_server=True)

    return TlsTransport(
        worker,
        peer,
        connection,
        make,
        requires_tls=listener.require_ssl or listener.require_encryption,
        handshake_s=min(HANDSHAKE_S, listener.handshake_timeout_s or HANDSHAKE_S),
    )


def transport_to(
    worker: TransportHost,
    peer: Peer,
    connection: Connection,
    connector: ConnectorConfig,
    host: str,
    profiles: TlsProfiles,
) -> Transport:
    """Return the transport of a connection that a connector makes to a host, be it one that its peer has named."""
    if connector.ssl_profile is None:
        return Transport(worker, peer, connection)
    name = connector.ssl_profile

    def make() -> tuple[TlsProfile, TlsSession]:
        profile = profiles.get(name)
        context = profile.client_context(verifies_name=connector.verify_hostname)
        return profile, TlsSession(context, is_server=False, server_name=host)

    return TlsTransport(worker, peer, connection, make)
