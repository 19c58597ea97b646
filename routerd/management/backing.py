"""What the management agent asks of the router, whoever carries it over."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from routerd.config import ConfiguredEntity
from routerd.core import RouterSettings
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
    WorkerRow,
)


class Unanswered(Exception):
    """Part of the router gave no answer in time; the text says which."""


class Backing(Protocol):
    """The router as its management agent sees it. Every call may raise Unanswered."""

    @property
    def settings(self) -> RouterSettings:
        """What the router is."""

    @property
    def entities(self) -> Sequence[ConfiguredEntity]:
        """All that is configured, in the order of the file and then of creation."""

    def uptime_s(self) -> float:
        """Return for how long the router has run."""

    def new_number(self) -> int:
        """Return a number for an identity, which no other entity of this router has had."""

    async def workers(self) -> list[WorkerRow]:
        """Return a row for each connection actor that answers."""

    async def connections(self) -> list[ConnectionRow]:
        """Return all connections, by number; those of the fabric and of the inside too."""

    async def links(self) -> list[LinkRow]:
        """Return all links, by number; those of the fabric and of the inside too."""

    async def connectors(self) -> list[ConnectorRow]:
        """Return a row for each connector whose worker answers and has begun with it."""

    async def nodes(self) -> list[NodeRow]:
        """Return the routers of the network that are known, the own one first; none if the router is in no network."""

    async def addresses(self) -> list[AddressRow]:
        """Return the addresses of all workers: several rows for an address that several use."""

    async def link_routes(self) -> list[LinkRouteRow]:
        """Return the link routes of all workers: a row for each at each."""

    async def auto_links(self) -> list[AutoLinkRow]:
        """Return the auto-links of all workers: a row for each at each."""

    async def exchanges(self) -> list[ExchangeRow]:
        """Return the exchanges of all workers: a row for each, where it is hosted."""

    async def bindings(self) -> list[BindingRow]:
        """Return the bindings of all workers: a row for each, where its exchange is hosted."""

    async def log(self) -> list[LogRow]:
        """Return the last lines of all processes, oldest first."""

    async def log_counts(self) -> Mapping[str, Mapping[str, int]]:
        """Return how many lines there have been, by module and level."""

    async def pools(self) -> list[PoolRow]:
        """Return the pools of all workers, summed by name."""

    async def policy(self) -> list[PolicyRow]:
        """Return what policy has let in and refused, a row for each worker that answers."""

    async def create(self, entity: ConfiguredEntity) -> None:
        """Have all workers take an entity. Raises ChangeRefused, and then none has."""

    async def update(self, old: ConfiguredEntity, new: ConfiguredEntity) -> None:
        """Put an entity in the place of another. Raises ChangeRefused, and then nothing has changed."""

    async def delete(self, entity: ConfiguredEntity) -> None:
        """Have all workers do without an entity. Raises ChangeRefused, and then nothing changed."""

    async def close_connection(self, connection: int) -> bool:
        """Close a connection by its number; whether there was one of a client."""

    async def set_trace(self, connection: int, is_on: bool) -> bool:
        """Switch the trace of a connection's frames; whether there was one of a client."""
