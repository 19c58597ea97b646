"""The thread that writes records: what it does with them, when the disk is full and when files are too old."""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pyarrow as pa

from routerd.core import RecordedEvent, Records
from routerd.io.logs import module_log
from routerd.io.recording import STATUS_ON, RecordingCounters, RecordThread
from routerd.io.recording_files import Completed, RecordFiles, Rotation, delete_expired, delete_left_over
from routerd.io.recording_tables import decision_table, event_table, flow_table
from routerd.records import DECISIONS, EVENTS, FLOWS

RETRY_S = 5.0
"""How often it is tried whether files can be written again."""
EXPIRY_S = 60.0
"""How often it is looked for files that are too old or too many."""
KEEP_FREE = 32 << 20
"""Octets that are left to others on a disk."""
WAIT_S = 0.5
NICENESS = 5
SPARE_MAX = 4
"""Sets of columns that are kept for what comes next."""
ROOM_S = 0.5
"""How often it is looked whether the disk has room."""

_log = module_log("ROUTER_CORE")


def free_octets(directory: Path) -> int:
    """Return how much the disk of a folder has room for."""
    found = os.statvfs(directory)
    return found.f_bavail * found.f_frsize


class NoRoom(OSError):
    """The disk is full, but for what is left to others."""


class RecordWriting:
    """Takes records from a `RecordThread` until that ends."""

    def __init__(
        self,
        thread: RecordThread,
        counters: RecordingCounters,
        *,
        clock: Callable[[], float] = time.time,
        free: Callable[[Path], int] = free_octets,
    ) -> None:
        task = thread.task
        self._thread = thread
        self._task = task
        self._counters = counters
        self._clock = clock
        self._free = free
        self._directory = Path(task.config.directory or "")
        rotation = Rotation(task.config.rotate_s, task.config.rotate_octets)
        self._files = RecordFiles(self._directory, task.router_id, task.writer, rotation)
        self._retry_at = 0.0
        self._room_at = -ROOM_S
        self._expiry_at = 0.0
        self._lost = 0
        """Rows that were lost since files could be written last."""

    def run(self) -> None:
        """Write until the end."""
        # Compression is nobody's hurry: the loop comes first, and other processes' loops, too.
        pa.set_cpu_count(1)
        # It keeps what is freed, as this process has asked it to: other pools have pages cleared for each file again.
        pa.set_memory_pool(pa.system_memory_pool())
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        goes_on = True
        while goes_on:
            goes_on, records = self._thread.take(WAIT_S)
            self.step(records, time.monotonic())
        self.finish()

    def step(self, records: Records | None, now: float) -> None:
        """Write records, and do what is due."""
        rows = 0 if records is None else records.rows
        if self._thread.status != STATUS_ON and not self._can_go_on(now):
            self._lose(rows)
            return
        before = self._files.pending_rows
        try:
            if now - self._room_at >= ROOM_S:
                self._check_room()
                self._room_at = now
            # First what an earlier incarnation has left: afterwards it would be files of this one.
            self._expire(now)
            if records is not None:
                self._add(records, now)
            self._note(self._files.rotate(now))
        except (OSError, pa.ArrowException) as error:
            # What was added of these records is lost with the files that were begun.
            taken = max(0, self._files.pending_rows - before)
            self._lose(self._files.give_up() + max(0, rows - taken))
            self._stop(error, now)
        self._counters.rows_pending = self._files.pending_rows

    def finish(self) -> None:
        """Complete all files."""
        try:
            self._note(self._files.close())
        except (OSError, pa.ArrowException) as error:
            self._lose(self._files.give_up())
            self._stop(error, time.monotonic())
        self._counters.rows_pending = 0

    def _add(self, records: Records, now: float) -> None:
        for columns in records.decisions:
            rows = decision_table(columns, self._task.router_id, records.weight)
            if self._files.add(DECISIONS, rows, now) and len(records.spare) < SPARE_MAX:
                records.spare.append(columns)
        if records.flows:
            self._files.add(FLOWS, flow_table(records.flows), now)
        if records.events:
            self._files.add(EVENTS, event_table(records.events), now)

    def _note(self, completed: Iterable[Completed]) -> None:
        for one in completed:
            self._counters.files_written += 1
            self._counters.rows_written += one.rows
            self._counters.octets_written += one.octets

    def _check_room(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        free = self._free(self._directory)
        if free < KEEP_FREE:
            raise NoRoom(f"{self._directory}: no space left but {free >> 10} KiB, which others may need")

    def _lose(self, rows: int) -> None:
        self._lost += rows
        self._counters.rows_lost += rows

    def _stop(self, error: BaseException, now: float) -> None:
        self._counters.errors += 1
        self._retry_at = now + RETRY_S
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        self._thread.status = f"stopped: {reason}"
        _log.error("Recording stops until files can be written again, forwarding goes on: %s", reason)

    def _can_go_on(self, now: float) -> bool:
        """Look from time to time whether files can be written again."""
        if now < self._retry_at:
            return False
        self._retry_at = now + RETRY_S
        try:
            self._check_room()
            probe = self._directory / f".probe-{self._task.writer}"
            probe.write_bytes(bytes(4096))
            probe.unlink()
        except OSError:
            self._counters.errors += 1
            return False
        self._thread.status = STATUS_ON
        _log.notice("Recording goes on; %d rows were lost", self._lost)
        lost, self._lost = self._lost, 0
        event = RecordedEvent(int(self._clock() * 1e6), "rows-lost", number=lost, detail="files could not be written")
        self._files.add(EVENTS, event_table([event]), now)
        return True

    def _expire(self, now: float) -> None:
        """Delete what is too old or too much; one worker of the router does."""
        if now < self._expiry_at:
            return
        if not self._expiry_at:
            delete_left_over(self._directory, self._task.router_id, self._task.writer_prefix)
        self._expiry_at = now + EXPIRY_S
        if self._task.worker == 0:
            config = self._task.config
            self._counters.files_deleted += delete_expired(
                self._directory,
                self._task.router_id,
                int(self._clock() * 1e6),
                config.retention_s,
                config.retention_octets,
            )
