"""The record files of one worker: rows are gathered by table and hour, written under another name, and kept for a time.

It is used in one thread. Rows that cannot be written are lost, and the caller counts them.
"""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from routerd.io.recording.groups import Group
from routerd.io.recording.task import GROUP_ROWS
from routerd.records import TABLES, NotARecordFile, Place, RecordFile, Table, is_aside
from routerd.records.file_format import GroupWriter

IDLE_S = 5.0
"""A file without new rows for this time is completed early."""
IDLE_SHARE = 0.25
"""The share of a file's time before which it is not."""
HOUR_US = 3_600_000_000


@dataclass(frozen=True, slots=True)
class Rotation:
    """The limits of age and size of files."""

    seconds: float
    octets: int


@dataclass(slots=True)
class _OpenFile:
    file: RecordFile
    table: Table
    writer: GroupWriter | None
    begun_at: float
    touched_at: float
    first_us: int
    """The least time of all rows; they need not come in order of their times."""
    rows: int = 0
    """All rows, including those that wait."""
    waiting: list[Group] = field(default_factory=list)
    waiting_rows: int = 0
    claim: int | None = None
    """A descriptor: while it is open, others do not take the file for left over."""

    @property
    def octets(self) -> int:
        """The octets of rows that do not wait."""
        return 0 if self.writer is None else self.writer.octets

    def let_go(self) -> None:
        """Release the claim."""
        if self.claim is not None:
            os.close(self.claim)
            self.claim = None


@dataclass(frozen=True, slots=True)
class Completed:
    """A complete file."""

    path: Path
    rows: int
    octets: int


class RecordFiles:
    """Writes rows to files; `writer` distinguishes them from the files of other workers."""

    def __init__(self, directory: Path, router_id: str, writer: str, rotation: Rotation) -> None:
        self._directory = directory
        self._router_id = router_id
        self._writer = writer
        self._rotation = rotation
        self._open: dict[Place, _OpenFile] = {}
        self._sequence = 0

    @property
    def pending_rows(self) -> int:
        """Rows of incomplete files."""
        return sum(one.rows for one in self._open.values())

    def add(self, rows: Group, now: float) -> None:
        """Add rows, which may be of several hours; complete groups are written at once. Raises OSError."""
        for hour, found in rows.by_hour(HOUR_US).items():
            self._add(found, hour * HOUR_US, now)

    def _add(self, rows: Group, hour_us: int, now: float) -> None:
        place = Place.at(rows.table.name, hour_us, self._router_id)
        one = self._open.get(place)
        if one is None:
            self._sequence += 1
            file = RecordFile(place, rows.first_us, self._writer, self._sequence, rows.table.version)
            one = self._open[place] = _OpenFile(file, rows.table, None, now, now, rows.first_us)
        one.first_us = min(one.first_us, rows.first_us)
        one.rows += rows.rows
        one.touched_at = now
        if rows.rows >= GROUP_ROWS:
            # They are not joined with rows that wait, which would copy them.
            self._write(one, rows)
            return
        one.waiting.append(rows)
        one.waiting_rows += rows.rows
        if one.waiting_rows >= GROUP_ROWS:
            self._write_waiting(one)

    def rotate(self, now: float) -> Iterator[Completed]:
        """Complete the files whose time is over; raises OSError."""
        for place, one in list(self._open.items()):
            age = now - one.begun_at
            is_idle = now - one.touched_at >= IDLE_S and age >= IDLE_SHARE * self._rotation.seconds
            if age >= self._rotation.seconds or is_idle or one.octets >= self._rotation.octets:
                yield self._complete(place)

    def close(self) -> Iterator[Completed]:
        """Complete all files; raises OSError."""
        for place in list(self._open):
            yield self._complete(place)

    def give_up(self) -> int:
        """Delete the incomplete files; return the number of their rows."""
        lost = self.pending_rows
        for one in self._open.values():
            if one.writer is not None:
                with contextlib.suppress(OSError):
                    one.writer.discard()
            one.let_go()
        self._open.clear()
        return lost

    def _write_waiting(self, one: _OpenFile) -> None:
        for rows in one.waiting[0].joined(one.waiting[1:]):
            self._write(one, rows)
        one.waiting, one.waiting_rows = [], 0

    def _write(self, one: _OpenFile, rows: Group) -> None:
        if one.writer is None:
            one.writer = self._begin(one)
        one.writer.write(rows.pages(), rows.rows)

    def _begin(self, one: _OpenFile) -> GroupWriter:
        # Another process of this worker can begin now, and delete the file before it is claimed.
        while True:
            writer = GroupWriter(self._directory, one.table, one.file)
            one.claim = _claim(writer.aside, waits=True)
            if one.claim is not None:
                return writer
            writer.discard()

    def _complete(self, place: Place) -> Completed:
        one = self._open[place]
        if one.waiting_rows:
            self._write_waiting(one)
        assert one.writer is not None
        path = one.writer.complete(one.first_us)
        one.let_go()
        # Only now: if a call above fails, the file is given up with the rest.
        del self._open[place]
        return Completed(path, one.rows, path.stat().st_size)


def delete_expired(
    directory: Path, router_id: str, now_us: int, max_age_s: float, max_octets: int
) -> int:
    """Delete a router's files that are too old, or the oldest of too many; return their number."""
    found = sorted(_complete_files(directory, router_id))
    deleted = 0
    total = sum(size for _, _, size in found)
    for first_us, path, size in found:
        is_old = max_age_s > 0 and first_us < now_us - max_age_s * 1e6
        if not is_old and not (max_octets > 0 and total > max_octets):
            break
        with contextlib.suppress(OSError):
            path.unlink()
            deleted += 1
            total -= size
            _remove_empty(path.parent, directory)
    return deleted


def delete_left_over(directory: Path, router_id: str, writer_prefix: str) -> None:
    """Delete incomplete files of a writer's earlier incarnation that it does not write to any more."""
    for folder in _folders(directory, router_id):
        for path in _files_in(folder):
            name = path.name
            if is_aside(name) and f"-{writer_prefix}" in name:
                with contextlib.suppress(OSError):
                    claim = _claim(path, waits=False)
                    if claim is not None:
                        path.unlink(missing_ok=True)
                        os.close(claim)


def _claim(path: Path, *, waits: bool) -> int | None:
    """Return a descriptor that claims a file while it is open; None if the file is gone, or is another process's."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        # The one before may have deleted it.
        is_there = os.fstat(descriptor).st_nlink > 0
    except BlockingIOError:
        is_there = False
    except OSError:
        os.close(descriptor)
        raise
    if is_there:
        return descriptor
    os.close(descriptor)
    return None


def _complete_files(directory: Path, router_id: str) -> Iterator[tuple[int, Path, int]]:
    for folder in _folders(directory, router_id):
        for path in _files_in(folder):
            with contextlib.suppress(NotARecordFile, OSError):
                file = RecordFile.parse(str(path.relative_to(directory)))
                yield file.first_us, path, path.stat().st_size


def _folders(directory: Path, router_id: str) -> Iterator[Path]:
    name = Place("x", "", "", router_id).folder.rpartition("/")[2]
    for table in TABLES:
        yield from directory.glob(f"{table.name}/day=*/hour=*/{_literal(name)}")


def _files_in(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _literal(name: str) -> str:
    """Return a pattern that matches only this name."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _remove_empty(folder: Path, top: Path) -> None:
    while folder != top:
        try:
            os.rmdir(folder)
        except OSError:
            return
        folder = folder.parent
