"""A RabbitMQ that speaks AMQP 1.0, with its own ports, folder, cookie and name server.

`python -m bench.rabbitmq PORT...` runs one at each port until it is ended; then all that they had is gone.
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from bench.free_ports import free_ports

SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
CONTROL = Path("/usr/lib/rabbitmq/bin/rabbitmqctl")
READY_WITHIN_S = 120.0
POLL_S = 0.1
END_S = 20.0


def absence() -> str | None:
    """Return why there is no such broker here, or None."""
    return None if SERVER.exists() else f"RabbitMQ is not installed ({SERVER}, package rabbitmq-server)"


ATTEMPTS = 3
_PORT_TAKEN = "could not bind to distribution port"


class BrokerFailed(Exception):
    """A broker did not start, or a command of its tools failed; the message has what it said."""


class RabbitMq:
    """One broker, which can be killed and started again with what it has stored."""

    def __init__(self, name: str = "b", port: int = 0) -> None:
        """Start it and wait until it listens; `port` 0 is any that is free."""
        # Short: names of sockets are made of it.
        self._folder = Path(tempfile.mkdtemp(prefix="rabbit-", dir="/tmp"))
        free, distribution, names = free_ports(3)
        self.port = port or free
        self._config = self._folder / "rabbitmq.conf"
        self._config.write_text(
            f"listeners.tcp.1 = 127.0.0.1:{self.port}\nloopback_users = none\nlog.console = false\n"
        )
        plugins = self._folder / "plugins"
        plugins.write_text("[rabbitmq_amqp1_0].\n")
        self._pid_file = self._folder / "pid"
        self.node = f"{name}{self.port}@localhost"
        folder = str(self._folder)
        self._environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("RABBITMQ_")},
            "HOME": folder,
            "RABBITMQ_NODENAME": self.node,
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_DIST_PORT": str(distribution),
            "ERL_EPMD_PORT": str(names),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_MNESIA_BASE": f"{folder}/mnesia",
            "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(plugins),
            "RABBITMQ_CONFIG_FILE": str(self._config),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_PID_FILE": str(self._pid_file),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                "-kernel inet_dist_use_interface {127,0,0,1} +S 1:1 +sbwt none"
            ),
        }
        # The name server ends with us: the broker finds this one and starts none.
        self._names = self._start(["epmd", "-port", str(names), "-address", "127.0.0.1"])
        self._server: subprocess.Popen[bytes] | None = None
        self._attempts = 1
        try:
            self.start()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start it, with what it had stored."""
        self._pid_file.unlink(missing_ok=True)
        server = self._server = self._start([str(SERVER)])
        give_up_at = time.monotonic() + READY_WITHIN_S
        while not self._answers():
            if server.poll() is not None and _PORT_TAKEN in self.log() and self._attempts < ATTEMPTS:
                # Somebody took the port for its own processes after it was found to be free.
                self._attempts += 1
                (self._folder / "output").unlink()
                self._environment["RABBITMQ_DIST_PORT"] = str(*free_ports(1))
                server = self._server = self._start([str(SERVER)])
            elif server.poll() is not None or time.monotonic() > give_up_at:
                raise BrokerFailed(f"RabbitMQ did not start: {self.log()}")
            time.sleep(POLL_S)

    def kill(self) -> None:
        """End it at once."""
        if self._server is not None:
            os.killpg(self._server.pid, signal.SIGKILL)
            self._server.wait(END_S)
            self._server = None

    def close(self) -> None:
        """End it, and forget all that it had."""
        self.kill()
        self._names.kill()
        self._names.wait(END_S)
        shutil.rmtree(self._folder, ignore_errors=True)

    def declare(self, queue: str) -> None:
        """Make a queue that is there again after a start."""
        name = f'{{resource, <<"/">>, queue, <<"{queue}">>}}'
        self._control("eval", f'rabbit_amqqueue:declare({name}, true, false, [], none, <<"test">>).')

    def counts(self) -> dict[str, int]:
        """Return how many messages each queue has."""
        told = self._control("list_queues", "--no-table-headers", "name", "messages")
        rows = (line.split("\t") for line in told.splitlines() if "\t" in line)
        return {name: int(count) for name, count in rows}

    def log(self) -> str:
        """Return the end of what it has said."""
        return (self._folder / "output").read_text(errors="replace")[-4000:]

    def _control(self, *arguments: str) -> str:
        command = [str(CONTROL), "-q", "-n", self.node, *arguments]
        found = subprocess.run(command, env=self._environment, capture_output=True, text=True, timeout=60, check=False)
        if found.returncode != 0:
            raise BrokerFailed(found.stdout + found.stderr)
        return found.stdout

    def _start(self, command: list[str]) -> "subprocess.Popen[bytes]":
        with (self._folder / "output").open("ab") as output:
            return subprocess.Popen(
                command, env=self._environment, cwd=self._folder, stdout=output, stderr=output, start_new_session=True
            )

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5.0) as connection:
                connection.sendall(b"AMQP\x00\x01\x00\x00")
                return connection.recv(8) == b"AMQP\x00\x01\x00\x00"
        except OSError:
            return False


def main() -> int:
    """Run brokers until told to end."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.rabbitmq", description="Run a RabbitMQ at each of these ports of this host."
    )
    parser.add_argument("port", type=int, nargs="+")
    ports = parser.parse_args().port
    if (reason := absence()) is not None:
        print(reason, file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with ExitStack() as at_exit:
        for number, port in enumerate(ports, 1):
            at_exit.enter_context(RabbitMq(f"b{number}", port))
        print(f"Operational, {len(ports)} brokers at {', '.join(map(str, ports))}", flush=True)
        with suppress(KeyboardInterrupt):
            signal.pause()
    return 0


if __name__ == "__main__":
    sys.exit(main())
