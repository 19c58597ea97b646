"""The tables of records as schemas of Spark."""

from pyspark.sql import types as T

from routerd.records import CANDIDATE, Column, Kind, Table

_TYPES: dict[Kind, T.DataType] = {
    Kind.TIME: T.TimestampType(),
    Kind.NAME: T.StringType(),
    Kind.TEXT: T.StringType(),
    Kind.SMALL: T.ByteType(),
    Kind.NUMBER: T.IntegerType(),
    Kind.LARGE: T.LongType(),
    Kind.COSTS: T.MapType(T.StringType(), T.IntegerType()),
}
PLACE = tuple(T.StructField(name, T.StringType()) for name in ("day", "hour", "router"))
"""The columns that come from the folder of a file."""


def spark_schema(table: Table) -> T.StructType:
    """Return the columns of a table, and those of the folder that a row lies in."""
    return T.StructType([*(_field(column) for column in table.columns), *PLACE])


def _field(column: Column) -> T.StructField:
    return T.StructField(column.name, _type(column.kind))


def _type(kind: Kind) -> T.DataType:
    if kind is Kind.CANDIDATES:
        return T.ArrayType(T.StructType([_field(column) for column in CANDIDATE]))
    return _TYPES[kind]
