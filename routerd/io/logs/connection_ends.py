"""Which connection a line of the log is about, in the words that operators of the old router look for."""

from routerd.config import ConnectorConfig, ListenerConfig
from routerd.core import Peer


def ends_of(peer: Peer) -> str:
    """Return where a connection comes from, and the listener, or where it leads, and the connector."""
    host = "unknown" if peer.shell is None else peer.shell.host
    details = peer.details
    if isinstance(details, ListenerConfig):
        return f"from {host} (to {details.address})"
    if isinstance(details, ConnectorConfig):
        return f"to {host} ({details.identity})"
    return f"{'to' if peer.is_initiator else 'from'} {host}"


def failure_of(peer: Peer, reason: str) -> str:
    """Return the line of a connection that ends before its time."""
    return f"[C{peer.number}] Connection {ends_of(peer)} failed: {reason}"
