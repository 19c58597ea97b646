"""Where messages enter: a producer's link, or a sibling's link for one address."""

from typing import TYPE_CHECKING, Any

from routerd.core.links.end import End

if TYPE_CHECKING:
    from routerd.core.links.address import Address
    from routerd.core.links.parked import Collected
    from routerd.core.links.peer import Peer
    from routerd.core.links.recorded_flow import Flow
    from routerd.core.links.trunk import Trunk
    from routerd.wire.delivery import Delivery
    from routerd.wire.receiver import Receiver


# A producer of whatever large messages may send the next while the router is told that the one before has arrived.
_REACH_LEAST = 4


class Inlet(End):
    """A link into the router, with its credit and its counters.

    `capacity` bounds what it may have under way: credit, unsettled deliveries and settled ones that wait. Where
    messages are large, `reach` bounds what has not left the router: credit, which a producer may use up long before
    it can send, and what waits. It does not bound what consumers have and do not settle: they may want many more.
    """

    link: "Receiver"
    trunk: "Trunk | None"
    address: "Address | None"
    current: "Delivery | None"
    collected: "Collected | None"

    def __init__(
        self, number: int, peer: "Peer", link: "Receiver", address: "Address | None", is_relay: bool = False
    ) -> None:
        End.__init__(self, number, peer)
        self.peer = peer
        # Of a link from another router.
        self.trunk = None
        self.link = link
        self.address = address
        # What a sibling sends for our consumers goes to no others; what it has us relay goes to another router.
        self.is_fabric = peer.is_fabric and not is_relay
        self.is_relay = is_relay
        # Its messages are for the routers themselves.
        self.is_control = False
        # An edge router gets the first credit for an address when that has a consumer, and then keeps it.
        self.is_withheld = False
        # Other links of its session must not wait for this one.
        self.is_shared = False
        # What a message that enters here is marked with for the next router: entries of its annotations, and a section.
        self.entry = b""
        self.entry_count = 0
        self.entry_section = b""
        # While the router ends: nothing is on its way here any more.
        self.is_quiet = False
        # What policy has looked at in each message; None is nothing.
        self.guard: Any = None
        self.strips = peer.strips_in
        self.capacity = peer.capacity
        self.reach = 0
        self.is_short = False
        self.least_room = 0
        self.ample_credit = 0
        self._set_reach(peer.capacity)
        # What had come when it was looked up last how large messages are.
        self.octets_before = 0
        self.deliveries_before = 0
        # Whether it has credit again only when consumers have, which is not looked up for each message.
        self.is_in_step = False
        # How many messages had come when there was last nobody to send to.
        self.unserved = 0
        # Messages that wait for an outlet, and how many of them are settled.
        self.parked = 0
        self.waiting = 0
        self.current = None
        self.collected = None
        # Where the recorder counts the messages of this link, since the last one.
        self.flow: Flow | None = None

    def join(self, trunk: "Trunk") -> None:
        """Become a link from another router, which gets credit for half of the capacity at a time.

        Its credit does not wait for consumers, so the other half is enough; each flow costs both routers a turn.
        """
        self.trunk = trunk
        self.ample_credit = self.capacity >> 1

    def narrow(self, window: int) -> None:
        """Have no more than a window of credit, and renew it after each message: to be called before the first."""
        self.capacity = window
        self.ample_credit = window - 1

    def top_up(self) -> None:
        """Grant credit again once some of the capacity is free, while there is somebody to send to.

        A quarter is enough: producer, router and consumer work at once only if the producer need not wait for the last
        of many; and less is not worth the turn that a flow costs both ends. A sibling has a share of its consumers'
        credit instead, but for multicast, where everybody gets a copy.
        """
        link = self.link
        if link.credit > self.ample_credit or not self.is_open:
            return
        if self.trunk is not None:
            if self.is_withheld:
                if self.address is None or not self.address.has_outlet(False):
                    return
                self.is_withheld = False
            link.grant(self.capacity - link.credit)
            return
        address = self.address
        if address is not None:
            if self.is_fabric and not address.is_multicast:
                address.note_credit()
                return
            if not address.has_outlet(self.is_fabric):
                return
        self._measure()
        room = self.capacity - link.credit - link.unsettled_count - self.waiting
        if self.is_short:
            room = min(room, self.reach - link.credit - self.parked)
        if room < self.least_room:
            return
        if address is None or self.deliveries <= self.unserved or self._has_cheap_waits(address):
            link.grant(room)
        else:
            self._grant_in_step(address, room)

    def _measure(self) -> None:
        """Let no more be under way than so many octets, by how large the latest messages were."""
        messages = self.deliveries - self.deliveries_before
        # The last may have come in part, and one says little of the next.
        if messages < max(2, self.reach >> 3):
            return
        octets = max(1, self.link.octets_in - self.octets_before)
        self.octets_before = self.link.octets_in
        self.deliveries_before = self.deliveries
        reach = min(self.capacity, max(_REACH_LEAST, self.peer.reach_octets * messages // octets))
        if reach != self.reach:
            self._set_reach(reach)

    def _set_reach(self, reach: int) -> None:
        self.reach = reach
        self.is_short = reach < self.capacity
        self.least_room = max(1, reach >> 2)
        self.ample_credit = reach - self.least_room

    def _has_cheap_waits(self, address: "Address") -> bool:
        """Whether messages wait together, or not at this address."""
        if address.is_multicast or address.routes:
            return True
        return len(address.outlets) == 1 and self.guard is None

    def _grant_in_step(self, address: "Address", room: int) -> None:
        """Grant a producer that has begun to send no more than its consumers take, or some that may wait for them.

        To keep a message for itself costs ten times what it costs to send it, so as many as can be are to leave as they
        come.
        """
        link = self.link
        if self.is_in_step and link.credit > 0:
            return
        taken = max(address.credit(), self.reach >> 2, 1) - link.credit - self.parked
        self.is_in_step = taken < self.least_room
        if self.is_in_step:
            address.in_step[self] = None
        else:
            link.grant(min(room, taken))

    def set_share(self, share: int) -> None:
        """Have roughly a share of the consumers' credit: not every step is worth a flow.

        Others compete for it, so a sibling may have more than there is left; it loses that when something of its waits.
        """
        link = self.link
        if self.address is None or self.address.is_multicast or not self.is_open:
            return
        share = max(0, min(share, self.capacity - link.unsettled_count - self.waiting))
        if link.credit > share:
            if self.address.parked_from_siblings:
                link.set_credit(share)
        elif share > 0 and link.credit <= share >> 1:
            link.grant(share - link.credit)

    def withdraw(self) -> None:
        """Take the credit back: nobody is there to send to. What is on its way on it still arrives."""
        self.unserved = self.deliveries
        if self.is_open and self.link.credit > 0 and self.trunk is None:
            self.link.set_credit(0)
