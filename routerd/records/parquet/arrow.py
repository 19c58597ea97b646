"""The tables as schemas of Arrow."""

import pyarrow as pa

from routerd.records.schema import CANDIDATE, Column, Kind, Table

_TYPES = {
    Kind.TIME: pa.timestamp("us", tz="UTC"),
    Kind.NAME: pa.dictionary(pa.int32(), pa.string()),
    Kind.TEXT: pa.string(),
    Kind.SMALL: pa.int8(),
    Kind.NUMBER: pa.int32(),
    Kind.LARGE: pa.int64(),
    Kind.COSTS: pa.map_(pa.string(), pa.int32()),
}


def arrow_schema(table: Table, version: int | None = None) -> pa.Schema:
    """Return the schema of a table, or of one of its older versions."""
    return pa.schema([_field(column) for column in table.columns_of(table.version if version is None else version)])


def _field(column: Column) -> pa.Field:
    return pa.field(column.name, _type(column.kind), nullable=column.is_optional or column.since > 1)


def _type(kind: Kind) -> pa.DataType:
    if kind is not Kind.CANDIDATES:
        return _TYPES[kind]
    return pa.list_(pa.field("element", pa.struct([_field(column) for column in CANDIDATE]), nullable=False))
