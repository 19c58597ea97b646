"""Routes links: to a container of this worker, of a sibling, or of another router.

The first worker of a router that sees an attach decides. It may attach at a sibling over the fabric. The name of the
link tells the sibling where to route it: to a container for a key, or over a trunk. Another router decides again.
"""

from typing import TYPE_CHECKING, Any

from routerd.core.directory.addresses import canonical
from routerd.core.roles.claims import Claimant
from routerd.core.roles.routed_links import Wish
from routerd.core.roles.routed_termini import is_resumable, routed_address, with_address
from routerd.core.settings import LinkDirection
from routerd.wire import Attach, Coordinator, Error

if TYPE_CHECKING:
    from routerd.core.directory.directory import Directory
    from routerd.core.directory.link_routes import LinkRoutes, RoutedPattern
    from routerd.core.links.peer import Peer
    from routerd.core.roles.attaching import Attaching
    from routerd.core.roles.edge_lookups import EdgeLookups
    from routerd.core.roles.routed_links import RoutedLinks
    from routerd.core.roles.sibling_lookups import SiblingLookups
    from routerd.core.roles.uplinks import Uplinks
    from routerd.wire.link import Link

ROUTED = "link-route "
"""The prefix of the names of routed links on the fabric."""

_NO_DESTINATION = Error(condition="qd:no-route-to-dest", description="No route to the destination node")
_EXPIRY = Error(condition="qd:link-expiration", description="Requested link expiration not allowed")
_IN = LinkDirection.IN
_OUT = LinkDirection.OUT


class RoutedAttach:
    """An attach for which there is a link route."""

    def __init__(self, peer: "Peer", link: "Link", performative: Attach, name: str, address: str) -> None:
        self.peer = peer
        self.link = link
        self.performative = performative
        self.source: Any = performative.source
        self.target: Any = performative.target
        # The name of the link at its container.
        self.name = name
        # The address as the client wrote it.
        self.address = address
        # The address by which it is routed.
        self.plain_address = address
        terminus = self.source if link.is_sender else self.target
        self.is_resumable = is_resumable(terminus)
        self.is_dynamic = bool(getattr(terminus, "dynamic", False))

    def rename(self, address: str) -> None:
        """Put another address into the terminus that the link is routed by."""
        if self.link.is_sender:
            self.source = with_address(self.source, address)
        else:
            self.target = with_address(self.target, address)


class LinkRouting:
    """Finds the destination of a link, and attaches it there."""

    lookups: "EdgeLookups | None"
    """At an edge router, asks the interior router. Set once by the builder of the parts."""
    uplinks: "Uplinks | None"
    siblings: "SiblingLookups | None"
    """Asks whether a sibling has a container that is not known here. Set once, too."""

    def __init__(
        self,
        directory: "Directory",
        routes: "LinkRoutes",
        attaching: "Attaching",
        links: "RoutedLinks",
        allows_resumable: bool,
        workers: int,
    ) -> None:
        self._directory = directory
        self._routes = routes
        self._attaching = attaching
        self._links = links
        self._allows_resumable = allows_resumable
        self._workers = workers
        self.lookups = None
        self.uplinks = None
        self.siblings = None

    def route(self, peer: "Peer", link: "Link", performative: Attach) -> "bool | Error":
        """Route a peer's link if there is a link route for it; return the error if that is impossible."""
        terminus = performative.source if link.is_sender else performative.target
        is_dynamic = getattr(terminus, "dynamic", False)
        if self.lookups is None and not is_dynamic and not self._routes:
            return False
        text = routed_address(terminus)
        if not text:
            return False
        address = canonical(text)
        if peer.tenant and not address.startswith("_"):
            address = f"{peer.tenant}/{address}"
        pattern = self._match(link, address)
        if pattern is None and self.lookups is None:
            return _NO_DESTINATION if is_dynamic and not peer.is_router else False
        name = performative.name if peer.is_router else f"{performative.name}@{_container_id(peer)}"
        attach = RoutedAttach(peer, link, performative, name, text)
        attach.plain_address = address
        # Only for clients: if the interior router sends a link here, it knows where the link has to go.
        is_ours = peer.is_edge or (pattern is not None and bool(pattern.containers))
        if not is_ours and self.lookups is not None and self.lookups.ask(attach):
            return True
        answer = self._locally(attach, pattern)
        if answer is _NO_DESTINATION and pattern is not None and self.siblings is not None:
            return self.siblings.ask(attach, pattern.key) or answer
        return answer

    def _match(self, link: "Link", address: str) -> "RoutedPattern | None":
        return self._routes.match(address, _OUT if link.is_sender else _IN) if self._routes else None

    def _locally(self, attach: RoutedAttach, pattern: "RoutedPattern | None") -> "bool | Error":
        """Route a link at an edge router without its interior router."""
        if pattern is None:
            return _NO_DESTINATION if attach.is_dynamic and not attach.peer.is_router else False
        error = self._prepare(attach)
        if error is not None:
            return error
        return self._to_container(attach, pattern) or self._elsewhere(attach, pattern) or _NO_DESTINATION

    def _prepare(self, attach: RoutedAttach) -> "Error | None":
        """Write the address of a tenant in full; or return why the link is refused."""
        if attach.is_resumable and not self._allows_resumable:
            return _EXPIRY
        if attach.peer.tenant and attach.plain_address != attach.address:
            attach.rename(attach.plain_address)
        return None

    def without_uplink(self, attach: RoutedAttach) -> "bool | Error":
        """Route a link that the interior router does not route."""
        return self._locally(attach, self._match(attach.link, attach.plain_address))

    def to_uplink(self, attach: RoutedAttach, has_destination: bool) -> "bool | Error":
        """Route a link to the interior router, which has answered that it routes it."""
        uplink = None if self.uplinks is None else self.uplinks.active
        if not has_destination or uplink is None:
            return _NO_DESTINATION
        error = self._prepare(attach)
        if error is not None:
            return error
        peer = uplink.trunk.peer
        # The name contains that of the client, so two clients may use the same name.
        self._connect(attach, Wish(peer, attach.name, attach.performative, attach.source, attach.target))
        return True

    def _to_container(self, attach: RoutedAttach, pattern: "RoutedPattern") -> bool:
        """Hand a link to a container of this worker, if there is one."""
        # An edge router's link never goes back to that edge router.
        found = pattern.container(attach.peer if attach.peer.is_edge else None)
        if found is None:
            return False
        route, peer = found
        if not route.has_prefixes or isinstance(attach.target, Coordinator):
            self._connect(attach, Wish(peer, attach.name, attach.performative, attach.source, attach.target))
            return True
        attach.rename(route.to_container(attach.plain_address))
        wish = Wish(
            peer,
            attach.name,
            attach.performative,
            attach.source,
            attach.target,
            route,
            attach.plain_address,
        )
        self._connect(attach, wish)
        return True

    def _elsewhere(self, attach: RoutedAttach, pattern: "RoutedPattern") -> bool:
        """Route a link to a sibling with a container, or else towards another router with one."""
        key = pattern.key
        sibling = pattern.next_sibling(self._routes.siblings_with(key))
        if sibling is not None:
            return self._to_sibling(attach, sibling, key, "-")
        routers = self._routes.routers_with(key, attach.peer.trunk)
        for _ in range(len(routers)):
            router = pattern.next_router(routers)
            if router is not None and self._towards(attach, self._directory.network.routes[router].trunk, key):
                return True
        return False

    def _towards(self, attach: RoutedAttach, number: int, key: str) -> bool:
        """Route a link over a trunk, of this worker or of a sibling."""
        trunk = self._directory.trunks.get(number)
        if trunk is not None:
            self._connect(
                attach, Wish(trunk.peer, attach.name, attach.performative, attach.source, attach.target)
            )
            return True
        return self._to_sibling(attach, (number - 1) % self._workers, key, str(number))

    def _to_sibling(self, attach: RoutedAttach, worker: int, key: str, trunk: str) -> bool:
        neighbour = self._directory.neighbours.get(worker)
        if neighbour is None or neighbour.peer is None:
            return False
        # The number makes the name unique among those of all siblings.
        name = f"{ROUTED}{self._attaching.take_number()} {trunk} {len(key)} {key}{attach.name}"
        self._connect(attach, Wish(neighbour.peer, name, attach.performative, attach.source, attach.target))
        return True

    def from_sibling(self, peer: "Peer", link: "Link", performative: Attach) -> "bool | Error":
        """Route a sibling's link as that sibling has decided."""
        _, trunk, size, rest = performative.name.removeprefix(ROUTED).split(" ", 3)
        key, name = rest[: int(size)], rest[int(size) :]
        text = routed_address(performative.source if link.is_sender else performative.target)
        attach = RoutedAttach(peer, link, performative, name, text)
        attach.plain_address = canonical(text)
        if trunk != "-":
            number = int(trunk)
            return (number in self._directory.trunks and self._towards(attach, number, key)) or _NO_DESTINATION
        pattern = self._routes.patterns.get(key)
        return (pattern is not None and self._to_container(attach, pattern)) or _NO_DESTINATION

    def _connect(self, attach: RoutedAttach, wish: Wish) -> None:
        terminus = attach.performative.source if attach.link.is_sender else attach.performative.target
        # A dynamic node has no address yet.
        has_address = isinstance(getattr(terminus, "address", None), str)
        address = attach.address if has_address else ""
        self._links.connect(attach.peer, attach.link, wish, address, attach.is_resumable)


class LinkRouteClaim(Claimant):
    """Takes the links for which there is a link route."""

    def __init__(self, routing: LinkRouting) -> None:
        self._routing = routing

    def claim(self, peer: "Peer", link: "Link", performative: Attach) -> "bool | Error":
        """Take a link if it can be routed. Refuse it if it must be routed and cannot be."""
        return False if peer.is_inner else self._routing.route(peer, link, performative)


class IncompleteClaim(Claimant):
    """Refuses attaches with an incomplete list of unsettled deliveries: nothing is kept here for that."""

    def claim(self, peer: "Peer", link: "Link", performative: Attach) -> "bool | Error":
        """Refuse a link on which only resumed deliveries may be sent (2.7.3)."""
        return INCOMPLETE if link.is_sender and link.is_incomplete else False


INCOMPLETE = Error(
    condition="amqp:precondition-failed",
    description="the unsettled map is incomplete, and none of its deliveries is known here: attach without it",
)


def _container_id(peer: "Peer") -> str:
    remote = peer.connection.remote_open
    return "" if remote is None else str(remote.container_id)
