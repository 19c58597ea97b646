"""Messages that go from one link to another as they come, or wait for that together.

The router decides about one message. Messages received behind it may then follow without a decision for each. They have
to be whole, of the same link, settled or unsettled as the first, and encoded as most peers encode them. They follow as
long as credit and windows last. The router decides anew about everything else. Unsettled messages that follow are a
`DeliveryBatch` until they are settled. If the first message has to wait, those behind it may wait as a `HeldBatch`.
"""

from typing import TYPE_CHECKING

from routerd.wire.delivery_batch import DeliveryBatch
from routerd.wire.held_batch import HeldBatch
from routerd.wire.plain_transfer import LOOKED_AT, OVERHEAD, TAG_MAX, id_of, payload_of, tag_of
from routerd.wire.section_scan import may_carry_annotations, read_u32
from routerd.wire.transfer import PLAIN_HEADER, TRANSFER_START, write_transfer

if TYPE_CHECKING:
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link
    from routerd.wire.output import Output

LIMIT = 1 << 30
"""More messages than are ever received at once."""

# uint arithmetic wraps (2.8.10); as a C constant it stays out of Python's integers.
_MASK = 0xFFFFFFFF
_OVERHEAD = OVERHEAD
_NUMBER_SIZE = 4
_TAG_MAX = TAG_MAX
_LOOKED_AT = LOOKED_AT
_HEADER = PLAIN_HEADER
_START = TRANSFER_START


class Relay:
    """What a connection passes on, or keeps, of what it receives; `receiver` is None while that is nothing."""

    receiver: "Link | None"
    _sender: "Link | None"

    def __init__(self) -> None:
        self.receiver = None
        # How large the frame is that is being handled, and how many octets behind it may be handled in this turn.
        self.frame_size = 0
        self.octets_behind = 0
        self._sender = None
        self._is_plain_only = False
        self._most = 0
        self._limit = 0
        self._is_settled = False
        self._next_id = 0
        self._has_numbers = False
        self._next_tag = 0

    def count_behind(self) -> int:
        """Return how many frames may be behind the one that is being handled, if they are as large."""
        return self.octets_behind // self.frame_size if self.octets_behind > 0 else 0

    def aim(
        self,
        receiver: "Link",
        sender: "Link",
        is_plain_only: bool,
        most: int,
        behind: "Delivery | None" = None,
        limit: int = LIMIT,
    ) -> None:
        """Pass on what a receiver is sent next, without annotations if so asked, until the output holds `most` octets.

        Where both are halves of one link that is relayed, the tags stay what they are.
        The sender has just taken a settled message, or the one that is `behind`, for which it waits for an outcome.
        This is for the octets that are being received now. It ends with them, with the first message that is not passed
        on, and after `limit` messages.
        """
        # A delivery that was taken over may have one of the next tags.
        if not sender.suspended and self._follow(receiver, behind):
            self._sender = sender
            self._is_plain_only = is_plain_only
            self._most = most
            self._limit = limit

    def hold(self, receiver: "Link", behind: "Delivery | None" = None) -> None:
        """Keep what a receiver is sent next, as long as it has no annotations.

        A settled message has just come, or the one that is `behind`, and waits.
        """
        if self._follow(receiver, behind):
            self._sender = None
            self._is_plain_only = True

    def _follow(self, receiver: "Link", behind: "Delivery | None") -> bool:
        self._is_settled = behind is None
        if behind is not None:
            if receiver.suspended or receiver.rcv_settle_mode != 0:
                return False
            self._next_id = (behind.id + 1) & _MASK
            self._has_numbers = behind.given_tag is None
            self._next_tag = (behind.tag_number + 1) & _MASK
        self.receiver = receiver
        return True

    def take(self, data: bytes | bytearray, pos: int, end: int, stop: int) -> int:
        """Pass on or keep what it can of data[pos:end], beginning before `stop`; return where it is over."""
        receiver, sender = self.receiver, self._sender
        self.receiver = self._sender = None
        if receiver is None:
            return pos
        incoming = receiver.session
        outgoing = incoming if sender is None else sender.session
        left = min(receiver.credit, incoming.until_opened())
        frame_max = incoming.connection.receive_frame_size()
        largest = frame_max
        if receiver.max_message_size:
            largest = min(largest, receiver.max_message_size)
        delivery_id = outgoing.next_delivery_id
        handle = tag = 0
        if sender is not None:
            handle, tag = sender.handle, sender.next_tag
            left = min(left, self._limit, sender.credit, outgoing.remote_incoming_window)
            largest = min(largest, outgoing.send_frame_size - _OVERHEAD)
            if sender.is_relayed:
                largest -= _TAG_MAX - _NUMBER_SIZE
            if sender.remote_max_message_size:
                largest = min(largest, sender.remote_max_message_size)
        header = _HEADER | incoming.remote_channel
        remote_handle = receiver.remote_handle
        out: Output = outgoing.output
        channel = outgoing.channel
        keeps_tags = sender is not None and sender.is_relayed
        first_out = delivery_id
        tag_out = self._next_tag if keeps_tags else tag
        octets: bytes | None = None
        start = pos
        is_settled = self._is_settled
        next_id, next_tag = self._next_id, self._next_tag
        tags: list[bytes] | None = None
        if not is_settled:
            left = min(left, incoming.unsettled_max - incoming.incoming.count)
            left = min(left, incoming.incoming.room_from(next_id))
            if sender is not None:
                left = min(left, outgoing.outgoing.room_from(delivery_id))
            if not self._has_numbers:
                tags = []
        view = data
        count = 0
        while count < left and pos < stop and end - pos >= _LOOKED_AT and (sender is None or out.end < self._most):
            size = read_u32(view, pos)
            if size > frame_max or size > end - pos:
                break
            if read_u32(view, pos + 4) != header or read_u32(view, pos + 8) != _START:
                break
            payload = payload_of(view, pos, remote_handle, is_settled)
            if payload < 0 or payload > pos + size or pos + size - payload > largest:
                break
            if self._is_plain_only and may_carry_annotations(view, payload, pos + size):
                break
            if not is_settled:
                if id_of(view, pos) != next_id:
                    break
                at = tag_of(view, pos)
                if tags is not None:
                    tags.append(bytes(data[at + 2 : at + 2 + view[at + 1]]))
                elif view[at + 1] != _NUMBER_SIZE or read_u32(view, at + 2) != next_tag:
                    break
                next_id = (next_id + 1) & _MASK
                next_tag = (next_tag + 1) & _MASK
            if sender is not None:
                if keeps_tags:
                    at = tag_of(view, pos)
                    if view[at + 1] == _NUMBER_SIZE:
                        octets = None
                        tag = read_u32(view, at + 2)
                    else:
                        octets = bytes(data[at + 2 : at + 2 + view[at + 1]])
                write_transfer(
                    out, channel, handle, delivery_id, octets, tag, 0, is_settled, False, data, payload, pos + size
                )
            delivery_id = (delivery_id + 1) & _MASK
            tag = (tag + 1) & _MASK
            pos += size
            count += 1
        if count > 0:
            receiver.passed(count)
            receiver.octets_in += pos - start
            batch: DeliveryBatch | None = None
            if not is_settled:
                batch = DeliveryBatch(receiver, count, tags)
                batch.arrive(self._next_id, self._next_tag)
            if sender is None:
                incoming.handler.on_held(HeldBatch(receiver, bytes(view[start:pos]), count, batch))
                return pos
            sender.passed(count)
            if batch is not None:
                batch.depart(sender, first_out, tag_out)
            incoming.handler.on_relayed(receiver, sender, count, batch, data, start)
        return pos
