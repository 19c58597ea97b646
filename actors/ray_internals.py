"""What is used of Ray besides its public interface, each for a reason; the version of Ray is pinned for it.

A head node: besides two servers, `ray.init` and `ray start` start a dashboard, an autoscaler, a log monitor and two
agents. These cost 240 MB and some seconds of start-up time. The class that both use can leave them out; how the agents
are left out, `agents` says. A driver: it prints what happens to actors to our standard output, from a thread
that takes a whole core once the head is gone. Addresses and tokens: Ray tries for minutes to reach what does not answer
or refuses. Restarts: Ray tells an actor that it is not the first, but not how many there were before.
"""

import logging
import os
import socket
import struct
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ray
import ray._private.worker as ray_worker
from ray import _raylet
from ray._private import services, state
from ray._private.authentication.authentication_token_setup import maybe_enable_token_auth_if_token_available
from ray._private.node import Node
from ray._private.parameter import RayParams
from ray._private.services import canonicalize_bootstrap_address
from ray.exceptions import AuthenticationError

from actors.agents import hold, is_placeholder, without_agent
from actors.processes import Process, condition, descendants, kill

LOOPBACK = "127.0.0.1"
OBJECT_STORE_BYTES = 80 * 1024 * 1024
"""The least memory that Ray takes. We put nothing there."""
AGENTS = 2
AGENTS_S = 5.0
"""The longest time until the placeholders of the agents run."""
LOOK_AGAIN_S = 0.01
NO_PORT = 1
"""The address for the agents, whose ports the raylet waits for. Nobody connects there."""
GCS, RAYLET = "gcs_server", "raylet"
"""Ray's names of its two servers."""

# Type checkers have no description of these.
_raylet_names: Any = _raylet
_worker_names: Any = ray_worker
_service_names: Any = services
_state_names: Any = state

_AGENT_PORTS = (
    _raylet_names.DASHBOARD_AGENT_LISTEN_PORT_NAME,
    _raylet_names.METRICS_AGENT_PORT_NAME,
    _raylet_names.METRICS_EXPORT_PORT_NAME,
    _raylet_names.RUNTIME_ENV_AGENT_PORT_NAME,
)


class HeadNode(Node):
    """A node of the router's own Ray. It has only what the actors need, and only this host can reach it.

    The kernel ends its servers when the thread that started them ends.
    """

    def __init__(self, folder: str, *, is_lean: bool = True) -> None:
        """A node that is not lean has the agents, and starts its workers by a script of Ray."""
        self._is_lean = is_lean
        self.all_processes: dict[str, list[Any]] = {}
        self._held: list[int] = []
        """The processes that the raylet takes for its agents, see `agents`."""
        parameters: Any = RayParams(
            num_cpus=1,
            num_gpus=0,
            object_store_memory=OBJECT_STORE_BYTES,
            node_ip_address=LOOPBACK,
            dashboard_host=LOOPBACK,
            dashboard_agent_listen_port=0,
            temp_dir=folder,
            # It is a part of the names of sockets, which have to be short.
            session_name="s",
            include_dashboard=False,
            no_monitor=True,
        )
        if is_lean:
            parameters.setup_worker_path = str(Path(__file__).with_name("worker_process.py"))
        parameters.include_log_monitor = False
        self._parameters = parameters

    def start(self) -> None:
        """Start its processes."""
        super().__init__(self._parameters, head=True, shutdown_at_exit=False, spawn_reaper=True)
        # Otherwise `ray.init` would take the loopback address for that of another interface.
        _worker_names._global_node = self

    def start_api_server(self, *, include_dashboard: bool | None, raise_on_failure: bool) -> None:
        """Leave the dashboard out."""
        self._webui_url = ""

    def start_raylet(self, *arguments: Any, **named: Any) -> None:
        """Start the raylet, without its agents if the node is lean."""
        if not self._is_lean:
            super().start_raylet(*arguments, **named)
            return
        for name in _AGENT_PORTS:
            _raylet_names.persist_port(self._session_dir, self._node_id, name, NO_PORT)
        start_process = _service_names.start_ray_process
        _service_names.start_ray_process = lambda command, *more, **options: start_process(
            [without_agent(argument) for argument in command], *more, **options
        )
        try:
            super().start_raylet(*arguments, **named)
        finally:
            _service_names.start_ray_process = start_process
        self._end_placeholders()

    def _end_placeholders(self) -> None:
        """Hold open what the raylet takes for its agents; then the placeholders are not needed."""
        until = time.monotonic() + AGENTS_S
        while len(found := self._placeholders()) < AGENTS and time.monotonic() < until:
            time.sleep(LOOK_AGAIN_S)
        for placeholder in found:
            held = hold(placeholder.pid)
            self._held += held
            if held:
                kill(placeholder)

    def _placeholders(self) -> list[Process]:
        raylets = [info.process.pid for info in self.all_processes.get(RAYLET, ())]
        return [one for pid in raylets for one in descendants(pid) if is_placeholder(one.pid)]

    def processes(self) -> list[Process]:
        """Return the processes that were started so far, and those that they started."""
        pids = [info.process.pid for infos in self.all_processes.values() for info in infos]
        own = [found.process for found in map(condition, pids) if found is not None]
        return own + [process for pid in pids for process in descendants(pid)]

    def has_raylet(self) -> bool:
        """Return whether the server that starts and ends actors runs."""
        return self._runs(RAYLET)

    def has_head(self) -> bool:
        """Return whether the server runs that decides where actors start, the GCS."""
        return self._runs(GCS)

    def start_head_again(self) -> Process | None:
        """Start the GCS again, with its knowledge from its folder; return its process, unless that has ended."""
        del self.all_processes[GCS]
        self._gcs_address = self._gcs_client = None
        super().start_gcs_server()  # type: ignore[no-untyped-call]
        found = condition(self.all_processes[GCS][0].process.pid)
        return None if found is None else found.process

    def stop(self) -> None:
        """End its processes."""
        if self.all_processes:
            self.kill_all_processes(check_alive=False, allow_graceful=False, wait=True)
        while self._held:
            os.close(self._held.pop())

    def _runs(self, server: str) -> bool:
        return any(info.process.poll() is None for info in self.all_processes.get(server, ()))


def read_settings_again() -> None:
    """Make Ray read its settings from the present environment."""
    _raylet_names.Config.initialize("")


def has_token() -> bool:
    """Return whether Ray finds a token."""
    return bool(_raylet_names.AuthenticationTokenLoader.instance().has_token(ignore_auth_mode=True))


def token_files(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Return the places where Ray looks for a token file."""
    named = environment.get("RAY_AUTH_TOKEN_PATH")
    return (os.path.expanduser("~/.ray/auth_token"), *([named] if named else []))


def read_token_again() -> None:
    """Make Ray look for a token where the present environment says."""
    _raylet_names.AuthenticationTokenLoader.instance().reset_cache()


def use_token() -> bool:
    """Use the token, unless the environment says that none is used; return whether one is used."""
    logging.getLogger(maybe_enable_token_auth_if_token_available.__module__).setLevel(logging.ERROR)
    return bool(maybe_enable_token_auth_if_token_available(warn_if_disabled=False))


def resolved(address: str) -> str | None:
    """Return host and port of a Ray's head, that of this host for `auto`; None without one."""
    return canonicalize_bootstrap_address(address)


def is_let_in(address: str) -> bool:
    """Return whether a Ray accepts us, with a token or without."""
    try:
        with _nothing_on_stderr():
            _raylet_names.GcsClient(address=address)
    except AuthenticationError:
        return False
    return True


def restarts_of_this_actor() -> int:
    """Return the number of Ray's restarts of this actor, on any node."""
    found = _state_names.actors(actor_id=ray.get_runtime_context().get_actor_id())
    return int(found["NumRestarts"])


def session_folder() -> str:
    """Return the folder of the session of this driver's Ray."""
    return str(_worker_names.global_worker.node.get_session_dir_path())


def local_raylet() -> Process | None:
    """Return the raylet of this host that this driver is at; None if it cannot be found."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
        asked.connect(_worker_names.global_worker.node.raylet_socket_name)
        pid, _, _ = struct.unpack("3i", asked.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    found = condition(pid)
    return None if found is None else found.process


def be_quiet() -> None:
    """Keep this driver from printing, and from asking the head before it may end."""
    _worker_names.print_to_stdstream = _print_nothing
    _worker_names.global_worker.threads_stopped.set()
    sys.excepthook = sys.__excepthook__


@contextmanager
def _nothing_on_stderr() -> Iterator[None]:
    """Keep code other than Python from writing to standard error texts that we report anyway."""
    kept = os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(null)


def _print_nothing(*arguments: Any, **named: Any) -> None:
    pass
