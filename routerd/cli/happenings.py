"""What the main thread waits for: what other threads tell it, and signals.

A handler of a signal runs in the main thread alone. A signal that comes just before this thread waits for a lock does
not end that wait, and its handler runs with the next one. So the wait is for octets of a pipe. The interpreter
writes one into it for each signal, whatever its threads do.
"""

import contextlib
import os
import queue
import signal
import threading
from typing import Generic, TypeVar

_OCTETS = 4096
T = TypeVar("T")


class Happenings(Generic[T]):
    """A queue that one thread, the main thread, takes from; close it when nothing is waited for any more."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[T] = queue.SimpleQueue()
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._earlier_wake: int | None = None
        self._lock = threading.Lock()
        self._is_closed = False

    def follow_signals(self) -> None:
        """Have every signal with a handler end the wait; again, when somebody else may have changed that."""
        if not self._is_closed:
            earlier = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
            if earlier != self._wake:
                self._earlier_wake = earlier

    def put_by_handler(self, happening: T) -> None:
        """Add one; called by the handler of a signal, which may have come in the middle of anything."""
        self._queue.put(happening)

    def put(self, happening: T) -> None:
        """Add one; for any thread."""
        self._queue.put(happening)
        with self._lock, contextlib.suppress(BlockingIOError):
            if not self._is_closed:
                os.write(self._wake, b"\0")

    def get(self) -> T:
        """Wait for the next one, and return it."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self._queue.get_nowait()
            os.read(self._woken, _OCTETS)

    def close(self) -> None:
        """Signals are left to whoever had them before."""
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = True
            if self._earlier_wake is not None:
                signal.set_wakeup_fd(self._earlier_wake)
            os.close(self._woken)
            os.close(self._wake)
