"""The links between the workers of a router, each for the messages of one address."""

from typing import TYPE_CHECKING, cast

from routerd.core.annotations.router_annotations import section
from routerd.core.directory.naming import phase_of
from routerd.core.links.inlet import Inlet
from routerd.core.links.outlet import Outlet
from routerd.core.links.sibling_streams import Streams
from routerd.wire import ConnectionState, Source, StateError, Target

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import AnnotationReader
    from routerd.core.directory.directory import Directory
    from routerd.core.directory.neighbour import Neighbour
    from routerd.core.links.address import Address
    from routerd.core.links.peer import Peer
    from routerd.core.links.role import LinkRole
    from routerd.core.roles.attaching import Attaching
    from routerd.wire.link import Link
    from routerd.wire.receiver import Receiver
    from routerd.wire.session import Session

STREAM = "large "
"""Prefix of the names of links for large messages."""

_OPENED = ConnectionState.OPENED


class Fabric:
    """Attaches links to siblings, and answers theirs."""

    outlet_role: "LinkRole"
    inlet_role: "LinkRole"
    """Set once by the builder of the parts."""

    def __init__(self, reader: "AnnotationReader", attaching: "Attaching", directory: "Directory") -> None:
        self._reader = reader
        self._attaching = attaching
        self._directory = directory

    def outlet_to(self, neighbour: "Neighbour", address: "Address", target: str) -> Outlet | None:
        """Attach a link to a sibling, if it is connected."""
        peer = neighbour.peer
        if peer is None or peer.connection.state is not _OPENED:
            return None
        outlet = self._attach(peer, address, target, "")
        outlet.streams = Streams(outlet, self._directory.uneven_streams)
        return outlet

    def add_stream(self, outlet: Outlet) -> None:
        """Attach another link for large messages beside a link to a sibling."""
        streams, target = outlet.streams, getattr(outlet.link.remote_target, "address", None)
        if streams is not None and target is not None and outlet.link.is_attached:
            stream = self._attach(outlet.peer, outlet.address, target, STREAM)
            stream.main = outlet
            streams.links[stream] = None

    def _attach(self, peer: "Peer", address: "Address", target: str, prefix: str) -> Outlet:
        session = self._session(peer)
        number = self._attaching.take_number()
        link = session.sender(f"{prefix}{target} {number}")
        outlet = Outlet(number, peer, link, address)
        outlet.role = self.outlet_role
        link.context = outlet
        peer.outlets[outlet] = None
        link.attach(source=Source(address=target), target=Target(address=target))
        return outlet

    def _session(self, peer: "Peer") -> "Session":
        # Each link has its own session, so a window filled by one address stops no other. If all channels are used,
        # links share a session.
        try:
            session = peer.connection.session()
        except StateError:
            return next(session for session in peer.connection.sessions() if session.is_open)
        session.begin()
        return session

    def give_up(self, outlet: Outlet) -> None:
        """Detach a link that is no longer needed. A link with an unanswered attach is detached after the answer."""
        if outlet.link.is_attached:
            outlet.is_open = False
            outlet.address.remove(outlet)
            outlet.link.detach()

    def answer(self, peer: "Peer", link: "Link", address: "Address", is_relay: bool) -> None:
        """Answer a sibling's link, and grant credit."""
        inlet = Inlet(self._attaching.take_number(), peer, cast("Receiver", link), address, is_relay)
        inlet.role = self.inlet_role
        inlet.is_stream = link.name.startswith(STREAM)
        if address.key[:1] == "M":
            # For large messages beside the link of an edge router.
            inlet.entry, inlet.entry_count = self._reader.entry(address.key[2:], phase_of(address.key))
            inlet.entry_section = section(inlet.entry, inlet.entry_count)
        link.context = inlet
        peer.inlets[inlet] = None
        link.attach(source=link.remote_source, target=link.remote_target)
        inlet.is_open = link.is_attached
        address.enter(inlet)
        inlet.top_up()
