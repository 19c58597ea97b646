"""What the actors ask of each other, whoever carries it over. A call that brings no answer raises CallFailed."""

from dataclasses import dataclass
from typing import Any, Protocol

from routerd.core import Changes, Delta, Interest, NetworkNews, Report, Sibling, TrunkEvent, Verdict
from routerd.io import NetworkView
from routerd.management import Configuration

Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TableNews:
    """What the address table tells the routing engine."""

    version: Version
    members: tuple[Sibling, ...]
    is_full: bool
    """The interests are all that there are."""
    interests: tuple[Interest, ...]
    """How many consumers addresses have, over all workers; none in a router that has no network."""


class Table(Protocol):
    """The address table, as the others see it."""

    async def join(self, sibling: Sibling, everything: Changes) -> Version:
        """Make a worker a member; returns once every member knows its interests."""

    async def update(self, worker: int, incarnation: int, batch: tuple[Changes, ...]) -> Version:
        """Take changes of a member, in their order; returns once every member knows them."""

    async def report(self, worker: int, incarnation: int, report: Report) -> Verdict:
        """Take what a worker reports of the connections that count against limits, and answer what it asks."""

    async def everything(self) -> TableNews:
        """Return the state for a routing engine that has just started; it gets changes from then on."""

    async def take_log(self, role: str, octets: bytes) -> bool:
        """Pass log lines of an actor on another node to the launcher; return whether there is a launcher."""


class Member(Protocol):
    """A connection actor, as the address table sees it."""

    async def apply(self, incarnation: int, delta: Delta) -> Version:
        """Take news of the siblings; returns once messages are forwarded by them."""

    async def invite(self) -> None:
        """Have the worker join, whether or not it believes to be a member."""

    async def recall_sockets(self, incarnation: int) -> int:
        """Have the worker give back what it may accept and has not; return how many sockets it keeps."""

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
    """The routing engine, as the others see it."""

    async def learn(self, news: TableNews) -> None:
        """Take over which workers the router has, and what their consumers want."""

    async def take_trunk_events(self, worker: int, incarnation: int, events: list[TrunkEvent]) -> None:
        """Take what became of a worker's trunks, and what came on them."""

    async def nodes(self) -> Any:
        """Return the routers of the network, as `routerd.management.NodeRow`."""


class NetworkMember(Protocol):
    """A connection actor, as the routing engine sees it."""

    async def network_view(self, incarnation: int) -> NetworkView:
        """Return what the worker knows of the network, and its trunks."""

    async def learn_network(
        self, incarnation: int, news: list[NetworkNews], controls: list[tuple[int, bytes]]
    ) -> None:
        """Take news of the network, and messages to be sent on trunks."""
