"""Columns: what a row has under each name, in the order that clients get them in when they name none (4.2)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from routerd.management.agent.numbers import uint, ulong

Getter = Callable[[Any], Any]
Columns = Mapping[str, Getter]


def uint_of(attribute: str) -> Getter:
    """Return what reads an attribute of a row as uint."""
    read = attrgetter(attribute)
    return lambda row: uint(read(row))


def ulong_of(attribute: str) -> Getter:
    """Return what reads an attribute of a row as ulong."""
    read = attrgetter(attribute)
    return lambda row: ulong(read(row))


def always(value: object) -> Getter:
    """Return what reads the same in each row."""
    return lambda _row: value


def nothing(_row: object) -> None:
    """Read null."""


def cells(columns: Columns, names: Sequence[Any], rows: Iterable[Any]) -> list[list[Any]]:
    """Return the columns of these names for all rows; a column that there is not is null."""
    getters = [columns.get(name, nothing) if isinstance(name, str) else nothing for name in names]
    return [[get(row) for get in getters] for row in rows]


def as_map(columns: Columns, row: object) -> dict[str, Any]:
    """Return all columns of one row, null included."""
    return {name: get(row) for name, get in columns.items()}
