"""Which filters a connection has between its socket and its engine, as its listener or connector says."""

from typing import Protocol

from routerd.config import ConnectorConfig, ListenerConfig
from routerd.core import Peer
from routerd.io.sockets import Filter, FilteredTransport, Transport, TransportHost
from routerd.io.tls import HANDSHAKE_S, Handshakes, TlsFilter, TlsProfile, TlsProfiles, TlsSession, server_context
from routerd.wire import Connection


class StackHost(TransportHost, Protocol):
    """What has connections with filters: a worker."""

    handshakes: Handshakes


def transport_with(host: TransportHost, peer: Peer, connection: Connection, filters: list[Filter]) -> Transport:
    """Return the transport of a connection with filters, the first one at the socket, or with none."""
    if not filters:
        return Transport(host, peer, connection)
    return FilteredTransport(host, peer, connection, filters)


def filters_at(listener: ListenerConfig, handshakes: Handshakes, profiles: TlsProfiles) -> list[Filter]:
    """Return the filters of a connection that comes in at a listener."""
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
            )
        )
    return filters


def filters_to(connector: ConnectorConfig, host: str, handshakes: Handshakes, profiles: TlsProfiles) -> list[Filter]:
    """Return the filters of a connection that a connector makes to a host, be it one that its peer has named."""
    filters: list[Filter] = []
    if (name := connector.ssl_profile) is not None:

        def make() -> tuple[TlsProfile, TlsSession]:
            profile = profiles.get(name)
            context = profile.client_context(verifies_name=connector.verify_hostname)
            return profile, TlsSession(context, is_server=False, server_name=host)

        filters.append(TlsFilter(handshakes, make, is_client=True))
    return filters
