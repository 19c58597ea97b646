"""How many calls something takes: what must not grow faster than what it is about."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions are called meanwhile; those of compiled modules are not seen, and count nothing."""
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def check_linear(work_on: Callable[[int], Callable[[], object]], size: int) -> None:
    """Check that work on four times as much takes four times as many calls, or little more.

    `work_on` prepares the work, which is not counted, and returns it.
    """
    few, many = calls_of(work_on(size)), calls_of(work_on(4 * size))
    assert many <= 5 * few + 100, f"{few} calls for {size}, {many} for {4 * size}"
