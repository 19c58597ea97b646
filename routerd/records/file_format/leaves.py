"""The columns of a table as Parquet has them: a tree whose leaves have the values."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from routerd.records.file_format.thrift import Field, flag, i32, nested, small, struct, text
from routerd.records.schema import CANDIDATE, Column, Kind, Table

INT32, INT64, BYTE_ARRAY = 1, 2, 6
_REQUIRED, _OPTIONAL, _REPEATED = range(3)
_UTF8, _MAP, _LIST, _TIMESTAMP_MICROS, _INT_8 = 0, 1, 3, 10, 15
_MICROS = 2

_STRING = (i32(6, _UTF8), nested(10, nested(1)))
_AS_MAP = (i32(6, _MAP), nested(10, nested(2)))
_AS_LIST = (i32(6, _LIST), nested(10, nested(3)))
_AS_TIME = (i32(6, _TIMESTAMP_MICROS), nested(10, nested(8, flag(1, True), nested(2, nested(_MICROS)))))
_AS_SMALL = (i32(6, _INT_8), nested(10, nested(10, small(1, 8), flag(2, True))))
_SCALARS: dict[Kind, tuple[int, tuple[Field, ...]]] = {
    Kind.TIME: (INT64, _AS_TIME),
    Kind.NAME: (BYTE_ARRAY, _STRING),
    Kind.TEXT: (BYTE_ARRAY, _STRING),
    Kind.SMALL: (INT32, _AS_SMALL),
    Kind.NUMBER: (INT32, ()),
    Kind.LARGE: (INT64, ()),
}


@dataclass(frozen=True, slots=True)
class Leaf:
    """A column of values; levels say which of what encloses them is there, and where a list goes on."""

    path: tuple[str, ...]
    physical: int
    definition_max: int
    repetition_max: int

    @property
    def name(self) -> str:
        """Its path in one word."""
        return ".".join(self.path)


@dataclass(frozen=True, slots=True)
class Tree:
    """The schema of a file."""

    elements: tuple[bytes, ...]
    leaves: tuple[Leaf, ...]


@lru_cache(maxsize=16)
def tree_of(table: Table, version: int) -> Tree:
    """Return the schema of a version of a table."""
    columns = table.columns_of(version)
    nodes = [node for column in columns for node in _nodes(column)]
    root = struct(text(4, "schema"), i32(5, len(columns)))
    return Tree((root, *(element for element, _ in nodes)), tuple(leaf for _, leaf in nodes if leaf is not None))


def _nodes(column: Column) -> Iterator[tuple[bytes, Leaf | None]]:
    is_optional = column.is_optional or column.since > 1
    level = int(is_optional)
    if column.kind is Kind.CANDIDATES:
        yield _group(column.name, is_optional, 1, *_AS_LIST), None
        yield _repeated("list", 1), None
        yield _group("element", False, len(CANDIDATE)), None
        for part in CANDIDATE:
            yield _scalar(part.kind, (column.name, "list", "element", part.name), part.is_optional, level + 1, 1)
    elif column.kind is Kind.COSTS:
        yield _group(column.name, is_optional, 1, *_AS_MAP), None
        yield _repeated("key_value", 2), None
        yield _scalar(Kind.NAME, (column.name, "key_value", "key"), False, level + 1, 1)
        yield _scalar(Kind.NUMBER, (column.name, "key_value", "value"), True, level + 1, 1)
    else:
        yield _scalar(column.kind, (column.name,), is_optional, 0, 0)


def _scalar(
    kind: Kind, path: tuple[str, ...], is_optional: bool, level: int, repetition_max: int
) -> tuple[bytes, Leaf]:
    physical, meaning = _SCALARS[kind]
    repetition = _OPTIONAL if is_optional else _REQUIRED
    element = struct(i32(1, physical), i32(3, repetition), text(4, path[-1]), *meaning)
    return element, Leaf(path, physical, level + is_optional, repetition_max)


def _group(name: str, is_optional: bool, children: int, *meaning: Field) -> bytes:
    return struct(i32(3, _OPTIONAL if is_optional else _REQUIRED), text(4, name), i32(5, children), *meaning)


def _repeated(name: str, children: int) -> bytes:
    return struct(i32(3, _REPEATED), text(4, name), i32(5, children))
