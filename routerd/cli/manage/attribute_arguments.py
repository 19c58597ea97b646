"""`NAME=VALUE` and `NAME` as they are typed, made into attributes."""

from collections.abc import Sequence
from typing import Any

from routerd.cli.manage.failures import WrongUse
from routerd.cli.manage.schema_names import check_attributes, value_type
from routerd.management import EntityType, ValueType

_BOOLEANS = {"true": True, "false": False}
_MORE_BOOLEANS = {**_BOOLEANS, "yes": True, "no": False, "on": True, "off": False}
_TEXTS = (ValueType.STRING, ValueType.PATH, ValueType.ENTITY_ID)


def parse_attributes(
    arguments: Sequence[str], kind: EntityType | None = None, *, is_update: bool = False
) -> dict[str, Any]:
    """Return the attributes that arguments give; WrongUse for names that the type does not have.

    A name alone is null. Where the type is known an integer is one, and a text stays a text; elsewhere `true` and
    `false` are booleans, and for updates `yes`, `no`, `on` and `off` too.
    """
    attributes: dict[str, Any] = {}
    for argument in arguments:
        name, equals, text = argument.partition("=")
        if not name:
            raise WrongUse(f"{argument!r} is not of the form NAME=VALUE")
        attributes[name] = _value(text, value_type(kind, name), is_update, name) if equals else None
    check_attributes(kind, attributes)
    return attributes


def _value(text: str, wanted: ValueType | None, is_update: bool, name: str) -> Any:
    if wanted is ValueType.INTEGER:
        try:
            return int(text)
        except ValueError:
            raise WrongUse(f"{name} is a whole number, and {text!r} is none") from None
    if wanted in _TEXTS:
        return text
    booleans = _MORE_BOOLEANS if is_update else _BOOLEANS
    return booleans.get(text, text)
