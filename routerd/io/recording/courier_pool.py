"""Where a worker hands in its records: with a courier that takes what processor time is left over, and a helper.

The process of the first runs while cores idle, and therefore keeps nobody from running. Where none ever does it falls
behind: then another one, which takes its share, is started for as long as that lasts.
"""

import time
from collections.abc import Callable

from routerd.core import Records
from routerd.io.recording.courier import RecordCourier
from routerd.io.recording.task import STATUS_OFF, STATUS_ON, RecordingCounters, RecordTask

HELPER_REST_S = 30.0
"""How long a helper stays when it is not needed."""

NextTask = Callable[[bool], RecordTask]
"""Makes the task of another courier; whether it stands back."""


class CourierPool:
    """The couriers of one worker, and what they have counted."""

    def __init__(self) -> None:
        self._next_task: NextTask | None = None
        self._first: RecordCourier | None = None
        self._helper: RecordCourier | None = None
        self._helped_at = 0.0
        self._ending: list[RecordCourier] = []
        self._counted = RecordingCounters()
        """By this, and by couriers that have ended."""

    @property
    def is_open(self) -> bool:
        """Whether it takes records."""
        return self._first is not None

    @property
    def status(self) -> str:
        """How the couriers fare, in words."""
        if self._first is None:
            return STATUS_OFF
        if self._first.status == STATUS_ON and self._helper is not None:
            return self._helper.status
        return self._first.status

    @property
    def counters(self) -> RecordingCounters:
        """What has been counted, all in all."""
        found = RecordingCounters()
        for one in (self._counted, *(courier.counters for courier in (*self._ending, *self._active()))):
            found.add(one)
        return found

    def open(self, next_task: NextTask) -> None:
        """Have records written, by tasks that `next_task` makes."""
        self._next_task = next_task
        self._first = RecordCourier(next_task(True))

    def submit(self, records: Records, now: float) -> bool:
        """Have records written; whether there is room for them."""
        if self._first is None or self._next_task is None:
            return False
        if self._first.submit(records):
            return True
        if self._helper is None:
            self._helper = RecordCourier(self._next_task(False))
        self._helped_at = now
        return self._helper.submit(records)

    def lose(self, rows: int) -> None:
        """Count rows that nobody will write."""
        self._counted.rows_lost += rows

    def tidy(self, now: float) -> None:
        """Let a helper go that has not been needed for a while."""
        for courier in [courier for courier in self._ending if courier.has_ended]:
            self._ending.remove(courier)
            self._counted.add(courier.counters)
        if self._helper is not None and now - self._helped_at > HELPER_REST_S:
            self._helper.end()
            self._ending.append(self._helper)
            self._helper = None

    def close(self) -> None:
        """Take nothing any more; what was taken will be written."""
        for courier in self._active():
            courier.end()
            self._ending.append(courier)
        self._first = self._helper = None

    def wait(self, timeout_s: float) -> None:
        """Wait until all is written that was taken before it was closed."""
        end = time.monotonic() + timeout_s
        for courier in self._ending:
            courier.join(max(0.0, end - time.monotonic()))

    def _active(self) -> list[RecordCourier]:
        return [courier for courier in (self._first, self._helper) if courier is not None]
