"""Scenarios as jobs of Spark: each one is carried by a task."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from analytics.network import LinkStates, Network
from analytics.whatif.changes import Change, Scenario
from analytics.whatif.demand import Demand, HopLatency
from analytics.whatif.evaluate import Result, evaluate

NOW = "as it is"
_BETTER = 0.99
_AS_GOOD = 1.15
_SCHEMA = T.StructType(
    [
        T.StructField("scenario", T.StringType()),
        T.StructField("router", T.StringType()),
        T.StructField("peer", T.StringType()),
        T.StructField("messages", T.DoubleType()),
        T.StructField("octets_s", T.DoubleType()),
        T.StructField("octets_s_now", T.DoubleType()),
        T.StructField("is_busiest", T.BooleanType()),
        T.StructField("unreachable", T.DoubleType()),
        T.StructField("mean_hops", T.DoubleType()),
        T.StructField("mean_latency_us", T.DoubleType()),
    ]
)


def what_if(
    spark: SparkSession,
    states: LinkStates,
    demands: Sequence[Demand],
    scenarios: Sequence[Scenario],
    *,
    duration_s: float,
    latency: HopLatency,
) -> DataFrame:
    """Return the load of each trunk in each scenario, that of now first; raises UnknownName and WrongChange."""
    for scenario in scenarios:
        scenario.network(states)
    wanted = [Scenario(NOW), *scenarios]
    now = evaluate(states, demands, wanted[0])

    def rows(result: Result) -> Iterator[tuple[object, ...]]:
        for trunk in sorted(set(result.octets) | set(now.octets)):
            yield (
                result.scenario,
                *trunk,
                result.messages.get(trunk, 0.0),
                result.octets.get(trunk, 0.0) / duration_s,
                now.octets.get(trunk, 0.0) / duration_s,
                trunk == result.busiest,
                result.unreachable,
                result.mean_hops,
                result.latency_us(latency),
            )

    results = _evaluated(spark, states, demands, wanted)
    return spark.createDataFrame([row for result in results for row in rows(result)], _SCHEMA)


@dataclass(frozen=True, slots=True)
class Optimum:
    """Costs under which the busiest trunk has less to carry."""

    scenario: Scenario | None
    """None where no change was found to be better."""
    before: Result
    after: Result
    steps: tuple[tuple[str, float], ...]
    """Each change, and what the busiest trunk carries after it and those before it."""


def optimise(spark: SparkSession, states: LinkStates, demands: Sequence[Demand], rounds: int = 5) -> Optimum:
    """Search for changes of costs that lower the most loaded trunk; each round tries many, and keeps the best."""
    before = now = evaluate(states, demands, Scenario(NOW))
    changes: tuple[Change, ...] = ()
    steps: list[tuple[str, float]] = []
    for _ in range(rounds):
        network = Scenario(NOW, changes).network(states)
        tries = [Scenario(_text((*changes, one)), (*changes, one)) for one in _tries(network)]
        results = _evaluated(spark, states, demands, tries)
        best = _best(list(zip(results, tries, strict=True)))
        if best is None or best[0].most_octets > now.most_octets * _BETTER:
            break
        now, changes = best[0], best[1].changes
        steps.append((_text(changes[-1:]), now.most_octets))
    return Optimum(Scenario(_text(changes), changes) if changes else None, before, now, tuple(steps))


def _evaluated(
    spark: SparkSession, states: LinkStates, demands: Sequence[Demand], scenarios: Sequence[Scenario]
) -> list[Result]:
    if not scenarios:
        return []
    context = spark.sparkContext
    known = context.broadcast(({router: dict(costs) for router, costs in states.items()}, list(demands)))

    def carry(some: Iterable[Scenario]) -> Iterator[Result]:
        for one in some:
            yield evaluate(known.value[0], known.value[1], one)

    slices = min(len(scenarios), context.defaultParallelism * 2)
    return context.parallelize(scenarios, slices).mapPartitions(carry).collect()


def _tries(network: Network) -> Iterator[Change]:
    """Yield other costs for each trunk: some times more and less than its own, and those that other trunks have."""
    usual = {cost for _, _, cost in network.trunks}
    for one, other, cost in network.trunks:
        for cost_tried in sorted({1, cost // 4, cost // 2, cost - 1, cost + 1, cost * 2, cost * 4, *usual} - {0, cost}):
            yield Change("cost", (one, other), cost=cost_tried)


def _best(tried: list[tuple[Result, Scenario]]) -> tuple[Result, Scenario] | None:
    """Return what loses no more messages than any and has the least load on its busiest trunk.

    Of several that are about as good there, the one with the least load in all: it is not better by sending round.
    """
    least_lost = min((result.unreachable for result, _ in tried), default=0.0)
    kept = [one for one in tried if one[0].unreachable <= least_lost]
    least = min((result.most_octets for result, _ in kept), default=0.0)
    good = [one for one in kept if one[0].most_octets <= least * _AS_GOOD]
    return min(good, key=_rank, default=None)


def _rank(one: tuple[Result, Scenario]) -> tuple[float, float, int]:
    return sum(one[0].octets.values()), one[0].most_octets, one[1].changes[-1].cost


def _text(changes: Iterable[Change]) -> str:
    return "; ".join(f"cost {' '.join(one.names)} {one.cost}" for one in changes)
