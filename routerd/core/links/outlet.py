"""Outlets: the links of consumers, and links to siblings that have consumers of the address."""

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from routerd.core.links.end import End

if TYPE_CHECKING:
    from collections import deque

    from routerd.core.links.address import Address
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.fan_out import FanOut
    from routerd.core.links.peer import Peer
    from routerd.core.links.sibling_streams import Streams
    from routerd.core.links.trunk import Trunk
    from routerd.wire.sender import Sender
    from routerd.wire.session import Session


CHOKED = 64 << 20
"""Octets stuck at a consumer from which on they hold back a session that other links share, too."""
_CHOKED = CHOKED
BURST = 1 << 18
"""Octets composed for a connection before a write, so that they leave while more is composed."""
_BURST = BURST


class Outlet(End):
    """A link out of the router, with its waiting copies and its counters."""

    link: "Sender"
    trunk: "Trunk | None"
    address: "Address"
    waiting: "deque[FanOut] | None"
    held: "dict[Session, int] | None"
    route: "AddressRoute | None"
    side: "AddressRoute | None"
    streams: "Streams | None"
    main: "Outlet | None"
    unheld_of: "Peer | None"

    def __init__(self, number: int, peer: "Peer", link: "Sender", address: "Address") -> None:
        End.__init__(self, number, peer)
        self.peer = peer
        # For a link to another router.
        self.trunk = None
        self.link = link
        self.address = address
        self.is_fabric = peer.is_fabric
        # For a link to the sibling that has the trunk of a route.
        self.route = None
        # For an edge router's link for an address: the route of large messages.
        self.side = None
        # For a link to a sibling: those beside it for large messages. Each of them has the link in `main`.
        self.streams = None
        self.main = None
        # Its index among the outlets of its address; -1 for none.
        self.place = -1
        self.is_starved = False
        # A drain is answered once siblings have sent what they can.
        self.is_draining = False
        self.strips = peer.strips_out
        # The far end forwards by annotations: it is an edge router, or a sibling on the path to one.
        self.is_marked = address.key[:1] == "H"
        # A client that is told where a message entered the network, and which routers it has passed.
        self.is_told = peer.is_told
        self.is_dressed = self.is_marked or self.is_told
        self.weight = 1
        self.waiting = None
        # Frames by session whose window stays closed until this outlet has sent them.
        self.held = None
        # Octets that wait for its connection to have room, while they hold nobody back.
        self.stuck_octets = 0
        # The connection of the message that is stuck at a link for large ones, and its octets that close no window.
        self.unheld_of = None
        self.unheld = 0
        # How often credit ran out, or window or transport were full; and the time since when there is no credit, or 0.
        self.stalls = 0
        self.dry_since = 0.0
        # Credit for siblings beyond the consumer's credit, while the consumer grants more before that runs out.
        self.lead = 0
        # The register of the recorder that knows the outlet, and its number there.
        self.recorded_in: Any = None
        self.recorded_as = 0
        # The source to answer the attach with, until it is answered.
        self.source: Any = None

    def can_send(self) -> bool:
        """Whether a delivery can begin and leave now."""
        link = self.link
        if link.credit <= 0 or not self.is_open or not link.is_attached or link.current is not None:
            return False
        session = link.session
        if self.peer.is_blocked or session.has_backlog or session.remote_incoming_window == 0:
            self._starve()
            return False
        if session.output.end >= _BURST:
            # The outlet waits for a write and not for the peer, so this is no stall.
            self.peer.is_full = True
            self.wait_for_room()
            return False
        return True

    def link_for(self, is_partial: bool) -> "Outlet | None":
        """Return the link for a message, this one or one for large messages beside it; None if it cannot leave now."""
        if not self.can_send():
            return None
        if is_partial and self.streams is not None:
            return self.streams.pick()
        return self

    def load(self) -> int:
        """Return the unsettled deliveries for what is at the other end."""
        load = self.link.unsettled_count
        if self.side is not None:
            load += self.side.outstanding
        if self.streams is not None:
            load += self.streams.load()
        return load

    def wait_for_room(self) -> None:
        """Wait until the session has room."""
        if not self.is_starved:
            self.is_starved = True
            starved = self.peer.starved
            session = self.link.session
            if session not in starved:
                starved[session] = OrderedDict()
            starved[session][self] = None

    def wait_no_more(self) -> None:
        """Stop waiting: it is served now, or the link is over."""
        if self.is_starved:
            self.is_starved = False
            starved = self.peer.starved
            session = self.link.session
            del starved[session][self]
            if not starved[session]:
                del starved[session]

    def is_stuck(self) -> bool:
        """Whether its connection or session has no room for the delivery under way; notes a full connection."""
        session = self.link.session
        if session.output.end >= _BURST:
            self.peer.is_full = True
            return True
        return self.peer.is_blocked or session.has_backlog or session.remote_incoming_window == 0

    def ran_dry(self, now: float) -> None:
        """Note that the credit has just run out."""
        self.stalls += 1
        self.dry_since = now

    def note_flow(self, now: float) -> None:
        """Note a change of the consumer's credit."""
        credit = self.link.credit
        if credit > 0:
            self.lead = credit >> 1 if self.dry_since == 0.0 and self.deliveries > 0 else 0
            self.dry_since = 0.0
        elif self.dry_since == 0.0:
            self.dry_since = now

    def _starve(self) -> None:
        if not self.is_starved:
            self.stalls += 1
            self.wait_for_room()
            self.address.note_credit()

    def is_choked(self, size: int) -> bool:
        """Count octets that wait for its connection to have room; return whether they are too many."""
        self.stuck_octets += size
        self._starve()
        return self.stuck_octets > _CHOKED

    def hold(self, session: "Session") -> None:
        """Keep the window of a session closed for one frame that is stuck here."""
        session.withhold(1)
        if self.held is None:
            self.held = {}
        self.held[session] = self.held.get(session, 0) + 1
        self._starve()

    def keep_unheld(self, peer: "Peer", size: int) -> None:
        """Count octets of a peer that are stuck here and close no window, until they have been sent."""
        peer.unheld_octets += size
        self.unheld_of = peer
        self.unheld += size
        self._starve()

    def let_go(self) -> None:
        """Open the windows again."""
        self.stuck_octets = 0
        if self.unheld_of is not None:
            self.unheld_of.unheld_octets -= self.unheld
            self.unheld_of = None
            self.unheld = 0
        if self.held is not None:
            held = self.held
            self.held = None
            for session, frames in held.items():
                session.give_back(frames)
