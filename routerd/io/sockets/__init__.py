"""Sockets, and what octets pass between a socket and an engine.

`ports` are bound, an `acceptor` accepts. `transport` is a connection's socket, `tls_transport` is one with TLS, and
`worker_turn` has the path of all octets. `deadlines`, `round_trip` and `stuck_outputs` watch connections.
"""

from routerd.io.sockets.acceptor import Acceptor, Shortage
from routerd.io.sockets.deadlines import NEVER, Deadlines
from routerd.io.sockets.ports import Endpoint, ListenFailed, Reservation, bind, endpoints_of, reserve
from routerd.io.sockets.stuck_outputs import STUCK_S, StuckOutputs
from routerd.io.sockets.tls_transport import TlsTransport, transport_at, transport_to
from routerd.io.sockets.transport import Transport, TransportHost, peer_name
from routerd.io.sockets.worker_turn import READ_SIZE, Turn

__all__ = [
    "NEVER",
    "READ_SIZE",
    "STUCK_S",
    "Acceptor",
    "Deadlines",
    "Endpoint",
    "ListenFailed",
    "Reservation",
    "Shortage",
    "StuckOutputs",
    "TlsTransport",
    "Transport",
    "TransportHost",
    "Turn",
    "bind",
    "endpoints_of",
    "peer_name",
    "reserve",
    "transport_at",
    "transport_to",
]
