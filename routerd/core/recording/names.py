"""The words of records: outcomes, causes, and the names of links and addresses."""

from typing import TYPE_CHECKING

from routerd.core.directory.addresses import AddressClass, parts_of
from routerd.core.errors import InvalidKey

if TYPE_CHECKING:
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.inlet import Inlet
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.peer import Peer

OUTCOME_WORDS = ("accepted", "rejected", "released", "modified", "presettled", "dropped")
RECORDED_ACCEPTED, RECORDED_REJECTED, RECORDED_RELEASED, RECORDED_MODIFIED, RECORDED_PRESETTLED = range(5)
RECORDED_DROPPED = 5
CAUSE_WORDS = (
    *("", "no-consumer", "no-route", "loop", "consumer-lost", "trunk-lost", "consumer-decided", "too-large"),
    *("too-many-wait", "policy"),
)
NO_CAUSE, NO_CONSUMER, NO_ROUTE, LOOP, CONSUMER_LOST, TRUNK_LOST, CONSUMER_DECIDED, TOO_LARGE = range(8)
TOO_MANY_WAIT = 8
POLICY = 9

CLIENT_KIND = "client"
TRUNK_KIND = "trunk"
EDGE_KIND = "edge"
SIBLING_KIND = "sibling"
ROUTER_KIND = "router"


def container_of(peer: "Peer") -> str:
    """Return the container-id of the peer."""
    remote = peer.connection.remote_open
    return remote.container_id if remote is not None else ""


def kind_of(peer: "Peer") -> str:
    """Return the kind of a connection's peer, as in records."""
    if peer.is_router:
        return TRUNK_KIND
    if peer.is_edge:
        return EDGE_KIND
    if peer.is_inner:
        return ROUTER_KIND
    return SIBLING_KIND if peer.is_fabric else CLIENT_KIND


def link_text(end: "Inlet | Outlet") -> str:
    """Return the name of a link in records: its peer, and the peer's name for it."""
    peer = end.peer
    if peer.is_router:
        return f"trunk/{container_of(peer)}"
    if peer.is_edge:
        return f"edge/{container_of(peer)}"
    if peer.is_inner:
        return f"router/{end.link.name}"
    return f"sibling/{peer.sibling}" if peer.is_fabric else f"{container_of(peer)}/{end.link.name}"


def route_text(route: "AddressRoute") -> str:
    """Return the name of the connection that a route uses."""
    return f"{route_kind(route)}/{route.next_hop}"


def route_kind(route: "AddressRoute") -> str:
    """Return the kind of the far end of a route."""
    return EDGE_KIND if route.end is not None and route.end.peer.is_edge else TRUNK_KIND


def address_text(key: str, router_id: str) -> tuple[str, int]:
    """Return an address as clients write it, and its phase."""
    try:
        parts = parts_of(key)
    except InvalidKey:
        return key, 0
    match parts.address_class:
        case AddressClass.MOBILE:
            return parts.text, parts.phase or 0
        case AddressClass.LOCAL:
            # The address of a dynamic source has this name in the whole network.
            place = f"_topo/0/{router_id}" if parts.text.startswith("temp.") else "_local"
            return f"{place}/{parts.text}", 0
        case AddressClass.TOPOLOGICAL:
            return f"_topo/0/all/{parts.text}", 0
        case AddressClass.ROUTER:
            return f"_topo/0/{parts.text}", 0
        case AddressClass.EDGE:
            return f"_edge/{parts.text}", 0
    return parts.text, 0
