"""How threads that nobody waits for are kept out of the way."""

import os
import platform
import subprocess
import sys
import threading

import pytest

from routerd.io.scheduling import processor_share
from routerd.io.scheduling.processor_share import SLICE_NS, Leisure, let_others_go_first, slice_ns


def in_a_thread(niceness: int) -> tuple[int, int]:
    """Return the priority and the slice of a thread that stands back."""
    found = []

    def stand_back() -> None:
        let_others_go_first(niceness)
        found.append((os.getpriority(os.PRIO_PROCESS, threading.get_native_id()), slice_ns()))

    thread = threading.Thread(target=stand_back)
    thread.start()
    thread.join()
    return found[0]


def grants_slices() -> bool:
    """Whether this kernel has slices that are a thread's own; asked of a process whose own they may be for ever."""
    program = (
        "from routerd.io.scheduling.processor_share import *; before = slice_ns(); let_others_go_first(0);"
        "print(int(0 < slice_ns() != before))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout == "1\n"


def test_a_thread_stands_back_and_no_other() -> None:
    before = (os.getpriority(os.PRIO_PROCESS, 0), slice_ns())
    niceness, own = in_a_thread(before[0] + 3)
    assert niceness == before[0] + 3
    assert own == (SLICE_NS if grants_slices() else before[1])
    assert (os.getpriority(os.PRIO_PROCESS, 0), slice_ns()) == before


def test_a_machine_without_such_a_call_has_the_priority_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = slice_ns()
    monkeypatch.setattr(platform, "machine", lambda: "unheard-of")
    assert slice_ns() == 0
    niceness, _ = in_a_thread(7)
    monkeypatch.undo()
    assert (niceness, slice_ns()) == (7, before)


def test_a_kernel_that_refuses_leaves_the_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(processor_share._SET_ATTRIBUTES, platform.machine(), 100_000)
    assert in_a_thread(9)[0] == 9


def test_a_thread_that_is_gone_is_no_error() -> None:
    thread = threading.Thread(target=lambda: None)
    thread.start()
    number = thread.native_id
    thread.join()
    assert number is not None
    let_others_go_first(5, number)


def test_work_is_done_at_leisure_and_its_failure_told() -> None:
    leisure = Leisure()
    found = []
    for _ in range(2):
        leisure.do(lambda: found.append((os.sched_getscheduler(0), threading.current_thread().name)))
    assert found == [(os.SCHED_IDLE, "leisure_0")] * 2
    with pytest.raises(ZeroDivisionError):
        leisure.do(lambda: found.append(1 // 0))
    leisure.close()
    assert os.sched_getscheduler(0) == os.SCHED_OTHER


def test_patience_comes_to_an_end() -> None:
    leisure = Leisure(patience_s=0.0)
    found = []

    def wait_for_a_turn() -> None:
        # Without the right to it nobody leaves this policy.
        while os.geteuid() == 0 and os.sched_getscheduler(0) == os.SCHED_IDLE:
            os.sched_yield()
        found.append(True)

    leisure.do(wait_for_a_turn)
    policies = []
    leisure.do(lambda: policies.append(os.sched_getscheduler(0)))
    leisure.close()
    assert (found, policies) == ([True], [os.SCHED_IDLE])
