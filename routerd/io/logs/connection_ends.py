"""Which connection a line of the log is about, in the words that operators of the old router look for."""

from routerd.config import ConnectorConfig, ListenerConfig
from routerd.core import Peer
from routerd.wire import Open


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


def opening_of(peer: Peer, performative: Open, host: str) -> str:
    """Return the line of a connection that is open: what the peer says of itself, and how it was let in."""
    sasl = peer.connection.sasl
    mechanism = None if sasl is None else sasl.mechanism
    properties = performative.properties
    fields = {
        "dir": "out" if peer.is_initiator else "in",
        "host": host,
        "vhost": performative.hostname or "",
        "encrypted": getattr(peer.shell, "tls_protocol", None) or "no",
        "auth": mechanism or "no",
        "user": (sasl and sasl.identity) or ("anonymous" if mechanism in (None, "ANONYMOUS") else "(null)"),
        "container_id": performative.container_id,
        "props": "{" + ", ".join(f":{key}={value!r}" for key, value in properties.items()) + "}" if properties else "",
    }
    return f"[C{peer.number}] Connection Opened: " + " ".join(f"{name}={value}" for name, value in fields.items())
