"""The calls of the management agent to the router, over any transport."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from routerd.config import ConfiguredEntity
from routerd.core import RouterSettings
from routerd.management.certificates import Certificate
from routerd.management.rows import (
    AddressRow,
    AutoLinkRow,
    BindingRow,
    ConnectionRow,
    ConnectorRow,
    ExchangeRow,
    LinkRouteRow,
    LinkRow,
    LogRow,
    NodeRow,
    PolicyRow,
    PoolRow,
    RouterFigures,
    WorkerRow,
)
from routerd.management.tally import Tally
from routerd.management.topic_rows import PublisherRow, SubscriptionRow, TopicRow


class Unanswered(Exception):
    """Part of the router gave no answer in time; the text names it."""


class Backing(Protocol):
    """The router as its management agent sees it. Every call may raise Unanswered."""

    @property
    def settings(self) -> RouterSettings:
        """The settings of the router."""

    @property
    def entities(self) -> Sequence[ConfiguredEntity]:
        """All configured entities, in the order of the file and then of creation."""

    def uptime_s(self) -> float:
        """Return the time since the start of the router."""

    def new_number(self) -> int:
        """Return a number for an identity, which no other entity of this router has had."""

    async def workers(self) -> list[WorkerRow]:
        """Return a row for each connection actor that answers."""

    async def connections(self) -> list[ConnectionRow]:
        """Return all connections, by number, including those of the fabric and of inner endpoints."""

    async def links(self) -> list[LinkRow]:
        """Return all links, by number, including those of the fabric and of inner endpoints."""

    async def connectors(self) -> list[ConnectorRow]:
        """Return a row for each connector whose worker answers and has begun with it."""

    async def certificates(self) -> list[Mapping[str, Certificate]]:
        """Return the certificates of TLS profiles in use, by profile, for each worker that answers."""

    async def nodes(self) -> list[NodeRow]:
        """Return the known routers of the network, this one first; none if the router is in no network."""

    async def addresses(self) -> list[AddressRow]:
        """Return the addresses of all workers: several rows for an address that several use."""

    async def link_routes(self) -> list[LinkRouteRow]:
        """Return the link routes of all workers: a row for each link route at each worker."""

    async def auto_links(self) -> list[AutoLinkRow]:
        """Return the auto-links of all workers: a row for each auto-link at each worker."""

    async def exchanges(self) -> list[ExchangeRow]:
        """Return the exchanges of all workers: a row for each exchange, from its host."""

    async def bindings(self) -> list[BindingRow]:
        """Return the bindings of all workers: a row for each binding, from the host of its exchange."""

    async def topics(self) -> list[TopicRow]:
        """Return the topics of the worker that hosts them, by name."""

    async def publishers(self) -> list[PublisherRow]:
        """Return the publishers of topics at this router, by topic and name."""

    async def subscriptions(self) -> list[SubscriptionRow]:
        """Return all subscriptions of topics that this router knows, by topic and name."""

    async def log(self) -> list[LogRow]:
        """Return the last lines of all processes, oldest first."""

    async def log_counts(self) -> Mapping[str, Mapping[str, int]]:
        """Return the number of lines so far, by module and level."""

    async def pools(self) -> list[PoolRow]:
        """Return the pools of all workers, summed by name."""

    async def policy(self) -> list[PolicyRow]:
        """Return the counters of policy, a row for each worker that answers."""

    async def figures(self) -> RouterFigures:
        """Return the counters of the workers that answer soon."""

    async def keep_tally(self, tally: Tally) -> None:
        """Let the workers keep a tally, for a management actor that is started again."""

    async def kept_tally(self) -> Tally | None:
        """Return the newest tally at the workers; None without one."""

    async def create(self, entity: ConfiguredEntity) -> None:
        """Create an entity at all workers; if it raises ChangeRefused, none has it."""

    async def update(self, old: ConfiguredEntity, new: ConfiguredEntity) -> None:
        """Replace an entity by another; if it raises ChangeRefused, nothing has changed."""

    async def delete(self, entity: ConfiguredEntity) -> None:
        """Delete an entity at all workers; if it raises ChangeRefused, nothing has changed."""

    async def close_connection(self, connection: int) -> bool:
        """Close a client's connection by its number; return whether there was one."""

    async def end_subscription(self, topic: str, container: str, link: str) -> bool:
        """End a subscription of a topic; return whether there was one."""

    async def set_trace(self, connection: int, is_on: bool) -> bool:
        """Switch the trace of a connection's frames; return whether a client has this connection."""
