"""One message under way on a link, and the ring in which a session finds it by delivery-id.

A `Delivery` is one end's record of a transfer: what this end decided (`state`, `settled`) and what
the peer said (`remote_state`, `remote_settled`). It stays in the ring of its session until either end has
settled; from then on nothing more is said of it on the wire.
"""

from typing import TYPE_CHECKING, Any

from routerd.wire.errors import StateError
from routerd.wire.outcomes import ACCEPTED, RELEASED, Modified, Rejected, is_outcome

if TYPE_CHECKING:
    from routerd.wire.amqp_error import Error
    from routerd.wire.delivery_batch import DeliveryBatch
    from routerd.wire.link import Link

# uint arithmetic wraps (2.8.10); as a C constant it stays out of Python's integers.
_MASK = 0xFFFFFFFF
_HALF = 0x80000000
_SMALLEST = 16
# Ids that the index of a ring may have beyond four times those that are here, before it forgets the others.
_INDEX_SLACK = 64
_ACCEPTED = ACCEPTED


class Delivery:
    """A delivery as this end of the link knows it; made by the engine, not by callers.

    `context`, `via`, `stamp`, `ticket`, `book` and `page` are the application's: objects and numbers that it keeps with
    the delivery. The engine clears them when it uses the object again, and does nothing else with them.
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
        """Become a delivery of the same link of which nothing is known yet."""
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
        # To count the references to None once more takes longer than to look.
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
        """The delivery-tag: the one that was given, or the number that its sender counted, in four octets."""
        if self.given_tag is None:
            self.given_tag = self.tag_number.to_bytes(4, "big")
        return self.given_tag

    def accept(self) -> None:
        """Accept, and settle as the link's receiver settle mode asks (2.6.12)."""
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
        """Apply a terminal outcome; settle at once unless the sender is to settle first."""
        self.update(outcome, self.rcv_settle_mode != 1)

    def settle(self) -> None:
        """Settle with the state that was last set."""
        self.update(self.state, True)

    def settle_at_end(self) -> None:
        """Settle as soon as the last of it has come, or has left; at once if it has.

        A qdrouterd ignores that a delivery is settled while parts of it are missing, and keeps it from then on.
        """
        if self.is_partial and not self.is_queued:
            self.is_settled_at_end = True
        else:
            self.settle()

    def update(self, state: object, settled: bool) -> None:
        """Tell the peer our state of the delivery, and whether we have settled it."""
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


class DeliveryRing:
    """The unsettled deliveries of one direction of a session, by delivery-id.

    Ids are handed out in sequence, so a ring of slots serves them. When a few old deliveries stay
    unsettled while many others pass, the ring would grow with their distance, not their number:
    they then move to a dict, and memory stays bounded by what is really unsettled.

    The deliveries of a `DeliveryBatch` have slots that are empty as long as it lasts. They count as those that are
    here, and whoever asks for one of them dissolves it.

    Once a link ends that leaves deliveries behind, an index has the ids of each link. It is extended when the next link
    ends, so each delivery is entered at most once, however many links end one by one.
    """

    def __init__(self, is_incoming: bool = False) -> None:
        self._is_incoming = is_incoming
        self._slots: list[Delivery | None] = []
        self._mask = 0
        self._first = 0
        self._next = 0
        self._in_ring = 0
        self._stragglers: dict[int, Delivery] | None = None
        # By their ids; some may be over.
        self._batches: list[DeliveryBatch] = []
        # Ids by link, and how many; some may be over. From `_indexed` on the ids of the ring are not in it.
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
        """Store a delivery; false, and nothing is stored, if there is one with its id."""
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
                # It may be among those that were looked through already.
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
        """Forget a delivery; one that is not here is ignored."""
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
        """Return the known ids of the range first to last, oldest first; work is bounded by what is known."""
        self._dissolve_all()
        span = (last - first) & _MASK
        ring = [(self._first + offset) & _MASK for offset in range((self._next - self._first) & _MASK)]
        known = [number for number in ring if self._slots[number & self._mask] is not None]
        if self._stragglers:
            # Nothing that is unsettled is newer than the newest in the ring.
            known = sorted([*known, *self._stragglers], key=lambda number: (number - self._next) & _MASK)
        return [number for number in known if (number - first) & _MASK <= span]

    def part_between(self, first: int, span: int) -> tuple[int, int]:
        """Return of the ids first to first + span those that may be in the ring: where they begin, and as a span.

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
        """Return the ids of a range that are not in the ring any more, oldest first."""
        if self._stragglers is None:
            return []
        span = (last - first) & _MASK
        return sorted([each for each in self._stragglers if (each - first) & _MASK <= span], key=self._age_of)

    def thin_out(self) -> None:
        """Have what is few, where many were, found without a look at each place of the others."""
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
        """Return the deliveries of a link, oldest first, without a look at those of others that were entered before."""
        if self.count == 0:
            self._index = None
            return []
        self._dissolve_all()
        index = self._extended_index()
        numbers = sorted(set(index.get(link, ())), key=self._age_of)
        found = [self.get(number) for number in numbers]
        return [delivery for delivery in found if delivery is not None and delivery.link is link]

    def forget_link(self, link: "Link") -> None:
        """Let go of a link that has ended."""
        if self.count == 0:
            self._index = None
        elif self._index is not None:
            numbers = self._index.pop(link, None)
            if numbers is not None:
                self._index_size -= len(numbers)

    def _age_of(self, number: int) -> int:
        # Nothing that is unsettled is newer than the newest in the ring.
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
        """Enter the deliveries of the ring that have come since the index was last extended."""
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

    # --- deliveries that are no objects

    def stamps(self) -> "list[Delivery | DeliveryBatch]":
        """Return what has the times at which deliveries came, batches as they are, in no order."""
        known: list[Delivery | DeliveryBatch] = [one for one in self._slots if one is not None]
        known += [batch for batch in self._batches if batch.count > 0]
        return known if self._stragglers is None else [*known, *self._stragglers.values()]

    def room_from(self, first: int) -> int:
        """Return how many ids from one on are free and newer than all that are here, so that a batch may have them."""
        if self._in_ring > 0 and (first - self._next) & _MASK >= _HALF:
            return 0
        room = _HALF - 1
        if self._stragglers is not None:
            for number in self._stragglers:
                room = min(room, (number - first) & _MASK)
        return room

    def add_batch(self, batch: "DeliveryBatch") -> None:
        """Have slots for the deliveries of a batch, for which there is room."""
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
        """Know a batch that was a part of another one, in front of it."""
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

    def fill(self, delivery: Delivery) -> None:
        """Take a delivery of a batch that dissolves."""
        self._slots[delivery.id & self._mask] = delivery

    def _first_of(self, batch: "DeliveryBatch") -> int:
        return batch.first_in if self._is_incoming else batch.first_out

    def _dissolve_of(self, number: int) -> bool:
        """Dissolve the batch that has an id; return whether there is one."""
        if self.front() is None:
            return False
        # Behind the front none begins before the ring does, and one that is over is where it ended.
        batches = self._batches
        offset = (number - self._first) & _MASK
        low, high = 0, len(batches)
        while low < high:
            middle = (low + high) >> 1
            batch = batches[middle]
            if (self._first_of(batch) - self._first) & _MASK <= offset:
                low = middle + 1
            else:
                high = middle
        if low == 0:
            return False
        batch = batches[low - 1]
        if (number - self._first_of(batch)) & _MASK >= batch.count:
            return False
        batch.dissolve()
        return True

    def _dissolve_all(self) -> None:
        for batch in self._batches:
            batch.dissolve()
        self._batches.clear()

    # --- inside

    def _advance(self) -> None:
        # Up to the oldest delivery, which a batch may have.
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
