"""The bytes of an AMQP message, as far as the driver writes and reads them (AMQP 1.0 sections 1.6 and 3.2).

Proton could do this, too; its way by an object with a property for each field costs several times as much, for every
message on both sides.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from .errors import Undecodable

MessageId = str | int | bytes | UUID

_HEADER, _PROPERTIES, _DATA, _SEQUENCE, _VALUE = 0x70, 0x73, 0x75, 0x76, 0x77
_SECTIONS = range(0x70, 0x79)
_SMALL = 256


@dataclass(slots=True)
class Message:
    """The parts of a message that the driver uses; a body of None stands for no body."""

    body: Any = None
    message_id: MessageId | None = None
    to: str | None = None
    reply_to: str | None = None
    correlation_id: MessageId | None = None
    expiry_time_ms: int | None = None
    ttl_ms: int | None = None


def encoded(message: Message) -> bytes:
    """Return the bytes of a message whose body is a string, or missing."""
    parts = []
    if message.ttl_ms is not None:
        parts.append(_section(_HEADER, b"\x40\x40" + _uint(message.ttl_ms), 3))
    fields = [_id(message.message_id), b"\x40", _text(message.to), b"\x40", _text(message.reply_to)]
    fields.append(_id(message.correlation_id))
    if message.expiry_time_ms is not None:
        fields += [b"\x40", b"\x40", b"\x83" + struct.pack(">q", message.expiry_time_ms)]
    while fields and fields[-1] == b"\x40":
        fields.pop()
    if fields:
        parts.append(_section(_PROPERTIES, b"".join(fields), len(fields)))
    if message.body is not None:
        parts.append(b"\x00\x53\x77" + _text(message.body))
    return b"".join(parts)


def _section(code: int, fields: bytes, count: int) -> bytes:
    if len(fields) + 1 < _SMALL:
        return b"\x00\x53%c\xc0%c%c" % (code, len(fields) + 1, count) + fields
    return b"\x00\x53%c\xd0" % code + struct.pack(">II", len(fields) + 4, count) + fields


def _uint(value: int) -> bytes:
    return b"\x70" + struct.pack(">I", min(value, 0xFFFFFFFF))


def _text(value: str | None) -> bytes:
    return b"\x40" if value is None else _sized(value.encode(), b"\xa1", b"\xb1")


def _sized(data: bytes, small: bytes, large: bytes) -> bytes:
    if len(data) < _SMALL:
        return b"%b%c%b" % (small, len(data), data)
    return large + struct.pack(">I", len(data)) + data


def _id(value: MessageId | None) -> bytes:
    if value is None or isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        return b"\x80" + struct.pack(">Q", value)
    if isinstance(value, UUID):
        return b"\x98" + value.bytes
    return _sized(value, b"\xa0", b"\xb0")


def decoded(data: bytes) -> Message:
    """Return the message that some bytes are; Undecodable if they are none."""
    message = Message()
    try:
        at = 0
        while at < len(data):
            at = _read_section(data, at, message)
    except (IndexError, struct.error, ValueError, RecursionError) as error:
        raise Undecodable(f"not an AMQP message: {error}") from error
    return message


def _read_section(data: bytes, at: int, message: Message) -> int:
    code, at = _descriptor(data, at)
    if code == _PROPERTIES:
        fields, at = _list(data, at, 9)
        message.message_id, message.to, message.reply_to = fields[0], fields[2], fields[4]
        message.correlation_id, message.expiry_time_ms = fields[5], fields[8]
    elif code == _HEADER:
        fields, at = _list(data, at, 3)
        message.ttl_ms = fields[2]
    elif code in (_DATA, _VALUE):
        value, at = _value(data, at)
        message.body = value if code == _VALUE or not isinstance(message.body, bytes) else message.body + value
    elif code in _SECTIONS:
        at = _after(data, at)
        if code == _SEQUENCE:
            message.body = ()
    else:
        raise ValueError(f"a section with descriptor {code:#x}")
    return at


def _descriptor(data: bytes, at: int) -> tuple[int, int]:
    if data[at] != 0:
        raise ValueError(f"no section at byte {at}")
    if data[at + 1] == 0x53:
        return data[at + 2], at + 3
    code, at = _value(data, at + 1)
    if not isinstance(code, int):
        raise ValueError(f"a section with descriptor {code!r}")
    return code, at


def _list(data: bytes, at: int, wanted: int) -> tuple[list[Any], int]:
    kind = data[at]
    if kind == 0x45:
        return [None] * wanted, at + 1
    if kind == 0xC0:
        end, count, at = at + 2 + data[at + 1], data[at + 2], at + 3
    elif kind == 0xD0:
        size, count = struct.unpack_from(">II", data, at + 1)
        end, at = at + 5 + size, at + 9
    else:
        raise ValueError(f"type {kind:#x} instead of a list")
    if end > len(data):
        raise ValueError("a list is longer than the message")
    fields: list[Any] = []
    for _ in range(min(count, wanted)):
        if data[at] == 0x40:
            fields.append(None)
            at += 1
        else:
            field, at = _value(data, at)
            fields.append(field)
    return fields + [None] * (wanted - len(fields)), end


def _value(data: bytes, at: int) -> tuple[Any, int]:
    kind = data[at]
    if kind == 0xA1:
        end = at + 2 + data[at + 1]
        if end > len(data):
            raise ValueError("a string is longer than the message")
        return str(data[at + 2 : end], "utf-8"), end
    if kind == 0xB1:
        end = at + 5 + int.from_bytes(data[at + 1 : at + 5])
        if end > len(data):
            raise ValueError("a string is longer than the message")
        return str(data[at + 5 : end], "utf-8"), end
    if read := _READERS.get(kind):
        end = _after(data, at)
        return read(data[at + 1 : end]), end
    return _Opaque(kind), _after(data, at)


@dataclass(slots=True)
class _Opaque:
    """A value of a type that means nothing in our messages."""

    kind: int


_READERS: dict[int, Callable[[bytes], Any]] = {
    0x40: lambda data: None,
    0x43: lambda data: 0,
    0x44: lambda data: 0,
    0x52: int.from_bytes,
    0x53: int.from_bytes,
    0x70: int.from_bytes,
    0x80: int.from_bytes,
    0x83: lambda data: int.from_bytes(data, signed=True),
    0x98: lambda data: UUID(bytes=bytes(data)),
    0xA0: lambda data: bytes(data[1:]),
    0xA3: lambda data: str(data[1:], "ascii"),
    0xB0: lambda data: bytes(data[4:]),
    0xB3: lambda data: str(data[4:], "ascii"),
}
_FIXED = {0x4: 0, 0x5: 1, 0x6: 2, 0x7: 4, 0x8: 8, 0x9: 16}
_COUNTED = {0xA: 1, 0xC: 1, 0xE: 1, 0xB: 4, 0xD: 4, 0xF: 4}


def _after(data: bytes, at: int) -> int:
    """Return where the value at `at` ends; the width follows from the upper half of its code (1.2)."""
    kind = data[at]
    if kind == 0:
        return _after(data, _after(data, at + 1))
    half = kind >> 4
    if half in _FIXED:
        end = at + 1 + _FIXED[half]
    elif half in _COUNTED:
        width = _COUNTED[half]
        end = at + 1 + width + int.from_bytes(data[at + 1 : at + 1 + width])
    else:
        raise ValueError(f"type {kind:#x}, which there is not")
    if end > len(data):
        raise ValueError("a value is longer than the message")
    return end
