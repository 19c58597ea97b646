"""The records of a period as DataFrames."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from analytics.record_directory import Found, Listing, list_records
from analytics.spark_types import spark_schema
from routerd.records import DECISIONS, EVENTS, FLOWS, Table


@dataclass(frozen=True, slots=True)
class Records:
    """All rows of a period, and what is to be said of them."""

    flows: DataFrame
    decisions: DataFrame
    events: DataFrame
    begin: datetime
    end: datetime
    remarks: tuple[str, ...]
    whole_rows: dict[str, int | None]
    """How many rows each table has to have, where no file reaches beyond the period."""

    @property
    def duration_s(self) -> float:
        """How long the period is."""
        return (self.end - self.begin).total_seconds()


def open_records(
    spark: SparkSession, directory: Path, begin: datetime | None = None, end: datetime | None = None
) -> Records:
    """Return the records of a period, or all there are; raises NoRecords and WrongPeriod."""
    listing = list_records(directory, begin, end)
    first, last = listing.first, listing.last
    assert first is not None
    assert last is not None
    begins = begin or first
    ends = end or last + timedelta(microseconds=1)
    flows, decisions, events = (_rows(spark, listing, table, begin, end) for table in (FLOWS, DECISIONS, EVENTS))
    remarks = list(listing.remarks)
    if begin and first - begin > timedelta(hours=1):
        remarks.append(f"There are no records of the time before {first:%F %T}.")
    if end and end - last > timedelta(hours=1):
        remarks.append(f"There are no records of the time after {last:%F %T}.")
    remarks.extend(f"There are no {table.name}." for table in (FLOWS, DECISIONS, EVENTS) if not listing.of(table.name))
    whole = {table.name: _whole_rows(listing.of(table.name), begin, end) for table in (FLOWS, DECISIONS, EVENTS)}
    return Records(flows, decisions, events, begins, ends, tuple(remarks), whole)


def _rows(
    spark: SparkSession, listing: Listing, table: Table, begin: datetime | None, end: datetime | None
) -> DataFrame:
    schema = spark_schema(table)
    paths = [str(one.path) for one in listing.of(table.name)]
    if not paths:
        return spark.createDataFrame([], schema)
    base = str(listing.directory / table.name)
    rows = spark.read.schema(schema).option("basePath", base).parquet(*paths)
    if begin is not None:
        rows = rows.where(F.col("time") >= F.lit(begin))
    if end is not None:
        rows = rows.where(F.col("time") < F.lit(end))
    return rows


def _whole_rows(files: tuple[Found, ...], begin: datetime | None, end: datetime | None) -> int | None:
    for one in files:
        first, last = one.footer.first, one.footer.last
        if (begin and (first is None or first < begin)) or (end and (last is None or last >= end)):
            return None
    return sum(one.footer.rows for one in files)
