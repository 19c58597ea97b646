"""The filters between a connection's socket and its engine, by its listener or connector."""

from typing import Protocol

from routerd.config import ConnectorConfig, ListenerConfig
from routerd.core import Peer
from routerd.io.http import PLAIN_REFUSED, HttpFilter, Site, UpgradeFilter
from routerd.io.sockets import Filter, FilteredTransport, Transport, TransportHost
from routerd.io.tls import (
    HANDSHAKE_S,
    TLS_HEADER,
    Handshakes,
    TlsFilter,
    TlsProfile,
    TlsProfiles,
    TlsSession,
    server_context,
)
from routerd.io.websocket import WebSocketFilter
from routerd.wire import Connection

HTTP_PORT, HTTPS_PORT = 80, 443


class StackHost(TransportHost, Protocol):
    """The owner of connections with filters: a worker."""

    handshakes: Handshakes


def transport_with(host: TransportHost, peer: Peer, connection: Connection, filters: list[Filter]) -> Transport:
    """Return the transport of a connection with filters, the first one at the socket, or with none."""
    if not filters:
        return Transport(host, peer, connection)
    return FilteredTransport(host, peer, connection, filters)


def filters_at(
    listener: ListenerConfig, site: Site | None, handshakes: Handshakes, profiles: TlsProfiles
) -> list[Filter]:
    """Return the filters of a listener's connection; the one for HTTP has a site."""
    filters: list[Filter] = []
    if (name := listener.ssl_profile) is not None:

        def make() -> tuple[TlsProfile, TlsSession]:
            profile = profiles.get(name)
            return profile, TlsSession(server_context(profile, listener), is_server=True)

        filters.append(
            TlsFilter(
                handshakes,
                make,
                is_client=False,
                requires_tls=listener.require_ssl or listener.require_encryption,
                handshake_s=min(HANDSHAKE_S, listener.handshake_timeout_s or HANDSHAKE_S),
                refusal=TLS_HEADER if site is None else PLAIN_REFUSED,
            )
        )
    if site is not None:
        filters += (HttpFilter(site), WebSocketFilter())
    return filters


def filters_to(
    connector: ConnectorConfig, host: str, handshakes: Handshakes, profiles: TlsProfiles
) -> list[Filter]:
    """Return the filters of a connector's connection to a host, which its peer may have named."""
    filters: list[Filter] = []
    if (name := connector.ssl_profile) is not None:

        def make() -> tuple[TlsProfile, TlsSession]:
            profile = profiles.get(name)
            context = profile.client_context(verifies_name=connector.verify_hostname)
            return profile, TlsSession(context, is_server=False, server_name=host)

        filters.append(TlsFilter(handshakes, make, is_client=True))
    if connector.websockets:
        filters += (UpgradeFilter(_authority(connector), connector.websocket_path), WebSocketFilter(is_client=True))
    return filters


def _authority(connector: ConnectorConfig) -> str:
    """Return a connector's host, with its port unless that is the scheme's (RFC 9110 section 7.2)."""
    host = f"[{connector.host}]" if ":" in connector.host else connector.host
    usual = HTTPS_PORT if connector.ssl_profile else HTTP_PORT
    return host if connector.port == usual else f"{host}:{connector.port}"
