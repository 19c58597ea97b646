"""A worker that keeps what it was told, and the one who manages it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

from routerd.config import RouterConfig, parse_config
from routerd.io import ManagedWorker, WorkerConfig, configuration_of
from routerd.io.connections import ConnectorState
from routerd.management import Certificate, ConfiguredEntity, check_entity, find_entity_type

WORKERS = 2
CERTIFICATE = Certificate(1.0, "CN=router")


class ToldWorker:
    """What management needs of a worker. It has no sockets, and does nothing of what it is told."""

    def __init__(self, index: int, file: RouterConfig) -> None:
        self.config = WorkerConfig(router=file.router, connectors=file.connectors, index=index, workers=WORKERS)
        self.told: list[tuple[str, Any]] = []
        """What, and of what."""
        lists = (
            *("connections", "links", "addresses", "link_routes", "auto_links", "exchanges", "bindings"),
            *("topics", "publishers", "subscriptions"),
        )
        reports = ("counters", "pools", "packed_address_keys", *(f"packed_{one}" for one in lists))
        self.reports = SimpleNamespace(**dict.fromkeys(reports))
        self.set_trace = self.close_connection = self.end_subscription = None
        self.connectors = SimpleNamespace(
            start=lambda connector: self.told.append(("connect", connector.address)), stop=self._noting("stop")
        )
        self.listeners = SimpleNamespace(
            serve=lambda listener, sockets: self.told.append(("listen", sockets)), close=self._noting("close")
        )
        self.router = SimpleNamespace(
            configured_addresses=SimpleNamespace(add=self._noting("configure"), remove=self._noting("forget")),
            policy=SimpleNamespace(gate=None),
            peers={},
            now=0.0,
        )
        self.topics = SimpleNamespace(node=None)
        self.profiles = SimpleNamespace(certificates=lambda: {"tls": CERTIFICATE})

        self.exchanges = SimpleNamespace(
            add=lambda exchange, is_host: self.told.append(("exchange", (exchange.name, is_host))),
            remove=self._noting("no exchange"),
            bind=self._noting("bind"),
            unbind=self._noting("unbind"),
        )

    def call(self, function: Callable[..., Any], *arguments: Any) -> "Future[Any]":
        """Call a function at once."""
        done: Future[Any] = Future()
        done.set_result(function(*arguments))
        return done

    def connector_states(self) -> "Future[list[ConnectorState]]":
        """Return a state for each connector of this worker."""
        states: Future[list[ConnectorState]] = Future()
        states.set_result([ConnectorState(one.identity, "SUCCESS", "", "") for one in self.config.own_connectors])
        return states

    def _noting(self, what: str) -> Callable[[Any], None]:
        return lambda of: self.told.append((what, of))


def managed(text: str, index: int = 0) -> tuple[ManagedWorker, ToldWorker]:
    """Return a worker of a router with this configuration file, and who manages it."""
    file = parse_config(text, "r.conf")
    told = ToldWorker(index, file)
    worker: Any = told
    return ManagedWorker(worker, configuration_of(file)), told


def asked(worker: ManagedWorker, *asks: tuple[Any, ...]) -> Any:
    """Ask one thing after another, and return the last answer."""

    async def ask_all() -> Any:
        answers = [await worker.ask(*one) for one in asks]
        return answers[-1]

    return asyncio.run(ask_all())


def entity(section: str, identity: str, name: str | None = None, **given: Any) -> ConfiguredEntity:
    """Return an entity as a request has it made."""
    entity_type = find_entity_type(section)
    assert entity_type is not None
    values = check_entity(entity_type, given).values | {"name": name}
    return ConfiguredEntity(type=entity_type, identity=identity, name=name, values=values)
