"""Routers as processes, and what they say."""

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

from tests.waiting import WITHIN_S, eventually

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "routerd.cli.routerd")
AMQP_HEADER = b"AMQP\x00\x01\x00\x00"


def router_conf(*listeners: str, more: str = "") -> str:
    """Return a configuration with these listeners, each the text of its section."""
    sections = [f"listener {{\n{one}\n}}" for one in listeners]
    return "\n".join(["router {\n mode: standalone\n id: QDR.A\n}", *sections, more, ""])


def environment(root: Path = ROOT) -> dict[str, str]:
    """Return the environment of a router that no variable of ours or of Ray's reaches by accident."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("ROUTERD_", "RAY_"))}
    return kept | {"PYTHONPATH": str(root)}


def run(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run the command to its end."""
    return subprocess.run(
        [*COMMAND, *arguments], cwd=cwd, env=environment(), capture_output=True, text=True, timeout=WITHIN_S
    )


def tool(name: str, port: int, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run `routerstat` or `routermanage` at a router, to its end."""
    return subprocess.run(
        [sys.executable, "-m", f"routerd.cli.{name}", "-b", f"127.0.0.1:{port}", *arguments],
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        input=stdin,
        timeout=WITHIN_S,
    )


def routerstat(port: int, *arguments: str) -> str:
    """Return what `routerstat` prints of a router."""
    done = tool("routerstat", port, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


class Launched:
    """A router that runs in the foreground; its standard error is a file."""

    def __init__(self, folder: Path, conf: str, *arguments: str, root: Path = ROOT) -> None:
        """`root` has the project that is run."""
        config = folder / "router.conf"
        config.write_text(conf)
        self.errors = folder / "stderr"
        with self.errors.open("w") as errors:
            self.process = subprocess.Popen(
                [*COMMAND, "-c", str(config), *arguments], cwd=folder, env=environment(root), stderr=errors
            )

    def log(self) -> str:
        """Return what it has written to standard error."""
        return self.errors.read_text()

    def find(self, pattern: str) -> re.Match[str]:
        """Return the first place in the log that matches, once there is one."""
        eventually(lambda: re.search(pattern, self.log()) or self.process.poll() is not None, f"{pattern} is logged")
        found = re.search(pattern, self.log())
        assert found is not None, self.log()
        return found

    def port(self) -> int:
        """Return the number of the first port that it listens on, once it is ready."""
        self.find(r"\(notice\) Operational, ")
        return int(self.find(r"SERVER \(notice\) Listening on \S*:(\d+)")[1])

    def status(self) -> int:
        """Return the status that it exits with."""
        return self.process.wait(WITHIN_S)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal; return the status that it exits with."""
        self.process.send_signal(number)
        return self.status()

    def close(self) -> None:
        """Leave nothing behind."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(WITHIN_S)


def answers_amqp(port: int, host: str = "127.0.0.1") -> bool:
    """Return whether somebody at a port answers AMQP's header with the same."""
    with socket.create_connection((host, port), timeout=WITHIN_S) as client:
        client.sendall(AMQP_HEADER)
        return client.recv(len(AMQP_HEADER), socket.MSG_WAITALL) == AMQP_HEADER
