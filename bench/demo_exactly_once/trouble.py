"""The long run: failures of all kinds, drawn from a seed, some of them at the same time."""

import heapq
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from random import Random

from actors.processes import kill
from bench.demo_exactly_once.clients import START_WITHIN_S
from bench.demo_exactly_once.places import NETWORKS
from bench.demo_exactly_once.programs import Program
from bench.demo_exactly_once.stage import ROUTERS, Stage
from bench.demo_mesh.parts import DemoFailed

GRACE_S = 20
"""All subscribers have to be back within this time after the first router is; the machine may be busy."""
_PAUSE_S = (1.0, 6.0)
"""Between the beginnings of two failures, from and to."""
_LASTS_S = (0.5, 10.0)
_ALL_PARTS = 0.08
"""How often all routers are killed at once, of all failures."""
_LOOK_S = 0.1
_TELL_S = 10.0


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of failure."""

    name: str
    begin: Callable[[], bool]
    """Has it happen, unless nothing is there that it could happen to."""


class Trouble:
    """Makes failures, and mends them."""

    def __init__(self, stage: Stage, random: Random) -> None:
        self._stage = stage
        self._random = random
        self._mendings: list[tuple[float, int, Callable[[], None]]] = []
        """What is to be mended, and when."""
        self._order = count()
        self._broken: set[str] = set()
        """Routers and clients that are down, cut off, or stand still."""
        self._down: set[Program] = set()
        self._happened: Counter[str] = Counter()
        self._kinds = [
            Kind("routers killed", self._kill_router),
            Kind("actors killed", self._kill_actor),
            Kind("clients killed", self._kill_client),
            Kind("routers stopped for a while", self._stall_router),
            Kind("clients stopped for a while", self._stall_client),
        ]
        if stage.place.can_split:
            self._kinds += [Kind("cables pulled", self._cut)] * 2

    def happen(self, seconds: float) -> None:
        """Go on for so long; then mend everything."""
        end = time.monotonic() + seconds
        next_at = told_at = time.monotonic()
        while (now := time.monotonic()) < end:
            self._mend(now)
            self._check_clients()
            if now >= next_at:
                self._begin_one()
                next_at = time.monotonic() + self._random.uniform(*_PAUSE_S)
            if now >= told_at + _TELL_S:
                told_at = now
                self._stage.tell_processed()
            time.sleep(_LOOK_S)
        while self._mendings:
            self._mend(time.monotonic())
            time.sleep(_LOOK_S)
        told = ", ".join(f"{number} {name}" for name, number in sorted(self._happened.items()))
        self._stage.happens(f"everything is mended: {told}")

    def _begin_one(self) -> None:
        if self._random.random() < _ALL_PARTS and not self._broken.intersection(ROUTERS):
            self._kill_all()
            self._happened["times all routers killed at once"] += 1
            return
        for kind in self._random.sample(self._kinds, len(self._kinds)):
            if kind.begin():
                self._happened[kind.name] += 1
                return

    # --- mending

    def _later(self, action: Callable[[], None], lasts_s: float | None = None) -> float:
        """Have something mended after a while."""
        if lasts_s is None:
            lasts_s = self._random.uniform(*_LASTS_S)
        heapq.heappush(self._mendings, (time.monotonic() + lasts_s, next(self._order), action))
        return lasts_s

    def _mend(self, now: float) -> None:
        while self._mendings and self._mendings[0][0] <= now:
            heapq.heappop(self._mendings)[2]()

    def _check_clients(self) -> None:
        for program in (*self._stage.publishers, *self._stage.subscribers):
            if program not in self._down:
                program.check()

    # --- routers

    def _router(self) -> str | None:
        """Choose a router; one at a time has trouble, since clients need one that has none."""
        return None if self._broken.intersection(ROUTERS) else self._random.choice(ROUTERS)

    def _kill_router(self) -> bool:
        if (name := self._router()) is None:
            return False
        self._broken.add(name)
        self._stage.kill(name)
        lasts_s = self._later(lambda: self._start_routers(name))
        self._stage.happens(f"kill -9 of router {name}, for {lasts_s:.1f} s")
        return True

    def _kill_all(self) -> None:
        self._broken.update(ROUTERS)
        self._stage.kill(*ROUTERS)
        self._stage.happens("kill -9 of all routers at once")
        self._start_routers(*ROUTERS)

    def _start_routers(self, *names: str) -> None:
        self._stage.launch(*names)
        deadline = time.monotonic() + START_WITHIN_S
        for name in names:
            self._await_router(name, deadline)

    def _await_router(self, name: str, deadline: float) -> None:
        """Look again and again whether a router is ready."""
        router = self._stage.routers[name]
        if time.monotonic() > deadline:
            raise DemoFailed(f"router {name} is not ready again within {START_WITHIN_S:g} s")
        if router.is_ready:
            self._broken.discard(name)
            self._stage.happens(f"router {name} is ready again")
        else:
            self._later(lambda: self._await_router(name, deadline), _LOOK_S)

    def _kill_actor(self) -> bool:
        name = self._router()
        actors = {} if name is None else self._stage.routers[name].actors()
        if name is None or not actors:
            return False
        role = self._random.choice(sorted(actors))
        self._stage.losses += 1
        kill(actors[role])
        self._stage.happens(f"kill -9 of actor {role} of router {name}")
        return True

    def _stall_router(self) -> bool:
        if (name := self._router()) is None:
            return False
        router = self._stage.routers[name]
        self._broken.add(name)
        self._stage.losses += 1
        router.signal(signal.SIGSTOP)

        def go_on() -> None:
            router.signal(signal.SIGCONT)
            self._broken.discard(name)

        lasts_s = self._later(go_on)
        self._stage.happens(f"router {name} stands still for {lasts_s:.1f} s")
        return True

    def _cut(self) -> bool:
        if (name := self._router()) is None:
            return False
        place = self._stage.place
        networks = self._random.choice([(NETWORKS[0],), (NETWORKS[1],), NETWORKS])
        self._broken.add(name)
        self._stage.losses += 1
        for network in networks:
            place.cut(name, network)

        def join() -> None:
            for network in networks:
                place.join(name, network)
            self._broken.discard(name)

        lasts_s = self._later(join)
        self._stage.happens(f"router {name} is cut off its {' and its '.join(networks)} for {lasts_s:.1f} s")
        return True

    # --- clients

    def _client(self) -> Program | None:
        """Choose a client; one at a time has trouble."""
        clients = (*self._stage.publishers, *self._stage.subscribers)
        if self._broken.intersection(one.name for one in clients):
            return None
        return self._random.choice(clients)

    def _kill_client(self) -> bool:
        if (program := self._client()) is None:
            return False
        self._broken.add(program.name)
        self._down.add(program)
        self._stage.kill_client(program)

        def start() -> None:
            program.start()
            self._down.discard(program)
            self._broken.discard(program.name)

        lasts_s = self._later(start)
        self._stage.happens(f"kill -9 of {program.name}, for {lasts_s:.1f} s")
        return True

    def _stall_client(self) -> bool:
        if (program := self._client()) is None:
            return False
        self._broken.add(program.name)
        self._stage.losses += 1
        program.signal(signal.SIGSTOP)

        def go_on() -> None:
            program.signal(signal.SIGCONT)
            self._broken.discard(program.name)

        lasts_s = self._later(go_on)
        self._stage.happens(f"{program.name} stands still for {lasts_s:.1f} s")
        return True
