"""What is said of a session's deliveries: the dispositions of either end (2.6.12, 2.7.6).

Ours are gathered while octets are received, consecutive deliveries with the same state in one range, and written when
output is asked for.
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

# uint arithmetic wraps (2.8.10); as a C constant it stays out of Python's integers.
_MASK = 0xFFFFFFFF
_HALF = 0x80000000
_ACCEPTED = ACCEPTED
# Octets of a disposition at most, but for its state.
_OVERHEAD = 40


class Dispositions:
    """Gathers and writes ours, and applies the peer's."""

    def __init__(self, session: "Session") -> None:
        self.session = session
        self._as_receiver = DispositionRange(True)
        self._as_sender = DispositionRange(False)
        # The state that the peer said last without settling, and of which deliveries of ours. All of them that are
        # still here have it, so saying it again costs nothing.
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
        """Gather a change of a delivery's state into the range at hand; a session that is over tells nobody."""
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
        """Gather that deliveries of the peer are accepted and settled, which no objects stand for."""
        if self.session.is_open:
            self._gather(self._as_receiver, first, count, _ACCEPTED, True)

    def write(self) -> None:
        """Write what was gathered."""
        if self._as_receiver.is_pending:
            self._as_receiver.write(self.session.output, self.session.channel)
        if self._as_sender.is_pending:
            self._as_sender.write(self.session.output, self.session.channel)

    def drop(self) -> None:
        """Forget what was gathered: the session is over."""
        self._as_receiver.is_pending = False
        self._as_sender.is_pending = False

    def receive(self, decoder: "Decoder") -> None:
        """Apply a disposition to the deliveries that we know of its range; others are settled already."""
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
            # It says nothing.
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
        while step <= span:
            if is_acceptance:
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
        """Apply a wide disposition to those that have become few where many were, and are kept apart."""
        ring.thin_out()
        numbers = ring.stragglers_between(first, last)
        self.session.connection.work += len(numbers)
        for number in numbers:
            found = ring.get(number)
            if found is not None and (settled or found.remote_state is not state):
                self._apply(found, state, settled)

    def _known(self, state: Any) -> Any:
        """Return a state that is not a settlement as the object that it was last time, if it is the same."""
        if state != self._state:
            self._state = state
            self._said_count = 0
        return self._state

    def _is_said(self, first: int, last: int) -> bool:
        """Whether all deliveries of a range that we sent have the state that was said last, as far as we know them."""
        ahead = (first - self._said_first) & _MASK
        return ahead < self._said_count and (last - first) & _MASK < self._said_count - ahead

    def _say(self, first: int, last: int) -> int:
        """Note for which deliveries that we sent a state is being said; return from where on that is news."""
        newest = (self.session.next_delivery_id - 1) & _MASK
        if (last - newest) & _MASK < _HALF:
            # What is not sent yet will have no state.
            last = newest
        count = (last - first + 1) & _MASK
        ahead = (first - self._said_first) & _MASK
        if count > _HALF:
            # None of them is sent yet.
            return first
        if ahead <= self._said_count:
            first = (self._said_first + self._said_count) & _MASK
            self._said_count = ahead + count
        else:
            self._said_first = first
            self._said_count = count
        return first

    def _accept_batch(self, ring: DeliveryRing, number: int, most: int) -> int:
        """Pass on that a consumer accepts the first deliveries of a batch that begins with an id; return how many."""
        batch = ring.front()
        if batch is None or batch.first_out != number:
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
        # A settlement is news anyway: states are compared by Python code, which would cost more than all of this.
        if state is not None and (settled or state != before) and not (delivery.is_incoming and is_outcome(before)):
            delivery.remote_state = state
            is_news = True
        if settled:
            delivery.remote_settled = True
            self.session.untrack(delivery)
            delivery.link.forget_suspended(delivery)
        if is_news:
            self.session.handler.on_disposition(delivery)
