"""The router's own connections: to each connector's peer, again and again, and to the places that this peer names."""

import asyncio
import contextlib
import random
import socket
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from routerd.config import SCRAM_ITERATIONS_MOST, ConnectorConfig
from routerd.config.kinds import MECHANISMS_WITH_PASSWORD
from routerd.io.auth import LARGE_TOKEN_OCTETS, LoginThreads, RespondsInThreads, nonce
from routerd.io.logs import module_log, opening_of
from routerd.io.scheduling import all_is_read
from routerd.io.sockets import Transport
from routerd.io.tls import TlsProfileBroken
from routerd.wire import Connection, ValueRangeError
from routerd.wire.sasl import (
    SCRAM_MECHANISMS,
    AnonymousClient,
    ClientMechanism,
    ClientMechanismFactory,
    ExternalClient,
    PlainClient,
    SaslClient,
    SaslCode,
    SaslFailed,
    SaslLimits,
    ScramClient,
)

RETRY_S = 0.1
RETRY_AT_MOST_S = 2.0
"""The time between two attempts doubles from the first to the second of these."""
REMIND_S = 60.0
"""The interval of log lines for a connector that fails for the same reason as before."""
OPEN_S = 10.0
"""The time for a peer to answer our open."""
DEFAULT_PORT = 5672
TLS_SCHEME = "amqps"
FAILOVERS_MAX = 64
"""Limit of the places that a peer may name."""

_FAMILIES = {None: socket.AF_UNSPEC, "IPv4": socket.AF_INET, "IPv6": socket.AF_INET6}
_PARTS_OF_PROFILES = {
    "caCertFile": "CA",
    "certFile": "local certificate",
    "privateKeyFile": "local certificate",
    "ciphers": "cipher",
}
"""What qdrouterd calls the attributes that make a profile unusable."""
_log = module_log("SERVER")


@dataclass(frozen=True, slots=True)
class ConnectorState:
    """The state of a connector for management."""

    identity: str
    status: str
    """CONNECTING, SUCCESS or FAILED."""
    message: str
    failover_urls: str
    """The places to connect to, next one first; empty if its peer named no others."""


@dataclass(frozen=True, slots=True)
class Place:
    """A host and port to connect to."""

    host: str
    port: int
    scheme: str = "amqp"

    @property
    def url(self) -> str:
        """The place as text."""
        return f"{self.scheme}://{self.host}:{self.port}"


MakeTransport = Callable[[ConnectorConfig, str], Transport]
"""Makes a connection to a host, which may differ from the connector's; raises TlsProfileBroken."""


class Connector:
    """Keeps one connection, in the event loop of its worker."""

    def __init__(self, config: ConnectorConfig, make: MakeTransport) -> None:
        self.config = config
        self._make = make
        self._own = Place(config.host, config.port, _scheme_of(config))
        self._places = [self._own]
        self._status = "CONNECTING"
        self._message = ""
        self._said_at = 0.0
        self._said: set[str] = set()
        """The last reason for a failure, since it was connected or the reason was logged."""
        self._failures = 0
        """The number of failures since it was connected last."""
        self._transport: Transport | None = None
        self._news = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._keep())

    @property
    def state(self) -> ConnectorState:
        """The present state."""
        urls = ", ".join(place.url for place in self._places) if len(self._places) > 1 else ""
        return ConnectorState(self.config.identity, self._status, self._message, urls)

    def owns(self, transport: Transport) -> bool:
        """Whether it has made a connection."""
        return transport is self._transport

    def notice(self) -> None:
        """Note an event of the connection."""
        self._news.set()

    def retire(self) -> None:
        """Make no further connection."""
        self._task.cancel()

    def stop(self) -> None:
        """Close the connection, and make no further one."""
        self.retire()
        transport, self._transport = self._transport, None
        if transport is not None and not transport.is_over:
            if transport.peer.is_open and not transport.connection.is_finished:
                transport.connection.close()
                transport.end_soon()
            else:
                transport.abort()

    async def _keep(self) -> None:
        pause_s = RETRY_S
        while True:
            place = self._places[0]
            if await self._connect(place):
                pause_s = RETRY_S
            # Tools of the old router wait for this status, so it stays the same between attempts.
            self._status = "CONNECTING"
            self._rotate()
            # Many routers that lost the same peer should not come back at the same time.
            await asyncio.sleep(pause_s * random.uniform(0.75, 1.25))
            pause_s = min(2 * pause_s, RETRY_AT_MOST_S)

    async def _connect(self, place: Place) -> bool:
        """Make a connection and stay with it to its end; return whether it was open."""
        if place.scheme == TLS_SCHEME and self.config.ssl_profile is None:
            self._fail(place, None, "it is to be had with TLS only, and the connector has no sslProfile")
            return False
        try:
            transport = self._transport = self._make(self.config, place.host)
        except TlsProfileBroken as broken:
            if self._fail(place, None, str(broken)):
                part = _PARTS_OF_PROFILES.get(broken.attribute, "profile")
                text = "SSL %s configuration failed for connection to %s:%d: %s"
                _log.error(text, part, place.host, place.port, broken)
            return False
        try:
            await asyncio.get_running_loop().create_connection(
                lambda: transport, place.host, place.port, family=_FAMILIES[self.config.family]
            )
        except (OSError, ValueError) as error:
            # An impossible host name is a ValueError; a peer may name one, too.
            self._fail(place, transport, getattr(error, "strerror", None) or str(error))
            transport.connection.transport_closed()
            return False
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._until(lambda: transport.peer.is_open or transport.is_over), OPEN_S)
        await all_is_read()
        # It may have been open and lost before this task had its turn.
        if transport.connection.remote_open is None:
            self._fail(place, transport, _reason(transport) or "the peer did not answer the open")
            transport.abort()
            return False
        self._status = "SUCCESS"
        self._message = opening_of(transport.peer, transport.connection.remote_open, f"{place.host}:{place.port}")
        self._said.clear()
        self._failures = 0
        self._take_failovers(transport.connection, place)
        await self._until(lambda: transport.is_over or not transport.peer.is_open)
        self._fail(place, transport, _reason(transport) or "the connection was lost")
        return True

    async def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self._news.wait()
            self._news.clear()

    def _fail(self, place: Place, transport: Transport | None, reason: str) -> bool:
        """Note a failure; return whether the log has it, too."""
        self._message = f"Connection to {place.host}:{place.port} failed: {reason}"
        self._failures += 1
        now = asyncio.get_running_loop().time()
        if now - self._said_at >= REMIND_S:
            self._said.clear()
        if self._message in self._said:
            return False
        if not self._said:
            self._said_at = now
        self._said.add(self._message)
        number = "" if transport is None else f"[C{transport.peer.number}] "
        times = "" if self._failures == 1 else f", {self._failures} failures in a row"
        _log.warning("%s%s (%s%s)", number, self._message, self.config.identity, times)
        return True

    def _rotate(self) -> None:
        self._places = [*self._places[1:], self._places[0]]

    def _take_failovers(self, connection: Connection, current: Place) -> None:
        """Remember the places that the peer names for reconnections; a peer that has no list changes nothing."""
        if self.config.websockets:
            # The places that it names take plain AMQP only.
            return
        properties: Any = (connection.remote_open.properties if connection.remote_open else None) or {}
        entries = properties.get("failover-server-list")
        if not isinstance(entries, list):
            return
        places = map(_place, entries[:FAILOVERS_MAX])
        found = [place for place in places if place is not None]
        if self.config.ssl_profile is not None:
            # A connector with TLS uses it for these places as well, whatever the peer says.
            found = [replace(place, scheme=TLS_SCHEME) for place in found]
        named = [place for place in found if place != self._own]
        # The place in use is first, as the next one is tried after its loss. The configured place always stays.
        self._places = list(dict.fromkeys([current, *named, self._own]))


class Connectors:
    """The connectors of a worker."""

    def __init__(self, make: MakeTransport) -> None:
        self._make = make
        self._all: dict[str, Connector] = {}

    def start(self, config: ConnectorConfig) -> None:
        """Begin to connect."""
        self.stop(config.identity)
        self._all[config.identity] = Connector(config, self._make)

    def stop(self, identity: str) -> None:
        """Close the connection of a connector, and make no further one; an unknown connector is ignored."""
        connector = self._all.pop(identity, None)
        if connector is not None:
            connector.stop()

    def retire(self) -> None:
        """Make no further connections; the present ones stay."""
        for connector in self._all.values():
            connector.retire()

    def states(self) -> list[ConnectorState]:
        """Return the state of each."""
        return [connector.state for connector in self._all.values()]

    def notice(self, transport: Transport) -> None:
        """Tell the connector of a connection about an event."""
        for connector in self._all.values():
            if connector.owns(transport):
                connector.notice()


def client_sasl(
    config: ConnectorConfig, login: LoginThreads, kerberos: ClientMechanismFactory | None = None
) -> SaslClient:
    """Return the SASL client of a connector; `kerberos` is GSSAPI if it uses that."""
    mechanisms: list[ClientMechanismFactory] = [ExternalClient(), *(() if kerberos is None else (kerberos,))]
    name, password = config.sasl_username, config.sasl_password
    if name and password:
        mechanisms += _password_clients(name, password, login)
    mechanisms.append(AnonymousClient(f"anonymous@{socket.gethostname()}"))
    wanted = config.sasl_mechanisms
    if wanted is None:
        # EXTERNAL is of use to who shows a certificate, and that is for the operator to say, as GSSAPI is.
        chosen = mechanisms[1:]
    else:
        chosen = sorted((one for one in mechanisms if one.name in wanted), key=lambda one: wanted.index(one.name))
        # The file of the password may have been missing when it was read.
        chosen = chosen or [WithoutPassword(name) for name in wanted if name in MECHANISMS_WITH_PASSWORD]
    limits = SaslLimits() if kerberos is None else SaslLimits(token_size_bytes=LARGE_TOKEN_OCTETS)
    return SaslClient(chosen, hostname=config.host, limits=limits)


@dataclass(frozen=True, slots=True)
class WithoutPassword:
    """A mechanism that fails, as there is no password for it."""

    name: str

    def start(self, hostname: str | None) -> ClientMechanism:
        """Give up; raises SaslFailed."""
        raise SaslFailed("the connector has no password that can be sent")


def _password_clients(name: str, password: str, login: LoginThreads) -> list[ClientMechanismFactory]:
    try:
        plain = PlainClient(name, password)
    except ValueRangeError:
        # No mechanism can send them.
        return []
    return [*_scram_clients(name, password, login), plain]


def _scram_clients(name: str, password: str, login: LoginThreads) -> list[ClientMechanismFactory]:
    try:
        clients = [ScramClient(one, name, password, nonce, SCRAM_ITERATIONS_MOST) for one in SCRAM_MECHANISMS]
        # How long an answer takes is for the peer to say.
        return [RespondsInThreads(one, login) for one in clients]
    except ValueRangeError:
        # What SASLprep refuses can still be sent as it is.
        return []


def _scheme_of(config: ConnectorConfig) -> str:
    if config.websockets:
        return "wss" if config.ssl_profile else "ws"
    return TLS_SCHEME if config.ssl_profile else "amqp"


def _place(entry: object) -> Place | None:
    """Return a place that a peer named, unless it makes no sense."""
    if not isinstance(entry, dict):
        return None
    scheme = entry.get("scheme")
    scheme = scheme.lower() if isinstance(scheme, str) and scheme else "amqp"
    host, port = entry.get("network-host"), entry.get("port", DEFAULT_PORT)
    try:
        number = int(port)
    except (TypeError, ValueError, OverflowError):
        return None
    if not isinstance(host, str) or not host or not 0 < number < 1 << 16:
        return None
    return Place(host, number, scheme)


def _reason(transport: Transport) -> str:
    if transport.failure:
        return transport.failure
    sasl = transport.connection.sasl
    if sasl is not None and sasl.outcome not in (None, SaslCode.OK):
        return f"amqp:unauthorized-access Authentication failed [mech={sasl.mechanism}]"
    error = transport.peer.error
    return transport.loss if error is None else f"{error.condition}: {error.description or ''}"
