"""What the actors ask of each other, whoever carries it over. A call that brings no answer raises CallFailed."""

from typing import Protocol

from routerd.core import Changes, Delta, Sibling
from routerd.management import Configuration

Version = tuple[int, int]


class Table(Protocol):
    """The address table, as the others see it."""

    async def join(self, sibling: Sibling, everything: Changes) -> Version:
        """Make a worker a member; returns once every member knows its interests."""

    async def update(self, worker: int, incarnation: int, batch: tuple[Changes, ...]) -> Version:
        """Take changes of a member, in their order; returns once every member knows them."""

    async def members(self) -> tuple[Version, tuple[Sibling, ...]]:
        """Return the members and the version they are of."""


class Member(Protocol):
    """A connection actor, as the address table sees it."""

    async def apply(self, incarnation: int, delta: Delta) -> Version:
        """Take news of the siblings; returns once messages are forwarded by them."""

    async def invite(self) -> None:
        """Have the worker join, whether or not it believes to be a member."""

    async def ping(self) -> float:
        """Return the lag of the event loop in seconds."""

    async def end(self) -> None:
        """End the process, whatever it does, so that Ray starts it again."""


class Management(Protocol):
    """The management actor, as connection actors see it."""

    async def answer(self, request: bytes) -> bytes | None:
        """Return the answer to a request, both as messages."""

    async def current(self, worker: int) -> Configuration:
        """Return what is configured now."""


class Engine(Protocol):
    """The routing engine, as the address table sees it."""

    async def learn(self, version: Version, members: tuple[Sibling, ...]) -> None:
        """Take over which workers the router has."""
