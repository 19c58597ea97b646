"""What is preloaded into the processes of an embedded Ray."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from actors import own_ray
from actors.own_ray import PRELOAD, QUIET_TIMERS, quiet_timers

SET_TIMERS = """
import ctypes, threading
libc = ctypes.CDLL(None)
class Time(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]
class Setting(ctypes.Structure):
    _fields_ = [("interval", Time), ("value", Time)]
def left_ms(seconds, ns, flags=0):
    timer = libc.timerfd_create(1, 0)
    assert libc.timerfd_settime(timer, flags, ctypes.byref(Setting(Time(), Time(seconds, ns))), None) == 0
    left = Setting()
    assert libc.timerfd_gettime(timer, ctypes.byref(left)) == 0
    return left.value.s * 1000 + -(-left.value.ns // 1_000_000)
def all_of_them():
    print(left_ms(0, 10_000_000) > 10, left_ms(0, 9_900_000) > 10, left_ms(0, 4_000_000) > 4, end=" ")
    print(left_ms(0, 11_000_000) > 11)
    print(left_ms(1, 10_000_000) > 1010, left_ms(0, 10_000_000, 1) > 10)
all_of_them()
thread = threading.Thread(target=all_of_them)
thread.start()
thread.join()
"""
PASSIVE = ["False False False False", "False False"]


def lengthened(preload: str) -> list[str]:
    """Which timers of the main thread, and of another, are longer than they were set to."""
    environment = {**os.environ, PRELOAD: preload}
    command = [sys.executable, "-c", SET_TIMERS]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.skipif(not QUIET_TIMERS.is_file(), reason="nothing is compiled here")
def test_only_the_short_timers_of_the_main_thread_are_longer() -> None:
    assert lengthened(str(QUIET_TIMERS)) == ["True True False False", "False False", *PASSIVE]
    assert lengthened("") == [*PASSIVE, *PASSIVE]


def test_it_is_preloaded_into_what_is_started_meanwhile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = tmp_path / "quiet.so"
    library.touch()
    monkeypatch.setattr(own_ray, "QUIET_TIMERS", library)
    monkeypatch.delenv(PRELOAD, raising=False)
    with quiet_timers():
        assert os.environ[PRELOAD] == str(library)
    assert PRELOAD not in os.environ
    monkeypatch.setenv(PRELOAD, "/lib/other.so")
    with quiet_timers():
        assert os.environ[PRELOAD] == f"/lib/other.so {library}"
    assert os.environ[PRELOAD] == "/lib/other.so"


@pytest.mark.parametrize("name", ["gone.so", "with a blank.so", "with:colon.so"])
def test_what_cannot_be_preloaded_is_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    library = tmp_path / name
    if not name.startswith("gone"):
        library.touch()
    monkeypatch.setattr(own_ray, "QUIET_TIMERS", library)
    monkeypatch.delenv(PRELOAD, raising=False)
    with quiet_timers():
        assert PRELOAD not in os.environ
