"""Messages that were received together and wait together: the frames they came in, until there is credit for them.

Those that are not settled are a batch on its way in already. Whatever can't leave as it came is taken out one by one.
"""

from typing import TYPE_CHECKING, Any

from routerd.wire.plain_transfer import OVERHEAD, payload_of
from routerd.wire.section_scan import read_u32
from routerd.wire.transfer import write_transfer

if TYPE_CHECKING:
    from routerd.wire.delivery import Delivery
    from routerd.wire.delivery_batch import DeliveryBatch
    from routerd.wire.link import Link
    from routerd.wire.output import Output

# uint arithmetic wraps (2.8.10); as a C constant it stays out of Python's integers.
_MASK = 0xFFFFFFFF
_OVERHEAD = OVERHEAD


class HeldBatch:
    """Whole messages of a link, encoded as most peers encode them, of which `count` are still here.

    `batch` has those that are not settled. `context` is the application's: where they wait.
    """

    receiver: "Link"
    batch: "DeliveryBatch | None"
    gone: "DeliveryBatch | None"
    context: Any

    def __init__(self, receiver: "Link", octets: bytes, count: int, batch: "DeliveryBatch | None") -> None:
        self.receiver = receiver
        self.batch = batch
        self.is_settled = batch is None
        self.count = count
        self.context = None
        # Their frames, and where the first of those that are here begins. They have the handle that the link had, which
        # may have another one, or none, when they leave.
        self.octets = octets
        self.at = 0
        self.remote_handle = receiver.remote_handle
        # The batch of those that left last.
        self.gone = None
        if batch is not None:
            batch.held = self

    def leave(self, sender: "Link", limit: int, most: int) -> int:
        """Send so many at the most, as credit, window and sizes allow, until the output holds `most` octets.

        Returns how many went. None does where those in front have to be taken out and sent one by one.
        """
        if sender.suspended or sender.is_incomplete:
            # A delivery that was taken over may have one of the next tags, or nothing may be sent.
            return 0
        outgoing = sender.session
        left = min(limit, self.count, sender.credit, outgoing.remote_incoming_window)
        largest = outgoing.send_frame_size - _OVERHEAD
        if sender.remote_max_message_size:
            largest = min(largest, sender.remote_max_message_size)
        out: Output = outgoing.output
        channel, handle = outgoing.channel, sender.handle
        delivery_id, tag = outgoing.next_delivery_id, sender.next_tag
        first_out, tag_out = delivery_id, tag
        is_settled = self.is_settled
        if not is_settled:
            left = min(left, outgoing.outgoing.room_from(delivery_id))
        octets = view = self.octets
        at = self.at
        count = 0
        while count < left and out.end < most:
            size = read_u32(view, at)
            payload = payload_of(view, at, self.remote_handle, is_settled)
            if at + size - payload > largest:
                break
            write_transfer(
                out, channel, handle, delivery_id, None, tag, 0, is_settled, False, octets, payload, at + size
            )
            delivery_id = (delivery_id + 1) & _MASK
            tag = (tag + 1) & _MASK
            at += size
            count += 1
        if count > 0:
            self.at = at
            self.count -= count
            sender.passed(count)
            outgoing.connection.wake()
            if self.batch is not None:
                self.gone = self.batch.part(count)
                self.gone.depart(sender, first_out, tag_out)
        return count

    def dissolve(self) -> "list[Delivery]":
        """Return a delivery for each, the oldest first, as if each waited alone; `take_first` has what they are of."""
        if self.batch is not None:
            return self.batch.deliveries()
        found = []
        for _ in range(self.count):
            delivery = self.receiver.new_delivery()
            delivery.is_incoming = delivery.is_plain = delivery.remote_settled = True
            found.append(delivery)
        return found

    def take_first(self) -> bytes:
        """Return the octets of the first message, which then is no longer here."""
        octets = view = self.octets
        start = payload_of(view, self.at, self.remote_handle, self.is_settled)
        self.at += read_u32(view, self.at)
        self.count -= 1
        return octets[start : self.at]
