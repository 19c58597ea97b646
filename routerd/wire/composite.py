"""Encoding and decoding of composite types, by tables that are derived from their dataclasses.

At import, every class in `_PROVIDES` becomes a Layout, with its descriptor and a Field for each of its fields. A Field
has the name, the default, and the functions that read and write its type. It also says whether the field is mandatory.
Encoding leaves out trailing fields with default values, and decoding restores them.

A field of the wrong type, a missing mandatory field, or one too many is a DecodeError. A value of the right type that
is not allowed there is an InvalidField. Both have the offset of the field.
"""

from collections.abc import Container, Mapping
from dataclasses import MISSING, fields
from typing import Any, get_args, get_type_hints

from routerd.wire.amqp_error import Error
from routerd.wire.decoder import Decoder
from routerd.wire.encoder import Encoder
from routerd.wire.errors import DecodeError, EncodeError, InvalidField
from routerd.wire.limits import DEFAULT_LIMITS
from routerd.wire.outcomes import ACCEPTED, RELEASED, Accepted, DeliveryState, Modified, Received, Rejected, Released
from routerd.wire.performatives import Attach, Begin, Close, Detach, Disposition, End, Flow, Open, Transfer
from routerd.wire.sasl_frames import SaslChallenge, SaslInit, SaslMechanisms, SaslOutcome, SaslResponse
from routerd.wire.terminus import Coordinator, Source, Target
from routerd.wire.types import Composite, Described, FieldType, PairMap

# The types that each composite type provides in the standard. A field may require one of them.
_FRAME, _ERROR, _SOURCE, _TARGET, _STATE, _OUTCOME = 1, 2, 4, 8, 16, 32
_PROVIDES: dict[type[Composite], int] = {
    Open: _FRAME, Begin: _FRAME, Attach: _FRAME, Flow: _FRAME, Transfer: _FRAME, Disposition: _FRAME,
    Detach: _FRAME, End: _FRAME, Close: _FRAME, SaslMechanisms: _FRAME, SaslInit: _FRAME,
    SaslChallenge: _FRAME, SaslResponse: _FRAME, SaslOutcome: _FRAME,
    Error: _ERROR, Source: _SOURCE, Target: _TARGET, Coordinator: _TARGET, Received: _STATE,
    Accepted: _STATE | _OUTCOME, Rejected: _STATE | _OUTCOME, Released: _STATE | _OUTCOME,
    Modified: _STATE | _OUTCOME,
}  # fmt: skip

# The depth to which a value in a map may nest.
_DEPTH_INSIDE = DEFAULT_LIMITS.depth - 1


class Field:
    """One field of a composite type, of any AMQP type; subclasses are for one type each."""

    def __init__(
        self, name: str, default: Any, is_mandatory: bool, allowed: Container[Any] | None, requires: int
    ) -> None:
        self.name = name
        self.default = default
        self.is_mandatory = is_mandatory
        self.allowed = allowed
        self.requires = requires

    def write(self, encoder: Encoder, value: Any) -> None:
        """Append a value other than None, which the caller encodes as null."""
        encoder.write(value)

    def read(self, decoder: Decoder) -> Any:
        """Read a value that is not null."""
        return decoder.value()


class _Boolean(Field):
    def write(self, encoder: Encoder, value: Any) -> None:
        if value is not True and value is not False:
            raise _unfit(self, value)
        encoder.write_boolean(value)

    def read(self, decoder: Decoder) -> Any:
        return decoder.read_boolean() == 1


class _UByte(Field):
    def write(self, encoder: Encoder, value: Any) -> None:
        if not isinstance(value, int) or not 0 <= value <= 0xFF:
            raise _unfit(self, value)
        encoder.write_ubyte(value)

    def read(self, decoder: Decoder) -> Any:
        return decoder.read_ubyte()


class _UShort(Field):
    def write(self, encoder: Encoder, value: Any) -> None:
        if not isinstance(value, int) or not 0 <= value <= 0xFFFF:
            raise _unfit(self, value)
        encoder.write_ushort(value)

    def read(self, decoder: Decoder) -> Any:
        return decoder.read_ushort()


class _UInt(Field):
    def write(self, encoder: Encoder, value: Any) -> None:
        if not isinstance(value, int) or not 0 <= value <= 0xFFFFFFFF:
            raise _unfit(self, value)
        encoder.write_uint(value)

    def read(self, decoder: Decoder) -> Any:
        return decoder.read_uint()


class _ULong(Field):
    def write(self, encoder: Encoder, value: Any) -> None:
        if not isinstance(value, int) or not 0 <= value <= 0xFFFFFFFFFFFFFFFF:
            raise _unfit(self, value)
        encoder.write_ulong(value)

    def read(self, decoder: Decoder) -> Any:
        return decoder.read_ulong()


class _String(Field):
    def write(self, encoder: Encoder, value: Any) -> None:
        if not isinstance(value, str):
            raise _unfit(self, value)
        encoder.write_string(value)

    def read(self, decoder: Decoder) -> Any:
        return decoder.read_string()


class _Symbol(Field):
    def write(self, encoder: Encoder, value: Any) -> None:
        if not isinstance(value, str):
            raise _unfit(self, value)
        encoder.write_symbol(value)

    def read(self, decoder: Decoder) -> Any:
        return decoder.read_symbol()


class _Symbols(Field):
    """A field that is `multiple`: null, a single value, or an array (1.4)."""

    def write(self, encoder: Encoder, value: Any) -> None:
        if not isinstance(value, (tuple, list)):
            raise _unfit(self, value)
        count = len(value)
        if count > 1:
            encoder.write_symbols(value)
        elif count == 1:
            encoder.write_symbol(value[0])
        elif self.is_mandatory:
            raise EncodeError(f"{self.name} needs one value at least")
        else:
            encoder.write_null()

    def read(self, decoder: Decoder) -> Any:
        at = decoder.pos
        symbols = decoder.read_symbols()
        if self.is_mandatory and not symbols:
            raise DecodeError(f"{self.name} needs one value at least", offset=at)
        return symbols


class _Binary(Field):
    def write(self, encoder: Encoder, value: Any) -> None:
        if not isinstance(value, (bytes, bytearray, memoryview)):
            # The value may be a secret given as text, so the error does not show it.
            raise EncodeError(f"a {type(value).__name__} does not fit the field {self.name}")
        encoder.write_binary(bytes(value))

    def read(self, decoder: Decoder) -> Any:
        return decoder.read_binary()


class _DeliveryTag(_Binary):
    """A binary of at most 32 octets (2.8.7)."""

    def write(self, encoder: Encoder, value: Any) -> None:
        _check_tag(value)
        encoder.write_binary(bytes(value))

    def read(self, decoder: Decoder) -> Any:
        return _read_tag(decoder)


class _Map(Field):
    """A map whose keys are symbols, as in all fields (2.8.13, 3.2.10, 3.5.8); a plain str counts as a symbol."""

    def write(self, encoder: Encoder, value: Any) -> None:
        if not isinstance(value, (dict, Mapping)):
            raise _unfit(self, value)
        if isinstance(value, PairMap):
            encoder.write(value)
        else:
            start = encoder.open_compound(0xC1)
            for key, item in value.items():
                if type(key) is str:
                    encoder.write_symbol(key)
                else:
                    encoder.write(key, _DEPTH_INSIDE)
                encoder.write(item, _DEPTH_INSIDE)
            encoder.close_compound(start, 2 * len(value))

    def read(self, decoder: Decoder) -> Any:
        return decoder.read_map()


class _Unsettled(Field):
    """A map from delivery tags to delivery states; a state may be null (2.7.3)."""

    def write(self, encoder: Encoder, value: Any) -> None:
        if not isinstance(value, (dict, Mapping)):
            raise _unfit(self, value)
        start = encoder.open_compound(0xC1)
        for tag, state in value.items():
            _check_tag(tag)
            encoder.write_binary(bytes(tag))
            _write_state(encoder, state)
        encoder.close_compound(start, 2 * len(value))

    def read(self, decoder: Decoder) -> Any:
        start = decoder.pos
        outer = decoder.list_end
        count = decoder.read_map_start()
        stop = decoder.list_end
        states = {}
        for _ in range(count):
            at = decoder.pos
            tag = _read_tag(decoder)
            if tag is None or tag in states:
                raise DecodeError("a delivery tag is null, or there twice", offset=at)
            states[tag] = decode_state(decoder)
        if decoder.pos != stop:
            raise DecodeError("a map is larger or smaller than what is in it", offset=start)
        decoder.list_end = outer
        return states


class _Nested(Field):
    """A field that requires a provided composite type. Unknown types are accepted, except for an error."""

    def write(self, encoder: Encoder, value: Any) -> None:
        layout: Layout | None = _BY_CLASS.get(type(value))
        if layout is not None and layout.provides & self.requires:
            layout.write(encoder, value)
        elif layout is None and isinstance(value, Described) and self.requires != _ERROR:
            encoder.write(value)
        else:
            raise _unfit(self, value)

    def read(self, decoder: Decoder) -> Any:
        at = decoder.pos
        code = decoder.read_descriptor()
        layout: Layout | None = _BY_CODE[code] if 0 <= code <= _HIGHEST_CODE else None
        if layout is not None and layout.provides & self.requires:
            return layout.read(decoder, at)
        if layout is not None or self.requires == _ERROR:
            raise DecodeError(f"{self.name} is described by another type's descriptor", offset=at)
        decoder.pos = at
        return decoder.value()


class Layout:
    """The layout of a composite type on the wire."""

    def __init__(self, composite: type[Composite], provides: int) -> None:
        self.composite = composite
        self.provides = provides
        self.fields = tuple(_fields_of(composite))
        self.descriptor = bytes((0x00, 0x53, composite.CODE))
        # Objects without fields are all equal, so decoding returns one shared object.
        self.only: Any = {Accepted: ACCEPTED, Released: RELEASED}.get(composite)

    def write(self, encoder: Encoder, value: Any) -> None:
        """Append the descriptor, and the list of fields up to the last one that differs from its default."""
        encoder.put_octets(self.descriptor)
        start = encoder.open_compound(0xC0)
        count = 0
        absent = 0
        for field in self.fields:
            item = getattr(value, field.name)
            if item is None or item is field.default or (field.default is not None and item == field.default):
                if field.is_mandatory:
                    raise EncodeError(f"{field.name} of {self.composite.__name__} is mandatory")
                absent += 1
                continue
            while absent:
                encoder.write_null()
                absent -= 1
                count += 1
            field.write(encoder, item)
            if field.allowed is not None and item not in field.allowed:
                raise EncodeError(f"{item!r} is not allowed for {field.name}")
            count += 1
        encoder.close_list(start, count)

    def read(self, decoder: Decoder, start: int) -> Any:
        """Read the list of fields; `start` is the offset of the descriptor."""
        outer = decoder.list_end
        count = decoder.read_list()
        stop = decoder.list_end
        if count > len(self.fields):
            raise DecodeError(f"{count} fields are too many for {self.composite.__name__}", offset=start)
        composite = self.composite
        value = composite.__new__(composite) if self.only is None else self.only
        for field in self.fields:
            at = decoder.pos
            if count <= 0 or decoder.read_null():
                if field.is_mandatory:
                    raise DecodeError(f"{field.name} of {self.composite.__name__} is mandatory", offset=at)
                item = field.default
            else:
                item = field.read(decoder)
                if field.allowed is not None and item not in field.allowed:
                    raise InvalidField(f"{item!r} is not allowed for {field.name}", offset=at)
            setattr(value, field.name, item)
            count -= 1
        if decoder.pos != stop:
            raise DecodeError(f"the fields of {self.composite.__name__} do not fill their list", offset=start)
        decoder.list_end = outer
        return value


def encode_composite(out: bytearray, value: Composite) -> None:
    """Append a composite value; after an EncodeError nothing is appended."""
    out += composite_octets(Encoder(), value)


def composite_octets(encoder: Encoder, value: Composite) -> bytes:
    """Return a composite value encoded by an encoder, which is cleared first; raises EncodeError."""
    layout: Layout | None = _BY_CLASS.get(type(value))
    if layout is None:
        raise EncodeError(f"{type(value).__name__} is not a composite type")
    encoder.clear()
    layout.write(encoder, value)
    return encoder.octets()


def decode_composite(decoder: Decoder) -> Any:
    """Return the composite value at the decoder's position."""
    at = decoder.pos
    code = decoder.read_descriptor()
    layout: Layout | None = _BY_CODE[code] if 0 <= code <= _HIGHEST_CODE else None
    if layout is None:
        raise DecodeError("the descriptor is not that of a composite type known here", offset=at)
    return layout.read(decoder, at)


def encode_state(out: bytearray, state: DeliveryState | None) -> None:
    """Append a delivery state, or null."""
    encoder = Encoder()
    _write_state(encoder, state)
    out += encoder.octets()


def decode_state(decoder: Decoder) -> Any:
    """Return the delivery state at the decoder's position: None for null, a Described for one outside the standard."""
    if decoder.read_null():
        return None
    return _STATE_FIELD.read(decoder)


def _write_state(encoder: Encoder, state: DeliveryState | None) -> None:
    if state is None:
        encoder.write_null()
    else:
        _STATE_FIELD.write(encoder, state)


def _check_tag(tag: Any) -> None:
    if not isinstance(tag, (bytes, bytearray, memoryview)) or len(tag) > 32:
        raise EncodeError(f"{tag!r} is not a delivery tag of at most 32 octets")


def _read_tag(decoder: Decoder) -> bytes | None:
    at = decoder.pos
    tag = decoder.read_binary()
    if tag is not None and len(tag) > 32:
        raise InvalidField(f"a delivery tag has {len(tag)} octets, and not at most 32", offset=at)
    return tag


def _unfit(field: Field, value: Any) -> EncodeError:
    return EncodeError(f"{value!r} does not fit the field {field.name}")


# The tables

_FIELDS: dict[FieldType, tuple[type[Field], int]] = {
    FieldType.ANY: (Field, 0), FieldType.BOOLEAN: (_Boolean, 0), FieldType.UBYTE: (_UByte, 0),
    FieldType.USHORT: (_UShort, 0), FieldType.UINT: (_UInt, 0), FieldType.ULONG: (_ULong, 0),
    FieldType.STRING: (_String, 0), FieldType.SYMBOL: (_Symbol, 0), FieldType.SYMBOLS: (_Symbols, 0),
    FieldType.BINARY: (_Binary, 0), FieldType.DELIVERY_TAG: (_DeliveryTag, 0), FieldType.MAP: (_Map, 0),
    FieldType.UNSETTLED: (_Unsettled, 0), FieldType.SOURCE: (_Nested, _SOURCE), FieldType.TARGET: (_Nested, _TARGET),
    FieldType.STATE: (_Nested, _STATE), FieldType.OUTCOME: (_Nested, _OUTCOME), FieldType.ERROR: (_Nested, _ERROR),
}  # fmt: skip


def _fields_of(composite: type[Composite]) -> list[Field]:
    """Derive the fields of a composite type from its annotations and defaults."""
    annotations = get_type_hints(composite, include_extras=True)
    derived = []
    for declared in fields(composite):  # type: ignore[arg-type]
        _, field_type, *allowed = get_args(annotations[declared.name])
        codec, requires = _FIELDS[field_type]
        is_mandatory = declared.default is MISSING
        default = None if is_mandatory else declared.default
        derived.append(codec(declared.name, default, is_mandatory, allowed[0] if allowed else None, requires))
    return derived


_BY_CLASS = {composite: Layout(composite, provides) for composite, provides in _PROVIDES.items()}
_CODES = {composite.CODE: layout for composite, layout in _BY_CLASS.items()}
_HIGHEST_CODE = max(_CODES)
_BY_CODE = [_CODES.get(code) for code in range(_HIGHEST_CODE + 1)]
_STATE_FIELD = _Nested("state", None, False, None, _STATE)
