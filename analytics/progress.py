"""Says what is being worked on, on one line that is written anew, or a line for each step where that can't be."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


class Progress:
    """Steps of work, and how long each one took."""

    def __init__(self, steps: int, stream: TextIO = sys.stderr, *, is_quiet: bool = False) -> None:
        self.seconds: dict[str, float] = {}
        self._steps = steps
        self._stream = stream
        self._is_quiet = is_quiet
        self._begun = time.monotonic()

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Say that a step is being worked on, and note how long it takes."""
        begun = time.monotonic()
        self._say(f"[{len(self.seconds) + 1}/{self._steps}] {name}")
        yield
        self.seconds[name] = time.monotonic() - begun

    def end(self) -> None:
        """Say how long all of it took."""
        self._say(f"{len(self.seconds)} steps in {time.monotonic() - self._begun:.1f} s")
        if not self._is_quiet and self._stream.isatty():
            self._stream.write("\n")

    def _say(self, text: str) -> None:
        if self._is_quiet:
            return
        if self._stream.isatty():
            self._stream.write(f"\r\x1b[K{text}")
        else:
            self._stream.write(f"{text}\n")
        self._stream.flush()
