"""Streams: the numbered deliveries of one life of an ingress, for one topic."""

from collections.abc import Callable

from routerd.topics.ranges import Ranges
from routerd.topics.records import Copy, Entry
from routerd.topics.settings import MISSING_ASKED_MAX, WINDOW_MAX

_WINDOW_MAX = WINDOW_MAX
_MISSING_ASKED_MAX = MISSING_ASKED_MAX


class SendStream:
    """What an ingress has numbered, and may have to repeat."""

    __slots__ = ("entries", "next", "outstanding")

    def __init__(self, first: int) -> None:
        self.next = first
        self.entries: dict[int, Entry] = {}
        # Numbers that are not done, those of notices included.
        self.outstanding = Ranges()

    @property
    def base(self) -> int:
        """The lowest number that is not done."""
        return self.outstanding.lowest if self.outstanding else self.next

    def number(self, entry: Entry) -> None:
        """Give a delivery the next number."""
        entry.number = self.notice()
        self.entries[entry.number] = entry

    def notice(self) -> int:
        """Return a number for something that all routers have to know, and that is no delivery."""
        number = self.next
        self.next += 1
        self.outstanding.add(number)
        return number

    def forget(self, numbers: Ranges) -> None:
        """Drop what is done."""
        for number in numbers.numbers():
            self.entries.pop(number, None)
        self.outstanding.subtract(numbers)


class ReceiveStream:
    """The copies of a stream in order: what came early waits until those before it have come, or are void."""

    __slots__ = ("_void", "base", "expected", "next", "waiting")

    def __init__(self) -> None:
        self.expected = 1
        self.base = 1
        self.next = 1
        self.waiting: dict[int, Copy] = {}
        # Not below `base`, and never to become records, even if their copies are still on the way.
        self._void = Ranges()

    def learn(self, base: int, next: int) -> list[Copy]:
        """Take over how far the ingress is; return what waits here and is done."""
        self.base = max(self.base, base)
        self.next = max(self.next, next)
        self._void.discard_range(0, self.base - 1)
        self.expected = max(self.expected, self.base)
        return [self.waiting.pop(number) for number in sorted(self.waiting) if number < self.base]

    def offer(self, copy: Copy) -> bool:
        """Take a copy; return whether there is room for it."""
        if copy.number < self.expected or self._void.has(copy.number):
            return True
        known = self.waiting.get(copy.number)
        if known is not None and known.has_payload:
            return True
        if known is None and len(self.waiting) >= _WINDOW_MAX:
            return False
        self.next = max(self.next, copy.number + 1)
        self.waiting[copy.number] = copy
        return True

    def pass_by(self, number: int) -> bool:
        """Go on to the next number if this one comes next, and return whether it did; its copy need not wait."""
        while self._void and self._void.has(self.expected):
            self.expected += 1
        if number != self.expected:
            return False
        if self.waiting:
            # It may be known by name.
            self.waiting.pop(number, None)
        self.expected += 1
        self.next = max(self.next, self.expected)
        return True

    def cancel(self, numbers: Ranges) -> list[Copy]:
        """Have numbers become no records if they have not yet; return the copies that wait."""
        if not numbers:
            return []
        self._void.update(numbers)
        self._void.discard_range(0, self.base - 1)
        self.next = max(self.next, numbers.highest + 1)
        if not self.waiting:
            return []
        return [self.waiting.pop(number) for number in numbers.numbers() if number in self.waiting]

    def first(self) -> Copy | None:
        """Return the copy that comes next, if it is here; skip what is void."""
        while self._void and self._void.has(self.expected):
            self.expected += 1
        return self.waiting.get(self.expected)

    def step(self) -> None:
        """Take the copy that `first` returned."""
        del self.waiting[self.expected]
        self.expected += 1

    def missing(self, holds: Callable[[bytes], bool]) -> Ranges:
        """Return the lowest numbers whose messages have not come, and are not held under another number."""
        found = Ranges()
        left = _MISSING_ASKED_MAX
        end = min(self.next, self.expected + 2 * _WINDOW_MAX)
        for number in range(self.expected, end):
            copy = self.waiting.get(number)
            if self._void.has(number) or (copy is not None and (copy.has_payload or holds(copy.tag))):
                continue
            found.add(number)
            left -= 1
            if left == 0:
                break
        return found

    def begin_anew(self) -> None:
        """Expect again whatever is not done: what came before was not kept."""
        self.expected = self.base
        self.waiting.clear()
