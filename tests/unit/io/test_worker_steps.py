"""What a worker writes while it works through a large read, and what it leaves for the end of the turn."""

from types import SimpleNamespace
from typing import Any

import pytest

from routerd.io.worker import STEP, Worker

STEPS = 4


class Written:
    """A connection that has output after each step, and its socket."""

    is_finished = False

    def __init__(self, router: Any) -> None:
        self.router = router
        self.context = SimpleNamespace(shell=self, number=1)
        self.count = 0

    def flush(self, now: float) -> None:
        self.count += 1

    def wake(self) -> None:
        if self not in self.router.awake:
            self.router.awake.append(self)


class Read(Written):
    """The connection whose octets are read: each step of it brings output for both."""

    def __init__(self, router: Any, other: Written) -> None:
        super().__init__(router)
        self.other = other

    def receive_some(self, data: Any, now: float, start: int, end: int, enough: int) -> int:
        self.other.wake()
        self.wake()
        return min(end, start + enough)


@pytest.mark.parametrize(("trunk", "answers"), [(None, STEPS - 1), (object(), 0)], ids=["a client", "a router"])
def test_a_router_is_answered_when_all_that_it_sent_is_taken(trunk: Any, answers: int) -> None:
    worker: Any = object.__new__(Worker)
    worker.router = SimpleNamespace(awake=[], now=0.0)
    worker._buffer = bytearray(STEPS * STEP)
    worker._is_flush_due = True
    onward = Written(worker.router)
    read = Read(worker.router, onward)
    peer = SimpleNamespace(trunk=trunk, is_open=True, number=1)
    worker.received(SimpleNamespace(connection=read, peer=peer, tracer=None, deadline=0.0), STEPS * STEP)
    # What the last step brought about is written at the end of the turn.
    assert (onward.count, read.count) == (STEPS - 1, answers)
    assert set(worker.router.awake) == {onward, read}
    worker._write(0.0)
    assert (onward.count, read.count, worker.router.awake) == (STEPS, answers + 1, [])
