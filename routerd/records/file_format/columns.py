"""Pages of columns from rows of Python values, for tables with few rows."""

from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from routerd.records.file_format.leaves import BYTE_ARRAY, INT32, INT64
from routerd.records.file_format.pages import Page, Value, absent, everywhere, here_and_there, named, numeric, series
from routerd.records.schema import Column, Kind

_OF_TEXT = (Kind.NAME, Kind.TEXT)
_LARGE = (Kind.TIME, Kind.LARGE)
_NO_COSTS, _EMPTY_COSTS, _KEY, _VALUE = range(4)
"""How much of a map from routers to costs there is."""


def pages_of_column(column: Column, values: Sequence[Any]) -> dict[str, Page]:
    """Return the pages of a column, by the names of its leaves; where values may be missing these are None."""
    if column.kind is Kind.COSTS:
        return _pages_of_costs(column.name, values)
    page = _page(column.kind, [value for value in values if value is not None])
    if page is None or column.is_optional or column.since > 1:
        page = page_of_optional(page, values)
    return {column.name: page}


def page_of_optional(page: Page | None, values: Sequence[Any]) -> Page:
    """Return a page of the values that are there as one of all values, which are None where there is none."""
    if page is None:
        return absent(len(values))
    if page.count == len(values):
        return everywhere(page)
    levels = memoryview(array("i", [value is not None for value in values]))
    return here_and_there(page, levels, len(values))


def page_of_texts(texts: Sequence[Value]) -> Page:
    """Return a page of at least one text."""
    known: dict[Value, int] = {}
    codes = memoryview(array("i", [known.setdefault(text, len(known)) for text in texts]))
    return named(codes, len(texts), list(known), BYTE_ARRAY)


def _page(kind: Kind, values: Sequence[Any]) -> Page | None:
    if not values:
        return None
    if kind in _OF_TEXT:
        return page_of_texts(values)
    physical = INT64 if kind in _LARGE else INT32
    return numeric(memoryview(array("q", values)), len(values), physical, with_range=kind is Kind.TIME)


def _pages_of_costs(name: str, values: Sequence[Mapping[str, int] | None]) -> dict[str, Page]:
    again, depths = array("i"), array("i")
    keys: list[str] = []
    costs: list[int] = []
    for value in values:
        if value:
            keys += value
            costs += value.values()
            again.extend([0] + [1] * (len(value) - 1))
            depths.extend([_VALUE] * len(value))
        else:
            again.append(0)
            depths.append(_NO_COSTS if value is None else _EMPTY_COSTS)
    count = len(again)
    repetition = series(memoryview(again), count, 1)
    found = {}
    for leaf, kind, there, depth in (("key", Kind.NAME, keys, _KEY), ("value", Kind.NUMBER, costs, _VALUE)):
        page = _page(kind, there) or absent(count)
        page.count = count
        page.repetition = repetition
        page.definition = series(memoryview(array("i", [min(one, depth) for one in depths])), count, 2)
        found[f"{name}.key_value.{leaf}"] = page
    return found
