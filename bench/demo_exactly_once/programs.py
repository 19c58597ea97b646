"""The processes of clients."""

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.demo_exactly_once.places import Place
from bench.demo_mesh.parts import DemoFailed

END_WITHIN_S = 120.0


class Program:
    """A client's process; it can be killed and started again."""

    def __init__(self, kind: str, number: int, guarantee: str, folder: Path, place: Place, urls: Sequence[str]) -> None:
        self.name = f"{kind}-{number}"
        self.database = folder / f"{self.name}.db"
        self._log = folder / f"{self.name}.log"
        self._place = place
        # Each has another router first.
        first = number % len(urls)
        self._command = [kind, guarantee, self.name, str(self.database), *urls[first:], *urls[:first]]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it."""
        command = [sys.executable, "-m", "bench.demo_exactly_once.clients", *self._command]
        with self._log.open("a") as log, self._place.at_clients():
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self) -> None:
        """End it without a word."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        if self._process is not None:
            self._process.send_signal(number)

    def check(self) -> None:
        """Raise DemoFailed if it has ended by itself."""
        status = None if self._process is None else self._process.poll()
        if status is not None:
            raise DemoFailed(f"{self.name} has ended with status {status}:\n{self._log.read_text()[-2000:]}")

    def stop(self) -> None:
        """Have it end in order: a publisher waits for its outcomes."""
        if self._process is not None:
            self._process.terminate()

    def wait(self) -> None:
        """Wait for its end. Raises DemoFailed."""
        if self._process is None:
            return
        try:
            status = self._process.wait(END_WITHIN_S)
        except subprocess.TimeoutExpired as error:
            raise DemoFailed(f"{self.name} does not end within {END_WITHIN_S:g} s") from error
        if status:
            self.check()
