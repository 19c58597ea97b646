"""Sockets, and what octets pass between a socket and an engine.

`ports` are bound, an `acceptor` accepts. `transport` is a connection's socket, `filtered_transport` is one
with `filters` between socket and engine, and `worker_turn` has the path of all octets. `deadlines`, `round_trip` and
`stuck_outputs` watch connections.
"""

from routerd.io.sockets.acceptor import Acceptor, Shortage
from routerd.io.sockets.deadlines import NEVER, Deadlines
from routerd.io.sockets.filtered_transport import FilteredTransport
from routerd.io.sockets.filters import Filter, FilterBuffers, Octets, Security
from routerd.io.sockets.ports import Endpoint, ListenFailed, Reservation, bind, endpoints_of, reserve
from routerd.io.sockets.stuck_outputs import STUCK_S, StuckOutputs
from routerd.io.sockets.transport import Transport, TransportHost, peer_name
from routerd.io.sockets.worker_turn import READ_SIZE, Turn

__all__ = [
    "NEVER",
    "READ_SIZE",
    "STUCK_S",
    "Acceptor",
    "Deadlines",
    "Endpoint",
    "Filter",
    "FilterBuffers",
    "FilteredTransport",
    "ListenFailed",
    "Octets",
    "Reservation",
    "Security",
    "Shortage",
    "StuckOutputs",
    "Transport",
    "TransportHost",
    "Turn",
    "bind",
    "endpoints_of",
    "peer_name",
    "reserve",
]
