"""Messages that wait: for an outlet that can send, or for the sections that have their destination."""

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from routerd.core.annotations.router_annotations import RouterAnnotations
    from routerd.core.links.address import Address
    from routerd.core.links.inlet import Inlet
    from routerd.wire.delivery import Delivery
    from routerd.wire.held_batch import HeldBatch

# The entries marked as removed may exceed those that wait by this number.
_SLACK = 64


class Parked:
    """A message, or the part of it that has come, that waits at its address for an outlet."""

    inlet: "Inlet"
    address: "Address"
    delivery: "Delivery"
    octets: bytes | bytearray
    is_settled: bool
    is_complete: bool
    frames: int
    """The frames that keep the window of its session closed."""
    unheld: int
    """The octets that came without closing it."""
    is_gone: bool
    left_octets: int
    """What counts of it against the limit of messages whose producers have left; 0 while its producer is there."""

    @property
    def count(self) -> int:
        """The number of messages."""
        return 1

    @property
    def stamp(self) -> float:
        """The time at which it came."""
        return self.delivery.stamp


class ParkedTogether:
    """Whole messages of one producer that came together and wait at their address as a held batch.

    Once each of them waits singly they are in `alone`, and keep the place of the batch. Messages from another router
    have the same `annotations`.
    """

    alone: "list[Parked] | None"

    def __init__(
        self,
        inlet: "Inlet",
        address: "Address",
        held: "HeldBatch",
        stamp: float,
        annotations: "RouterAnnotations | None" = None,
    ) -> None:
        self.inlet = inlet
        self.address = address
        self.held = held
        self.annotations = annotations
        self.is_settled = held.is_settled
        self.is_complete = True
        self.stamp = stamp
        self.alone = None

    @property
    def count(self) -> int:
        """The number of messages."""
        return self.held.count


def parked(
    inlet: "Inlet", address: "Address", delivery: "Delivery", data: bytes | bytearray, start: int, end: int
) -> Parked:
    """Return a parked message; data[start:end] is the part that has come."""
    view = data
    made: Parked = Parked.__new__(Parked)
    made.inlet = inlet
    made.address = address
    made.delivery = delivery
    made.octets = bytearray(view[start:end]) if delivery.is_partial else view[start:end]
    made.is_settled = delivery.remote_settled
    made.is_complete = False
    made.frames = 0
    made.unheld = 0
    made.is_gone = False
    made.left_octets = 0
    return made


class ParkedQueue:
    """The messages that wait at an address and came from one side, in order; it has the operations of a deque in use.

    Many producers may end one by one, and the cost of each should depend only on its own messages. So removal only
    marks an entry. The entry goes when it is in front, or when most entries are marked.
    """

    def __init__(self) -> None:
        self._entries: deque[Any] = deque()
        self._size = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator["Parked | ParkedTogether"]:
        """Iterate over the messages that wait, in order."""
        for entry in self._entries:
            if type(entry) is not ParkedTogether:
                if not entry.is_gone:
                    yield entry
            elif entry.alone is None:
                yield entry
            else:
                for one in entry.alone:
                    if not one.is_gone:
                        yield one

    def append(self, entry: "Parked | ParkedTogether") -> None:
        """Add a message, or a held batch, behind the others."""
        self._entries.append(entry)
        self._size += 1
        self._count += 1

    def __getitem__(self, place: int) -> Any:
        return self._first()

    def _first(self) -> Any:
        """Return the entry in front; there must be one."""
        entries = self._entries
        while True:
            entry = entries[0]
            if type(entry) is ParkedTogether:
                together: ParkedTogether = entry
                alone = together.alone
                if alone is None:
                    return together
                entries.popleft()
                entries.extendleft(reversed(alone))
            else:
                one: Parked = entry
                if not one.is_gone:
                    return one
                entries.popleft()
                self._size -= 1

    def popleft(self) -> Any:
        """Remove and return the entry in front."""
        first = self._first()
        self._entries.popleft()
        self._size -= 1
        self._count -= 1
        return first

    def remove(self, one: Parked) -> None:
        """Remove a message, wherever it is."""
        one.is_gone = True
        self._count -= 1
        if self._size > 2 * self._count + _SLACK:
            self._entries = deque(self)
            self._size = self._count

    def part(self, together: ParkedTogether, alone: "list[Parked]") -> None:
        """Replace a held batch by its single messages, in its place."""
        together.alone = alone
        self._size += len(alone) - 1
        self._count += len(alone) - 1


class Collected:
    """The beginning of a message whose address or annotations are still incomplete."""

    def __init__(self, delivery: "Delivery") -> None:
        self.delivery = delivery
        self.octets = bytearray()
        # The octets needed before the next attempt.
        self.due = 0
