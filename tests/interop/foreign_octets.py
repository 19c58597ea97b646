"""AMQP as octets, written and read without the engine: every value stays with the constructor that it is written with.

`sym8("qd.router")` and `array8(0xA3, "qd.router")` are two different things here, as they are to some routers. What is
read compares equal to what one would write only if each octet of it does.
"""

import struct
from typing import Any, NamedTuple

_FORMATS = {
    **{0x50: ">B", 0x51: ">b", 0x52: ">B", 0x53: ">B", 0x54: ">b", 0x55: ">b", 0x56: ">?", 0x60: ">H", 0x61: ">h"},
    **{0x70: ">I", 0x71: ">i", 0x72: ">f", 0x80: ">Q", 0x81: ">q", 0x82: ">d", 0x83: ">q"},
}
_CONSTANTS = {0x40: None, 0x41: True, 0x42: False, 0x43: 0, 0x44: 0, 0x45: ()}
_TEXTS = {0xA1: "utf-8", 0xB1: "utf-8", 0xA3: "ascii", 0xB3: "ascii"}
_DESCRIBED = 0x00
_AMQP_FRAME, _SASL_FRAME = 0, 1
FRAME_HEADER_SIZE = 8

PERFORMATIVES = {
    0x10: "container-id hostname max-frame-size channel-max idle-time-out outgoing-locales incoming-locales"
    " offered-capabilities desired-capabilities properties",
    0x11: "remote-channel next-outgoing-id incoming-window outgoing-window handle-max",
    0x12: "name handle role snd-settle-mode rcv-settle-mode source target unsettled incomplete-unsettled"
    " initial-delivery-count max-message-size",
    0x13: "next-incoming-id incoming-window next-outgoing-id outgoing-window handle delivery-count link-credit"
    " available drain echo",
    0x14: "handle delivery-id delivery-tag message-format settled more rcv-settle-mode state resume aborted",
    0x15: "role first last settled state",
    0x16: "handle closed error",
    0x17: "error",
    0x18: "error",
    0x40: "mechanisms",
    0x41: "mechanism initial-response hostname",
    0x44: "code additional-data",
}
"""The fields of those that routers use, by the code of the descriptor."""
OPEN, BEGIN, ATTACH, FLOW, TRANSFER, DISPOSITION, DETACH, END, CLOSE = range(0x10, 0x19)
MECHANISMS, INIT, OUTCOME = 0x40, 0x41, 0x44
TERMINUS = "address durable expiry-policy timeout dynamic dynamic-node-properties"
SOURCE_FIELDS = f"{TERMINUS} distribution-mode filter default-outcome outcomes capabilities".split()
TARGET_FIELDS = f"{TERMINUS} capabilities".split()


class Typed(NamedTuple):
    """A value and its constructor.

    The value of a list is a tuple, that of a map keys and values in turns, that of an array the constructor of the
    elements and these, that of a described value the descriptor and what it describes.
    """

    code: int
    value: Any = None


NULL, TRUE, FALSE, UINT0, ULONG0 = Typed(0x40), Typed(0x41, True), Typed(0x42, False), Typed(0x43, 0), Typed(0x44, 0)
LIST0 = Typed(0x45, ())


def ubyte(number: int) -> Typed:
    return Typed(0x50, number)


def smalluint(number: int) -> Typed:
    return Typed(0x52, number)


def uint(number: int) -> Typed:
    return Typed(0x70, number)


def smallulong(number: int) -> Typed:
    return Typed(0x53, number)


def ushort(number: int) -> Typed:
    return Typed(0x60, number)


def smallint(number: int) -> Typed:
    return Typed(0x54, number)


def int32(number: int) -> Typed:
    return Typed(0x71, number)


def smalllong(number: int) -> Typed:
    return Typed(0x55, number)


def long64(number: int) -> Typed:
    return Typed(0x81, number)


def vbin8(octets: bytes) -> Typed:
    return Typed(0xA0, octets)


def str8(text: str) -> Typed:
    return Typed(0xA1, text)


def sym8(text: str) -> Typed:
    return Typed(0xA3, text)


def list8(*items: Typed) -> Typed:
    return Typed(0xC0, items)


def list32(*items: Typed) -> Typed:
    return Typed(0xD0, items)


def map8(*keys_and_values: Typed) -> Typed:
    return Typed(0xC1, keys_and_values)


def map32(*keys_and_values: Typed) -> Typed:
    return Typed(0xD1, keys_and_values)


def array8(code: int, *values: Any) -> Typed:
    return Typed(0xE0, (code, *values))


def described(code: int, value: Typed) -> Typed:
    return Typed(_DESCRIBED, (smallulong(code), value))


# --- writing


def written(typed: Typed) -> bytes:
    """Return a value as octets."""
    code, value = typed
    if code == _DESCRIBED:
        return b"\x00" + written(value[0]) + written(value[1])
    return bytes([code]) + _content(code, value)


def _content(code: int, value: Any) -> bytes:
    if code in _CONSTANTS:
        return b""
    if code in _FORMATS:
        return struct.pack(_FORMATS[code], value)
    if code in _TEXTS:
        value = value.encode(_TEXTS[code])
    size_format = ">B" if code < 0xB0 or code in (0xC0, 0xC1, 0xE0) else ">I"
    if code >= 0xC0:
        if code in (0xE0, 0xF0):
            count = len(value) - 1
            value = bytes(value[:1]) + b"".join(_content(value[0], one) for one in value[1:])
        else:
            count = len(value)
            value = b"".join(map(written, value))
        value = struct.pack(size_format, count) + value
    return struct.pack(size_format, len(value)) + bytes(value)


def frame(channel: int, *values: Typed, payload: bytes = b"", kind: int = _AMQP_FRAME) -> bytes:
    """Return a frame with a performative, or an empty one."""
    octets = b"".join(map(written, values)) + payload
    return struct.pack(">IBBH", FRAME_HEADER_SIZE + len(octets), 2, kind, channel) + octets


def performative(code: int, *fields: Typed) -> Typed:
    """Return a performative with these first fields of its list."""
    short = described(code, list8(*fields))
    return short if sum(len(written(field)) for field in fields) < 0xFF else described(code, list32(*fields))


def sasl_frame(code: int, *fields: Typed) -> bytes:
    """Return a frame of the security layer."""
    return frame(0, performative(code, *fields), kind=_SASL_FRAME)


# --- reading


def read(octets: bytes, at: int = 0) -> tuple[Typed, int]:
    """Return the value at a place, and the place behind it."""
    code = octets[at]
    if code == _DESCRIBED:
        descriptor, at = read(octets, at + 1)
        value, at = read(octets, at)
        return Typed(code, (descriptor, value)), at
    value, at = _read_content(code, octets, at + 1)
    return Typed(code, value), at


def _read_content(code: int, octets: bytes, at: int) -> tuple[Any, int]:
    if code in _CONSTANTS:
        return _CONSTANTS[code], at
    if code in _FORMATS:
        size = struct.calcsize(_FORMATS[code])
        return struct.unpack_from(_FORMATS[code], octets, at)[0], at + size
    wide = code in (0xB0, 0xB1, 0xB3, 0xD0, 0xD1, 0xF0)
    assert wide or code in (0xA0, 0xA1, 0xA3, 0xC0, 0xC1, 0xE0), f"constructor {code:#04x} at {at - 1}"
    size_format, size_size = (">I", 4) if wide else (">B", 1)
    (size,) = struct.unpack_from(size_format, octets, at)
    at += size_size
    end = at + size
    assert end <= len(octets), f"a value ends at {end} of {len(octets)}"
    if code < 0xC0:
        content = octets[at:end]
        return (content.decode(_TEXTS[code]) if code in _TEXTS else content), end
    (count,) = struct.unpack_from(size_format, octets, at)
    at += size_size
    items: list[Any] = []
    if code in (0xE0, 0xF0):
        items.append(element := octets[at])
        at += 1
    for _ in range(count):
        item, at = _read_content(element, octets, at) if code in (0xE0, 0xF0) else read(octets, at)
        items.append(item)
    assert at == end, f"a compound value ends at {at}, not at {end}"
    return tuple(items), end


def read_all(octets: bytes) -> list[Typed]:
    """Return the values that octets are made of."""
    found, at = [], 0
    while at < len(octets):
        value, at = read(octets, at)
        found.append(value)
    return found


def plain(typed: Typed) -> Any:
    """Return a value without what it was written with."""
    code, value = typed
    if code == _DESCRIBED:
        return plain(value[0]), plain(value[1])
    if code in (0xC0, 0xD0):
        return [plain(one) for one in value]
    if code in (0xE0, 0xF0):
        return list(value[1:])
    if code in (0xC1, 0xD1):
        return {plain(key): plain(each) for key, each in entries(typed)}
    return [] if code == 0x45 else value


def entries(typed: Typed) -> list[tuple[Typed, Typed]]:
    """Return the keys and values of a map, in order."""
    assert typed.code in (0xC1, 0xD1), typed
    return list(zip(typed.value[::2], typed.value[1::2], strict=True))


class Frame(NamedTuple):
    """A frame that was read."""

    channel: int
    code: int
    fields: tuple[Typed, ...]
    payload: bytes
    octets: bytes

    def typed(self, name: str) -> Typed:
        """Return a field as it was written."""
        at = PERFORMATIVES[self.code].split().index(name)
        return self.fields[at] if at < len(self.fields) else NULL

    def __getitem__(self, name: Any) -> Any:
        """Return what a field says; None if it is left out."""
        return plain(self.typed(name))


def read_frame(octets: bytes) -> Frame:
    """Take a frame apart."""
    size, offset, kind, channel = struct.unpack_from(">IBBH", octets)
    assert (size, offset) == (len(octets), 2)
    assert kind in (_AMQP_FRAME, _SASL_FRAME)
    (descriptor, fields), at = read(octets, FRAME_HEADER_SIZE)[0].value, read(octets, FRAME_HEADER_SIZE)[1]
    assert descriptor.code == 0x53, "a descriptor of a performative is a small ulong"
    return Frame(channel, descriptor.value, fields.value, octets[at:], octets)


def terminus(typed: Typed) -> dict[str, Typed]:
    """Return the fields of a source or target that are not null."""
    descriptor, fields = typed.value
    names = {0x28: SOURCE_FIELDS, 0x29: TARGET_FIELDS}[descriptor.value]
    return {name: value for name, value in zip(names, fields.value, strict=False) if value != NULL}


def section_map(octets: bytes) -> dict[int, Typed]:
    """Return the sections of a message by the codes of their descriptors, in order."""
    found = {}
    for section in read_all(octets):
        assert section.code == _DESCRIBED
        descriptor, value = section.value
        assert descriptor.code == 0x53
        assert descriptor.value not in found
        found[descriptor.value] = value
    return found
