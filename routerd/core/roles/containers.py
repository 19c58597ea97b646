"""Connections to containers, mostly brokers, and the configured uses of them: link routes and auto-links.

A use names the listener or connector of its container, or the id of the container. It is active on each connection
that matches, however many there are. A use that names nothing is never active.
"""

from typing import TYPE_CHECKING

from routerd.core.links.role import ConnectionRole

if TYPE_CHECKING:
    from routerd.core.links.peer import Peer
    from routerd.core.observer import Observer
    from routerd.core.roles.claims import Claims
    from routerd.wire import Attach, Open
    from routerd.wire.link import Link

LINK_ROUTE = "Link Route"
AUTO_LINK = "Auto Link"
_KINDS = (LINK_ROUTE, AUTO_LINK)


class ContainerUse:
    """A router's use of a container, on each connection to it. This base class does nothing."""

    def __init__(self, kind: str, name: str, container_id: str | None, connection: str | None) -> None:
        """`connection` is the name of a listener or connector. At most one of the two is given."""
        self.kind = kind
        self.name = name
        # The name in the log.
        self.place = ""
        if connection is not None:
            self.place = f"connection {connection}"
        elif container_id is not None:
            self.place = f"container {container_id}"
        # The connections where it is active.
        self.peers: dict[Peer, None] = {}

    def activated(self, peer: "Peer") -> None:
        """Begin on a connection."""

    def deactivated(self, peer: "Peer") -> None:
        """Stop on a connection: it is over, or the use is removed."""


class Containers:
    """The connections to containers, and their uses.

    When a connection opens, uses that name its listener or connector are activated first. Uses that name the container
    follow. In both groups link routes come before auto-links, each in the order of definition.
    """

    def __init__(self, observer: "Observer") -> None:
        self._observer = observer
        self._uses: dict[str, dict[str, dict[ContainerUse, None]]] = {}
        """By place, and then by kind."""
        self._peers: dict[str, dict[Peer, None]] = {}
        """By place."""
        self._places: dict[Peer, tuple[str, ...]] = {}

    def add(self, use: ContainerUse) -> None:
        """Add a use, now and whenever its container is connected."""
        if not use.place:
            return
        of_place = self._uses.get(use.place)
        if of_place is None:
            of_place = self._uses[use.place] = {kind: {} for kind in _KINDS}
        of_place[use.kind][use] = None
        for peer in list(self._peers.get(use.place, ())):
            self._activate(use, peer)

    def remove(self, use: ContainerUse) -> None:
        """Remove a use."""
        of_place = self._uses.get(use.place)
        if of_place is None:
            return
        of_place[use.kind].pop(use, None)
        if not any(of_place.values()):
            del self._uses[use.place]
        for peer in list(use.peers):
            self._deactivate(use, peer)

    def opened(self, peer: "Peer") -> None:
        """Activate the uses of a container's connection."""
        performative = peer.connection.remote_open
        container = "" if performative is None else performative.container_id
        places: tuple[str, ...] = (f"container {container}",)
        if peer.place:
            places = (f"connection {peer.place}", *places)
        self._places[peer] = places
        for place in places:
            self._peers.setdefault(place, {})[peer] = None
            for use in self._uses_of(place):
                self._activate(use, peer)

    def closed(self, peer: "Peer") -> None:
        """Deactivate the uses of a connection."""
        for place in self._places.pop(peer, ()):
            peers = self._peers[place]
            del peers[peer]
            if not peers:
                del self._peers[place]
            for use in self._uses_of(place):
                self._deactivate(use, peer)

    def _uses_of(self, place: str) -> list[ContainerUse]:
        of_place = self._uses.get(place)
        return [] if of_place is None else [use for kind in _KINDS for use in of_place[kind]]

    def _activate(self, use: ContainerUse, peer: "Peer") -> None:
        use.peers[peer] = None
        self._observer.use_activated(use)
        use.activated(peer)

    def _deactivate(self, use: ContainerUse, peer: "Peer") -> None:
        if peer in use.peers:
            del use.peers[peer]
            use.deactivated(peer)
            self._observer.use_deactivated(use)


class ContainerRole(ConnectionRole):
    """The role of a connection to a container. Links that the container attaches are treated as a client's."""

    def __init__(self, containers: Containers, claims: "Claims") -> None:
        self._containers = containers
        self._claims = claims

    def opened(self, peer: "Peer", performative: "Open") -> None:
        """Use the connection."""
        self._containers.opened(peer)

    def closed(self, peer: "Peer") -> None:
        """Stop using it."""
        self._containers.closed(peer)

    def attached(self, peer: "Peer", link: "Link", performative: "Attach") -> None:
        """Have the link claimed or refused."""
        self._claims.attached(peer, link, performative)
