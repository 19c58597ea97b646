"""One pass over all rows, which leaves what most questions need: sums of each hour.

Cells have the same column names as rows, so a question can be asked of either. Latencies that lie within 5 % of each
other share a cell. The cell's latency is in the middle of them: it differs from each by 2.5 % at most.
"""

import math

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

LATENCY_STEP = 1.05
_DECISION_KEYS = ("address", "distribution", "ingress_kind", "path", "egress", "egress_kind", "outcome", "cause")
_FLOW_KEYS = ("address", "distribution", "ingress", "ingress_kind", "origin", "egress", "egress_kind", "egress_router")
FLOW_SUMS = ("messages", "octets", "accepted", "rejected", "released", "modified", "presettled", "dropped")


def decision_cells(decisions: DataFrame) -> DataFrame:
    """Return sums of decisions that are alike: `weight` of the sampled rows, and how many rows there were."""
    bucket = F.floor(F.log(F.greatest(F.col("latency_us"), F.lit(1)).cast("double")) / math.log(LATENCY_STEP))
    keyed = decisions.select(
        hour_of("time").alias("time"), *_DECISION_KEYS, "router", "weight", bucket.cast("int").alias("bucket")
    )
    sums = keyed.groupBy("time", *_DECISION_KEYS, "router", "bucket").agg(
        F.sum("weight").alias("weight"), F.count(F.lit(1)).alias("rows")
    )
    middle = F.pow(F.lit(LATENCY_STEP), F.col("bucket") + 0.5)
    return sums.select(
        "time",
        *_DECISION_KEYS,
        "router",
        (F.size(F.split("path", "/")) - 1).alias("hop"),
        F.round(middle).cast("long").alias("latency_us"),
        "weight",
        "rows",
    )


def flow_cells(flows: DataFrame) -> DataFrame:
    """Return the flows summed by the hour."""
    return (
        flows.withColumn("time", hour_of("time"))
        .groupBy("time", "router", *_FLOW_KEYS)
        .agg(*(F.sum(name).alias(name) for name in FLOW_SUMS), F.count(F.lit(1)).alias("rows"))
    )


def hour_of(time: str) -> Column:
    """Return the hour that a time lies in."""
    return slot_of(time, 3600)


def slot_of(time: str, seconds: int) -> Column:
    """Return the beginning of the span that a time lies in; spans last `seconds`."""
    return F.expr(f"timestamp_seconds((unix_timestamp({time}) div {seconds}) * {seconds})")
