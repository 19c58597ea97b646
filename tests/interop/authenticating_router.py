"""Routers that authenticate, as processes of their own, and what proton and rhea are told by them."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.interop.conftest import StartPeer
from tests.interop.scenarios import in_order
from tests.system.launched import Launched
from tests.system.raw_client import RawClient
from tests.waiting import eventually

HOST = " host: 127.0.0.1\n port: 0\n"
MANAGE = (sys.executable, "-m", "routerd.cli.routermanage")


def listener(name: str, *lines: str) -> str:
    """Return a listener's section."""
    return "\n".join([f"listener {{\n name: {name}", HOST.rstrip(), *(f" {line}" for line in lines), "}", ""])


def router(*lines: str) -> str:
    """Return a router's section."""
    return "\n".join(["router {\n id: QDR.A", *(f" {line}" for line in lines), "}", ""])


class Authenticating(Launched):
    """A router in one process."""

    def port_of(self, name: str) -> int:
        """Return the port of a listener, once the router is ready."""
        self.find(r"\(notice\) Operational, ")
        return int(self.find(rf"Listening on \S*:(\d+) \({name}\)")[1])

    def has_logged(self, pattern: str) -> None:
        """Wait until the log has a line."""
        eventually(lambda: re.search(pattern, self.log()), f"{pattern} is logged; the log is:\n{self.log()}")


@contextmanager
def running(folder: Path, text: str, *arguments: str) -> Iterator[Authenticating]:
    """Start a router, and see to its end."""
    launched = Authenticating(folder, text, "--in-process", *arguments)
    try:
        yield launched
    finally:
        launched.close()


def put_user(file: Path, name: str, password: str, action: str = "add") -> None:
    """Add a user by the command."""
    subprocess.run(
        [*MANAGE, "user", action, name, "--user-file", str(file), "--password-file", "-"],
        input=f"{password}\n",
        text=True,
        check=True,
        timeout=30,
    )


def attempt(
    start_peer: StartPeer, kind: str, port: int, mechanism: str | None, user: str | None = None, password: str = ""
) -> dict[str, Any]:
    """Have a client connect; return what it is told when it is let in, or the error when it is not."""
    options = {} if user is None else {"user": user, "password": password}
    facts = start_peer(kind, "client", "open", port=port, mechanism=mechanism, **options).finish()
    opened = in_order(facts, "opened")
    if opened:
        return {"mechanism": opened[0]["mechanism"]}
    error: dict[str, Any] = in_order(facts, "refused")[0]["error"]
    return error


def octets_to_the_end(client: RawClient) -> bytes:
    """Return what a router says before it closes the connection."""
    return b"".join(iter(lambda: client.socket.recv(4096), b""))
