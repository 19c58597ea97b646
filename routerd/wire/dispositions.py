"""The dispositions of a session's deliveries, from both ends (2.6.12, 2.7.6).

Ours are gathered while octets are received, with consecutive deliveries of the same state in one range. They are
written when output is requested.
"""

from typing import TYPE_CHECKING, Any

from routerd.wire import memory
from routerd.wire.composite import encode_state
from routerd.wire.delivery import Delivery, DeliveryRing
from routerd.wire.disposition import DispositionRange
from routerd.wire.errors import FrameTooLarge, SessionFieldInvalid
from routerd.wire.outcomes import ACCEPTED, is_outcome

if TYPE_CHECKING:
    from routerd.wire.decoder import Decoder
    from routerd.wire.session import Session

# uint arithmetic wraps (2.8.10). As a C constant, the mask avoids Python integers.
_MASK = 0xFFFFFFFF
_HALF = 0x80000000
_ACCEPTED = ACCEPTED
# The most octets of a disposition without its state.
_OVERHEAD = 40


class Dispositions:
    """Gathers and writes our dispositions, and applies the peer's."""

    def __init__(self, session: "Session") -> None:
        self.session = session
        self._as_receiver = DispositionRange(True)
        self._as_sender = DispositionRange(False)
        # The last unsettled state from the peer, and the range of our deliveries that have it. All present deliveries
        # in the range have it, so a repetition costs nothing.
        self._state: Any = None
        self._said_first = 0
        self._said_count = 0

    def check_fits(self, state: Any) -> None:
        """Refuse a delivery state that is too long for the peer's frames."""
        octets = bytearray()
        encode_state(octets, state)
        if len(octets) + _OVERHEAD > self.session.send_frame_size:
            raise FrameTooLarge(
                f"a delivery state of {len(octets)} octets; the peer accepts frames of {self.session.send_frame_size}"
            )

    def send(self, delivery: Delivery, state: Any, settled: bool) -> None:
        """Add a changed state of a delivery to the present range; do nothing once the session is over."""
        session = self.session
        if settled:
            session.untrack(delivery)
        if not session.is_open:
            return
        self._gather(self._as_receiver if delivery.is_incoming else self._as_sender, delivery.id, 1, state, settled)

    def _gather(self, gathered: DispositionRange, first: int, count: int, state: Any, settled: bool) -> None:
        session = self.session
        if not gathered.extend(first, count, state, settled):
            gathered.write(session.output, session.channel)
            gathered.extend(first, count, state, settled)
        if not session.is_busy:
            session.connection.make_busy(session)

    def accept(self, first: int, count: int) -> None:
        """Add the acceptance and settlement of the peer's deliveries that have no objects."""
        if self.session.is_open:
            self._gather(self._as_receiver, first, count, _ACCEPTED, True)

    def write(self) -> None:
        """Write the present range."""
        if self._as_receiver.is_pending:
            self._as_receiver.write(self.session.output, self.session.channel)
        if self._as_sender.is_pending:
            self._as_sender.write(self.session.output, self.session.channel)

    def drop(self) -> None:
        """Drop the present range, because the session is over."""
        self._as_receiver.is_pending = False
        self._as_sender.is_pending = False

    def receive(self, decoder: "Decoder") -> None:
        """Apply a disposition to the known deliveries in its range; others are settled already."""
        session = self.session
        fields = session.connection.disposition_fields
        fields.read(decoder)
        ring = session.outgoing if fields.is_receiver else session.incoming
        first = fields.first
        last = fields.last
        settled = fields.settled
        span = (last - first) & _MASK
        if span >= _HALF:
            raise SessionFieldInvalid(f"a disposition from {first} back to {last}")
        state = fields.state
        if settled:
            is_acceptance = fields.is_receiver and state is _ACCEPTED
        elif state is None:
            # The disposition has neither a state nor a settlement.
            return
        else:
            is_acceptance = False
            state = self._known(state)
            if fields.is_receiver:
                if self._is_said(first, last):
                    return
                first = self._say(first, last)
                span = (last - first) & _MASK
        if not settled or span > ring.count + ring.count:
            self._apply_to_old(ring, first, last, state, settled)
            first, span = ring.part_between(first, span)
            if span < 0:
                return
        self._apply_to_range(ring, first, span, state, settled, is_acceptance)

    def _apply_to_range(
        self, ring: DeliveryRing, first: int, span: int, state: Any, settled: bool, is_acceptance: bool
    ) -> None:
        step = applied = 0
        # Most dispositions are not for batches, so the ring is asked once.
        has_batches = is_acceptance and ring.front() is not None
        while step <= span:
            if has_batches:
                passed = self._accept_batch(ring, (first + step) & _MASK, span - step + 1)
                if passed > 0:
                    step += passed
                    continue
            delivery = ring.get((first + step) & _MASK)
            step += 1
            if delivery is not None and (settled or delivery.remote_state is not state):
                applied += 1
                self._apply(delivery, state, settled)
                if memory.is_ours_alone(delivery):
                    delivery.link.take_back(delivery)
        self.session.connection.work += (applied >> 1) + (step >> 5)

    def _apply_to_old(self, ring: DeliveryRing, first: int, last: int, state: Any, settled: bool) -> None:
        """Apply a wide disposition to a few remaining deliveries, which are kept in a dict."""
        ring.thin_out()
        numbers = ring.stragglers_between(first, last)
        self.session.connection.work += len(numbers)
        for number in numbers:
            found = ring.get(number)
            if found is not None and (settled or found.remote_state is not state):
                self._apply(found, state, settled)

    def _known(self, state: Any) -> Any:
        """Return an unsettled state as the object of the last one, if both are equal."""
        if state != self._state:
            self._state = state
            self._said_count = 0
        return self._state

    def _is_said(self, first: int, last: int) -> bool:
        """Whether all known deliveries in a range of ours have the last state already."""
        ahead = (first - self._said_first) & _MASK
        return ahead < self._said_count and (last - first) & _MASK < self._said_count - ahead

    def _say(self, first: int, last: int) -> int:
        """Note the deliveries of ours that get a state; return the first id for which it is new."""
        newest = (self.session.next_delivery_id - 1) & _MASK
        if (last - newest) & _MASK < _HALF:
            # Deliveries that are not sent yet do not get the state.
            last = newest
        count = (last - first + 1) & _MASK
        ahead = (first - self._said_first) & _MASK
        if count > _HALF:
            # No delivery in the range is sent yet.
            return first
        if ahead <= self._said_count:
            first = (self._said_first + self._said_count) & _MASK
            self._said_count = ahead + count
        else:
            self._said_first = first
            self._said_count = count
        return first

    def _accept_batch(self, ring: DeliveryRing, number: int, most: int) -> int:
        """Pass on a consumer's acceptance of the first deliveries of the batch that begins with an id; return their
        number.
        """
        batch = ring.beginning_with(number)
        if batch is None:
            return 0
        count = min(batch.count, most)
        first = batch.first_in
        batch.settle_first(count)
        batch.receiver.session.dispositions.accept(first, count)
        self.session.handler.on_accepted(batch, count)
        return count

    def _apply(self, delivery: Delivery, state: Any, settled: bool) -> None:
        is_news = settled
        before = delivery.remote_state
        # A settlement is always new: a comparison of states in Python would cost more than the rest of this.
        if (
            state is not None
            and (settled or state != before)
            and not (delivery.is_incoming and not delivery.link.is_relayed and is_outcome(before))
        ):
            delivery.remote_state = state
            is_news = True
        if settled:
            delivery.remote_settled = True
            self.session.untrack(delivery)
            delivery.link.forget_suspended(delivery)
        if is_news:
            self.session.handler.on_disposition(delivery)
