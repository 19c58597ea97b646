"""Messages that go from one link to another as they come.

Who forwards messages decides about one, and may let those that were received behind it go the same way without being
asked about each: as long as they are whole, settled or not as that one was, of the same link and encoded as most peers
encode them, and as long as credit and windows last. Everything else takes the usual way, which then decides anew.
Those that are not settled are a `Convoy` until they are.
"""

from typing import TYPE_CHECKING

from routerd.wire.convoy import Convoy
from routerd.wire.section_scan import may_carry_annotations, read_u32
from routerd.wire.transfer import PLAIN_HEADER, TRANSFER_START, write_transfer

if TYPE_CHECKING:
    from routerd.wire.delivery import Delivery
    from routerd.wire.link import Link
    from routerd.wire.output import Output

# uint arithmetic wraps (2.8.10); as a C constant it stays out of Python's integers.
_MASK = 0xFFFFFFFF
# Octets of frame header and fields of what is written, at most.
_OVERHEAD = 33 + 4
_TAG_MAX = 32
_NUMBER_SIZE = 4
_FIELDS_AT = 14
# Octets that are looked at, at most, of a frame: up to the fields, handle, delivery-id, tag, and three more.
_LOOKED_AT = _FIELDS_AT + 2 + 5 + 2 + _TAG_MAX + 3
_HEADER = PLAIN_HEADER
_START = TRANSFER_START


class Relay:
    """What a connection passes on of what it receives; `receiver` is None while that is nothing."""

    receiver: "Link | None"
    _sender: "Link | None"

    def __init__(self) -> None:
        self.receiver = None
        self._sender = None
        self._is_plain_only = False
        self._most = 0
        self._is_settled = False
        self._next_id = 0
        self._has_numbers = False
        self._next_tag = 0

    def aim(
        self, receiver: "Link", sender: "Link", is_plain_only: bool, most: int, behind: "Delivery | None" = None
    ) -> None:
        """Pass on what a receiver is sent next, without annotations if so asked, until the output holds so many octets.

        The sender has just taken a settled message, or the one that is `behind`, for which it waits for an outcome.
        This is for what is being received now: whatever is not passed on ends it, and so does the end of the octets.
        """
        if sender.suspended:
            # A delivery that was taken over may have one of the next tags.
            return
        self._is_settled = behind is None
        if behind is not None:
            if receiver.suspended or receiver.rcv_settle_mode != 0:
                return
            self._next_id = (behind.id + 1) & _MASK
            self._has_numbers = behind.given_tag is None
            self._next_tag = (behind.tag_number + 1) & _MASK
        self.receiver = receiver
        self._sender = sender
        self._is_plain_only = is_plain_only
        self._most = most

    def take(self, data: bytes | bytearray, pos: int, end: int, stop: int) -> int:
        """Pass on what it can of data[pos:end], beginning before `stop`; return where it is over."""
        receiver, sender = self.receiver, self._sender
        self.receiver = self._sender = None
        if receiver is None or sender is None:
            return pos
        incoming, outgoing = receiver.session, sender.session
        left = min(receiver.credit, incoming.until_opened(), sender.credit, outgoing.remote_incoming_window)
        largest = outgoing.send_frame_size - _OVERHEAD
        if receiver.max_message_size:
            largest = min(largest, receiver.max_message_size)
        if sender.remote_max_message_size:
            largest = min(largest, sender.remote_max_message_size)
        frame_max = incoming.connection.receive_frame_size()
        header = _HEADER | incoming.remote_channel
        remote_handle = receiver.remote_handle
        out: Output = outgoing.output
        channel, handle = outgoing.channel, sender.handle
        delivery_id, tag = outgoing.next_delivery_id, sender.next_tag
        first_out, tag_out = delivery_id, tag
        is_settled = self._is_settled
        next_id, next_tag = self._next_id, self._next_tag
        tags: list[bytes] | None = None
        if not is_settled:
            left = min(left, incoming.unsettled_max - incoming.incoming.count)
            left = min(left, incoming.incoming.room_from(next_id), outgoing.outgoing.room_from(delivery_id))
            if not self._has_numbers:
                tags = []
        view = data
        count = 0
        while count < left and pos < stop and end - pos >= _LOOKED_AT and out.end < self._most:
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
            write_transfer(
                out, channel, handle, delivery_id, None, tag, 0, is_settled, False, data, payload, pos + size
            )
            delivery_id = (delivery_id + 1) & _MASK
            tag = (tag + 1) & _MASK
            pos += size
            count += 1
        if count > 0:
            receiver.passed(count)
            sender.passed(count)
            convoy: Convoy | None = None
            if not is_settled:
                convoy = Convoy(receiver, sender, count, tags)
                convoy.enter(self._next_id, first_out, self._next_tag, tag_out)
            incoming.handler.on_relayed(receiver, sender, count, convoy)
        return pos


def payload_of(view: bytes | bytearray, frame: int, remote_handle: int, is_settled: bool) -> int:
    """Return where the payload of a transfer begins, or -1 if it is not a whole one of the link, settled or not."""
    list_end = frame + _FIELDS_AT - 1 + view[frame + 12]
    count = view[frame + 13]
    if not 4 <= count <= 6:
        return -1
    at = frame + _FIELDS_AT
    if view[at] == 0x43:
        handle = 0
        at += 1
    elif view[at] == 0x52:
        handle = view[at + 1]
        at += 2
    else:
        return -1
    if handle != remote_handle:
        return -1
    if view[at] == 0x70:
        at += 5
    elif view[at] == 0x52:
        at += 2
    elif view[at] == 0x43:
        at += 1
    else:
        return -1
    if view[at] != 0xA0 or view[at + 1] > _TAG_MAX:
        return -1
    at += 2 + view[at + 1]
    # The message-format is 0; what is not said of the settlement is no.
    if view[at] != 0x43 or (count == 4 and is_settled):
        return -1
    at += 1
    if count > 4:
        if view[at] != (0x41 if is_settled else 0x42):
            return -1
        at += 1
    if count == 6:
        if view[at] != 0x42:
            return -1
        at += 1
    return at if at == list_end else -1


def id_of(view: bytes | bytearray, frame: int) -> int:
    """Return the delivery-id of a transfer of which `payload_of` has found the payload."""
    at = _id_at(view, frame)
    if view[at] == 0x70:
        return read_u32(view, at + 1)
    return view[at + 1] if view[at] == 0x52 else 0


def tag_of(view: bytes | bytearray, frame: int) -> int:
    """Return where the delivery-tag of such a transfer is: a code, a size, and octets."""
    at = _id_at(view, frame)
    if view[at] == 0x70:
        return at + 5
    return at + 2 if view[at] == 0x52 else at + 1


def _id_at(view: bytes | bytearray, frame: int) -> int:
    at = frame + _FIELDS_AT
    return at + 1 if view[at] == 0x43 else at + 2
