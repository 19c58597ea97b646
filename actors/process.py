"""What the process of an actor is, whichever actor it hosts."""

import asyncio
import contextlib
import errno
import os
import stat
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from actors.errors import FolderRefused
from actors.plan import is_connection, worker_of
from actors.pulse import Pulse
from routerd.config import LogConfig
from routerd.io import LogFileError, configure_logs, forward_logs, let_others_go_first, module_log, use_tricks

_OTHERS_CAN_WRITE = stat.S_IWGRP | stat.S_IWOTH
STANDS_BACK = 5
"""The niceness of what others go before. With 15 it answers too late, or not at all, on cores that are all busy."""
_AGAIN_S = 1.0
_PULSE = ".pulse"
_LOG = ".log"
_NODE_LETTERS = 8
_RESTART_BITS = 24
"""Room between the numbers of two starts; clocks of hosts differ, so that time alone does not order them.

It stands for 17 ms. A start takes longer, so a router that is started anew has higher numbers than its life before.
"""

_log = module_log("ROUTER")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessConfig:
    """The process of one actor."""

    router_id: str
    role: str
    """What the actor is called in its router."""
    folder: str
    """Of the sockets and pulses of the router, ours alone."""
    directory: str = ""
    """The working directory of the launcher: files such as those of Cyrus SASL name others that are relative to it."""
    watched: tuple[str, ...] = ()
    """The roles of the actors that this one watches over."""
    logs: LogConfig = field(default_factory=LogConfig)
    logs_as_json: bool = False
    log_socket: str | None = None
    """Where the launcher takes lines for its standard output and error, or on other nodes the actor's log forwarder."""
    home: str = ""
    """The node of the launcher; empty where there is no other."""
    is_away: bool = False
    """Whether the process is on another node."""
    away_folder: str = ""
    """What the folder on other nodes is called, up to their names."""
    uses_tricks: bool = True
    """Whether the process may use platform tricks."""
    began_ns: int = 0
    """When the launcher began, by its clock; what is numbered from there is the same on all hosts."""

    def at(self, node: str) -> "ProcessConfig":
        """Return the same for a process on a node: of the launcher's files there is nothing on others."""
        if node == self.home or not self.home:
            return self
        folder = f"{self.away_folder}-{node[:_NODE_LETTERS]}"
        has_forwarder = self.log_socket is not None and is_connection(self.role)
        log_socket = f"{folder}/{self.role}{_LOG}" if has_forwarder else None
        return replace(self, folder=folder, log_socket=log_socket, is_away=True)

    def number_of(self, restarts: int) -> int:
        """Return a number for a start of the actor, higher than those before, also of earlier lives of the router."""
        return self.began_ns + (restarts << _RESTART_BITS)


def pulse_path(folder: str, role: str) -> str:
    """Return where the pulse of an actor is."""
    return f"{folder}/{role}{_PULSE}"


def clear(folder: str) -> None:
    """Remove what the actors of a router have left in its folder: pulses, sockets of the fabric."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name.endswith(_PULSE) or name[0].isdigit():
                os.unlink(os.path.join(folder, name))


def clear_sockets(folder: str, worker: int) -> None:
    """Remove the sockets of former incarnations of a worker."""
    for path in Path(folder).glob(f"{worker}-*"):
        path.unlink(missing_ok=True)


def leave_folder(config: ProcessConfig, *, is_without_launcher: bool) -> None:
    """Leave nothing of this process, which is about to end, in its folder: nobody else may be able to clear it.

    The folder is the launcher's to remove, if there is one on this host.
    """
    for name in (_PULSE, _LOG):
        Path(f"{config.folder}/{config.role}{name}").unlink(missing_ok=True)
    if is_connection(config.role):
        clear_sockets(config.folder, worker_of(config.role))
    if config.is_away or is_without_launcher:
        # Others may still be in it.
        with contextlib.suppress(OSError):
            os.rmdir(config.folder)


def make_folder(folder: str) -> None:
    """See to it that there is the folder of the router, and that it is ours alone; raises FolderRefused."""
    os.makedirs(folder, mode=0o700, exist_ok=True)
    status = os.stat(folder)
    if status.st_uid != os.geteuid() or status.st_mode & _OTHERS_CAN_WRITE:
        raise FolderRefused(folder)


def settle(config: ProcessConfig) -> Pulse:
    """Make this process one of the router's: its folders, its pulse, its log, its share of the processor."""
    use_tricks(config.uses_tricks)
    if config.directory and not config.is_away:
        # It may have been removed, or be closed to this user. Whole names work all the same.
        with contextlib.suppress(OSError):
            os.chdir(config.directory)
    make_folder(config.folder)
    # Ray gives its workers a low one, which can be taken back where that is allowed.
    _set_priority(0)
    if config.log_socket is not None:
        forward_logs(config.log_socket)
    try:
        configure_logs(config.logs, router_id=config.router_id, as_json=config.logs_as_json)
    except LogFileError as error:
        # The launcher could open it, and a router that runs is worth more than its log.
        _log.error("%s", error)
    return _pulse(config)


def _pulse(config: ProcessConfig) -> Pulse:
    """Return the pulse, once there is room for it: an actor that cannot be made is one that Ray gives up."""
    has_said = False
    while True:
        try:
            return Pulse(pulse_path(config.folder, config.role))
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            if not has_said:
                has_said = True
                _log.error("Actor %s waits for room in %s: %s", config.role, config.folder, error.strerror)
            time.sleep(_AGAIN_S)


def stand_back() -> None:
    """Let other processes go first."""
    for thread in os.listdir("/proc/self/task"):
        let_others_go_first(STANDS_BACK, int(thread))


def _set_priority(niceness: int) -> None:
    for thread in os.listdir("/proc/self/task"):
        # A thread may have ended, and without privileges nobody can raise a priority.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if os.getpriority(os.PRIO_PROCESS, int(thread)) != niceness:
                os.setpriority(os.PRIO_PROCESS, int(thread), niceness)


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
