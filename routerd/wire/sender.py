"""The sending end of a link: it uses credit, and cuts messages into transfers (2.6.7, 2.6.12)."""

from typing import TYPE_CHECKING, Any, cast

from routerd.wire.composite import encode_composite
from routerd.wire.delivery import Delivery
from routerd.wire.errors import FrameTooLarge, StateError
from routerd.wire.link import Link
from routerd.wire.performatives import Transfer
from routerd.wire.transfer import write_abort, write_continuation, write_transfer

if TYPE_CHECKING:
    from routerd.wire.flow import FlowFields
    from routerd.wire.session import Session

# uint arithmetic wraps (2.8.10). As a C constant, the mask avoids Python integers.
_MASK = 0xFFFFFFFF
# The most octets of frame header and fields: of a first transfer without its tag, and of a further one.
_FIRST_OVERHEAD = 33
_NEXT_OVERHEAD = 24
# 2.8.7: a delivery-tag is at most 32 octets.
_TAG_MAX = 32
_UNSETTLED, _SETTLED = 0, 1


class Sender(Link):
    """Sends messages; `credit` is the number of deliveries that can begin now."""

    def __init__(self, session: "Session", name: str) -> None:
        Link.__init__(self, session, name, True)
        self.current: Delivery | None = None
        self._unstarted = 0
        self._overdrawn = 0

    def take_over(self, earlier: Link) -> None:
        """Take the unsettled deliveries of an earlier endpoint, and continue its automatic tags."""
        Link.take_over(self, earlier)
        predecessor = cast(Sender, earlier)
        self.next_tag = predecessor.next_tag

    def send(
        self,
        data: bytes | bytearray,
        tag: bytes | None = None,
        settled: bool = False,
        message_format: int = 0,
        context: Any = None,
    ) -> Delivery:
        """Send a whole message; it uses one credit."""
        self._check_size(len(data))
        delivery = self.begin(tag, settled, message_format, context)
        self.write(delivery, data, 0, len(data), False)
        return delivery

    def begin(
        self,
        tag: bytes | None = None,
        settled: bool = False,
        message_format: int = 0,
        context: Any = None,
        state: Any = None,
        rcv_settle_mode: int = -1,
        batchable: bool = False,
    ) -> Delivery:
        """Begin a delivery whose octets follow by `write`; it uses one credit."""
        if not self.is_attached:
            raise StateError(f"link {self.name!r} is {self.state.value}: nothing can be sent")
        if self.credit <= 0:
            raise StateError(f"link {self.name!r} has no credit")
        if self.current is not None:
            raise StateError(f"link {self.name!r}: the delivery before is not complete")
        if self.is_incomplete:
            raise StateError(f"link {self.name!r}: an unsettled map was incomplete; resume, detach and attach again")
        if tag is not None and len(tag) > _TAG_MAX:
            raise StateError(f"a delivery-tag has {_TAG_MAX} octets at most, not {len(tag)}")
        if (settled and self.snd_settle_mode == _UNSETTLED) or (not settled and self.snd_settle_mode == _SETTLED):
            raise StateError(f"link {self.name!r}: its snd-settle-mode does not allow settled={settled}")
        if rcv_settle_mode > self.rcv_settle_mode and not settled:
            raise StateError(f"link {self.name!r}: its rcv-settle-mode does not allow a delivery to be settled second")
        delivery = self.new_delivery()
        if tag is None:
            delivery.tag_number = self._take_tag_number()
        else:
            delivery.given_tag = tag
        delivery.message_format = message_format
        delivery.settled = settled
        if state is not None:
            delivery.state = state
        if context is not None:
            delivery.context = context
        delivery.is_partial = True
        delivery.is_queued = True
        delivery.is_plain = state is None and rcv_settle_mode < 0 and not batchable
        delivery.is_batchable = batchable
        delivery.rcv_settle_mode = rcv_settle_mode
        if not delivery.is_plain:
            self._check_fits(delivery)
        self.credit -= 1
        self._unstarted += 1
        self.current = delivery
        return delivery

    def send_settled(
        self, data: bytes | bytearray, start: int, end: int, message_format: int
    ) -> bool:
        """Send data[start:end] as a whole settled message in one frame, without a record of it.

        Returns false, without a change, if the message needs `begin` and `write`.
        """
        session = self.session
        size = end - start
        if (
            self.credit <= 0
            or session.remote_incoming_window <= 0
            or session.has_backlog
            or size > session.send_frame_size - _FIRST_OVERHEAD - 4
            or self.current is not None
            or not self.is_attached
            or self.is_incomplete
            or self.snd_settle_mode == _UNSETTLED
            or (self.remote_max_message_size and size > self.remote_max_message_size)
        ):
            return False
        self.credit -= 1
        self.delivery_count = (self.delivery_count + 1) & _MASK
        session.count_transfer()
        write_transfer(
            session.output,
            session.channel,
            self.handle,
            session.take_delivery_id(),
            None,
            self._take_tag_number(),
            message_format,
            True,
            False,
            data,
            start,
            end,
        )
        return True

    def forward(self, delivery: Delivery, data: bytes | bytearray, start: int, end: int) -> Delivery | None:
        """Send on the received part of a delivery of another link, with its tag, format and state.

        Return the delivery on this link; its rest follows by `write`. A delivery that is whole and settled is over, and
        None is returned.
        """
        if not self.is_attached or self.credit <= 0 or self.current is not None:
            raise StateError(f"link {self.name!r} can't begin a delivery now")
        session = self.session
        settled = delivery.remote_settled
        mode = delivery.rcv_settle_mode
        if mode == self.rcv_settle_mode or settled:
            mode = -1
        is_plain = mode < 0 and delivery.remote_state is None and not (
            delivery.is_batchable or delivery.is_resumed or delivery.is_aborted
        )
        if (
            is_plain
            and settled
            and not delivery.is_partial
            and session.remote_incoming_window > 0
            and not session.has_backlog
            and end - start <= session.send_frame_size - _FIRST_OVERHEAD - _TAG_MAX
        ):
            self.credit -= 1
            self.delivery_count = (self.delivery_count + 1) & _MASK
            session.count_transfer()
            write_transfer(
                session.output,
                session.channel,
                self.handle,
                session.take_delivery_id(),
                delivery.given_tag,
                delivery.tag_number,
                delivery.message_format,
                True,
                False,
                data,
                start,
                end,
            )
            return None
        mine = self.new_delivery()
        mine.given_tag = delivery.given_tag
        mine.tag_number = delivery.tag_number
        mine.message_format = delivery.message_format
        mine.settled = settled
        if delivery.remote_state is not None:
            mine.state = delivery.remote_state
        mine.is_partial = True
        mine.is_queued = True
        mine.is_plain = is_plain
        mine.is_batchable = delivery.is_batchable
        mine.is_resumed = delivery.is_resumed
        mine.is_aborted = delivery.is_aborted
        mine.rcv_settle_mode = mode
        if not is_plain:
            self._check_fits(mine)
        self.credit -= 1
        self._unstarted += 1
        self.current = mine
        self.write(mine, data, start, end, delivery.is_partial)
        return mine

    def give_back(self, credit: int) -> None:
        """Advance the delivery-count over credit that will not be used; the peer is told with the next output."""
        self.delivery_count = (self.delivery_count + credit) & _MASK
        self.credit -= credit
        self.session.flow_due(self)

    def write(self, delivery: Delivery, data: bytes | bytearray, start: int, end: int, more: bool) -> None:
        """Send data[start:end] of the delivery under way; octets beyond the session window are queued."""
        if delivery is not self.current or not self.is_attached:
            raise StateError(f"link {self.name!r}: delivery {delivery.tag!r} is not under way")
        self._check_size(delivery.size + end - start)
        delivery.size += end - start
        if not more:
            self.current = None
        if not self.session.has_backlog:
            start = self.emit(delivery, data, start, end, more)
        if start >= 0:
            self.session.queue(delivery, bytes(data[start:end]), more)

    def abort(self, delivery: Delivery) -> None:
        """Abort the delivery under way; the peer drops its octets (2.7.5, aborted)."""
        if delivery is not self.current or not self.is_attached:
            raise StateError(f"link {self.name!r}: delivery {delivery.tag!r} is not under way")
        self.current = None
        delivery.is_aborted = True
        delivery.is_partial = False
        self.session.unqueue(delivery)
        if delivery.is_queued:
            self._unstarted -= 1
            delivery.is_queued = False
            if self._overdrawn > 0:
                self._overdrawn -= 1
            else:
                self.credit += 1
        else:
            self.session.untrack(delivery)
            if self.session.has_backlog or self.emit(delivery, b"", 0, 0, False) >= 0:
                self.session.queue(delivery, b"", False)
        delivery.settled = True

    def drained(self) -> None:
        """Answer a drain: the remaining credit is used up, and the peer is told with the next output (2.6.7)."""
        if not self.is_attached:
            raise StateError(f"link {self.name!r} is {self.state.value}: it has no flow")
        if self.drain and self.credit > 0:
            self.delivery_count = (self.delivery_count + self.credit) & _MASK
            self.credit = 0
        self.session.flow_due(self)

    def resume(
        self,
        delivery: Delivery,
        data: bytes = b"",
        *,
        state: Any = None,
        settled: bool = False,
        aborted: bool = False,
    ) -> None:
        """Resume a delivery of an earlier attachment: its remaining octets, only its state, or an abort (2.6.13)."""
        if not self.is_attached or self.suspended is None or self.suspended.get(delivery.tag) is not delivery:
            raise StateError(f"link {self.name!r}: delivery {delivery.tag!r} is not one to resume")
        if self.credit <= 0:
            raise StateError(f"link {self.name!r} has no credit")
        if self.current is not None:
            raise StateError(f"link {self.name!r}: the delivery before is not complete")
        self._check_size(len(data))
        self._check_resumption_fits(delivery, state, aborted)
        delivery.is_resumed = True
        delivery.is_aborted = aborted
        delivery.is_plain = False
        delivery.is_batchable = False
        delivery.rcv_settle_mode = -1
        delivery.state = state
        del self.suspended[delivery.tag]
        self.session.untrack(delivery)
        delivery.size = 0
        delivery.is_partial = True
        delivery.is_queued = True
        delivery.settled = settled or aborted
        self.credit -= 1
        self._unstarted += 1
        self.current = delivery
        self.write(delivery, data, 0, 0 if aborted else len(data), False)

    def emit(self, delivery: Delivery, data: bytes | bytearray, start: int, end: int, more: bool) -> int:
        """Write frames as the window allows; return the offset where it stopped, or -1 when all is written."""
        session = self.session
        out = session.output
        frame_size = session.send_frame_size
        while session.remote_incoming_window > 0:
            session.count_transfer()
            if delivery.is_queued:
                self._start(delivery)
                if delivery.is_plain:
                    tag_size = 4 if delivery.given_tag is None else len(delivery.given_tag)
                    stop = min(end, start + frame_size - _FIRST_OVERHEAD - tag_size)
                    write_transfer(
                        out,
                        session.channel,
                        self.handle,
                        delivery.id,
                        delivery.given_tag,
                        delivery.tag_number,
                        delivery.message_format,
                        delivery.settled,
                        more or stop < end,
                        data,
                        start,
                        stop,
                    )
                else:
                    stop = self._write_in_full(delivery, data, start, end, more)
            elif delivery.is_aborted:
                stop = end
                write_abort(out, session.channel, self.handle)
            else:
                stop = min(end, start + frame_size - _NEXT_OVERHEAD)
                write_continuation(out, session.channel, self.handle, more or stop < end, data, start, stop)
            start = stop
            if start == end:
                delivery.is_partial = more
                if delivery.is_settled_at_end and not more and delivery.is_tracked:
                    delivery.settle()
                return -1
        return start

    def _take_tag_number(self) -> int:
        while True:
            number = self.next_tag
            self.next_tag = (number + 1) & _MASK
            # A delivery that was taken over may have the same tag.
            if not self.suspended or number.to_bytes(4, "big") not in self.suspended:
                return number

    def _check_size(self, size: int) -> None:
        if self.remote_max_message_size and size > self.remote_max_message_size:
            raise StateError(
                f"link {self.name!r}: the peer takes messages of {self.remote_max_message_size} octets at most"
            )

    def _check_resumption_fits(self, delivery: Delivery, state: Any, aborted: bool) -> None:
        likeness = self.new_delivery()
        likeness.given_tag = delivery.tag
        likeness.message_format = delivery.message_format
        likeness.settled = likeness.is_resumed = True
        likeness.is_aborted = aborted
        likeness.rcv_settle_mode = -1
        likeness.state = state
        self._check_fits(likeness)

    def _check_fits(self, delivery: Delivery) -> None:
        size = 8 + len(self._transfer_in_full(delivery, _MASK, True))
        if size > self.session.send_frame_size:
            raise FrameTooLarge(
                f"the fields of a transfer take {size} octets; the peer takes frames of {self.session.send_frame_size}"
            )

    def _start(self, delivery: Delivery) -> None:
        delivery.is_queued = False
        delivery.id = self.session.take_delivery_id()
        self._unstarted -= 1
        self.delivery_count = (self.delivery_count + 1) & _MASK
        if not delivery.settled:
            self.session.track(delivery)

    def _write_in_full(self, delivery: Delivery, data: bytes | bytearray, start: int, end: int, more: bool) -> int:
        body = self._transfer_in_full(delivery, delivery.id, True)
        stop = min(end, start + self.session.send_frame_size - 8 - len(body))
        if stop == end and not more:
            body = self._transfer_in_full(delivery, delivery.id, False)
        body += data[start:stop]
        self.session.output.put_frame(self.session.channel, 0, body)
        return stop

    def _transfer_in_full(self, delivery: Delivery, delivery_id: int, more: bool) -> bytearray:
        body = bytearray()
        encode_composite(
            body,
            Transfer(
                handle=self.handle,
                delivery_id=delivery_id,
                delivery_tag=delivery.tag,
                message_format=delivery.message_format,
                settled=delivery.settled,
                more=more,
                rcv_settle_mode=None if delivery.rcv_settle_mode < 0 else delivery.rcv_settle_mode,
                state=delivery.state,
                resume=delivery.is_resumed,
                aborted=delivery.is_aborted,
                batchable=delivery.is_batchable,
            ),
        )
        return body

    def credit_on_wire(self) -> int:
        """Return the credit from the peer's view: queued deliveries have not used theirs yet."""
        return self.credit + self._unstarted

    def passed(self, count: int) -> None:
        """Count settled deliveries that a relay has written, with consecutive tags from the next one on."""
        Link.passed(self, count)
        self.next_tag = (self.next_tag + count) & _MASK
        self.session.passed_out(count)

    def drop_queued(self) -> None:
        """Drop deliveries that were begun and not sent, because the link is over."""
        self._unstarted = 0
        self._overdrawn = 0
        self.current = None

    def receive_flow(self, fields: "FlowFields") -> None:
        """Take the receiver's credit (2.6.7): its grant less the deliveries that it has not seen yet."""
        Link.receive_flow(self, fields)
        if fields.link_credit >= 0:
            seen = fields.delivery_count if fields.delivery_count >= 0 else self.initial_delivery_count
            unseen = (self.delivery_count - seen) & _MASK
            # A delivery that was begun is sent even if the credit is reduced meanwhile; the peer accepts deliveries
            # under way.
            credit = fields.link_credit - unseen - self._unstarted
            self.credit = max(0, credit)
            self._overdrawn = max(0, min(-credit, self._unstarted))
        self.drain = fields.drain
