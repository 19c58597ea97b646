"""What a router has counted in all, whichever of its actors have been started again since.

An actor that ends takes its counters along, and the next one counts from 0. So the last known ones are kept, and what
is told never goes down: Prometheus would take that for a start of the whole router.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Count = tuple[str, tuple[str, ...]]
"""A series: its name, and the values of its labels."""
Counts = Mapping[Count, int]


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts by who has counted, the last known ones, and those of earlier incarnations."""

    number: int = 0
    """How often something has been added."""
    ended: Counts = field(default_factory=dict)
    """Of incarnations that are over."""
    last: Mapping[str, tuple[Any, Counts]] = field(default_factory=dict)
    """By source: its incarnation, and what that has counted."""

    def added(self, news: Mapping[str, tuple[Any, Counts]]) -> "Tally":
        """Return a tally with what some sources have counted by now, each with its incarnation."""
        ended, last = dict(self.ended), dict(self.last)
        for source, (incarnation, counts) in news.items():
            known = last.get(source)
            if known is not None and known[0] == incarnation:
                # A link that ends while a worker adds up its links may be missing from the sum.
                before = known[1]
                counts = {key: max(count, before.get(key, 0)) for key, count in counts.items()}
            elif known is not None:
                for key, count in known[1].items():
                    ended[key] = ended.get(key, 0) + count
            last[source] = (incarnation, counts)
        return Tally(self.number + 1, ended, last)

    def sums(self) -> dict[Count, int]:
        """Return what all have counted."""
        sums = dict(self.ended)
        for _, counts in self.last.values():
            for key, count in counts.items():
                sums[key] = sums.get(key, 0) + count
        return sums
