"""Waiting for what another thread or process does: until it is so, and no longer than a limit."""

import time
from collections.abc import Callable
from typing import Any

WITHIN_S = 60.0
_POLL_S = 0.005


def eventually(claim: Callable[[], Any], what: str = "it is so", within_s: float = WITHIN_S) -> Any:
    """Wait until a claim holds, and return what it is; fail if it does not in time."""
    deadline = time.monotonic() + within_s
    while not (found := claim()):
        assert time.monotonic() < deadline, f"not within {within_s:g} s: {what}"
        time.sleep(_POLL_S)
    return found
