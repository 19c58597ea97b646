"""The distance of a peer, and the octets that have to be under way to keep it busy."""

import asyncio
import socket
import struct
from asyncio.trsock import TransportSocket

from routerd.core import REACH_OCTETS

OCTETS_A_SECOND = 1_250_000_000
"""The rate of a network of 10 Gbit/s."""
_RTT = struct.Struct("=68xI")
"""The place of the smoothed round trip time, in microseconds, in the kernel's data of a TCP connection."""


def reach_octets(transport: asyncio.BaseTransport) -> int:
    """Return the octets of large messages that a producer at the other end may have under way."""
    found = transport.get_extra_info("socket")
    return REACH_OCTETS if found is None else octets_within(round_trip_s(found))


def round_trip_s(found: socket.socket | TransportSocket) -> float:
    """Return the round trip time; 0 without TCP, or without a connection any more."""
    try:
        (microseconds,) = _RTT.unpack(found.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RTT.size))
    except (OSError, struct.error):
        return 0.0
    return float(microseconds) / 1e6


def octets_within(span_s: float) -> int:
    """Return the octets that pass within a round trip; if they are few, those that fit into caches."""
    return max(REACH_OCTETS, int(span_s * OCTETS_A_SECOND))
