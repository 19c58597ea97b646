"""The log of an actor on another node, on its way to the launcher."""

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from actors.away_log import AwayLog, LogSink
from actors.errors import FolderRefused, NoAnswer
from actors.process import ProcessConfig
from routerd.io.logs.receiver import STDERR, LogForwarder


class Table:
    """Has an outlet, and fails as often as it is told to."""

    def __init__(self, path: str | None, failures: int = 0) -> None:
        self._outlet = LogSink(path)
        self._failures = failures

    async def take_log(self, role: str, octets: bytes) -> bool:
        if self._failures:
            self._failures -= 1
            raise NoAnswer("table", "no answer")
        return await self._outlet.write(role, octets)


def config(folder: Path) -> ProcessConfig:
    home = ProcessConfig(
        router_id="A",
        role="connection.1",
        folder="/nowhere",
        log_socket="/nowhere/log",
        home="one",
        away_folder=str(folder / "away"),
    )
    return home.at("two")


def launcher(folder: Path) -> socket.socket:
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    found.bind(str(folder / "log"))
    found.listen()
    return found


@pytest.mark.parametrize("failures", [0, 1])
def test_lines_come_to_the_launcher_in_their_order(
    tmp_path: Path, failures: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("actors.away_log.AGAIN_S", 0.001)
    at = config(tmp_path)

    async def test() -> None:
        table: Any = Table(str(tmp_path / "log"), failures)
        forwarding = asyncio.ensure_future(AwayLog(at, table).forward())
        forwarder = LogForwarder(str(at.log_socket))
        assert [forwarder.send(STDERR, f"line {number}\n") for number in range(3)] == [True] * 3
        source, _ = await asyncio.to_thread(server.accept)
        with source:
            got = b""
            while got.count(b"\n") < 3:
                got += await asyncio.to_thread(source.recv, 100)
        assert got == b"2line 0\n2line 1\n2line 2\n"
        await asyncio.to_thread(forwarder.close)
        await forwarding
        await table._outlet.close()

    with launcher(tmp_path) as server:
        asyncio.run(test())


@pytest.mark.parametrize("has_been", [False, True], ids=["there is none", "it is gone"])
def test_without_a_launcher_lines_go_elsewhere(tmp_path: Path, has_been: bool) -> None:
    at = config(tmp_path)

    async def test() -> None:
        table: Any = Table(str(tmp_path / "log") if has_been else None)
        forwarding = asyncio.ensure_future(AwayLog(at, table).forward())
        forwarder = LogForwarder(str(at.log_socket))
        assert forwarder.send(STDERR, "one\n")
        await forwarding
        assert not forwarder.send(STDERR, "two\n")

    asyncio.run(test())


def test_a_folder_that_is_not_ours_alone_is_refused(tmp_path: Path) -> None:
    at = config(tmp_path)
    os.makedirs(at.folder)
    os.chmod(at.folder, 0o777)
    table: Any = Table(None)
    with pytest.raises(FolderRefused):
        AwayLog(at, table)
