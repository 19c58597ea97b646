"""A router on Ray, from its start to its end. Only here do classes become Ray actors."""

import contextlib
import os
import secrets
import signal
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import ActorUnavailableError, GetTimeoutError, RayError, RayTaskError
from ray.util import list_named_actors
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from actors.cluster import Cluster, JoinedRay
from actors.errors import AuthorityUnavailable, RouterExists, RouterLost
from actors.fabric_authority import keys_for, token_for
from actors.hosted import RouterConnection, RouterEngine, RouterManagement, RouterTable
from actors.lifelines import Lifelines
from actors.outage import Outage
from actors.own_ray import OwnRay
from actors.plan import ENGINE, MANAGEMENT, TABLE, Place, actor_name, connection_role, is_connection, places, worker_of
from actors.process import ProcessConfig, clear
from actors.worker_process import shortage_of
from routerd.config import RouterConfig
from routerd.core import RouterMode
from routerd.io import FabricKeys, WorkerConfig, configuration_of, module_log, own_log_rows

READY_S = 150.0
"""The time for all actors to start. Ray replaces a process that has not begun after 60 s, and the next must fit in."""
AGAIN_S = 0.1
DRAIN_S = 2.0
"""The time that a drain may take beyond its grace."""
CLOSE_S = 32.0
"""The time that connections may take to close: more than a worker gets to write its records."""
LOOK_S = 1.0
"""The interval of checks of Ray itself."""
CLEAR_S = 1.0
"""The time for actors on other nodes to remove their files there."""
AWAY_FOLDER = "/tmp/routerd-"
"""The folder on other nodes, whatever folder the launcher has. A name that nobody can guess follows."""
ACTOR_OPTIONS = {
    "num_cpus": 0,
    # Ray ignores the chosen place of an actor that asks for no resources.
    "memory": 1,
    "max_restarts": -1,
    "max_task_retries": 0,
    "enable_task_events": False,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RouterOptions:
    """The options of a router."""

    connection_actors: int
    """The number of actors that share the listeners."""
    ray_address: str | None
    """The Ray to join; None for the router's own one."""
    ray_namespace: str
    placement: str
    """`spread` or `pack`: the nodes of the Ray that get the connection actors."""
    folder: str
    """The folder for sockets and pulses; only for this router."""
    is_folder_private: bool = False
    """Whether the folder is removed with the router, however the router ends."""
    busy_poll_s: float = 200e-6
    """The time that a connection actor looks for more work before it sleeps."""
    keeps_core: bool = True
    """Whether a busy connection actor keeps to one core."""
    uses_tricks: bool = True
    """Whether processes of the router may use platform tricks."""
    log_socket: str | None = None
    logs_as_json: bool = False
    is_detached: bool = False
    """The router goes on when this process ends."""


_log = module_log("ROUTER")
# Type checkers have no description of these.
_untyped_ray: Any = ray

_Table: Any = ray.remote(RouterTable)
_Engine: Any = ray.remote(RouterEngine)
_Connection: Any = ray.remote(RouterConnection)
_Management: Any = ray.remote(RouterManagement)


class Router:
    """One router: its actors, and the Ray they run on."""

    def __init__(self, config: RouterConfig, options: RouterOptions) -> None:
        self._config = config
        self._options = options
        self._configuration = configuration_of(config)
        self._started_at = time.time()
        self._began_ns = time.time_ns()
        self._directory = _working_directory()
        self._away_folder = f"{AWAY_FOLDER}{secrets.token_hex(8)}"
        self._keys: dict[int, FabricKeys] = {}
        self._nodes = [""]
        """The nodes at the start of the router, the launcher's first."""
        self._cluster: Cluster | None = None
        self._actors: dict[str, Any] = {}
        self._outage = Outage([])
        self._lifelines = Lifelines(self._actors, lambda: self._outage.has_head)

    def start(self) -> list[str]:
        """Return the addresses once everything listens. It is called in the main thread.

        Raises ListenFailed, JoinFailed, RouterExists.
        """
        options = self._options
        self._cluster = (
            JoinedRay(options.ray_address)
            if options.ray_address
            else OwnRay(options.folder, is_private=options.is_folder_private, uses_tricks=options.uses_tricks)
        )
        try:
            with _own_sigterm():
                self._cluster.start(options.ray_namespace)
            layout = places(self._config.listeners, self._config.connectors, options.connection_actors)
            self._nodes = _nodes()
            self._keys = self._make_keys(layout)
            self._create(layout)
            listening = self._ready()
            # Clients that only send and receive do not need these, so nobody waits for them.
            self._create_others(layout)
        except BaseException:
            self.stop()
            raise
        self._outage = Outage(self._actors)
        self._lifelines.hold()
        return listening

    def wait(self) -> None:
        """Return once the router has been stopped; raises RouterLost if it has ended by itself."""
        while self._lifelines.listen(LOOK_S):
            cluster = self._cluster
            if cluster is None:
                continue
            failure = cluster.failure()
            if failure is not None:
                raise RouterLost(f"Ray is gone: {failure}")
            away = self._lifelines.away
            shortage = shortage_of({self._options.folder, cluster.folder()}) if away else None
            self._outage.see(away, has_head=cluster.has_head(), now=time.monotonic(), shortage=shortage)

    def drain(self, grace_s: float) -> None:
        """End in order: return once all deliveries are settled and all connections closed, or the time is over."""
        _drain(self._actors, grace_s)
        self.stop()

    def stop(self) -> None:
        """End at once. Any thread may call this, and again."""
        self._lifelines.let_go()
        cluster, self._cluster = self._cluster, None
        if cluster is not None:
            if not cluster.ends_with_us and cluster.failure() is None:
                _kill(self._actors)
            cluster.stop()
            clear(self._options.folder)

    def _make_keys(self, layout: tuple[Place, ...]) -> dict[int, FabricKeys]:
        """Return the keys by which workers know each other; without certificates none can be on another node."""
        workers = [place.worker for place in layout]
        if len(workers) == 1:
            return {}
        if self._options.ray_address is None:
            return token_for(workers)
        try:
            return keys_for(workers)
        except AuthorityUnavailable as failure:
            _log.warning("All connection actors stay on this host: %s", failure)
            return token_for(workers)

    def _create(self, layout: tuple[Place, ...]) -> None:
        """Create the actors that messages pass. The first, the table, has a name that no other router may have."""
        workers = tuple(place.worker for place in layout)
        namespace = self._options.ray_namespace
        connections = tuple(map(connection_role, workers))
        has_network = self._config.router.mode is RouterMode.INTERIOR
        table = self._process(TABLE, ENGINE, MANAGEMENT, *connections)
        connections_max = self._config.policy.max_connections
        self._start(TABLE, _Table, table, workers, namespace, has_network, connections_max)
        for place in layout:
            role = connection_role(place.worker)
            config = self._worker_config(place, len(layout))
            self._start(role, _Connection, config, self._configuration, self._process(role, TABLE), namespace)

    def _create_others(self, layout: tuple[Place, ...]) -> None:
        """Create the actors that no message waits for: neighbours are reached later than clients anyway."""
        workers = tuple(place.worker for place in layout)
        about = (self._config.router, self._configuration, self._started_at)
        where = (workers, self._options.ray_namespace)
        self._start(ENGINE, _Engine, *about, self._process(ENGINE, TABLE), *where)
        self._start(MANAGEMENT, _Management, *about, self._process(MANAGEMENT, TABLE), *where, own_log_rows())

    def _start(self, role: str, actor: Any, *arguments: Any) -> None:
        options = self._options
        # Without certificates it could not be reached from elsewhere.
        may_leave = not is_connection(role) or all(keys.authority for keys in self._keys.values())
        node = self._node_for(role) if may_leave else self._nodes[0]
        try:
            self._actors[role] = actor.options(
                **ACTOR_OPTIONS,
                name=actor_name(self._config.router.id, role),
                lifetime="detached" if options.is_detached else None,
                scheduling_strategy=NodeAffinitySchedulingStrategy(node, soft=may_leave),
            ).remote(*arguments)
        except ValueError as error:
            raise RouterExists(self._config.router.id, options.ray_namespace) from error

    def _node_for(self, role: str) -> str:
        """Return the node that an actor belongs on: Ray starts it again there, or elsewhere when there is no such node.

        By Ray's own strategy of spreading it could come back on another node, and nobody listen where it has been.
        """
        is_spread = is_connection(role) and self._options.placement == "spread"
        return self._nodes[worker_of(role) % len(self._nodes)] if is_spread else self._nodes[0]

    def _process(self, role: str, *watched: str) -> ProcessConfig:
        return ProcessConfig(
            router_id=self._config.router.id,
            role=role,
            folder=self._options.folder,
            directory=self._directory,
            watched=watched,
            logs=self._config.logs,
            logs_as_json=self._options.logs_as_json,
            log_socket=self._options.log_socket,
            home=self._nodes[0],
            away_folder=self._away_folder,
            began_ns=self._began_ns,
            uses_tricks=self._options.uses_tricks,
        )

    def _worker_config(self, place: Place, workers: int) -> WorkerConfig:
        return WorkerConfig(
            router=self._config.router,
            listeners=place.listeners,
            connectors=place.connectors,
            ssl_profiles=self._config.ssl_profiles,
            record=self._config.record,
            others=self._config.others,
            policy=self._config.policy,
            vhosts=self._config.vhosts,
            index=place.worker,
            workers=workers,
            dedicated_workers=workers - self._options.connection_actors,
            fabric_folder=None if workers == 1 else self._options.folder,
            fabric_keys=self._keys.get(place.worker),
            logs=self._config.logs,
            busy_poll_s=self._options.busy_poll_s,
            keeps_core=self._options.keeps_core,
        )

    def _ready(self) -> list[str]:
        until = time.monotonic() + READY_S
        first = {role: actor.ready.remote() for role, actor in self._actors.items()}
        texts = [self._answer(role, answer, until) for role, answer in first.items()]
        # Actors that share listeners report the same.
        return list(dict.fromkeys(text for listening in texts if listening is not None for text in listening))

    def _answer(self, role: str, answer: Any, until: float) -> list[str] | None:
        """Wait for an actor to be ready, even if it has to be started again."""
        while True:
            try:
                ready: list[str] | None = ray.get(answer, timeout=max(0.0, until - time.monotonic()))
                return ready
            except RayTaskError as error:
                raise error.cause from None
            except GetTimeoutError:
                raise RouterLost(f"actor {role} was not ready after {READY_S:g} s") from None
            except ActorUnavailableError:
                time.sleep(AGAIN_S)
                answer = self._actors[role].ready.remote()
            except RayError as error:
                raise RouterLost(f"actor {role} could not be started: {' '.join(str(error).split())}") from error


def stop_router(router_id: str, *, ray_address: str, ray_namespace: str, grace_s: float) -> bool:
    """End a router that was left running in a Ray; return whether there was one. Raises JoinFailed."""
    cluster = JoinedRay(ray_address)
    cluster.start(ray_namespace)
    try:
        actors = _actors_of(router_id, ray_namespace)
        folder = _folder_of(actors)
        _drain(actors, grace_s)
        _kill(actors, is_without_launcher=True)
        if folder is not None:
            clear(folder)
            # The launcher has made it, and left it for the actors.
            with contextlib.suppress(OSError):
                os.rmdir(folder)
        return bool(actors)
    finally:
        cluster.stop()


@contextlib.contextmanager
def _own_sigterm() -> Iterator[None]:
    """Set the handler of SIGTERM again afterwards: that of Ray prints a trace, and exits with the signal's number."""
    handler = signal.getsignal(signal.SIGTERM)
    try:
        yield
    except SystemExit:
        # The signal came in the middle of Ray's start. Half started, Ray cannot be stopped; it ends with this process.
        os._exit(0)
    if handler is not None:
        signal.signal(signal.SIGTERM, handler)


def _working_directory() -> str:
    """Return the working directory; nothing if it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def _nodes() -> list[str]:
    """Return the nodes of the Ray, this one first."""
    here: str = ray.get_runtime_context().get_node_id()
    others = [(node["NodeManagerAddress"], node["NodeID"]) for node in _untyped_ray.nodes() if node["Alive"]]
    return [here, *(node for _, node in sorted(others) if node != here)]


def _actors_of(router_id: str, namespace: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    prefix = actor_name(router_id, "")
    for name in list_named_actors():
        role = name.removeprefix(prefix)
        if name.startswith(prefix) and (role in (TABLE, ENGINE, MANAGEMENT) or is_connection(role)):
            # It may end meanwhile.
            with contextlib.suppress(ValueError):
                found[role] = ray.get_actor(name, namespace)
    return found


def _folder_of(actors: Mapping[str, Any]) -> str | None:
    """Return the folder of a router, if its table tells it."""
    with contextlib.suppress(KeyError, RayError):
        return str(ray.get(actors[TABLE].describe.remote(), timeout=LOOK_S)["folder"])
    return None


def _drain(actors: Mapping[str, Any], grace_s: float) -> None:
    workers = [actor for role, actor in actors.items() if is_connection(role)]
    if workers:
        # The answers do not matter: an actor that has just ended has no connections to close.
        drained = [actor.drain.remote(grace_s) for actor in workers]
        ray.wait(drained, num_returns=len(drained), timeout=grace_s + DRAIN_S)
        left = [actor.take_leave.remote() for actor in workers]
        ray.wait(left, num_returns=len(left), timeout=CLOSE_S)


def _kill(actors: Mapping[str, Any], *, is_without_launcher: bool = False) -> None:
    cleared = [actor.leave_nothing.remote(is_without_launcher) for actor in actors.values()]
    if cleared:
        ray.wait(cleared, num_returns=len(cleared), timeout=CLEAR_S)
    for actor in actors.values():
        with contextlib.suppress(RayError):
            ray.kill(actor)
