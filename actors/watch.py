"""Watching over other actors: what stands still is ended, so that Ray, which sees only deaths, starts it anew."""

import asyncio
import contextlib
import time
from collections.abc import Callable

from actors.errors import CallFailed, NoAnswer
from actors.peers import Member
from actors.process import ProcessConfig, pulse_path
from actors.processes import condition_of, kill
from actors.pulse import Pulse, read_sign
from actors.vigil import PERIOD_S, Vigil
from routerd.io import Worker, module_log

ABSENT_S = 5.0
"""A pulse that has not been seen for so long is on another host; Ray carries the question there."""
ASK_AGAIN_S = 1.0

_log = module_log("ROUTER")


async def beat(pulse: Pulse, worker_now: Callable[[], Worker | None] = lambda: None) -> None:
    """Beat for as long as this event loop turns, and that of the worker, once there is one."""
    while True:
        worker = worker_now()
        if worker is not None:
            await asyncio.wrap_future(worker.ping())
        pulse.beat()
        await asyncio.sleep(PERIOD_S)


async def watch_pulses(config: ProcessConfig) -> None:
    """End each actor that is to be watched when it stands still."""
    vigils = {role: Vigil() for role in config.watched}
    while True:
        for role, vigil in vigils.items():
            sign = read_sign(pulse_path(config.folder, role))
            reason = vigil.see(sign, time.monotonic(), condition_of)
            if reason is not None and sign is not None:
                _log.error("Actor %s, process %d, is killed: %s", role, sign.process.pid, reason)
                kill(sign.process)
        await asyncio.sleep(PERIOD_S)


async def watch_far(role: str, member: Member, path: str) -> None:
    """End a member that stands still, where it is on another host: its pulse is not at this path."""
    seen_at = time.monotonic()
    while True:
        await asyncio.sleep(ASK_AGAIN_S)
        sign = read_sign(path)
        if sign is not None and condition_of(sign.process) is not None:
            seen_at = time.monotonic()
        elif time.monotonic() - seen_at > ABSENT_S:
            await _ask(role, member)


async def _ask(role: str, member: Member) -> None:
    try:
        await member.ping()
    except NoAnswer as failure:
        _log.error("Actor %s, on another host, is ended: %s", role, failure)
        with contextlib.suppress(CallFailed):
            await member.end()
    except CallFailed:
        # It has ended, which Ray knows by itself.
        return
