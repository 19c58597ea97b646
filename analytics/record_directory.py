"""Finds the files of a record directory, leaves out what is damaged or replaced, and says so."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from analytics.errors import NoRecords, WrongPeriod
from routerd.records import TABLES, NotARecordFile, RecordFile, is_aside
from routerd.records.parquet import Footer, read_footer

_READERS = 8
_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Found:
    """One file that can be read."""

    file: RecordFile
    path: Path
    footer: Footer


@dataclass(frozen=True, slots=True)
class Listing:
    """What a record directory has for a period."""

    directory: Path
    files: tuple[Found, ...]
    remarks: tuple[str, ...]
    """Sentences on what was left out, and why."""

    def of(self, table: str) -> tuple[Found, ...]:
        """Return the files of one table."""
        return tuple(one for one in self.files if one.file.place.table == table)

    @property
    def first(self) -> datetime | None:
        """The time of the first row of all."""
        return min((one.footer.first for one in self.files if one.footer.first), default=None)

    @property
    def last(self) -> datetime | None:
        """The time of the last row of all."""
        return max((one.footer.last for one in self.files if one.footer.last), default=None)


def list_records(directory: Path, begin: datetime | None = None, end: datetime | None = None) -> Listing:
    """Return what can be read of a period; raises NoRecords and WrongPeriod."""
    if begin and end and begin >= end:
        raise WrongPeriod(
            f"the period begins at {begin:%F %T} and ends at {end:%F %T}: give --to a later time than --from"
        )
    if not directory.is_dir():
        raise NoRecords(f"{directory} is not a directory: give the one that `record` has as its directory")
    named, strange = _named(directory)
    if not named:
        raise NoRecords(
            f"{directory} has no records, but {len(strange)} other files: give the directory that `record` has, "
            "and look whether recording is switched on"
        )
    wanted = [file for file in named if _touches(file, begin, end)]
    remarks = [f"{len(strange)} files are no records and were passed over, {_some(strange)}."] if strange else []
    found, damaged = _read_footers(directory, wanted)
    if damaged:
        remarks.append(f"{len(damaged)} files are damaged and were left out: {_some(damaged)}.")
    kept, replaced = _without_replaced(found)
    if replaced:
        remarks.append(f"{replaced} files were left out since compacted ones have their rows.")
    remarks.extend(_remarks_on_versions(kept))
    kept = [one for one in kept if _overlaps(one.footer, begin, end)]
    if not any(one.footer.rows for one in kept):
        raise _nothing_then(directory, named, len(damaged))
    return Listing(directory, tuple(kept), tuple(remarks))


def read_files(directory: Path) -> tuple[list[Found], int]:
    """Return all files that can be read, those that are replaced included, and how many can't; raises NoRecords."""
    if not directory.is_dir():
        raise NoRecords(f"{directory} is not a directory: give the one that `record` has as its directory")
    found, damaged = _read_footers(directory, _named(directory)[0])
    return found, len(damaged)


def _named(directory: Path) -> tuple[list[RecordFile], list[str]]:
    named, strange = [], []
    for path in _paths(directory):
        try:
            named.append(RecordFile.parse(path))
        except NotARecordFile:
            strange.append(path)
    return sorted(named), strange


def _paths(directory: Path) -> Iterator[str]:
    for table in TABLES:
        for folder, _, names in os.walk(directory / table.name):
            below = Path(folder).relative_to(directory).as_posix()
            yield from (f"{below}/{name}" for name in names if not is_aside(name))


def _touches(file: RecordFile, begin: datetime | None, end: datetime | None) -> bool:
    """Whether a file may have rows of the period: one may be written on for a while after its hour."""
    begins_s = file.place.begins_us / 1e6
    hour_s = _HOUR.total_seconds()
    return (end is None or begins_s - hour_s < end.timestamp()) and (
        begin is None or begins_s + 2 * hour_s > begin.timestamp()
    )


def _overlaps(footer: Footer, begin: datetime | None, end: datetime | None) -> bool:
    return (
        (end is None or footer.first is None or footer.first < end)
        and (begin is None or footer.last is None or footer.last >= begin)
        and footer.rows > 0
    )


def _read_footers(directory: Path, files: list[RecordFile]) -> tuple[list[Found], list[str]]:
    def read(file: RecordFile) -> Found | str:
        path = directory / file.path
        try:
            return Found(file, path, read_footer(path))
        except NotARecordFile:
            return file.path

    with ThreadPoolExecutor(_READERS) as readers:
        results = list(readers.map(read, files))
    return [one for one in results if isinstance(one, Found)], [one for one in results if isinstance(one, str)]


def _without_replaced(found: list[Found]) -> tuple[list[Found], int]:
    replaced = {(one.file.place, name) for one in found for name in one.footer.replaces}
    kept = [one for one in found if (one.file.place, one.file.name) not in replaced]
    return kept, len(found) - len(kept)


def _remarks_on_versions(found: Iterable[Found]) -> Iterator[str]:
    for table in TABLES:
        versions = Counter(one.file.version for one in found if one.file.place.table == table.name)
        if older := sum(count for version, count in versions.items() if version < table.version):
            yield f"{older} files of {table.name} are of an older version: what they lack is taken for unknown."
        if newer := sum(count for version, count in versions.items() if version > table.version):
            yield f"{newer} files of {table.name} are newer than version {table.version}: what it added is not read."


def _nothing_then(directory: Path, named: list[RecordFile], damaged: int) -> WrongPeriod:
    places = [file.place for file in named]
    first, last = min((one.day, one.hour) for one in places), max((one.day, one.hour) for one in places)
    bad = f" ({damaged} files of the period are damaged)" if damaged else ""
    return WrongPeriod(
        f"{directory} has no rows of this period{bad}: its records are of the hours "
        f"{first[0]} {first[1]}:00 to {last[0]} {last[1]}:59 UTC; choose --from and --to among them"
    )


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")
