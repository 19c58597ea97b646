"""`listener` at a worker."""

import socket
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from typing import Any

from routerd.config import ChangeRefused, ListenerConfig
from routerd.io.auth import warn_if_open
from routerd.io.entities.running import Claim, Running, Step, Workplace, done
from routerd.io.entities.ssl_profiles import check_named_profile
from routerd.io.sockets import ListenFailed, bind, endpoints_of, reserve


class ListenersAtPorts(Running[ListenerConfig]):
    """Listeners, each at a port that the router keeps for all its workers."""

    def prepare(self, config: ListenerConfig, worker: Workplace, named: Mapping[str, Any]) -> Step | None:
        """Bind the sockets of a listener; some workers have none but their own."""
        check_named_profile(named, config)
        if config.dedicated_actor or worker.config.is_dedicated:
            return None
        with ExitStack() as opened:
            sockets: list[socket.socket] = []
            try:
                host = worker.config.node.host_of(config.host, config.family)
                for endpoint in endpoints_of(host, config.port, config.family):
                    bound = bind(endpoint, shared=worker.config.shares_ports)
                    opened.callback(bound.close)
                    sockets.append(bound)
            except OSError as error:
                raise _refused(config, error.strerror or str(error)) from error
            undo = opened.pop_all().close
        return Step(lambda: done(worker.call(worker.listeners.serve, config, sockets)), undo)

    async def remove(self, config: ListenerConfig, worker: Workplace) -> None:
        """Do without a listener; its connections stay."""
        await done(worker.call(worker.listeners.close, config.identity))

    def claim(
        self, config: ListenerConfig, at_start: Iterable[ListenerConfig], now: Iterable[ListenerConfig]
    ) -> Claim | None:
        """Keep the port of a new listener, which tells whether others have it."""
        claim = self._port(config, at_start, now)
        warn_if_open(config)
        return claim

    def _port(
        self, config: ListenerConfig, at_start: Iterable[ListenerConfig], now: Iterable[ListenerConfig]
    ) -> Claim | None:
        place = (config.host, config.port)
        if config.port == 0:
            raise ChangeRefused("a listener that is created at run time needs the number of a port")
        if any((one.host, one.port) == place for one in at_start):
            # The launcher keeps it.
            if any((one.host, one.port) == place for one in now):
                raise _refused(config, "Address already in use")
            return None
        try:
            return reserve(config.host, config.port, family=config.family, name=config.name)
        except ListenFailed as error:
            raise _refused(config, error.reason) from error


def _refused(config: ListenerConfig, reason: str) -> ChangeRefused:
    return ChangeRefused(f"listener {config.address} cannot be opened: {reason}")
