"""Octets of a worker's connections over their lives, by who is at the other end."""

from routerd.core import Peer

CLIENT, ROUTER, FABRIC = KINDS = ("client", "router", "fabric")


class OctetTotals:
    """Sums over connections: what came for their engines, and what these have sent."""

    def __init__(self) -> None:
        self.octets_in = dict.fromkeys(KINDS, 0)
        self.octets_out = dict.fromkeys(KINDS, 0)

    def add(self, peer: Peer) -> None:
        """Add a connection, which has no octets if it is to the inside of the router."""
        kind = FABRIC if peer.is_fabric else ROUTER if peer.is_router or peer.is_edge else CLIENT
        self.octets_in[kind] += getattr(peer.shell, "octets_in", 0)
        self.octets_out[kind] += getattr(peer.shell, "octets_out", 0)

    def copy(self) -> "OctetTotals":
        """Return a copy to which the present connections can be added."""
        copy = OctetTotals()
        copy.octets_in.update(self.octets_in)
        copy.octets_out.update(self.octets_out)
        return copy
