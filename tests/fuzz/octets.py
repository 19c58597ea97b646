"""The octets of AMQP values and frames, put together by hand, as a fuzzer has to write wrong ones too."""

import struct
from collections.abc import Sequence

AMQP_HEADER = b"AMQP\0\1\0\0"
SASL_HEADER = b"AMQP\3\1\0\0"
NULL = b"\x40"
TRUE = b"\x41"
FALSE = b"\x42"

OPEN, BEGIN, ATTACH, FLOW, TRANSFER, DISPOSITION, DETACH, END, CLOSE = range(0x10, 0x19)
ERROR = 0x1D
RECEIVED, ACCEPTED, REJECTED, RELEASED, MODIFIED = range(0x23, 0x28)
SOURCE, TARGET, COORDINATOR, TRANSACTIONAL = 0x28, 0x29, 0x30, 0x34
MECHANISMS, INIT, CHALLENGE, RESPONSE, OUTCOME = range(0x40, 0x45)


def uint(number: int) -> bytes:
    """A uint in its shortest encoding."""
    if number == 0:
        return b"\x43"
    return b"\x52" + bytes((number,)) if number < 256 else b"\x70" + number.to_bytes(4, "big")


def ubyte(number: int) -> bytes:
    """A ubyte."""
    return b"\x50" + bytes((number,))


def ushort(number: int) -> bytes:
    """A ushort."""
    return b"\x60" + number.to_bytes(2, "big")


def ulong(number: int) -> bytes:
    """A ulong in a short encoding."""
    return b"\x53" + bytes((number,)) if number < 256 else b"\x80" + number.to_bytes(8, "big")


def boolean(truth: object) -> bytes:
    """A boolean in its shortest encoding."""
    return TRUE if truth else FALSE


def sized(code: int, octets: bytes) -> bytes:
    """A variable-width value by its short constructor."""
    if len(octets) < 256:
        return bytes((code, len(octets))) + octets
    return bytes((code | 0x10,)) + len(octets).to_bytes(4, "big") + octets


def binary(octets: bytes) -> bytes:
    """A binary."""
    return sized(0xA0, octets)


def string(text: str) -> bytes:
    """A string."""
    return sized(0xA1, text.encode())


def symbol(text: str) -> bytes:
    """A symbol."""
    return sized(0xA3, text.encode())


def counted(code: int, count: int, content: bytes) -> bytes:
    """A list, map or array by its short constructor, as long as it fits."""
    if len(content) < 255 and count < 256:
        return bytes((code, len(content) + 1, count)) + content
    return bytes((code | 0x10,)) + struct.pack(">II", len(content) + 4, count) + content


def array(*items: bytes) -> bytes:
    """An array of items that have the same constructor octet."""
    return counted(0xE0, len(items), items[0][:1] + b"".join(item[1:] for item in items))


def listed(items: Sequence[bytes]) -> bytes:
    """A list."""
    return counted(0xC0, len(items), b"".join(items)) if items else b"\x45"


def mapped(*items: bytes) -> bytes:
    """A map of keys and values in turn."""
    return counted(0xC1, len(items), b"".join(items))


def composite(code: int, *fields: bytes) -> bytes:
    """A described list, less the nulls at its end."""
    kept = list(fields)
    while kept and kept[-1] == NULL:
        kept.pop()
    return b"\0\x53" + bytes((code,)) + listed(kept)


def framed(body: bytes, channel: int = 0, kind: int = 0) -> bytes:
    """A frame."""
    return struct.pack(">IBBH", len(body) + 8, 2, kind, channel) + body


def error(condition: str, *more: bytes) -> bytes:
    """An error."""
    return composite(ERROR, symbol(condition), *more)


PROPERTIES = mapped(symbol("product"), string("fuzz"), symbol("n"), uint(1))
STATES = (
    NULL,
    composite(ACCEPTED),
    composite(RELEASED),
    composite(REJECTED),
    composite(REJECTED, error("amqp:not-found", string("gone"), mapped(symbol("k"), TRUE))),
    composite(MODIFIED, TRUE, FALSE, mapped(symbol("x-opt"), uint(7))),
    composite(MODIFIED),
    composite(RECEIVED, uint(0), ulong(3)),
    composite(RECEIVED, uint(2), ulong(1 << 40)),
    composite(TRANSACTIONAL, binary(b"tx"), composite(ACCEPTED)),
    b"\0" + symbol("my:state:list") + listed([uint(1)]),
    b"\0\xa3\x12amqp:accepted:list\x45",
)
ERRORS = (
    NULL,
    error("amqp:internal-error"),
    error("amqp:link:detach-forced", string("off with you")),
    error("my:own", NULL, mapped(symbol("why"), listed([TRUE, NULL]))),
    error("amqp:connection:redirect", string("there"), mapped(symbol("hostname"), string("h"))),
)
SOURCES = (
    composite(SOURCE, string("q")),
    composite(SOURCE),
    NULL,
    composite(SOURCE, NULL, uint(2), symbol("never"), uint(60), TRUE, mapped(symbol("lifetime"), composite(0x2B))),
    composite(SOURCE, string("q"), *(NULL,) * 5, symbol("copy"), mapped(symbol("f"), b"\0" + symbol("f") + TRUE)),
    composite(SOURCE, string("q"), *(NULL,) * 7, STATES[6], array(symbol("a"), symbol("b")), symbol("c")),
    b"\0" + symbol("my:source") + listed([]),
)
TARGETS = (
    composite(TARGET, string("q")),
    composite(TARGET),
    NULL,
    composite(TARGET, NULL, uint(1), symbol("link-detach"), uint(0), TRUE),
    composite(COORDINATOR, symbol("amqp:local-transactions")),
    composite(TARGET, binary(b"q"), *(NULL,) * 5, array(symbol("x"), symbol("y"))),
)
UNSETTLED = (
    NULL,
    mapped(),
    mapped(binary(b"\0\0\0\0"), NULL),
    mapped(binary(b"\0\0\0\0"), STATES[1], binary(b"\0\0\0\1"), STATES[7]),
    mapped(binary(b"p0"), NULL, binary(b"p1"), STATES[1], binary(b"p2"), STATES[7]),
)
SAMPLES = (
    *(NULL, TRUE, FALSE, b"\x43", b"\x44", b"\x45", b"\x56\0", b"\x56\2", ubyte(3), b"\x51\x80"),
    *(b"\x52\xff", b"\x53\x24", b"\x54\xff", b"\x55\x01", ushort(9), b"\x61\xff\xff", b"\x70\xff\xff\xff\xff"),
    *(b"\x71\x80\0\0\0", b"\x72\x7f\xc0\0\0", b"\x73\0\0\xd8\0", b"\x73\0\x01\xf6\x00", b"\x74abcd"),
    *(b"\x80" + b"\xff" * 8, b"\x81\x80" + b"\0" * 7, b"\x82\x7f\xf8" + b"\0" * 6, b"\x83" + b"\0" * 8),
    *(b"\x84" + b"d" * 8, b"\x94" + b"d" * 16, b"\x98" + b"u" * 16, binary(b""), binary(b"\0" * 33)),
    *(string("é"), b"\xa1\x02\xc3\x28", symbol("a"), b"\xa3\x01\xe9", b"\xb0\0\0\0\1x", b"\xb1\xff\xff\xff\xff"),
    *(listed([TRUE, NULL]), mapped(TRUE, NULL), mapped(TRUE, NULL, TRUE, NULL), b"\xc1\x02\x01\x40"),
    *(b"\xc0\x01\xff", b"\xd0\0\0\0\4\xff\xff\xff\xff", b"\xe0\x02\x03\x41", b"\xf0\0\0\0\5\xff\xff\xff\xff\x40"),
    *(array(symbol("a"), symbol("bc")), b"\xe0\x0a\1\xe0\x07\2\x41\2\x41\1\x41", b"\0" * 40, b"\0\x53\x24\x45"),
    *(composite(ACCEPTED), composite(SOURCE), composite(OPEN, string("x")), b"\xc0\x03\x02\xc0\x80" * 2, b"\x3f"),
)
"""Values of every kind, of which some are wrong."""

ANNOTATIONS = mapped(symbol("x-opt-qd.to"), string("a"))
MESSAGE = b"\0\x53\x70\xc0\x02\x01\x41\0\x53\x72" + ANNOTATIONS + b"\0\x53\x77\xa1\x05hello"
PAYLOADS = (MESSAGE, b"", b"x", b"y" * 100, b"z" * 600)
