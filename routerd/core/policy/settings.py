"""The settings of policy: of the router, its vhosts, and their groups of users (10.1, 10.2)."""

from dataclasses import dataclass

CONNECTIONS_MAX = 65_535
"""The default limit of connections."""
LINKS_MAX = 2_147_483_647
DEFAULT_GROUP = "$default"
"""The group of users in no other group, if a vhost allows them."""
CONNECTOR_GROUP = "$connector"
"""The group of connections that the router makes."""


@dataclass(frozen=True, slots=True)
class HostRange:
    """A range of host addresses, as numbers of one IP version."""

    version: int
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSettings:
    """The rights of the users of one group of a vhost."""

    name: str
    users: tuple[str, ...] = ()
    """`*` stands for everybody in no other group."""
    from_any_host: bool = False
    remote_hosts: tuple[HostRange, ...] = ()
    """The hosts that its users may connect from; empty allows any."""
    max_connections_per_user: int | None = None
    """None stands for the limit of the vhost."""
    max_connections_per_host: int | None = None
    max_message_size: int | None = None
    """In octets; None stands for the limit of the vhost, 0 is no bound."""
    max_frame_size: int = 0
    """In octets; 0 stands for the limit of the listener."""
    max_session_window: int = 0
    """The incoming window of a session in octets; 0 stands for that of the listener."""
    max_sessions: int = 0
    """0 stands for the limit of the listener."""
    max_senders: int = LINKS_MAX
    """0 is no bound; the same holds for receivers."""
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
    """Names of sources: plain ones, prefixes that end in `*`, or `*`; `${user}` stands for the user."""
    targets: tuple[str, ...] = ()
    """The same for targets."""
    source_patterns: tuple[str, ...] = ()
    """Patterns of words, in place of `sources`."""
    target_patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class VhostSettings:
    """The settings of one vhost."""

    hostname: str
    aliases: tuple[str, ...] = ()
    max_connections: int = CONNECTIONS_MAX
    max_connections_per_user: int = CONNECTIONS_MAX
    max_connections_per_host: int = CONNECTIONS_MAX
    max_message_size: int | None = None
    """In octets; None stands for the limit of the router, 0 is no bound."""
    allows_unknown_user: bool = False
    groups: tuple[GroupSettings, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicySettings:
    """The settings of the router."""

    max_connections: int = CONNECTIONS_MAX
    """Limit of accepted sockets, with or without enforcement of vhosts."""
    max_message_size: int = 0
    """In octets; 0 is no bound."""
    is_enforced: bool = False
    """Whether the policy of vhosts is enforced."""
    uses_name_patterns: bool = False
    """Whether names of vhosts are patterns."""
    default_vhost: str = "$default"
    """The vhost for connections that match no other; empty for none."""
