"""What policy has let in and refused, over all workers (5.7)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from routerd.management.agent.numbers import whole
from routerd.management.rows import PolicyRow, VhostRow

_POLICY = {
    "connectionsProcessed": "connections_processed",
    "connectionsDenied": "connections_denied",
    "connectionsCurrent": "connections_current",
    "linksDenied": "links_denied",
    "maxMessageSizeDenied": "message_size_denied",
    "totalDenials": "total_denials",
}
_VHOST = {
    "connectionsApproved": "connections_approved",
    "connectionsDenied": "connections_denied",
    "connectionsCurrent": "connections_current",
    "sessionDenied": "sessions_denied",
    "senderDenied": "senders_denied",
    "receiverDenied": "receivers_denied",
    "maxMessageSizeDenied": "message_size_denied",
}


def policy_values(rows: Sequence[PolicyRow]) -> dict[str, Any]:
    """Return the counters of the policy entity."""
    return {name: whole(sum(getattr(row, attribute) for row in rows)) for name, attribute in _POLICY.items()}


def vhost_values(configured: Iterable[str], rows: Sequence[PolicyRow]) -> dict[str, dict[str, Any]]:
    """Return the attributes of the statistics of each vhost, by name; of those that were deleted, too."""
    by_name: dict[str, list[VhostRow]] = {hostname: [] for hostname in configured}
    for row in rows:
        for vhost in row.vhosts:
            by_name.setdefault(vhost.hostname, []).append(vhost)
    return {hostname: _values(hostname, some) for hostname, some in by_name.items()}


def _values(hostname: str, rows: Sequence[VhostRow]) -> dict[str, Any]:
    return {
        "id": hostname,
        "hostname": hostname,
        "perUserState": _joined(row.by_user for row in rows),
        "perHostState": _joined(row.by_host for row in rows),
        **{name: whole(sum(getattr(row, attribute) for row in rows)) for name, attribute in _VHOST.items()},
    }


def _joined(states: Iterable[Mapping[str, Sequence[str]]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for state in states:
        for key, connections in state.items():
            found.setdefault(key, []).extend(connections)
    return found
