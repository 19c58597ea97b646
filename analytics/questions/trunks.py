"""How busy trunks are, and how much more they could carry."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F


def trunks(flows: DataFrame, duration_s: float, capacity_octets_s: float | None = None) -> DataFrame:
    """Return the load of each trunk, in each direction, by its seconds.

    Without a capacity, the busiest second of any trunk stands in for it: so much is known to be possible.
    """
    seconds = (
        flows.where(F.col("egress_kind") == "trunk")
        .groupBy("router", F.col("egress_router").alias("peer"), "time")
        .agg(F.sum("messages").alias("messages"), F.sum("octets").alias("octets"))
    )
    loads = seconds.groupBy("router", "peer").agg(
        F.sum("messages").alias("messages"),
        F.sum("octets").alias("octets"),
        F.count(F.lit(1)).alias("busy_seconds"),
        F.expr("percentile_approx(octets, 0.99, 1000)").alias("p99_octets_s"),
        F.max("octets").alias("peak_octets_s"),
        F.max_by("time", "octets").alias("peak_at"),
    )
    most = F.max("peak_octets_s").over(Window.partitionBy(F.lit(0)))
    capacity = most.cast("double") if capacity_octets_s is None else F.lit(float(capacity_octets_s))
    return (
        loads.withColumn("mean_octets_s", F.col("octets") / F.lit(max(duration_s, 1.0)))
        .withColumn("capacity_octets_s", capacity)
        .withColumn("headroom", F.lit(1.0) - F.col("p99_octets_s") / F.col("capacity_octets_s"))
        .orderBy("headroom", F.desc("octets"), "router", "peer")
    )
