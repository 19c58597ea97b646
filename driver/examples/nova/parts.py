"""The services as processes that the demo can ask for their accounts."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from examples.routers import END_WITHIN_S, READY_WITHIN_S, DidNotHappen

DRIVER = Path(__file__).resolve().parents[2]


class ServiceProcess:
    """One service, from when it was started."""

    def __init__(self, name: str, url: str, folder: Path) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "examples.nova.service", name, url],
                cwd=DRIVER,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        self._answers: Queue[dict[str, Any] | None] = Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def wait(self) -> None:
        """Wait until it serves."""
        self._answer(READY_WITHIN_S)

    def account(self) -> dict[str, Any]:
        """Return what it saw until now."""
        return self._ask("account", END_WITHIN_S)

    def stop(self) -> dict[str, Any]:
        """Have it finish what it has begun; return what it saw."""
        return self._ask("stop", READY_WITHIN_S)

    def close(self) -> None:
        """End it in order, or else by force."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(END_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ask(self, question: str, within_s: float) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{question}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise DidNotHappen(self._end()) from None
        return self._answer(within_s)

    def _answer(self, within_s: float) -> dict[str, Any]:
        try:
            answer = self._answers.get(timeout=within_s)
        except Empty:
            raise DidNotHappen(f"{self.name} did not answer within {within_s:g} s") from None
        if answer is None:
            raise DidNotHappen(self._end())
        return answer

    def _end(self) -> str:
        return f"{self.name} has ended:\n{self.log.read_text()[-2000:]}"

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(json.loads(line))
        self._answers.put(None)
