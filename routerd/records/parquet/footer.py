"""Reads the end of a record file: enough to know whether all of it is there, and which rows it has."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from routerd.records.errors import NotARecordFile
from routerd.records.parquet.writing import REPLACES_KEY


@dataclass(frozen=True, slots=True)
class Footer:
    """What the end of a file says."""

    rows: int
    size_bytes: int
    first: datetime | None
    last: datetime | None
    replaces: tuple[str, ...]
    """Files of the same folder whose rows this one has, too."""


def read_footer(path: Path) -> Footer:
    """Return what the end of a file says; raises NotARecordFile."""
    try:
        metadata = parquet.read_metadata(path)
        first, last = _times(metadata)
        replaces = tuple(json.loads((metadata.metadata or {}).get(REPLACES_KEY, b"[]")))
    except (pa.ArrowException, OSError, ValueError) as error:
        raise NotARecordFile(str(path), f"damaged, or not all of it is there ({_first_line(error)})") from error
    return Footer(metadata.num_rows, path.stat().st_size, first, last, replaces)


def _times(metadata: parquet.FileMetaData) -> tuple[datetime | None, datetime | None]:
    at = next((i for i in range(metadata.num_columns) if metadata.schema.column(i).path == "time"), None)
    if at is None:
        raise ValueError("it has no column `time`")
    columns = [metadata.row_group(group).column(at).statistics for group in range(metadata.num_row_groups)]
    known = [one for one in columns if one is not None and one.has_min_max]
    return min((one.min for one in known), default=None), max((one.max for one in known), default=None)


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
