"""What is configured for a connector."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from routerd.config.listener import Role

INTER_ROUTER_MAX = 128
"""Connections of role inter-router that a router may have, those that come in too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorConfig:
    """A peer to connect to, again and again, and what holds for the connection."""

    host: str
    port: int
    """Never 0."""
    given_port: str | None = None
    """The port as it was written, where that is not its number: the name of a service."""
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
    strip_in: bool = True
    """The router's annotations are taken from messages that enter."""
    strip_out: bool = True
    """The router's annotations are taken from messages that leave."""
    link_capacity: int = 0
    """Deliveries that a producer may have under way; 0 is the router's default."""
    sasl_mechanisms: tuple[str, ...] | None = None
    """Those that may be used, of which some may not be known here; None is all there are."""
    sasl_username: str | None = None
    """Who the router is to the peer."""
    sasl_password: str | None = field(default=None, repr=False)
    """As it is sent."""
    ssl_profile: str | None = None
    """The name of the profile that TLS is used with; None is no TLS."""
    verify_hostname: bool = True
    """The peer's certificate has to be for the host."""
    allow_redirect: bool = True
    """The peer may name a container to go to instead."""
    open_properties: Mapping[str, object] = field(default_factory=dict)
    policy_vhost: str | None = None
    """The vhost whose policy holds, by its group `$connector`."""
    dedicated_actor: bool = False
    """A connection actor serves this connector and nothing else."""
    message_log_components: tuple[str, ...] = ()
    """The parts of messages that the log of module MESSAGE has."""

    @property
    def address(self) -> str:
        """Host and port as they were configured."""
        return f"{self.host}:{self.given_port or self.port}"

    @property
    def identity(self) -> str:
        """What management calls the connector (4.1)."""
        return f"connector/{self.address}:{self.name}" if self.name else f"connector/{self.address}"
