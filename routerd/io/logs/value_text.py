"""AMQP values as text, for people who read logs: `"text"`, `:symbol`, `b"octets"`, `{key=value}`, `@source(40) [...]`.

A value of a composite type shows its present fields by name. The type says which fields are secret; they show only
their size.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any, cast, get_args

from routerd.wire import (
    Accepted,
    Array,
    Attach,
    Begin,
    Char,
    Close,
    Coordinator,
    Decimal32,
    Decimal64,
    Decimal128,
    Described,
    DescribedType,
    Detach,
    Disposition,
    End,
    Error,
    Flow,
    Modified,
    Open,
    Received,
    Rejected,
    Released,
    Source,
    Symbol,
    Target,
    Transfer,
    ULong,
)
from routerd.wire.sasl import SaslFrame

_COMPOSITES: tuple[type[Any], ...] = (
    *(Open, Begin, Attach, Flow, Transfer, Disposition, Detach, End, Close),
    *(Error, Received, Accepted, Rejected, Released, Modified, Source, Target, Coordinator),
    *get_args(SaslFrame),
)
_DECIMALS = (Decimal32, Decimal64, Decimal128)


def _wire_name(name: str) -> str:
    """Return one of our names as the standard writes it: `SaslInit` and `container_id` with hyphens, in lower case."""
    return "".join(f"-{one.lower()}" if one.isupper() else one for one in name).lstrip("-").replace("_", "-")


class _Shape:
    """The fields of a composite type's text."""

    def __init__(self, composite: type[Any]) -> None:
        self.name = _wire_name(composite.__name__)
        self.head = f"@{self.name}({composite.CODE})"
        self.fields = [(_wire_name(field.name), not field.repr) for field in fields(composite)]


_SHAPES = {composite.CODE: _Shape(composite) for composite in _COMPOSITES}
_CODES_BY_NAME = {f"amqp:{shape.name}:list": code for code, shape in _SHAPES.items()}


def quoted(text: str) -> str:
    """Return text in quotation marks, without characters that cannot be printed."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if escaped.isprintable() else f'"{"".join(map(_printable, escaped))}"'


def octets_text(octets: bytes | bytearray, limit: int | None = None) -> str:
    """Return octets in quotation marks. Those that are not printable ASCII are escaped, and dots stand for a cut."""
    shown = octets if limit is None else octets[:limit]
    text = "".join(_OCTETS[octet] for octet in shown)
    return f'"{text}"' if len(shown) == len(octets) else f'"{text}"...'


def value_text(value: Any) -> str:
    """Return the text of any decoded value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (bytes, bytearray)):
        return f"{type(value).__name__} {value.hex()}" if isinstance(value, _DECIMALS) else f"b{octets_text(value)}"
    if isinstance(value, Described):
        return _described(value)
    if isinstance(value, Mapping):
        return map_text(value)
    if isinstance(value, (list, tuple)):
        return f"[{_joined(value)}]"
    if isinstance(value, Array):
        return f"@{_type_name(value.type)}[{_joined(value.values)}]"
    return str(value)


def map_text(entries: Mapping[Any, Any]) -> str:
    """Return the text of a map."""
    return "{" + ", ".join(f"{value_text(key)}={value_text(value)}" for key, value in entries.items()) + "}"


def composite_code(value: Any) -> int | None:
    """Return the code of a known composite type's value."""
    if not isinstance(value, Described) or not isinstance(value.value, list):
        return None
    descriptor = value.descriptor
    if isinstance(descriptor, Symbol):
        return _CODES_BY_NAME.get(descriptor)
    return int(descriptor) if isinstance(descriptor, ULong) and descriptor in _SHAPES else None


def _described(value: Described) -> str:
    code = composite_code(value)
    if code is None:
        return f"@{value_text(value.descriptor)} {value_text(value.value)}"
    shape = _SHAPES[code]
    members = cast(list[Any], value.value)
    texts = [
        f"{name}={_size_text(member) if is_secret else value_text(member)}"
        for (name, is_secret), member in zip(shape.fields, members, strict=False)
        if member is not None
    ]
    # Values behind the last field of the standard are wrong, and worth seeing.
    texts += map(value_text, members[len(shape.fields) :])
    return f"{shape.head} [{', '.join(texts)}]"


def _size_text(secret: Any) -> str:
    return f"({len(secret)} octets)" if isinstance(secret, bytes) else "(...)"


def _joined(values: Iterable[Any]) -> str:
    return ", ".join(map(value_text, values))


def _text(text: str) -> str:
    if isinstance(text, Symbol):
        # As in the traces of qdrouterd, which scripts read: only letters stand without quotes.
        return f":{text}" if text.isascii() and text.isalpha() else f":{quoted(text)}"
    return f"'{_printable(str(text))}'" if isinstance(text, Char) else quoted(text)


def _type_name(element: "str | DescribedType") -> str:
    if isinstance(element, DescribedType):
        return f"@{value_text(element.descriptor)} {_type_name(element.type)}"
    return element


def _printable(character: str) -> str:
    return character if character.isprintable() else repr(character)[1:-1]


def _octet_text(octet: int) -> str:
    character = chr(octet)
    if character in '"\\':
        return "\\" + character
    return character if 32 <= octet < 127 else f"\\x{octet:02x}"


_OCTETS = [_octet_text(octet) for octet in range(256)]
