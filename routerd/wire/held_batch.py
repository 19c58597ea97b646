"""Messages that were received together and wait together: their frames, as received, until there is credit.

Unsettled messages are already a batch of the producer's session. Messages that cannot leave unchanged are taken out one
by one.
"""

from typing import TYPE_CHECKING, Any

from routerd.wire.plain_transfer import OVERHEAD, payload_of
from routerd.wire.section_scan import read_u32
from routerd.wire.transfer import write_changed_transfer, write_transfer

if TYPE_CHECKING:
    from routerd.wire.delivery import Delivery
    from routerd.wire.delivery_batch import DeliveryBatch
    from routerd.wire.link import Link
    from routerd.wire.output import Output

# uint arithmetic wraps (2.8.10); as a C constant it stays out of Python's integers.
_MASK = 0xFFFFFFFF
_OVERHEAD = OVERHEAD


class HeldBatch:
    """Whole messages of a link, encoded as most peers encode them. The last `count` of them are still here.

    `batch` has the unsettled deliveries. `context` is the application's: the place where they wait. With a `head`, all
    of them begin with these octets.
    """

    receiver: "Link"
    batch: "DeliveryBatch | None"
    gone: "DeliveryBatch | None"
    context: Any

    def __init__(
        self, receiver: "Link", octets: bytes, count: int, batch: "DeliveryBatch | None", head: bytes | None = None
    ) -> None:
        self.receiver = receiver
        self.head = head
        self.batch = batch
        self.is_settled = batch is None
        self.count = count
        self.context = None
        # Their frames, and the offset of the first present one. They contain the handle of the link at that time. The
        # link may have another one, or none, when they leave.
        self.octets = octets
        self.at = 0
        self.remote_handle = receiver.remote_handle
        # The batch of the messages that left last.
        self.gone = None
        if batch is not None:
            batch.held = self

    def leave(self, sender: "Link", limit: int, most: int, front: bytes | None = None) -> int:
        """Send up to `limit` messages, as credit, window and sizes allow, until the output holds `most` octets.

        They leave with `front` in the place of their head, if it is given. Returns how many were sent: none if those
        in front have to be taken out and sent one by one.
        """
        if sender.suspended or sender.is_incomplete:
            # A delivery that was taken over may have one of the next tags, or nothing may be sent.
            return 0
        outgoing = sender.session
        left = min(limit, self.count, sender.credit, outgoing.remote_incoming_window)
        largest = outgoing.send_frame_size - _OVERHEAD
        if sender.remote_max_message_size:
            largest = min(largest, sender.remote_max_message_size)
        head_size = 0
        if front is not None and self.head is not None:
            head_size = len(self.head)
            largest += head_size - len(front)
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
            payload += head_size
            if front is None:
                write_transfer(
                    out, channel, handle, delivery_id, None, tag, 0, is_settled, False, octets, payload, at + size
                )
            else:
                write_changed_transfer(
                    out, channel, handle, delivery_id, None, tag, is_settled, front, octets, payload, at + size
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

    def size_of(self, at: int, count: int) -> int:
        """Return the octets of `count` messages whose frames begin at an offset."""
        octets = view = self.octets
        size = 0
        for _ in range(count):
            size -= payload_of(view, at, self.remote_handle, self.is_settled)
            at += read_u32(octets, at)
            size += at
        return size

    def first(self) -> tuple[int, int]:
        """Return where the first message begins and ends."""
        octets = view = self.octets
        return payload_of(view, self.at, self.remote_handle, self.is_settled), self.at + read_u32(octets, self.at)

    def dissolve(self) -> "list[Delivery]":
        """Return a delivery for each, the oldest first, as if each waited alone; `take_first` has their octets."""
        if self.batch is not None:
            return self.batch.deliveries()
        found = []
        for _ in range(self.count):
            delivery = self.receiver.new_delivery()
            delivery.is_incoming = delivery.is_plain = delivery.remote_settled = True
            found.append(delivery)
        return found

    def take_first(self) -> bytes:
        """Remove the first message, and return its octets."""
        octets = view = self.octets
        start = payload_of(view, self.at, self.remote_handle, self.is_settled)
        self.at += read_u32(view, self.at)
        self.count -= 1
        return octets[start : self.at]
