"""Writes record files: aside first, and under their name once they are complete."""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import pyarrow as pa
from pyarrow import parquet

from routerd.records.file_format import TABLE_KEY, VERSION_KEY
from routerd.records.files import RecordFile, aside
from routerd.records.parquet.arrow import arrow_schema
from routerd.records.schema import Kind, Table

REPLACES_KEY = b"mobula.replaces"

_ROW_GROUP_ROWS = 1 << 20
_BATCH_ROWS = 1 << 14
_OF_NAMES = (Kind.NAME, Kind.CANDIDATES, Kind.COSTS)
_BY_DIFFERENCES = {
    "decisions": (
        *("time", "size_octets", "latency_us"),
        *("candidates.list.element.cost", "candidates.list.element.outstanding"),
    )
}
_NESTED_NAMES = {"candidates": "candidates.list.element.egress", "costs": "costs.key_value.key"}


class RecordWriter:
    """Writes one file; it appears when the `with` block ends well, and otherwise leaves nothing."""

    def __init__(self, directory: Path, table: Table, file: RecordFile, *, replaces: Sequence[str] = ()) -> None:
        self._path = directory / file.path
        self._aside = self._path.with_name(aside(self._path.name))
        self._table = table
        self._metadata = {TABLE_KEY: table.name.encode(), VERSION_KEY: str(file.version).encode()}
        if replaces:
            self._metadata[REPLACES_KEY] = json.dumps(sorted(replaces)).encode()
        self._schema = arrow_schema(table, file.version)

    def __enter__(self) -> "RecordWriter":
        self._aside.parent.mkdir(parents=True, exist_ok=True)
        self._writer = parquet.ParquetWriter(self._aside, self._schema, **_settings(self._table))
        return self

    def write(self, rows: pa.Table) -> None:
        """Append rows, in the schema of the table."""
        fit = rows if rows.schema.equals(self._schema) else rows.cast(self._schema)
        self._writer.write_table(fit, row_group_size=_ROW_GROUP_ROWS)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self._writer.add_key_value_metadata(self._metadata)
            self._writer.close()
            if kind is None:
                os.replace(self._aside, self._path)
        finally:
            self._aside.unlink(missing_ok=True)


def write_record_file(
    directory: Path, table: Table, file: RecordFile, rows: pa.Table, *, replaces: Sequence[str] = ()
) -> Path:
    """Write a whole file; `replaces` names files of its folder whose rows it has."""
    with RecordWriter(directory, table, file, replaces=replaces) as writer:
        writer.write(rows)
    return directory / file.path


def _settings(table: Table) -> dict[str, object]:
    """Return how a table is written: what costs a router least, and keeps a decision within a few octets.

    zstd takes half as long again for a third less, and a dictionary of numbers longer than their differences do.
    """
    names = [column.name for column in table.columns if column.kind in _OF_NAMES]
    return {
        "compression": "snappy",
        "write_batch_size": _BATCH_ROWS,
        "use_dictionary": [_NESTED_NAMES.get(name, name) for name in names],
        "column_encoding": dict.fromkeys(_BY_DIFFERENCES.get(table.name, ("time",)), "DELTA_BINARY_PACKED"),
        # Those of names cost as much as all the rest of writing; readers look at the time.
        "write_statistics": ["time"],
        "write_page_checksum": True,
        "store_schema": False,
        "coerce_timestamps": "us",
    }
