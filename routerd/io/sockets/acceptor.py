"""Accepts connections at a listening socket, a few in each turn of the loop, so that a crowd holds up nobody.

Without a free file descriptor, new connections wait in the kernel until there is one.
"""

import asyncio
import errno
import resource
import socket
import time
from collections.abc import Callable

from routerd.io.logs import module_log

BACKLOG = 4096
"""Connections that the kernel holds until they are accepted."""
AT_ONCE = 10
"""Connections that each socket accepts in a turn."""
AGAIN_S = 0.25
"""The delay before the next attempt, after there was no room for another connection."""
QUIET_S = 10.0
"""The time with room after which a shortage is over."""
_PEERS = (errno.ECONNABORTED, errno.ECONNRESET, errno.EPROTO, errno.EPERM, errno.EHOSTUNREACH, errno.ENETUNREACH)
"""Errors of a single connection before it is accepted."""

_log = module_log("SERVER")


class Shortage:
    """A worker's lack of resources for new connections. It is logged once, until there has been room for a while."""

    def __init__(self) -> None:
        self._code = 0
        self._noted_at = 0.0

    def note(self, error: OSError, now: float) -> None:
        """Log what is missing, and the remedy."""
        self._noted_at = now
        if error.errno != self._code:
            self._code = error.errno or 0
            _log.error("No connection can be accepted: %s. Those that come wait%s", error.strerror, advice(self._code))

    def accepted(self, now: float) -> None:
        """Log the end of a shortage, unless room comes only from connections that have just ended."""
        if self._code and now - self._noted_at >= QUIET_S:
            self._code = 0
            _log.notice("Connections are accepted again")


def advice(code: int) -> str:
    """Return the remedy for a failed system call, as the end of a sentence."""
    if code == errno.EMFILE:
        limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        return (
            f": the limit of this process is {limit} open files, connections included. Raise it (`ulimit -n`, "
            f"LimitNOFILE of systemd; at most {most} now), or let a policy's maxConnections bound them"
        )
    if code == errno.ENFILE:
        return ": the system has no more open files for anybody. Raise `sysctl fs.file-max`, or close what uses them"
    return ""


class Acceptor:
    """Accepts at one socket until it is closed; in the loop."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        bound: socket.socket,
        make: Callable[[], asyncio.BaseProtocol],
        shortage: Shortage,
    ) -> None:
        self._loop = loop
        self._bound = bound
        self._make = make
        self._shortage = shortage
        self._beginning: set[asyncio.Task[None]] = set()
        self._again: asyncio.TimerHandle | None = None
        bound.setblocking(False)
        bound.listen(BACKLOG)
        loop.add_reader(bound, self._accept)

    def close(self) -> None:
        """Stop accepting."""
        if self._again is not None:
            self._again.cancel()
        self._loop.remove_reader(self._bound)
        self._bound.close()

    def _accept(self) -> None:
        for _ in range(AT_ONCE):
            try:
                accepted, _ = self._bound.accept()
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno in _PEERS:
                    continue
                self._shortage.note(error, time.monotonic())
                self._wait()
                return
            self._shortage.accepted(time.monotonic())
            accepted.setblocking(False)
            self._beginning.add(task := self._loop.create_task(self._begin(accepted)))
            task.add_done_callback(self._beginning.discard)

    async def _begin(self, accepted: socket.socket) -> None:
        try:
            await self._loop.connect_accepted_socket(self._make, accepted)
        except OSError as error:
            accepted.close()
            _log.debug("A connection ended before it began: %s", error)

    def _wait(self) -> None:
        self._loop.remove_reader(self._bound)
        self._again = self._loop.call_later(AGAIN_S, self._go_on)

    def _go_on(self) -> None:
        self._again = None
        self._loop.add_reader(self._bound, self._accept)
