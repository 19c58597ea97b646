"""The recording of a worker: its loop gathers records once a second, and another process writes them.

Records for which the writer is too slow are lost, and counted.
"""

import time
from collections.abc import Callable

from routerd.config import RecordConfig
from routerd.core import Recorder, Router
from routerd.io.recording.courier_pool import CourierPool
from routerd.io.recording.memory import shared_memory
from routerd.io.recording.task import RecordingCounters, RecordTask

SET_ROWS = 1 << 16
"""Decisions in a set, if every decision is recorded: fewer sets are less work."""
SET_ROWS_LEAST = 1 << 13
CLOSE_S = 30.0
"""The time for the writing process to complete its files when the worker ends."""


class Recording:
    """Lets the router of a worker record, and hands the records over; it is used in the worker's loop."""

    def __init__(self, router: Router, worker: int, incarnation: int, clock: Callable[[], float] = time.time) -> None:
        self._router = router
        self._worker = worker
        self._incarnation = incarnation
        self._clock = clock
        self._config = RecordConfig()
        self._couriers = CourierPool()
        self._starts = 0
        self._lost_told = 0

    @property
    def is_on(self) -> bool:
        """Whether anything is recorded."""
        return self._couriers.is_open

    @property
    def status(self) -> str:
        """The state in words."""
        return self._couriers.status

    @property
    def counters(self) -> RecordingCounters:
        """The numbers of rows and files, written and not written."""
        return self._couriers.counters

    def apply(self, config: RecordConfig, now: float) -> None:
        """Record by a configuration from now on."""
        if config == self._config:
            return
        self.hand_over(now)
        before, self._config = self._config, config
        if not _writes_alike(before, config):
            self._couriers.close()
        if not config.is_on:
            self._router.journal.recorder = None
            return
        if not self._couriers.is_open:
            self._couriers.open(self._next_task)
        if self._router.journal.recorder is None or self._router.journal.recorder.every != config.every:
            self._lost_told = 0
            offset = self._clock() - now
            rows = max(SET_ROWS_LEAST, SET_ROWS // config.every if config.every else 0)
            self._router.journal.recorder = Recorder(
                self._router.router_id,
                config.every,
                offset,
                is_witness=self._worker == 0,
                rows=rows,
                memory=shared_memory,
            )
            self._begin_second(self._router.journal.recorder, now + offset)

    def close_second(self, now: float) -> None:
        """Sum up the last second, and hand everything over."""
        recorder = self._router.journal.recorder
        if recorder is None:
            return
        offset = self._clock() - now
        recorder.events.tick(now, list(self._router.peers.values()), self._router.directory.network)
        recorder.tick(now, offset, recorder.events.second_us)
        self._begin_second(recorder, now + offset)
        self._tell_lost(recorder, now)
        self.hand_over(now)
        self._couriers.tidy(now)

    def seconds_left(self, now: float) -> float:
        """Return the rest of the second, by the system's clock."""
        return 1.0 - self._clock() % 1.0

    def hand_over(self, now: float, is_all: bool = True) -> None:
        """Hand the records over to be written; or only the full sets, under pressure."""
        recorder = self._router.journal.recorder
        if recorder is None:
            return
        records = recorder.take(is_all)
        if records.rows and not self._couriers.submit(records, now):
            self._couriers.lose(records.rows)
            recorder.events.rows_lost(records.rows, "files: they are written too slowly", now)

    def close(self, now: float) -> None:
        """Record no more. The records that are left are still written."""
        self.close_second(now)
        self._router.journal.recorder = None
        self._couriers.close()

    def wait(self) -> None:
        """Return once all files are complete, after some seconds at most; any thread may wait."""
        self._couriers.wait(CLOSE_S)

    def _next_task(self, stands_back: bool) -> RecordTask:
        # Two couriers of one worker never use the same name for files.
        self._starts += 1
        return RecordTask(
            config=self._config,
            router_id=self._router.router_id,
            worker=self._worker,
            incarnation=(self._incarnation << 8) + (self._starts & 0xFF),
            stands_back=stands_back,
        )

    def _begin_second(self, recorder: Recorder, wall_clock: float) -> None:
        recorder.events.second_us = int(wall_clock) * 1_000_000

    def _tell_lost(self, recorder: Recorder, now: float) -> None:
        lost = recorder.lost_decisions + recorder.lost_flows + recorder.events.lost
        if lost > self._lost_told:
            self._couriers.lose(lost - self._lost_told)
            recorder.events.rows_lost(lost - self._lost_told, "memory: more than was to be kept in a second", now)
            self._lost_told = lost


def _writes_alike(one: RecordConfig, other: RecordConfig) -> bool:
    """Whether two configurations write files in the same way, whatever they record."""
    written = ("is_on", "directory", "rotate_s", "rotate_octets", "retention_s", "retention_octets")
    return all(getattr(one, name) == getattr(other, name) for name in written)
