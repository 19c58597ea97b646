"""The log of an actor on another node than the launcher's: its lines come out of the launcher like those of all others.

Here, a socket takes the place of the launcher's; what is written to it goes to the address table by Ray, and there to
the launcher's socket. One call at a time: meanwhile the lines wait where they would if the launcher were slow.
"""

import asyncio
import contextlib
import os
import socket
import time

from actors.errors import CallFailed
from actors.peers import Table
from actors.process import ProcessConfig, make_folder

CHUNK_OCTETS = 1 << 16
AGAIN_S = 0.5
GIVE_UP_S = 30.0
"""A table that is away for longer is no way to the launcher: lines go to a stream of the actor's own."""


class AwayLog:
    """The end on the other node."""

    def __init__(self, config: ProcessConfig, table: Table) -> None:
        """`config` names the socket; raises FolderRefused."""
        assert config.log_socket is not None, "there is a log to be forwarded"
        self._role = config.role
        self._table = table
        make_folder(config.folder)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(config.log_socket)
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(config.log_socket)
        self._server.listen()
        self._server.setblocking(False)

    async def forward(self) -> None:
        """Pass on what comes, until the launcher is gone."""
        loop = asyncio.get_running_loop()
        source, _ = await loop.sock_accept(self._server)
        with source, self._server:
            while octets := await loop.sock_recv(source, CHUNK_OCTETS):
                if not await self._has_passed(octets):
                    return

    async def _has_passed(self, octets: bytes) -> bool:
        until = time.monotonic() + GIVE_UP_S
        while time.monotonic() < until:
            try:
                return await self._table.take_log(self._role, octets)
            except CallFailed:
                # No word of it in the log, which would come by way of us.
                await asyncio.sleep(AGAIN_S)
        return False


class LogSink:
    """The end at the launcher's node."""

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._ends: dict[str, asyncio.StreamWriter] = {}
        """One for each actor: they may pause in the middle of a line."""

    async def write(self, role: str, octets: bytes) -> bool:
        """Pass on what an actor logs; whether there is a launcher that takes it."""
        try:
            end = self._ends.get(role)
            if end is None:
                if self._path is None:
                    return False
                _, end = await asyncio.open_unix_connection(self._path)
                self._ends[role] = end
            end.write(octets)
            await end.drain()
        except OSError:
            self._ends.pop(role, None)
            return False
        return True

    async def close(self) -> None:
        """Pass on nothing more."""
        for end in self._ends.values():
            end.close()
            await end.wait_closed()
        self._ends.clear()
