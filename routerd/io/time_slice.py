"""Short slices of processor time for a loop that yields often.

Who yields gives up what is left of its slice, which is 3 ms by default: as long it waits for others that are busy, and
messages with it. Linux gives a thread the slices that it asks for, from 6.12 on; a thread with short ones has no more
time in all, but has it sooner.
"""

import ctypes
import os
import platform

SLICE_NS = 100_000
"""The shortest that the system gives."""

_SET_ATTRIBUTES = {"x86_64": 314, "aarch64": 274, "riscv64": 274, "loongarch64": 274, "ppc64le": 355, "s390x": 345}
"""The number of the system call, which has no function in the C library, by machine."""


class _Attributes(ctypes.Structure):
    """What a thread is scheduled by, as the system call has it."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("policy", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("nice", ctypes.c_int32),
        ("priority", ctypes.c_uint32),
        ("runtime", ctypes.c_uint64),
        ("deadline", ctypes.c_uint64),
        ("period", ctypes.c_uint64),
    )


def ask_for_short_slices() -> bool:
    """Have this thread run in short slices; whether the system knows how to ask, it may ignore it."""
    number = _SET_ATTRIBUTES.get(platform.machine())
    if number is None or os.sched_getscheduler(0) != os.SCHED_OTHER:
        # Who gave it another policy knows why.
        return False
    nice = os.getpriority(os.PRIO_PROCESS, 0)
    attributes = _Attributes(
        size=ctypes.sizeof(_Attributes), policy=os.SCHED_OTHER, nice=nice, runtime=SLICE_NS
    )
    return bool(ctypes.CDLL(None).syscall(number, 0, ctypes.byref(attributes), 0) == 0)
