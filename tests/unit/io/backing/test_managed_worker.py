"""A worker's changes of connectors: prepared by all, made by the one that owns them, what is replaced going first."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import pytest

from routerd.config import ConnectorConfig, RouterConfig, parse_config
from routerd.io import ManagedWorker, WorkerConfig, configuration_of
from routerd.io.backing.managed_worker import StaleConfiguration
from routerd.io.settings.worker_config import owner_of
from routerd.management import Change, ChangeRefused, Configuration, ConfiguredEntity

TEXT = """
router {
    id: R
    mode: interior
}
connector {
    name: b
    port: 5673
    role: inter-router
}
"""
WORKERS = 2


@dataclass(frozen=True)
class State:
    """How a connector fares."""

    identity: str


class Recorder:
    """What management needs of a worker; it has no sockets, and keeps what it was told."""

    def __init__(self, index: int, file: RouterConfig) -> None:
        self.config = WorkerConfig(router=file.router, connectors=file.connectors, index=index, workers=WORKERS)
        self.told: list[tuple[str, Any]] = []
        self.reports = self.connectors = self
        self.counters = self.packed_connections = self.packed_links = self.packed_addresses = self.pools = None
        self.set_trace = self.close_connection = None

    def call(self, function: Callable[..., None], *arguments: Any) -> "Future[None]":
        function(*arguments)
        done: Future[None] = Future()
        done.set_result(None)
        return done

    def start(self, connector: ConnectorConfig) -> None:
        self.told.append(("connect", connector.address))

    def stop(self, identity: str) -> None:
        self.told.append(("stop", identity))

    def connector_states(self) -> "Future[list[State]]":
        states: Future[list[State]] = Future()
        states.set_result([State(one.identity) for one in self.config.own_connectors])
        return states


def parsed(text: str) -> RouterConfig:
    return parse_config(text, "r.conf")


def managed(index: int, text: str = TEXT) -> tuple[ManagedWorker, Recorder]:
    file = parsed(text)
    recorder = Recorder(index, file)
    worker: Any = recorder
    return ManagedWorker(worker, configuration_of(file)), recorder


def entities(text: str, version: int = 1) -> Configuration:
    return Configuration(version, configuration_of(parsed(text)).entities)


def connector_of(text: str) -> ConfiguredEntity:
    [found] = [one for one in entities(text).entities if one.type.section == "connector"]
    return found


NEW = connector_of(TEXT.replace("name: b", "name: new"))
OLD = connector_of(TEXT)


def asked(worker: ManagedWorker, *asks: tuple[Any, ...]) -> Any:
    async def ask_all() -> Any:
        answers = [await worker.ask(*one) for one in asks]
        return answers[-1]

    return asyncio.run(ask_all())


def test_a_new_connector_is_begun_by_its_owner_alone() -> None:
    for index in range(WORKERS):
        worker, recorder = managed(index)
        asked(worker, ("prepare", Change(0, added=(NEW,))))
        assert recorder.told == []
        asked(worker, ("commit",))
        is_owner = index == owner_of(NEW.identity, WORKERS)
        assert recorder.told == ([("connect", "127.0.0.1:5673")] if is_owner else [])
        assert NEW in worker.configuration.entities


def test_a_connector_that_goes_is_told_to_all() -> None:
    for index in range(WORKERS):
        worker, recorder = managed(index)
        asked(worker, ("prepare", Change(0, removed=(OLD.identity,))), ("commit",))
        assert recorder.told == [("stop", "connector/127.0.0.1:5673:b")]
        assert OLD not in worker.configuration.entities


def test_what_was_given_up_is_not_begun() -> None:
    worker, recorder = managed(owner_of(NEW.identity, WORKERS))
    asked(worker, ("prepare", Change(0, added=(NEW,))), ("give_up",))
    with pytest.raises(StaleConfiguration):
        asked(worker, ("commit",))
    assert recorder.told == []


def test_a_connector_that_does_not_fit_the_router_is_refused() -> None:
    worker, recorder = managed(0, TEXT.replace("interior", "edge").replace("inter-router", "edge"))
    with pytest.raises(ChangeRefused, match="only allowed with router mode='interior'"):
        asked(worker, ("prepare", Change(0, added=(NEW,))))
    assert recorder.told == []


def test_a_worker_that_was_behind_stops_what_is_replaced_before_it_begins() -> None:
    worker, recorder = managed(owner_of(OLD.identity, WORKERS))
    asked(worker, ("configure", entities(TEXT.replace("role: inter", "cost: 2\n    role: inter"), version=3)))
    assert recorder.told == [("stop", OLD.identity), ("connect", "127.0.0.1:5673")]
    assert worker.configuration.version == 3
    asked(worker, ("configure", entities(TEXT, version=2)))
    assert len(recorder.told) == 2


def test_connectors_are_asked_for_where_they_are() -> None:
    worker, recorder = managed(owner_of(OLD.identity, WORKERS))
    assert asked(worker, ("connectors",)) == [State(OLD.identity)]
    assert recorder.told == []
