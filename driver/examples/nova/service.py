"""A service as a process: `python -m examples.nova.service NAME URL`.

It says `{"ready": true}` when it serves. It answers each line on its standard input with its account, as a line of
JSON. `account` asks for what it saw; after `stop` it first finishes what it began. It ends with its input.
"""

import json
import logging
import sys
from typing import Any, Protocol

import oslo_messaging
from oslo_config import cfg

from examples.nova.api import Api
from examples.nova.compute import Compute
from examples.nova.scheduler import Scheduler


class Part(Protocol):
    """A service, as this module knows it."""

    target: oslo_messaging.Target | None
    """What it serves, if it does."""

    def start(self) -> None:
        """Begin what it does of itself."""

    def stop(self) -> None:
        """Finish what it has begun, and begin nothing more."""

    def account(self) -> dict[str, Any]:
        """Return what it saw."""


def part(name: str, transport: oslo_messaging.Transport) -> Part:
    """Return the service of a name."""
    if name == "api":
        return Api(transport)
    if name == "scheduler":
        return Scheduler(name)
    return Compute(name, transport)


def main(name: str, url: str) -> None:
    """Serve until the input ends."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    cfg.CONF([], project="demo-nova", default_config_files=[], default_config_dirs=[])
    transport = oslo_messaging.get_rpc_transport(cfg.CONF, url=url)
    made = part(name, transport)
    server = None
    if made.target is not None:
        # Of a service nothing but what it exposes can be called.
        policy = oslo_messaging.ExplicitRPCAccessPolicy
        server = oslo_messaging.get_rpc_server(transport, made.target, [made], access_policy=policy)
        server.start()
    made.start()
    _tell({"ready": True})
    for line in sys.stdin:
        if line.strip() == "stop":
            made.stop()
        _tell(made.account())
    made.stop()
    if server is not None:
        server.stop()
        server.wait()
    transport.cleanup()


def _tell(what: dict[str, Any]) -> None:
    print(json.dumps(what), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
