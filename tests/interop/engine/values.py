"""AMQP values as the engine holds them, to and from the notation of the peers (see ../peers/proton_values.py)."""

import struct
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from routerd.wire import (
    AmqpValue,
    Array,
    Byte,
    Char,
    Data,
    Decimal32,
    Decimal64,
    Decimal128,
    Described,
    DescribedType,
    Float,
    Int,
    Message,
    PairMap,
    Short,
    Symbol,
    Timestamp,
    UByte,
    UInt,
    ULong,
    UShort,
)

Notation = list[Any]

WHOLE_NUMBERS: dict[str, type[int]] = {
    **{"ubyte": UByte, "ushort": UShort, "uint": UInt, "ulong": ULong},
    **{"byte": Byte, "short": Short, "int": Int, "long": int, "timestamp": Timestamp},
}
DECIMALS: dict[str, type[bytes]] = {"decimal32": Decimal32, "decimal64": Decimal64, "decimal128": Decimal128}
NAMES = {kind: name for name, kind in (WHOLE_NUMBERS | DECIMALS).items()}


def value_of(notation: Notation) -> Any:
    """Return the value that a notation stands for."""
    match notation:
        case ["null"]:
            return None
        case ["boolean" | "string", content]:
            return content
        case ["float", octets]:
            return Float(struct.unpack(">f", bytes.fromhex(octets))[0])
        case ["double", octets]:
            return struct.unpack(">d", bytes.fromhex(octets))[0]
        case ["char", code]:
            return Char(chr(int(code)))
        case ["symbol", text]:
            return Symbol(text)
        case ["uuid", octets]:
            return UUID(octets)
        case ["binary", octets]:
            return bytes.fromhex(octets)
        case ["list", items]:
            return [value_of(item) for item in items]
        case ["map", pairs]:
            return PairMap((value_of(key), value_of(value)) for key, value in pairs)
        case ["described", descriptor, value]:
            return Described(value_of(descriptor), value_of(value))
        case ["array", name, descriptor, contents]:
            values = [value_of([name, *content]) for content in contents]
            return Array(DescribedType(value_of(descriptor), name) if descriptor else name, values)
    name, content = notation
    return DECIMALS[name](bytes.fromhex(content)) if name in DECIMALS else WHOLE_NUMBERS[name](int(content))


def notation_of(value: Any) -> Notation:
    """Return the notation of a value."""
    match value:
        case None:
            return ["null"]
        case bool():
            return ["boolean", value]
        case int():
            return [NAMES[type(value)], str(value)]
        case Float():
            return ["float", struct.pack(">f", value).hex()]
        case float():
            return ["double", struct.pack(">d", value).hex()]
        case Char():
            return ["char", str(ord(value))]
        case str():
            return ["symbol" if isinstance(value, Symbol) else "string", str(value)]
        case UUID():
            return ["uuid", value.hex]
        case bytes():
            return [NAMES.get(type(value), "binary"), value.hex()]
        case list():
            return ["list", [notation_of(item) for item in value]]
        case Mapping():
            return ["map", [[notation_of(key), notation_of(item)] for key, item in value.items()]]
        case Described():
            return ["described", notation_of(value.descriptor), notation_of(value.value)]
        case Array():
            return array_notation(value)
    raise TypeError(f"{value!r} is of no AMQP type")


def array_notation(array: Array) -> Notation:
    name, descriptor = array.type, None
    if isinstance(name, DescribedType):
        descriptor, name = notation_of(name.descriptor), name.type
    return ["array", name, descriptor, [notation_of(value)[1:] for value in array.values]]


def value_message(notation: Notation) -> bytes:
    """Return a message whose body is one amqp-value section."""
    return Message(body=AmqpValue(value_of(notation))).encode()


def data_message(octets: bytes) -> bytes:
    """Return a message whose body is one data section."""
    return Message(body=Data([octets])).encode()


def body_of(message: bytes) -> Notation:
    """Return the content of a message's amqp-value section, or of its data sections as one binary."""
    body = Message.decode(message).body
    if isinstance(body, AmqpValue):
        return notation_of(body.value)
    assert isinstance(body, Data), body
    return ["binary", b"".join(body.sections).hex()]
