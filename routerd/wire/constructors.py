"""The tables of AMQP encodings (1.6) and of the descriptors that the standard assigns."""

NAMES_BY_CONSTRUCTOR = {
    0x40: "null", 0x41: "boolean", 0x42: "boolean", 0x43: "uint", 0x44: "ulong", 0x45: "list",
    0x50: "ubyte", 0x51: "byte", 0x52: "uint", 0x53: "ulong", 0x54: "int", 0x55: "long", 0x56: "boolean",
    0x60: "ushort", 0x61: "short",
    0x70: "uint", 0x71: "int", 0x72: "float", 0x73: "char", 0x74: "decimal32",
    0x80: "ulong", 0x81: "long", 0x82: "double", 0x83: "timestamp", 0x84: "decimal64",
    0x94: "decimal128", 0x98: "uuid",
    0xA0: "binary", 0xA1: "string", 0xA3: "symbol", 0xB0: "binary", 0xB1: "string", 0xB3: "symbol",
    0xC0: "list", 0xC1: "map", 0xD0: "list", 0xD1: "map", 0xE0: "array", 0xF0: "array",
}  # fmt: skip

SIZED = 0x20
UNKNOWN = 0xFF
# By the first half of a constructor: the octets of a value (1.2), or of its size field.
_WIDTHS = (0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 1, 4, 1, 4, 1, 4)


def _form(constructor: int) -> int:
    if constructor not in NAMES_BY_CONSTRUCTOR:
        return UNKNOWN
    width = _WIDTHS[constructor >> 4]
    return width | SIZED if constructor >= 0xA0 else width


FORMS = bytes(map(_form, range(256)))
"""By constructor: the width of the value; SIZED plus the width of the size field; or UNKNOWN."""

CODES_BY_NAME = {
    f"amqp:{name}".encode(): code
    for name, code in {
        "open:list": 0x10,
        "begin:list": 0x11,
        "attach:list": 0x12,
        "flow:list": 0x13,
        "transfer:list": 0x14,
        "disposition:list": 0x15,
        "detach:list": 0x16,
        "end:list": 0x17,
        "close:list": 0x18,
        "error:list": 0x1D,
        "received:list": 0x23,
        "accepted:list": 0x24,
        "rejected:list": 0x25,
        "released:list": 0x26,
        "modified:list": 0x27,
        "source:list": 0x28,
        "target:list": 0x29,
        "delete-on-close:list": 0x2B,
        "delete-on-no-links:list": 0x2C,
        "delete-on-no-messages:list": 0x2D,
        "delete-on-no-links-or-messages:list": 0x2E,
        "coordinator:list": 0x30,
        "declare:list": 0x31,
        "discharge:list": 0x32,
        "declared:list": 0x33,
        "transactional-state:list": 0x34,
        "sasl-mechanisms:list": 0x40,
        "sasl-init:list": 0x41,
        "sasl-challenge:list": 0x42,
        "sasl-response:list": 0x43,
        "sasl-outcome:list": 0x44,
        "header:list": 0x70,
        "delivery-annotations:map": 0x71,
        "message-annotations:map": 0x72,
        "properties:list": 0x73,
        "application-properties:map": 0x74,
        "data:binary": 0x75,
        "amqp-sequence:list": 0x76,
        "amqp-value:*": 0x77,
        "footer:map": 0x78,
    }.items()
}
"""The numeric descriptors of the symbolic ones that a peer may use (1.4)."""
