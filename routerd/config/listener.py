"""What is configured for a listener."""

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
    session_frames: int | None = None
    """Frames that a session may have on their way to us; None is no bound of its own."""
    idle_timeout_s: int = 16
    """A peer that is silent for longer is given up; 0 is never."""
    handshake_timeout_s: int = 0
    """A peer that has not opened after so long is cut off; 0 is never."""
    strip_in: bool = True
    """The router's annotations are taken from messages that enter."""
    strip_out: bool = True
    """The router's annotations are taken from messages that leave."""
    link_capacity: int = 0
    """Deliveries that a producer may have under way; 0 is the router's default."""
    sasl_mechanisms: tuple[str, ...] | None = None
    """None is all there are."""
    authenticate_peer: bool = False
    require_encryption: bool = False
    open_properties: Mapping[str, object] = field(default_factory=dict)
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
    def identity(self) -> str:
        """What management calls the listener (4.1)."""
        return f"listener/{self.address}:{self.name}" if self.name else f"listener/{self.address}"
