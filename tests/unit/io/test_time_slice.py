"""Short slices: asked for by a thread for itself, with nothing else changed."""

import os
import platform
import threading

import pytest

from routerd.io.time_slice import ask_for_short_slices

pytestmark = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64"), reason="the call has another number on this machine"
)


def in_a_thread(program):
    seen = []
    thread = threading.Thread(target=lambda: seen.append(program()))
    thread.start()
    thread.join()
    return seen[0]


def manner():
    return os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)


def test_a_thread_may_ask_and_is_scheduled_as_before_else():
    def program():
        before = manner()
        return ask_for_short_slices(), manner() == before

    assert in_a_thread(program) == (True, True)


def test_one_that_stands_back_goes_on_to():
    def program():
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 7)
        return ask_for_short_slices(), manner()

    assert in_a_thread(program) == (True, (os.SCHED_OTHER, 7))


def test_one_with_a_policy_of_its_own_is_left_alone():
    def program():
        os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
        return ask_for_short_slices(), manner()[0]

    assert in_a_thread(program) == (False, os.SCHED_BATCH)


def test_where_the_call_is_not_known_nothing_is_asked(monkeypatch):
    monkeypatch.setattr("routerd.io.time_slice.platform.machine", lambda: "pdp11")
    assert in_a_thread(ask_for_short_slices) is False
