"""Watching over other actors: what stands still is ended, so that Ray, which sees only deaths, starts it anew."""

import asyncio
import contextlib
import time
from collections.abc import Callable
from concurrent.futures import Future

from actors.errors import CallFailed, NoAnswer
from actors.peers import Member
from actors.process import ProcessConfig, pulse_path
from actors.processes import condition_of, demand_of, is_held_up, kill
from actors.pulse import Pulse, PulseReader, read_sign
from actors.vigil import DOUBT_PERIOD_S, PERIOD_S, Vigil
from routerd.io import Worker, module_log

ABSENT_S = 5.0
"""A pulse that has not been seen for so long is on another host; Ray carries the question there."""
ASK_AGAIN_S = 1.0

_log = module_log("ROUTER")


class Watch:
    """Beats for as long as the event loop of this process turns, and that of its worker; watches over others.

    Both in one turn of the loop: to be woken is most of what it costs an idle process.
    """

    def __init__(self, config: ProcessConfig, pulse: Pulse, worker_now: Callable[[], Worker | None] = lambda: None):
        self._pulse = pulse
        self._worker_now = worker_now
        self._answer: Future[float] | None = None
        """Of the worker, which has been asked for a sign of life."""
        self._watched = {role: PulseReader(pulse_path(config.folder, role)) for role in config.watched}
        self._vigils = {role: Vigil(condition_of, demand_of, is_held_up) for role in config.watched}

    async def keep(self) -> None:
        """Go on for ever."""
        while True:
            next_beat = time.monotonic() + PERIOD_S
            self.beat()
            self.look()
            while any(vigil.is_in_doubt for vigil in self._vigils.values()) and time.monotonic() < next_beat:
                await asyncio.sleep(DOUBT_PERIOD_S)
                self.look()
            await asyncio.sleep(next_beat - time.monotonic())

    def beat(self) -> None:
        """Beat, unless the worker has not answered yet."""
        if self._answer is not None:
            if not self._answer.done():
                return
            self._answer.result()
        self._pulse.beat()
        worker = self._worker_now()
        self._answer = None if worker is None else worker.ping()

    def look(self) -> None:
        """End each of the watched that stands still."""
        for role, vigil in self._vigils.items():
            sign = self._watched[role].read()
            reason = vigil.see(sign, time.monotonic())
            if reason is not None and sign is not None:
                _log.error("Actor %s, process %d, is killed: %s", role, sign.process.pid, reason)
                kill(sign.process)


async def watch_far(
    role: str, member: Member, path: str, is_member: Callable[[], bool], lose: Callable[[Exception], None]
) -> None:
    """End a member that stands still, where it is on another host: its pulse is not at this path.

    `lose` is called at once, so that nobody waits for it any more: Ray may take half a minute to believe that a host is
    gone.
    """
    absent_s = 0.0
    while True:
        await asyncio.sleep(ASK_AGAIN_S)
        sign = read_sign(path)
        is_here = sign is not None and condition_of(sign.process) is not None
        # One that has not joined may be about to start, here or there.
        absent_s = absent_s + ASK_AGAIN_S if is_member() and not is_here else 0.0
        if absent_s > ABSENT_S:
            await _ask(role, member, lose)


async def _ask(role: str, member: Member, lose: Callable[[Exception], None]) -> None:
    try:
        await member.ping()
    except NoAnswer as failure:
        _log.error("Actor %s, on another host, is ended: %s", role, failure)
        lose(failure)
        with contextlib.suppress(CallFailed):
            await member.end()
    except CallFailed:
        # It has ended, which Ray knows by itself.
        return
