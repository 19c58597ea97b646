"""Latencies counted in buckets that are as wide as their values are large, in the way of HdrHistogram.

Values are whole nanoseconds. Each value below 256 has a separate bucket. Above, an octave is cut into 128, so a value
that is read back is at most 1/128 above the recorded one. The count, the least and the greatest value are exact.
"""

from collections.abc import Iterable

_STEPS = 128
_TWICE_STEPS = 256
# Values of 2**40 ns, 18 minutes, and more share the last bucket.
_BUCKETS = 4352


class LatencyHistogram:
    """Counts latencies, and tells how many of them were at most how long."""

    def __init__(self, counted: Iterable[tuple[int, int]] = (), least: int = 0, greatest: int = 0) -> None:
        self._counts = [0] * 4352
        self.count = 0
        self.least = least
        self.greatest = greatest
        for bucket, count in counted:
            if not 0 <= bucket < _BUCKETS:
                raise IndexError(f"there is no bucket {bucket}, only 0 to {_BUCKETS - 1}")
            self._counts[bucket] = count
            self.count += count

    def record(self, value: int) -> None:
        """Count one value; a negative one, from clocks that differ, counts as 0."""
        if value < 0:
            value = 0
        if self.count == 0 or value < self.least:
            self.least = value
        if value > self.greatest:
            self.greatest = value
        self.count += 1
        shift = 0
        rest = value
        while rest >= _TWICE_STEPS:
            rest = rest >> 1
            shift += 1
        bucket = shift * _STEPS + rest
        if bucket >= _BUCKETS:
            bucket = _BUCKETS - 1
        self._counts[bucket] += 1

    def at(self, fraction: float) -> int:
        """Return the value that this fraction of all does not exceed; 0 when nothing was recorded."""
        # The least rank that reaches the fraction; rounding first, since 0.999 * 1000 is a hair above 999.
        rank = max(1, _ceiling(round(fraction * self.count, 6)))
        seen = 0
        for bucket in range(_BUCKETS):
            seen += self._counts[bucket]
            if seen >= rank:
                return max(self.least, min(self.greatest, _highest_in(bucket)))
        return 0

    def add(self, other: "LatencyHistogram") -> None:
        """Take in everything that another histogram counted."""
        if other.count == 0:
            return
        self.least = other.least if self.count == 0 else min(self.least, other.least)
        self.greatest = max(self.greatest, other.greatest)
        self.count += other.count
        for bucket in range(_BUCKETS):
            self._counts[bucket] += other._counts[bucket]

    def since(self, earlier: "LatencyHistogram") -> "LatencyHistogram":
        """Return what was counted after an earlier copy of this one; its extremes are those of the buckets."""
        pairs = []
        for bucket in range(_BUCKETS):
            if self._counts[bucket] > earlier._counts[bucket]:
                pairs.append((bucket, self._counts[bucket] - earlier._counts[bucket]))
        if not pairs:
            return LatencyHistogram()
        least = _highest_in(pairs[0][0] - 1) + 1 if pairs[0][0] > 0 else 0
        return LatencyHistogram(pairs, max(self.least, least), min(self.greatest, _highest_in(pairs[-1][0])))

    def counted(self) -> list[tuple[int, int]]:
        """Return the buckets that are not empty, by number, with their counts."""
        pairs = []
        for bucket in range(_BUCKETS):
            if self._counts[bucket] > 0:
                pairs.append((bucket, self._counts[bucket]))
        return pairs

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return LatencyHistogram, (self.counted(), self.least, self.greatest)


def _ceiling(number: float) -> int:
    whole = int(number)
    return whole if whole == number else whole + 1


def _highest_in(bucket: int) -> int:
    if bucket < _TWICE_STEPS:
        return bucket
    shift = bucket // _STEPS - 1
    rest = bucket - shift * _STEPS
    return ((rest + 1) << shift) - 1
