"""A connection: protocol headers, SASL, open and close, and the frames of its sessions (2.2 to 2.4).

Octets go in by `receive_data`, and come out by `data_to_send`; time is an argument of both. Frames are read
where they were received. Only one that is cut by the end of a read is put together in a buffer of
its own, so an idle connection holds no input at all. A violation is answered with the condition of the
standard, for the connection, session or link that it concerns, and what the peer still sends there is ignored.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from routerd.wire.amqp_error import Error, error_about
from routerd.wire.composite import composite_octets, decode_composite
from routerd.wire.connection_config import MIN_MAX_FRAME_SIZE, ConnectionConfig
from routerd.wire.decoder import Decoder
from routerd.wire.disposition import DispositionFields
from routerd.wire.encoder import Encoder
from routerd.wire.errors import (
    AuthenticationSkipped,
    DecodeError,
    FrameTooLarge,
    FramingError,
    IllegalState,
    InvalidField,
    RemoteError,
    ResourceLimitExceeded,
    SessionError,
    StateError,
)
from routerd.wire.flow import FlowFields
from routerd.wire.frames import AMQP_FRAME, AMQP_HEADER, EMPTY_FRAME, HEADER_SIZE, SASL_FRAME, SASL_HEADER
from routerd.wire.handler import Handler
from routerd.wire.handles import HandleTable
from routerd.wire.idle_clock import IdleClock
from routerd.wire.link_names import LinkNames
from routerd.wire.output import Output
from routerd.wire.performatives import Attach, Begin, Close, Open
from routerd.wire.sasl import SaslCode
from routerd.wire.session import Session
from routerd.wire.states import CONNECTION_TRANSITIONS, ConnectionMove, ConnectionState, SessionState
from routerd.wire.transfer import TransferFields

if TYPE_CHECKING:
    from routerd.wire.sasl import SaslClient, SaslRelay, SaslServer


_BEFORE_OPEN = (ConnectionState.HDR_EXCH, ConnectionState.OPEN_RCVD)
_BEFORE_HEADERS = (
    ConnectionState.START,
    ConnectionState.HDR_RCVD,
    ConnectionState.HDR_SENT,
    ConnectionState.OPEN_PIPE,
    ConnectionState.OC_PIPE,
)
_MAY_SEND = (ConnectionState.OPEN_PIPE, ConnectionState.OPEN_SENT, ConnectionState.OPENED)
_CLOSING = (ConnectionState.CLOSE_PIPE, ConnectionState.CLOSE_SENT, ConnectionState.DISCARDING)

# Kept at hand: the members of an enum are looked up by a Python call in CPython 3.11.
_OVER = ConnectionState.END
HELD_MAX = 1 << 16
"""Octets that a peer may send while its authentication waits for an answer from elsewhere."""
_OPEN = 0x10
_BEGIN = 0x11
_ATTACH = 0x12
_FLOW = 0x13
_TRANSFER = 0x14
_DISPOSITION = 0x15
_DETACH = 0x16
_END = 0x17
_CLOSE = 0x18
_NEVER = float("inf")


class Connection:
    """One end of an AMQP connection, in either role."""

    context: Any
    remote_open: Open | None

    def __init__(
        self,
        config: ConnectionConfig,
        handler: Handler,
        *,
        is_client: bool,
        sasl: "SaslClient | SaslRelay | SaslServer | None" = None,
        is_sasl_required: bool = True,
    ) -> None:
        self.config = config
        self.handler = handler
        self.is_client = is_client
        self.sasl = sasl
        self.is_sasl_required = is_sasl_required and sasl is not None
        self.output = Output()
        self.state = ConnectionState.START
        self.is_awake = False
        self.send_frame_size = MIN_MAX_FRAME_SIZE
        self.channel_max = config.channel_max
        self._encoder = Encoder()
        self._decoder = Decoder(b"", 0, 0, config.limits)
        self.transfer_fields = TransferFields()
        self.flow_fields = FlowFields()
        self.disposition_fields = DispositionFields()
        self._partial: bytearray | None = None
        self._resume_at = 0
        self._is_header_due = True
        self._is_in_sasl = False
        self._is_waiting = False
        self._held: bytearray | None = None
        self._is_authenticated = sasl is None
        self._is_receiving = False
        self._is_reported = False
        self._is_framing_lost = False
        self.remote_open = None
        self._is_open_due = False
        self._local = HandleTable()
        self._remote = HandleTable()
        self.links = LinkNames()
        self._busy: list[Session] = []
        self._clock = IdleClock(config.idle_timeout_s)
        self.context = None

    # --- for the application

    @property
    def is_finished(self) -> bool:
        """Whether nothing more is to be received; what is left to send may be sent."""
        return self.state is _OVER

    def start(self, now: float) -> None:
        """Begin at the time the transport is connected; a client sends its header."""
        self._clock.start(now)
        if self.is_client:
            if self._is_authenticated:
                self._send_header()
            else:
                self.output.put_raw(SASL_HEADER)
                self.wake()

    def open(self, told: ConnectionConfig | None = None) -> None:
        """Open the connection, or answer the peer's open; while SASL goes on, the open waits for it.

        `told` is what our open says instead of the configuration; of this, the peer is held to its frame size alone.
        """
        if self.state is ConnectionState.START:
            self._is_open_due = True
            return
        self._check_move(ConnectionMove.SEND_OPEN)
        if told is None:
            told = self.config
        else:
            self.config = replace(self.config, max_frame_size=told.max_frame_size)
        self.send_performative(0, told.open_performative())
        self._move(ConnectionMove.SEND_OPEN)

    def close(self, error: Error | None = None) -> None:
        """Close the connection; the peer's close ends it. With an error, all else that it sends is discarded."""
        move = ConnectionMove.SEND_CLOSE if error is None else ConnectionMove.SEND_CLOSE_ERROR
        self._check_move(move)
        self._flush()
        self.send_performative(0, Close(error=error))
        self._move(move)
        self._is_receiving = False
        for session in self.sessions():
            session.fall_silent()

    def hold(self) -> None:
        """Take nothing more from the peer before `release`; called when it has opened, and is to wait for our open."""
        self._is_waiting = True

    def release(self, now: float) -> None:
        """Go on with what the peer sent meanwhile."""
        self._is_waiting = False
        held, self._held = self._held, None
        if held is not None:
            self.receive_data(held, now)

    def session(self) -> Session:
        """Return a new session on the lowest channel that is free, to be begun."""
        if self.state is _OVER or self.state in _CLOSING:
            raise StateError(f"a connection in the state {self.state.value!r} takes no new session")
        channel = self._local.lowest_free()
        # Until the peer has told its channel-max, only channel 0 is sure to be taken (2.4.1).
        highest = 0 if self.remote_open is None else self.channel_max
        if channel > highest:
            raise StateError(f"the connection has channels up to {highest}")
        session = Session(self, channel)
        self._local.put(channel, session)
        return session

    @property
    def cut_frame(self) -> bytes:
        """The beginning of a frame, or of a header, of which the rest has not been received."""
        return b"" if self._partial is None else bytes(self._partial)

    def sessions(self) -> list[Session]:
        """Return the sessions that have a channel on either side."""
        return list(dict.fromkeys([*self._local, *self._remote]))

    # --- for the shell

    def receive_data(self, data: bytes | bytearray, now: float, start: int = 0, end: int = -1) -> None:
        """Take data[start:end] from the transport."""
        self._clock.heard(now)
        if end < 0:
            end = len(data)
        while start < end and self.state is not _OVER and not self._is_waiting:
            try:
                start = self._receive(data, start, end)
            except RemoteError as error:
                start = self._resume_at
                self._fail(error)
        if self._is_waiting and start < end:
            self._hold(data, start, end)
        # The buffer belongs to the caller again.
        self._decoder.reset(b"", 0, 0)

    def send_sasl(self, frames: Sequence[Any], now: float) -> None:
        """Send SASL frames that were waited for, and take what was received meanwhile; nothing if that is over."""
        if not self._is_in_sasl:
            return
        self._send_sasl(frames)
        self._heed_sasl()
        if not self._is_waiting:
            self.release(now)

    def data_to_send(self, now: float) -> bytearray:
        """Return what is to be written to the transport, and forget it."""
        self._flush()
        self.is_awake = False
        if self.output.end > 0:
            self._clock.spoke(now)
        return self.output.take()

    def next_deadline(self) -> float:
        """Return the time at which `tick` is due, infinity for never."""
        if self.state is _OVER:
            return _NEVER
        return self._clock.deadline(self.state is ConnectionState.OPENED)

    def tick(self, now: float) -> None:
        """Do what time asks for: keep the peer's idle time-out from running out, and enforce ours (2.4.5)."""
        if self.state is _OVER:
            return
        if self._clock.is_peer_lost(now):
            self._fail(ResourceLimitExceeded(f"nothing was received for {self.config.idle_timeout_s:g} s"))
            self._report_closed(None)
            self.state = _OVER
        elif self.state is ConnectionState.OPENED and self._clock.is_word_due(now):
            self._clock.spoke(now)
            self.output.put_raw(EMPTY_FRAME)
            self.wake()

    def transport_closed(self) -> None:
        """Say that the transport is gone: links and sessions are reported as over, then the connection."""
        self._partial = None
        self._held = None
        self.state = _OVER
        self._is_receiving = False
        if self._is_in_sasl:
            self._is_in_sasl = False
            cast("SaslClient | SaslRelay | SaslServer", self.sasl).abandon()
            self.handler.on_authentication_failed(self)
        self._report_closed(None)

    # --- for sessions and links

    def wake(self) -> None:
        """Tell the handler, once, that there is output."""
        if not self.is_awake:
            self.is_awake = True
            self.handler.on_output(self)

    def check_open(self) -> None:
        """Refuse what needs our open to have gone out, and our close not; an open that is awaited goes out now."""
        if self.state is ConnectionState.OPEN_RCVD:
            self.open()
        if self.state not in _MAY_SEND:
            raise StateError(f"a connection in the state {self.state.value!r} has no sessions")

    def make_busy(self, session: Session) -> None:
        """Have a session flushed with the next output."""
        session.is_busy = True
        self._busy.append(session)
        self.wake()

    def send_performative(self, channel: int, performative: Any) -> None:
        """Write a frame around a performative that is encoded whole."""
        self._put_frame(channel, composite_octets(self._encoder, performative), performative)

    def send_attach(self, channel: int, performative: Attach) -> None:
        """Write an attach; an unsettled map that does not fit a frame is cut, and says so (2.7.3)."""
        body = composite_octets(self._encoder, performative)
        while len(body) + 8 > self.send_frame_size and performative.unsettled:
            kept = list(performative.unsettled.items())
            performative.unsettled = dict(kept[: len(kept) // 2])
            performative.incomplete_unsettled = True
            body = composite_octets(self._encoder, performative)
        self._put_frame(channel, body, performative)

    def remove_session(self, session: Session) -> None:
        """Free the channels of a session that is over."""
        self._local.remove(session.channel)
        if session.remote_channel >= 0:
            self._remote.remove(session.remote_channel)
            session.remote_channel = -1

    # --- reading

    def _receive(self, data: bytes | bytearray, start: int, end: int) -> int:
        if self._partial is not None:
            return self._complete_partial(data, start, end)
        start = self._walk(data, start, end)
        if self._is_waiting:
            return start
        if start < end and self.state is not _OVER:
            self._partial = bytearray(memoryview(data)[start:end])
        return end

    def _hold(self, data: bytes | bytearray, start: int, end: int) -> None:
        # A peer may send on before it is told that it is who it says; it is heard when that is known.
        if self._held is None:
            self._held = bytearray()
        self._held += memoryview(data)[start:end]
        if len(self._held) > HELD_MAX:
            self._held = None
            self._fail(ResourceLimitExceeded(f"more than {HELD_MAX} octets came before it was known from whom"))

    def _complete_partial(self, data: bytes | bytearray, start: int, end: int) -> int:
        # Takes no more than the frame that was cut: what follows it is read where it stands.
        partial = cast(bytearray, self._partial)
        self._resume_at = end
        while len(partial) < self._wanted(partial):
            if start == end:
                return end
            stop = min(end, start + self._wanted(partial) - len(partial))
            partial += memoryview(data)[start:stop]
            start = stop
        self._partial = None
        try:
            self._walk(partial, 0, len(partial))
        finally:
            self._resume_at = start
        return start

    def _wanted(self, partial: bytearray) -> int:
        # How many octets the header or frame at the start of `partial` has, as far as that can be told.
        if self._is_header_due:
            return HEADER_SIZE
        if len(partial) < 4:
            return 4
        return self._checked_size(int.from_bytes(partial[:4], "big"))

    def _checked_size(self, size: int) -> int:
        limit = self.config.sasl_frame_size if self._is_in_sasl else self.config.max_frame_size
        if size < 8 or size > limit:
            self._is_framing_lost = True
            raise FramingError(f"a frame of {size} octets, where 8 to {limit} are allowed")
        return size

    def _walk(self, data: bytes | bytearray, pos: int, end: int) -> int:
        view = data
        while end - pos >= 4 and self.state is not _OVER and not self._is_waiting:
            self._resume_at = end
            if self._is_header_due:
                if end - pos < HEADER_SIZE:
                    break
                self._resume_at = pos + HEADER_SIZE
                self._receive_header(bytes(data[pos : pos + HEADER_SIZE]))
                pos += HEADER_SIZE
                continue
            # In steps, since in C the whole would be an int, and a large size a negative one.
            size = view[pos] << 8 | view[pos + 1]
            size = size << 16 | view[pos + 2] << 8 | view[pos + 3]
            if size < 8 or size > MIN_MAX_FRAME_SIZE:
                self._checked_size(size)
            if end - pos < size:
                break
            self._resume_at = pos + size
            self._receive_frame(data, pos, pos + size)
            pos += size
        return pos

    def _receive_header(self, octets: bytes) -> None:
        if octets == SASL_HEADER and not self._is_authenticated and not self._is_in_sasl:
            self._is_header_due = False
            self._is_in_sasl = True
            if not self.is_client:
                self.output.put_raw(SASL_HEADER)
                self._send_sasl(cast("SaslServer", self.sasl).start())
                self._heed_sasl()
        elif octets == AMQP_HEADER and (self._is_authenticated or not self.is_sasl_required) and not self._is_in_sasl:
            self._is_authenticated = True
            self._is_header_due = False
            self._move(ConnectionMove.RECV_HEADER)
            if not self.is_client:
                self._send_header()
        else:
            self._refuse_header(octets)

    def _send_header(self) -> None:
        self._move(ConnectionMove.SEND_HEADER)
        self.output.put_raw(AMQP_HEADER)
        self.wake()
        if self._is_open_due:
            self._is_open_due = False
            self.open()

    def _refuse_header(self, octets: bytes) -> None:
        # 2.2: answer with the header that we would take, and close the transport.
        if not self.is_client:
            self.output.put_raw(AMQP_HEADER if self._is_authenticated else SASL_HEADER)
            self.wake()
        self.state = _OVER
        if octets == AMQP_HEADER and not self._is_authenticated:
            self.handler.on_violation(self, AuthenticationSkipped())
        else:
            self.handler.on_violation(self, FramingError(f"protocol header {octets!r} is not supported here"))
        self._report_closed(None)

    def _receive_frame(self, data: bytes | bytearray, start: int, end: int) -> None:
        view = data
        body = start + 4 * view[start + 4]
        kind = view[start + 5]
        if view[start + 4] < 2 or body > end:
            raise FramingError(f"a data offset of {view[start + 4]} in a frame of {end - start} octets")
        if kind != (SASL_FRAME if self._is_in_sasl else AMQP_FRAME):
            raise FramingError(f"a frame of type {kind} is not expected here")
        decoder = self._decoder
        decoder.reset(data, body, end)
        if self._is_in_sasl:
            self._receive_sasl(decoder)
            return
        if body == end:
            return
        code = decoder.read_descriptor()
        channel = view[start + 6] << 8 | view[start + 7]
        if not self._is_receiving:
            if code == _OPEN and channel != 0:
                raise FramingError(f"an open on channel {channel} instead of 0")
            self._receive_outside(decoder, code, data, body, end)
            return
        if code != _TRANSFER and code != _DISPOSITION and code != _FLOW:
            self._receive_performative(decoder, channel, code, data, body, end)
            return
        session: Session | None = self._remote.get(channel)
        if session is None:
            raise self._no_session(channel)
        if not session.is_receiving:
            return
        try:
            if code == _TRANSFER:
                session.receive_transfer(decoder, data, end)
            elif code == _DISPOSITION:
                session.receive_disposition(decoder)
            else:
                session.receive_flow(decoder)
        except SessionError as error:
            session.fail(error)

    def _decode(self, decoder: Decoder, data: bytes | bytearray, body: int, end: int) -> Any:
        decoder.reset(data, body, end)
        performative = decode_composite(decoder)
        if decoder.pos != end:
            raise DecodeError("octets behind a performative that has no payload", offset=decoder.pos)
        return performative

    def _receive_outside(self, decoder: Decoder, code: int, data: bytes | bytearray, body: int, end: int) -> None:
        # Before the peer's open nothing else may come; after our close nothing but its open and close counts.
        performative = self._decode(decoder, data, body, end) if code in (_OPEN, _CLOSE) else None
        if performative is None or (code == _OPEN and self.remote_open is not None):
            if self.state not in _CLOSING:
                raise IllegalState("the first frame has to be an open")
        elif code == _OPEN:
            self._receive_open(performative)
        elif self.remote_open is None:
            raise IllegalState("a close before the open")
        else:
            self._receive_close(performative)

    def _receive_performative(
        self, decoder: Decoder, channel: int, code: int, data: bytes | bytearray, body: int, end: int
    ) -> None:
        performative = self._decode(decoder, data, body, end)
        if code == _BEGIN:
            self._receive_begin(performative, channel)
            return
        if code == _CLOSE:
            self._receive_close(performative)
            return
        session: Session | None = self._remote.get(channel)
        if session is None:
            raise self._no_session(channel)
        if code == _END:
            session.receive_end(performative)
        elif code == _OPEN:
            raise IllegalState("a second open")
        elif code != _ATTACH and code != _DETACH:
            raise DecodeError(f"{type(performative).__name__} is not a performative", offset=body)
        elif session.is_receiving:
            try:
                if code == _ATTACH:
                    session.attachments.receive_attach(performative)
                else:
                    session.attachments.receive_detach(performative)
            except SessionError as error:
                session.fail(error)

    def _receive_open(self, performative: Open) -> None:
        if performative.max_frame_size < MIN_MAX_FRAME_SIZE:
            raise InvalidField(f"max-frame-size is {MIN_MAX_FRAME_SIZE} at least, not {performative.max_frame_size}")
        self._move(ConnectionMove.RECV_OPEN)
        self.remote_open = performative
        self.send_frame_size = min(performative.max_frame_size, self.config.send_frame_size)
        self.channel_max = min(performative.channel_max, self.config.channel_max)
        remote_timeout_s = (performative.idle_time_out or 0) / 1000
        self._clock.keep_alive(remote_timeout_s)
        if 0 < remote_timeout_s < self.config.shortest_idle_timeout_s:
            raise InvalidField(
                f"an idle-time-out of {performative.idle_time_out} ms can't be kept; "
                f"{self.config.shortest_idle_timeout_s:g} s is the least"
            )
        if self.state is not ConnectionState.CLOSE_SENT:
            self._is_receiving = True
            self.handler.on_opened(self, performative)

    def _no_session(self, channel: int) -> RemoteError:
        if channel > self.config.channel_max:
            return FramingError(f"channel {channel} is above channel-max {self.config.channel_max}")
        return IllegalState(f"a frame on channel {channel}, which has no session")

    def _receive_begin(self, performative: Begin, channel: int) -> None:
        if channel > self.config.channel_max:
            raise self._no_session(channel)
        if self._remote.get(channel) is not None:
            raise IllegalState(f"a begin on channel {channel}, which has a session")
        if performative.remote_channel is not None:
            session: Session | None = self._local.get(performative.remote_channel)
            if session is None or session.state is not SessionState.BEGIN_SENT:
                raise InvalidField(f"remote-channel {performative.remote_channel} is not one that we began")
        elif self._local.lowest_free() > self.channel_max:
            raise ResourceLimitExceeded(f"the connection has channels up to {self.channel_max}")
        else:
            session = self.session()
        self._remote.put(channel, session)
        session.receive_begin(performative, channel)

    def _receive_close(self, performative: Close) -> None:
        if self.state in _BEFORE_OPEN:
            self.open()
        self._is_receiving = False
        self._move(ConnectionMove.RECV_CLOSE)
        if self.state is ConnectionState.CLOSE_RCVD:
            self._flush()
            self._move(ConnectionMove.SEND_CLOSE)
            self.send_performative(0, Close())
        self._report_closed(performative.error)

    def _receive_sasl(self, decoder: Decoder) -> None:
        sasl = cast("SaslClient | SaslRelay | SaslServer", self.sasl)
        frame = decode_composite(decoder)
        if decoder.pos != decoder.end:
            raise DecodeError("octets behind a SASL frame's body", offset=decoder.pos)
        self._send_sasl(sasl.receive(frame))
        self._heed_sasl()

    def _heed_sasl(self) -> None:
        """Do what the state of the exchange asks for."""
        sasl = cast("SaslClient | SaslRelay | SaslServer", self.sasl)
        self._is_waiting = sasl.is_waiting and self.state is not _OVER
        if not sasl.done or self.state is _OVER:
            return
        self._is_in_sasl = False
        if sasl.outcome == SaslCode.OK:
            self._is_authenticated = True
            self._is_header_due = True
            if self.is_client:
                self._send_header()
            self.handler.on_authenticated(self)
        else:
            self._authentication_failed()

    def _authentication_failed(self) -> None:
        self._is_in_sasl = False
        self._is_waiting = False
        self.state = _OVER
        self.handler.on_authentication_failed(self)
        self._report_closed(None)

    # --- inside

    def _move(self, event: ConnectionMove) -> None:
        self.state = self._check_move(event)

    def _check_move(self, event: ConnectionMove) -> ConnectionState:
        state = CONNECTION_TRANSITIONS.get((self.state, event))
        if state is None:
            raise StateError(f"can't {event.value} on a connection in the state {self.state.value!r}")
        return state

    def _send_sasl(self, frames: Sequence[Any]) -> None:
        for frame in frames:
            body = composite_octets(self._encoder, frame)
            if len(body) + 8 > self.config.sasl_frame_size:
                # 5.3.1 leaves no way to say it: credentials that long can't be used with AMQP.
                self._authentication_failed()
                return
            self.output.put_frame(0, SASL_FRAME, body)
        self.wake()

    def _put_frame(self, channel: int, body: bytes, performative: Any) -> None:
        if len(body) + 8 > self.send_frame_size:
            raise FrameTooLarge(
                f"{type(performative).__name__.lower()} takes a frame of {len(body) + 8} octets; "
                f"the peer accepts {self.send_frame_size}"
            )
        self.output.put_frame(channel, AMQP_FRAME, body)
        self.wake()

    def _flush(self) -> None:
        if self._busy:
            busy = self._busy
            self._busy = []
            for session in busy:
                session.flush()

    def _fail(self, error: RemoteError) -> None:
        if self.state is _OVER:
            return
        is_closing = self.state in _CLOSING
        is_over = self._is_in_sasl or self.state in _BEFORE_HEADERS
        self._is_receiving = False
        if not is_closing and not is_over:
            if self.state in _BEFORE_OPEN:
                self.open()
            condition = error_about(error)
            self.close(condition)
            self._report_sessions(condition)
        if not is_closing:
            self.handler.on_violation(self, error)
        if is_over or self._is_framing_lost:
            self.state = _OVER
            if self._is_in_sasl:
                cast("SaslClient | SaslRelay | SaslServer", self.sasl).abandon()
                self._authentication_failed()
            self._report_closed(None)

    def _report_sessions(self, error: Error | None) -> None:
        sessions = self.sessions()
        for session in sessions:
            session.fall_silent()
        for session in sessions:
            session.report_ended(error)

    def _report_closed(self, error: Error | None) -> None:
        self._report_sessions(error)
        if not self._is_reported:
            self._is_reported = True
            self.handler.on_closed(self, error)
