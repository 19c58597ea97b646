"""What a worker reports of itself: counters of now, and of all links that ever were."""

from typing import Any

from routerd.core import Inlet, Outlet, Router


def report_of(router: Router, now: float, lag_s: float) -> dict[str, Any]:
    """Return the counters of a worker."""
    totals = router.totals.copy()
    links = 0
    for peer in router.peers.values():
        ends: list[Inlet | Outlet] = [*peer.inlets, *peer.outlets]
        for end in ends:
            totals.add(end)
            links += not peer.is_fabric
    return {
        "connections": sum(not peer.is_fabric for peer in router.peers.values()),
        "links": links,
        "addresses": len(router.addresses),
        "siblings": sum(neighbour.peer is not None for neighbour in router.neighbours.values()),
        "event_loop_lag_s": lag_s,
        "ingress": totals.ingress,
        "egress": totals.egress,
        "fabric_in": totals.fabric_in,
        "fabric_out": totals.fabric_out,
    }
