"""What the network has to carry, from the recorded flows."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


@dataclass(frozen=True, slots=True)
class Demand:
    """The messages that enter at one router for all addresses that have their consumers at the same routers."""

    origin: str
    distribution: str
    parts: tuple[tuple[str, float, float], ...]
    """The routers with consumers, and how many messages and octets went to each from this origin."""
    address: str | None = None
    """Of one address alone, since a scenario names it."""

    @property
    def messages(self) -> float:
        """All messages; copies of one do not count."""
        sums = [messages for _, messages, _ in self.parts]
        return max(sums, default=0.0) if self.distribution == "multicast" else sum(sums)

    @property
    def octets(self) -> float:
        """All octets, in the same way."""
        sums = [octets for _, _, octets in self.parts]
        return max(sums, default=0.0) if self.distribution == "multicast" else sum(sums)


@dataclass(frozen=True, slots=True)
class HopLatency:
    """How long messages take: at the consumer, and for each hop on the way there and back."""

    consumer_us: float
    hop_us: float

    def of(self, hops: float) -> float:
        """Return the mean latency over this number of hops."""
        return self.consumer_us + hops * self.hop_us


def demands(flows: DataFrame, apart: Collection[str] = ()) -> list[Demand]:
    """Return what has to be carried: as many as there are routers and sets of them, however many rows and addresses."""
    left = flows.where(F.col("egress_kind").isin("client", "edge")).groupBy(
        "address", "distribution", "origin", F.col("router").alias("destination")
    )
    sums = left.agg(F.sum("messages").alias("messages"), F.sum("octets").alias("octets"))
    homes = sums.groupBy("address", "distribution").agg(F.sort_array(F.collect_set("destination")).alias("homes"))
    named = F.when(F.col("address").isin(*apart), F.col("address")) if apart else F.lit(None).cast("string")
    classes = (
        sums.join(homes, ["address", "distribution"])
        .groupBy("homes", "distribution", "origin", "destination", named.alias("name"))
        .agg(F.sum("messages").alias("messages"), F.sum("octets").alias("octets"))
        .groupBy("homes", "distribution", "origin", "name")
        .agg(F.collect_list(F.struct("destination", "messages", "octets")).alias("parts"))
    )
    return [
        Demand(row["origin"], row["distribution"], _parts(row["homes"], row["parts"]), row["name"])
        for row in classes.orderBy("origin", "distribution", "homes", "name").collect()
    ]


def _parts(homes: Iterable[str], parts: Iterable[tuple[str, int, int]]) -> tuple[tuple[str, float, float], ...]:
    known = {destination: (float(messages), float(octets)) for destination, messages, octets in parts}
    return tuple((home, *known.get(home, (0.0, 0.0))) for home in homes)


def hop_latency(decisions: DataFrame) -> HopLatency:
    """Return how long messages take: by how much longer it is at the beginning of their paths than at the end."""
    known = decisions.where(F.col("latency_us").isNotNull() & (F.col("outcome") == "accepted"))
    at_first = (F.col("hop") == 0) & (F.col("ingress_kind") != "sibling")
    at_end = F.col("egress_kind") == "client"
    row = known.agg(
        F.sum(F.when(at_first, F.col("latency_us") * F.col("weight"))).alias("first"),
        F.sum(F.when(at_first, F.col("weight"))).alias("first_count"),
        F.sum(F.when(at_end, F.col("latency_us") * F.col("weight"))).alias("last"),
        F.sum(F.when(at_end, F.col("weight"))).alias("last_count"),
        F.sum(F.when(at_end, F.col("hop") * F.col("weight"))).alias("hops"),
    ).first()
    if row is None or not row["first_count"] or not row["last_count"]:
        return HopLatency(0.0, 0.0)
    consumer = row["last"] / row["last_count"]
    hops = row["hops"] / row["last_count"]
    return HopLatency(consumer, max(0.0, row["first"] / row["first_count"] - consumer) / hops if hops else 0.0)
