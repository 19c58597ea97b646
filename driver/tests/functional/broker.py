"""A RabbitMQ with its AMQP 1.0 plugin, for as long as it is needed: its own node, folders and ports.

`python -m tests.functional.broker` starts one, prints its port as a line, and ends it with its own input; it uses the
standard library alone. Both AMQP 0-9-1 and 1.0 are spoken at that port, to the user guest with the password guest.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from examples.routers import free_ports

READY_WITHIN_S = 90.0
END_WITHIN_S = 20.0
USER = "guest:guest"
_LIBRARY = Path("/usr/lib/rabbitmq/lib")
_PLUGIN = "rabbitmq_amqp1_0"
_POLL_S = 0.1
_CONFIGURATION = """\
listeners.tcp.1 = 127.0.0.1:{port}
amqp1_0.default_user = guest
log.console = true
log.file = false
"""


class BrokerFailed(Exception):
    """It did not start; the message has the end of what it said."""


def _installed() -> Path | None:
    """Return the folder of RabbitMQ's own commands, which do not become another user."""
    found = sorted(_LIBRARY.glob("rabbitmq_server-*/sbin/rabbitmq-server"))
    return found[-1].parent if found else None


def why_no_broker() -> str | None:
    """Return why no broker can be started here, if it cannot."""
    commands = _installed()
    if commands is None:
        return f"no RabbitMQ in {_LIBRARY}: Debian's package rabbitmq-server brings it"
    if not list((commands.parent / "plugins").glob(f"{_PLUGIN}-*")):
        return f"this RabbitMQ has no plugin {_PLUGIN}"
    return None if shutil.which("epmd") else "no epmd, which Erlang's nodes find each other with"


class Broker:
    """The broker, from when clients can connect."""

    def __init__(self) -> None:
        if reason := why_no_broker():
            raise BrokerFailed(reason)
        self._folder = Path(tempfile.mkdtemp(prefix="rabbitmq-"))
        self.port, distribution, directory = free_ports(3)
        self._log = self._folder / "log"
        environment = self._environment(distribution, directory)
        self._processes: list[subprocess.Popen[bytes]] = []
        try:
            # A directory of nodes of its own: nobody else's is touched, and none is left running.
            self._start(["epmd", "-port", str(directory), "-address", "127.0.0.1"], environment)
            self._start([f"{_installed()}/rabbitmq-server"], environment)
            self._wait()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End it, at once: nothing of it is to stay."""
        for process in reversed(self._processes):
            # The command's shell has the broker for a child.
            try:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(END_WITHIN_S)
            except ProcessLookupError:
                pass
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._processes = []
        shutil.rmtree(self._folder, ignore_errors=True)

    def _environment(self, distribution: int, directory: int) -> dict[str, str]:
        configuration = self._folder / "rabbitmq.conf"
        configuration.write_text(_CONFIGURATION.format(port=self.port))
        plugins = self._folder / "plugins"
        plugins.write_text(f"[{_PLUGIN}].\n")
        return os.environ | {
            # Erlang's cookie is in its user's home.
            "HOME": str(self._folder),
            "ERL_EPMD_PORT": str(directory),
            "RABBITMQ_NODENAME": f"rabbit-{self.port}@localhost",
            "RABBITMQ_DIST_PORT": str(distribution),
            "RABBITMQ_CONF_ENV_FILE": os.devnull,
            "RABBITMQ_CONFIG_FILE": str(configuration.with_suffix("")),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
            "RABBITMQ_MNESIA_BASE": str(self._folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self._folder),
            "RABBITMQ_SCHEMA_DIR": str(self._folder / "schema"),
            "RABBITMQ_GENERATED_CONFIG_DIR": str(self._folder / "generated"),
            "RABBITMQ_FEATURE_FLAGS_FILE": str(self._folder / "feature_flags"),
            "RABBITMQ_PID_FILE": str(self._folder / "pid"),
        }

    def _start(self, command: list[str], environment: dict[str, str]) -> None:
        with self._log.open("a") as log:
            self._processes.append(
                subprocess.Popen(
                    command,
                    env=environment,
                    cwd=self._folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            )

    def _wait(self) -> None:
        deadline = time.monotonic() + READY_WITHIN_S
        while "Server startup complete" not in self._log.read_text():
            if time.monotonic() > deadline or any(process.poll() is not None for process in self._processes):
                raise BrokerFailed(f"RabbitMQ did not start:\n{self._log.read_text()[-2000:]}")
            time.sleep(_POLL_S)


def main() -> int:
    """Run a broker until the input ends."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        broker = Broker()
    except BrokerFailed as failure:
        print(failure, file=sys.stderr)
        return 1
    try:
        print(broker.port, flush=True)
        sys.stdin.read()
    finally:
        broker.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
