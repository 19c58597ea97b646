"""Unsettled deliveries that go from one link to another together: numbers instead of a pair of objects each.

Most are accepted in the order in which they went, so ranges of delivery-ids say all about them. When a peer says
anything else, or one of the links ends, the batch dissolves. Its deliveries then are as if each had gone alone. A batch
that waits is in a `HeldBatch`, and leaves it whole or in parts.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from routerd.wire.delivery import Delivery
    from routerd.wire.held_batch import HeldBatch
    from routerd.wire.link import Link

# uint arithmetic wraps (2.8.10); as a C constant it stays out of Python's integers.
_MASK = 0xFFFFFFFF


class DeliveryBatch:
    """Whole deliveries with consecutive ids on both links; those in front leave it first.

    As long as it is held there is no `sender`. `stamp`, when they came, `context` and `via` are the application's. One
    that has a context is told to the handler for each delivery that it dissolves into. `via` is that of each of them.
    """

    receiver: "Link"
    sender: "Link"
    tags: list[bytes] | None
    held: "HeldBatch | None"
    context: Any
    via: Any

    def __init__(self, receiver: "Link", count: int, tags: list[bytes] | None) -> None:
        self.receiver = receiver
        self.held = None
        self.count = count
        # Those of the producer, if they are not numbers that follow one another.
        self.tags = tags
        self.first_in = 0
        self.first_out = 0
        self.tag_in = 0
        self.tag_out = 0
        self.stamp = 0.0
        self.context = None
        self.via = None
        self._gone = 0

    def arrive(self, first_in: int, tag_in: int) -> None:
        """Become known to the producer's session by id and tag of the first delivery."""
        self.first_in = first_in
        self.tag_in = tag_in
        receiver = self.receiver
        receiver.session.incoming.add_batch(self)
        receiver.unsettled_count += self.count

    def part(self, count: int) -> "DeliveryBatch":
        """Split the first `count` off and return them as a batch in front of this one; or return this one, if all."""
        if count == self.count:
            return self
        tags = None if self.tags is None else self.tags[self._gone : self._gone + count]
        front = DeliveryBatch(self.receiver, count, tags)
        front.first_in = self.first_in
        front.tag_in = self.tag_in
        front.stamp = self.stamp
        self._drop_first(count)
        self.receiver.session.incoming.add_front(front, self)
        return front

    def depart(self, sender: "Link", first_out: int, tag_out: int) -> None:
        """Become known to the consumer's session, too: all have been sent there."""
        self.held = None
        self.sender = sender
        self.first_out = first_out
        self.tag_out = tag_out
        sender.session.outgoing.add_batch(self)
        sender.unsettled_count += self.count

    def settle_first(self, count: int) -> None:
        """Let the first `count` go: either end has settled them."""
        receiver, sender = self.receiver, self.sender
        self._drop_first(count)
        receiver.session.incoming.batch_shrank(self, count)
        sender.session.outgoing.batch_shrank(self, count)
        receiver.unsettled_count -= count
        sender.unsettled_count -= count

    def dissolve(self) -> None:
        """Put a delivery for each into the rings of both sessions; held ones wait on, each for itself."""
        if self.count == 0:
            return
        if self.held is not None:
            self.receiver.session.handler.on_hold_over(self.held)
            return
        sender = self.sender
        outgoing = sender.session.outgoing
        while self.count > 0:
            sent = sender.new_delivery()
            sent.id = self.first_out
            sent.tag_number = self.tag_out
            sent.is_plain = sent.is_tracked = True
            sent.rcv_settle_mode = -1
            sent.stamp = self.stamp
            sent.via = self.via
            if self.context is not None:
                sender.session.handler.on_parting(self, sent)
            taken = self._first_delivery()
            if sender.is_relayed:
                sent.given_tag = taken.given_tag
                sent.tag_number = taken.tag_number
            taken.context = sent
            sent.context = taken
            outgoing.fill(sent)

    def deliveries(self) -> "list[Delivery]":
        """Put a delivery for each into the ring of the producer's session, and return them."""
        found = []
        while self.count > 0:
            found.append(self._first_delivery())
        self.held = None
        return found

    def _first_delivery(self) -> "Delivery":
        receiver = self.receiver
        delivery = receiver.new_delivery()
        delivery.id = self.first_in
        if self.tags is None:
            delivery.tag_number = self.tag_in
        else:
            delivery.given_tag = self.tags[self._gone]
        delivery.is_incoming = delivery.is_plain = delivery.is_tracked = True
        delivery.stamp = self.stamp
        receiver.session.incoming.fill(delivery)
        self._drop_first(1)
        return delivery

    def _drop_first(self, count: int) -> None:
        self.count -= count
        self._gone += count
        self.first_in = (self.first_in + count) & _MASK
        self.first_out = (self.first_out + count) & _MASK
        self.tag_in = (self.tag_in + count) & _MASK
        self.tag_out = (self.tag_out + count) & _MASK
