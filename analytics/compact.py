"""Puts the many small files of an hour together, so that reading them is quick.

The new file names those that it replaces, and appears at once. The replaced files are deleted after that. A reader in
between, or after a crash in between, leaves out the replaced files. So no row is ever missing or counted twice.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import SparkSession

from analytics.record_directory import Found, read_files
from routerd.records import TABLES, Place, RecordFile, Table
from routerd.records.parquet import RecordWriter, arrow_schema

WRITER = "compact"
_ROWS_AT_ONCE = 1 << 18
_TABLES = {table.name: table for table in TABLES}


@dataclass(frozen=True, slots=True)
class Compaction:
    """What was put together."""

    folders: int
    files_before: int
    files_after: int
    left_out: int
    """Files that are damaged or of a newer version, and were left as they are."""


def compact(spark: SparkSession, directory: Path, before: datetime) -> Compaction:
    """Put the files of all hours that ended before a time together; raises NoRecords."""
    found, damaged = read_files(directory)
    folders: dict[Place, list[Found]] = defaultdict(list)
    newer = 0
    for one in found:
        if one.file.version > _TABLES[one.file.place.table].version:
            newer += 1
        elif one.file.place.begins_us / 1e6 + 3600 <= before.timestamp():
            folders[one.file.place].append(one)
    work = sorted((place, files) for place, files in folders.items() if len(files) > 1)

    def put_together(some: Iterable[tuple[Place, list[Found]]]) -> Iterator[int]:
        for place, files in some:
            yield compact_folder(directory, place, files)

    after = 0
    if work:
        slices = min(len(work), spark.sparkContext.defaultParallelism * 4)
        after = int(spark.sparkContext.parallelize(work, slices).mapPartitions(put_together).sum())
    return Compaction(len(work), sum(len(files) for _, files in work), after, damaged + newer)


def compact_folder(directory: Path, place: Place, found: list[Found]) -> int:
    """Put the files of one folder together, and delete what an interrupted run has left: how many are there now."""
    replaced = {name for one in found for name in one.footer.replaces}
    kept = [one for one in found if one.file.name not in replaced]
    for one in found:
        if one.file.name in replaced:
            one.path.unlink(missing_ok=True)
    if len(kept) < 2:
        return len(kept)
    table = _TABLES[place.table]
    number = 1 + max((one.file.sequence for one in found if one.file.writer == WRITER), default=0)
    new = RecordFile(place, min(one.file.first_us for one in kept), WRITER, number, table.version)
    with RecordWriter(directory, table, new, replaces=[one.file.name for one in kept]) as writer:
        for rows in _in_groups(_rows_of(kept, table)):
            writer.write(rows)
    for one in kept:
        one.path.unlink(missing_ok=True)
    return 1


def _rows_of(files: Iterable[Found], table: Table) -> Iterator[pa.Table]:
    schema = arrow_schema(table)
    for one in sorted(files, key=lambda found: found.file):
        with parquet.ParquetFile(one.path, page_checksum_verification=True) as file:
            for batch in file.iter_batches(_ROWS_AT_ONCE):
                rows = pa.Table.from_batches([batch])
                yield pa.table([_column(rows, field) for field in schema], schema)


def _column(rows: pa.Table, field: pa.Field) -> pa.ChunkedArray:
    """Return a column in the type of the table; an older file may lack it."""
    if field.name not in rows.column_names:
        return pa.chunked_array([pa.nulls(rows.num_rows, field.type)])
    return rows[field.name].cast(field.type)


def _in_groups(parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
    waiting: list[pa.Table] = []
    for part in parts:
        waiting.append(part)
        if sum(one.num_rows for one in waiting) >= _ROWS_AT_ONCE:
            yield pa.concat_tables(waiting).unify_dictionaries()
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting).unify_dictionaries()
