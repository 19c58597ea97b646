"""An RPC server in a process of its own, which a test can kill: `python -m tests.functional.server_process URL TOPIC`.

It says in a line each what happens: `ready`, and `entered` when a call has come that it does not answer.
"""

import subprocess
import sys
import threading
from pathlib import Path
from queue import Queue
from typing import Any

from tests.functional.services import rpc_server

DRIVER = Path(__file__).resolve().parents[2]
SERVER = "process"


class Endpoint:
    """What it serves."""

    def who(self, ctxt: dict[str, Any]) -> str:
        """Return the name of this server."""
        return SERVER

    def hold(self, ctxt: dict[str, Any]) -> None:
        """Say that the call has come, and never return."""
        _say("entered")
        threading.Event().wait()


class ServerProcess:
    """The process as a test sees it, from when it serves."""

    def __init__(self, url: str, topic: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.functional.server_process", url, topic],
            cwd=DRIVER,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._said: Queue[str] = Queue()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def __enter__(self) -> "ServerProcess":
        try:
            self.await_word("ready")
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.kill()

    def await_word(self, word: str) -> None:
        """Wait until it has said a word."""
        assert self._said.get(timeout=60.0) == word

    def kill(self) -> None:
        """End it without a word."""
        self._process.kill()
        self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._listener.join()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._said.put(line.strip())
        self._said.put("ended")
        self._process.stdout.close()


def _say(word: str) -> None:
    print(word, flush=True)


def main(url: str, topic: str) -> None:
    """Serve until the input ends."""
    with rpc_server(url, topic, SERVER, Endpoint()):
        _say("ready")
        sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
