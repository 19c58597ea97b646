"""Time and memory, bounded for each input and over a whole run.

An input that takes too long is stopped by a signal as soon as Python code runs; one that hangs or crashes in compiled
code is for the supervisor to see.
"""

import gc
import signal
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from tests.fuzz.broken import check

SECONDS_AN_INPUT = 5.0
"""Of processor time, so that a busy machine raises no false alarm."""
MEMORY_EVERY = 64
"""Every how many inputs the memory of one is measured, which slows it down several times."""
OCTETS_AT_LEAST = 1 << 20
OCTETS_AN_OCTET = 400
"""What an input may make the engine and the harness around it hold for each octet of its own."""
BLOCKS_MORE = 20_000
"""How many more objects may be there at the end of a run than at its beginning."""

class Overtime(Exception):
    """An input took too long."""


class Guard:
    """Runs inputs, each within its bounds."""

    def __init__(self, run: Callable[[bytes], None]) -> None:
        self._run = run
        self._count = 0
        signal.signal(signal.SIGVTALRM, _ring)

    def __call__(self, data: bytes) -> None:
        """Run an input; every bound that does not hold is an exception."""
        self._count += 1
        if self._count % MEMORY_EVERY == 0:
            self.measured(data)
            return
        with _within(SECONDS_AN_INPUT):
            self._run(data)

    def measured(self, data: bytes) -> None:
        """Run an input, its memory bounded too."""
        tracemalloc.start()
        try:
            with _within(SECONDS_AN_INPUT):
                self._run(data)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        limit = OCTETS_AT_LEAST + OCTETS_AN_OCTET * len(data)
        check(peak <= limit, f"memory of {peak} octets for an input of {len(data)}, {limit} at most")


class Growth:
    """Compares how many objects are there: what every input leaves behind adds up."""

    def __init__(self) -> None:
        self._first = _blocks()

    def check(self) -> None:
        """Raise if the run has left too much behind."""
        more = _blocks() - self._first
        check(more < BLOCKS_MORE, f"{more} objects more than at the beginning of the run")


def _blocks() -> int:
    gc.collect()
    return sys.getallocatedblocks()


def _ring(number: int, frame: FrameType | None) -> None:
    raise Overtime(f"more than {SECONDS_AN_INPUT:g} s")


@contextmanager
def _within(seconds: float) -> Iterator[None]:
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
