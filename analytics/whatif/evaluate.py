"""Carries the recorded traffic over a network: the load of each trunk, and the messages that reach nobody.

The distribution of a message decides where it goes. Closest messages go to the nearest routers with consumers, in equal
parts. Balanced messages go to the same routers in the same proportions as recorded, as far as these can be reached.
Multicast messages go to all routers with consumers, and over each trunk once.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from analytics.network import LinkStates, Network
from analytics.whatif.changes import Scenario
from analytics.whatif.demand import Demand, HopLatency


@dataclass
class Result:
    """What the trunks of one scenario have to carry."""

    scenario: str
    octets: dict[tuple[str, str], float] = field(default_factory=dict)
    """By trunk, in one direction."""
    messages: dict[tuple[str, str], float] = field(default_factory=dict)
    by_hops: dict[int, float] = field(default_factory=dict)
    """Messages by how many trunks they pass."""
    unreachable: float = 0.0
    """Messages that get to no consumer."""

    @property
    def busiest(self) -> tuple[str, str] | None:
        """The trunk with the most octets."""
        return max(self.octets, key=lambda trunk: (self.octets[trunk], trunk), default=None)

    @property
    def most_octets(self) -> float:
        """What the busiest trunk has to carry."""
        return max(self.octets.values(), default=0.0)

    @property
    def mean_hops(self) -> float:
        """Trunks that a message passes."""
        total = sum(self.by_hops.values())
        return sum(hops * count for hops, count in self.by_hops.items()) / total if total else 0.0

    def latency_us(self, latency: HopLatency) -> float:
        """The mean latency by the number of hops."""
        return latency.of(self.mean_hops)


def evaluate(states: LinkStates, demands: Iterable[Demand], scenario: Scenario) -> Result:
    """Return what the trunks have to carry after the changes of a scenario."""
    network = scenario.network(states)
    routers = set(network.routers)
    result = Result(scenario.name)
    for trunk in network.trunks:
        for ends in ((trunk[0], trunk[1]), (trunk[1], trunk[0])):
            result.octets[ends] = result.messages[ends] = 0.0
    for demand in demands:
        if demand.origin in routers:
            _carry(network, _moved(demand, scenario), result)
        else:
            result.unreachable += demand.messages
    return result


def _moved(demand: Demand, scenario: Scenario) -> Demand:
    for address, source, target in scenario.moves:
        if demand.address != address:
            continue
        parts: dict[str, tuple[float, float]] = {}
        for router, messages, octets in demand.parts:
            home = target if router == source else router
            before = parts.get(home, (0.0, 0.0))
            parts[home] = (before[0] + messages, before[1] + octets)
        demand = Demand(
            demand.origin, demand.distribution, tuple((home, *sums) for home, sums in sorted(parts.items())), address
        )
    return demand


def _carry(network: Network, demand: Demand, result: Result) -> None:
    reached = [(part, path) for part in demand.parts if (path := network.path(demand.origin, part[0])) is not None]
    if demand.distribution == "multicast":
        _carry_copies(demand, reached, result)
        return
    if not reached:
        result.unreachable += demand.messages
        return
    if demand.distribution == "closest":
        costs = [network.cost(demand.origin, part[0]) or 0 for part, _ in reached]
        nearest = [path for (_, path), cost in zip(reached, costs, strict=True) if cost == min(costs)]
        for path in nearest:
            _load(result, path, demand.messages / len(nearest), demand.octets / len(nearest))
        return
    # What went to routers that can't be reached is shared by the others, in proportion if they got anything.
    lost = demand.messages - sum(part[1] for part, _ in reached), demand.octets - sum(part[2] for part, _ in reached)
    weights = [part[1] for part, _ in reached]
    weights = weights if any(weights) else [1.0] * len(reached)
    for ((_, messages, octets), path), weight in zip(reached, weights, strict=True):
        more = weight / sum(weights)
        _load(result, path, messages + lost[0] * more, octets + lost[1] * more)


def _load(result: Result, path: tuple[str, ...], messages: float, octets: float) -> None:
    hops = len(path) - 1
    result.by_hops[hops] = result.by_hops.get(hops, 0.0) + messages
    for trunk in pairwise(path):
        result.messages[trunk] = result.messages.get(trunk, 0.0) + messages
        result.octets[trunk] = result.octets.get(trunk, 0.0) + octets


def _carry_copies(
    demand: Demand, reached: list[tuple[tuple[str, float, float], tuple[str, ...]]], result: Result
) -> None:
    most: dict[tuple[str, str], tuple[float, float]] = {}
    for (_, messages, octets), path in reached:
        hops = len(path) - 1
        result.by_hops[hops] = result.by_hops.get(hops, 0.0) + messages
        for trunk in pairwise(path):
            before = most.get(trunk, (0.0, 0.0))
            most[trunk] = (max(before[0], messages), max(before[1], octets))
    for trunk, (messages, octets) in most.items():
        result.messages[trunk] = result.messages.get(trunk, 0.0) + messages
        result.octets[trunk] = result.octets.get(trunk, 0.0) + octets
    reachable = {part[0] for part, _ in reached}
    result.unreachable += sum(messages for router, messages, _ in demand.parts if router not in reachable)
