"""What a worker records: gathered in its loop once a second, written by a thread of its own.

Nothing of Arrow is imported before something is to be recorded: the thread does that. What it does not keep up with is
lost, and counted.
"""

import gc
import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, fields

from routerd.config import RecordConfig
from routerd.core import Recorder, Records, Router
from routerd.io.core_keeper import use_all_cores
from routerd.io.logs import module_log

PENDING_ROWS_MAX = 500_000
"""Rows that wait for the thread; more are lost."""
SET_ROWS = 1 << 16
"""Decisions that are written at a time, where every one is recorded: each time the thread keeps the loop waiting."""
SET_ROWS_LEAST = 1 << 13
CLOSE_S = 2.0
"""What the thread gets to complete its files when the worker ends."""
STATUS_OFF = "off"
STATUS_ON = "recording"

_log = module_log("ROUTER_CORE")


@dataclass(slots=True)
class RecordingCounters:
    """What has been written, and what has not; each is counted by one thread."""

    rows_written: int = 0
    rows_pending: int = 0
    rows_lost: int = 0
    files_written: int = 0
    files_deleted: int = 0
    octets_written: int = 0
    errors: int = 0

    def as_map(self) -> dict[str, int]:
        """Return the counters by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTask:
    """What a thread is to write, and where."""

    config: RecordConfig
    router_id: str
    worker: int
    incarnation: int

    @property
    def writer_prefix(self) -> str:
        """What the names of all incarnations of a writer begin with."""
        return f"w{self.worker}."

    @property
    def writer(self) -> str:
        """The name of the writer, unlike those of all others of the router."""
        return f"{self.writer_prefix}{self.incarnation:x}"


class RecordThread:
    """Writes what it is given; its methods are safe from any thread."""

    def __init__(self, task: RecordTask, counters: RecordingCounters) -> None:
        self.task = task
        self.status = STATUS_ON
        self.pending_rows = 0
        self._counters = counters
        self._queue: queue.SimpleQueue[Records | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="routerd-records", daemon=True)
        self._thread.start()

    def submit(self, records: Records) -> bool:
        """Have records written; whether there is room for them."""
        if self.pending_rows + records.rows > PENDING_ROWS_MAX:
            return False
        self.pending_rows += records.rows
        self._queue.put(records)
        return True

    def end(self) -> None:
        """Complete the files of all that was given, and end; does not wait for it."""
        self._queue.put(None)

    def join(self, timeout_s: float) -> None:
        """Wait for the end."""
        self._thread.join(timeout_s)

    def take(self, timeout_s: float) -> tuple[bool, Records | None]:
        """Return whether the thread goes on, and what is next to be written, if anything comes in time."""
        try:
            records = self._queue.get(timeout=timeout_s)
        except queue.Empty:
            return True, None
        if records is not None:
            self.pending_rows -= records.rows
        return records is not None, records

    def _run(self) -> None:
        use_all_cores()
        try:
            from routerd.io.recording_writer import RecordWriting

            # Arrow is a hundred thousand objects: collections of the loop's garbage need not look through them.
            gc.freeze()
            RecordWriting(self, self._counters).run()
        except Exception as error:
            self._counters.errors += 1
            self.status = f"recording has ended: {error}"
            _log.error("Recording has ended: %s", error, exc_info=_log.isEnabledFor(logging.DEBUG))


class Recording:
    """Has the router of a worker record, and hands over what it has; to be used in the worker's loop."""

    def __init__(self, router: Router, worker: int, incarnation: int, clock: Callable[[], float] = time.time) -> None:
        self.counters = RecordingCounters()
        self._router = router
        self._worker = worker
        self._incarnation = incarnation
        self._clock = clock
        self._config = RecordConfig()
        self._thread: RecordThread | None = None
        self._ending: list[RecordThread] = []
        self._starts = 0
        self._lost_told = 0

    @property
    def is_on(self) -> bool:
        """Whether anything is recorded."""
        return self._thread is not None

    @property
    def status(self) -> str:
        """How it fares, in words."""
        return STATUS_OFF if self._thread is None else self._thread.status

    def apply(self, config: RecordConfig, now: float) -> None:
        """Record as a configuration says."""
        if config == self._config:
            return
        self.hand_over(now)
        before, self._config = self._config, config
        if self._thread is not None and not _writes_alike(before, config):
            self._thread.end()
            self._ending.append(self._thread)
            self._thread = None
        if not config.is_on:
            self._router.recorder = None
            return
        if self._thread is None:
            self._starts += 1
            self._thread = RecordThread(self._task(config), self.counters)
        if self._router.recorder is None or self._router.recorder.every != config.every:
            self._lost_told = 0
            offset = self._clock() - now
            rows = max(SET_ROWS_LEAST, SET_ROWS // config.every if config.every else 0)
            self._router.recorder = Recorder(
                self._router.router_id, config.every, offset, is_witness=self._worker == 0, rows=rows
            )
            self._begin_second(self._router.recorder, now + offset)

    def close_second(self, now: float) -> None:
        """Sum the second up that has passed, and hand all over."""
        recorder = self._router.recorder
        if recorder is None:
            return
        offset = self._clock() - now
        recorder.events.tick(now, list(self._router.peers.values()), self._router.network)
        recorder.tick(now, offset, recorder.events.second_us)
        self._begin_second(recorder, now + offset)
        self._tell_lost(recorder, now)
        self.hand_over(now)

    def seconds_left(self, now: float) -> float:
        """Return how much of the second is left, by the clock of the world."""
        return 1.0 - self._clock() % 1.0

    def hand_over(self, now: float) -> None:
        """Give the thread what has been recorded."""
        recorder = self._router.recorder
        if recorder is None or self._thread is None:
            return
        records = recorder.take()
        if records.rows and not self._thread.submit(records):
            self.counters.rows_lost += records.rows
            recorder.events.rows_lost(records.rows, "files: they are written too slowly", now)

    def close(self, now: float) -> None:
        """Complete all files, within some seconds."""
        self.close_second(now)
        self._router.recorder = None
        threads = [*self._ending, *([self._thread] if self._thread is not None else [])]
        if self._thread is not None:
            self._thread.end()
        end = now + CLOSE_S
        for thread in threads:
            thread.join(max(0.0, end - now))
        self._thread = None

    def _task(self, config: RecordConfig) -> RecordTask:
        # Two threads of one worker never write under the same name.
        incarnation = (self._incarnation << 8) + (self._starts & 0xFF)
        return RecordTask(
            config=config, router_id=self._router.router_id, worker=self._worker, incarnation=incarnation
        )

    def _begin_second(self, recorder: Recorder, wall_clock: float) -> None:
        recorder.events.second_us = int(wall_clock) * 1_000_000

    def _tell_lost(self, recorder: Recorder, now: float) -> None:
        lost = recorder.lost_decisions + recorder.lost_flows + recorder.events.lost
        if lost > self._lost_told:
            self.counters.rows_lost += lost - self._lost_told
            recorder.events.rows_lost(lost - self._lost_told, "memory: more than was to be kept in a second", now)
            self._lost_told = lost


def _writes_alike(one: RecordConfig, other: RecordConfig) -> bool:
    """Whether files are written alike, whatever is in them."""
    written = ("is_on", "directory", "rotate_s", "rotate_octets", "retention_s", "retention_octets")
    return all(getattr(one, name) == getattr(other, name) for name in written)
