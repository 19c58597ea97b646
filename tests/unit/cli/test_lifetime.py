import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from routerd.cli.lifetime import STOP_SIGNALS, Lifetime
from tests.waiting import WITHIN_S


@dataclass
class Recorded:
    """A router that notes what is done to it, and sends the signals of a test when it comes to them."""

    on_start: tuple[signal.Signals, ...] = ()
    on_drain: tuple[signal.Signals, ...] = ()
    ends_with: Exception | None = None
    ends_by_itself: bool = False
    fails_to_drain: bool = False
    calls: list[str] = field(default_factory=list)
    over: threading.Event = field(default_factory=threading.Event)

    def start(self) -> list[str]:
        self.calls.append("start")
        for number in self.on_start:
            os.kill(os.getpid(), number)
        return ["127.0.0.1:5672"]

    def wait(self) -> None:
        if not self.ends_by_itself:
            self.over.wait()
        if self.ends_with is not None:
            raise self.ends_with

    def drain(self, grace_s: float) -> None:
        self.calls.append(f"drain {grace_s:g}")
        if self.fails_to_drain:
            raise OSError("stuck")
        if self.on_drain:
            for number in self.on_drain:
                os.kill(os.getpid(), number)
            self.over.wait()
        self.over.set()

    def stop(self) -> None:
        self.calls.append("stop")
        self.over.set()


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    numbers = (*STOP_SIGNALS, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_a_signal_to_stop_drains_and_ends_with_success(number: signal.Signals) -> None:
    router = Recorded()
    lifetime = Lifetime(router, 3)
    assert lifetime.start() == ["127.0.0.1:5672"]
    os.kill(os.getpid(), number)
    assert lifetime.stay() == 0
    assert router.calls == ["start", "drain 3"]


def test_a_second_signal_ends_at_once() -> None:
    router = Recorded(on_drain=(signal.SIGINT,))
    lifetime = Lifetime(router, 3)
    lifetime.start()
    os.kill(os.getpid(), signal.SIGTERM)
    assert lifetime.stay() == 1
    assert router.calls == ["start", "drain 3", "stop"]


def test_a_third_signal_has_its_default_action() -> None:
    router = Recorded(on_drain=(signal.SIGINT,))
    lifetime = Lifetime(router, 3)
    lifetime.start()
    os.kill(os.getpid(), signal.SIGTERM)
    lifetime.stay()
    assert [signal.getsignal(number) for number in STOP_SIGNALS] == [signal.SIG_DFL] * 3


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_a_signal_before_it_is_ready_stops_it(number: signal.Signals) -> None:
    router = Recorded(on_start=(number,))
    assert Lifetime(router, 3).start() is None
    assert router.calls == ["start", "stop"]


def test_so_does_an_interrupt_that_ray_raises_instead() -> None:
    class Interrupted(Recorded):
        def start(self) -> list[str]:
            super().start()
            raise KeyboardInterrupt

    router = Interrupted()
    assert Lifetime(router, 3).start() is None
    assert router.calls == ["start", "stop"]


def test_sighup_neither_stops_a_router_nor_disarms_the_other_signals() -> None:
    router = Recorded(on_start=(signal.SIGHUP,))
    lifetime = Lifetime(router, 3)
    assert lifetime.start() == ["127.0.0.1:5672"]
    os.kill(os.getpid(), signal.SIGHUP)
    os.kill(os.getpid(), signal.SIGTERM)
    assert lifetime.stay() == 0
    assert router.calls == ["start", "drain 3"]


def test_no_signal_is_missed_that_comes_just_before_the_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = threading.Event()
    monkeypatch.setattr("routerd.cli.lifetime.follow_log_files", heard.set)
    missed = []

    def send() -> None:
        # The first one finds the main thread waiting, mostly.
        time.sleep(0.1)
        for number in range(600):
            heard.clear()
            # The main thread is on its way to wait for the next one; where it is then, nobody can say.
            at_s = time.perf_counter() + number % 60 * 1e-6
            while time.perf_counter() < at_s:
                pass
            os.kill(os.getpid(), signal.SIGHUP)
            if not heard.wait(WITHIN_S):
                missed.append(number)
                break
        os.kill(os.getpid(), signal.SIGTERM)

    lifetime = Lifetime(Recorded(), 3)
    lifetime.start()
    sending = threading.Thread(target=send)
    sending.start()
    assert lifetime.stay() == 0
    sending.join()
    assert missed == []


def test_who_had_the_signals_before_has_them_again() -> None:
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    earlier = signal.set_wakeup_fd(wake)
    try:
        lifetime = Lifetime(Recorded(), 3)
        lifetime.start()
        os.kill(os.getpid(), signal.SIGTERM)
        assert lifetime.stay() == 0
    finally:
        assert signal.set_wakeup_fd(earlier) == wake
        os.close(woken)
        os.close(wake)


@pytest.mark.parametrize("error", [None, RuntimeError("gone")])
def test_a_router_that_ends_by_itself_is_a_failure(error: Exception | None, capfd: pytest.CaptureFixture[str]) -> None:
    router = Recorded(ends_by_itself=True, ends_with=error)
    lifetime = Lifetime(router, 3)
    lifetime.start()
    assert lifetime.stay() == 1
    assert router.calls == ["start", "stop"]
    assert f"MAIN (critical) Router failed: {error or 'it ended by itself'}\n" in capfd.readouterr().err


def test_only_an_error_that_does_not_say_all_has_its_traceback_logged(capfd: pytest.CaptureFixture[str]) -> None:
    class Explained(Exception):
        is_explained = True

    for error in (Explained("no head"), RuntimeError("gone")):
        lifetime = Lifetime(Recorded(ends_by_itself=True, ends_with=error), 3)
        lifetime.start()
        assert lifetime.stay() == 1
        assert ("Traceback" in capfd.readouterr().err) is isinstance(error, RuntimeError)


def test_a_drain_that_fails_is_a_failure(capfd: pytest.CaptureFixture[str]) -> None:
    router = Recorded(fails_to_drain=True)
    lifetime = Lifetime(router, 3)
    lifetime.start()
    os.kill(os.getpid(), signal.SIGTERM)
    assert lifetime.stay() == 1
    assert router.calls == ["start", "drain 3", "stop"]
    assert "MAIN (critical) Router failed: stuck\n" in capfd.readouterr().err


def test_what_the_start_raises_passes() -> None:
    class Failing(Recorded):
        def start(self) -> list[str]:
            raise OSError("no port")

    with pytest.raises(OSError, match="no port"):
        Lifetime(Failing(), 3).start()
