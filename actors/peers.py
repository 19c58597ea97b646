"""The calls between actors, over any transport. A call without an answer raises CallFailed."""

from dataclasses import dataclass
from typing import Any, Protocol

from routerd.core import Changes, Delta, Interest, NetworkNews, Report, Sibling, TrunkEvent, Verdict
from routerd.io import NetworkView
from routerd.management import Configuration, MetricsQuery, MetricsText

Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TableNews:
    """News of the address table for the routing engine."""

    version: Version
    members: tuple[Sibling, ...]
    is_full: bool
    """Whether the interests are all that there are."""
    interests: tuple[Interest, ...]
    """The number of consumers of addresses, over all workers; none in a router without a network."""


class Table(Protocol):
    """The address table, as the other actors see it."""

    async def join(self, sibling: Sibling, everything: Changes) -> Version:
        """Make a worker a member; returns once every member knows its interests."""

    async def update(self, worker: int, incarnation: int, batch: tuple[Changes, ...]) -> Version:
        """Take changes of a member, in their order; returns once every member knows them."""

    async def report(self, worker: int, incarnation: int, report: Report) -> Verdict:
        """Take a worker's report of connections that count against limits; answer its requests."""

    async def everything(self) -> TableNews:
        """Return the state for a routing engine that has just started; it gets changes from then on."""

    async def take_log(self, role: str, octets: bytes) -> bool:
        """Pass log lines of an actor on another node to the launcher; return whether there is a launcher."""


class Member(Protocol):
    """A connection actor, as the address table sees it."""

    async def apply(self, incarnation: int, delta: Delta) -> Version:
        """Take news of the siblings; returns once messages are forwarded by them."""

    async def invite(self) -> None:
        """Make the worker join, even if it believes that it is a member."""

    async def recall_sockets(self, incarnation: int) -> int:
        """Give back the worker's unused allowance of sockets; return the number of sockets that it keeps."""

    async def ping(self) -> float:
        """Return the lag of the event loop in seconds."""

    async def end(self) -> None:
        """End the process, whatever it does. Ray starts it again."""


class Management(Protocol):
    """The management actor, as connection actors see it."""

    async def answer(self, request: bytes) -> bytes | None:
        """Return the answer to a request, both as messages."""

    async def scrape(self, query: MetricsQuery) -> MetricsText:
        """Return the metrics of the router; raises Unanswered."""

    async def current(self, worker: int) -> Configuration:
        """Return the present configuration."""


class Engine(Protocol):
    """The routing engine, as the other actors see it."""

    async def learn(self, news: TableNews) -> None:
        """Take over the workers of the router, and the interests of their consumers."""

    async def take_trunk_events(self, worker: int, incarnation: int, events: list[TrunkEvent]) -> None:
        """Take the events of a worker's trunks, and the messages on them."""

    async def nodes(self) -> Any:
        """Return the routers of the network, as `routerd.management.NodeRow`."""


class Restartable(Protocol):
    """An actor that knows how often it was started again."""

    async def restarts(self) -> int:
        """Return Ray's count for this actor, on any node."""


class NetworkMember(Protocol):
    """A connection actor, as the routing engine sees it."""

    async def network_view(self, incarnation: int) -> NetworkView:
        """Return the worker's knowledge of the network, and its trunks."""

    async def learn_network(
        self, incarnation: int, news: list[NetworkNews], controls: list[tuple[int, bytes]]
    ) -> None:
        """Take news of the network, and messages to be sent on trunks."""
