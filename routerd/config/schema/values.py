"""From what a file or a request gives to values of an attribute's type."""

import math
import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from routerd.config.schema.model import Attribute, ValueType

_TRUE = ("yes", "true", "on")
_FALSE = ("no", "false", "off")
_WITH_UNIT = re.compile(r"\d+\s*[A-Za-z]+")


class ValueRefused(ValueError):
    """A value that an attribute can't have."""


def convert(attribute: Attribute, value: object) -> Any:
    """Return a value as one of the attribute's type; ValueRefused if it is none."""
    return _CONVERTERS[attribute.type](attribute, value)


def _string(attribute: Attribute, value: object) -> str:
    text = _as_text(attribute, value)
    # What texts end up in, names of files and services above all, ends at such a character or fails.
    if "\0" in text:
        raise ValueRefused("the text contains NUL")
    return text


def _as_text(attribute: Attribute, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list) and attribute.separator and all(isinstance(one, str) for one in value):
        return attribute.separator.join(value)
    raise ValueRefused(f"{_kind_of(value)} is not text")


def _integer(attribute: Attribute, value: object) -> int:
    number = _whole_number(value)
    if attribute.least is not None and number < attribute.least:
        raise ValueRefused(f"{number} is too small")
    if attribute.most is not None and number > attribute.most:
        raise ValueRefused(f"{number} is too large")
    return number


def _whole_number(value: object) -> int:
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            return int(value)
        except ValueError:
            pass
    if isinstance(value, str) and _WITH_UNIT.fullmatch(value):
        raise ValueRefused(f"{shown(value)} is not a whole number: write the number alone, without a unit")
    raise ValueRefused(f"{shown(value)} is not a whole number")


def _boolean(_attribute: Attribute, value: object) -> bool:
    if isinstance(value, bool | int | float):
        return bool(value)
    if isinstance(value, str):
        folded = value.lower()
        if folded in _TRUE or folded in _FALSE:
            return folded in _TRUE
    raise ValueRefused(f"Invalid Boolean value '{shown(value)}'")


def _enumeration(attribute: Attribute, value: object) -> str:
    if isinstance(value, str) and value in attribute.tags:
        return value
    try:
        index = _whole_number(value)
    except ValueRefused:
        index = -1
    if not 0 <= index < len(attribute.tags):
        raise ValueRefused(f"Invalid value for enum{list(attribute.tags)}: {shown(value)}")
    return attribute.tags[index]


def _properties(_attribute: Attribute, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ValueRefused(f"Properties must be a map: {_kind_of(value)} is not")
    for key in value:
        if not (isinstance(key, str) and key.isascii()):
            raise ValueRefused(f"Property keys must be ASCII encoded: {shown(key)} is not")
    return value


def _map(_attribute: Attribute, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise ValueRefused(f"{_kind_of(value)} is not a map")
    return value


def _list(_attribute: Attribute, value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueRefused(f"{_kind_of(value)} is not a list")
    return value


_CONVERTERS: dict[ValueType, Callable[[Attribute, object], object]] = {
    ValueType.STRING: _string,
    ValueType.PATH: _string,
    ValueType.ENTITY_ID: _string,
    ValueType.INTEGER: _integer,
    ValueType.BOOLEAN: _boolean,
    ValueType.ENUM: _enumeration,
    ValueType.PROPERTIES: _properties,
    ValueType.MAP: _map,
    ValueType.LIST: _list,
}

SHOWN_MAX = 100
"""Characters of a wrong value that are shown."""


def shown(value: object) -> str:
    """Return a value as a message shows it: in quotes, in one line, and not too long."""
    if isinstance(value, dict | list):
        return _kind_of(value)
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return "a number of more than 77 digits"
    if isinstance(value, str) and len(value) > SHOWN_MAX:
        return f"{value[:SHOWN_MAX]!r}... ({len(value) - SHOWN_MAX} more)"
    return repr(value)


def _kind_of(value: object) -> str:
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, list):
        return "a list"
    return shown(value)


def closest(name: str, names: tuple[str, ...]) -> str | None:
    """Return which of the names was probably meant, if any is close."""
    folded = {one.casefold(): one for one in names}
    found = get_close_matches(name.casefold(), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None
