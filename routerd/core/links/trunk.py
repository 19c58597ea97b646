"""A trunk: a connection to another router and its links.

It has a control link, one data link for each priority, and links for large messages.
"""

from collections import deque
from typing import TYPE_CHECKING

from routerd.core.settings import PRIORITY_MAX

if TYPE_CHECKING:
    from routerd.core.links.address import Address
    from routerd.core.links.address_route import AddressRoute
    from routerd.core.links.outlet import Outlet
    from routerd.core.links.peer import Peer
    from routerd.wire.sender import Sender

PRIORITIES = PRIORITY_MAX + 1
STREAMS_MAX = 1000
"""Limit of the links of a trunk for large messages; further messages wait."""
IDLE_STREAMS_MAX = 128
"""Idle links for large messages that are kept for later messages."""
IDLE_STREAMS_IN_TESTS_MAX = 2
"""The same with test hooks (2.1)."""
OPENING_MAX = 8
"""Limit of such links whose attach is unanswered."""
CONTROL_QUEUE_MAX = 10_000
"""Limit of the control messages that wait for credit. More are dropped, because routers repeat important ones."""


class Trunk:
    """The connection to one neighbour, with its links."""

    control: "Outlet | None"

    def __init__(self, peer: "Peer", cost: int) -> None:
        self.peer = peer
        self.cost = cost
        self.is_up = False
        self.control = None
        self.has_control_in = False
        self.queue: deque[bytes] = deque()
        # By priority; None stands for a link that is over.
        self.data: list[Outlet | None] = []
        self.receivers = 0
        self.streams: dict[Outlet, None] = {}
        # The links for large messages that the neighbour has not answered.
        self.opening: dict[Outlet, None] = {}
        self.wanted_streams = 0
        # The neighbour refuses links for large messages.
        self.is_streamless = False
        # On an edge router's connection: the set that notes its need for such links, read at the end of the turn.
        self.wanting: dict[Trunk, None] | None = None
        # The routes for large messages beside the links of an edge router, by address.
        self.sides: dict[Address, list[AddressRoute]] = {}
        # The last HELLO, and three times: when it was sent, when the routing engine last spoke, and when the neighbour
        # did.
        self.greeting = b""
        self.greeted_at = self.told_at = self.heard_at = 0.0
        # Addresses with messages that could not leave.
        self.hungry: dict[Address, None] = {}

    def pick(self, address: "Address", priority: int, is_partial: bool) -> "Outlet | None":
        """Return a link that can send now; otherwise remember the address, to serve it when a link can."""
        outlet: Outlet | None
        if is_partial:
            waits = False
            for outlet in self.streams:
                if outlet.can_send():
                    return outlet
                waits = waits or outlet.is_starved
            # Without room, a further link would wait like the one that waits already.
            if not (waits and (self.peer.is_blocked or self.peer.is_full)):
                self.wanted_streams += 1
                if self.wanting is not None:
                    self.wanting[self] = None
        else:
            outlet = self.link_of(priority)
            if outlet is not None and outlet.can_send():
                return outlet
        self.hungry[address] = None
        return None

    def link_of(self, priority: int) -> "Outlet | None":
        """Return the link for whole messages of a priority, or that of a lower priority."""
        at = min(priority, len(self.data) - 1)
        while at >= 0:
            outlet = self.data[at]
            if outlet is not None:
                return outlet
            at -= 1
        return None

    @property
    def has_data(self) -> bool:
        """Whether there is a data link."""
        return any(outlet is not None for outlet in self.data)

    def send_control(self, octets: bytes) -> bool:
        """Send a control message, now or when there is credit; return whether it was accepted."""
        if self.control is None or len(self.queue) >= CONTROL_QUEUE_MAX:
            return False
        self.queue.append(octets)
        self.use_control_credit()
        return True

    def use_control_credit(self) -> None:
        """Send the control messages that wait, as far as credit allows."""
        control = self.control
        if control is None:
            return
        link: Sender = control.link
        while self.queue and link.is_attached and link.credit > 0:
            control.deliveries += 1
            control.presettled += 1
            link.send(self.queue.popleft(), None, True)
