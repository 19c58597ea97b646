"""What the process of an actor is, whichever actor it hosts."""

import asyncio
import contextlib
import os
import stat
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from actors.errors import FolderRefused
from actors.pulse import Pulse
from routerd.config import LogConfig
from routerd.io import LogFileError, configure_logs, forward_logs, module_log

_OTHERS_CAN_WRITE = stat.S_IWGRP | stat.S_IWOTH
STANDS_BACK = 15
_AGAIN_S = 1.0
_PULSE = ".pulse"
_STARTS = ".starts"

_log = module_log("ROUTER")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessConfig:
    """The process of one actor."""

    router_id: str
    role: str
    """What the actor is called in its router."""
    folder: str
    """Of the sockets and pulses of the router, ours alone."""
    watched: tuple[str, ...] = ()
    """The roles of the actors that this one watches over."""
    logs: LogConfig = field(default_factory=LogConfig)
    logs_as_json: bool = False
    log_socket: str | None = None
    """Where the launcher takes lines for its standard output and error."""


def pulse_path(folder: str, role: str) -> str:
    """Return where the pulse of an actor is."""
    return f"{folder}/{role}{_PULSE}"


def clear(folder: str) -> None:
    """Remove what the actors of a router have left in its folder: pulses, counts of starts, sockets of the fabric."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name.endswith((_PULSE, _STARTS)) or name[0].isdigit():
                os.unlink(os.path.join(folder, name))


def forget_starts(folder: str) -> None:
    """Begin to count the starts of actors, where a router that was killed may have left its counts."""
    for path in Path(folder).glob(f"*{_STARTS}"):
        path.unlink(missing_ok=True)


def clear_sockets(folder: str, worker: int) -> None:
    """Remove the sockets of former incarnations of a worker."""
    for path in Path(folder).glob(f"{worker}-*"):
        path.unlink(missing_ok=True)


def settle(config: ProcessConfig) -> Pulse:
    """Make this process one of the router's: its folder, its pulse, its log, its share of the processor."""
    os.makedirs(config.folder, mode=0o700, exist_ok=True)
    status = os.stat(config.folder)
    if status.st_uid != os.geteuid() or status.st_mode & _OTHERS_CAN_WRITE:
        raise FolderRefused(config.folder)
    pulse = Pulse(pulse_path(config.folder, config.role))
    # Ray gives its workers a low one, which can be taken back where that is allowed.
    _set_priority(0)
    if config.log_socket is not None:
        forward_logs(config.log_socket)
    try:
        configure_logs(config.logs, router_id=config.router_id, as_json=config.logs_as_json)
    except LogFileError as error:
        # The launcher could open it, and a router that runs is worth more than its log.
        _log.error("%s", error)
    return pulse


def stand_back() -> None:
    """Let other processes go first."""
    _set_priority(STANDS_BACK)


def _set_priority(niceness: int) -> None:
    for thread in os.listdir("/proc/self/task"):
        # A thread may have ended, and without privileges nobody can raise a priority.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getpriority(os.PRIO_PROCESS, int(thread)) != niceness:
                os.setpriority(os.PRIO_PROCESS, int(thread), niceness)


def count_start(config: ProcessConfig) -> int:
    """Count one more start of an actor on this host; return how many there were before."""
    path = f"{config.folder}/{config.role}{_STARTS}"
    with open(path, "ab") as file:
        before = file.tell()
        file.write(b".")
    return before


class Background:
    """What an actor does besides answering calls."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, what: str, function: Callable[[], Awaitable[None]]) -> None:
        """Do something that goes on for ever, and begin it anew when it fails."""
        self._keep(_for_ever(what, function))

    def run(self, what: str, function: Callable[[], Awaitable[None]]) -> None:
        """Do something that ends."""
        self._keep(_logged(what, function))

    def _keep(self, doing: Awaitable[None]) -> None:
        task = asyncio.ensure_future(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _for_ever(what: str, function: Callable[[], Awaitable[None]]) -> None:
    while True:
        await _logged(what, function)
        await asyncio.sleep(_AGAIN_S)


async def _logged(what: str, function: Callable[[], Awaitable[None]]) -> None:
    try:
        await function()
    except Exception:
        _log.exception("%s failed", what)
