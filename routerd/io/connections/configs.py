"""Our side of a connection: it is made from the configuration of the listener or connector."""

from routerd.config import ConnectorConfig, ListenerConfig, Role
from routerd.core import RouterSettings
from routerd.io.auth import LARGE_FRAME_SIZE, uses_kerberos
from routerd.io.settings import WorkerConfig
from routerd.wire import MIN_MAX_FRAME_SIZE, ConnectionConfig, Int, Symbol

PRODUCT = "mobula"
CAPABILITIES = ("ANONYMOUS-RELAY", "qd.streaming-links")
SESSION_FRAMES = 512
"""Transfer frames that a session may have under way to us by default. It is never less than the credit of a link. Some
clients heed credit only, and lose messages for which the window has no room."""
OPEN_S = 60.0
"""The time from the connection to the peer's open, by default."""
LINKS = 10_000
"""Links that a client may have on a connection by default. When a connection ends, all its links end in one go. All
others of its worker wait meanwhile, some 5 us for each link. No known client has as many."""
NO_BOUND = 0x7FFF_FFFF
FABRIC_FRAME_SIZE = 1 << 16
FABRIC_IDLE_S = 10.0
"""Between hosts only: a lost host says nothing."""


def client_config(
    router: RouterSettings, listener: ListenerConfig, number: int, sasl_frame_size: int = MIN_MAX_FRAME_SIZE
) -> ConnectionConfig:
    """Return the configuration of a listener's connection."""
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
        takes_long_tags=router.takes_long_tags,
        offered_capabilities=CAPABILITIES,
        desired_capabilities=CAPABILITIES,
        properties=properties,
    )


def open_within_s(listener: ListenerConfig) -> float:
    """Return the time from the connection to the peer's open."""
    return listener.handshake_timeout_s or OPEN_S


def _links_of(listener: ListenerConfig) -> int:
    """Return the limit of a connection's links: a router has one for each address of its clients."""
    if listener.max_links is not None:
        return listener.max_links or NO_BOUND
    return NO_BOUND if listener.role in (Role.INTER_ROUTER, Role.EDGE) else LINKS


def connector_config(router: RouterSettings, connector: ConnectorConfig, number: int) -> ConnectionConfig:
    """Return the configuration of a connector's connection."""
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
        takes_long_tags=router.takes_long_tags,
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
    """Return the configuration of a connection between two workers of a router."""
    return ConnectionConfig(
        container_id=f"{worker.router.id}#{worker.index}",
        max_frame_size=FABRIC_FRAME_SIZE,
        idle_timeout_s=idle_timeout_s,
        incoming_window=SESSION_FRAMES,
        channel_max=0xFFFF,
        link_names_max=NO_BOUND,
        properties={Symbol("worker"): worker.index, Symbol("incarnation"): worker.incarnation},
    )
