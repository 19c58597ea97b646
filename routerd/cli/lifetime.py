"""From the start of a router to its end: signals, the drain, and what the end was (2.3)."""

import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from types import FrameType
from typing import Protocol

from routerd.cli.exit_status import FAILURE, SUCCESS
from routerd.cli.happenings import Happenings
from routerd.io import follow_log_files, module_log

STOP_SIGNALS = (signal.SIGTERM, signal.SIGQUIT, signal.SIGINT)

_log = module_log("MAIN")


class Router(Protocol):
    """What is started and ended, whatever it consists of."""

    def start(self) -> list[str]:
        """Return once everything listens: what listens, one text each."""

    def wait(self) -> None:
        """Return when the router has ended by itself, or raise why."""

    def drain(self, grace_s: float) -> None:
        """End in order: no new work, some time for what is under way."""

    def stop(self) -> None:
        """End now."""


def traceback_of(error: Exception | None) -> Exception | None:
    """Return an error whose traceback the log needs; None for one whose text says all, as those of the actors do."""
    return None if getattr(error, "is_explained", False) else error


class Interrupted(KeyboardInterrupt):
    """A signal to stop, before the router was ready.

    It is a KeyboardInterrupt, since for no other exception Ray ends its calls in order. Ray then raises another one.
    """


class _Kind(Enum):
    SIGNAL = "signal"
    ENDED = "ended"
    DRAINED = "drained"


@dataclass(frozen=True, slots=True)
class _Happening:
    kind: _Kind
    signal: int = 0
    error: Exception | None = None


class Lifetime:
    """Runs one router in the main thread, which has nothing to do but wait for the end."""

    def __init__(self, router: Router, grace_s: float) -> None:
        self._router = router
        self._grace_s = grace_s
        self._happenings: Happenings[_Happening] = Happenings()
        self._is_starting = False
        self._is_draining = False

    def start(self) -> list[str] | None:
        """Start the router; return what listens, or None when a signal to stop came first. What start raises passes."""
        try:
            self._is_starting = True
            self.catch_signals()
            listening = self._router.start()
            self._is_starting = False
        except KeyboardInterrupt:
            self._router.stop()
            self._happenings.close()
            return None
        except BaseException:
            self._happenings.close()
            raise
        # Ray has set its signal handlers meanwhile.
        self.catch_signals()
        return listening

    def stay(self) -> int:
        """Wait for the end of the router, bring it about when a signal asks for it; return the status to exit with."""
        self._in_thread(_Kind.ENDED, self._router.wait)
        status = None
        try:
            while status is None:
                happening = self._happenings.get()
                status = self._signalled(happening.signal) if happening.signal else self._over(happening)
        finally:
            self._happenings.close()
        return status

    def catch_signals(self) -> None:
        """Have the signals lead here."""
        for number in (*STOP_SIGNALS, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        self._happenings.follow_signals()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self._is_starting and number != signal.SIGHUP:
            self._is_starting = False
            raise Interrupted
        self._happenings.put_by_handler(_Happening(_Kind.SIGNAL, number))

    def _signalled(self, number: int) -> int | None:
        name = signal.Signals(number).name
        if number == signal.SIGHUP:
            _log.info("%s: log files are opened again", name)
            follow_log_files()
            return None
        if not self._is_draining:
            self._is_draining = True
            _log.notice("%s: shutting down, deliveries have %g s to be settled", name, self._grace_s)
            self._in_thread(_Kind.DRAINED, lambda: self._router.drain(self._grace_s))
            return None
        _log.warning("%s: shutting down at once", name)
        for stop_signal in STOP_SIGNALS:
            signal.signal(stop_signal, signal.SIG_DFL)
        self._router.stop()
        return FAILURE

    def _over(self, happening: _Happening) -> int | None:
        if happening.kind is _Kind.ENDED and self._is_draining and happening.error is None:
            return None
        if happening.kind is _Kind.DRAINED and happening.error is None:
            _log.notice("Router ended in order")
            return SUCCESS
        error = happening.error
        _log.critical("Router failed: %s", error or "it ended by itself", exc_info=traceback_of(error))
        self._router.stop()
        return FAILURE

    def _in_thread(self, kind: _Kind, call: Callable[[], None]) -> None:
        def run() -> None:
            error: Exception | None = None
            try:
                call()
            except Exception as raised:
                error = raised
            self._happenings.put(_Happening(kind, error=error))

        threading.Thread(target=run, name=f"router-{kind.value}", daemon=True).start()
