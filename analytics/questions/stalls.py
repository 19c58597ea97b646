"""Where messages waited for credit, how long, and whose credit it was."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def stalls(events: DataFrame, duration_s: float) -> DataFrame:
    """Return the credit stalls of each link: how many, how long, and which part of the period."""
    return (
        events.where(F.col("kind") == "credit-stall")
        .groupBy("router", "link", "link_kind", "peer", "address")
        .agg(
            F.count(F.lit(1)).alias("stalls"),
            (F.sum("duration_us") / 1e6).alias("total_s"),
            (F.max("duration_us") / 1e6).alias("longest_s"),
            F.max("time").alias("last"),
        )
        .withColumn("share_of_time", F.col("total_s") / F.lit(max(duration_s, 1e-6)))
        .orderBy(F.desc("total_s"), "router", "link")
    )
