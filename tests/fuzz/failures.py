"""What went wrong with an input: one kind of failure is kept once, by the smallest input that shows it."""

import re
import time
import traceback
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from tests.fuzz.broken import Broken

MOST_TRIES = 4000
MOST_SECONDS = 30.0
_VARIABLE = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{8,}\b|\d+|'[^']*'|b'[^']*'")


def kind_of(error: BaseException) -> str:
    """Return what failures with the same cause have in common: the text without numbers, and the place."""
    text = _VARIABLE.sub("#", str(error))[:60]
    if isinstance(error, Broken) and not isinstance(error.__cause__, Exception):
        return f"{type(error).__name__}: {text}"
    frames = traceback.extract_tb((error.__cause__ or error).__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else "nowhere"
    return f"{type(error).__name__}: {text} at {place}"


def shrink(data: bytes, is_same: Callable[[bytes], bool]) -> bytes:
    """Return a smaller input for which `is_same` holds, after a bounded number of tries."""
    return _Shrinking(data, is_same).result()


class _Shrinking:
    """Leaves parts of an input out, then makes octets smaller, as long as it stays what it is."""

    def __init__(self, data: bytes, is_same: Callable[[bytes], bool]) -> None:
        self._data = data
        self._is_same = is_same
        self._tries = MOST_TRIES
        self._end = time.monotonic() + MOST_SECONDS

    def result(self) -> bytes:
        """Return the smallest input that was found."""
        size = max(len(self._data) // 2, 1)
        while size:
            at = 0
            while at < len(self._data):
                if not self._try(self._data[:at] + self._data[at + size :]):
                    at += size
            size //= 2
        for at, octet in enumerate(self._data):
            for simpler in (0, octet & 0x0F, octet // 2):
                if simpler < octet and self._try(self._data[:at] + bytes((simpler,)) + self._data[at + 1 :]):
                    break
        return self._data

    def _try(self, candidate: bytes) -> bool:
        self._tries -= 1
        if self._tries < 0 or time.monotonic() > self._end or not self._is_same(candidate):
            return False
        self._data = candidate
        return True


class Failures:
    """The kinds of failure of one target, each with its smallest input on disk."""

    def __init__(self, folder: Path, target: str) -> None:
        self.found: dict[str, Path] = {}
        self._folder = folder
        self._target = target

    def add(self, data: bytes, error: BaseException, run: Callable[[bytes], None]) -> bool:
        """Keep a failure, shrunk, and print how to see it again; return whether it is of a new kind."""
        kind = kind_of(error)
        if kind in self.found:
            return False
        self.found[kind] = self._folder
        small = shrink(data, lambda other: kind_of_run(other, run) == kind)
        self.found[kind] = self.save(small)
        print(f"\n{self._target}: {kind}", *traceback.format_exception(error)[-3:], sep="\n")
        print(f"again: {command_to_reproduce(self.found[kind], self._target)}", flush=True)
        return True

    def save(self, data: bytes) -> Path:
        """Write an input to a file that is named by its content."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{self._target}-{sha256(data).hexdigest()[:12]}"
        path.write_bytes(data)
        return path


def kind_of_run(data: bytes, run: Callable[[bytes], None]) -> str | None:
    """Return the kind of failure that an input makes, or None."""
    try:
        run(data)
    except Exception as error:
        return kind_of(error)
    return None


def command_to_reproduce(path: Path, target: str) -> str:
    """Return what to type to see a failure again."""
    return f"python -m tests.fuzz {target} --reproduce {path}"
