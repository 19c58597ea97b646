"""By how much the clocks of routers disagree, from messages that both ends of a trunk recorded."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

ROWS = 200_000
"""About so many decisions are enough to tell."""
_LEAST_PAIRS = 5


def clocks(decisions: DataFrame, one_in: int = 1) -> DataFrame:
    """Return for each trunk how far the clock of the later router is ahead of the earlier one's.

    A message reaches the later one after the earlier one, and its outcome is known there before. So the difference of
    their times is from 0 to the difference of their latencies, plus what their clocks are apart.
    """
    seen = decisions.where(F.col("message_key").isNotNull() & F.col("latency_us").isNotNull())
    if one_in > 1:
        seen = seen.where(F.pmod(F.col("message_key"), F.lit(one_in)) == 0)
    # Rows of one message in the order of its way: one pass, where a join would take two.
    way = Window.partitionBy("message_key").orderBy("hop", "path")
    rows = seen.select("message_key", "path", "hop", "router", F.unix_micros("time").alias("at_us"), "latency_us")
    following = rows.select(
        F.col("router").alias("earlier"),
        "at_us",
        "latency_us",
        "path",
        *(F.lead(name).over(way).alias(f"later_{name}") for name in ("router", "at_us", "latency_us", "path")),
    )
    pairs = following.where(F.col("later_path") == F.concat_ws("/", "path", "later_router")).select(
        "earlier",
        F.col("later_router").alias("later"),
        "at_us",
        "latency_us",
        F.col("later_at_us").alias("later_us"),
        F.col("later_latency_us"),
    )
    apart = F.col("later_us") - F.col("at_us")
    bounds = pairs.groupBy("earlier", "later").agg(
        F.count(F.lit(1)).alias("messages"),
        F.expr("percentile(later_us - at_us - greatest(latency_us - later_latency_us, 0), 0.5)").alias("least_us"),
        F.percentile(apart, F.lit(0.5)).alias("most_us"),
    )
    return (
        bounds.where(F.col("messages") >= _LEAST_PAIRS)
        .withColumn("ahead_us", F.round((F.col("least_us") + F.col("most_us")) / 2).cast("long"))
        .orderBy(F.desc(F.abs("ahead_us")), "earlier", "later")
    )
