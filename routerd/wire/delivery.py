"""Deliveries, and the ring in which a session finds them by delivery-id.

A `Delivery` is one end's record of a transfer. It has the decision of this end (`state`, `settled`) and that of the
peer (`remote_state`, `remote_settled`). It stays in the ring of its session until either end has settled. After that
nothing more about it is sent or received.
"""

from typing import TYPE_CHECKING, Any

from routerd.wire.errors import StateError
from routerd.wire.outcomes import ACCEPTED, RELEASED, Modified, Rejected, is_outcome

if TYPE_CHECKING:
    from routerd.wire.amqp_error import Error
    from routerd.wire.delivery_batch import DeliveryBatch
    from routerd.wire.link import Link

# uint arithmetic wraps (2.8.10). As a C constant, the mask avoids Python integers.
_MASK = 0xFFFFFFFF
_HALF = 0x80000000
_SMALLEST = 16
# The ids in the index of a ring may exceed four times the present deliveries by this number.
_INDEX_SLACK = 64
_ACCEPTED = ACCEPTED


class Delivery:
    """A delivery as this end of the link knows it; the engine creates it.

    `context`, `via`, `stamp`, `ticket`, `book` and `page` belong to the application: objects and numbers that it keeps
    with the delivery. The engine only clears them when it reuses the object.
    """

    link: "Link"
    given_tag: bytes | None
    state: Any
    remote_state: Any
    context: Any
    via: Any
    book: Any

    def __init__(self) -> None:
        self.given_tag = None
        self.state = None
        self.remote_state = None
        self.context = None
        self.via = None
        self.book = None
        self.clear()
        self.is_plain = True

    def clear(self) -> None:
        """Prepare the object for a new delivery of the same link."""
        self.id = 0
        self.tag_number = 0
        self.message_format = 0
        self.size = 0
        self.is_incoming = False
        self.is_partial = False
        self.is_aborted = False
        self.is_resumed = False
        self.is_tracked = False
        self.is_queued = False
        self.is_plain = False
        self.is_batchable = False
        self.is_settled_at_end = False
        self.settled = False
        self.remote_settled = False
        self.rcv_settle_mode = 0
        self.stamp = 0.0
        self.page = 0
        self.ticket = 0
        # A comparison is cheaper than a second count of references to None.
        if self.given_tag is not None:
            self.given_tag = None
        if self.state is not None:
            self.state = None
        if self.remote_state is not None:
            self.remote_state = None
        if self.context is not None:
            self.context = None
        if self.via is not None:
            self.via = None
        if self.book is not None:
            self.book = None

    @property
    def tag(self) -> bytes:
        """The delivery-tag: the given one, or the number of the sender in four octets."""
        if self.given_tag is None:
            self.given_tag = self.tag_number.to_bytes(4, "big")
        return self.given_tag

    def accept(self) -> None:
        """Accept, and settle as the link's receiver settle mode requires (2.6.12)."""
        self.decide(_ACCEPTED)

    def release(self) -> None:
        """Give the delivery back unseen."""
        self.decide(RELEASED)

    def reject(self, error: "Error | None" = None) -> None:
        """Refuse the message as invalid."""
        self.decide(Rejected(error=error))

    def modify(
        self,
        *,
        delivery_failed: bool = False,
        undeliverable_here: bool = False,
        message_annotations: dict[object, object] | None = None,
    ) -> None:
        """Give the delivery back with changes to its header and annotations."""
        self.decide(
            Modified(
                delivery_failed=delivery_failed,
                undeliverable_here=undeliverable_here,
                message_annotations=message_annotations,
            )
        )

    def decide(self, outcome: object) -> None:
        """Apply a terminal outcome; settle at once unless the sender settles first."""
        self.update(outcome, self.rcv_settle_mode != 1)

    def settle(self) -> None:
        """Settle with the present state."""
        self.update(self.state, True)

    def settle_at_end(self) -> None:
        """Settle as soon as the last octets have come or left; at once if they have.

        A qdrouterd ignores the settlement of an incomplete delivery, and keeps the delivery for ever.
        """
        if self.is_partial and not self.is_queued:
            self.is_settled_at_end = True
        else:
            self.settle()

    def update(self, state: object, settled: bool) -> None:
        """Tell the peer our state of the delivery, and whether it is settled."""
        if self.settled:
            raise StateError(f"delivery {self.tag!r} is settled already")
        if self.state is not None and not self.is_incoming and is_outcome(self.state) and state != self.state:
            raise StateError(f"delivery {self.tag!r} has its outcome: {self.state!r}")
        if self.is_tracked and state is not None and state is not _ACCEPTED:
            self.link.session.dispositions.check_fits(state)
        self.state = state
        self.settled = settled
        if self.is_tracked:
            self.link.session.dispositions.send(self, state, settled)
        if settled:
            self.link.forget_suspended(self)

    def relay(self, state: object, settled: bool) -> None:
        """Tell the peer what the far end of a relayed link says of the delivery, whatever was said before.

        A delivery that is not whole yet is settled when it is: not all peers expect that before.
        """
        if self.settled:
            return
        if settled and self.is_partial and not self.is_queued:
            self.is_settled_at_end = True
            settled = False
        if state is None:
            state = self.state
            if not settled:
                return
        if self.is_tracked:
            if state is not None and state is not _ACCEPTED:
                self.link.session.dispositions.check_fits(state)
            self.link.session.dispositions.send(self, state, settled)
        self.state = state
        self.settled = settled


class DeliveryRing:
    """The unsettled deliveries of one direction of a session, by delivery-id.

    Ids are assigned in sequence, so a ring of slots is enough. A few old deliveries may stay unsettled while many
    others pass. The ring would grow with the distance of their ids then. So they move to a dict, and memory stays
    proportional to the number of unsettled deliveries.

    Deliveries of a `DeliveryBatch` have empty slots while the batch lasts. They count like the others, and access to
    one of them dissolves the batch.

    Once a link has ended with unsettled deliveries, an index has the ids of each link. It is extended at the end of the
    next link. So each delivery is entered at most once, however many links end one by one.
    """

    def __init__(self, is_incoming: bool = False) -> None:
        self._is_incoming = is_incoming
        self._slots: list[Delivery | None] = []
        self._mask = 0
        self._first = 0
        self._next = 0
        self._in_ring = 0
        self._stragglers: dict[int, Delivery] | None = None
        # Batches in the order of their ids; some may be over.
        self._batches: list[DeliveryBatch] = []
        # Ids by link, and their number; some may be over. Ids of the ring from `_indexed` on are missing.
        self._index: dict[Link, list[int]] | None = None
        self._index_size = 0
        self._indexed = 0
        self.count = 0

    def get(self, delivery_id: int) -> Delivery | None:
        """Return the delivery with an id, or None."""
        if (delivery_id - self._first) & _MASK < (self._next - self._first) & _MASK:
            delivery = self._slots[delivery_id & self._mask]
            if delivery is not None:
                return delivery
            if self._dissolve_of(delivery_id):
                return self._slots[delivery_id & self._mask]
        if self._stragglers is None:
            return None
        return self._stragglers.get(delivery_id)

    def add(self, delivery: Delivery) -> bool:
        """Store a delivery; return false, without a change, if its id is present."""
        number = delivery.id
        if self._stragglers is not None and number in self._stragglers:
            return False
        if self._in_ring == 0:
            self._first = self._next = self._indexed = number
        offset = (number - self._first) & _MASK
        if offset < (self._next - self._first) & _MASK:
            if self._slots[number & self._mask] is not None or self._dissolve_of(number):
                return False
            if self._index is not None:
                # The index may have passed this id already.
                self._enter(self._index, delivery)
        else:
            if offset > self._mask or not self._slots:
                self._make_room(number, number)
            self._next = (number + 1) & _MASK
        self._slots[number & self._mask] = delivery
        self._in_ring += 1
        self.count += 1
        return True

    def remove(self, delivery: Delivery) -> None:
        """Remove a delivery if it is here."""
        number = delivery.id
        slot = number & self._mask
        if (number - self._first) & _MASK < (self._next - self._first) & _MASK and self._slots[slot] is delivery:
            self._slots[slot] = None
            self.count -= 1
            self._in_ring -= 1
            if self._in_ring == 0:
                self._first = self._next
            elif number == self._first:
                self._advance()
        elif self._stragglers is not None and self._stragglers.get(number) is delivery:
            del self._stragglers[number]
            self.count -= 1
            if not self._stragglers:
                self._stragglers = None

    def ids_between(self, first: int, last: int) -> list[int]:
        """Return the known ids from first to last, oldest first. The work is bounded by the number of known ids."""
        self._dissolve_all()
        span = (last - first) & _MASK
        ring = [(self._first + offset) & _MASK for offset in range((self._next - self._first) & _MASK)]
        known = [number for number in ring if self._slots[number & self._mask] is not None]
        if self._stragglers:
            # No unsettled id is newer than the newest in the ring.
            known = sorted([*known, *self._stragglers], key=lambda number: (number - self._next) & _MASK)
        return [number for number in known if (number - first) & _MASK <= span]

    def part_between(self, first: int, span: int) -> tuple[int, int]:
        """Return the start and the span of the ids in first to first + span that may be in the ring.

        The span is -1 for none. Stragglers are not in the ring.
        """
        size = (self._next - self._first) & _MASK
        at = (first - self._first) & _MASK
        if at >= size:
            ahead = (self._first - first) & _MASK
            if size == 0 or ahead > span:
                return first, -1
            at = 0
            span -= ahead
        return (self._first + at) & _MASK, min(span, size - at - 1)

    def stragglers_between(self, first: int, last: int) -> list[int]:
        """Return the ids of a range that have left the ring, oldest first."""
        if self._stragglers is None:
            return []
        span = (last - first) & _MASK
        return sorted([each for each in self._stragglers if (each - first) & _MASK <= span], key=self._age_of)

    def thin_out(self) -> None:
        """Move a few remaining deliveries to the dict, so that later look-ups skip the empty slots."""
        if (self._next - self._first) & _MASK > 4 * (self._in_ring + _SMALLEST):
            self._evict()
            self._first = self._next
            self._slots = []
            self._mask = 0

    def all(self) -> list[Delivery]:
        """Return every delivery here, oldest first."""
        found = [self.get(number) for number in self.ids_between(self._next, (self._next - 1) & _MASK)]
        return [delivery for delivery in found if delivery is not None]

    # --- by link

    def of_link(self, link: "Link") -> list[Delivery]:
        """Return the deliveries of a link, oldest first, without a search among indexed deliveries of others."""
        if self.count == 0:
            self._index = None
            return []
        self._dissolve_all()
        index = self._extended_index()
        numbers = sorted(set(index.get(link, ())), key=self._age_of)
        found = [self.get(number) for number in numbers]
        return [delivery for delivery in found if delivery is not None and delivery.link is link]

    def forget_link(self, link: "Link") -> None:
        """Forget a link that has ended."""
        if self.count == 0:
            self._index = None
        elif self._index is not None:
            numbers = self._index.pop(link, None)
            if numbers is not None:
                self._index_size -= len(numbers)

    def _age_of(self, number: int) -> int:
        # No unsettled id is newer than the newest in the ring.
        return (number - self._next) & _MASK

    def _extended_index(self) -> "dict[Link, list[int]]":
        index = self._index
        if index is None:
            index = self._index = {}
            self._index_size = 0
            self._indexed = self._first
            if self._stragglers is not None:
                for straggler in self._stragglers.values():
                    self._enter(index, straggler)
        self._enter_rest(index)
        if self._index_size > 4 * self.count + _INDEX_SLACK:
            self._forget_settled(index)
        return index

    def _enter_rest(self, index: "dict[Link, list[int]]") -> None:
        """Enter the deliveries that have come into the ring since the index was last extended."""
        span = (self._next - self._first) & _MASK
        start = (self._indexed - self._first) & _MASK
        for offset in range(start if start <= span else 0, span):
            delivery = self._slots[(self._first + offset) & self._mask]
            if delivery is not None:
                self._enter(index, delivery)
        self._indexed = self._next

    def _enter(self, index: "dict[Link, list[int]]", delivery: Delivery) -> None:
        numbers = index.get(delivery.link)
        if numbers is None:
            index[delivery.link] = [delivery.id]
        else:
            numbers.append(delivery.id)
        self._index_size += 1

    def _forget_settled(self, index: "dict[Link, list[int]]") -> None:
        self._index_size = 0
        for link, numbers in list(index.items()):
            left = [number for number in numbers if self._is_of(number, link)]
            if left:
                index[link] = left
                self._index_size += len(left)
            else:
                del index[link]

    def _is_of(self, number: int, link: "Link") -> bool:
        delivery = self.get(number)
        return delivery is not None and delivery.link is link

    # --- batches

    def stamps(self) -> "list[Delivery | DeliveryBatch]":
        """Return the objects that have the arrival times of deliveries, with batches undissolved, in no order."""
        known: list[Delivery | DeliveryBatch] = [one for one in self._slots if one is not None]
        known += [batch for batch in self._batches if batch.count > 0]
        return known if self._stragglers is None else [*known, *self._stragglers.values()]

    def room_from(self, first: int) -> int:
        """Return how many ids from `first` on are free and newer than all present ids, for a batch."""
        if self._in_ring > 0 and (first - self._next) & _MASK >= _HALF:
            return 0
        room = _HALF - 1
        if self._stragglers is not None:
            for number in self._stragglers:
                room = min(room, (number - first) & _MASK)
        return room

    def add_batch(self, batch: "DeliveryBatch") -> None:
        """Reserve slots for the deliveries of a batch, for which there is room."""
        first = self._first_of(batch)
        last = (first + batch.count - 1) & _MASK
        if self._in_ring == 0:
            self._first = self._next = self._indexed = first
        if (last - self._first) & _MASK > self._mask or not self._slots:
            self._make_room(first, last)
        self._next = (last + 1) & _MASK
        self._in_ring += batch.count
        self.count += batch.count
        self._batches.append(batch)

    def add_front(self, front: "DeliveryBatch", batch: "DeliveryBatch") -> None:
        """Enter a batch that was split off another one, in front of it."""
        self._batches.insert(self._batches.index(batch), front)

    def batch_shrank(self, batch: "DeliveryBatch", count: int) -> None:
        """Forget deliveries that have just left a batch."""
        self.count -= count
        self._in_ring -= count
        if self._in_ring == 0:
            self._first = self._next
            self._batches.clear()
        else:
            self._advance()

    def front(self) -> "DeliveryBatch | None":
        """Return the batch with the oldest ids."""
        while self._batches:
            batch = self._batches[0]
            if batch.count > 0:
                return batch
            del self._batches[0]
        return None

    def beginning_with(self, number: int) -> "DeliveryBatch | None":
        """Return the batch whose first delivery has an id, or None."""
        front = self.front()
        if front is None:
            return None
        if self._first_of(front) == number:
            return front
        offset = (number - self._first) & _MASK
        if offset >= (self._next - self._first) & _MASK or self._slots[number & self._mask] is not None:
            return None
        batch = self._batch_before(offset)
        return batch if batch is not None and batch.count > 0 and self._first_of(batch) == number else None

    def fill(self, delivery: Delivery) -> None:
        """Store a delivery of a batch that dissolves."""
        self._slots[delivery.id & self._mask] = delivery

    def _first_of(self, batch: "DeliveryBatch") -> int:
        return batch.first_in if self._is_incoming else batch.first_out

    def _dissolve_of(self, number: int) -> bool:
        """Dissolve the batch that has an id; return whether there is one."""
        if self.front() is None:
            return False
        batch = self._batch_before((number - self._first) & _MASK)
        if batch is None or (number - self._first_of(batch)) & _MASK >= batch.count:
            return False
        batch.dissolve()
        return True

    def _batch_before(self, offset: int) -> "DeliveryBatch | None":
        """Return the last batch that begins so far behind the first id, or before that; the front is not over."""
        # No batch behind the front begins before the ring. A batch that is over keeps the place where it ended.
        batches = self._batches
        low, high = 0, len(batches)
        while low < high:
            middle = (low + high) >> 1
            batch = batches[middle]
            if (self._first_of(batch) - self._first) & _MASK <= offset:
                low = middle + 1
            else:
                high = middle
        return None if low == 0 else batches[low - 1]

    def _dissolve_all(self) -> None:
        for batch in self._batches:
            batch.dissolve()
        self._batches.clear()

    # --- inside

    def _advance(self) -> None:
        # Advance to the oldest delivery, which may be in a batch.
        batch = self.front()
        stop = self._next if batch is None else self._first_of(batch)
        while self._first != stop and self._slots[self._first & self._mask] is None:
            self._first = (self._first + 1) & _MASK

    def _make_room(self, first: int, last: int) -> None:
        offset = (last - self._first) & _MASK
        capacity = max(len(self._slots), _SMALLEST)
        roomy = 8 * (self._in_ring + ((last - first) & _MASK) + _SMALLEST)
        while capacity <= offset and capacity <= roomy:
            capacity *= 2
        if capacity <= offset:
            self._evict()
            self._first = self._next = self._indexed = first
            capacity = _SMALLEST
            while capacity <= (last - first) & _MASK:
                capacity *= 2
        old, old_mask = self._slots, self._mask
        self._slots = [None] * capacity
        self._mask = capacity - 1
        if self._in_ring:
            for step in range((self._next - self._first) & _MASK):
                number = (self._first + step) & _MASK
                self._slots[number & self._mask] = old[number & old_mask]

    def _evict(self) -> None:
        self._dissolve_all()
        if self._index is not None:
            self._enter_rest(self._index)
        if self._stragglers is None:
            self._stragglers = {}
        for record in self._slots:
            if record is not None:
                self._stragglers[record.id] = record
        self._in_ring = 0
