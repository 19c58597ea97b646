"""What a process that forwards messages, or answers for many of them, asks of Python and of the system."""

import contextlib
import gc
import resource
import sys

from routerd.io.scheduling.heap import keep_freed_memory
from routerd.io.scheduling.tricks import uses_tricks

GC_THRESHOLD = 50_000
"""New objects between two garbage collections: a delivery leaves none behind, only links and connections do."""
SWITCH_S = 0.0002
"""How long other threads of the process may keep the loop from running once it has something to do."""


def be_quick() -> None:
    """Have messages wait for as little as possible; to be called when everything is loaded."""
    _allow_many_connections()
    keep_freed_memory()
    collect_seldom()
    if uses_tricks():
        sys.setswitchinterval(SWITCH_S)


def collect_seldom() -> None:
    """Have garbage collections be few, and leave out what there is now; to be called when everything is loaded."""
    if uses_tricks():
        gc.freeze()
        gc.set_threshold(GC_THRESHOLD, *gc.get_threshold()[1:])


def _allow_many_connections() -> None:
    """Take all the descriptors that this process may have."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
