"""The events that a router reports to its observer: connections, links, and faults of peers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.peer import Peer
    from routerd.core.links.routed_end import RoutedEnd
    from routerd.core.policy.counters import VhostCounters
    from routerd.core.policy.grant import Grant
    from routerd.core.roles.containers import ContainerUse
    from routerd.wire import Error, Link, Open, RemoteError


class Observer:
    """Takes the events of a router; each method does nothing until it is overridden."""

    def connection_opened(self, peer: "Peer", performative: "Open") -> None:
        """A peer opened a connection, and the router answered."""

    def connection_closed(self, peer: "Peer", error: "Error | None") -> None:
        """A connection is over; its links were reported before."""

    def violation(self, peer: "Peer", error: "RemoteError") -> None:
        """A peer broke the protocol; the error is the one sent to the peer."""

    def heartbeat_lost(self, peer: "Peer", silence_s: float) -> None:
        """An edge router was silent for too long; its connection is being closed."""

    def authentication_failed(self, peer: "Peer") -> None:
        """The authentication of a peer failed."""

    def connection_allowed(self, peer: "Peer", user: str, host: str, vhost: str, group: str) -> None:
        """Policy allowed a connection."""

    def connection_denied(self, peer: "Peer", user: str, host: str, vhost: str, reason: str) -> None:
        """Policy refused a connection."""

    def session_denied(self, peer: "Peer", grant: "Grant") -> None:
        """Policy refused a session."""

    def link_denied(self, peer: "Peer", grant: "Grant", link: "Link", what: str) -> None:
        """Policy refused a link, by the rule or limit that is named."""

    def message_size_denied(self, peer: "Peer", link: int) -> None:
        """A message was too large, so its connection is closed. `link` is the number of its link."""

    def policy_summary(self, peer: "Peer", grant: "Grant", counters: "VhostCounters | None") -> None:
        """A connection under policy is over. `counters` are those of its vhost here; None if none are kept."""

    def link_attached(self, end: "Inlet | Outlet | RoutedEnd") -> None:
        """A link was attached."""

    def link_refused(self, link: "Link", error: "Error") -> None:
        """A peer's attach was refused."""

    def message_received(
        self, inlet: "Inlet", data: bytes | bytearray, start: int, end: int, is_partial: bool
    ) -> None:
        """A message, or its beginning, came in on a watched link; `data` is only lent."""

    def message_sent(
        self, outlet: "Outlet", data: bytes | bytearray, start: int, end: int, is_partial: bool
    ) -> None:
        """A message, or its beginning, left by a watched link; `data` is only lent."""

    def endpoint_failed(self, address: str, error: Exception) -> None:
        """An endpoint inside the router raised an error for a message; the message was rejected."""

    def link_route_added(self, name: str, pattern: str) -> None:
        """A link route has been configured, for addresses that match a pattern."""

    def link_route_removed(self, name: str, pattern: str) -> None:
        """A link route is configured no more."""

    def use_activated(self, use: "ContainerUse") -> None:
        """A link route or an auto-link has a connection to its container."""

    def use_deactivated(self, use: "ContainerUse") -> None:
        """A link route or an auto-link has lost a connection to its container, or is no more."""

    def auto_link_failed(self, use: "ContainerUse", reason: str) -> None:
        """A container has refused or ended the link of an auto-link; it is attached again later."""

    def link_lost(self, end: "Inlet | Outlet | RoutedEnd", error: "Error | None") -> None:
        """A link is over; its counters are final."""
