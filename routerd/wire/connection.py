"""A connection: protocol headers, open and close, and the dispatch of its frames (2.2 to 2.4).

Octets go in by `receive_data`, and come out by `data_to_send`; both take the time as an argument. `input` cuts received
octets into frames. The SASL layer takes those before the AMQP header, and `channels` has the sessions.

A violation is answered with the condition of the standard, and ends a link, a session or the connection. Further frames
of the peer for the same link, session or connection are ignored.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from routerd.wire.amqp_error import Error, error_about
from routerd.wire.channels import Channels
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
    HttpReceived,
    IllegalState,
    InvalidField,
    RemoteError,
    ResourceLimitExceeded,
    StateError,
)
from routerd.wire.flow import FlowFields
from routerd.wire.frames import AMQP_FRAME, AMQP_HEADER, EMPTY_FRAME, SASL_FRAME, SASL_HEADER
from routerd.wire.handler import Handler
from routerd.wire.idle_clock import IdleClock
from routerd.wire.input import Input
from routerd.wire.link_names import LinkNames
from routerd.wire.output import Output, take_back
from routerd.wire.performatives import Attach, Close, Open
from routerd.wire.relay import Relay
from routerd.wire.sasl_layer import SaslLayer
from routerd.wire.session import Session
from routerd.wire.states import CONNECTION_TRANSITIONS, ConnectionMove, ConnectionState
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

# A module constant: access to a member of an enum is a Python call in CPython 3.11.
_OVER = ConnectionState.END
_OPEN = 0x10
_CLOSE = 0x18
_AMQP_FRAME = AMQP_FRAME
_SASL_FRAME = SASL_FRAME
# The size of the frame that the octets of a protocol header would announce.
_HEADER_AS_SIZE = int.from_bytes(AMQP_HEADER[:4], "big")
_NEVER = float("inf")
# The beginnings of a request, and the answer: whoever looks at the port with a browser or a probe sees what it is.
_HTTP = (b"GET ", b"HEAD ", b"POST ", b"PUT ", b"DELETE ", b"OPTIONS ", b"PATCH ", b"PRI * ")
_HTTP_REFUSED = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 36\r\n"
    b"Connection: close\r\n\r\nThis port takes AMQP 1.0, not HTTP.\n"
)


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
        self.output = Output()
        self.input = Input(self)
        self.state = ConnectionState.START
        self.is_awake = False
        self.send_frame_size = MIN_MAX_FRAME_SIZE
        self.channel_max = config.channel_max
        self._encoder = Encoder()
        self._decoder = Decoder(b"", 0, 0, config.limits)
        self.transfer_fields = TransferFields()
        self.transfer_fields.takes_long_tags = config.takes_long_tags
        self.flow_fields = FlowFields()
        self.disposition_fields = DispositionFields()
        self._sasl_layer = SaslLayer(self, sasl, is_sasl_required)
        self._is_receiving = False
        self._is_reported = False
        self.remote_open = None
        self._is_open_due = False
        self.channels = Channels(self)
        self.relay = Relay()
        self.links = LinkNames()
        self._busy: list[Session] = []
        # The work since `receive_some` was called, in units of about a microsecond; handlers may add theirs.
        self.work = 0
        self._clock = IdleClock(config.idle_timeout_s)
        self.context = None

    # --- for the application

    @property
    def is_finished(self) -> bool:
        """Whether nothing more is to be received; remaining output may still be sent."""
        return self.state is _OVER

    def start(self, now: float) -> None:
        """Begin, at the time when the transport is connected; a client sends its header."""
        self._clock.start(now)
        if self.is_client:
            if self._sasl_layer.is_passed:
                self._send_header()
            else:
                self.output.put_raw(SASL_HEADER)
                self.wake()

    def open(self, told: ConnectionConfig | None = None) -> None:
        """Open the connection, or answer the peer's open; during SASL, the open waits for its end.

        `told` replaces the configuration in our open. Of its limits, only the frame size is enforced on the peer.
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
        """Close the connection; the peer's close ends it. With an error, further input is discarded."""
        move = ConnectionMove.SEND_CLOSE if error is None else ConnectionMove.SEND_CLOSE_ERROR
        self._check_move(move)
        self._flush()
        self.send_performative(0, Close(error=error))
        self._move(move)
        self._is_receiving = False
        self.channels.fall_silent()

    def hold(self) -> None:
        """Take no input until `release` is called. To be called when the peer has opened and must wait for our open."""
        self.input.is_waiting = True

    def release(self, now: float) -> None:
        """Take the input that came meanwhile."""
        held = self.input.stop_waiting()
        if held is not None:
            self.receive_data(held, now)

    def session(self) -> Session:
        """Return a new session on the lowest free channel; the caller begins it."""
        if self.state is _OVER or self.state in _CLOSING:
            raise StateError(f"a connection in the state {self.state.value!r} takes no new session")
        return self.channels.new()

    @property
    def cut_frame(self) -> bytes:
        """The beginning of an incomplete frame or header."""
        return self.input.cut_frame

    def sessions(self) -> list[Session]:
        """Return the sessions that have a channel on either side."""
        return self.channels.all()

    # --- for the shell

    def receive_data(self, data: bytes | bytearray, now: float, start: int = 0, end: int = -1) -> None:
        """Take data[start:end] from the transport."""
        end = len(data) if end < 0 else end
        start = self.receive_some(data, now, start, end, end - start)
        while start < end:
            start = self.receive_some(data, now, start, end, end - start)

    def receive_some(self, data: bytes | bytearray, now: float, start: int, end: int, enough: int) -> int:
        """Take `enough` octets of data[start:end], up to the end of a frame; return the offset where to continue.

        It may take fewer: expensive frames are taken up to `WORK_MAX`, so that other connections get their turn.
        """
        self._clock.heard(now)
        start = self.input.take(data, start, end, enough)
        # The caller may reuse the buffer now.
        self._decoder.reset(b"", 0, 0)
        return start

    def send_sasl(self, frames: Sequence[Any], now: float) -> None:
        """Send awaited SASL frames, and take the input that came meanwhile; do nothing if the exchange is over."""
        if not self._sasl_layer.is_active:
            return
        self._sasl_layer.send(frames)
        self._sasl_layer.heed()
        if not self.input.is_waiting:
            self.release(now)

    def data_to_send(self, now: float) -> bytearray:
        """Return the output for the transport, and drop it here."""
        self._flush()
        self.is_awake = False
        if self.output.end > 0:
            self._clock.spoke(now)
        return self.output.take()

    def written(self, octets: bytearray) -> bool:
        """Reuse the memory of the output that `data_to_send` returned, unless an object still views it.

        Return whether it is reused; the caller must drop it then.
        """
        return take_back(octets)

    def next_deadline(self) -> float:
        """Return the time at which `tick` is due, infinity for never."""
        if self.state is _OVER:
            return _NEVER
        return self._clock.deadline(self.state is ConnectionState.OPENED)

    def tick(self, now: float) -> None:
        """Do the work that is due: send before the peer's idle time-out ends, and enforce ours (2.4.5)."""
        if self.state is _OVER:
            return
        if self._clock.is_peer_lost(now):
            self.fail(ResourceLimitExceeded(f"nothing was received for {self.config.idle_timeout_s:g} s"))
            self._report_closed(None)
            self.state = _OVER
        elif self.state is ConnectionState.OPENED and self._clock.is_word_due(now):
            self._clock.spoke(now)
            self.output.put_raw(EMPTY_FRAME)
            self.wake()

    def transport_closed(self) -> None:
        """Note that the transport is closed: links and sessions are reported as over, then the connection."""
        self.input.drop()
        self.state = _OVER
        self._is_receiving = False
        if self._sasl_layer.is_active:
            self._sasl_layer.abandon()
        self._report_closed(None)

    # --- for sessions and links

    def wake(self) -> None:
        """Tell the handler once that there is output."""
        if not self.is_awake:
            self.is_awake = True
            self.handler.on_output(self)

    def check_open(self) -> None:
        """Refuse an action before our open or after our close; an open that is due is sent now."""
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
        """Write a frame around a complete performative."""
        self._put_frame(channel, composite_octets(self._encoder, performative), performative)

    def send_attach(self, channel: int, performative: Attach) -> None:
        """Write an attach. An unsettled map that does not fit a frame is cut, and the attach is marked incomplete
        (2.7.3).
        """
        body = composite_octets(self._encoder, performative)
        while len(body) + 8 > self.send_frame_size and performative.unsettled:
            kept = list(performative.unsettled.items())
            performative.unsettled = dict(kept[: len(kept) // 2])
            performative.incomplete_unsettled = True
            body = composite_octets(self._encoder, performative)
        self._put_frame(channel, body, performative)

    def decode(self, data: bytes | bytearray, body: int, end: int) -> Any:
        """Return the performative of a frame without payload."""
        self._decoder.reset(data, body, end)
        performative = decode_composite(self._decoder)
        if self._decoder.pos != end:
            raise DecodeError("octets behind a performative that has no payload", offset=self._decoder.pos)
        return performative

    # --- for the input and the SASL layer

    def receive_frame_size(self) -> int:
        """Return the largest size of a frame, in octets."""
        return self.config.sasl_frame_size if self._sasl_layer.is_active else self.config.max_frame_size

    def size_error(self, size: int, limit: int) -> RemoteError:
        """Return the error for a frame of this size."""
        if size == _HEADER_AS_SIZE and self._is_sasl_left():
            return AuthenticationSkipped()
        return FramingError(f"a frame of {size} octets, where 8 to {limit} are allowed")

    def _is_sasl_left(self) -> bool:
        # The octets are an AMQP header: the client skipped authentication, which is more precise than a bad frame size.
        return self._sasl_layer.is_active and not self.is_client

    def receive_header(self, octets: bytes) -> None:
        """Take the peer's protocol header (2.2)."""
        layer = self._sasl_layer
        if octets == SASL_HEADER and layer.may_begin:
            self.input.is_header_due = False
            layer.begin()
        elif octets == AMQP_HEADER and layer.may_be_left:
            layer.is_passed = True
            self.input.is_header_due = False
            self._move(ConnectionMove.RECV_HEADER)
            if not self.is_client:
                self._send_header()
        else:
            self._refuse_header(octets)

    def authenticated(self) -> None:
        """Continue with the AMQP header, because SASL has succeeded."""
        self.input.is_header_due = True
        if self.is_client:
            self._send_header()
        self.handler.on_authenticated(self)

    def authentication_failed(self) -> None:
        """End without a close, because SASL has failed."""
        self.input.is_waiting = False
        self.state = _OVER
        self.handler.on_authentication_failed(self)
        self._report_closed(None)

    def receive_frame(self, data: bytes | bytearray, start: int, end: int) -> None:
        """Take the frame data[start:end]."""
        view = data
        body = start + 4 * view[start + 4]
        kind = view[start + 5]
        if view[start + 4] < 2 or body > end:
            raise FramingError(f"a data offset of {view[start + 4]} in a frame of {end - start} octets")
        if kind != (_SASL_FRAME if self._sasl_layer.is_active else _AMQP_FRAME):
            if kind == _AMQP_FRAME and self._is_sasl_left():
                raise AuthenticationSkipped
            raise FramingError(f"a frame of type {kind} is not expected here")
        decoder = self._decoder
        decoder.begin(data, body, end)
        if self._sasl_layer.is_active:
            self._sasl_layer.receive(decoder)
            return
        if body == end:
            return
        code = decoder.read_descriptor()
        channel = view[start + 6] << 8 | view[start + 7]
        if not self._is_receiving:
            if code == _OPEN and channel != 0:
                raise FramingError(f"an open on channel {channel} instead of 0")
            self._receive_outside(code, data, body, end)
            return
        if code == _CLOSE:
            self._receive_close(self.decode(data, body, end))
        else:
            self.channels.receive(decoder, channel, code, data, body, end)

    def fail(self, error: RemoteError) -> None:
        """Close the connection for a violation, or end it if the peer cannot understand a close."""
        if self.state is _OVER:
            return
        is_closing = self.state in _CLOSING
        is_over = self._sasl_layer.is_active or self.state in _BEFORE_HEADERS
        self._is_receiving = False
        if not is_closing and not is_over:
            if self.state in _BEFORE_OPEN:
                self.open()
            condition = error_about(error)
            self.close(condition)
            self.channels.report_all(condition)
        if not is_closing:
            self.handler.on_violation(self, error)
        if is_over or self.input.is_framing_lost:
            self.state = _OVER
            if self._sasl_layer.is_active:
                self._sasl_layer.abandon()
            self._report_closed(None)

    # --- reading

    def _send_header(self) -> None:
        self._move(ConnectionMove.SEND_HEADER)
        self.output.put_raw(AMQP_HEADER)
        self.wake()
        if self._is_open_due:
            self._is_open_due = False
            self.open()

    def _refuse_header(self, octets: bytes) -> None:
        # 2.2: answer with the header that is supported, and close the transport.
        is_passed = self._sasl_layer.is_passed
        is_http = octets.startswith(_HTTP) and not self.is_client
        if is_http:
            self.output.put_raw(_HTTP_REFUSED)
            self.wake()
        elif not self.is_client:
            self.output.put_raw(AMQP_HEADER if is_passed else SASL_HEADER)
            self.wake()
        self.state = _OVER
        if octets == AMQP_HEADER and not is_passed:
            self.handler.on_violation(self, AuthenticationSkipped())
        elif is_http:
            self.handler.on_violation(self, HttpReceived())
        else:
            self.handler.on_violation(self, FramingError(f"protocol header {octets!r} is not supported here"))
        self._report_closed(None)

    def _receive_outside(self, code: int, data: bytes | bytearray, body: int, end: int) -> None:
        # Only an open may come first. After our close, only the peer's open and close count.
        performative = self.decode(data, body, end) if code in (_OPEN, _CLOSE) else None
        if performative is None or (code == _OPEN and self.remote_open is not None):
            if self.state not in _CLOSING:
                raise IllegalState("the first frame has to be an open")
        elif code == _OPEN:
            self._receive_open(performative)
        elif self.remote_open is None:
            raise IllegalState("a close before the open")
        else:
            self._receive_close(performative)

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

    # --- inside

    def _move(self, event: ConnectionMove) -> None:
        self.state = self._check_move(event)

    def _check_move(self, event: ConnectionMove) -> ConnectionState:
        state = CONNECTION_TRANSITIONS.get((self.state, event))
        if state is None:
            raise StateError(f"can't {event.value} on a connection in the state {self.state.value!r}")
        return state

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

    def _report_closed(self, error: Error | None) -> None:
        self.channels.report_all(error)
        if not self._is_reported:
            self._is_reported = True
            self.handler.on_closed(self, error)
