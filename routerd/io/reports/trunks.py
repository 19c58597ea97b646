"""The connections of a worker to other routers."""

from collections.abc import Sequence

from routerd.core import Peer, Router
from routerd.management import TrunkRow


def trunk_rows(router: Router) -> tuple[Sequence[TrunkRow], int]:
    """Return the trunks and uplinks that are open, and how many edge routers are connected."""
    open_peers = [peer for peer in router.peers.values() if peer.is_open]
    trunks = [_row(peer) for peer in open_peers if peer.is_router or (peer.is_edge and peer.is_initiator)]
    return trunks, sum(peer.is_edge and not peer.is_initiator for peer in open_peers)


def _row(peer: Peer) -> TrunkRow:
    remote = peer.connection.remote_open
    # That of a trunk is the higher one of both ends.
    cost = peer.cost if peer.trunk is None else peer.trunk.cost
    return TrunkRow(router=remote.container_id if remote else "", role=peer.role_name, cost=cost)
