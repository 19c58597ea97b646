"""The sections of a message (3.2), found in place and decoded only on request.

`Sections` walks the descriptors of a message only as far as a question requires. It also works on the beginning of a
message (`partial`). A question that needs more octets then returns NEEDS_MORE or raises NeedsMore. Malformed octets
raise DecodeError, as in a whole message.

A scan steps over values by their sizes, so it misses errors inside of values that it does not read. Each call looks at
the octets again. A bytearray may grow or be refilled between calls, but not shrink.
"""

from typing import Any
from uuid import UUID

from routerd.wire.decoder import Decoder
from routerd.wire.errors import DecodeError, LocalError, StateError, ValueRangeError
from routerd.wire.limits import DEFAULT_LIMITS, CodecLimits
from routerd.wire.section_codes import Presence, Section
from routerd.wire.section_scan import descriptor_end, follows, read_u32, section_code, section_end, skip_value
from routerd.wire.types import ULong

_HEADER = Section.HEADER.value
_DELIVERY_ANNOTATIONS = Section.DELIVERY_ANNOTATIONS.value
_MESSAGE_ANNOTATIONS = Section.MESSAGE_ANNOTATIONS.value
_PROPERTIES = Section.PROPERTIES.value
_APPLICATION_PROPERTIES = Section.APPLICATION_PROPERTIES.value
_DATA = Section.DATA.value
_FOOTER = Section.FOOTER.value
_ABSENT = Presence.ABSENT.value
_FOUND = Presence.FOUND.value
_NEEDS_MORE = Presence.NEEDS_MORE.value

# The types of a message-id (3.2.11 to 3.2.14).
_IDENTIFIERS = frozenset({str, bytes, UUID, ULong})

# The slots of Sections._starts; the kinds of body share one.
_BODY_SLOT = 5
_FOOTER_SLOT = 6
_HEADER_FIELDS = 5
_PROPERTIES_FIELDS = 13

_SHORT = -1
_MALFORMED = -2


class NeedsMore(LocalError):
    """The answer needs more octets of a partial message."""


class Sections:
    """The sections of the message in data[start:end]."""

    def __init__(
        self,
        data: bytes | bytearray,
        start: int = 0,
        end: int = -1,
        partial: bool = False,
        limits: CodecLimits = DEFAULT_LIMITS,
    ) -> None:
        self._starts = [-1, -1, -1, -1, -1, -1, -1]
        self._limits = limits
        self.reset(data, start, len(data) if end < 0 else end, partial)

    def reset(self, data: bytes | bytearray, start: int, end: int, partial: bool) -> None:
        """Start again on another message, or on more octets of the same."""
        if not 0 <= start <= end <= len(data):
            raise ValueRangeError(f"{start} to {end} is not within {len(data)} octets")
        self._data = data
        self._end = end
        self._partial = partial
        self._pos = start
        self._last = 0
        self._open = 0
        self._is_over = False
        self._body_end = start
        for slot in range(7):
            self._starts[slot] = -1

    # The places of sections

    def find(self, code: int) -> int:
        """Return the Presence of a section. The three kinds of body stand for the body, which counts as found once it
        begins.
        """
        if not _HEADER <= code <= _FOOTER:
            raise ValueRangeError(f"{code} is not the descriptor of a section")
        return self._find(code)

    def bounds(self, code: int) -> tuple[int, int] | None:
        """Return the bounds of a section, None if it is absent; for a kind of body, those of the whole body."""
        presence = self.find(code)
        if presence == _ABSENT:
            return None
        slot = _slot(code)
        if slot == _BODY_SLOT:
            self._scan(_FOOTER)
            presence = _NEEDS_MORE if self._partial and self._last != _FOOTER else presence
        if presence == _NEEDS_MORE:
            raise NeedsMore(f"section 0x{code:02x} is not all there")
        start = self._starts[slot]
        return start, self._body_end if slot == _BODY_SLOT else self._stop(start, code)

    @property
    def body_kind(self) -> int:
        """The code of the body: data, amqp-sequence or amqp-value; 0 for a message without body."""
        if self._presence(_DATA) == _ABSENT:
            return 0
        view = self._data
        start = self._starts[_BODY_SLOT]
        return section_code(view, start, descriptor_end(view, start, self._end))

    def annotations_place(self) -> int:
        """Return the place of message-annotations, present or not; only after `find` returned FOUND or ABSENT."""
        for slot in range(_MESSAGE_ANNOTATIONS - _HEADER, 7):
            if self._starts[slot] >= 0:
                return self._starts[slot]
        return self._pos

    # The header (3.2.1)

    @property
    def durable(self) -> bool:
        """Whether the message must survive."""
        return self._boolean(_HEADER, 0)

    @property
    def priority(self) -> int:
        """From 0 to 255, higher is more urgent; 4 unless the header says otherwise."""
        at = self._field(_HEADER, 1)
        if at < 0:
            return 4
        view = self._data
        if view[at] != 0x50:
            raise self._unfit(at, "ubyte")
        return view[at + 1]

    @property
    def ttl(self) -> int | None:
        """For how many milliseconds the message is of use; None is for ever."""
        ttl = self._uint(_HEADER, 2)
        return None if ttl < 0 else ttl

    @property
    def first_acquirer(self) -> bool:
        """Whether nobody else acquired the message before."""
        return self._boolean(_HEADER, 3)

    @property
    def delivery_count(self) -> int:
        """How many attempts to deliver the message have failed."""
        count = self._uint(_HEADER, 4)
        return max(count, 0)

    # The properties (3.2.4)

    @property
    def message_id(self) -> object:
        """What the sender calls the message: str, bytes, UUID or ULong."""
        return self._identifier(0)

    @property
    def user_id(self) -> bytes | None:
        """The user that the sender claims to be."""
        return self._binary(1)

    @property
    def to(self) -> str | None:
        """The address of the destination."""
        return self._text(2)

    @property
    def subject(self) -> str | None:
        """The subject of the message."""
        return self._text(3)

    @property
    def reply_to(self) -> str | None:
        """The address for the reply."""
        return self._text(4)

    @property
    def correlation_id(self) -> object:
        """The correlation-id: str, bytes, UUID or ULong."""
        return self._identifier(5)

    # The sections that are maps (3.2.2, 3.2.3, 3.2.5, 3.2.9)

    @property
    def delivery_annotations(self) -> Any:
        """The map of the section, decoded anew at each call; None without the section."""
        return self._map(_DELIVERY_ANNOTATIONS)

    @property
    def message_annotations(self) -> Any:
        """The map of the section, decoded anew at each call; None without the section."""
        return self._map(_MESSAGE_ANNOTATIONS)

    @property
    def application_properties(self) -> Any:
        """The map of the section, decoded anew at each call; None without the section."""
        return self._map(_APPLICATION_PROPERTIES)

    @property
    def footer(self) -> Any:
        """The map of the section, decoded anew at each call; None without the section."""
        return self._map(_FOOTER)

    # The scan

    def _find(self, code: int) -> int:
        slot = _slot(code)
        self._scan(_DATA if slot == _BODY_SLOT else code)
        if self._starts[slot] >= 0:
            return _NEEDS_MORE if self._open == code and slot != _BODY_SLOT else _FOUND
        return _NEEDS_MORE if self._partial and self._last < code else _ABSENT

    def _presence(self, code: int) -> int:
        """Return ABSENT or FOUND."""
        presence = self._find(code)
        if presence == _NEEDS_MORE:
            raise NeedsMore(f"section 0x{code:02x} is not all there")
        return presence

    def _scan(self, code: int) -> None:
        """Advance until the presence of a section with this code is known, or the octets end."""
        if len(self._data) < self._end:
            raise StateError(f"of {self._end} octets only {len(self._data)} are left")
        while self._last < code and not self._is_over:
            self._advance()

    def _advance(self) -> None:
        """Note the place of the next section, and step over it if it is complete."""
        view = self._data
        start = self._pos
        if start == self._end:
            self._is_over = True
            return
        value = descriptor_end(view, start, self._end)
        if value == _SHORT:
            self._run_out(start)
            return
        code = section_code(view, start, value) if value > 0 else 0
        if not _HEADER <= code <= _FOOTER:
            raise DecodeError("no section of a message begins here", offset=start)
        if not follows(code, self._last):
            raise DecodeError(f"section 0x{code:02x} cannot follow 0x{self._last:02x}", offset=start)
        stop = section_end(view, value, self._end, code)
        if stop == _MALFORMED:
            raise DecodeError(f"0x{view[value]:02x} does not begin a value of section 0x{code:02x}", offset=value)
        if code == _FOOTER and 0 <= stop < self._end:
            raise DecodeError("there are octets after the footer", offset=stop)
        if stop == _SHORT:
            self._run_out(start)
            self._open = code
        slot = _slot(code)
        if self._starts[slot] < 0:
            self._starts[slot] = start
        self._last = code
        if stop != _SHORT:
            self._pos = stop
            self._body_end = stop if slot == _BODY_SLOT else self._body_end

    def _run_out(self, at: int) -> None:
        """End the scan at the end of the octets; only further octets could show the rest."""
        if not self._partial:
            raise DecodeError("the message ends within a section", offset=at)
        self._is_over = True

    def _value_start(self, start: int) -> int:
        view = self._data
        return descriptor_end(view, start, self._end)

    def _stop(self, start: int, code: int) -> int:
        view = self._data
        return section_end(view, descriptor_end(view, start, self._end), self._end, code)

    # Fields

    def _field(self, code: int, index: int) -> int:
        """Return the place of a field of header or properties, -1 if it is absent or null; _field_end is its end."""
        if self._presence(code) == _ABSENT:
            return -1
        view = self._data
        at = self._value_start(self._starts[_slot(code)])
        stop = section_end(view, at, self._end, code)
        if view[at] == 0x45:  # list0
            return -1
        if view[at] == 0xC0:  # list8
            count = view[at + 2]
            at += 3
        else:
            count = read_u32(view, at + 5)
            at += 9
        if count > (_HEADER_FIELDS if code == _HEADER else _PROPERTIES_FIELDS):
            raise DecodeError(f"section 0x{code:02x} has {count} fields", offset=at)
        if index >= count:
            return -1
        field_end = at
        for _ in range(index + 1):
            at = field_end
            field_end = skip_value(view, at, stop)
            if field_end < 0:
                raise DecodeError(f"the fields of section 0x{code:02x} are malformed", offset=at)
        self._field_end = field_end
        return -1 if view[at] == 0x40 else at

    def _unfit(self, at: int, wanted: str) -> DecodeError:
        view = self._data
        return DecodeError(f"0x{view[at]:02x} is not the constructor of a {wanted}", offset=at)

    def _boolean(self, code: int, index: int) -> bool:
        at = self._field(code, index)
        if at < 0:
            return False
        view = self._data
        if view[at] == 0x41 or view[at] == 0x42:
            return view[at] == 0x41
        if view[at] != 0x56 or view[at + 1] > 1:
            raise self._unfit(at, "boolean")
        return view[at + 1] == 1

    def _uint(self, code: int, index: int) -> int:
        """Return a uint, or -1 without one."""
        at = self._field(code, index)
        if at < 0:
            return -1
        view = self._data
        if view[at] == 0x52:  # smalluint
            return view[at + 1]
        if view[at] == 0x43:  # uint0
            return 0
        if view[at] != 0x70:
            raise self._unfit(at, "uint")
        return read_u32(view, at + 1)

    def _text(self, index: int) -> str | None:
        at = self._field(_PROPERTIES, index)
        if at < 0:
            return None
        view = self._data
        if view[at] != 0xA1 and view[at] != 0xB1:
            raise self._unfit(at, "string")
        start = at + 2 if view[at] == 0xA1 else at + 5
        try:
            return view[start : self._field_end].decode("utf-8")
        except UnicodeDecodeError:
            raise DecodeError("a string is not UTF-8", offset=at) from None

    def _binary(self, index: int) -> bytes | None:
        at = self._field(_PROPERTIES, index)
        if at < 0:
            return None
        view = self._data
        if view[at] != 0xA0 and view[at] != 0xB0:
            raise self._unfit(at, "binary")
        start = at + 2 if view[at] == 0xA0 else at + 5
        return bytes(view[start : self._field_end])

    def _identifier(self, index: int) -> object:
        at = self._field(_PROPERTIES, index)
        if at < 0:
            return None
        identifier = Decoder(self._data, at, self._field_end, self._limits).value()
        if type(identifier) not in _IDENTIFIERS:
            raise self._unfit(at, "message-id")
        return identifier

    def _map(self, code: int) -> Any:
        bounds = self.bounds(code)
        if bounds is None:
            return None
        start, stop = bounds
        return Decoder(self._data, self._value_start(start), stop, self._limits).value()


def _slot(code: int) -> int:
    """Return the slot of a section in Sections._starts."""
    if code < _DATA:
        return code - _HEADER
    return _FOOTER_SLOT if code == _FOOTER else _BODY_SLOT
