"""Takes the records of a worker: for a courier that uses idle processor time, and a helper.

The courier's process runs while cores idle, so it delays no other thread. If no core ever idles, the process falls
behind. Then the helper's process is started for as long as that lasts, and takes its share of the processor.
"""

import time
from collections.abc import Callable

from routerd.core import Records
from routerd.io.recording.courier import RecordCourier
from routerd.io.recording.task import STATUS_OFF, STATUS_ON, RecordingCounters, RecordTask

HELPER_REST_S = 30.0
"""The time that a helper stays while it is not needed."""

NextTask = Callable[[bool], RecordTask]
"""Makes the task of another courier; the argument says whether it may use idle time only."""


class CourierPool:
    """The couriers of one worker, and their counters."""

    def __init__(self) -> None:
        self._next_task: NextTask | None = None
        self._first: RecordCourier | None = None
        self._helper: RecordCourier | None = None
        self._helped_at = 0.0
        self._ending: list[RecordCourier] = []
        self._counted = RecordingCounters()
        """The counters of this pool, and of couriers that have ended."""

    @property
    def is_open(self) -> bool:
        """Whether it takes records."""
        return self._first is not None

    @property
    def status(self) -> str:
        """The state of the couriers, in words."""
        if self._first is None:
            return STATUS_OFF
        if self._first.status == STATUS_ON and self._helper is not None:
            return self._helper.status
        return self._first.status

    @property
    def counters(self) -> RecordingCounters:
        """The sum of all counters."""
        found = RecordingCounters()
        for one in (self._counted, *(courier.counters for courier in (*self._ending, *self._active()))):
            found.add(one)
        return found

    def open(self, next_task: NextTask) -> None:
        """Begin to write records, by tasks of `next_task`."""
        self._next_task = next_task
        self._first = RecordCourier(next_task(True))

    def submit(self, records: Records, now: float) -> bool:
        """Hand over records to be written; return whether there is room for them."""
        if self._first is None or self._next_task is None:
            return False
        if self._first.submit(records):
            return True
        if self._helper is None:
            self._helper = RecordCourier(self._next_task(False))
        self._helped_at = now
        return self._helper.submit(records)

    def lose(self, rows: int) -> None:
        """Count rows that will not be written."""
        self._counted.rows_lost += rows

    def tidy(self, now: float) -> None:
        """End a helper that has not been needed for a while."""
        for courier in [courier for courier in self._ending if courier.has_ended]:
            self._ending.remove(courier)
            self._counted.add(courier.counters)
        if self._helper is not None and now - self._helped_at > HELPER_REST_S:
            self._helper.end()
            self._ending.append(self._helper)
            self._helper = None

    def close(self) -> None:
        """Take no more records; those that were taken will be written."""
        for courier in self._active():
            courier.end()
            self._ending.append(courier)
        self._first = self._helper = None

    def wait(self, timeout_s: float) -> None:
        """Wait until all records before the close are written."""
        end = time.monotonic() + timeout_s
        for courier in self._ending:
            courier.join(max(0.0, end - time.monotonic()))

    def _active(self) -> list[RecordCourier]:
        return [courier for courier in (self._first, self._helper) if courier is not None]
