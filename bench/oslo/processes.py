"""The processes of the benchmark: the driver's environment, and RabbitMQ."""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from bench.load_runs import LoadFailed

ROOT = Path(__file__).resolve().parents[2]
LOAD = ROOT / "bench/oslo/load.py"
BROKER = "tests.functional.broker"
"""A module of the driver."""
END_WITHIN_S = 60.0


def driver_python() -> str:
    """Return the interpreter of the driver's environment; LoadFailed says how to get one."""
    python = os.environ.get("MOBULA_DRIVER_PYTHON") or str(ROOT / "driver/.venv/bin/python")
    if not shutil.which(python):
        raise LoadFailed(f"{python} is not there: `make driver-setup` makes it, MOBULA_DRIVER_PYTHON names another")
    return python


class LoadProcess:
    """A run of load.py."""

    def __init__(self, *arguments: str) -> None:
        self._command = [driver_python(), "-W", "ignore", str(LOAD), *arguments]
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.pid = self._process.pid

    def __enter__(self) -> "LoadProcess":
        return self

    def __exit__(self, *error: object) -> None:
        with self._process:
            self._process.kill()

    def answer(self) -> dict[str, Any]:
        """Return the next thing that it says."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise LoadFailed(f"{' '.join(self._command[1:])}: ended with status {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def finish(self) -> list[dict[str, Any]]:
        """End its input; return what it says until it ends."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        # Not by communicate(), which does not see what was read together with an earlier answer.
        limit = threading.Timer(END_WITHIN_S, self._process.kill)
        limit.start()
        try:
            return [json.loads(line) for line in self._process.stdout]
        finally:
            limit.cancel()


class BrokerProcess:
    """RabbitMQ, while this process lives; LoadFailed says why it can't be had."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", BROKER],
            cwd=ROOT / "driver",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        port = self._process.stdout.readline().strip()
        if not port:
            _, reason = self._process.communicate()
            raise LoadFailed(reason.strip())
        self.url = f"rabbit://guest:guest@127.0.0.1:{port}/"

    def close(self) -> None:
        """End it."""
        self._process.communicate(timeout=END_WITHIN_S)
