"""The terminal while a live view is on it: keys one by one, a separate screen, and all as it was afterwards."""

import os
import select
import shutil
import signal
import sys
import termios
import tty
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import Any, Self

_ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l"
_LEAVE = "\x1b[?7h\x1b[?25h\x1b[?1049l"
_HOME = "\x1b[H"
_TO_END_OF_LINE = "\x1b[K"
_TO_END = "\x1b[J"
_ENDING = (signal.SIGTERM, signal.SIGHUP)


class Terminal:
    """Use it in a `with` statement: whatever ends that, a signal included, puts the terminal back."""

    def __init__(self) -> None:
        self._keyboard = sys.stdin.fileno() if sys.stdin.isatty() else None
        self._attributes: list[Any] | None = None
        self._handlers: dict[signal.Signals, Any] = {}
        self._earlier_wake = -1
        self._woken, self._wake = os.pipe()

    def __enter__(self) -> Self:
        for end in (self._woken, self._wake):
            os.set_blocking(end, False)
        # What changes the size of the screen, or comes back from the background, wakes `wait`.
        self._earlier_wake = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        for number in _ENDING:
            self._handlers[number] = signal.signal(number, _end)
        self._handlers[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, lambda *_: None)
        self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._stop)
        self._take()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._give_back()
        signal.set_wakeup_fd(self._earlier_wake)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        os.close(self._woken)
        os.close(self._wake)

    def draw(self, lines: Sequence[str]) -> None:
        """Put lines on the screen in the place of those before."""
        text = "".join(f"{line}{_TO_END_OF_LINE}\r\n" for line in lines).removesuffix("\r\n")
        self._write(f"{_HOME}{text}{_TO_END}")

    def size(self) -> tuple[int, int]:
        """Return the columns and lines of the screen."""
        columns, lines = shutil.get_terminal_size()
        return columns, lines

    def wait(self, seconds: float, other: int | None) -> tuple[str, bool]:
        """Return what was typed by then, or nothing when it is time to look; and whether `other` can be read."""
        watched = [one for one in (self._keyboard, self._woken, other) if one is not None]
        ready, _, _ = select.select(watched, [], [], max(0.0, seconds))
        if self._woken in ready:
            os.read(self._woken, 1024)
        typed = b""
        if self._keyboard in ready and self._keyboard is not None:
            typed = os.read(self._keyboard, 1024)
            if not typed:
                # The terminal is gone, and there will be no more keys.
                self._keyboard = None
        return typed.decode(errors="replace"), other in ready

    def _take(self) -> None:
        if self._keyboard is not None:
            self._attributes = termios.tcgetattr(self._keyboard)
            tty.setcbreak(self._keyboard)
        self._write(_ENTER)

    def _give_back(self) -> None:
        self._write(_LEAVE)
        if self._keyboard is not None and self._attributes is not None:
            termios.tcsetattr(self._keyboard, termios.TCSADRAIN, self._attributes)

    def _stop(self, number: int, place: FrameType | None) -> None:
        self._give_back()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._take()

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


def _end(number: int, place: FrameType | None) -> None:
    raise SystemExit(128 + number)
