"""Passes messages from one link to another as they come, or holds them together.

The router decides about one message. Messages received behind it may then follow without a decision for each. They have
to be whole, of the same link, settled or unsettled as the first, and encoded as most peers encode them. They follow as
long as credit and windows last. The router decides anew about everything else. Unsettled messages that follow are a
`DeliveryBatch` until they are settled. If the first message has to wait, those behind it may wait as a `HeldBatch`.

If the first message left with other octets at its front, such as annotations, only messages with the same front as it
had follow. They leave with the same octets in its place (`change`).
"""

from typing import TYPE_CHECKING

from routerd.wire import memory
from routerd.wire.delivery_batch import DeliveryBatch
from routerd.wire.held_batch import HeldBatch
from routerd.wire.plain_transfer import LOOKED_AT, OVERHEAD, TAG_MAX, id_of, payload_of, tag_of
from routerd.wire.section_scan import is_past_annotations, may_carry_annotations, read_u32
from routerd.wire.transfer import PLAIN_HEADER, TRANSFER_START, write_changed_transfer, write_transfer

if TYPE_CHECKING:
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link
    from routerd.wire.output import Output

LIMIT = 1 << 30
"""More messages than a receive ever has at once."""

# uint arithmetic wraps (2.8.10); as a C constant it stays out of Python's integers.
_MASK = 0xFFFFFFFF
_OVERHEAD = OVERHEAD
_NUMBER_SIZE = 4
_TAG_MAX = TAG_MAX
_LOOKED_AT = LOOKED_AT
_HEADER = PLAIN_HEADER
_START = TRANSFER_START
_NOTHING = b""


class Relay:
    """Passes on, or holds, received messages of one link; `receiver` is None while it has no link."""

    receiver: "Link | None"
    _sender: "Link | None"

    def __init__(self) -> None:
        self.receiver = None
        # The size of the present frame, and the octets behind it that may be handled in this turn.
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
        self._head: bytes | None = None
        self._front: bytes | None = None
        self._has_annotations = False

    def count_behind(self) -> int:
        """Return how many frames may be behind the present one, if they have its size."""
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
        """Pass on the receiver's next messages, only plain ones if so asked, until the output holds `most` octets.

        If both links are halves of one routed link, the tags stay the same.
        The sender has just taken a settled message, or the unsettled one in `behind`. This holds for the octets that
        are being received now. It ends with them, with the first message that is not passed on, or after `limit`
        messages.
        """
        # A delivery that was taken over may have one of the next tags.
        if not sender.suspended and self._follow(receiver, behind):
            self._sender = sender
            self._is_plain_only = is_plain_only
            self._most = most
            self._limit = limit

    def change(self, head: bytes, front: bytes, has_annotations: bool) -> None:
        """Pass on, or hold, only messages that begin with `head`, and send `front` in its place.

        `head` ends with the message-annotations, or, without these, where they would be.
        """
        self._head = head
        self._front = front
        self._has_annotations = has_annotations

    def hold(self, receiver: "Link", behind: "Delivery | None" = None) -> None:
        """Hold the receiver's next messages, as long as they have no annotations or those of `change`.

        A settled message has just come and waits, or the unsettled one in `behind`.
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
        """Pass on or hold messages of data[pos:end] that begin before `stop`; return the offset where it stopped."""
        receiver, sender = self.receiver, self._sender
        head, front = self._head, self._front
        self.receiver = self._sender = self._head = self._front = None
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
        head_view, head_size = _NOTHING, 0
        if head is not None and front is not None:
            head_view, head_size = head, len(head)
            largest = min(largest, largest + head_size - len(front))
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
        is_choosy = self._is_plain_only or head is not None
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
            if is_choosy:
                if head is None:
                    if may_carry_annotations(view, payload, pos + size):
                        break
                else:
                    if pos + size - payload < head_size or not memory.is_same(view, payload, head_view, head_size):
                        break
                    payload += head_size
                    if not self._has_annotations and not is_past_annotations(view, payload, pos + size):
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
                if front is None:
                    write_transfer(
                        out, channel, handle, delivery_id, octets, tag, 0, is_settled, False, data, payload, pos + size
                    )
                else:
                    write_changed_transfer(
                        out, channel, handle, delivery_id, octets, tag, is_settled, front, data, payload, pos + size
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
                incoming.handler.on_held(HeldBatch(receiver, bytes(view[start:pos]), count, batch, head))
                return pos
            sender.passed(count)
            if batch is not None:
                batch.depart(sender, first_out, tag_out)
            incoming.handler.on_relayed(receiver, sender, count, batch, data, start)
        return pos
