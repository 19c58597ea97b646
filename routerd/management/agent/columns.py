"""Columns: what a row has under each name, in the order that clients get them in when they name none (4.2).

There may be very many connections, links and addresses. So a query is answered column by column. No code of ours runs
for the cells of a column that only reads and converts.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any

from routerd.management.agent.numbers import uint, ulong

Getter = Callable[[Any], Any]
Columns = Mapping[str, Getter]


class Steps:
    """Reads a row step by step: what one step has made is given to the next."""

    def __init__(self, *steps: Getter) -> None:
        self._steps = steps

    def __call__(self, row: Any) -> Any:
        """Read one row."""
        value = row
        for step in self._steps:
            value = step(value)
        return value

    def of_all(self, rows: Iterable[Any]) -> Iterable[Any]:
        """Read all rows."""
        values = rows
        for step in self._steps:
            values = map(step, values)
        return values


class Always:
    """Reads the same in each row."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __call__(self, _row: object) -> Any:
        """Read one row."""
        return self._value

    def of_all(self, rows: Sequence[Any]) -> Iterable[Any]:
        """Read all rows."""
        return repeat(self._value, len(rows))


nothing = Always(None)


def uint_of(attribute: str) -> Getter:
    """Return what reads an attribute of a row as uint."""
    return Steps(attrgetter(attribute), uint)


def ulong_of(attribute: str) -> Getter:
    """Return what reads an attribute of a row as ulong."""
    return Steps(attrgetter(attribute), ulong)


def cells(columns: Columns, names: Sequence[Any], rows: Sequence[Any]) -> list[list[Any]]:
    """Return the columns of these names for all rows; a column that there is not is null."""
    getters = [columns.get(name, nothing) if isinstance(name, str) else nothing for name in names]
    found = [get.of_all(rows) if isinstance(get, Steps | Always) else map(get, rows) for get in getters]
    return list(map(list, zip(*found, strict=True)))


def as_map(columns: Columns, row: object) -> dict[str, Any]:
    """Return all columns of one row, null included."""
    return {name: get(row) for name, get in columns.items()}
