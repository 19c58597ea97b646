"""How much work in one thread lets others have their turns."""

import ctypes
import signal
import subprocess
from collections.abc import Iterator

import pytest

from routerd.io.scheduling.yield_timer import YieldTimer

PATIENCE_S = 10.0
QUIET_S = 0.05


@pytest.fixture
def timer() -> Iterator[YieldTimer]:
    """A timer of this thread, of a millisecond."""
    made = YieldTimer(1_000_000)
    yield made
    made.close()


def is_caught(number: int) -> bool:
    """Whether this process handles a signal."""
    with open("/proc/self/status", encoding="ascii") as file:
        mask = next(line for line in file if line.startswith("SigCgt:")).split()[1]
    return bool(int(mask, 16) >> (number - 1) & 1)


def interruptions(timer: YieldTimer, within_s: float) -> int:
    """Wait for two interruptions, which are held back from this thread meanwhile; return how many came."""
    count = 0
    while count < 2 and signal.sigtimedwait([timer.signal], within_s) is not None:
        count += 1
    return count


@pytest.fixture
def held_back(timer: YieldTimer) -> Iterator[YieldTimer]:
    """A timer whose interruptions can be waited for."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [timer.signal])
    yield timer
    while signal.sigtimedwait([timer.signal], 0) is not None:
        pass
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def test_work_is_interrupted_again_and_again(held_back: YieldTimer) -> None:
    assert interruptions(held_back, QUIET_S) == 0
    with held_back:
        assert interruptions(held_back, PATIENCE_S) == 2


def test_what_is_over_is_interrupted_no_more(held_back: YieldTimer) -> None:
    with held_back:
        assert interruptions(held_back, PATIENCE_S) == 2
    signal.sigtimedwait([held_back.signal], 0)
    assert interruptions(held_back, QUIET_S) == 0


def test_work_that_begins_meanwhile_ends_nothing(held_back: YieldTimer) -> None:
    with held_back:
        with held_back:
            pass
        assert interruptions(held_back, PATIENCE_S) == 2
    signal.sigtimedwait([held_back.signal], 0)
    assert interruptions(held_back, QUIET_S) == 0


def test_a_failure_ends_it(held_back: YieldTimer) -> None:
    with pytest.raises(KeyError), held_back:
        raise KeyError
    signal.sigtimedwait([held_back.signal], 0)
    assert interruptions(held_back, QUIET_S) == 0


def test_interrupted_calls_go_on(timer: YieldTimer) -> None:
    # The child writes when the call has been interrupted some twenty times; Python would repeat one of its own.
    read = ctypes.CDLL(None, use_errno=True).read
    octets = ctypes.create_string_buffer(8)
    with subprocess.Popen(["sh", "-c", "sleep 0.02; echo done"], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        with timer:
            assert read(child.stdout.fileno(), octets, 5) == 5
    assert octets.value == b"done\n"


def test_each_has_a_signal_of_its_own_and_gives_it_back(timer: YieldTimer) -> None:
    other = YieldTimer()
    assert timer.signal != other.signal
    assert is_caught(timer.signal)
    assert is_caught(other.signal)
    number = other.signal
    other.close()
    assert not is_caught(number)
    assert is_caught(timer.signal)


def test_without_a_signal_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signal, "SIGRTMAX", signal.SIGRTMIN - 1)
    timer = YieldTimer()
    assert timer.signal == 0
    with timer:
        pass
    timer.close()


def test_without_a_timer_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("routerd.io.scheduling.yield_timer._MONOTONIC", -1 << 20)
    taken = [number for number in range(signal.SIGRTMIN, signal.SIGRTMAX + 1) if is_caught(number)]
    timer = YieldTimer()
    assert timer.signal == 0
    assert taken == [number for number in range(signal.SIGRTMIN, signal.SIGRTMAX + 1) if is_caught(number)]
    with timer:
        pass
    timer.close()


def test_without_such_a_library_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no such library")

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    timer = YieldTimer()
    with timer:
        assert timer.signal == 0
    timer.close()
