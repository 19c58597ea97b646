"""What policy has let in and refused (5.7)."""

from dataclasses import dataclass, field

NAMES_MAX = 10_000
"""Users, and hosts, of a vhost that are shown although they have no connection any more."""


@dataclass(slots=True)
class PolicyCounters:
    """Of a worker as a whole."""

    connections_processed: int = 0
    """Sockets that were accepted."""
    connections_denied: int = 0
    """Those beyond the limit of all."""
    links_denied: int = 0
    message_size_denied: int = 0
    total_denials: int = 0


@dataclass(slots=True)
class VhostCounters:
    """Of a vhost."""

    connections_approved: int = 0
    connections_denied: int = 0
    connections_current: int = 0
    by_user: dict[str, list[str]] = field(default_factory=dict)
    """Who is connected, as `address:port`; a user keeps its place without connections."""
    by_host: dict[str, list[str]] = field(default_factory=dict)
    sessions_denied: int = 0
    senders_denied: int = 0
    receivers_denied: int = 0
    message_size_denied: int = 0

    def connected(self, user: str, host: str, name: str) -> None:
        """Count a connection."""
        self.connections_approved += 1
        self.connections_current += 1
        for places, key in ((self.by_user, user), (self.by_host, host)):
            if key not in places and len(places) >= NAMES_MAX:
                _forget_one(places)
            places.setdefault(key, []).append(name)

    def disconnected(self, user: str, host: str, name: str) -> None:
        """Count it no more."""
        self.connections_current -= 1
        for places, key in ((self.by_user, user), (self.by_host, host)):
            places[key].remove(name)


def _forget_one(places: dict[str, list[str]]) -> None:
    """Make room: of those without connections the one that came first goes."""
    unused = next((key for key, names in places.items() if not names), None)
    if unused is not None:
        del places[unused]
