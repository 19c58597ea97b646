"""Settings of Python and the system for a process that forwards messages, or answers for many of them."""

import contextlib
import gc
import resource
import sys

from routerd.generated_code import keep_code
from routerd.io.scheduling.heap import keep_freed_memory
from routerd.io.scheduling.tricks import uses_tricks

GC_THRESHOLD = 50_000
"""New objects between two garbage collections: only links and connections leave garbage, and no delivery does."""
SWITCH_S = 0.0002
"""The longest time that another thread of the process may keep the loop from running."""


def be_quick() -> None:
    """Reduce the delays of messages; to be called when everything is loaded."""
    _allow_many_connections()
    keep_freed_memory()
    collect_seldom()
    if uses_tricks():
        sys.setswitchinterval(SWITCH_S)


def collect_seldom() -> None:
    """Collect garbage rarely, and never the present objects; to be called when everything is loaded."""
    # What dataclasses compiled is not needed any more.
    keep_code()
    if uses_tricks():
        gc.freeze()
        gc.set_threshold(GC_THRESHOLD, *gc.get_threshold()[1:])


def _allow_many_connections() -> None:
    """Raise the limit of descriptors to the most that this process may have."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
