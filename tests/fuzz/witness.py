"""Watches what an engine writes, as a peer that knows the standard and keeps its own books.

It judges the engine's octets by themselves: that frames and fields are well formed, and that no frame is where the
frames before it do not allow it. Whether credit and windows were kept is for the engine at the other end to say.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.fuzz import octets as o
from tests.fuzz.broken import Broken, check
from tests.fuzz.walker import Frame, Malformed, Value, Walker, frames

_MASK = 0xFFFFFFFF
_SYMBOLS = "symbols"

FIELDS = {
    o.OPEN: (
        *("string!", "string", "uint", "ushort", "uint", _SYMBOLS, _SYMBOLS, _SYMBOLS, _SYMBOLS, "map"),
    ),
    o.BEGIN: ("ushort", "uint!", "uint!", "uint!", "uint", _SYMBOLS, _SYMBOLS, "map"),
    o.ATTACH: (
        *("string!", "uint!", "boolean!", "ubyte", "ubyte", "described", "described", "map", "boolean", "uint"),
        *("ulong", _SYMBOLS, _SYMBOLS, "map"),
    ),
    o.FLOW: (
        *("uint", "uint!", "uint!", "uint!", "uint", "uint", "uint", "uint", "boolean", "boolean", "map"),
    ),
    o.TRANSFER: (
        *("uint!", "uint", "binary", "uint", "boolean", "boolean", "ubyte", "described", "boolean", "boolean"),
        "boolean",
    ),
    o.DISPOSITION: ("boolean!", "uint!", "uint", "boolean", "described", "boolean"),
    o.DETACH: ("uint!", "boolean", "error"),
    o.END: ("error",),
    o.CLOSE: ("error",),
    o.ERROR: ("symbol!", "string", "map"),
    o.MECHANISMS: ("symbols!",),
    o.INIT: ("symbol!", "binary", "string"),
    o.CHALLENGE: ("binary!",),
    o.RESPONSE: ("binary!",),
    o.OUTCOME: ("ubyte!", "binary"),
}
"""The types of the fields of performatives, with ! behind those that are mandatory."""


@dataclass(slots=True)
class SeenLink:
    """A link that the engine attached."""

    name: str
    is_sender: bool
    is_refused: bool
    is_under_way: bool = False


@dataclass(slots=True)
class SeenSession:
    """A session that the engine began."""

    next_outgoing_id: int
    delivery_id: int = -1
    links: dict[int, SeenLink] = field(default_factory=dict)


class Witness:
    """The books on one engine's output."""

    def __init__(self, *, is_client: bool) -> None:
        self.is_client = is_client
        self.frame_size = 512
        """The most that the peer accepts: told by its open."""
        self.sessions: dict[int, SeenSession] = {}
        self.names: set[tuple[str, bool]] = set()
        self.transfers = 0
        self._headers: list[bytes] = []
        self._is_open = False
        self._is_closed = False
        self._moves = {
            o.BEGIN: self._begin,
            o.ATTACH: self._attach,
            o.FLOW: self._flow,
            o.TRANSFER: self._transfer,
            o.DISPOSITION: self._disposition,
            o.DETACH: self._detach,
            o.END: self._end,
        }

    def see(self, octets: bytes | bytearray) -> list[int]:
        """Take what the engine wrote, whole frames; return the codes of the performatives."""
        codes = []
        try:
            for frame in frames(octets):
                codes.append(self._see_frame(frame))
        except Malformed as error:
            raise Broken(f"the engine wrote {bytes(octets).hex()}: {error}") from error
        twice = [link.name for session in self.sessions.values() for link in session.links.values() if link.is_refused]
        # An attach whose name is taken is answered too, if only to detach at once.
        check(not twice or self._is_closed, f"links are attached twice, and not to refuse them: {twice}")
        return codes

    def _see_frame(self, frame: Frame) -> int:
        check(not self._is_closed, f"the engine wrote a frame after its close: {frame}")
        if frame.kind < 0:
            self._see_header(frame.body)
            return -1
        size = len(frame.body) + 8
        if frame.kind == 1:
            check(self._headers == [o.SASL_HEADER], f"a SASL frame after {self._headers}")
            check(size <= 512, f"a SASL frame of {size} octets")
            performative(frame.body)
            return -2
        check(frame.kind == 0, f"a frame of type {frame.kind}")
        check(self._headers[-1:] == [o.AMQP_HEADER], f"a frame after {self._headers}")
        check(size <= self.frame_size, f"a frame of {size} octets, where {self.frame_size} are accepted")
        if not frame.body:
            check(self._is_open, "an empty frame before the open")
            return 0
        code, fields, payload = performative(frame.body)
        check(not payload or code == o.TRANSFER, f"{len(payload)} octets behind a performative 0x{code:02x}")
        if code == o.OPEN:
            check(not self._is_open and frame.channel == 0, "a second open, or one on another channel")
            self._is_open = True
            return code
        check(self._is_open, f"performative 0x{code:02x} before the open")
        if code == o.CLOSE:
            check(frame.channel == 0, "a close on another channel")
            self._is_closed = True
            return code
        check(code in self._moves, f"performative 0x{code:02x}")
        self._moves[code](frame.channel, fields)
        return code

    def _see_header(self, header: bytes) -> None:
        check(header in (o.AMQP_HEADER, o.SASL_HEADER), f"the protocol header {header!r}")
        check(not self._is_open, "a protocol header after the open")
        # A server answers a header that it does not take with one that it would.
        check(header not in self._headers or not self.is_client, f"the protocol header {header!r} again")
        check(self._headers[-1:] != [o.AMQP_HEADER] or not self.is_client, "a protocol header behind AMQP's")
        self._headers.append(header)

    def _session(self, channel: int) -> SeenSession:
        session = self.sessions.get(channel)
        if session is None:
            raise Broken(f"a frame on channel {channel}, on which no session is begun")
        return session

    def _link(self, channel: int, handle: Any) -> SeenLink:
        link = self._session(channel).links.get(handle)
        if link is None:
            raise Broken(f"a frame for handle {handle} on channel {channel}, to which no link is attached")
        return link

    def _begin(self, channel: int, fields: list[Any]) -> None:
        check(channel not in self.sessions, f"a begin on channel {channel}, which has a session")
        self.sessions[channel] = SeenSession(fields[1])

    def _attach(self, channel: int, fields: list[Any]) -> None:
        name, handle, is_receiver = fields[:3]
        session = self._session(channel)
        check(handle not in session.links, f"an attach with handle {handle}, which has a link")
        check(is_receiver or fields[9] is not None, "a sender's attach without initial-delivery-count")
        check(fields[3] in (None, 0, 1, 2) and fields[4] in (None, 0, 1), f"settle modes {fields[3:5]}")
        session.links[handle] = SeenLink(name, not is_receiver, (name, is_receiver) in self.names)
        self.names.add((name, is_receiver))

    def _flow(self, channel: int, fields: list[Any]) -> None:
        session = self._session(channel)
        check(fields[2] == session.next_outgoing_id, f"next-outgoing-id {fields[2]}, not {session.next_outgoing_id}")
        if fields[4] is None:
            check(fields[5:9] == [None] * 4, f"a flow of the session alone with {fields[5:9]} of a link")
        else:
            link = self._link(channel, fields[4])
            check(fields[6] is not None, "a flow of a link without link-credit")
            check(not link.is_sender or fields[5] is not None, "a sender's flow without delivery-count")

    def _transfer(self, channel: int, fields: list[Any]) -> None:
        handle, number, tag, message_format = fields[:4]
        session = self._session(channel)
        link = self._link(channel, handle)
        check(link.is_sender, f"a transfer on link {link.name!r}, as receiver")
        session.next_outgoing_id = session.next_outgoing_id + 1 & _MASK
        self.transfers += 1
        if not link.is_under_way:
            check(None not in (number, tag, message_format), f"a first transfer without {fields[1:4]}")
            check(len(tag) <= 32, f"a delivery-tag of {len(tag)} octets")
            expected = number if session.delivery_id < 0 else session.delivery_id + 1 & _MASK
            check(number == expected, f"delivery-id {number}, not {expected}")
            session.delivery_id = number
        link.is_under_way = bool(fields[5]) and not fields[9]

    def _disposition(self, channel: int, fields: list[Any]) -> None:
        session = self._session(channel)
        is_receiver, first, last = fields[:3]
        span = ((first if last is None else last) - first) & _MASK
        check(span < 0x80000000, f"a disposition from {first} back to {last}")
        if not is_receiver:
            check(session.delivery_id >= 0, "a sender's disposition before it sent anything")
            ahead = (session.delivery_id - first - span) & _MASK
            check(ahead < 0x80000000, f"a disposition up to {first + span}, where {session.delivery_id} was sent last")

    def _detach(self, channel: int, fields: list[Any]) -> None:
        link = self._link(channel, fields[0])
        del self._session(channel).links[fields[0]]
        if not link.is_refused:
            self.names.discard((link.name, not link.is_sender))

    def _end(self, channel: int, fields: list[Any]) -> None:
        session = self._session(channel)
        self.names -= {(link.name, not link.is_sender) for link in session.links.values()}
        del self.sessions[channel]


def performative(body: bytes) -> tuple[int, list[Any], bytes]:
    """Return the code, the fields (None for those that are absent) and the payload of a frame's body."""
    (kind, found), stop = Walker(body).value(0, len(body))
    if kind != "described":
        raise Malformed(f"a performative that is a {kind}")
    code, fields = _composite(found)
    return code, fields, body[stop:]


def _composite(found: tuple[Value, Value]) -> tuple[int, list[Any]]:
    (kind, code), (listed, items) = found
    if kind != "ulong" or listed != "list" or code not in FIELDS:
        raise Malformed(f"a composite of {kind} {code} and a {listed}")
    layout = FIELDS[code]
    if len(items) > len(layout):
        raise Malformed(f"0x{code:02x} with {len(items)} fields")
    padded = [*items, *[("null", None)] * (len(layout) - len(items))]
    return code, [_field(code, wanted, item) for wanted, item in zip(layout, padded, strict=True)]


def _field(code: int, layout: str, item: Value) -> Any:
    kind, found = item
    wanted = layout.removesuffix("!")
    if kind == "null":
        if layout != wanted:
            raise Malformed(f"0x{code:02x} without a field that is mandatory")
        return None
    if wanted == _SYMBOLS:
        if kind == "symbol":
            return (found,)
        if kind != "array" or found[0] or found[1] & ~0x10 != 0xA3:
            raise Malformed(f"0x{code:02x} with a {kind} for symbols")
        return tuple(text for _, text in found[2])
    if wanted == "error":
        if kind != "described" or found[0] != ("ulong", o.ERROR):
            raise Malformed(f"0x{code:02x} with a {kind} for an error")
        return _composite(found)[1]
    if kind != wanted:
        raise Malformed(f"0x{code:02x} with a {kind} for a {wanted}")
    return found
