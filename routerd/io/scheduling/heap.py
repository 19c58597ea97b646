"""The treatment of connections' buffers by the C library's heap."""

import contextlib
import ctypes

from routerd.io.scheduling.tricks import uses_tricks

M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
KEPT_OCTETS = 64 << 20
MAPPED_FROM_OCTETS = 4 << 20


def keep_freed_memory() -> None:
    """Keep freed buffers in the process, up to a limit.

    Output buffers come and go with each turn of the loop. By default, buffers of 128 KiB and more are mapped and
    unmapped each time. Free memory at the top of the heap is given back. So all their pages are faulted in again.
    """
    if not uses_tricks():
        return
    with contextlib.suppress(AttributeError, OSError):  # only GNU's C library has this setting
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(M_MMAP_THRESHOLD, MAPPED_FROM_OCTETS)
        mallopt(M_TRIM_THRESHOLD, KEPT_OCTETS)
