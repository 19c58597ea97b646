"""How the network changed over time, from the link states that routers recorded."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from analytics.network import Network

CLOCK_TOLERANCE_US = 50_000
"""Clocks that are no further apart are taken for equal."""


@dataclass(frozen=True)
class Topology:
    """The network from each moment on at which a link state changed."""

    changes: tuple[tuple[int, str, tuple[tuple[str, int], ...]], ...]
    """Time in microseconds since 1970, router, and what it advertises from then on; in the order of time."""

    @cached_property
    def moments(self) -> tuple[int, ...]:
        """When each of the networks begins; the first one stands in for all time before."""
        return tuple(sorted({at for at, _, _ in self.changes}))

    @cached_property
    def networks(self) -> tuple[Network, ...]:
        """The networks, one for each moment; what a router advertised first holds for the time before, too."""
        states: dict[str, Mapping[str, int]] = {}
        for _, router, costs in self.changes:
            states.setdefault(router, dict(costs))
        found = []
        same: dict[object, Network] = {}
        at = 0
        for moment in self.moments:
            while at < len(self.changes) and self.changes[at][0] == moment:
                _, router, costs = self.changes[at]
                states[router] = dict(costs)
                at += 1
            key = tuple(sorted((router, tuple(sorted(costs.items()))) for router, costs in states.items()))
            found.append(same.setdefault(key, Network(states)))
        return tuple(found)

    def during(self, begin_us: int, end_us: int) -> tuple[Network, ...]:
        """Return the networks of a span of time, none of them twice."""
        if not self.moments:
            return ()
        first = max(0, bisect_right(self.moments, begin_us) - 1)
        last = max(0, bisect_right(self.moments, end_us) - 1)
        return tuple(dict.fromkeys(self.networks[first : last + 1]))

    @property
    def last(self) -> Network:
        """The network at the end; an empty one if nothing is known."""
        return self.networks[-1] if self.changes else Network({})

    @property
    def whole(self) -> Network:
        """Every trunk that there ever was, at the cost that it had last."""
        states: dict[str, dict[str, int]] = {}
        for _, router, costs in self.changes:
            states.setdefault(router, {}).update(costs)
        return Network(states)


def topology(events: DataFrame, ahead_us: Mapping[str, int] | None = None) -> Topology:
    """Return how the network changed; times are put back by how far the clock of each router is ahead."""
    states = events.where((F.col("kind") == "link-state") & F.col("costs").isNotNull())
    rows = states.select("router", F.unix_micros("time").alias("at_us"), "costs")
    return Topology(_changes(((row[0], row[1], row[2]) for row in rows.toLocalIterator()), ahead_us or {}))


def _changes(
    rows: Iterable[tuple[str, int, Mapping[str, int]]], ahead_us: Mapping[str, int]
) -> tuple[tuple[int, str, tuple[tuple[str, int], ...]], ...]:
    ordered = sorted((at - ahead_us.get(router, 0), router, tuple(sorted(costs.items()))) for router, at, costs in rows)
    known: dict[str, tuple[tuple[str, int], ...]] = {}
    kept = []
    for at, router, costs in ordered:
        # Routers repeat themselves in every hour.
        if known.get(router) != costs:
            known[router] = costs
            kept.append((at, router, costs))
    return tuple(kept)


def clocks_ahead(pairs: Iterable[tuple[str, str, int]]) -> dict[str, int]:
    """Return by how many microseconds each router's clock is ahead of the middle one, from differences of two each."""
    neighbours: dict[str, dict[str, int]] = {}
    for earlier, later, ahead in pairs:
        neighbours.setdefault(earlier, {})[later] = ahead
        neighbours.setdefault(later, {}).setdefault(earlier, -ahead)
    ahead_us: dict[str, int] = {}
    for start in sorted(neighbours):
        if start in ahead_us:
            continue
        group = {start: 0}
        waiting = [start]
        while waiting:
            router = waiting.pop()
            for peer, ahead in neighbours[router].items():
                if peer not in group:
                    group[peer] = group[router] + ahead
                    waiting.append(peer)
        middle = sorted(group.values())[len(group) // 2]
        ahead_us |= {router: ahead - middle for router, ahead in group.items()}
    return {router: ahead for router, ahead in ahead_us.items() if abs(ahead) > CLOCK_TOLERANCE_US}
