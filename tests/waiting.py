"""Waiting for what another process, thread or task does: until it is so, and no longer than a limit."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

WITHIN_S = 60.0
"""Much more than anything takes on a machine that has nothing else to do."""
POLL_S = 0.01
TURN_S = 0.001


def eventually(
    claim: Callable[[], T], what: str | Callable[[], str], within_s: float = WITHIN_S, every_s: float = POLL_S
) -> T:
    """Wait until a claim holds, and return what it is; `what` tells the claim, as a function where that changes."""
    deadline = time.monotonic() + within_s
    while not (found := claim()):
        _check_time(deadline, what, within_s)
        time.sleep(every_s)
    return found


async def eventually_beside(claim: Callable[[], T], what: str, within_s: float = WITHIN_S) -> T:
    """Wait as `eventually` does, while the other tasks of the loop go on."""
    deadline = time.monotonic() + within_s
    while not (found := claim()):
        _check_time(deadline, what, within_s)
        await asyncio.sleep(TURN_S)
    return found


def _check_time(deadline: float, what: str | Callable[[], str], within_s: float) -> None:
    assert time.monotonic() < deadline, f"not within {within_s:g} s: {what if isinstance(what, str) else what()}"
