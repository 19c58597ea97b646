"""The transfer performative (2.7.5), read and composed in place, without an object for each frame.

`TransferFields` is filled again for each frame. The payload stays in the receive buffer, from `payload` to the end of
the frame. `write_transfer` composes common frames. A frame with a delivery state or a resumption uses the dataclass of
the performative.
"""

from typing import TYPE_CHECKING

from routerd.wire import memory
from routerd.wire.composite import decode_state
from routerd.wire.errors import DecodeError, InvalidField

if TYPE_CHECKING:
    from routerd.wire.decoder import Decoder
    from routerd.wire.output import Output

TAG_MAX = 32
_TAG_MAX = TAG_MAX
_FIELDS = 11
PLAIN_HEADER = 0x02000000
"""The second word of a frame without extended header, except for its channel."""
TRANSFER_START = 0x005314C0
"""The next word, in a transfer with a list8; its size and count follow."""
_HEADER = PLAIN_HEADER
_START = TRANSFER_START
_FIELDS_AT = 14
# The most octets of a first transfer before its payload.
_FIRST_MOST = _FIELDS_AT + 5 + 5 + 2 + _TAG_MAX + 5 + 2
# The most octets that are read of a list with the usual fields: start, handle, delivery-id, tag, and three more.
_USUAL_MAX = 3 + 2 + 5 + 2 + _TAG_MAX + 3


class TransferFields:
    """The fields of the present transfer; -1 stands for an absent field."""

    tag: bytes | None
    state: object

    def __init__(self) -> None:
        self.tag = None
        self.state = None
        # The receiver looks at tags that are too long; otherwise they are a violation.
        self.takes_long_tags = False
        self.clear()

    def clear(self) -> None:
        """Set every field as if it were absent."""
        self.handle = -1
        self.delivery_id = -1
        # A comparison is cheaper than a second count of references to None.
        if self.tag is not None:
            self.tag = None
        if self.state is not None:
            self.state = None
        # A tag of four octets, as most are, is kept as a number.
        self.tag_number = -1
        self.message_format = -1
        self.settled = -1
        self.more = False
        self.rcv_settle_mode = -1
        self.resume = False
        self.aborted = False
        self.batchable = False
        self.payload = 0

    def read(self, decoder: "Decoder") -> None:
        """Read the list of fields behind the descriptor; the decoder then stands at the payload."""
        self.clear()
        if self._read_usual(decoder):
            return
        start = decoder.pos
        count = decoder.read_list()
        if count > _FIELDS:
            raise DecodeError(f"a transfer has {_FIELDS} fields at most, not {count}", offset=start)
        list_end = decoder.list_end
        if count > 0:
            self.handle = decoder.read_uint()
        if self.handle < 0:
            raise DecodeError("a transfer without a handle", offset=start)
        if count > 1:
            self.delivery_id = decoder.read_uint()
        if count > 2:
            self.tag_number = decoder.read_four()
            if self.tag_number < 0:
                self._read_tag(decoder, start)
        if count > 3:
            self.message_format = decoder.read_uint()
        if count > 4:
            self.settled = decoder.read_boolean()
        if count > 5:
            self.more = decoder.read_boolean() == 1
        if count > 6:
            self._read_rare_fields(decoder, count, start)
        if decoder.pos != list_end:
            raise DecodeError("the fields of a transfer do not fill its list", offset=decoder.pos)
        self.payload = list_end

    def _read_usual(self, decoder: "Decoder") -> bool:
        """Read the common fields in their common encodings; return false, without a change, for others."""
        view = decoder.view
        at = decoder.pos
        if decoder.end - at < _USUAL_MAX or view[at] != 0xC0:
            return False
        list_end = at + 2 + view[at + 1]
        count = view[at + 2]
        if not 4 <= count <= 6 or list_end > decoder.end:
            return False
        at += 3
        if view[at] == 0x43:
            handle = 0
            at += 1
        elif view[at] == 0x52:
            handle = view[at + 1]
            at += 2
        else:
            return False
        if view[at] == 0x70:
            # In steps: in C the whole expression would be an int, and a large value would be negative.
            delivery_id = view[at + 1] << 8 | view[at + 2]
            delivery_id = delivery_id << 16 | view[at + 3] << 8 | view[at + 4]
            at += 5
        elif view[at] == 0x52:
            delivery_id = view[at + 1]
            at += 2
        elif view[at] == 0x43:
            delivery_id = 0
            at += 1
        else:
            return False
        tag_size = view[at + 1]
        if view[at] != 0xA0 or tag_size > _TAG_MAX:
            return False
        tag_at = at + 2
        at = tag_at + tag_size
        if view[at] != 0x43:
            return False
        at += 1
        settled = -1
        if count > 4:
            if view[at] != 0x41 and view[at] != 0x42:
                return False
            settled = 0x42 - view[at]
            at += 1
        more = False
        if count > 5:
            if view[at] != 0x41 and view[at] != 0x42:
                return False
            more = view[at] == 0x41
            at += 1
        if at != list_end:
            return False
        self.handle = handle
        self.delivery_id = delivery_id
        if tag_size == 4:
            self.tag_number = view[tag_at] << 8 | view[tag_at + 1]
            self.tag_number = self.tag_number << 16 | view[tag_at + 2] << 8 | view[tag_at + 3]
        else:
            self.tag = decoder.octets(tag_at, tag_at + tag_size)
        self.message_format = 0
        self.settled = settled
        self.more = more
        self.payload = list_end
        decoder.pos = list_end
        return True

    def tag_octets(self) -> bytes | None:
        """Return the delivery-tag as octets."""
        return self.tag if self.tag_number < 0 else self.tag_number.to_bytes(4, "big")

    def _read_tag(self, decoder: "Decoder", start: int) -> None:
        self.tag = decoder.read_binary()
        if self.tag is not None and len(self.tag) > _TAG_MAX and not self.takes_long_tags:
            raise InvalidField(f"a delivery-tag has {_TAG_MAX} octets at most", offset=start)

    def _read_rare_fields(self, decoder: "Decoder", count: int, start: int) -> None:
        self.rcv_settle_mode = decoder.read_ubyte()
        if self.rcv_settle_mode > 1:
            raise InvalidField(f"rcv-settle-mode is 0 or 1, not {self.rcv_settle_mode}", offset=start)
        if count > 7:
            self.state = decode_state(decoder)
        if count > 8:
            self.resume = decoder.read_boolean() == 1
        if count > 9:
            self.aborted = decoder.read_boolean() == 1
        if count > 10:
            self.batchable = decoder.read_boolean() == 1


def write_transfer(
    out: "Output",
    channel: int,
    handle: int,
    delivery_id: int,
    tag: bytes | None,
    tag_number: int,
    message_format: int,
    settled: bool,
    more: bool,
    data: bytes | bytearray,
    start: int,
    end: int,
) -> int:
    """Compose the first (or only) transfer of a delivery around data[start:end]; the default tag is the sender's
    number.

    Returns the end of the frame.
    """
    # Local variables instead of the buffer's cursor: in C, any stored octet might alias the cursor.
    first = out.reserve(_FIRST_MOST + end - start)
    view = out.view
    memory.put_word(view, first + 4, _HEADER | channel)
    memory.put_word(view, first + 8, _START)
    at = memory.put_uint(view, first + _FIELDS_AT, handle)
    at = memory.put_uint(view, at, delivery_id)
    view[at] = 0xA0
    if tag is None:
        view[at + 1] = 4
        at = memory.put_word(view, at + 2, tag_number)
    else:
        octets = tag
        size = len(tag)
        view[at + 1] = size
        memory.copy(view, at + 2, octets, 0, size)
        at += 2 + size
    at = memory.put_uint(view, at, message_format)
    view[at] = 0x41 if settled else 0x42
    at += 1
    if more:
        view[at] = 0x41
        at += 1
    # The size of a list8 counts its own count octet (part 1, 1.6.22).
    view[first + 12] = at - first - _FIELDS_AT + 1
    view[first + 13] = 6 if more else 5
    source = data
    memory.copy(view, at, source, start, end - start)
    at += end - start
    memory.put_word(view, first, at - first)
    out.end = at
    return at


def write_changed_transfer(
    out: "Output",
    channel: int,
    handle: int,
    delivery_id: int,
    tag: bytes | None,
    tag_number: int,
    settled: bool,
    front: bytes,
    data: bytes | bytearray,
    start: int,
    end: int,
) -> None:
    """Compose the only transfer of a delivery whose payload is `front` and data[start:end]."""
    frame = out.end
    write_transfer(out, channel, handle, delivery_id, tag, tag_number, 0, settled, False, front, 0, len(front))
    out.reserve(end - start)
    out.put_octets(data, start, end)
    out.end_frame(frame)


def write_continuation(
    out: "Output", channel: int, handle: int, more: bool, data: bytes | bytearray, start: int, end: int
) -> None:
    """Compose a further transfer of the delivery under way on a link."""
    frame = out.begin_performative(channel, 0x14, end - start)
    out.put_uint(handle)
    if more:
        for _ in range(4):
            out.put_octet(0x40)
        out.put_octet(0x41)
        out.end_fields(frame, 6)
    else:
        out.end_fields(frame, 1)
    out.put_octets(data, start, end)
    out.end_frame(frame)


def write_abort(out: "Output", channel: int, handle: int) -> None:
    """Compose the transfer that aborts the delivery under way on a link (2.7.5, aborted)."""
    frame = out.begin_performative(channel, 0x14, 0)
    out.put_uint(handle)
    for _ in range(8):
        out.put_octet(0x40)
    out.put_octet(0x41)
    out.end_fields(frame, 10)
    out.end_frame(frame)
