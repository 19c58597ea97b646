"""What a worker has recorded, written to a file and read back by Arrow."""

import tempfile
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from routerd.core import DecisionColumns
from routerd.io.recording.groups import Decisions, Events, Flows, Group
from routerd.records import Place, RecordFile
from routerd.records.file_format import GroupWriter
from routerd.records.parquet import arrow_schema


def table_of(rows: Group) -> pa.Table:
    """Return rows as Arrow reads them, with texts for names."""
    with tempfile.TemporaryDirectory() as name:
        file = RecordFile(Place.at(rows.table.name, 0, "R"), 0, "w0.1", 1, rows.table.version)
        writer = GroupWriter(Path(name), rows.table, file)
        if rows.rows:
            writer.write(rows.pages(), rows.rows)
        writer.complete()
        path = Path(name) / file.path
        # Arrow does not look at the sums of pages unless it is asked to.
        table = parquet.ParquetFile(path, page_checksum_verification=True).read()
    assert table.schema.equals(read_schema(rows))
    return table


def read_schema(rows: Group) -> pa.Schema:
    """Return the schema that Arrow reads from a file of its own, which does not say that names are few."""
    with tempfile.NamedTemporaryFile() as file:
        parquet.write_table(arrow_schema(rows.table).empty_table(), file.name, store_schema=False)
        return parquet.read_schema(file.name)


def decision_table(columns: DecisionColumns, router_id: str, weight: int) -> pa.Table:
    """Return decisions as they are read."""
    return table_of(Decisions(columns, router_id, weight))


__all__ = ["Decisions", "Events", "Flows", "decision_table", "table_of"]
