"""Where messages leave: a consumer's link, or a link to a sibling that has consumers of the address."""

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from routerd.core.links.end import End

if TYPE_CHECKING:
    from collections import deque

    from routerd.core.links.address import Address
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.fan_out import FanOut
    from routerd.core.links.peer import Peer
    from routerd.core.links.trunk import Trunk
    from routerd.wire.sender import Sender
    from routerd.wire.session import Session


BURST = 1 << 18
"""Octets that may be composed for a connection before they are written, so that they leave while more is composed."""
_BURST = BURST


class Outlet(End):
    """A link out of the router, with what waits for it and its counters."""

    link: "Sender"
    trunk: "Trunk | None"
    address: "Address"
    waiting: "deque[FanOut] | None"
    held: "dict[Session, int] | None"
    route: "AddressRoute | None"
    side: "AddressRoute | None"

    def __init__(self, number: int, peer: "Peer", link: "Sender", address: "Address") -> None:
        End.__init__(self, number, peer)
        self.peer = peer
        # Of a link to another router.
        self.trunk = None
        self.link = link
        self.address = address
        self.is_fabric = peer.is_fabric
        # Of a link to the sibling that has the link to another router.
        self.route = None
        # Of an edge router's link for an address: the route of large messages.
        self.side = None
        # Where it is among the outlets of its address; -1 is nowhere.
        self.place = -1
        self.is_starved = False
        # A drain is answered once siblings have sent what they can.
        self.is_draining = False
        self.strips = peer.strips_out
        # The far end goes by the annotations: it is an edge router, or a sibling on the way there.
        self.is_marked = address.key[:1] == "H"
        self.weight = 1
        self.waiting = None
        # Frames of sessions whose window stays closed until this outlet has sent them on.
        self.held = None
        # How often the credit was used up, or window or transport were full; since when there is no credit, 0 if any.
        self.stalls = 0
        self.dry_since = 0.0
        # What siblings may send beyond the credit, as long as the consumer grants more before that is used up.
        self.lead = 0
        # What the recorder calls it, and in which register.
        self.recorded_in: Any = None
        self.recorded_as = 0
        # The terminus to answer with, until the attach is answered.
        self.source: Any = None

    def can_send(self) -> bool:
        """Whether a delivery can be begun, and leave, now."""
        link = self.link
        if link.credit <= 0 or not self.is_open or not link.is_attached or link.current is not None:
            return False
        session = link.session
        if self.peer.is_blocked or session.has_backlog or session.remote_incoming_window == 0:
            self._starve()
            return False
        if session.output.end >= _BURST:
            # The peer is not what it waits for: that is no stall.
            self.peer.is_full = True
            self.wait_for_room()
            return False
        return True

    def wait_for_room(self) -> None:
        """Be served when its session has room."""
        if not self.is_starved:
            self.is_starved = True
            starved = self.peer.starved
            session = self.link.session
            if session not in starved:
                starved[session] = OrderedDict()
            starved[session][self] = None

    def wait_no_more(self) -> None:
        """Be served now, or never: the link is over."""
        if self.is_starved:
            self.is_starved = False
            starved = self.peer.starved
            session = self.link.session
            del starved[session][self]
            if not starved[session]:
                del starved[session]

    def is_stuck(self) -> bool:
        """Whether its connection, or its session, has no room now for what is begun; notes what waits for a write."""
        session = self.link.session
        if session.output.end >= _BURST:
            self.peer.is_full = True
            return True
        return self.peer.is_blocked or session.has_backlog or session.remote_incoming_window == 0

    def ran_dry(self, now: float) -> None:
        """Note that the credit has just been used up."""
        self.stalls += 1
        self.dry_since = now

    def note_flow(self, now: float) -> None:
        """Note what credit the consumer has given, or taken back."""
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

    def hold(self, session: "Session") -> None:
        """Keep the window of a session closed for one frame that is stuck here."""
        session.withhold(1)
        if self.held is None:
            self.held = {}
        self.held[session] = self.held.get(session, 0) + 1
        self._starve()

    def let_go(self) -> None:
        """Let the windows open again."""
        if self.held is not None:
            held = self.held
            self.held = None
            for session, frames in held.items():
                session.give_back(frames)
