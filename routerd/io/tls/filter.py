"""TLS as a filter of a connection; it may be required, or the peer may choose it."""

import asyncio
from collections.abc import Callable
from enum import Enum

from routerd.io.scheduling import PeerTimer
from routerd.io.sockets import Filter, Octets, Security
from routerd.io.tls.handshakes import Handshakes
from routerd.io.tls.profile import TlsProfile, TlsProfileBroken
from routerd.io.tls.session import TlsFailed, TlsSession

HANDSHAKE_S = 10.0
"""The time from the connection to the end of the handshake, whatever else is configured."""
HANDSHAKE_OCTETS_MAX = 1 << 17
"""Octets that a peer may send before the end of the handshake; chains of certificates have some 10 000."""
PENDING_MAX = 1 << 19
"""Octets that may wait for a turn of the handshake."""
TLS_HEADER = b"AMQP\x02\x01\x00\x00"
"""AMQP 1.0 section 5.2.1."""

_HANDSHAKE_RECORD = 0x16
_TLS_PREFIX = TLS_HEADER[:5]
_AMQP = TLS_HEADER[:4]


class TlsState(Enum):
    """The progress of a connection."""

    UNDECIDED = "undecided"
    """Until the first octets say whether TLS follows."""
    HANDSHAKE = "handshake"
    ESTABLISHED = "established"
    OVER = "over"


_UNDECIDED, _HANDSHAKE, _ESTABLISHED, _OVER = TlsState


class TlsFilter(Filter):
    """TLS on one connection. If the peer may choose plain AMQP and does, the filter leaves its stack."""

    __slots__ = (
        *("_first", "_handshake_octets", "_handshake_s", "_handshakes", "_is_client", "_make", "_pending", "_profile"),
        *("_refusal", "_requires_tls", "_session", "_state", "_timer"),
    )

    def __init__(
        self,
        handshakes: Handshakes,
        make: Callable[[], tuple[TlsProfile | None, TlsSession]],
        *,
        is_client: bool,
        requires_tls: bool = True,
        handshake_s: float = HANDSHAKE_S,
        refusal: bytes = TLS_HEADER,
    ) -> None:
        """`make` may raise TlsFailed, TlsProfileBroken; only with a profile has a certificate a user.

        `refusal` is the answer to a peer that begins without TLS although it is required.
        """
        super().__init__()
        self._handshakes = handshakes
        self._make = make
        self._is_client = is_client
        self._profile: TlsProfile | None = None
        self._requires_tls = requires_tls
        self._refusal = refusal
        self._handshake_s = handshake_s
        self._session: TlsSession | None = None
        self._state = _UNDECIDED
        self._first = b""
        self._pending = b""
        """Octets that wait for the handshake's turn."""
        self._handshake_octets = 0
        self._timer: PeerTimer | None = None

    # --- called by the transport

    def begin(self) -> None:
        """Wait for the peer's first octets, or begin the handshake with it."""
        self._timer = PeerTimer(asyncio.get_running_loop(), self._handshake_s, self._time_is_over)
        self._handshakes.begin(self)
        if self._is_client:
            self._begin_tls()
            self._go_on(b"")

    def receive(self, octets: memoryview) -> None:
        """Decrypt octets, and pass them on."""
        session = self._session
        if session is None or self._state is not _ESTABLISHED:
            self._receive_early(bytes(octets))
            return
        try:
            session.receive(octets, self.room, self.deliver)
        except TlsFailed as error:
            if self._state is _ESTABLISHED:
                self.answer(session.output())
                self.stack.fail(f"TLS failed: {error}")
            return
        if self._state is not _ESTABLISHED:
            return
        # For example the answer to a change of keys.
        self.answer(session.output())
        if session.is_ended:
            self.stack.peer_ended()

    def send(self, octets: Octets) -> None:
        """Write octets encrypted."""
        session = self._session
        if session is None or self._state is not _ESTABLISHED:
            return
        try:
            session.send(octets, self.below)
        except TlsFailed as error:
            self.stack.fail(f"TLS failed: {error}")

    def close(self) -> None:
        """Tell the peer that nothing more will be sent."""
        if self._session is not None:
            self._session.close()
            self.answer(self._session.output())

    def end(self) -> None:
        """Stop."""
        self._state = _OVER
        self._pending = b""
        self._leave_handshake()

    @property
    def early_loss(self) -> str:
        """The reason for a failure, if the socket is lost before the end of the handshake."""
        return "TLS failed: the connection was closed during the handshake"

    # --- how it begins

    def _receive_early(self, octets: bytes) -> None:
        if self._state is _OVER:
            return
        self._handshake_octets += len(octets)
        if self._state is _UNDECIDED:
            self._decide(self._first + octets)
        else:
            self._wait_for_turn(octets)

    def _decide(self, octets: bytes) -> None:
        """Check by the first octets whether they are TLS (AMQP 1.0 section 5.2)."""
        self._first = octets
        if octets[0] == _HANDSHAKE_RECORD:
            self._begin_tls()
            self._wait_for_turn(octets)
        elif (octets.startswith(_TLS_PREFIX) and len(octets) < len(TLS_HEADER)) or _AMQP.startswith(octets):
            # The rest of the header is on its way.
            return
        elif octets.startswith(TLS_HEADER):
            self.answer(TLS_HEADER)
            self._begin_tls()
            self._wait_for_turn(octets[len(TLS_HEADER) :])
        elif self._requires_tls or octets.startswith(_TLS_PREFIX):
            # 2.2: answer with the header that we would take, and close.
            self.answer(self._refusal)
            self.stack.fail("the peer does not begin with TLS, which this listener requires")
        else:
            self.end()
            self.stack.remove(self, octets)

    def _begin_tls(self) -> None:
        self._state = _HANDSHAKE
        self._first = b""
        try:
            self._profile, self._session = self._make()
        except (TlsFailed, TlsProfileBroken) as error:
            self.stack.fail(str(error))

    def _wait_for_turn(self, octets: bytes) -> None:
        if octets and not self._pending:
            self._handshakes.step_soon(self)
        self._pending += octets
        if len(self._pending) > PENDING_MAX:
            self.stack.fail(f"TLS failed: more than {PENDING_MAX} octets have come before the end of the handshake")

    def step(self) -> None:
        """Continue with the handshake; called when it is this connection's turn."""
        octets, self._pending = self._pending, b""
        self._go_on(octets)
        # Octets directly behind the handshake do not count.
        if self._state is _HANDSHAKE and self._handshake_octets > HANDSHAKE_OCTETS_MAX:
            self.stack.fail(f"TLS failed: the handshake has more than {HANDSHAKE_OCTETS_MAX} octets")

    def _go_on(self, octets: bytes) -> None:
        session = self._session
        if session is None or self._state is not _HANDSHAKE:
            return
        try:
            session.shake_hands(octets)
        except TlsFailed as error:
            self.answer(session.output())
            self.stack.fail(f"TLS failed: {error}")
            return
        self.answer(session.output())
        if session.is_established:
            self._establish(session)

    def _establish(self, session: TlsSession) -> None:
        self._state = _ESTABLISHED
        self._leave_handshake()
        certificate = None if self._is_client else session.peer_certificate
        user = None if certificate is None or self._profile is None else self._profile.user_of(certificate)
        cipher, ssf = session.cipher
        self.ready(Security(user=user, protocol=session.protocol, cipher=cipher, ssf=ssf))
        if self.stack.is_open:
            # Octets that the peer has sent behind its part of the handshake are there already.
            self.receive(memoryview(b""))

    # --- how it ends before its time

    def give_up(self, reason: str) -> None:
        """End the connection at once: there are too many handshakes."""
        self.stack.give_up(reason)

    def _time_is_over(self) -> None:
        self.stack.give_up(f"no end of the handshake in {self._handshake_s:g} s")

    def _leave_handshake(self) -> None:
        self._handshakes.end(self)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
