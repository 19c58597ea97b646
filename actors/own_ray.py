"""A Ray of the router's own, no bigger than its actors need, which ends with the launcher however that ends.

The kernel ends Ray's servers with the process that started them, and the actors with these. A shell, the guard, waits
for the end of the launcher: it ends what may be left, and removes what the launcher would have removed.

The head of Ray, the GCS, keeps its state in files. When it has died, the launcher starts it again, and it reads these.
The actors run on, and those that have died meanwhile are started.
"""

import os
import secrets
import shutil
import subprocess
import sysconfig
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from actors.cluster import RAYLET_ENDED, enter_ray, leave_ray
from actors.errors import NoRoom
from actors.processes import kill
from actors.ray_internals import HeadNode, has_token, read_settings_again, read_token_again
from actors.worker_process import shortage_in
from routerd.io import module_log

SETTINGS = {
    # Forwarding needs no Ray: servers and actors stay without its head.
    "gcs_rpc_server_reconnect_timeout_s": "86400",
    # The actors are what this Ray is for: not slower than others, and not the first to go when memory is short.
    "worker_niceness": "0",
    "worker_oom_score_adjustment": "0",
    "memory_monitor_refresh_ms": "0",
    "kill_worker_timeout_milliseconds": "500",
    "timeout_ms_task_wait_for_death_info": "100",
    # Nobody looks at any of this.
    "enable_metrics_collection": "false",
    "enable_open_telemetry": "false",
    "enable_timeline": "false",
    "event_stats": "false",
    "task_events_report_interval_ms": "0",
    "debug_dump_period_milliseconds": "0",
    # Files make Ray wait for its head for two minutes.
    "gcs_server_port_wait_time_s": "60",
    # There is one node, with a handful of actors that come once.
    "raylet_report_resources_period_milliseconds": "1000",
    "raylet_check_gc_period_milliseconds": "1000",
    "gcs_pull_resource_loads_period_milliseconds": "5000",
    "local_fs_monitor_interval_ms": "5000",
    "object_manager_timer_freq_ms": "5000",
    "kill_idle_workers_interval_ms": "1000",
    "io_context_monitor_probe_interval_ms": "10000",
    "io_context_event_loop_lag_collection_interval_ms": "10000",
}
"""Ray's own settings. Each can be given another value in the environment, as RAY_ and its name."""
NEEDED_BYTES = 32 << 20
"""For the files of the head, and the logs of Ray. Without room, its servers end without a word."""
QUIET_TIMERS = Path(__file__).with_name(f"quiet_timers{sysconfig.get_config_var('EXT_SUFFIX')}")
"""Is there where the router is compiled; else Ray's processes wake up more often."""
PRELOAD = "LD_PRELOAD"
AUTH_MODE, TOKEN_PATH = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH"
STORAGE, STORAGE_PATH = "RAY_gcs_storage", "RAY_gcs_storage_path"
IN_FILES, IN_MEMORY = "rocksdb", "memory"
AGAIN_S, AGAIN_MAX_S = 1.0, 30.0
"""How soon after its start the head may be started again, the first time; each time twice as long, up to the latter."""
STEADY_S = 60.0
"""Once the head has run for so long, its next death counts as the first."""
_KILL = 'while read -r pid; do set -- "$@" "$pid"; done; kill -KILL "$@" 2>/dev/null'
"""Each line that comes is one more process to end."""
_REMOVE_FOLDER = 'rm -rf -- "$0" 2>/dev/null || { sleep 1; rm -rf -- "$0"; }'
"""An actor that is about to end may put a file there meanwhile."""
_CLEAR_FOLDER = 'sleep 1; rm -rf -- "$0/ray" "$0/log" "$0"/*.pulse "$0"/[0-9]*'

_log = module_log("ROUTER")


class OwnRay:
    """A Ray of one node. To be started in the main thread: that is the one whose end the kernel waits for."""

    ends_with_us = True

    def __init__(self, folder: str, *, is_private: bool = False, uses_tricks: bool = True) -> None:
        """`is_private` says that all of the folder is to be removed after this process has been killed.

        Without tricks its processes are those that Ray itself starts, agents included.
        """
        self._routers_folder = folder
        self._remove = _REMOVE_FOLDER if is_private else _CLEAR_FOLDER
        self._folder = f"{folder}/ray"
        self._uses_tricks = uses_tricks
        self._node = HeadNode(self._folder, is_lean=uses_tricks)
        self._guard: subprocess.Popen[bytes] | None = None
        self._environment: dict[str, str] = {}
        self._head_started_at = 0.0
        self._again_s = AGAIN_S
        self._lock = threading.Lock()
        """Nothing is started once all of it is about to end."""
        self._is_over = False

    def start(self, namespace: str) -> None:
        """Start it, and become its driver. Raises NoRoom."""
        shortage = shortage_in(self._routers_folder, NEEDED_BYTES)
        if shortage is not None:
            raise NoRoom(shortage)
        os.makedirs(self._folder, mode=0o700)
        self._configure()
        with quiet_timers() if self._uses_tricks else nullcontext():
            # Its workers have the environment of its servers.
            self._node.start()
        self._head_started_at = time.monotonic()
        self._start_guard()
        enter_ray(self._node.address, namespace)

    def failure(self) -> str | None:
        """Return why there is no Ray any more, if so. Forwarding can do without its head, the GCS."""
        return None if self._node.has_raylet() else RAYLET_ENDED

    def has_head(self) -> bool:
        """Return whether the head runs; start it again if it does not."""
        with self._lock:
            # Without its files it would know of no actor.
            if not self._node.has_head() and not self._is_over and os.environ.get(STORAGE) != IN_MEMORY:
                self._start_head_again()
            return self._node.has_head()

    def _start_head_again(self) -> None:
        now = time.monotonic()
        if now - self._head_started_at >= STEADY_S:
            self._again_s = AGAIN_S
        if now - self._head_started_at < self._again_s:
            return
        self._again_s = min(2 * self._again_s, AGAIN_MAX_S)
        self._head_started_at = now
        _log.warning("Ray's head has ended, and is started again")
        process = self._node.start_head_again()
        if process is not None:
            self._guard_too(process.pid)

    def folder(self) -> str:
        """Return where its processes write."""
        return self._folder

    def stop(self) -> None:
        """End every process of it, of those that a start has come to."""
        with self._lock:
            self._is_over = True
        started = self._node.processes()
        # Without a raylet, Ray ends the process that takes its leave.
        if self._node.has_raylet():
            leave_ray()
        self._node.stop()
        for process in started:
            kill(process)
        for variable in self._environment:
            os.environ.pop(variable, None)
        shutil.rmtree(self._folder, ignore_errors=True)
        # The last: until now it would have done what has been done.
        if self._guard is not None:
            self._guard.kill()
            self._guard.communicate()

    def _configure(self) -> None:
        """Put the settings and the token where all processes of this Ray find them."""
        settings = {f"RAY_{name}": value for name, value in SETTINGS.items()} | {
            AUTH_MODE: "token",
            STORAGE: IN_FILES,
            STORAGE_PATH: f"{self._folder}/gcs",
        }
        self._environment = {name: value for name, value in settings.items() if name not in os.environ}
        os.environ.update(self._environment)
        read_settings_again()
        if os.environ[AUTH_MODE].lower() == "token" and not has_token():
            # Ray would write one into the home folder, which a daemon may not have.
            path = f"{self._folder}/token"
            with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
                file.write(secrets.token_hex(32))
            self._environment[TOKEN_PATH] = os.environ[TOKEN_PATH] = path
            read_token_again()

    def _guard_too(self, pid: int) -> None:
        """Have the guard end one more process."""
        if self._guard is not None and self._guard.stdin is not None:
            # It may have been ended.
            with suppress(BrokenPipeError):
                self._guard.stdin.write(b"%d\n" % pid)
                self._guard.stdin.flush()

    def _start_guard(self) -> None:
        pids = [str(process.pid) for process in self._node.processes()]
        command = ["/bin/sh", "-c", f"{_KILL}; {self._remove}", self._routers_folder, *pids]
        # A new session: the guard must not get signals for the launcher's terminal or process group.
        self._guard = subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True)


@contextmanager
def quiet_timers() -> Iterator[None]:
    """Preload into the processes that are started meanwhile what lets workers rest."""
    before = os.environ.get(PRELOAD)
    library = str(QUIET_TIMERS)
    # In a list of libraries there is no way to write these.
    is_usable = QUIET_TIMERS.is_file() and not any(letter.isspace() or letter == ":" for letter in library)
    if is_usable:
        os.environ[PRELOAD] = f"{before} {library}" if before else library
    try:
        yield
    finally:
        if before is not None:
            os.environ[PRELOAD] = before
        elif is_usable:
            del os.environ[PRELOAD]
