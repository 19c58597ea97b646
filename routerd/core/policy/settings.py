"""What policy is configured with: the router as a whole, its vhosts, and their groups of users (10.1, 10.2)."""

from dataclasses import dataclass

CONNECTIONS_MAX = 65_535
"""Connections where nothing else is configured."""
LINKS_MAX = 2_147_483_647
DEFAULT_GROUP = "$default"
"""The group of users that are in no other, where a vhost allows these."""
CONNECTOR_GROUP = "$connector"
"""The group of connections that the router makes."""


@dataclass(frozen=True, slots=True)
class HostRange:
    """Addresses of hosts, from the lowest to the highest; as numbers, of one version of IP."""

    version: int
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """What the users of one group of a vhost may do."""

    name: str
    users: tuple[str, ...] = ()
    """`*` is everybody who is in no other group."""
    from_any_host: bool = False
    remote_hosts: tuple[HostRange, ...] = ()
    """Where its users may connect from, if not from anywhere."""
    max_connections_per_user: int | None = None
    """None is as the vhost has it."""
    max_connections_per_host: int | None = None
    max_message_size: int | None = None
    """In octets; None is as the vhost has it, 0 is no bound."""
    max_frame_size: int = 0
    """In octets; 0 is as the listener has it."""
    max_session_window: int = 0
    """Octets that a session may have on their way to us; 0 is as the listener has it."""
    max_sessions: int = 0
    """0 is as the listener has it."""
    max_senders: int = LINKS_MAX
    """0 is no bound, as of receivers."""
    max_receivers: int = LINKS_MAX
    allows_dynamic_source: bool = False
    allows_anonymous_sender: bool = False
    allows_user_id_proxy: bool = False
    allows_waypoint_links: bool = True
    allows_fallback_links: bool = True
    allows_dynamic_link_routes: bool = True
    allows_admin_status_update: bool = True
    allows_management_changes: bool = True
    """Whether requests to management may create, update and delete."""
    sources: tuple[str, ...] = ()
    """Names that may be received from: plain ones, ones that end in `*`, or `*`; `${user}` is the user."""
    targets: tuple[str, ...] = ()
    """The same of names that may be sent to."""
    source_patterns: tuple[str, ...] = ()
    """Instead of `sources`, patterns of words."""
    target_patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VhostSettings:
    """What holds for the connections to one vhost."""

    hostname: str
    aliases: tuple[str, ...] = ()
    max_connections: int = CONNECTIONS_MAX
    max_connections_per_user: int = CONNECTIONS_MAX
    max_connections_per_host: int = CONNECTIONS_MAX
    max_message_size: int | None = None
    """In octets; None is as the router has it, 0 is no bound."""
    allows_unknown_user: bool = False
    groups: tuple[GroupSettings, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySettings:
    """What holds for the router as a whole."""

    max_connections: int = CONNECTIONS_MAX
    """Sockets that may be accepted at a time, whether vhosts are enforced or not."""
    max_message_size: int = 0
    """In octets; 0 is no bound."""
    is_enforced: bool = False
    """Whether what is configured for vhosts holds."""
    uses_name_patterns: bool = False
    """Whether names of vhosts are patterns."""
    default_vhost: str = "$default"
    """For connections to none of the others; empty is none."""
