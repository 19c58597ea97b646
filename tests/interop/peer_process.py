"""The peers of the interop tests as processes: started with options, watched line by line, always ended."""

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WITHIN_S = 60.0

Fact = dict[str, Any]

COMMANDS = {
    "engine": [sys.executable, "-W", "error", "-m", "tests.interop.engine.peer"],
    "proton": [sys.executable, str(HERE / "peers" / "proton_peer.py")],
    "rhea": ["node", str(HERE / "rhea" / "peer.js")],
}


def absence(kind: str) -> str | None:
    """Return why this peer cannot be started here, or None."""
    if kind == "engine":
        return None
    if kind == "proton":
        try:
            import proton  # noqa: F401
        except ImportError:
            return "python-qpid-proton is not installed (make clients installs it)"
    elif not shutil.which("node"):
        return "Node.js is not installed, so that rhea cannot run"
    elif not all((HERE / "rhea" / "node_modules" / name).is_dir() for name in ("rhea", "ws")):
        return "rhea is not installed, or ws is not (make clients installs both)"
    return None


def absence_of_sasl(kind: str, role: str, mechanism: str) -> str | None:
    """Return why this peer cannot play its role with this mechanism here, or None."""
    if kind != "proton" or absence(kind):
        return absence(kind)
    import proton

    if mechanism.startswith("SCRAM") and not proton.SASL.extended():
        return "python-qpid-proton was built without Cyrus SASL, so that it has no SCRAM (libsasl2-dev is missing)"
    if role == "server" and mechanism != "ANONYMOUS" and not shutil.which("saslpasswd2"):
        return "saslpasswd2, which writes the users of a proton server, is not installed (sasl2-bin)"
    return None


class PeerProcess:
    """One running peer and the facts that it has printed."""

    def __init__(self, kind: str, role: str, scenario: str, options: dict[str, Any]) -> None:
        command = [*COMMANDS[kind], role, scenario, json.dumps(options)]
        self.name = f"{kind} {role} {scenario}"
        self.facts: list[Fact] = []
        self._complaints: list[str] = []
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            cwd=ROOT,
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("{"):
                self._lines.put(line)
            else:
                self._complaints.append(line)
        self._lines.put(None)

    def wait_for(self, name: str, within_s: float = WITHIN_S) -> Fact:
        """Return the next fact of this name; the ones before it are kept too."""
        deadline = time.monotonic() + within_s
        while fact := self._next(deadline):
            if fact["fact"] == name:
                return fact
        raise AssertionError(f"{self.name} ended without the fact {name!r}\n{self._story()}")

    def _next(self, deadline: float) -> Fact | None:
        try:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise AssertionError(f"{self.name} said nothing more in time\n{self._story()}") from None
        if line is None:
            self._lines.put(None)
            return None
        self.facts.append(json.loads(line))
        return self.facts[-1]

    def _story(self) -> str:
        said = "\n".join(json.dumps(fact) for fact in self.facts[-20:])
        return f"facts:\n{said}\ncomplaints:\n{''.join(self._complaints)}"

    @property
    def port(self) -> int:
        """The port that a server listens on."""
        return int(self.wait_for("listening")["port"])

    def thaw(self) -> None:
        """Let a silent peer go on."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    def finish(self, within_s: float = WITHIN_S) -> list[Fact]:
        """Return all facts of a peer that ends by itself and in order."""
        deadline = time.monotonic() + within_s
        while self._next(deadline):
            pass
        status = self._process.wait(max(0.1, deadline - time.monotonic()))
        assert status == 0, f"{self.name} exited with status {status}\n{self._story()}"
        return self.facts

    def end(self) -> None:
        """Kill the process if it still runs, and close what belongs to it."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
