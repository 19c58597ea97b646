"""Configured entities at a worker: a change is prepared, and then made or given up.

Management calls these methods in its own loop. A step changes the worker in the worker's loop.
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
    """A worker, with the parts that entities use."""

    config: WorkerConfig
    router: Router
    profiles: TlsProfiles
    authentication: Authentication
    listeners: Listeners
    connectors: Connectors
    recording_clock: RecordingClock
    exchanges: Exchanges

    def call(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Call a function in the loop, and return its result."""


def _nothing() -> None:
    """Do nothing on a give-up."""


@dataclass(frozen=True, slots=True)
class Step:
    """One entity of a change that is prepared."""

    commit: Callable[[], Awaitable[None]]
    """Makes the worker use the entity."""
    undo: Callable[[], None] = _nothing
    """Closes everything that was opened for it, if it has not been committed."""


class Claim(Protocol):
    """The claim of the whole router for an entity."""

    def close(self) -> None:
        """Give up the claim."""


class Running(ABC, Generic[C]):
    """The entities of one kind at workers. `C` is their frozen configuration."""

    @abstractmethod
    def prepare(self, config: C, worker: Workplace, named: Mapping[str, Any]) -> Step | None:
        """Open what an entity needs, and change nothing; None if it is not for this worker. Raises ChangeRefused.

        `named` has the configurations of entities that it names, by attribute, as far as they are needed.
        """

    async def remove(self, config: C, worker: Workplace) -> None:
        """Remove an entity from a worker."""

    def claim(self, config: C, at_start: Iterable[C], now: Iterable[C]) -> Claim | None:
        """Claim for a new entity what the whole router has once. Raises ChangeRefused.

        The launcher has claims for the entities `at_start`; `now` returns all present ones. Both are called only on
        demand, and once.
        """
        return None


class InRouter(Running[C]):
    """Entities that only the router of a worker needs."""

    def __init__(self, kind: Configurable[C]) -> None:
        self._kind = kind

    def prepare(self, config: C, worker: Workplace, named: Mapping[str, Any]) -> Step:
        """Open nothing."""
        return Step(lambda: done(worker.call(self._kind.apply, worker.router, config)))

    async def remove(self, config: C, worker: Workplace) -> None:
        """Remove it from the router."""
        await done(worker.call(self._kind.remove, worker.router, config))


async def done(future: "Future[None]") -> None:
    """Wait until a worker has done something."""
    await asyncio.wrap_future(future)
