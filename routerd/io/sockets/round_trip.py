"""How far away a peer is, and how much is therefore to be under way to be always busy with it."""

import asyncio
import socket
import struct
from asyncio.trsock import TransportSocket

from routerd.core import REACH_OCTETS

OCTETS_A_SECOND = 1_250_000_000
"""Of a network of 10 Gbit/s."""
_RTT = struct.Struct("=68xI")
"""Where the kernel has the smoothed round trip time, in microseconds, in what it tells of a TCP connection."""


def reach_octets(transport: asyncio.BaseTransport) -> int:
    """Return how many octets of large messages a producer at the other end may have under way."""
    found = transport.get_extra_info("socket")
    return REACH_OCTETS if found is None else octets_within(round_trip_s(found))


def round_trip_s(found: socket.socket | TransportSocket) -> float:
    """Return how long it takes to the other end and back; 0 where there is no TCP, or no connection any more."""
    try:
        (microseconds,) = _RTT.unpack(found.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RTT.size))
    except (OSError, struct.error):
        return 0.0
    return float(microseconds) / 1e6


def octets_within(span_s: float) -> int:
    """Return what passes while an answer is on its way; where that is next to nothing, what caches have room for."""
    return max(REACH_OCTETS, int(span_s * OCTETS_A_SECOND))
