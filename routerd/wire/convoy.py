"""Unsettled deliveries that went from one link to another together: numbers instead of a pair of objects each.

Most of them are accepted in the order in which they went, and then all that is said of them are ranges of
delivery-ids. As soon as anything else is said, or one of their links ends, the convoy dissolves into the deliveries
that it stands for, as if each had gone alone.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routerd.wire.delivery import DeliveryRing
    from routerd.wire.link import Link

# uint arithmetic wraps (2.8.10); as a C constant it stays out of Python's integers.
_MASK = 0xFFFFFFFF


class Convoy:
    """Whole deliveries with consecutive ids on both links; those in front leave it first.

    `stamp` is the application's: when they came.
    """

    receiver: "Link"
    sender: "Link"
    tags: list[bytes] | None

    def __init__(self, receiver: "Link", sender: "Link", count: int, tags: list[bytes] | None) -> None:
        self.receiver = receiver
        self.sender = sender
        self.count = count
        # Those of the producer, if they are not numbers that follow one another.
        self.tags = tags
        self.first_in = 0
        self.first_out = 0
        self.tag_in = 0
        self.tag_out = 0
        self.stamp = 0.0
        self._gone = 0

    def enter(self, first_in: int, first_out: int, tag_in: int, tag_out: int) -> None:
        """Become known to both sessions by the ids and tags of the first delivery."""
        self.first_in = first_in
        self.first_out = first_out
        self.tag_in = tag_in
        self.tag_out = tag_out
        receiver, sender = self.receiver, self.sender
        receiver.session.incoming.add_convoy(self)
        sender.session.outgoing.add_convoy(self)
        receiver.unsettled_count += self.count
        sender.unsettled_count += self.count

    def settle_first(self, count: int) -> None:
        """Let the first so many go: either end has settled them."""
        receiver, sender = self.receiver, self.sender
        self._drop_first(count)
        receiver.session.incoming.convoy_shrank(self, count)
        sender.session.outgoing.convoy_shrank(self, count)
        receiver.unsettled_count -= count
        sender.unsettled_count -= count

    def dissolve(self) -> None:
        """Put a delivery for each into the rings of both sessions."""
        receiver, sender = self.receiver, self.sender
        incoming: DeliveryRing = receiver.session.incoming
        outgoing: DeliveryRing = sender.session.outgoing
        while self.count > 0:
            taken = receiver.new_delivery()
            taken.id = self.first_in
            if self.tags is None:
                taken.tag_number = self.tag_in
            else:
                taken.given_tag = self.tags[self._gone]
            taken.is_incoming = taken.is_plain = taken.is_tracked = True
            taken.stamp = self.stamp
            sent = sender.new_delivery()
            sent.id = self.first_out
            sent.tag_number = self.tag_out
            sent.is_plain = sent.is_tracked = True
            sent.rcv_settle_mode = -1
            sent.stamp = self.stamp
            taken.context = sent
            sent.context = taken
            incoming.fill(taken)
            outgoing.fill(sent)
            self._drop_first(1)

    def _drop_first(self, count: int) -> None:
        self.count -= count
        self._gone += count
        self.first_in = (self.first_in + count) & _MASK
        self.first_out = (self.first_out + count) & _MASK
        self.tag_in = (self.tag_in + count) & _MASK
        self.tag_out = (self.tag_out + count) & _MASK
