"""Where the files of records lie, and what they are called: by table, day, hour and router.

`decisions/day=2026-11-21/hour=14/router=A/1795270800000000-w0.1-000001.v1.parquet`: the least time of its rows, the
writer, its number among the writer's files, and the version of the table. A file is written under a name that readers
ignore, and renamed once it is complete.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, unquote

from routerd.records.errors import NotARecordFile

_NAME = re.compile(r"(\d+)-([A-Za-z0-9.]+)-(\d+)\.v(\d+)\.parquet")
_PLACE = re.compile(r"([a-z]+)/day=(\d{4}-\d{2}-\d{2})/hour=(\d{2})/router=([^/]+)")
_HOUR_US = 3_600_000_000


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """The folder of one table, hour and router, below the record directory."""

    table: str
    day: str
    hour: str
    router: str

    @classmethod
    def at(cls, table: str, time_us: int, router: str) -> "Place":
        """Return the place of a row by its time, microseconds since 1970."""
        hour = datetime.fromtimestamp(time_us // _HOUR_US * 3600, UTC)
        return cls(table, hour.strftime("%Y-%m-%d"), hour.strftime("%H"), router)

    @classmethod
    def parse(cls, folder: str) -> "Place":
        """Return the place that a folder is; raises NotARecordFile."""
        found = _PLACE.fullmatch(folder)
        if not found:
            raise NotARecordFile(folder, "not a folder of the form TABLE/day=YYYY-MM-DD/hour=HH/router=ID")
        return cls(found[1], found[2], found[3], unquote(found[4]))

    @property
    def folder(self) -> str:
        """The folder, with `/`."""
        return f"{self.table}/day={self.day}/hour={self.hour}/router={quote(self.router, safe='')}"

    @property
    def begins_us(self) -> int:
        """The beginning of the hour, microseconds since 1970."""
        begin = datetime.strptime(f"{self.day} {self.hour} +0000", "%Y-%m-%d %H %z")
        return int(begin.timestamp()) * 1_000_000


@dataclass(frozen=True, slots=True, order=True)
class RecordFile:
    """The name of a file, and the place it is at."""

    place: Place
    first_us: int
    """The least time of its rows."""
    writer: str
    """Letters, digits and points, unlike those of all other writers of the router."""
    sequence: int
    version: int
    """Of the table."""

    @classmethod
    def parse(cls, path: str) -> "RecordFile":
        """Return the file that a path below the record directory is; raises NotARecordFile."""
        folder, _, name = path.rpartition("/")
        found = _NAME.fullmatch(name)
        if not found:
            raise NotARecordFile(path, "not a name of the form TIME-WRITER-NUMBER.vVERSION.parquet")
        return cls(Place.parse(folder), int(found[1]), found[2], int(found[3]), int(found[4]))

    @property
    def name(self) -> str:
        """The name of the file in its folder."""
        return f"{self.first_us}-{self.writer}-{self.sequence:06d}.v{self.version}.parquet"

    @property
    def path(self) -> str:
        """The path below the record directory."""
        return f"{self.place.folder}/{self.name}"


def aside(name: str) -> str:
    """Return what a file is called until it is complete."""
    return f".{name}.part"


def is_aside(name: str) -> bool:
    """Whether a file is not complete, or was given up."""
    return name.startswith(".") and name.endswith(".part")
