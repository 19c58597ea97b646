"""What Ray makes actors of: the plain classes, with what each needs of Ray.

Ray calls these constructors in the event loop, at each start of a process, on whichever node that is. The other actors
are looked up by name anew.
"""

import asyncio
import itertools
import os
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

import ray

from actors.address_table import AddressTableActor
from actors.connection import ConnectionActor
from actors.management import ManagementActor
from actors.plan import ENGINE, MANAGEMENT, TABLE, actor_name, connection_role
from actors.process import ProcessConfig, leave_folder
from actors.ray_internals import restarts_of_this_actor
from actors.remote import (
    ManagedMember,
    RemoteEngine,
    RemoteManagement,
    RemoteMember,
    RemoteNetworkMember,
    RemoteTable,
)
from actors.restart_counts import RestartCounts
from actors.routing_engine import RoutingEngineActor
from routerd.core import RouterSettings
from routerd.io import Node, WorkerConfig
from routerd.management import Configuration, LogRow

T = TypeVar("T")

# Not described to type checkers.
_ray_util: Any = ray.util


def this_node(process: ProcessConfig) -> Node:
    """Return the node of this process, which may be another one than the launcher's."""
    node = ray.get_runtime_context().get_node_id()
    return Node(node, _ray_util.get_node_ip_address(), is_away=process.at(node).is_away)


def here(process: ProcessConfig) -> ProcessConfig:
    """Return what a process of this node is made with."""
    return process.at(ray.get_runtime_context().get_node_id())


class Hosted:
    """What every actor can be asked."""

    _process: ProcessConfig
    _restarts: int

    async def restarts(self) -> int:
        """Return how often Ray has started this actor again, on any node."""
        return self._restarts

    async def pid(self) -> int:
        """Return the number of the process."""
        return os.getpid()

    async def stay(self) -> None:
        """Never return: the call fails when the process ends."""
        await asyncio.Event().wait()

    async def leave_nothing(self, is_without_launcher: bool) -> None:
        """Remove what it has in its folder; this process is about to be ended."""
        leave_folder(self._process, is_without_launcher=is_without_launcher)


def _each(remote: Callable[[str, str], T], router_id: str, workers: Iterable[int], namespace: str) -> dict[int, T]:
    """Return the connection actors of a router by the numbers of their workers."""
    return {worker: remote(actor_name(router_id, connection_role(worker)), namespace) for worker in workers}


class RouterTable(Hosted, AddressTableActor):
    """The address table as an actor."""

    def __init__(
        self,
        process: ProcessConfig,
        workers: tuple[int, ...],
        namespace: str,
        has_network: bool,
        max_connections: int,
    ) -> None:
        members = _each(RemoteMember, process.router_id, workers, namespace)
        engine = RemoteEngine(actor_name(process.router_id, ENGINE), namespace)
        self._restarts = restarts_of_this_actor()
        AddressTableActor.__init__(
            self,
            process.number_of(self._restarts),
            here(process),
            members,
            engine,
            is_restart=self._restarts > 0,
            has_network=has_network,
            max_connections=max_connections,
        )
        self.begin()


class RouterEngine(Hosted, RoutingEngineActor):
    """The routing engine as an actor."""

    def __init__(
        self,
        router: RouterSettings,
        configuration: Configuration,
        started_at: float,
        process: ProcessConfig,
        workers: tuple[int, ...],
        namespace: str,
    ) -> None:
        table = RemoteTable(actor_name(process.router_id, TABLE), namespace)
        members = _each(RemoteNetworkMember, process.router_id, workers, namespace)
        self._restarts = restarts_of_this_actor()
        RoutingEngineActor.__init__(
            self,
            router,
            started_at,
            here(process),
            table,
            configuration,
            members,
            now=time.time,
            monotonic=time.monotonic,
            epoch=process.number_of(self._restarts),
        )
        self.begin()


class RouterConnection(Hosted, ConnectionActor):
    """A connection actor as such."""

    def __init__(
        self, config: WorkerConfig, configuration: Configuration, process: ProcessConfig, namespace: str
    ) -> None:
        table = RemoteTable(actor_name(process.router_id, TABLE), namespace)
        management = RemoteManagement(actor_name(process.router_id, MANAGEMENT), namespace)
        engine = RemoteEngine(actor_name(process.router_id, ENGINE), namespace)
        self._restarts, node, process = restarts_of_this_actor(), this_node(process), here(process)
        numbers = itertools.count(process.number_of(self._restarts))
        fabric_folder = None if config.fabric_folder is None else process.folder
        ConnectionActor.__init__(
            self,
            replace(config, restarts=self._restarts, node=node, fabric_folder=fabric_folder),
            process,
            table,
            management,
            engine,
            configuration,
            new_incarnation=lambda: next(numbers),
            leave=lambda: os._exit(os.EX_TEMPFAIL),
        )
        self.begin()


class RouterManagement(Hosted, ManagementActor):
    """The management actor as such."""

    def __init__(
        self,
        router: RouterSettings,
        configuration: Configuration,
        started_at: float,
        process: ProcessConfig,
        workers: tuple[int, ...],
        namespace: str,
        launcher_lines: list[LogRow],
    ) -> None:
        members = _each(ManagedMember, process.router_id, workers, namespace)
        configuration_copy = ManagedMember(actor_name(process.router_id, ENGINE), namespace)
        engine = RemoteEngine(actor_name(process.router_id, ENGINE), namespace)
        self._restarts = restarts_of_this_actor()
        others = {TABLE: RemoteTable(actor_name(process.router_id, TABLE), namespace), ENGINE: engine}
        ManagementActor.__init__(
            self,
            router,
            configuration,
            started_at,
            here(process),
            members,
            configuration_copy,
            engine,
            RestartCounts(self._restarts, others),
            launcher_lines,
            now=time.time,
        )
        self.begin()
