"""A connection to another router and its links: control, one data link a priority, and links for large messages."""

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
"""Links for large messages that a trunk has at most; those beyond wait."""
IDLE_STREAMS_MAX = 128
"""Links for large messages that are kept for later ones."""
OPENING_MAX = 8
"""Such links that are opened at a time."""
CONTROL_QUEUE_MAX = 10_000
"""Control messages that wait for credit; more are dropped, as routers repeat what matters."""


class Trunk:
    """The way to one neighbour as far as its connection is concerned."""

    control: "Outlet | None"

    def __init__(self, peer: "Peer", cost: int) -> None:
        self.peer = peer
        self.cost = cost
        self.is_up = False
        self.control = None
        self.has_control_in = False
        self.queue: deque[bytes] = deque()
        # By priority; a link that is gone leaves a hole.
        self.data: list[Outlet | None] = []
        self.receivers = 0
        self.streams: dict[Outlet, None] = {}
        # Those of them that the neighbour has not answered.
        self.opening: dict[Outlet, None] = {}
        self.wanted_streams = 0
        # The neighbour refuses them.
        self.is_streamless = False
        # Where an edge router's connection is noted when it wants some, to be looked up when the turn ends.
        self.wanting: dict[Trunk, None] | None = None
        # The routes beside the links of an edge router, by address.
        self.sides: dict[Address, list[AddressRoute]] = {}
        # The last HELLO, when one was sent, when the engine said anything, and when the neighbour did.
        self.greeting = b""
        self.greeted_at = self.told_at = self.heard_at = 0.0
        # Addresses with messages that could not leave.
        self.hungry: dict[Address, None] = {}

    def pick(self, address: "Address", priority: int, is_partial: bool) -> "Outlet | None":
        """Return a link that can send now; else the address is remembered, to be served when one can."""
        outlet: Outlet | None
        if is_partial:
            waits = False
            for outlet in self.streams:
                if outlet.can_send():
                    return outlet
                waits = waits or outlet.is_starved
            # Without room one more would wait as well as the one that is remembered to go on.
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
        """Return the link for whole messages of a priority: that of a lower one where there is none."""
        at = min(priority, len(self.data) - 1)
        while at >= 0:
            outlet = self.data[at]
            if outlet is not None:
                return outlet
            at -= 1
        return None

    @property
    def has_data(self) -> bool:
        """Whether there is any link for messages."""
        return any(outlet is not None for outlet in self.data)

    def send_control(self, octets: bytes) -> bool:
        """Send a control message, now or when there is credit; whether it will be."""
        if self.control is None or len(self.queue) >= CONTROL_QUEUE_MAX:
            return False
        self.queue.append(octets)
        self.use_control_credit()
        return True

    def use_control_credit(self) -> None:
        """Send the control messages that wait, as far as there is credit."""
        control = self.control
        if control is None:
            return
        link: Sender = control.link
        while self.queue and link.is_attached and link.credit > 0:
            control.deliveries += 1
            control.presettled += 1
            link.send(self.queue.popleft(), None, True)
