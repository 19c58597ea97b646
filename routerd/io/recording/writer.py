"""Writes records, also when the disk is full, and deletes old files."""

import os
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from routerd.core import DecisionColumns, RecordedEvent, Records
from routerd.io.logs import Level
from routerd.io.recording.files import Completed, RecordFiles, Rotation, delete_expired, delete_left_over
from routerd.io.recording.groups import Decisions, Events, Flows
from routerd.io.recording.task import GROUP_ROWS, STATUS_ON, RecordingCounters, RecordTask

RETRY_S = 5.0
"""The interval of attempts to write files again."""
EXPIRY_S = 60.0
"""The interval of checks for files that are too old or too many."""
KEEP_FREE = 32 << 20
"""Octets of a disk that are left to others."""
ROOM_S = 0.5
"""The interval of checks for room on the disk."""

def free_octets(directory: Path) -> int:
    """Return the free octets on the disk of a folder."""
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize


class NoRoom(OSError):
    """The disk is full, except for the space that is left to others."""


class RecordWriting:
    """Writes the records of a task; `remarks` has lines for the log."""

    def __init__(
        self,
        task: RecordTask,
        *,
        at_leisure: Callable[[Callable[[], None]], None] | None = None,
        clock: Callable[[], float] = time.time,
        free: Callable[[Path], int] = free_octets,
    ) -> None:
        self.at_leisure = at_leisure
        """Does large work that is not urgent; None if no work may wait."""
        self.counters = RecordingCounters()
        self.status = STATUS_ON
        self.remarks: list[tuple[int, str]] = []
        self._task = task
        self._clock = clock
        self._free = free
        self._directory = Path(task.config.directory or "")
        rotation = Rotation(task.config.rotate_s, task.config.rotate_octets)
        self._files = RecordFiles(self._directory, task.router_id, task.writer, rotation)
        self._retry_at = 0.0
        self._room_at = -ROOM_S
        self._expiry_at = 0.0
        self._lost = 0
        """Rows lost since files could be written last."""

    def step(self, records: Records | None, now: float) -> None:
        """Write records, and do the work that is due."""
        rows = 0 if records is None else records.rows
        if self.status != STATUS_ON and not self._can_go_on(now):
            self._lose(rows)
            return
        before = self._files.pending_rows
        try:
            if now - self._room_at >= ROOM_S:
                self._check_room()
                self._room_at = now
            # Files of an earlier incarnation come first: later they would look like files of this one.
            self._expire(now)
            if records is not None:
                self._add(records, now)
            self._note(self._files.rotate(now))
        except OSError as error:
            # Records that were added already are lost with the files that were begun.
            taken = max(0, self._files.pending_rows - before)
            self._lose(self._files.give_up() + max(0, rows - taken))
            self._stop(error, now)
        self.counters.rows_pending = self._files.pending_rows

    def finish(self) -> None:
        """Complete all files."""
        try:
            self._note(self._files.close())
        except OSError as error:
            self._lose(self._files.give_up())
            self._stop(error, time.monotonic())
        self.counters.rows_pending = 0

    def _add(self, records: Records, now: float) -> None:
        for columns in records.decisions:
            add = partial(self._add_decisions, columns, records.weight, now)
            if self.at_leisure is None or columns.rows < GROUP_ROWS:
                add()
            else:
                self.at_leisure(add)
        if records.flows:
            self._files.add(Flows(records.flows), now)
        if records.events:
            self._files.add(Events(records.events), now)

    def _add_decisions(self, columns: DecisionColumns, weight: int, now: float) -> None:
        self._files.add(Decisions(columns, self._task.router_id, weight), now)

    def _note(self, completed: Iterable[Completed]) -> None:
        for one in completed:
            self.counters.files_written += 1
            self.counters.rows_written += one.rows
            self.counters.octets_written += one.octets

    def _check_room(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        free = self._free(self._directory)
        if free < KEEP_FREE:
            raise NoRoom(f"{self._directory}: no space left but {free >> 10} KiB, which others may need")

    def _lose(self, rows: int) -> None:
        self._lost += rows
        self.counters.rows_lost += rows

    def _stop(self, error: BaseException, now: float) -> None:
        self.counters.errors += 1
        self._retry_at = now + RETRY_S
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        self.status = f"stopped: {reason}"
        self._say(Level.ERROR, f"Recording stops until files can be written again, forwarding goes on: {reason}")

    def _say(self, level: Level, text: str) -> None:
        self.remarks.append((level, text))

    def _can_go_on(self, now: float) -> bool:
        """Check from time to time whether files can be written again."""
        if now < self._retry_at:
            return False
        self._retry_at = now + RETRY_S
        try:
            self._check_room()
            probe = self._directory / f".probe-{self._task.writer}"
            probe.write_bytes(bytes(4096))
            probe.unlink()
        except OSError:
            self.counters.errors += 1
            return False
        self.status = STATUS_ON
        self._say(Level.NOTICE, f"Recording goes on; {self._lost} rows were lost")
        lost, self._lost = self._lost, 0
        event = RecordedEvent(int(self._clock() * 1e6), "rows-lost", number=lost, detail="files could not be written")
        self._files.add(Events([event]), now)
        return True

    def _expire(self, now: float) -> None:
        """Delete files that are too old or too many; only one worker of the router does so."""
        if now < self._expiry_at:
            return
        if not self._expiry_at:
            delete_left_over(self._directory, self._task.router_id, self._task.writer_prefix)
        self._expiry_at = now + EXPIRY_S
        if self._task.worker == 0:
            config = self._task.config
            self.counters.files_deleted += delete_expired(
                self._directory,
                self._task.router_id,
                int(self._clock() * 1e6),
                config.retention_s,
                config.retention_octets,
            )
