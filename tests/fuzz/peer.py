"""A peer that is mostly plausible: frames composed from the choices of an input, in an order that gets somewhere.

It keeps count of what a right peer would say next, so that most of what it sends is taken; a `bend` in a
performative replaces, drops or adds a field, or lies about sizes, and some frames are cut or made of nothing but noise.
"""

from dataclasses import dataclass, field

from tests.fuzz import octets as o
from tests.fuzz.choices import Choices

NAMES = ("a", "b", "c", "d", "")
_MASK = 0xFFFFFFFF


@dataclass(slots=True)
class PeerSession:
    """What the peer knows of one of its channels."""

    next_outgoing_id: int = 0
    delivery_id: int = 0
    handles: dict[int, bool] = field(default_factory=dict)
    """The links that it attached: whether as sender."""
    under_way: set[int] = field(default_factory=set)
    """The handles of senders with a delivery that is not complete."""


class Peer:
    """Composes the octets of frames."""

    def __init__(self, choices: Choices, *, answers: bool) -> None:
        self._choices = choices
        self._answers = answers
        self.has_header = False
        self.is_open = False
        self.sessions: dict[int, PeerSession] = {}
        self._usual = (
            *(self.transfer, self.flow, self.disposition, self.attach, self.transfers, self.flow, self.detach),
            *(self.transfer, self.disposition, self.flow, self.attach, self.transfer, self.begin),
        )
        self._rare = (
            *(self.end, self.empty, self.end, self.open, self.end, self.empty, self.close, self.begin),
            *(self.end, self.empty, self.noise, self.header, self.odd_frame, self.sasl, self.close, self.odd_frame),
        )

    def frame(self) -> bytes:
        """Compose a frame of any kind; now and then it is cut short, or has an octet changed."""
        pick = self._choices.octet()
        composed = self._next(pick) if pick < 0xF0 else self._rare[pick & 15]()
        damage = self._choices.octet()
        if damage < 0xFC or not composed:
            return composed
        at = self._choices.octet() * len(composed) >> 8
        if damage == 0xFC:
            return composed[:at]
        return composed[:at] + bytes((self._choices.octet(),)) + composed[at + 1 :]

    def _next(self, pick: int) -> bytes:
        """Compose a frame that is in its place."""
        if not self.has_header:
            self.has_header = True
            return o.AMQP_HEADER
        if not self.is_open:
            return self.open()
        if not self.sessions:
            return self.begin()
        kind = self._usual[pick % len(self._usual)]
        if not any(session.handles for session in self.sessions.values()) and kind != self.begin:
            return self.attach()
        return kind()

    def header(self) -> bytes:
        """A protocol header."""
        others = (o.AMQP_HEADER, o.SASL_HEADER, b"AMQP\2\1\0\0", b"AMQP\0\1\1\0", b"HTTP/1.1", b"AMQP\0\0\x09\1")
        return self._choices.one_of(others)

    def open(self) -> bytes:
        """An open."""
        c = self._choices
        self.is_open = True
        return self._performative(
            0,
            o.OPEN,
            [
                o.string("peer"),
                c.one_of((o.NULL, o.string("host"))),
                o.uint(c.one_of((512, 1024, 65536, 0xFFFFFFFF, 600, 512, 4096, 512, 65536, 0xFFFFFFFF, 600))),
                o.ushort(c.one_of((7, 0, 1, 0xFFFF))),
                c.one_of((*(o.NULL, o.uint(1000), o.uint(200), o.uint(0), o.uint(0xFFFFFFFF)) * 4, o.uint(1))),
                o.NULL,
                c.one_of((o.NULL, o.array(o.symbol("en"), o.symbol("de")))),
                *self._tail(2),
            ],
        )

    def begin(self) -> bytes:
        """A begin, in answer to one of the engine's or as a new session."""
        c = self._choices
        options = c.octet()
        channel = options & 3
        if options < 0xF0:
            channel = next((free for free in range(4) if free not in self.sessions), channel)
        self.sessions[channel] = PeerSession()
        first = c.one_of((0, 1, _MASK - 1))
        self.sessions[channel].next_outgoing_id = first
        is_answer = options & (0x0C if self._answers else 0x7C) == 0x0C
        return self._performative(
            channel,
            o.BEGIN,
            [
                o.ushort(options >> 3 & 3) if is_answer else o.NULL,
                o.uint(first),
                o.uint(c.one_of((100, 1, 2, 0, 0x7FFFFFFF, _MASK))),
                o.uint(c.one_of((100, 0, _MASK))),
                c.one_of((o.uint(7), o.NULL, o.uint(0), o.uint(_MASK))),
                *self._tail(2),
            ],
        )

    def attach(self) -> bytes:
        """An attach, of which the name may be that of a link that the engine attached."""
        c = self._choices
        channel, session = self._session()
        options = c.octet()
        is_sender = options & 1 == 0
        wanted = options >> 4
        handle = next(free for free in range(99) if free not in session.handles)
        if wanted > 11:
            handle = wanted - 12 if wanted < 15 else c.one_of((7, 63, 64, 65, 200, 0xFFFF, 0xFFFFFFFF))
        session.handles[handle] = is_sender
        session.under_way.discard(handle)
        modes = c.octet()
        return self._performative(
            channel,
            o.ATTACH,
            [
                o.string(NAMES[(options >> 1 & 7) % len(NAMES)]),
                o.uint(handle),
                o.boolean(not is_sender),
                (o.NULL, o.ubyte(0), o.ubyte(1), o.ubyte(2))[modes & 3],
                (o.NULL, o.ubyte(1), o.NULL, o.ubyte(0))[modes >> 2 & 3],
                o.SOURCES[(modes >> 4 & 3) % len(o.SOURCES)] if modes < 0xE0 else c.one_of(o.SOURCES),
                o.TARGETS[0] if modes < 0xE0 else c.one_of(o.TARGETS),
                o.UNSETTLED[0] if modes & 0x40 else c.one_of(o.UNSETTLED),
                o.boolean(modes & 0x70 == 0x70),
                c.one_of((o.uint(0), o.uint(5), o.uint(_MASK))) if is_sender else o.NULL,
                c.one_of((o.NULL, o.ulong(50), o.ulong(0), o.ulong(1 << 63))),
                *self._tail(2),
            ],
        )

    def flow(self) -> bytes:
        """A flow, of a link or of the session alone."""
        c = self._choices
        channel, session = self._session()
        options = c.octet()
        has_link = options & 3 != 3
        return self._performative(
            channel,
            o.FLOW,
            [
                o.NULL if options & 0x0C == 0x0C else o.uint(c.below(8)),
                o.uint(c.one_of((100, 1, 0, 2, _MASK))),
                o.uint(session.next_outgoing_id),
                o.uint(100),
                o.uint(self._handle(session, c.octet())) if has_link else o.NULL,
                o.NULL if options & 0x10 or not has_link else o.uint(c.below(8)),
                o.uint(c.one_of((10, 1, 0, 2, _MASK))) if has_link else o.NULL,
                o.NULL,
                o.boolean(options & 0x20),
                o.boolean(options & 0x40),
                o.PROPERTIES if options & 0x80 else o.NULL,
            ],
        )

    def transfer(self) -> bytes:
        """A transfer: the first of a delivery, or a further one."""
        c = self._choices
        channel, session = self._session()
        options = c.octet()
        if options < 0xF8 and True not in session.handles.values():
            return self.attach()
        handle = self._handle(session, options >> 6, True)
        is_first = handle not in session.under_way
        more = options & 7 == 5
        session.next_outgoing_id = session.next_outgoing_id + 1 & _MASK
        if is_first:
            if options & 0x38 == 0x38:
                session.delivery_id = session.delivery_id + c.one_of((1, 15, 16, 200, 0x7FFFFFFF)) & _MASK
            number = session.delivery_id
            session.delivery_id = number + 1 & _MASK
        aborted = options & 7 == 6
        (session.under_way.add if more else session.under_way.discard)(handle)
        fields = [
            o.uint(handle),
            o.uint(number) if is_first else o.NULL,
            o.binary(b"p%d" % number) if is_first else o.NULL,
            o.uint(0) if is_first else o.NULL,
            o.boolean(options & 8) if options & 0x18 else o.NULL,
            o.boolean(more),
        ]
        if options & 7 >= 6:
            fields += [
                (o.NULL, o.ubyte(0), o.ubyte(1), o.NULL)[options >> 3 & 3],
                c.one_of(o.STATES),
                o.boolean(options & 0x20),
                o.boolean(aborted),
                o.TRUE,
            ]
        payload = b"" if aborted else c.one_of(o.PAYLOADS)
        return self._performative(channel, o.TRANSFER, fields, payload)

    def transfers(self) -> bytes:
        """A run of transfers, as a flood would have it."""
        count = 1 + self._choices.below(12)
        return b"".join([self.transfer() for _ in range(count)])

    def disposition(self) -> bytes:
        """A disposition."""
        c = self._choices
        channel, _ = self._session()
        options = c.octet()
        first = c.number() if options & 0x60 == 0x60 else options >> 3 & 3
        last = o.NULL if options & 4 else o.uint(first + c.one_of((0, 1, 3, 20, 0x7FFFFFFF)) & _MASK)
        return self._performative(
            channel,
            o.DISPOSITION,
            [
                *(o.boolean(options & 1 == 0), o.uint(first), last),
                *(o.boolean(options & 2 == 0), c.one_of(o.STATES), o.FALSE),
            ],
        )

    def detach(self) -> bytes:
        """A detach."""
        c = self._choices
        channel, session = self._session()
        options = c.octet()
        handle = self._handle(session, options >> 3)
        session.handles.pop(handle, None)
        session.under_way.discard(handle)
        return self._performative(
            channel, o.DETACH, [o.uint(handle), o.boolean(options & 1), o.ERRORS[(options >> 1 & 3) % len(o.ERRORS)]]
        )

    def end(self) -> bytes:
        """An end."""
        channel, _ = self._session()
        self.sessions.pop(channel, None)
        return self._performative(channel, o.END, [self._choices.one_of(o.ERRORS)])

    def close(self) -> bytes:
        """A close."""
        return self._performative(0, o.CLOSE, [self._choices.one_of(o.ERRORS)])

    def empty(self) -> bytes:
        """A frame without a body."""
        return o.framed(b"", self._choices.below(8))

    def noise(self) -> bytes:
        """Octets of the input as they are."""
        return self._choices.octets(self._choices.below(32))

    def odd_frame(self) -> bytes:
        """A frame with any header around a sample, or around what is no performative."""
        c = self._choices
        body = c.one_of((*o.SAMPLES, *o.STATES))
        size = c.one_of((8 + len(body), 8, 7, 0, 9, 512, 513, 4096, 0xFFFFFFFF))
        return size.to_bytes(4, "big") + bytes((c.one_of((2, 3, 0, 1, 255)), c.below(3), 0, c.below(9))) + body

    def sasl(self) -> bytes:
        """A frame of the SASL layer, where it does not belong."""
        return o.framed(o.composite(o.INIT, o.symbol("PLAIN"), o.binary(b"\0a\0b")), kind=1)

    def _session(self) -> tuple[int, PeerSession]:
        pick = self._choices.octet()
        if pick < 0xFC and self.sessions:
            channel = sorted(self.sessions)[pick % len(self.sessions)]
            return channel, self.sessions[channel]
        return pick & 15, PeerSession()

    def _handle(self, session: PeerSession, pick: int, is_sender: bool = False) -> int:
        handles = [handle for handle, sends in sorted(session.handles.items()) if sends or not is_sender]
        return handles[pick % len(handles)] if handles else pick & 7

    def _tail(self, capabilities: int) -> list[bytes]:
        """Return the fields at the end of an open, begin or attach: capabilities, and properties."""
        options = self._choices.octet()
        if options < 0xC0:
            return [o.NULL] * (capabilities + 1)
        some = (o.NULL, o.symbol("x"), o.array(o.symbol("x"), o.symbol("yz")), b"\xe0\x02\0\xa3")
        return [some[options & 3], some[options >> 2 & 3], (o.NULL, o.PROPERTIES)[options >> 4 & 1]]

    def _performative(self, channel: int, code: int, fields: list[bytes], payload: bytes = b"") -> bytes:
        bend = self._choices.octet()
        if bend < 0xF0:
            return o.framed(o.composite(code, *fields) + payload, channel)
        return o.framed(self._bent(bend, code, fields) + payload, channel)

    def _bent(self, bend: int, code: int, fields: list[bytes]) -> bytes:
        c = self._choices
        at = c.below(len(fields))
        how = bend & 15
        if how < 6:
            fields[at] = o.uint(c.number()) if how < 3 else c.one_of(o.SAMPLES)
        elif how == 6:
            fields[at] = o.NULL
        elif how == 7:
            del fields[at:]
        elif how == 8:
            fields.insert(at, c.one_of(o.SAMPLES))
        elif how == 9:
            fields += [o.NULL] * 12
        body = o.composite(code, *fields)
        if how == 10:
            return b"\0\x80" + bytes(7) + bytes((code,)) + o.counted(0xD0, len(fields), b"".join(fields))
        if how == 11:
            return body[:4] + bytes((c.octet(),)) + body[5:]
        if how == 12:
            return body[:5] + bytes((c.octet(),)) + body[6:]
        if how == 13:
            return body + c.one_of(o.SAMPLES)
        if how == 14:
            return b"\0\x53" + bytes((c.octet(),)) + body[3:]
        return body
