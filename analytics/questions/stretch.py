"""How much longer the paths of messages were than the best ones of their time."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from analytics.network import Network
from analytics.topology import Topology

SLOT_S = 10
_SCHEMA = T.StructType(
    [
        T.StructField("path", T.StringType()),
        T.StructField("messages", T.LongType()),
        T.StructField("cost", T.LongType()),
        T.StructField("best_cost", T.LongType()),
        T.StructField("hops", T.LongType()),
        T.StructField("fewest_hops", T.LongType()),
    ]
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A path against the best ones between its ends."""

    cost: int | None
    best_cost: int | None
    hops: int
    fewest_hops: int | None


def compare(path: str, networks: Iterable[Network]) -> Comparison:
    """Return a path against the best one of the networks of its time in which it is nearest to the best."""
    routers = path.split("/")
    hops = len(routers) - 1
    found = []
    for network in networks:
        cost = network.cost_along(routers)
        best = network.cost(routers[0], routers[-1])
        fewest = network.with_equal_costs.cost(routers[0], routers[-1])
        found.append(Comparison(cost, best, hops, fewest))
    known = [one for one in found if one.cost is not None and one.best_cost is not None]
    if known:
        return min(known, key=lambda one: (one.cost or 0) - (one.best_cost or 0))
    return found[0] if found else Comparison(None, None, hops, None)


def stretch(spark: SparkSession, decisions: DataFrame, topology: Topology) -> DataFrame:
    """Return for each path its cost and hops against the best of its time; null where link states are not known.

    Paths are looked at where messages left the network. Within ten seconds of a change of the network, its state before
    counts as well as that after.
    """
    slots = (
        decisions.where(F.col("egress_kind").isin("client", "edge"))
        .groupBy("path", F.expr(f"unix_timestamp(time) div {SLOT_S}").alias("slot"))
        .agg(F.sum("weight").alias("messages"))
    )
    known = spark.sparkContext.broadcast(topology)

    def compared(rows: Iterable[Row]) -> Iterator[tuple[str, int, int | None, int | None, int, int | None]]:
        seen: dict[tuple[str, tuple[Network, ...]], Comparison] = {}
        for row in rows:
            begin = row["slot"] * SLOT_S * 1_000_000
            networks = known.value.during(begin - SLOT_S * 1_000_000, begin + 2 * SLOT_S * 1_000_000)
            key = (row["path"], networks)
            if key not in seen:
                seen[key] = compare(*key)
            one = seen[key]
            yield row["path"], row["messages"], one.cost, one.best_cost, one.hops, one.fewest_hops

    rows = spark.createDataFrame(slots.rdd.mapPartitions(compared), _SCHEMA)
    return (
        rows.groupBy("path", "cost", "best_cost", "hops", "fewest_hops")
        .agg(F.sum("messages").alias("messages"))
        .withColumn("stretch", F.expr("case when best_cost = 0 then 1.0 else cost / best_cost end"))
        .withColumn("extra_hops", F.col("hops") - F.col("fewest_hops"))
        .orderBy(F.desc("stretch"), F.desc("extra_hops"), F.desc("messages"), "path")
    )
