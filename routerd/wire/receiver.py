"""The receiving end of a link: it grants credit, and assembles transfers into deliveries (2.6.7, 2.6.12)."""

from typing import TYPE_CHECKING, Any

from routerd.wire import memory
from routerd.wire.amqp_error import error_about
from routerd.wire.delivery import Delivery
from routerd.wire.errors import (
    LinkFieldInvalid,
    MessageSizeExceeded,
    SessionLimitExceeded,
    StateError,
    TransferLimitExceeded,
    ValueRangeError,
)
from routerd.wire.link import Link
from routerd.wire.outcomes import is_outcome
from routerd.wire.performatives import Attach
from routerd.wire.serial import precedes
from routerd.wire.transfer import TAG_MAX

if TYPE_CHECKING:
    from routerd.wire.flow import FlowFields
    from routerd.wire.session import Session
    from routerd.wire.transfer import TransferFields

# uint arithmetic wraps (2.8.10). As a C constant, the mask avoids Python integers.
_MASK = 0xFFFFFFFF
_HALF = 0x80000000
# A larger number looks like that of a receiver that lags behind (2.6.7).
_CREDIT_MAX = 0x7FFFFFFF
_TAG_MAX = TAG_MAX
_TOO_LARGE = "Message size exceeded"


class Receiver(Link):
    """Receives messages, grants credit and drains it."""

    def __init__(self, session: "Session", name: str) -> None:
        Link.__init__(self, session, name, False)
        self._current: Delivery | None = None
        self._is_ignoring = False
        self._limit = 0
        self._told = 0
        # Whether the sender may send more than there is credit for, once as much again as it was ever given. Brokers
        # do that which take a flow for news while messages are on their way inside them: RabbitMQ is one.
        self.is_lenient = False
        self._excess = 0
        # The detach for a message that is too large has no error: the close of the connection that follows has it.
        self.is_size_for_close = False
        self.aborted = 0
        """Deliveries that the sender began and then aborted."""

    def grant(self, credit: int) -> None:
        """Grant further credit; the flow leaves with the next output."""
        if not 0 <= self.credit + credit <= _CREDIT_MAX:
            raise ValueRangeError(f"the credit of a link is {_CREDIT_MAX} at most")
        self.credit += credit
        self.drain = False
        self.session.flow_due(self)

    def set_credit(self, credit: int, *, drain: bool = False) -> None:
        """Set the credit, also to less; with drain, the sender uses it at once or gives it back."""
        if not 0 <= credit <= _CREDIT_MAX:
            raise ValueRangeError(f"the credit of a link is 0 to {_CREDIT_MAX}, not {credit}")
        self.credit = credit
        self.drain = drain
        self.session.flow_due(self)

    def flow(self, *, echo: bool = False, properties: "dict[Any, Any] | None" = None) -> None:
        """Send the link's flow state now, with properties, or with echo to request the peer's."""
        if not self.is_attached:
            raise StateError(f"link {self.name!r} is {self.state.value}: it has no flow")
        self.session.send_flow(self, echo, properties)

    def receive_attach(self, performative: Attach) -> None:
        """Take the fields of the sender's attach, most of all its delivery-count."""
        Link.receive_attach(self, performative)
        # 2.7.3 demands the field of a sender. Most peers take its absence for 0, so that clients exist without it.
        self.delivery_count = performative.initial_delivery_count or 0
        self._limit = (self.delivery_count + self._told) & _MASK

    def advertise(self) -> None:
        """Remember the highest delivery-count that the sender was ever allowed, because flows cross transfers."""
        if self.is_lenient and self.credit > self._excess:
            self._excess = self.credit
        if self.remote_handle < 0:
            self._told = max(self._told, self.credit)
            return
        limit = (self.delivery_count + self.credit) & _MASK
        if (limit - self._limit) & _MASK < _HALF:
            self._limit = limit

    def receive_transfer(self, fields: "TransferFields", data: bytes | bytearray, end: int) -> None:
        """Take one transfer of this link; its payload ends at `end`."""
        delivery = self._current
        if delivery is not None:
            self._check_continuation(delivery, fields)
            if fields.payload == end and fields.more and not fields.aborted and fields.settled != 1:
                # The transfer has no octets of the message.
                self._note_more(delivery, fields)
                return
        elif self._is_ignoring:
            self._is_ignoring = fields.more and not fields.aborted
            return
        elif fields.resume and not self.is_relayed:
            delivery = self._resume(fields)
            if delivery is None:
                self._is_ignoring = fields.more and not fields.aborted
                return
        else:
            delivery = self._begin(fields)
            if fields.tag is not None and len(fields.tag) > _TAG_MAX:
                self._turn_down(delivery, fields)
                return
        delivery.size += end - fields.payload
        if self.max_message_size and delivery.size > self.max_message_size:
            error = MessageSizeExceeded(_TOO_LARGE)
            error.is_told = not self.is_size_for_close
            if delivery.is_tracked:
                # The outcome is sent first, because the peer ignores it after the detach.
                delivery.reject(error_about(error))
            raise error
        self._note_more(delivery, fields)
        delivery.is_partial = fields.more and not fields.aborted
        if delivery.is_partial:
            self._current = delivery
        else:
            self.octets_in += delivery.size
            if self._current is not None:
                self._current = None
        if fields.aborted:
            self.aborted += 1
            delivery.is_aborted = True
            delivery.settled = True
        if fields.settled == 1 or fields.aborted:
            delivery.remote_settled = True
            if delivery.is_tracked:
                self.session.untrack(delivery)
        if delivery.is_settled_at_end and not delivery.is_partial and delivery.is_tracked:
            delivery.settle()
        self.session.handler.on_transfer(
            self, delivery, data, end if fields.aborted else fields.payload, end
        )
        # Only the object remains of a settled message.
        if delivery.remote_settled and memory.is_ours_alone(delivery):
            self.take_back(delivery)

    def _note_more(self, delivery: Delivery, fields: "TransferFields") -> None:
        if fields.batchable:
            delivery.is_batchable = True
        if fields.state is not None and not is_outcome(delivery.remote_state):
            delivery.remote_state = fields.state

    def forget_aborted(self) -> None:
        """Drop a delivery under way that the peer aborted before it got our detach."""
        delivery = self._current
        if delivery is not None:
            self._current = None
            delivery.is_aborted = delivery.settled = delivery.remote_settled = True
            self.session.untrack(delivery)

    def passed(self, count: int) -> None:
        """Count settled deliveries that a relay has taken; they had credit."""
        Link.passed(self, count)
        self.available = max(0, self.available - count)
        self.session.passed_in(count)

    def receive_flow(self, fields: "FlowFields") -> None:
        """Take the sender's state: credit returned by a higher delivery-count, and the messages available."""
        Link.receive_flow(self, fields)
        if fields.delivery_count >= 0:
            ahead = (fields.delivery_count - self.delivery_count) & _MASK
            if 0 < ahead < _HALF:
                self.delivery_count = fields.delivery_count
                self.credit = max(0, self.credit - ahead)
        if fields.available >= 0:
            self.available = fields.available

    def _begin(self, fields: "TransferFields") -> Delivery:
        if fields.delivery_id < 0 or (fields.tag_number < 0 and fields.tag is None):
            raise LinkFieldInvalid(f"link {self.name!r}: a first transfer without delivery-id or delivery-tag")
        if self.is_incomplete and not self.is_relayed:
            raise LinkFieldInvalid(f"link {self.name!r}: a new delivery where an unsettled map was incomplete")
        self._use_credit()
        delivery = self.new_delivery()
        if fields.tag_number >= 0:
            delivery.tag_number = fields.tag_number
        else:
            delivery.given_tag = fields.tag
        delivery.id = fields.delivery_id
        delivery.message_format = fields.message_format if fields.message_format >= 0 else 0
        delivery.is_incoming = True
        delivery.is_plain = True
        # Of a relayed link the far end knows whether it is one to resume.
        delivery.is_resumed = fields.resume
        delivery.is_batchable = fields.batchable
        delivery.rcv_settle_mode = self._mode_of(fields)
        if fields.settled != 1:
            self._track(delivery)
        return delivery

    def _turn_down(self, delivery: Delivery, fields: "TransferFields") -> None:
        # The handler never hears of the delivery, so the sender has its credit back here.
        self._is_ignoring = fields.more and not fields.aborted
        if delivery.is_tracked:
            delivery.reject(error_about(LinkFieldInvalid(f"a delivery-tag has {_TAG_MAX} octets at most")))
        self.grant(1)

    def _track(self, delivery: Delivery) -> None:
        session = self.session
        if session.incoming.count >= session.unsettled_max:
            raise SessionLimitExceeded(f"a session may leave {session.unsettled_max} deliveries unsettled at most")
        session.track(delivery)

    def _resume(self, fields: "TransferFields") -> Delivery | None:
        tag = fields.tag_octets()
        if fields.delivery_id < 0 or tag is None:
            raise LinkFieldInvalid(f"link {self.name!r}: a first transfer without delivery-id or delivery-tag")
        self._use_credit()
        # A resumed delivery that is not in our unsettled map is ignored (2.7.5, resume).
        delivery = None if self.suspended is None else self.suspended.pop(tag, None)
        if delivery is not None:
            self.session.untrack(delivery)
            delivery.id = fields.delivery_id
            delivery.is_resumed = True
            delivery.size = 0
            delivery.settled = False
            delivery.is_batchable = False
            delivery.rcv_settle_mode = self._mode_of(fields)
            if fields.settled != 1:
                self._track(delivery)
        return delivery

    def _mode_of(self, fields: "TransferFields") -> int:
        # Mode second on a transfer is not allowed on a link with mode first (2.7.5).
        if fields.rcv_settle_mode > self.rcv_settle_mode and fields.settled != 1:
            raise LinkFieldInvalid(f"link {self.name!r}: a delivery to be settled second, where first was agreed")
        return fields.rcv_settle_mode if fields.rcv_settle_mode >= 0 else self.rcv_settle_mode

    def _use_credit(self) -> None:
        if self.credit > 0:
            self.credit -= 1
        elif not precedes(self.delivery_count, (self._limit + self._excess) & _MASK):
            raise TransferLimitExceeded(f"link {self.name!r}: a delivery for which there was no credit")
        self.delivery_count = (self.delivery_count + 1) & _MASK
        if self.available > 0:
            self.available -= 1

    def _check_continuation(self, delivery: Delivery, fields: "TransferFields") -> None:
        if fields.delivery_id >= 0 and fields.delivery_id != delivery.id:
            raise LinkFieldInvalid(
                f"link {self.name!r}: delivery-id {fields.delivery_id} within delivery {delivery.id}"
            )
        if (fields.tag_number >= 0 or fields.tag is not None) and fields.tag_octets() != delivery.tag:
            raise LinkFieldInvalid(f"link {self.name!r}: another delivery-tag within delivery {delivery.id}")
        if fields.message_format >= 0 and fields.message_format != delivery.message_format:
            raise LinkFieldInvalid(f"link {self.name!r}: another message-format within delivery {delivery.id}")
