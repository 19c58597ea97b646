"""Structures in the compact protocol of Thrift, as far as the metadata of Parquet needs it."""

from collections.abc import Sequence
from typing import NamedTuple

_SHORT_STEP = 15
_SHORT_LIST = 15


class Kind:
    """What a field holds, by its number in the protocol."""

    TRUE = 1
    FALSE = 2
    OCTET = 3
    I16 = 4
    I32 = 5
    I64 = 6
    BINARY = 8
    LIST = 9
    STRUCT = 12


class Field(NamedTuple):
    """A field of a structure, written already."""

    number: int
    kind: int
    octets: bytes


def varint(value: int) -> bytes:
    """Return a number that is not below 0, seven bits an octet."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def _folded(value: int) -> bytes:
    return varint(value << 1 if value >= 0 else ~(value << 1))


def binary(value: bytes) -> bytes:
    """Return octets with their length."""
    return varint(len(value)) + value


def list_of(kind: int, items: Sequence[bytes]) -> bytes:
    """Return a list of what has been written already."""
    head = bytes([len(items) << 4 | kind]) if len(items) < _SHORT_LIST else bytes([0xF0 | kind]) + varint(len(items))
    return head + b"".join(items)


def small(number: int, value: int) -> Field:
    """A field of 8 bits."""
    return Field(number, Kind.OCTET, value.to_bytes(1, "little", signed=True))


def i16(number: int, value: int) -> Field:
    """A field of 16 bits."""
    return Field(number, Kind.I16, _folded(value))


def i32(number: int, value: int) -> Field:
    """A field of 32 bits."""
    return Field(number, Kind.I32, _folded(value))


def i64(number: int, value: int) -> Field:
    """A field of 64 bits."""
    return Field(number, Kind.I64, _folded(value))


def flag(number: int, value: bool) -> Field:
    """A field that is true or false, which its kind says."""
    return Field(number, Kind.TRUE if value else Kind.FALSE, b"")


def text(number: int, value: str | bytes) -> Field:
    """A field of text, or of octets."""
    return Field(number, Kind.BINARY, binary(value.encode() if isinstance(value, str) else value))


def nested(number: int, *fields: Field) -> Field:
    """A field that is a structure."""
    return Field(number, Kind.STRUCT, struct(*fields))


def structs(number: int, items: Sequence[bytes]) -> Field:
    """A field that is a list of structures."""
    return Field(number, Kind.LIST, list_of(Kind.STRUCT, items))


def texts(number: int, items: Sequence[str]) -> Field:
    """A field that is a list of texts."""
    return Field(number, Kind.LIST, list_of(Kind.BINARY, [binary(item.encode()) for item in items]))


def numbers(number: int, items: Sequence[int]) -> Field:
    """A field that is a list of numbers of 32 bits."""
    return Field(number, Kind.LIST, list_of(Kind.I32, [_folded(item) for item in items]))


def struct(*fields: Field) -> bytes:
    """Return a structure; its fields stand in the order of their numbers."""
    found = bytearray()
    last = 0
    for number, kind, octets in fields:
        step = number - last
        last = number
        found += bytes([step << 4 | kind]) if step <= _SHORT_STEP else bytes([kind]) + _folded(number)
        found += octets
    found.append(0)
    return bytes(found)
