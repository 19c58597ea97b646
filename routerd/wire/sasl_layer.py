"""The SASL layer of a connection: the frames before its AMQP header, and their consequences (5.3)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from routerd.wire.composite import composite_octets, decode_composite
from routerd.wire.decoder import Decoder
from routerd.wire.encoder import Encoder
from routerd.wire.errors import DecodeError
from routerd.wire.frames import FRAME_HEADER_SIZE, SASL_FRAME, SASL_HEADER
from routerd.wire.sasl import SaslCode

if TYPE_CHECKING:
    from routerd.wire.connection import Connection
    from routerd.wire.sasl import SaslClient, SaslRelay, SaslServer


class SaslLayer:
    """Carries the frames of an exchange, and tells the connection its result; without an exchange it is passed."""

    def __init__(
        self, connection: "Connection", exchange: "SaslClient | SaslRelay | SaslServer | None", is_required: bool
    ) -> None:
        self.connection = connection
        self.is_active = False
        self.is_passed = exchange is None
        self._is_required = is_required and exchange is not None
        self._exchange = exchange

    @property
    def may_begin(self) -> bool:
        """Whether a SASL header may come."""
        return not self.is_passed and not self.is_active

    @property
    def may_be_left(self) -> bool:
        """Whether an AMQP header may come instead."""
        return (self.is_passed or not self._is_required) and not self.is_active

    def begin(self) -> None:
        """Answer the peer's SASL header."""
        self.is_active = True
        if not self.connection.is_client:
            self.connection.output.put_raw(SASL_HEADER)
            self.send(cast("SaslServer", self._exchange).start())
            self.heed()

    def receive(self, decoder: Decoder) -> None:
        """Take the body of a frame."""
        frame = decode_composite(decoder)
        if decoder.pos != decoder.end:
            raise DecodeError("octets behind a SASL frame's body", offset=decoder.pos)
        self.send(self._there().receive(frame))
        self.heed()

    def send(self, frames: Sequence[Any]) -> None:
        """Write frames of the exchange."""
        for frame in frames:
            body = composite_octets(Encoder(), frame)
            if len(body) + FRAME_HEADER_SIZE > self.connection.config.sasl_frame_size:
                # 5.3.1 has no means to report this: credentials of that length cannot be used with AMQP.
                self._fail()
                return
            self.connection.output.put_frame(0, SASL_FRAME, body)
        self.connection.wake()

    def heed(self) -> None:
        """Act on the state of the exchange."""
        exchange = self._there()
        is_over = self.connection.is_finished
        self.connection.input.is_waiting = exchange.is_waiting and not is_over
        if not exchange.done or is_over:
            return
        if exchange.outcome == SaslCode.OK:
            self.is_active = False
            self.is_passed = True
            self.connection.authenticated()
        else:
            self._fail()

    def abandon(self) -> None:
        """Abandon the exchange without an outcome."""
        self._there().abandon()
        self._fail()

    def _fail(self) -> None:
        self.is_active = False
        self.connection.authentication_failed()

    def _there(self) -> "SaslClient | SaslRelay | SaslServer":
        return cast("SaslClient | SaslRelay | SaslServer", self._exchange)
