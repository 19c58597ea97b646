"""Steps from section to section of a message, by constructors and sizes alone; they create no Python objects.

A search for an end returns its offset, SHORT when the octets end before it, or MALFORMED. Only the caller knows whether
more octets come, and so whether SHORT is an error.
"""

from routerd.wire.section_codes import Section

_HEADER = Section.HEADER.value
_MESSAGE_ANNOTATIONS = Section.MESSAGE_ANNOTATIONS.value
_PROPERTIES = Section.PROPERTIES.value
_DATA = Section.DATA.value
_AMQP_SEQUENCE = Section.AMQP_SEQUENCE.value
_AMQP_VALUE = Section.AMQP_VALUE.value
_FOOTER = Section.FOOTER.value

_SHORT = -1
_MALFORMED = -2

_CODES_BY_NAME = {
    b"amqp:header:list": _HEADER,
    b"amqp:delivery-annotations:map": Section.DELIVERY_ANNOTATIONS.value,
    b"amqp:message-annotations:map": _MESSAGE_ANNOTATIONS,
    b"amqp:properties:list": _PROPERTIES,
    b"amqp:application-properties:map": Section.APPLICATION_PROPERTIES.value,
    b"amqp:data:binary": _DATA,
    b"amqp:amqp-sequence:list": _AMQP_SEQUENCE,
    b"amqp:amqp-value:*": _AMQP_VALUE,
    b"amqp:footer:map": _FOOTER,
}

# The octets behind a constructor (1.2), or the width of their size field.
_SIZE8, _SIZE32, _DESCRIPTOR, _UNKNOWN = 32, 33, 34, 35
_CONSTRUCTORS = {
    0: (0x40, 0x41, 0x42, 0x43, 0x44, 0x45),
    1: (0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56),
    2: (0x60, 0x61),
    4: (0x70, 0x71, 0x72, 0x73, 0x74),
    8: (0x80, 0x81, 0x82, 0x83, 0x84),
    16: (0x94, 0x98),
    _SIZE8: (0xA0, 0xA1, 0xA3, 0xC0, 0xC1, 0xE0),
    _SIZE32: (0xB0, 0xB1, 0xB3, 0xD0, 0xD1, 0xF0),
    _DESCRIPTOR: (0x00,),
}
_WIDTHS = {constructor: width for width, constructors in _CONSTRUCTORS.items() for constructor in constructors}
_WIDTH_TABLE = bytes([_WIDTHS.get(constructor, _UNKNOWN) for constructor in range(256)])
_widths = _WIDTH_TABLE


def follows(code: int, last: int) -> bool:
    """Whether a section may follow another (3.2); `last` is 0 at the beginning of the message."""
    if last >= _DATA and code < _FOOTER:
        return code == last and code != _AMQP_VALUE
    return code > last


def read_u32(view: bytes | bytearray, at: int) -> int:
    """Return four octets as a number."""
    return view[at] << 24 | view[at + 1] << 16 | view[at + 2] << 8 | view[at + 3]


def skip_value(view: bytes | bytearray, at: int, end: int) -> int:
    """Return the end of the value at `at`; its content is not read."""
    wanted = 1
    while wanted > 0:
        if at >= end:
            return _SHORT
        width = _widths[view[at]]
        at += 1
        wanted -= 1
        if width <= 16:
            at += width
        elif width == _SIZE8:
            if at >= end:
                return _SHORT
            at += 1 + view[at]
        elif width == _SIZE32:
            if at + 4 > end:
                return _SHORT
            at += read_u32(view, at)
            at += 4
        elif width == _DESCRIPTOR:
            wanted += 2
        else:
            return _MALFORMED
    return at if at <= end else _SHORT


def descriptor_end(view: bytes | bytearray, start: int, end: int) -> int:
    """Return the end of the descriptor of the section at `start`, where its value begins."""
    if view[start] != 0x00:
        return _MALFORMED
    return skip_value(view, start + 1, end)


def may_carry_annotations(view: bytes | bytearray, start: int, end: int) -> bool:
    """Whether a message has, or may have, annotations, by its first octets."""
    if end - start < 6 or view[start] != 0 or view[start + 1] != 0x53:
        return True
    code = view[start + 2]
    if code == _HEADER:
        kind = view[start + 3]
        if kind == 0x45:
            start += 4
        elif kind == 0xC0:
            start += 5 + view[start + 4]
        else:
            return True
        if end - start < 3 or view[start] != 0 or view[start + 1] != 0x53:
            return True
        code = view[start + 2]
    return code <= _MESSAGE_ANNOTATIONS


def is_past_annotations(view: bytes | bytearray, at: int, end: int) -> bool:
    """Whether a section at `at`, as most peers encode it, comes after the message-annotations."""
    return end - at >= 3 and view[at] == 0 and view[at + 1] == 0x53 and view[at + 2] > _MESSAGE_ANNOTATIONS


def section_code(view: bytes | bytearray, start: int, stop: int) -> int:
    """Return the code of the section whose descriptor is from `start` to `stop`, 0 for an unknown one."""
    constructor = view[start + 1]
    if constructor == 0x53:  # smallulong
        return view[start + 2]
    if constructor == 0x80:  # ulong
        return view[stop - 1] if not (read_u32(view, stop - 8) or read_u32(view, stop - 4) >> 8) else 0
    if constructor == 0xA3:  # sym8
        return _CODES_BY_NAME.get(bytes(view[start + 3 : stop]), 0)
    if constructor == 0xB3:  # sym32
        return _CODES_BY_NAME.get(bytes(view[start + 6 : stop]), 0)
    return 0


def section_end(view: bytes | bytearray, value: int, end: int, code: int) -> int:
    """Return the end of the section whose value begins at `value`; MALFORMED if the value has the wrong type."""
    if value >= end:
        return _SHORT
    constructor = view[value]
    if code == _DATA:
        is_right = constructor == 0xA0 or constructor == 0xB0
    elif code in (_HEADER, _PROPERTIES, _AMQP_SEQUENCE):
        is_right = constructor == 0xC0 or constructor == 0xD0 or constructor == 0x45
    elif code == _AMQP_VALUE:
        is_right = True
    else:
        is_right = constructor == 0xC1 or constructor == 0xD1
    if not is_right:
        return _MALFORMED
    stop = skip_value(view, value, end)
    if constructor & 0xE0 == 0xC0 and 0 < stop < value + (3 if constructor < 0xD0 else 9):
        return _MALFORMED  # a list or map without room for its count
    return stop
