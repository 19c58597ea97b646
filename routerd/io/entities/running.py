"""How a worker has what is configured: a change is prepared, and then made or given up.

Management calls these methods in its own loop. A step has the loop of the worker do what changes the worker.
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from routerd.config import Configurable
from routerd.core import Exchanges, Router
from routerd.io.auth import Authentication
from routerd.io.connections import Connectors, Listeners
from routerd.io.recording import RecordingClock
from routerd.io.settings import WorkerConfig
from routerd.io.tls import TlsProfiles

C = TypeVar("C")
T = TypeVar("T")


class Workplace(Protocol):
    """A worker, with its parts that entities are about."""

    config: WorkerConfig
    router: Router
    profiles: TlsProfiles
    authentication: Authentication
    listeners: Listeners
    connectors: Connectors
    recording_clock: RecordingClock
    exchanges: Exchanges

    def call(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Have the loop call a function, and return what it does."""


def _nothing() -> None:
    """Give nothing up."""


@dataclass(frozen=True, slots=True)
class Step:
    """One entity of a change that can be made now."""

    commit: Callable[[], Awaitable[None]]
    """Has the worker take the entity."""
    undo: Callable[[], None] = _nothing
    """Closes what was opened for it. It has not been committed."""


class Claim(Protocol):
    """What the router as a whole has for an entity."""

    def close(self) -> None:
        """Do without it."""


class Running(ABC, Generic[C]):
    """The entities of one kind, as workers have them. `C` is the frozen configuration of one."""

    @abstractmethod
    def prepare(self, config: C, worker: Workplace, named: Mapping[str, Any]) -> Step | None:
        """Open what an entity needs, and change nothing; None if it is not for this worker. Raises ChangeRefused.

        `named` are the configurations of the entities that it names, by attribute, as far as they are looked at.
        """

    async def remove(self, config: C, worker: Workplace) -> None:
        """Have a worker do without an entity."""

    def claim(self, config: C, at_start: Iterable[C], now: Iterable[C]) -> Claim | None:
        """Take for a new entity what the router as a whole has once. Raises ChangeRefused.

        The launcher has it for all that were there `at_start`; `now` are all that there are. Both are read when they
        are asked for, and once.
        """
        return None


class InRouter(Running[C]):
    """Entities that nothing but the router of a worker has to know."""

    def __init__(self, kind: Configurable[C]) -> None:
        self._kind = kind

    def prepare(self, config: C, worker: Workplace, named: Mapping[str, Any]) -> Step:
        """Have nothing to open."""
        return Step(lambda: done(worker.call(self._kind.apply, worker.router, config)))

    async def remove(self, config: C, worker: Workplace) -> None:
        """Have the router do without it."""
        await done(worker.call(self._kind.remove, worker.router, config))


async def done(future: "Future[None]") -> None:
    """Wait until a worker has done something."""
    await asyncio.wrap_future(future)
