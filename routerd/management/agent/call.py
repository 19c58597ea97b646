"""A request, taken apart: the operation, what it is about, and which part of an answer is wanted (3.2)."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from routerd.config import find_entity_type
from routerd.config.schema import OWN_PREFIX, PREFIX, EntityType, shown
from routerd.management.agent.refusals import BadRequest, no_such_type
from routerd.management.messages import Request
from routerd.wire import Array

NAMES_MAX = 300
"""Attributes that a query may name; all types together have fewer."""


@dataclass(frozen=True, slots=True)
class Call:
    """What a client asks for."""

    operation: str
    """In capitals and with hyphens; empty if there is none."""
    is_exact: bool
    """Whether it was written like that."""
    type_name: str | None
    """Of the entity that is asked for."""
    filter_name: str | None
    """Of the entities that the answer is about."""
    name: str | None
    identity: str | None
    properties: Mapping[Any, Any]
    body: Any

    @property
    def type(self) -> EntityType | None:
        """The type of the entity, if it is named; BadRequest if there is none of this name."""
        return _type(self.type_name)

    @property
    def filter(self) -> EntityType | None:
        """The type of the entities that the answer is about, if it is named; BadRequest if there is none such."""
        return _type(self.filter_name)

    @property
    def attribute_names(self) -> list[Any]:
        """The attributes that are asked for, none for all; BadRequest if they can't be read."""
        names = self.body.get("attributeNames") if isinstance(self.body, Mapping) else None
        if isinstance(names, Array):
            names = names.values
        if names is None:
            return []
        if not isinstance(names, list | tuple):
            raise BadRequest(f"attributeNames: {shown(names)} is not a list of names")
        if len(names) > NAMES_MAX:
            raise BadRequest(f"attributeNames: {len(names)} names are more than {NAMES_MAX}")
        return list(names)

    @property
    def window(self) -> tuple[int, int | None]:
        """How many rows are to be left out at the beginning, and how many are wanted; None for all."""
        count = self.number("count")
        return max(self.number("offset") or 0, 0), count if count is not None and count > 0 else None

    def number(self, name: str) -> int | None:
        """Return the whole number that a property says, if it is there; BadRequest if it is none."""
        value = self.properties.get(name)
        if value is None:
            return None
        if isinstance(value, str):
            with suppress(ValueError):
                value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise BadRequest(f"{name}: {shown(value)} is not a whole number")
        return int(value)


def call_of(request: Request) -> Call:
    """Take a request apart."""
    properties = request.properties
    operation = _text(properties.get("operation")) or ""
    normal = operation.upper().replace("_", "-")
    return Call(
        operation=normal,
        is_exact=operation == normal,
        type_name=_text(properties.get("type")),
        filter_name=_text(properties.get("entityType")),
        name=_text(properties.get("name")),
        identity=_text(properties.get("identity")),
        properties=properties,
        body=request.body,
    )


def long_name(name: str) -> str:
    """Return the full name that a name of a type stands for, whether there is such a type or not."""
    return name if name.startswith((PREFIX, OWN_PREFIX)) else PREFIX + name


def _type(name: str | None) -> EntityType | None:
    if name is None:
        return None
    found = find_entity_type(name)
    if found is None:
        raise no_such_type(long_name(name))
    return found


def _text(value: object) -> str | None:
    """Return a property as text: some clients send the numbers that identities are as numbers."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return str(value)
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else shown(value)
