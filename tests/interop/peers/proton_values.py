"""AMQP values as proton holds them, to and from the notation that the peers print.

A value is a list: the name of its type, then its content. Numbers are decimal text, floating point and decimal types
are the hexadecimal octets of the encoding, so that nothing is rounded on its way through JSON:

    ["null"]  ["boolean", true]  ["ulong", "18446744073709551615"]  ["char", "8364"]  ["float", "3fc00000"]
    ["binary", "00ff"]  ["uuid", "..."]  ["symbol", "x"]  ["list", [VALUE, ...]]  ["map", [[VALUE, VALUE], ...]]
    ["described", VALUE, VALUE]  ["array", "uint", null, [["1"], ["2"]]]: element type, descriptor, contents
"""

import struct
import uuid
from collections.abc import Callable
from typing import Any

from proton import Data

DATA = str(0x75)
AMQP_VALUE = str(0x77)

Value = list[Any]

NAMES = {
    **{Data.NULL: "null", Data.BOOL: "boolean", Data.CHAR: "char", Data.TIMESTAMP: "timestamp", Data.UUID: "uuid"},
    **{Data.UBYTE: "ubyte", Data.USHORT: "ushort", Data.UINT: "uint", Data.ULONG: "ulong"},
    **{Data.BYTE: "byte", Data.SHORT: "short", Data.INT: "int", Data.LONG: "long"},
    **{Data.FLOAT: "float", Data.DOUBLE: "double"},
    **{Data.DECIMAL32: "decimal32", Data.DECIMAL64: "decimal64", Data.DECIMAL128: "decimal128"},
    **{Data.BINARY: "binary", Data.STRING: "string", Data.SYMBOL: "symbol"},
    **{Data.LIST: "list", Data.MAP: "map", Data.ARRAY: "array", Data.DESCRIBED: "described"},
}
CODES = {name: code for code, name in NAMES.items()}

WHOLE_NUMBERS = ("ubyte", "ushort", "uint", "ulong", "byte", "short", "int", "long", "timestamp")

TO_NOTATION: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(WHOLE_NUMBERS, lambda number: str(int(number))),
    "boolean": bool,
    "char": lambda text: str(ord(text)),
    "float": lambda number: struct.pack(">f", number).hex(),
    "double": lambda number: struct.pack(">d", number).hex(),
    "decimal32": lambda number: int(number).to_bytes(4, "big").hex(),
    "decimal64": lambda number: int(number).to_bytes(8, "big").hex(),
    "decimal128": lambda octets: bytes(octets).hex(),
    "uuid": lambda value: value.hex,
    "binary": lambda octets: bytes(octets).hex(),
    "string": str,
    "symbol": str,
}

FROM_NOTATION: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(WHOLE_NUMBERS, int),
    "boolean": bool,
    "char": lambda text: chr(int(text)),
    "float": lambda text: struct.unpack(">f", bytes.fromhex(text))[0],
    "double": lambda text: struct.unpack(">d", bytes.fromhex(text))[0],
    "decimal32": lambda text: int(text, 16),
    "decimal64": lambda text: int(text, 16),
    "decimal128": bytes.fromhex,
    "uuid": uuid.UUID,
    "binary": bytes.fromhex,
    "string": str,
    "symbol": str,
}


def children(data: Data, count: int) -> list[Value]:
    """Return the values inside the compound value that the cursor stands on."""
    data.enter()
    values = []
    for _ in range(count):
        data.next()
        values.append(read(data))
    data.exit()
    return values


def read_array(data: Data) -> Value:
    count, is_described, element = data.get_array()
    values = children(data, count + is_described)
    descriptor = values.pop(0) if is_described else None
    return ["array", NAMES[element], descriptor, [value[1:] for value in values]]


def read(data: Data) -> Value:
    """Return the value that the cursor stands on."""
    name = NAMES[data.type()]
    if name == "null":
        return ["null"]
    if name == "list":
        return ["list", children(data, data.get_list())]
    if name == "map":
        flat = children(data, data.get_map())
        return ["map", [list(pair) for pair in zip(flat[::2], flat[1::2], strict=True)]]
    if name == "described":
        return ["described", *children(data, 2)]
    if name == "array":
        return read_array(data)
    return [name, TO_NOTATION[name](getattr(data, "get_bool" if name == "boolean" else f"get_{name}")())]


def write_children(data: Data, values: list[Value]) -> None:
    data.enter()
    for value in values:
        write(data, value)
    data.exit()


def write(data: Data, value: Value) -> None:
    """Put a value at the cursor."""
    name, *content = value
    if name == "null":
        data.put_null()
    elif name == "list":
        data.put_list()
        write_children(data, content[0])
    elif name == "map":
        data.put_map()
        write_children(data, [part for pair in content[0] for part in pair])
    elif name == "described":
        data.put_described()
        write_children(data, content)
    elif name == "array":
        element, descriptor, contents = content
        data.put_array(descriptor is not None, CODES[element])
        write_children(data, [*([descriptor] if descriptor else []), *([element, *one] for one in contents)])
    else:
        getattr(data, "put_bool" if name == "boolean" else f"put_{name}")(FROM_NOTATION[name](content[0]))


def encode_message(value: Value) -> bytes:
    """Return a message whose body is one amqp-value section."""
    data = Data()
    write(data, ["described", ["ulong", AMQP_VALUE], value])
    return data.encode()


def body_of(message: bytes) -> Value:
    """Return the content of a message's amqp-value section, or of its data sections as one binary."""
    octets = ""
    while message:
        data = Data()
        message = message[data.decode(message) :]
        data.rewind()
        data.next()
        _, descriptor, value = read(data)
        if descriptor == ["ulong", AMQP_VALUE]:
            return value
        if descriptor == ["ulong", DATA]:
            octets += value[1]
    return ["binary", octets]
