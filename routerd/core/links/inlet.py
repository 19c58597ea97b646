"""Inlets: the links of producers, and of siblings for one address, on which messages come in."""

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


# A producer of large messages may send the next one while the router learns that the one before has arrived.
_REACH_LEAST = 4
# A window below this may be renewed message by message: a flow costs little where so few messages are under way.
_SMALL = 32
_SETTLED = 1


class Inlet(End):
    """A link into the router, with its credit and its counters.

    `capacity` bounds credit, unsettled deliveries and settled messages that wait. For large messages, `reach` bounds
    the messages that have not left the router: credit and messages that wait. A producer may use up credit long before
    it can send. `reach` does not bound deliveries that consumers hold unsettled, as consumers may want many more.
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
        # For a link from another router.
        self.trunk = None
        self.link = link
        self.address = address
        # A sibling's message for our consumers goes to no other consumers. A message to relay goes to another router.
        self.is_fabric = peer.is_fabric and not is_relay
        self.is_relay = is_relay
        # It has the large messages of an address; the sibling has another link for the others.
        self.is_stream = False
        # Its messages are for the routers themselves.
        self.is_control = False
        # An edge router gets the first credit for an address when that has a consumer, and then keeps it.
        self.is_withheld = False
        # Other links of its session must not wait for this one.
        self.is_shared = False
        # The annotations for messages that enter here and go to another router: entries, and a whole section.
        self.entry = b""
        self.entry_count = 0
        self.entry_section = b""
        # The producer has answered the withdrawal of its credit while the router ends: no message is under way here.
        self.is_quiet = False
        # The policy check of each message; None for no check.
        self.guard: Any = None
        # RabbitMQ ends the session of whoever says `modified`.
        self.takes_modified = True
        # The fallback destination may get its messages.
        self.diverts = not self.is_fabric
        # Its messages go elsewhere when a consumer releases them.
        self.resends = False
        # Settled messages that wait do not count against the capacity, as they are dropped if too many wait.
        self.gives_credit_at_once = peer.gives_credit_at_once
        self.strips = peer.strips_in
        self.capacity = peer.capacity
        self.reach = 0
        self.is_short = False
        self.least_room = 0
        self.ample_credit = 0
        self._set_reach(peer.capacity)
        # The counters at the last measurement of message sizes.
        self.octets_before = 0
        self.deliveries_before = 0
        # Whether it gets credit only when consumers have some. This is not checked for each message.
        self.is_in_step = False
        # The number of messages at the last time without a consumer.
        self.unserved = 0
        # The number of messages when one had last come back for want of a consumer.
        self.turned_back = 0
        # The number of messages when it was last asked to use its credit or return it.
        self.drained = -1
        # Messages that wait for an outlet, and the settled ones among them.
        self.parked = 0
        self.waiting = 0
        self.current = None
        self.collected = None
        # The recorder's flow of the last message of this link.
        self.flow: Flow | None = None

    def join(self, trunk: "Trunk") -> None:
        """Become a link from another router, which gets credit for half of the capacity at a time.

        Its credit does not wait for consumers, so half is enough; each flow costs both routers a turn.
        """
        self.trunk = trunk
        self.ample_credit = self.capacity >> 1

    def share_session(self) -> None:
        """Have no link of its session wait for another, if there are several: a qdrouterd has all in one session.

        Otherwise a message that waits would close the window for the message that it waits for.
        """
        for link in self.link.session.links():
            other = link.context
            if isinstance(other, Inlet) and other is not self:
                other.is_shared = self.is_shared = True

    def narrow(self, window: int) -> None:
        """Limit credit to a window, and renew it after each message; only before the first message."""
        self.capacity = window
        self.ample_credit = window - 1

    def top_up(self) -> None:
        """Grant credit again once enough of the capacity is free, while the address has consumers.

        A quarter is enough. Producer, router and consumer work at once only if the producer gets credit before its last
        message is settled. A smaller grant is not worth the turn that a flow costs both ends. A sibling gets a share of
        the consumers' credit instead, except for multicast, where each consumer gets a copy.
        """
        link = self.link
        if link.credit > self.ample_credit or not self.is_open:
            return
        if self.trunk is not None:
            if self.is_withheld:
                if self.address is None or not self.is_served(self.address):
                    return
                self.is_withheld = False
            link.grant(self.capacity - link.credit)
            return
        address = self.address
        if address is not None:
            if self.is_fabric and not address.is_multicast:
                address.note_credit()
                return
            if not self.is_served(address):
                return
        self._measure()
        room = self.capacity - link.credit - link.unsettled_count
        if not self.gives_credit_at_once:
            room -= self.waiting
        if self.is_short:
            room = min(room, self.reach - link.credit - self.parked)
        if room >= self.least_room:
            self._grant(address, room)

    def fill_up(self) -> None:
        """Grant all that is free to a client that has nothing under way, as qdrouterd does.

        A client may wait for a flow before it goes on, though it has credit.
        """
        link, address = self.link, self.address
        room = self.reach - link.credit - self.parked
        if room > 0 and self.is_open and (address is None or self.is_served(address)):
            self._grant(address, room)

    def is_served(self, address: "Address") -> bool:
        """Whether somebody can get messages of this link for an address, if only its fallback destination."""
        return address.has_outlet(self.is_fabric) or (
            address.fallback is not None and self.diverts and address.fallback.has_outlet(False)
        )

    def _measure(self) -> None:
        """Limit the octets under way, by the size of the latest messages."""
        messages = self.deliveries - self.deliveries_before
        # The last message may have come in part only, and one message does not predict the next.
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
        self.least_room = 1 if self.gives_credit_at_once and reach < _SMALL else max(1, reach >> 2)
        self.ample_credit = reach - self.least_room

    def _has_cheap_waits(self, address: "Address") -> bool:
        """Whether waiting is cheap: messages wait in batches, or need not wait at this address."""
        if address.is_multicast or address.routes:
            return True
        return len(address.outlets) == 1 and self.guard is None

    def _grant(self, address: "Address | None", room: int) -> None:
        """Grant a producer what is free, or what its consumers can take where it is costly to wait."""
        if address is None or self.deliveries <= self.unserved or self._has_cheap_waits(address):
            self.link.grant(room)
        else:
            self._grant_in_step(address, room)

    def _grant_in_step(self, address: "Address", room: int) -> None:
        """Grant an active producer no more credit than its consumers have, or a minimum that may wait for them.

        Keeping a single message costs ten times as much as sending it. So most messages should leave as they come.
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
        """Set the approximate share of the consumers' credit, without a flow for each small change.

        Siblings compete for the credit, so a share may exceed what is left. It is reduced when messages of siblings
        wait.
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

    def recall(self) -> None:
        """Have a producer use its credit at once or return it, as the last consumer has left.

        What the producer has queued so gets its outcome. Only a drain asks for that: without credit it would wait in
        the producer for ever. Settled messages have no outcome, brokers and routers keep theirs: all these wait.
        """
        link = self.link
        if link.snd_settle_mode == _SETTLED or (self.peer.keeps_messages and not self.gives_credit_at_once):
            self.withdraw()
            return
        self.unserved = self.deliveries
        # The producer may have queued more than its credit, which is topped up now and then only.
        room = self.reach - link.unsettled_count - self.waiting
        if self.gives_credit_at_once:
            # In qdrouterd a producer keeps its credit until it sends something.
            is_back = self.turned_back == self.deliveries > 0
            if is_back and self.drained == self.deliveries:
                return
            if self.is_open and room > link.credit:
                link.set_credit(room)
            if self.is_open and is_back and link.credit > 1:
                # The credit of a message that nobody gets does not come back there. Here it has, for want of the news.
                self.drained = self.deliveries
                link.set_credit(link.credit - 1, drain=True)
            return
        if self.is_fabric or room < link.credit:
            room = link.credit
        if self.is_open and room > 0:
            link.set_credit(room, drain=True)

    def drain(self) -> None:
        """Have a producer whose message found no consumer use its credit at once or return it."""
        if self.is_open and self.link.credit > 0 and not self.link.drain:
            self.drained = self.deliveries
            self.link.set_credit(self.link.credit, drain=True)

    def was_turned_back(self) -> None:
        """Note that a message has come back: its last consumer has left, which may be no news here yet."""
        self.turned_back = self.deliveries
        if self.address is not None and not self.is_served(self.address):
            self.drain()

    def call_off(self) -> None:
        """Have a producer keep its credit that was asked to return it: there is a consumer again.

        A sibling may have been asked for a consumer that drains, which waits for the answer.
        """
        if self.link.drain and self.is_open and not self.is_fabric:
            self.link.set_credit(self.link.credit)

    def withdraw(self) -> None:
        """Withdraw the credit, as there are no consumers. Messages already sent on it still arrive."""
        self.unserved = self.deliveries
        if self.is_open and self.link.credit > 0 and self.trunk is None:
            self.link.set_credit(0)
