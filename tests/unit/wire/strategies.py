"""Hypothesis strategies for AMQP values, for every legal encoding of a value, and for composite values.

`legal_encodings` is a second encoder, written from the tables of the standard without a look at the first:
it knows all forms of a value and draws one for each part of it.
"""

import struct
from collections.abc import Callable
from dataclasses import MISSING, fields
from typing import Any, get_args, get_type_hints
from uuid import UUID

from hypothesis import strategies as st

from routerd.wire.amqp_error import Error
from routerd.wire.composite import encode_composite
from routerd.wire.errors import RemoteError
from routerd.wire.outcomes import Accepted, Modified, Received, Rejected, Released
from routerd.wire.performatives import Attach, Begin, Close, Detach, Disposition, End, Flow, Open, Transfer
from routerd.wire.sasl_frames import SaslChallenge, SaslInit, SaslMechanisms, SaslOutcome, SaslResponse
from routerd.wire.terminus import Coordinator, Source, Target
from routerd.wire.types import (
    Array,
    Byte,
    Char,
    Composite,
    Decimal32,
    Decimal64,
    Decimal128,
    Described,
    DescribedType,
    FieldType,
    Float,
    Int,
    PairMap,
    Short,
    Symbol,
    Timestamp,
    UByte,
    UInt,
    ULong,
    UShort,
    identity,
)

# Values


def ranged(kind: type) -> st.SearchStrategy[Any]:
    return st.integers(kind.LOW, kind.HIGH).map(kind) | st.integers(max(kind.LOW, -130), min(kind.HIGH, 260)).map(kind)


def double_of(bits: int) -> float:
    return struct.unpack(">d", bits.to_bytes(8, "big"))[0]


def float_of(bits: int) -> Float:
    """The float of 32 bits; a NaN keeps its payload, which struct may change."""
    if bits & 0x7F800000 == 0x7F800000:
        return Float(double_of((bits & 0x80000000) << 32 | 0x7FF << 52 | (bits & 0x7FFFFF) << 29))
    return Float(struct.unpack(">f", bits.to_bytes(4, "big"))[0])


def bits_of(value: Float) -> bytes:
    if value == value:
        return struct.pack(">f", value)
    (bits,) = struct.unpack(">Q", struct.pack(">d", value))
    return ((bits >> 32) & 0x80000000 | 0x7F800000 | (bits >> 29) & 0x7FFFFF).to_bytes(4, "big")


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
symbols = st.text(st.characters(max_codepoint=127), max_size=20).map(Symbol)
binaries = st.binary(max_size=20)
doubles = st.floats() | st.integers(0, 2**64 - 1).map(double_of)
longs = st.integers(-(2**63), 2**63 - 1) | st.integers(-130, 260)

SCALARS: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "ubyte": ranged(UByte),
    "ushort": ranged(UShort),
    "uint": ranged(UInt),
    "ulong": ranged(ULong),
    "byte": ranged(Byte),
    "short": ranged(Short),
    "int": ranged(Int),
    "long": longs,
    "float": st.integers(0, 2**32 - 1).map(float_of),
    "double": doubles,
    "decimal32": st.binary(min_size=4, max_size=4).map(Decimal32),
    "decimal64": st.binary(min_size=8, max_size=8).map(Decimal64),
    "decimal128": st.binary(min_size=16, max_size=16).map(Decimal128),
    "char": st.characters(exclude_categories=["Cs"]).map(Char),
    "timestamp": ranged(Timestamp),
    "uuid": st.uuids(),
    "binary": binaries | st.binary(min_size=250, max_size=260),
    "string": texts | st.text("é", min_size=120, max_size=130),
    "symbol": symbols | st.text("s", min_size=250, max_size=260).map(Symbol),
}
scalars = st.one_of(*SCALARS.values())


def as_map(pairs: list[tuple[Any, Any]]) -> Any:
    """A dict if that loses nothing, else a PairMap; of pairs with the same key, the last is in it."""
    pairs = [*{identity(key): (key, value) for key, value in pairs}.values()]
    try:
        mapping = dict(pairs)
    except TypeError:
        return PairMap(pairs)
    return mapping if len(mapping) == len(pairs) else PairMap(pairs)


def maps_of(keys: st.SearchStrategy[Any], values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(st.tuples(keys, values), max_size=5).map(as_map)


def arrays_of(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Array]:
    """Arrays of every type; those of lists and maps hold values drawn from the argument."""
    elements = {
        **SCALARS,
        "list": st.lists(values, max_size=3),
        "map": maps_of(scalars, values),
        "array": scalar_arrays,
    }
    plain = [array_of(name, drawn) for name, drawn in elements.items()]
    return st.one_of(*plain) | st.builds(described_array, st.one_of(*plain), symbols | values)


def array_of(name: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[Array]:
    return st.lists(values, max_size=5).map(lambda drawn: Array(name, drawn))


def described_array(array: Array, descriptor: object) -> Array:
    return Array(DescribedType(descriptor, array.type), array.values)


scalar_arrays = st.one_of(*(array_of(name, values) for name, values in SCALARS.items()))

values = st.recursive(
    scalars | scalar_arrays,
    lambda inner: (
        st.lists(inner, max_size=5)
        | maps_of(scalars | inner, inner)
        | st.builds(Described, symbols | ranged(ULong) | inner, inner)
        | arrays_of(inner)
    ),
    max_leaves=12,
)
"""Any AMQP value, nested far less than the default limit."""

# Every legal encoding

NAMES: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    UByte: "ubyte",
    UShort: "ushort",
    UInt: "uint",
    ULong: "ulong",
    Byte: "byte",
    Short: "short",
    Int: "int",
    int: "long",
    Float: "float",
    float: "double",
    Decimal32: "decimal32",
    Decimal64: "decimal64",
    Decimal128: "decimal128",
    Char: "char",
    Timestamp: "timestamp",
    UUID: "uuid",
    bytes: "binary",
    str: "string",
    Symbol: "symbol",
    list: "list",
    dict: "map",
    PairMap: "map",
    Array: "array",
}


def packed(letter: str) -> Callable[[Any], bytes | None]:
    """Pack what fits, and give None for what does not."""

    def pack(value: Any) -> bytes | None:
        try:
            return struct.pack(f">{letter}", value)
        except struct.error:
            return None

    return pack


def only(constant: object) -> Callable[[Any], bytes | None]:
    return lambda value: b"" if value == constant else None


def sized(letter: str, octets_of: Callable[[Any], bytes]) -> Callable[[Any], bytes | None]:
    def pack(value: Any) -> bytes | None:
        octets = octets_of(value)
        size = packed(letter)(len(octets))
        return None if size is None else size + octets

    return pack


def utf8(text: str) -> bytes:
    return text.encode()


SCALAR_FORMS: dict[str, dict[int, Callable[[Any], bytes | None]]] = {
    "null": {0x40: only(None)},
    "boolean": {0x41: only(True), 0x42: only(False), 0x56: packed("B")},
    "ubyte": {0x50: packed("B")},
    "ushort": {0x60: packed("H")},
    "uint": {0x43: only(0), 0x52: packed("B"), 0x70: packed("I")},
    "ulong": {0x44: only(0), 0x53: packed("B"), 0x80: packed("Q")},
    "byte": {0x51: packed("b")},
    "short": {0x61: packed("h")},
    "int": {0x54: packed("b"), 0x71: packed("i")},
    "long": {0x55: packed("b"), 0x81: packed("q")},
    "float": {0x72: bits_of},
    "double": {0x82: packed("d")},
    "decimal32": {0x74: bytes},
    "decimal64": {0x84: bytes},
    "decimal128": {0x94: bytes},
    "char": {0x73: lambda value: ord(value).to_bytes(4, "big")},
    "timestamp": {0x83: packed("q")},
    "uuid": {0x98: lambda value: value.bytes},
    "binary": {0xA0: sized("B", bytes), 0xB0: sized("I", bytes)},
    "string": {0xA1: sized("B", utf8), 0xB1: sized("I", utf8)},
    "symbol": {0xA3: sized("B", utf8), 0xB3: sized("I", utf8)},
}
COMPOUND_FORMS: dict[str, dict[int, str]] = {
    "list": {0xC0: "B", 0xD0: "I"},
    "map": {0xC1: "B", 0xD1: "I"},
    "array": {0xE0: "B", 0xF0: "I"},
}

Draw = Callable[[st.SearchStrategy[Any]], Any]


@st.composite
def legal_encodings(draw: Draw, value: Any) -> bytes:
    """Any of the encodings that the standard allows for the value."""
    return drawn_encoding(draw, value)


@st.composite
def encoded_values(draw: Draw) -> bytes:
    """Any legal encoding of any value."""
    return drawn_encoding(draw, draw(values))


def drawn_encoding(draw: Draw, value: Any) -> bytes:
    if isinstance(value, Described):
        return b"\x00" + drawn_encoding(draw, value.descriptor) + drawn_encoding(draw, value.value)
    code, (content,) = drawn_contents(draw, NAMES[type(value)], [value])
    return bytes((code,)) + content


def drawn_contents(draw: Draw, name: str, values: list[Any]) -> tuple[int, list[bytes]]:
    """One constructor that does for all the values, and what follows it for each of them."""
    if name in COMPOUND_FORMS:
        return drawn_compounds(draw, name, values)
    fitting = {}
    for code, pack in SCALAR_FORMS[name].items():
        contents = [pack(value) for value in values]
        if None not in contents:
            fitting[code] = contents
    code = draw(st.sampled_from(sorted(fitting)))
    return code, fitting[code]


def drawn_compounds(draw: Draw, name: str, values: list[Any]) -> tuple[int, list[bytes]]:
    counted = [counted_content(draw, name, value) for value in values]
    fitting = {}
    for code, letter in COMPOUND_FORMS[name].items():
        width = struct.calcsize(letter)
        limit = 256**width
        if all(len(content) + width < limit and count < limit for count, content in counted):
            fitting[code] = [
                struct.pack(f">{letter}{letter}", len(content) + width, count) + content for count, content in counted
            ]
    if name == "list" and not any(values):
        fitting[0x45] = [b"" for _ in values]
    code = draw(st.sampled_from(sorted(fitting)))
    return code, fitting[code]


def counted_content(draw: Draw, name: str, value: Any) -> tuple[int, bytes]:
    if name == "list":
        return len(value), b"".join([drawn_encoding(draw, item) for item in value])
    if name == "map":
        parts = [part for pair in value.items() for part in pair]
        return len(parts), b"".join([drawn_encoding(draw, part) for part in parts])
    element = value.type
    descriptors = b""
    while isinstance(element, DescribedType):
        descriptors += b"\x00" + drawn_encoding(draw, element.descriptor)
        element = element.type
    code, contents = drawn_contents(draw, element, value.values)
    return len(value.values), descriptors + bytes((code,)) + b"".join(contents)


# Octets that are almost an encoding


@st.composite
def damaged(draw: Draw, encodings: Callable[[], st.SearchStrategy[bytes]]) -> bytes:
    """An encoding with some octets replaced, removed or put in."""
    octets = bytearray(draw(encodings()))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(octets)))
        octets[at : at + draw(st.integers(0, 2))] = draw(st.binary(max_size=2))
    return bytes(octets)


def outcome_of(read: Callable[[], Any]) -> tuple[Any, RemoteError | None]:
    """What a read gives, or the peer's error that it raises; any other error goes on."""
    try:
        return read(), None
    except RemoteError as refused:
        return None, refused


# Composite values

COMPOSITES: tuple[type[Composite], ...] = (
    *(Open, Begin, Attach, Flow, Transfer, Disposition, Detach, End, Close),
    *(Error, Received, Accepted, Rejected, Released, Modified, Source, Target, Coordinator),
    *(SaslMechanisms, SaslInit, SaslChallenge, SaslResponse, SaslOutcome),
)

fields_maps = maps_of(symbols, scalars)
plain_uints = st.integers(0, 2**32 - 1) | st.integers(0, 260)
unknown_states = st.builds(Described, st.just(ULong(0x34)) | symbols, st.lists(scalars, max_size=3))

FIELD_VALUES: dict[FieldType, st.SearchStrategy[Any]] = {
    FieldType.ANY: texts | values.map(lambda value: "null" if value is None else value),
    FieldType.BOOLEAN: st.booleans(),
    FieldType.UBYTE: st.integers(0, 255),
    FieldType.USHORT: st.integers(0, 65535),
    FieldType.UINT: plain_uints,
    FieldType.ULONG: st.integers(0, 2**64 - 1) | st.integers(0, 260),
    FieldType.STRING: texts,
    FieldType.SYMBOL: symbols,
    FieldType.SYMBOLS: st.lists(symbols, max_size=4).map(tuple),
    FieldType.BINARY: binaries,
    FieldType.DELIVERY_TAG: st.binary(max_size=32),
    FieldType.MAP: fields_maps,
}


def composites(kind: type[Composite]) -> st.SearchStrategy[Any]:
    """Values of a composite type, each optional field being there or not."""
    annotations = get_type_hints(kind, include_extras=True)
    chosen = {}
    for field in fields(kind):
        _, field_type, *allowed = get_args(annotations[field.name])
        drawn = st.sampled_from(sorted(allowed[0])) if allowed else FIELD_VALUES[field_type]
        if field.default is not MISSING:
            drawn = st.just(field.default) | drawn
        elif field_type is FieldType.SYMBOLS:
            drawn = drawn.filter(bool)
        chosen[field.name] = drawn
    return st.builds(kind, **chosen)


FIELD_VALUES[FieldType.ERROR] = composites(Error)
outcomes = st.one_of(*map(composites, (Accepted, Rejected, Released, Modified))) | unknown_states
FIELD_VALUES[FieldType.OUTCOME] = outcomes
FIELD_VALUES[FieldType.STATE] = outcomes | composites(Received)
FIELD_VALUES[FieldType.UNSETTLED] = st.dictionaries(
    st.binary(max_size=32), st.none() | FIELD_VALUES[FieldType.STATE], max_size=3
)
FIELD_VALUES[FieldType.SOURCE] = composites(Source) | unknown_states
FIELD_VALUES[FieldType.TARGET] = composites(Target) | composites(Coordinator) | unknown_states

any_composite = st.one_of(*map(composites, COMPOSITES))


@st.composite
def encoded_composites(draw: Draw) -> bytes:
    """The octets of any composite value."""
    out = bytearray()
    encode_composite(out, draw(any_composite))
    return bytes(out)


def likeness(value: Any) -> Any:
    """What two composite values share exactly when they are the same, be there NaNs in them or not."""
    if isinstance(value, Composite):
        return type(value), [likeness(getattr(value, field.name)) for field in fields(value)]
    if isinstance(value, dict):
        return [(likeness(key), likeness(item)) for key, item in value.items()]
    return identity(value)
