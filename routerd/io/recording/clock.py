"""The seconds of a worker's recording: a timer of its loop ends each second while recording is on."""

import asyncio
import time

from routerd.config import RecordConfig
from routerd.io.recording.recording import Recording


class RecordingClock:
    """The clock of one recording; in the loop."""

    def __init__(self, recording: Recording, loop: asyncio.AbstractEventLoop) -> None:
        self._recording = recording
        self._loop = loop
        self._second: asyncio.TimerHandle | None = None

    def record(self, config: RecordConfig) -> None:
        """Record by a configuration from now on."""
        self._recording.apply(config, time.monotonic())
        if self._recording.is_on and self._second is None:
            self._await_second()

    def _await_second(self) -> None:
        now = time.monotonic()
        self._second = self._loop.call_later(self._recording.seconds_left(now), self._end_second)

    def _end_second(self) -> None:
        self._second = None
        self._recording.close_second(time.monotonic())
        if self._recording.is_on:
            self._await_second()
