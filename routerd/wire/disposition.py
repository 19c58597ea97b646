"""The disposition performative (2.7.6): read in place, and gathered into ranges before it is written.

A receiver that accepts a thousand deliveries in a row sends one frame. Consecutive ids with the same state and
settlement extend the present range, and any other change sends it.
"""

from typing import TYPE_CHECKING, Any

from routerd.wire.composite import decode_state, encode_composite, encode_state
from routerd.wire.errors import DecodeError
from routerd.wire.outcomes import ACCEPTED
from routerd.wire.performatives import Disposition

if TYPE_CHECKING:
    from routerd.wire.decoder import Decoder
    from routerd.wire.output import Output

# uint arithmetic wraps (2.8.10). As a C constant, the mask avoids Python integers.
_MASK = 0xFFFFFFFF
_FIELDS = 6
# A longer state does not fit a list8 beside the other fields.
_STATE_MAX = 200


class DispositionFields:
    """The fields of the present disposition."""

    state: object

    def __init__(self) -> None:
        self.is_receiver = False
        self.first = 0
        self.last = 0
        self.settled = False
        self.state = None

    def read(self, decoder: "Decoder") -> None:
        """Read the list of fields behind the descriptor."""
        start = decoder.pos
        count = decoder.read_list()
        if count > _FIELDS:
            raise DecodeError(f"a disposition has {_FIELDS} fields at most, not {count}", offset=start)
        if count < 2:
            raise DecodeError("a disposition without a role or a first delivery-id", offset=start)
        role = decoder.read_boolean()
        first = decoder.read_uint()
        if role < 0 or first < 0:
            raise DecodeError("a disposition without a role or a first delivery-id", offset=start)
        last = decoder.read_uint() if count > 2 else -1
        self.is_receiver = role == 1
        self.first = first
        self.last = first if last < 0 else last
        self.settled = count > 3 and decoder.read_boolean() == 1
        self.state = decode_state(decoder) if count > 4 else None
        if count > 5:
            decoder.read_boolean()
        if decoder.pos != decoder.list_end or decoder.pos != decoder.end:
            raise DecodeError("the fields of a disposition do not fill its frame", offset=decoder.pos)


class DispositionRange:
    """The range of deliveries for the next disposition."""

    state: Any

    def __init__(self, is_receiver: bool) -> None:
        self.is_receiver = is_receiver
        self.is_pending = False
        self.first = 0
        self.last = 0
        self.settled = False
        self.state = None

    def extend(self, first: int, count: int, state: Any, settled: bool) -> bool:
        """Add deliveries if they continue the range; otherwise change nothing."""
        if not self.is_pending:
            self.first = first
            self.state = state
            self.settled = settled
            self.is_pending = True
        elif (
            first != (self.last + 1) & _MASK
            or settled != self.settled
            or (state is not self.state and state != self.state)
        ):
            return False
        self.last = (first + count - 1) & _MASK
        return True

    def write(self, out: "Output", channel: int) -> None:
        """Compose the disposition for the range, and clear it."""
        self.is_pending = False
        state = b""
        if self.state is not None and self.state is not ACCEPTED:
            state = _encoded(self.state)
        if len(state) > _STATE_MAX:
            self._write_long(out, channel)
            return
        frame = out.begin_performative(channel, 0x15, 0)
        out.put_boolean(self.is_receiver)
        out.put_uint(self.first)
        if self.last == self.first:
            out.put_octet(0x40)
        else:
            out.put_uint(self.last)
        out.put_boolean(self.settled)
        count = 4
        if self.state is ACCEPTED:
            out.put_octet(0x00)
            out.put_octet(0x53)
            out.put_octet(0x24)
            out.put_octet(0x45)
            count = 5
        elif state:
            out.put_octets(state, 0, len(state))
            count = 5
        out.end_fields(frame, count)
        out.end_frame(frame)

    def _write_long(self, out: "Output", channel: int) -> None:
        body = bytearray()
        encode_composite(
            body,
            Disposition(
                role=self.is_receiver, first=self.first, last=self.last, settled=self.settled, state=self.state
            ),
        )
        out.put_frame(channel, 0, body)


def _encoded(state: Any) -> bytes:
    octets = bytearray()
    encode_state(octets, state)
    return bytes(octets)
