"""What a worker listens on, and the connections that come in there."""

import asyncio
import socket
from contextlib import suppress

from routerd.config import ListenerConfig
from routerd.io.auth import Authentication
from routerd.io.connections.configs import client_config
from routerd.io.connections.entrance import Entrance
from routerd.io.connections.stacks import StackHost, filters_at, transport_with
from routerd.io.http import HealthSource, Scrape, Site
from routerd.io.logs import is_watched
from routerd.io.settings import WorkerConfig
from routerd.io.sockets import (
    Acceptor,
    ListenFailed,
    Shortage,
    Transport,
    bind,
    endpoints_of,
)
from routerd.io.tls import TlsProfileBroken, TlsProfiles, check_use
from routerd.wire import Connection


class Listeners:
    """Those of one worker; in its loop."""

    def __init__(
        self,
        host: StackHost,
        config: WorkerConfig,
        entrance: Entrance,
        authentication: Authentication,
        profiles: TlsProfiles,
        loop: asyncio.AbstractEventLoop,
        health: HealthSource,
        scrape: Scrape | None = None,
    ) -> None:
        """`scrape` has metrics told; without it there are none."""
        self._host = host
        self._config = config
        self._entrance = entrance
        self._authentication = authentication
        self._profiles = profiles
        self._loop = loop
        self._health = health
        self._scrape = scrape
        self._shortage = Shortage()
        self._acceptors: dict[str, list[Acceptor]] = {}
        """By the identity of their listener."""

    async def open(self, listener: ListenerConfig) -> str:
        """Listen where a listener says; return where that is. Raises ListenFailed."""
        config = self._config
        self._load_profile(listener)
        port = listener.port
        host = config.node.host_of(listener.host, listener.family)
        opened: list[socket.socket] = []
        try:
            for endpoint in endpoints_of(host, port, listener.family):
                bound = bind(endpoint.at_port(port), shared=config.shares_ports)
                port = bound.getsockname()[1]
                opened.append(bound)
            self.serve(listener, opened)
        except OSError as error:
            raise ListenFailed(listener.name, host, listener.port, error.strerror or str(error)) from error
        label = f" ({listener.name})" if listener.name else ""
        return f"{host or '*'}:{port}{label}"

    def serve(self, listener: ListenerConfig, sockets: list[socket.socket]) -> None:
        """Accept connections at sockets that have been bound."""
        site = Site(listener, self._health, self._scrape) if listener.takes_http else None
        for bound in sockets:
            acceptor = Acceptor(
                self._loop, bound, lambda: self._entrance.protocol(lambda: self._accept(listener, site)), self._shortage
            )
            self._acceptors.setdefault(listener.identity, []).append(acceptor)

    def close(self, identity: str) -> None:
        """Do without a listener; its connections stay."""
        for acceptor in self._acceptors.pop(identity, ()):
            acceptor.close()

    def close_all(self) -> None:
        """Accept nothing more."""
        for identity in list(self._acceptors):
            self.close(identity)

    def _load_profile(self, listener: ListenerConfig) -> None:
        """Read the files of a profile, so that it is known when its certificate expires before anybody connects."""
        if listener.ssl_profile is None:
            return
        # Connections are refused as long as it cannot be used, and the log says why then.
        with suppress(TlsProfileBroken):
            check_use(self._profiles.get(listener.ssl_profile), listener)

    def _accept(self, listener: ListenerConfig, site: Site | None) -> Transport:
        router = self._host.turn.router
        peer = router.connections.new_peer(
            listener.role.value,
            capacity=listener.link_capacity,
            strips_in=listener.strip_in,
            strips_out=listener.strip_out,
            place=listener.name or "",
            is_multi_tenant=listener.is_multi_tenant,
        )
        peer.details = listener
        peer.policy_vhost = listener.policy_vhost
        peer.cost = listener.cost
        peer.is_watched = is_watched(listener)
        login = self._authentication.login(listener, peer)
        connection = Connection(
            client_config(self._config.router, listener, peer.number, login.frame_size),
            router,
            is_client=False,
            sasl=login.sasl,
            is_sasl_required=listener.authenticate_peer,
        )
        filters = filters_at(listener, site, self._host.handshakes, self._profiles)
        return transport_with(self._host, peer, connection, filters)
