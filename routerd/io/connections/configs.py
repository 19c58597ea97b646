"""What our side of a connection says and accepts, made from the configuration of its listener or connector."""

from routerd.config import ConnectorConfig, ListenerConfig, Role
from routerd.core import RouterSettings
from routerd.io.auth import LARGE_FRAME_SIZE, uses_kerberos
from routerd.io.settings import WorkerConfig
from routerd.wire import MIN_MAX_FRAME_SIZE, ConnectionConfig, Int, Symbol

PRODUCT = "mobula"
CAPABILITIES = ("ANONYMOUS-RELAY", "qd.streaming-links")
SESSION_FRAMES = 512
"""Frames that a session may have on their way to us when its listener says nothing else. Never less than a link may
send by its credit: clients that think of one and forget the other lose what they cannot send at once."""
OPEN_S = 60.0
"""What a peer gets from the connection to its open, where its listener says nothing else."""
LINKS = 10_000
"""Links that a client may have on a connection when its listener says nothing else. The end of a connection ends all of
them in one go, during which the others of its worker wait: some 5 us for each. No client is known that has as many."""
NO_BOUND = 0x7FFF_FFFF
FABRIC_FRAME_SIZE = 1 << 16
FABRIC_IDLE_S = 10.0
"""Between hosts: one that is gone says nothing."""


def client_config(
    router: RouterSettings, listener: ListenerConfig, number: int, sasl_frame_size: int = MIN_MAX_FRAME_SIZE
) -> ConnectionConfig:
    """Return what a connection at a listener is made with."""
    properties: dict[object, object] = {
        Symbol("product"): PRODUCT,
        Symbol("version"): router.version,
        Symbol("qd.conn-id"): Int(number),
    }
    if listener.failover_urls:
        properties[Symbol("failover-server-list")] = [
            {
                Symbol("network-host"): url.host,
                Symbol("port"): str(url.port),
                **({Symbol("scheme"): url.scheme} if url.scheme else {}),
            }
            for url in listener.failover_urls
        ]
    properties.update((Symbol(key), value) for key, value in listener.open_properties.items())
    properties.update(_between_routers(listener))
    return ConnectionConfig(
        container_id=router.id,
        sasl_frame_size=sasl_frame_size,
        max_frame_size=listener.max_frame_size,
        channel_max=listener.max_sessions - 1,
        incoming_window=listener.session_frames or max(SESSION_FRAMES, 2 * listener.link_capacity),
        link_names_max=_links_of(listener),
        idle_timeout_s=float(listener.idle_timeout_s),
        offered_capabilities=CAPABILITIES,
        desired_capabilities=CAPABILITIES,
        properties=properties,
    )


def open_within_s(listener: ListenerConfig) -> float:
    """Return what a peer gets from the connection to its open."""
    return listener.handshake_timeout_s or OPEN_S


def _links_of(listener: ListenerConfig) -> int:
    """Return how many links a connection may have: a router has one for each address of its clients."""
    if listener.max_links is not None:
        return listener.max_links or NO_BOUND
    return NO_BOUND if listener.role in (Role.INTER_ROUTER, Role.EDGE) else LINKS


def connector_config(router: RouterSettings, connector: ConnectorConfig, number: int) -> ConnectionConfig:
    """Return what a connection that the router makes is made with."""
    properties: dict[object, object] = {
        Symbol("product"): PRODUCT,
        Symbol("version"): router.version,
        Symbol("qd.conn-id"): Int(number),
        **{Symbol(key): value for key, value in connector.open_properties.items()},
        **_between_routers(connector),
    }
    return ConnectionConfig(
        container_id=router.id,
        hostname=connector.host,
        sasl_frame_size=LARGE_FRAME_SIZE if uses_kerberos(connector) else MIN_MAX_FRAME_SIZE,
        max_frame_size=connector.max_frame_size,
        channel_max=connector.max_sessions - 1,
        incoming_window=connector.session_frames or max(SESSION_FRAMES, 2 * connector.link_capacity),
        idle_timeout_s=float(connector.idle_timeout_s),
        offered_capabilities=CAPABILITIES,
        desired_capabilities=CAPABILITIES,
        properties=properties,
    )


def _between_routers(config: ListenerConfig | ConnectorConfig) -> dict[object, object]:
    """Return the properties by which routers know each other (inter-router protocol 1.3)."""
    if config.role not in (Role.INTER_ROUTER, Role.EDGE):
        return {}
    properties: dict[object, object] = {}
    if config.cost > 1:
        properties[Symbol("qd.inter-router-cost")] = Int(config.cost)
    properties[Symbol("qd.annotations-version")] = Int(1)
    return properties


def fabric_config(worker: WorkerConfig, idle_timeout_s: float = 0.0) -> ConnectionConfig:
    """Return what a connection between two workers of a router is made with."""
    return ConnectionConfig(
        container_id=f"{worker.router.id}#{worker.index}",
        max_frame_size=FABRIC_FRAME_SIZE,
        idle_timeout_s=idle_timeout_s,
        incoming_window=SESSION_FRAMES,
        channel_max=0xFFFF,
        link_names_max=NO_BOUND,
        properties={Symbol("worker"): worker.index, Symbol("incarnation"): worker.incarnation},
    )
