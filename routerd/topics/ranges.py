"""Sets of numbers that are mostly consecutive, as ranges."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

NUMBER_MAX = 1 << 62
"""Numbers are compared with those before and behind them, in 64 bits."""


class Ranges:
    """Numbers, kept as the sorted first and last ones of their ranges, which neither touch nor overlap."""

    __slots__ = ("_firsts", "_lasts")

    def __init__(self, numbers: Iterable[int] = ()) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        for number in numbers:
            self.add(number)

    @classmethod
    def of_spans(cls, spans: Sequence[int]) -> "Ranges":
        """Return the numbers of what `spans` returned; raises ValueError."""
        if len(spans) % 2:
            raise ValueError("a first number has no length")
        made = cls()
        last = -1
        for at in range(0, len(spans), 2):
            first, length = spans[at], spans[at + 1]
            if first <= last or not 1 <= length <= NUMBER_MAX - first:
                raise ValueError(f"range {first} with {length} numbers after {last}")
            last = first + length - 1
            made.add_range(first, last)
        return made

    def spans(self) -> list[int]:
        """Return the ranges one after the other, each as its first number and how many it has."""
        flat: list[int] = []
        for first, last in zip(self._firsts, self._lasts, strict=True):
            flat += (first, last - first + 1)
        return flat

    def __bool__(self) -> bool:
        return bool(self._firsts)

    def __len__(self) -> int:
        return sum(self._lasts) - sum(self._firsts) + len(self._firsts)

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.has(number)

    def has(self, number: int) -> bool:
        """Return whether a number is there."""
        at = bisect_right(self._firsts, number) - 1
        return at >= 0 and number <= self._lasts[at]

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ranges) and self.spans() == other.spans()

    def __repr__(self) -> str:
        return f"Ranges({', '.join(f'{a}-{b}' for a, b in zip(self._firsts, self._lasts, strict=True))})"

    def numbers(self) -> list[int]:
        """Return all numbers in order."""
        if len(self._firsts) == 1:
            return list(range(self._firsts[0], self._lasts[0] + 1))
        found: list[int] = []
        for first, last in zip(self._firsts, self._lasts, strict=True):
            found += range(first, last + 1)
        return found

    @property
    def lowest(self) -> int:
        """The lowest number; there must be one."""
        return self._firsts[0]

    @property
    def highest(self) -> int:
        """The highest number; there must be one."""
        return self._lasts[-1]

    def add(self, number: int) -> None:
        """Add a number."""
        if self._lasts:
            last = self._lasts[-1]
            if last == number - 1:
                # Nearly all numbers come in order.
                self._lasts[-1] = number
                return
        self.add_range(number, number)

    def add_range(self, first: int, last: int) -> None:
        """Add the numbers from the first to the last."""
        start = bisect_left(self._lasts, first - 1)
        end = bisect_right(self._firsts, last + 1)
        if start < end:
            first = min(first, self._firsts[start])
            last = max(last, self._lasts[end - 1])
        self._firsts[start:end] = [first]
        self._lasts[start:end] = [last]

    def update(self, other: "Ranges") -> None:
        """Add all numbers of others."""
        for first, last in zip(other._firsts, other._lasts, strict=True):
            self.add_range(first, last)

    def discard(self, number: int) -> None:
        """Remove a number, if it is there."""
        self.discard_range(number, number)

    def discard_range(self, first: int, last: int) -> None:
        """Remove the numbers from the first to the last."""
        start = bisect_left(self._lasts, first)
        end = bisect_right(self._firsts, last)
        if start >= end:
            return
        below, above = self._firsts[start], self._lasts[end - 1]
        kept = [(below, first - 1)] if below < first else []
        if above > last:
            kept.append((last + 1, above))
        self._firsts[start:end] = [one for one, _ in kept]
        self._lasts[start:end] = [other for _, other in kept]

    def subtract(self, other: "Ranges") -> None:
        """Remove all numbers of others."""
        for first, last in zip(other._firsts, other._lasts, strict=True):
            self.discard_range(first, last)

    def shared(self, other: "Ranges") -> "Ranges":
        """Return the numbers that are in both."""
        both = Ranges()
        mine = theirs = 0
        while mine < len(self._firsts) and theirs < len(other._firsts):
            first = max(self._firsts[mine], other._firsts[theirs])
            last = min(self._lasts[mine], other._lasts[theirs])
            if first <= last:
                both._firsts.append(first)
                both._lasts.append(last)
            if self._lasts[mine] < other._lasts[theirs]:
                mine += 1
            else:
                theirs += 1
        return both

    def copy(self) -> "Ranges":
        """Return a copy that can be changed independently."""
        made = Ranges()
        made._firsts = self._firsts[:]
        made._lasts = self._lasts[:]
        return made

    def take(self) -> "Ranges":
        """Return the numbers, and have none any more."""
        taken = Ranges()
        taken._firsts, self._firsts = self._firsts, []
        taken._lasts, self._lasts = self._lasts, []
        return taken


class Acknowledged:
    """What one host has acknowledged of a stream, by the version of its list of subscribers."""

    __slots__ = ("_by_version",)

    def __init__(self) -> None:
        self._by_version: dict[int, Ranges] = {}

    def add(self, version: int, numbers: Ranges) -> None:
        """Note that all subscribers of that version of the list have these."""
        known = self._by_version.get(version)
        if known is None:
            self._by_version[version] = numbers.copy()
        else:
            known.update(numbers)

    def at_least(self, version: int) -> Ranges:
        """Return what was acknowledged about that version of the list or a later one."""
        found = Ranges()
        for each, numbers in self._by_version.items():
            if each >= version:
                found.update(numbers)
        return found

    def forget(self, numbers: Ranges) -> None:
        """Drop numbers that nobody asks for any more."""
        for version, known in list(self._by_version.items()):
            known.subtract(numbers)
            if not known:
                del self._by_version[version]

    def __len__(self) -> int:
        return len(self._by_version)
