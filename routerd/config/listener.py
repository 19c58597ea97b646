"""What is configured for a listener."""

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Role(Enum):
    """What connects at a listener."""

    NORMAL = "normal"
    INTER_ROUTER = "inter-router"
    ROUTE_CONTAINER = "route-container"
    EDGE = "edge"


@dataclass(frozen=True, slots=True)
class FailoverUrl:
    """Where clients can connect instead."""

    host: str
    port: int
    scheme: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerConfig:
    """A port to listen on, and what holds for the connections that come in there."""

    host: str
    """Empty for all addresses."""
    port: int
    """0 for any free one."""
    name: str | None = None
    family: str | None = None
    """`IPv4` or `IPv6`; None is both."""
    role: Role = Role.NORMAL
    cost: int = 1
    max_frame_size: int = 16_384
    """Largest frame that is accepted, in octets; at least 512."""
    max_sessions: int = 32_768
    max_links: int | None = None
    """Links that a connection may have; 0 is no bound, and None is the router's default for its role."""
    session_frames: int | None = None
    """Frames that a session may have on their way to us; None is no bound of its own."""
    idle_timeout_s: int = 16
    """A peer that is silent for longer is given up; 0 is never."""
    handshake_timeout_s: int = 0
    """A peer that has not opened after so long is cut off; 0 is 60 s."""
    strip_in: bool = True
    """The router's annotations are taken from messages that enter."""
    strip_out: bool = True
    """The router's annotations are taken from messages that leave."""
    link_capacity: int = 0
    """Deliveries that a producer may have under way; 0 is the router's default."""
    sasl_mechanisms: tuple[str, ...] | None = None
    """None is all there are."""
    authenticate_peer: bool = False
    """A peer has to prove who it is; one that leaves SASL out, or says that it is nobody, is refused."""
    sasl_plugin: str | None = None
    """The name of the service that is asked who a peer is."""
    require_encryption: bool = False
    ssl_profile: str | None = None
    """The name of the profile that makes this a TLS port."""
    require_ssl: bool = False
    """Whether a connection must use TLS, rather than may; with a profile only."""
    trusted_file: str | None = None
    """Who may sign the certificates of clients, in the place of those whom the profile trusts."""
    open_properties: Mapping[str, object] = field(default_factory=dict)
    policy_vhost: str | None = None
    """The vhost whose policy holds, whatever a client asks for."""
    failover_urls: tuple[FailoverUrl, ...] = ()
    is_multi_tenant: bool = False
    dedicated_actor: bool = False
    """A connection actor serves this listener and nothing else."""
    message_log_components: tuple[str, ...] = ()
    """The parts of messages that the log of module MESSAGE has."""

    @property
    def address(self) -> str:
        """Host and port as they were configured, for people."""
        return f"{self.host}:{self.port}"

    @property
    def is_open_to_all(self) -> bool:
        """Whether other hosts can connect, and nobody has to prove anything."""
        return not self.authenticate_peer and not _is_this_host(self.host)

    @property
    def identity(self) -> str:
        """What management calls the listener (4.1)."""
        return f"listener/{self.address}:{self.name}" if self.name else f"listener/{self.address}"


def _is_this_host(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in ("localhost", "ip6-localhost")
