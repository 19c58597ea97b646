"""The counters of policy: admitted and refused (5.7)."""

from dataclasses import dataclass, field

NAMES_MAX = 10_000
"""Limit of the users, and hosts, of a vhost that are shown without a connection."""


@dataclass(slots=True)
class PolicyCounters:
    """The counters of a worker."""

    connections_processed: int = 0
    """Accepted sockets."""
    connections_denied: int = 0
    """Sockets beyond the limit of all."""
    links_denied: int = 0
    message_size_denied: int = 0
    total_denials: int = 0


@dataclass(slots=True)
class VhostCounters:
    """The counters of a vhost."""

    connections_approved: int = 0
    connections_denied: int = 0
    connections_current: int = 0
    by_user: dict[str, list[str]] = field(default_factory=dict)
    """The connections of each user, as `address:port`; a user keeps an entry without connections."""
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
        """Stop counting a connection."""
        self.connections_current -= 1
        for places, key in ((self.by_user, user), (self.by_host, host)):
            places[key].remove(name)


def _forget_one(places: dict[str, list[str]]) -> None:
    """Make room: remove the oldest entry without connections."""
    unused = next((key for key, names in places.items() if not names), None)
    if unused is not None:
        del places[unused]
