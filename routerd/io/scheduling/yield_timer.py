"""Interruptions of long work in one thread, so that others have their turns all the time.

A low priority and short slices (`processor_share`) are not enough. A thread that wants a core waits for the system's
next tick if the slice of the running thread is not over. There may be one tick in four milliseconds. So a timer
interrupts the work often, and has it yield the core.
"""

import contextlib
import ctypes
import errno
import signal
import threading
from types import TracebackType

from routerd.io.scheduling.tricks import uses_tricks

TURN_NS = 100_000
_THREAD_SIGNAL = 4
"""SIGEV_THREAD_ID: the signal goes to one thread."""
_MONOTONIC = 1


class _Event(ctypes.Structure):
    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("thread", ctypes.c_int),
        ("padding", ctypes.c_char * 64),
    )


class _Times(ctypes.Structure):
    _fields_ = (
        ("interval_s", ctypes.c_long),
        ("interval_ns", ctypes.c_long),
        ("first_s", ctypes.c_long),
        ("first_ns", ctypes.c_long),
    )


class YieldTimer:
    """Makes the thread that has created it yield while it is in a `with`. Several may be open at a time.

    Without such a timer in the system, without a signal for it, or with tricks off, the work is not interrupted.
    """

    def __init__(self, turn_ns: int = TURN_NS) -> None:
        self.signal = 0
        """The signal that interrupts the thread; 0 without one."""
        self._turn_ns = turn_ns
        self._begun = 0
        self._timer = ctypes.c_void_p()
        if not uses_tricks():
            return
        with contextlib.suppress(OSError, AttributeError):
            self._library = ctypes.CDLL(None, use_errno=True)
            self._library.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
            self._library.signal.restype = ctypes.c_void_p
            self._make()

    def __enter__(self) -> None:
        """Begin to yield."""
        self._begun += 1
        if self._begun == 1:
            self._set(self._turn_ns)

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Stop yielding when the outermost `with` is over."""
        self._begun -= 1
        if not self._begun:
            self._set(0)

    def close(self) -> None:
        """Delete the timer, and free its signal."""
        if self.signal:
            self._library.timer_delete(self._timer)
            # A signal that is still on its way is dropped with this, so it does not end the process.
            self._handle(self.signal, signal.SIG_IGN)
            self._handle(self.signal, signal.SIG_DFL)
            self.signal = 0

    def _make(self) -> None:
        number = self._take_signal()
        event = _Event(signal=number, notify=_THREAD_SIGNAL, thread=threading.get_native_id())
        if self._library.timer_create(_MONOTONIC, ctypes.byref(event), ctypes.byref(self._timer)):
            self._handle(number, signal.SIG_DFL)
            raise OSError(ctypes.get_errno(), "timer_create")
        self.signal = number

    def _take_signal(self) -> int:
        """Return a free signal, with `sched_yield` as its handler: it needs no handler of ours."""
        step_aside = ctypes.cast(self._library.sched_yield, ctypes.c_void_p).value
        for number in range(signal.SIGRTMIN, signal.SIGRTMAX + 1):
            before = self._handle(number, step_aside)
            if before in (None, signal.SIG_DFL):
                return number
            self._handle(number, before)
        raise OSError(errno.EAGAIN, "All signals are in use")

    def _handle(self, number: int, handler: int | None) -> int | None:
        """Set the handler of a signal so that interrupted system calls go on; return the earlier one."""
        before: int | None = self._library.signal(number, handler)
        return before

    def _set(self, turn_ns: int) -> None:
        if self.signal:
            times = _Times(interval_ns=turn_ns, first_ns=turn_ns)
            self._library.timer_settime(self._timer, 0, ctypes.byref(times), None)
