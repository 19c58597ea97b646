"""The gate of a worker: it checks connections, sessions and links against policy (10.2, 10.3).

It is asked when one of them begins, never for each message. Only links of some groups have a `MessageGuard`.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from routerd.core.directory.link_routes import ADDRESS_PROPERTY
from routerd.core.links.peer import Peer
from routerd.core.policy.account import Account, Resume
from routerd.core.policy.counters import PolicyCounters, VhostCounters
from routerd.core.policy.grant import Grant
from routerd.core.policy.hosts import host_of
from routerd.core.policy.ledger import Seat, SeatLimits
from routerd.core.policy.message_guard import MessageGuard
from routerd.core.policy.rulebook import Refusal, Rulebook
from routerd.core.policy.service_rules import ServiceRules
from routerd.core.policy.settings import PolicySettings, VhostSettings
from routerd.core.policy.vhost import KNOWN_NAMES_MAX, Group
from routerd.wire import ConnectionState, Coordinator, Error, Open, Source, Target

if TYPE_CHECKING:
    from routerd.core.observer import Observer
    from routerd.wire import Attach, ConnectionConfig, Link

CONNECTION_DENIED = Error(
    condition="amqp:resource-limit-exceeded", description="connection disallowed by local policy"
)
SESSION_DENIED = Error(condition="amqp:resource-limit-exceeded", description="session disallowed by local policy")
TOO_MANY_LINKS = Error(condition="amqp:resource-limit-exceeded", description="link disallowed by local policy")
LINK_DENIED = Error(condition="amqp:unauthorized-access", description="link disallowed by local policy")
MESSAGE_TOO_LARGE = Error(condition="amqp:connection:forced", description="Message size exceeded")

NOBODY = "anonymous"
"""The user name of a peer that did not authenticate."""
_WAYPOINT = "qd.waypoint"
_FALLBACK = "qd.fallback"
_OPEN_RCVD = ConnectionState.OPEN_RCVD
_LEAST_FRAME = 512

Proceed = Callable[[Peer, "Open | None"], None]
"""Continues with a connection that waited. With the peer's open it answers it, without one the connection was refused.
"""


class Gate:
    """Admits or refuses connections, sessions and links of a worker."""

    def __init__(
        self,
        settings: PolicySettings,
        vhosts: Iterable[VhostSettings],
        observer: "Observer",
        proceed: Proceed,
        *,
        is_alone: bool = True,
    ) -> None:
        """`is_alone`: no other worker has connections that count."""
        self.rules = Rulebook(settings, vhosts)
        self.account = Account(settings.max_connections, self._decided, is_alone=is_alone)
        self.counters = PolicyCounters()
        self.vhosts: dict[str, VhostCounters] = {name: VhostCounters() for name in self.rules.names}
        """By name; the counters of a vhost stay when it is deleted."""
        self._observer = observer
        self._proceed = proceed
        self._waiting: dict[int, tuple[Peer, Open, Grant]] = {}
        self._seated: dict[int, tuple[Grant, str]] = {}

    # --- configuration

    def configure(self, settings: VhostSettings) -> None:
        """Configure a vhost, or replace the one of this name; new connections and links follow it."""
        self.rules.configure(settings)
        self.vhosts.setdefault(settings.hostname, VhostCounters())

    def forget(self, hostname: str) -> None:
        """Remove a vhost."""
        self.rules.forget(hostname)

    # --- sockets

    def accept(self, resume: Resume) -> bool | None:
        """Return whether an accepted socket may stay; None means that `resume` gets the answer."""
        self.counters.connections_processed += 1

        def count(may_stay: bool) -> None:
            if not may_stay:
                self._deny_socket()
            resume(may_stay)

        may_stay = self.account.accept(count)
        if may_stay is False:
            self._deny_socket()
        return may_stay

    def _deny_socket(self) -> None:
        self.counters.connections_denied += 1
        self.counters.total_denials += 1

    def socket_closed(self) -> None:
        """Stop counting an accepted socket."""
        self.account.socket_closed()

    # --- connections

    def governs(self, peer: Peer) -> bool:
        """Whether policy applies to a connection."""
        if not self.rules.settings.is_enforced or not peer.is_external:
            return False
        if peer.is_initiator:
            return peer.policy_vhost is not None and not (peer.is_router or peer.is_edge)
        return not peer.is_router

    def holds(self, peer: Peer, performative: Open) -> bool:
        """Whether a connection must not proceed: it is refused, or waits for the ledger."""
        if not self.governs(peer):
            if peer.service_rules is not None:
                self._admit_by_service(peer, performative, peer.service_rules)
            return False
        name = performative.hostname or "" if peer.policy_vhost is None else peer.policy_vhost
        host = host_of(getattr(peer.shell, "host", ""))
        user = peer.user or NOBODY
        rules = self.rules
        group = rules.connector_group(name) if peer.is_initiator else rules.group_for(name, user, host)
        if isinstance(group, Refusal):
            vhost = rules.vhost_for(name)
            found = None if vhost is None else vhost.settings.hostname
            self._deny(peer, user, host, found or name, group.reason, found)
            return True
        if peer.service_rules is not None:
            group = peer.service_rules.group(group.vhost, group)
        grant = Grant(rules.edition, group, user, host)
        if peer.is_initiator:
            self._admit(peer, grant)
            return False
        return self._is_held(peer, performative, grant, group)

    def _admit_by_service(self, peer: Peer, performative: Open, rules: ServiceRules) -> None:
        """Admit a connection without a vhost: only the authentication service limits it."""
        group = rules.group(performative.hostname or "", None)
        host = host_of(getattr(peer.shell, "host", ""))
        peer.grant = Grant(self.rules.edition, group, peer.user or NOBODY, host)

    def _is_held(self, peer: Peer, performative: Open, grant: Grant, group: Group) -> bool:
        ours = self.rules.settings_of(grant.vhost)
        of_user, of_host = group.settings.max_connections_per_user, group.settings.max_connections_per_host
        limits = SeatLimits(
            ours.max_connections,
            ours.max_connections_per_user if of_user is None else of_user,
            ours.max_connections_per_host if of_host is None else of_host,
        )
        seat = Seat(peer.number, grant.vhost, grant.user, grant.host)
        is_decided, reason = self.account.ask(seat, limits)
        if not is_decided:
            # Frames that the peer sends before our open are kept until then.
            self._waiting[peer.number] = (peer, performative, grant)
            peer.connection.hold()
            return True
        if reason is not None:
            self._deny(peer, grant.user, grant.host, grant.vhost, reason, grant.vhost)
            return True
        self._seat(peer, grant)
        return False

    def _decided(self, connection: int, reason: str | None) -> None:
        peer, performative, grant = self._waiting.pop(connection)
        if reason is None:
            self._seat(peer, grant)
            self._proceed(peer, performative)
        else:
            self._deny(peer, grant.user, grant.host, grant.vhost, reason, grant.vhost)
            self._proceed(peer, None)

    def _seat(self, peer: Peer, grant: Grant) -> None:
        name = getattr(peer.shell, "host", "")
        self._seated[peer.number] = (grant, name)
        self._counters_of(grant.vhost).connected(grant.user, grant.host, name)
        self._admit(peer, grant)

    def _admit(self, peer: Peer, grant: Grant) -> None:
        group = grant.group
        assert group is not None, "it was let in by its group"
        peer.grant = grant
        peer.max_message_size = group.max_message_size
        self._observer.connection_allowed(peer, grant.user, grant.host, grant.vhost, group.settings.name)

    def _deny(self, peer: Peer, user: str, host: str, vhost: str, reason: str, counted: str | None) -> None:
        if counted is not None:
            self._counters_of(counted).connections_denied += 1
        self._observer.connection_denied(peer, user, host, vhost, reason)
        connection = peer.connection
        if connection.state is _OPEN_RCVD:
            connection.open()
        connection.close(CONNECTION_DENIED)
        if peer.shell is not None:
            peer.shell.end_soon()

    def told(self, peer: Peer) -> "ConnectionConfig | None":
        """Return the configuration for our open to a peer; None for that of its listener."""
        grant: Grant | None = peer.grant
        if grant is None or grant.group is None or peer.is_initiator:
            return None
        settings = grant.group.settings
        config = peer.connection.config
        frame, sessions = settings.max_frame_size, settings.max_sessions
        if not frame and not sessions:
            return None
        return replace(
            config,
            max_frame_size=max(_LEAST_FRAME, min(frame, 0xFFFFFFFF)) if frame else config.max_frame_size,
            channel_max=min(sessions - 1, config.channel_max) if sessions else config.channel_max,
        )

    def closed(self, peer: Peer) -> None:
        """Forget a connection."""
        if self._waiting.pop(peer.number, None) is not None:
            self.account.leave(peer.number)
        grant: Grant | None = peer.grant
        if grant is None:
            return
        seated = self._seated.pop(peer.number, None)
        if seated is not None:
            self.account.leave(peer.number)
            self._counters_of(grant.vhost).disconnected(grant.user, grant.host, seated[1])
        self._observer.policy_summary(peer, grant, self.vhosts.get(grant.vhost))

    # --- sessions

    def session_window(self, peer: Peer) -> int | None:
        """Return the incoming window of a session, in frames; None for that of the listener."""
        group = None if peer.is_initiator else peer.grant.group
        window = 0 if group is None else group.settings.max_session_window
        return min(0x7FFFFFFF, max(1, window // peer.connection.config.max_frame_size)) if window else None

    def session_error(self, peer: Peer) -> Error | None:
        """Return the error if a session is refused; otherwise count it until `session_ended`."""
        grant: Grant = peer.grant
        group = self._current(peer)
        most = 0 if group is None or peer.is_initiator else group.settings.max_sessions
        if most and grant.sessions >= most:
            grant.sessions_denied += 1
            self._counters_of(grant.vhost).sessions_denied += 1
            self.counters.total_denials += 1
            self._observer.session_denied(peer, grant)
            return SESSION_DENIED
        grant.sessions += 1
        return None

    def session_ended(self, peer: Peer) -> None:
        """Stop counting a session."""
        peer.grant.sessions -= 1

    # --- links

    def link_error(self, peer: Peer, link: "Link", performative: "Attach") -> Error | None:
        """Return the error if a peer's attach is refused; not called for links that the grant knows."""
        grant: Grant = peer.grant
        group = self._current(peer)
        error: Error | None
        if group is None:
            error, what = LINK_DENIED, "nothing is configured for the user any more"
        elif link.is_sender:
            error, what = self._consumer_error(peer, group, performative)
        else:
            error, what = self._producer_error(peer, group, performative)
        if error is None:
            return None
        counters = self._counters_of(grant.vhost)
        if link.is_sender:
            grant.receivers_denied += 1
            counters.receivers_denied += 1
        else:
            grant.senders_denied += 1
            counters.senders_denied += 1
        self.counters.links_denied += 1
        self.counters.total_denials += 1
        self._observer.link_denied(peer, grant, link, what)
        return error

    def _consumer_error(self, peer: Peer, group: Group, performative: "Attach") -> tuple[Error | None, str]:
        settings = group.settings
        source = performative.source
        if settings.max_receivers and len(peer.outlets) + peer.routed_out >= settings.max_receivers:
            return TOO_MANY_LINKS, "maxReceivers"
        if not isinstance(source, Source):
            return LINK_DENIED, "no source"
        if source.dynamic:
            if not settings.allows_dynamic_source:
                return LINK_DENIED, "allowDynamicSource"
            routed = _routed_address(source)
            if routed and not group.sources.allow(routed, peer.grant.user):
                return LINK_DENIED, "source name"
            return None, ""
        if not _is_named(source.address):
            return LINK_DENIED, "no source"
        if not group.sources.allow(source.address, peer.grant.user):
            return LINK_DENIED, "source name"
        _remember(peer.grant.sources, source.address)
        return _capability_error(group, source)

    def _producer_error(self, peer: Peer, group: Group, performative: "Attach") -> tuple[Error | None, str]:
        settings = group.settings
        target: Any = performative.target
        if settings.max_senders and len(peer.inlets) + peer.routed_in >= settings.max_senders:
            return TOO_MANY_LINKS, "maxSenders"
        if not isinstance(target, (Target, Coordinator)):
            # Policy has no rule for what is no target.
            return None, ""
        if isinstance(target, Coordinator) or target.dynamic or not target.address:
            if not settings.allows_anonymous_sender:
                return LINK_DENIED, "allowAnonymousSender"
            routed = _routed_address(target)
            if routed and not group.targets.allow(routed, peer.grant.user):
                return LINK_DENIED, "target name"
            return None, ""
        if not _is_named(target.address) or not group.targets.allow(target.address, peer.grant.user):
            return LINK_DENIED, "target name"
        _remember(peer.grant.targets, target.address)
        return _capability_error(group, target)

    def guard_for(self, peer: Peer, address: str | None, finds_own: bool = False) -> MessageGuard | None:
        """Return the check of a producer's messages; None if they need none."""
        group = peer.grant.group
        guard = MessageGuard(group, peer.grant.user, address, finds_own)
        return guard if guard.is_needed else None

    def message_too_large(self, peer: Peer, link: int) -> None:
        """Count a message beyond the limit, which closes the connection; `link` is the number of its link."""
        grant: Grant = peer.grant
        grant.message_size_denied += 1
        self._counters_of(grant.vhost).message_size_denied += 1
        self.counters.message_size_denied += 1
        self.counters.total_denials += 1
        self._observer.message_size_denied(peer, link)

    def _current(self, peer: Peer) -> Group | None:
        """Return the group of a connection in the present configuration."""
        grant: Grant = peer.grant
        if not grant.is_current:
            grant.use(self._group_now(peer, grant))
            peer.max_message_size = 0 if grant.group is None else grant.group.max_message_size
        return grant.group

    def _group_now(self, peer: Peer, grant: Grant) -> Group | None:
        if not self.governs(peer):
            return grant.group
        group = self.rules.current_group(grant.vhost, grant.user, is_connector=peer.is_initiator)
        if group is None or peer.service_rules is None:
            return group
        found: Group = peer.service_rules.group(group.vhost, group)
        return found

    def _counters_of(self, vhost: str) -> VhostCounters:
        # With rules of a service alone, the peer itself names the vhost: no counters are kept for it.
        return self.vhosts.get(vhost) or VhostCounters()


def _remember(names: set[str], name: str) -> None:
    if len(names) >= KNOWN_NAMES_MAX:
        names.clear()
    names.add(name)


def _is_named(address: object) -> bool:
    return isinstance(address, str) and address != ""


def _routed_address(terminus: Source | Target | Coordinator) -> str:
    """Return the address by which a link to a dynamic node is routed, nothing if it has none."""
    if isinstance(terminus, Coordinator) or not terminus.dynamic:
        return ""
    address = (terminus.dynamic_node_properties or {}).get(ADDRESS_PROPERTY)
    return str(address) if isinstance(address, str) else ""


def _capability_error(group: Group, terminus: Source | Target) -> tuple[Error | None, str]:
    for capability in terminus.capabilities:
        if capability.startswith(_WAYPOINT) and not group.settings.allows_waypoint_links:
            return LINK_DENIED, "allowWaypointLinks"
        if capability == _FALLBACK and not group.settings.allows_fallback_links:
            return LINK_DENIED, "allowFallbackLinks"
    return None, ""
