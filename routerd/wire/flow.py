"""The flow performative (2.7.4), read and composed in place."""

from typing import TYPE_CHECKING, Any

from routerd.wire.errors import DecodeError

if TYPE_CHECKING:
    from routerd.wire.decoder import Decoder
    from routerd.wire.output import Output

_FIELDS = 11


class FlowFields:
    """The fields of the present flow; -1 stands for an absent field."""

    properties: Any

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Set every field as if it were absent."""
        self.next_incoming_id = -1
        self.incoming_window = -1
        self.next_outgoing_id = -1
        self.outgoing_window = -1
        self.handle = -1
        self.delivery_count = -1
        self.link_credit = -1
        self.available = -1
        self.drain = False
        self.echo = False
        self.properties = None

    def read(self, decoder: "Decoder") -> None:
        """Read the list of fields behind the descriptor."""
        self.clear()
        start = decoder.pos
        count = decoder.read_list()
        if count > _FIELDS:
            raise DecodeError(f"a flow has {_FIELDS} fields at most, not {count}", offset=start)
        if count > 3:
            self.next_incoming_id = decoder.read_uint()
            self.incoming_window = decoder.read_uint()
            self.next_outgoing_id = decoder.read_uint()
            self.outgoing_window = decoder.read_uint()
        if self.incoming_window < 0 or self.next_outgoing_id < 0 or self.outgoing_window < 0:
            raise DecodeError("a flow without one of its mandatory windows and ids", offset=start)
        if count > 4:
            self.handle = decoder.read_uint()
        if count > 5:
            self.delivery_count = decoder.read_uint()
        if count > 6:
            self.link_credit = decoder.read_uint()
        if count > 7:
            self.available = decoder.read_uint()
        if count > 8:
            self.drain = decoder.read_boolean() == 1
        if count > 9:
            self.echo = decoder.read_boolean() == 1
        if count > 10:
            self.properties = decoder.read_map()
        if decoder.pos != decoder.list_end or decoder.pos != decoder.end:
            raise DecodeError("the fields of a flow do not fill its frame", offset=decoder.pos)


def write_flow(
    out: "Output",
    channel: int,
    next_incoming_id: int,
    incoming_window: int,
    next_outgoing_id: int,
    outgoing_window: int,
    handle: int,
    delivery_count: int,
    link_credit: int,
    available: int,
    drain: bool,
    echo: bool,
) -> None:
    """Compose a flow; -1 leaves a field out, and handle -1 makes it a flow of the session alone."""
    frame = out.begin_performative(channel, 0x13, 0)
    _put_optional(out, next_incoming_id)
    out.put_uint(incoming_window)
    out.put_uint(next_outgoing_id)
    out.put_uint(outgoing_window)
    count = 4
    if handle >= 0 or echo:
        _put_optional(out, handle)
        _put_optional(out, delivery_count)
        _put_optional(out, link_credit)
        _put_optional(out, available)
        if handle < 0:
            out.put_octet(0x40)
        else:
            out.put_boolean(drain)
        out.put_boolean(echo)
        count = 10
    out.end_fields(frame, count)
    out.end_frame(frame)


def _put_optional(out: "Output", value: int) -> None:
    if value < 0:
        out.put_octet(0x40)
    else:
        out.put_uint(value)
