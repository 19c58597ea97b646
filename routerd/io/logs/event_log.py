"""The log lines for connections and links that come and go."""

import logging
import time

from routerd.config import ListenerConfig
from routerd.core import (
    ContainerUse,
    Grant,
    Inlet,
    Observer,
    Outlet,
    Peer,
    RoutedEnd,
    VhostCounters,
    host_of,
    is_prefix_pattern,
)
from routerd.io.logs.connection_ends import ends_of, failure_of, opening_of
from routerd.io.logs.log_system import module_log
from routerd.io.logs.message_log import log_message
from routerd.io.logs.seldom_log import SeldomLog
from routerd.wire import AuthenticationSkipped, Error, HttpReceived, Link, Open, RemoteError, Scope
from routerd.wire.sasl import SaslFailed

LOST_MAX = 100
"""Limit of the lines about links that end with their session. Each takes longer than its link, and all others wait."""
REASON_MAX = 200
"""Characters of the reason for a failed authentication, including the peer's name."""

_ANNOTATIONS_VERSION = "qd.annotations-version"
"""The property of an open by which routers say which annotations they take."""

_core = module_log("ROUTER_CORE")
_router = module_log("ROUTER")
_server = module_log("SERVER")
_policy = module_log("POLICY")


class EventLog(Observer):
    """Writes the events of connections and links to the log."""

    def __init__(self) -> None:
        self._explained: set[int] = set()
        """The connections whose failure the log has explained."""
        self._probes = SeldomLog(_server, time.monotonic, again_s=1.0)
        """Connections that speak HTTP: probes come again and again."""
        # Connection and channel of the session that ended last, and the number of its links that have ended.
        self._ended = (0, 0)
        self._lost = 0

    def connection_opened(self, peer: Peer, performative: Open) -> None:
        """One line with the fields of the peer's open."""
        version = (performative.properties or {}).get(_ANNOTATIONS_VERSION)
        if version is not None:
            _router.debug("Remote router annotations version: %s", version)
        if not _core.is_info or not peer.is_external:
            return
        _core.info("%s", opening_of(peer, performative, peer.shell.host))

    def connection_closed(self, peer: Peer, error: Error | None) -> None:
        """One line, with the reason if there is one. A connection that was never open has failed."""
        is_explained = peer.number in self._explained
        self._explained.discard(peer.number)
        if not peer.is_external or not getattr(peer.shell, "carries_amqp", True):
            return
        if peer.connection.remote_open is not None:
            if _core.is_info:
                why = _why(peer, error)
                _core.info("[C%d] Connection Closed: %s%s", peer.number, ends_of(peer), f": {why}" if why else "")
        elif not is_explained and not peer.is_initiator and not _failure(peer) and _server.is_info:
            # A connector logs the end of its connections itself. If a connection was given up, the log has the reason.
            _server.info("%s", failure_of(peer, _why(peer, error)))

    def violation(self, peer: Peer, error: RemoteError) -> None:
        """A warning: the fault is the peer's."""
        reason = f"{error.condition}: {error.description}{_demand(peer, error)}"
        if error.scope is Scope.CONNECTION and peer.is_initiator and peer.shell is not None:
            # The connector logs it.
            peer.shell.failure = _login_failed(peer, error.description) if isinstance(error, SaslFailed) else reason
        elif error.scope is Scope.CONNECTION:
            self._explained.add(peer.number)
            if isinstance(error, HttpReceived):
                self._probes.say(logging.WARNING, host_of(peer.shell.host), failure_of(peer, reason))
            else:
                _server.warning("%s", failure_of(peer, reason))
        else:
            _server.warning("[C%d] Connection %s: %s", peer.number, ends_of(peer), reason)

    def heartbeat_lost(self, peer: Peer, silence_s: float) -> None:
        """A warning with the edge router's name."""
        performative = peer.connection.remote_open
        container = "" if performative is None else performative.container_id
        _core.warning(
            "[C%d] Lost heartbeat from edge router %s at %s: none has come for %.1f s; closing the connection",
            peer.number,
            _plain(container),
            "" if peer.shell is None else peer.shell.host,
            silence_s,
        )

    def authentication_failed(self, peer: Peer) -> None:
        """A warning with the mechanism and the reason; a connector adds its own, so it is a line of level info then."""
        sasl = peer.connection.sasl
        failure = getattr(sasl, "failure", None)
        # The reason contains text that the peer chose, so it is cut to a length for a line, without control characters.
        reason = "the exchange was broken off" if sasl is None or sasl.outcome is None else "the peer refuses"
        if failure is not None:
            reason = ascii(failure.reason[:REASON_MAX])[1:-1]
        if peer.is_initiator:
            _server.info("%s", failure_of(peer, _failure(peer) or _login_failed(peer, reason)))
            return
        self._explained.add(peer.number)
        ends = ends_of(peer)
        _server.warning("[C%d] Authentication failed [mech=%s] %s: %s", peer.number, _mechanism(peer), ends, reason)

    def connection_allowed(self, peer: Peer, user: str, host: str, vhost: str, group: str) -> None:
        """One line, for those who check their policy."""
        if _policy.is_debug:
            _policy.debug(
                "[C%d] ALLOW AMQP Open for user '%s', rhost '%s', vhost '%s', group '%s'",
                *(peer.number, _plain(user), host, _plain(vhost), group),
            )

    def connection_denied(self, peer: Peer, user: str, host: str, vhost: str, reason: str) -> None:
        """One line with the reason, which the peer does not get."""
        text = "DENY AMQP Open for user '%s', rhost '%s', vhost '%s': %s"
        _policy.info(text, _plain(user), host, _plain(vhost), reason)

    def session_denied(self, peer: Peer, grant: Grant) -> None:
        """One line."""
        text = "[C%d] DENY AMQP Begin Session due to session limit. user: %s, rhost: %s, vhost: %s"
        _policy.info(text, peer.number, _plain(grant.user), grant.host, _plain(grant.vhost))

    def link_denied(self, peer: Peer, grant: Grant, link: Link, what: str) -> None:
        """One line with the rule or limit."""
        _policy.info(
            "[C%d] DENY AMQP Attach %s link '%s' for user '%s', rhost '%s', vhost '%s' based on %s",
            peer.number,
            "receiver" if link.is_sender else "sender",
            _plain(link.name),
            _plain(grant.user),
            grant.host,
            _plain(grant.vhost),
            what,
        )

    def message_size_denied(self, peer: Peer, link: int) -> None:
        """A warning: the connection is closed for it."""
        _policy.warning("[C%d][L%d] DENY AMQP Transfer maxMessageSize exceeded", peer.number, link)

    def policy_summary(self, peer: Peer, grant: Grant, counters: VhostCounters | None) -> None:
        """One line with the denials of the vhost, as in qdrouterd, and with those of the connection, if it had any."""
        if grant.denials:
            _policy.info(
                "[C%d] Connection closed with sessions_denied=%d, senders_denied=%d, receivers_denied=%d,"
                " max_message_size_denied=%d in vhost '%s', of these %d, %d, %d, %d by this connection",
                *(peer.number, *_denials(grant if counters is None else counters)),
                *(_plain(grant.vhost), *_denials(grant)),
            )

    def message_received(
        self, inlet: Inlet, data: bytes | bytearray, start: int, end: int, is_partial: bool
    ) -> None:
        """One line with the parts of the message that the listener's configuration names."""
        log_message("Received", inlet, data, start, end, is_partial)

    def message_sent(
        self, outlet: Outlet, data: bytes | bytearray, start: int, end: int, is_partial: bool
    ) -> None:
        """The same for a message that leaves."""
        log_message("Sent", outlet, data, start, end, is_partial)

    def endpoint_failed(self, address: str, error: Exception) -> None:
        """A fault of ours, with the traceback."""
        _core.error("Endpoint %s inside the router failed", address, exc_info=error)

    def link_attached(self, end: Inlet | Outlet | RoutedEnd) -> None:
        """One line with the termini."""
        self._lost = 0
        if not _core.is_info or not end.peer.is_external:
            return
        link = end.link
        _core.info(
            "[C%d][L%d] Link attached: dir=%s source={%s} target={%s}",
            end.peer.number,
            end.number,
            "out" if link.is_sender else "in",
            _terminus_text(link.source),
            _terminus_text(link.target),
        )

    def link_refused(self, link: Link, error: Error) -> None:
        """One line with the error that the peer got."""
        if _core.is_info:
            number = link.session.connection.context.number
            _core.info("[C%d] Link %s refused: %s: %s", number, link.name, error.condition, error.description)

    def link_route_added(self, name: str, pattern: str) -> None:
        """One line, for those who check which links are routed."""
        _core.trace("Link route %s added: pattern=%s name=%s", _kind(pattern), pattern, name)

    def link_route_removed(self, name: str, pattern: str) -> None:
        """One line."""
        _core.trace("Link route %s removed: pattern=%s name=%s", _kind(pattern), pattern, name)

    def use_activated(self, use: ContainerUse) -> None:
        """One line."""
        _core.info("%s Activated '%s' on %s", use.kind, use.name, use.place)

    def use_deactivated(self, use: ContainerUse) -> None:
        """One line."""
        _core.info("%s Deactivated '%s' on %s", use.kind, use.name, use.place)

    def auto_link_failed(self, use: ContainerUse, reason: str) -> None:
        """One line with the container's error."""
        _core.info("Auto Link Activation Failed. %s '%s' on %s", _plain(reason), use.name, use.place)

    def link_lost(self, end: Inlet | Outlet | RoutedEnd, error: Error | None) -> None:
        """One line with the outcomes of the deliveries, unless too many links end at once."""
        if not _core.is_info or not end.peer.is_external or self._are_too_many(end):
            return
        _core.info(
            "[C%d][L%d] Link %s: del=%d presett=%d psdrop=%d acc=%d rej=%d rel=%d mod=%d delay1=%d delay10=%d"
            " blocked=%s%s",
            end.peer.number,
            end.number,
            "detached" if end.peer.is_open else "lost",
            end.deliveries,
            end.presettled,
            end.dropped_presettled,
            end.accepted,
            end.rejected,
            end.released,
            end.modified,
            end.delayed_1s,
            end.delayed_10s,
            "yes" if end.link.is_sender and end.link.credit == 0 and end.deliveries == 0 else "no",
            _reason(error),
        )

    def _are_too_many(self, end: Inlet | Outlet | RoutedEnd) -> bool:
        session = end.link.session
        if not session.is_over:
            return False
        ended = (end.peer.number, session.channel)
        if ended != self._ended:
            self._ended = ended
            self._lost = 0
        self._lost += 1
        if self._lost == LOST_MAX + 1:
            _core.info(
                "[C%d] More than %d links end with their session: there is no line for each of the others",
                *(end.peer.number, LOST_MAX),
            )
        return self._lost > LOST_MAX


def _kind(pattern: str) -> str:
    """Return the kind of a link route's pattern: a prefix, or anything else."""
    return "prefix pattern" if is_prefix_pattern(pattern) else "pattern"


def _denials(of: Grant | VhostCounters) -> tuple[int, int, int, int]:
    return of.sessions_denied, of.senders_denied, of.receivers_denied, of.message_size_denied


def _mechanism(peer: Peer) -> str:
    """Return the SASL mechanism of a connection; there is none before a choice."""
    sasl = peer.connection.sasl
    return "none" if sasl is None or sasl.mechanism is None else sasl.mechanism


def _login_failed(peer: Peer, reason: str) -> str:
    """Return what the log says of a connector that is not let in, with the words of qdrouterd."""
    return f"amqp:unauthorized-access Authentication failed [mech={_mechanism(peer)}]: {reason}"


def _plain(text: str) -> str:
    """Return a peer's text, cut to a length for a line and without control characters."""
    return ascii(text[:REASON_MAX])[1:-1]


def _reason(error: Error | None) -> str:
    return "" if error is None else f": {error.condition}: {error.description or ''}"


def _failure(peer: Peer) -> str:
    """Return the text of the log for the end of a connection."""
    return "" if peer.shell is None else str(peer.shell.failure)


def _why(peer: Peer, error: Error | None) -> str:
    if error is not None:
        return f"{error.condition}: {error.description or ''}"
    return "" if peer.shell is None else str(peer.shell.failure or peer.shell.loss)


def _demand(peer: Peer, error: RemoteError) -> str:
    """Return the demand of the listener that the peer did not meet, if it did not authenticate."""
    listener = peer.details
    if not isinstance(error, AuthenticationSkipped) or not isinstance(listener, ListenerConfig):
        return ""
    if not listener.authenticate_peer:
        return " (the peer began SASL, and went on without an outcome)"
    name = listener.address if listener.name is None else f"{listener.name} ({listener.address})"
    return f" (the peer did not authenticate, and SASL is required by listener {name})"


def _terminus_text(terminus: object) -> str:
    address = getattr(terminus, "address", None)
    if address is None:
        return "<none>"
    mark = "(dyn)" if getattr(terminus, "dynamic", False) else ""
    return f"{mark}{address} expire:{getattr(terminus, 'expiry_policy', '')}"
