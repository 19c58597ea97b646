"""Work that is not urgent: it must not delay urgent work of other threads.

A low priority alone is not enough. A running thread keeps its core for some milliseconds, as long as a thousand
messages take. From Linux 6.12 on, each thread can have its own slice: threads with such work get short slices.
"""

import contextlib
import ctypes
import errno
import os
import platform
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from routerd.io.scheduling.tricks import uses_tricks

PATIENCE_S = 1.0
"""The longest time that work waits for an idle core."""
SLICE_NS = 100_000
"""The shortest possible slice."""
_SET_ATTRIBUTES = {"x86_64": 314, "aarch64": 274, "riscv64": 274, "ppc64le": 355, "s390x": 345}
"""The numbers of sched_setattr, which the C library of today's Debian does not have."""
_ATTRIBUTES = struct.Struct("IIQiIQQQ")
_NORMAL = 0


def let_others_go_first(niceness: int, thread: int = 0) -> None:
    """Give a thread a low priority and short slices; 0 is the calling thread. Without the right, it does nothing."""
    if not uses_tricks() or not _set_attributes(thread, niceness):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, thread, niceness)


class Leisure:
    """A thread that runs only on a core that nothing else wants.

    Besides, a core on which only such a thread runs is idle to Linux, which wakes other threads there. Otherwise it
    would wake them on the core of the thread that writes to them.
    """

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        self._patience_s = patience_s
        self._thread = ThreadPoolExecutor(1, "leisure", initializer=_run_when_idle)

    def do(self, work: Callable[[], None]) -> None:
        """Do work in this thread, and wait for it. After a while it gets more priority, if this process may do that."""
        doing = self._thread.submit(work)
        if not wait([doing], self._patience_s).done:
            for thread in self._thread._threads:
                with contextlib.suppress(OSError):
                    os.sched_setscheduler(thread.native_id or 0, os.SCHED_OTHER, os.sched_param(0))
            wait([doing])
            self._thread.submit(_run_when_idle)
        doing.result()

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()


def _run_when_idle() -> None:
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def slice_ns(thread: int = 0) -> int:
    """Return the slice of a thread; 0 if the system does not tell."""
    number = _SET_ATTRIBUTES.get(platform.machine())
    attributes = ctypes.create_string_buffer(_ATTRIBUTES.size)
    if number is None or _call(number + 1, thread, attributes, _ATTRIBUTES.size, 0):
        return 0
    return int(_ATTRIBUTES.unpack(attributes.raw)[5])


def _set_attributes(thread: int, niceness: int) -> bool:
    number = _SET_ATTRIBUTES.get(platform.machine())
    if number is None:
        return False
    octets = _ATTRIBUTES.pack(_ATTRIBUTES.size, _NORMAL, 0, niceness, 0, SLICE_NS, 0, 0)
    return not _call(number, thread, octets, 0)


def _call(number: int, thread: int, *arguments: object) -> int:
    try:
        call = ctypes.CDLL(None, use_errno=True).syscall
    except (OSError, AttributeError):
        return errno.ENOSYS
    return int(call(number, thread, *arguments))
