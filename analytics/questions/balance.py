"""How evenly the messages of an address are shared among its consumers, against what each of them can take."""

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

SLOW = 5
"""A consumer is slow that takes so many times as long as the usual one of its address."""


def balance(decisions: DataFrame, events: DataFrame) -> DataFrame:
    """Return the share of each consumer, its share of the capacity, and the Jain index of each address.

    A consumer can have as many messages under way as its window allows. So its capacity is that window, divided by the
    time it takes for one message. The index is 1 when all get the same, and 1/n when one of n gets all. `fairness` is
    the index of each consumer's share in relation to its capacity.
    """
    chosen = decisions.where(
        (F.col("egress_kind") == "client")
        & F.col("outcome").isin("accepted", "rejected")
        & (F.col("distribution") != "multicast")
        & F.col("latency_us").isNotNull()
    )
    median = F.expr("percentile(latency_us, 0.5, weight)")
    consumers = chosen.groupBy("address", "router", F.col("egress").alias("consumer")).agg(
        F.sum("weight").alias("messages"), median.alias("p50_us")
    )
    windows = (
        events.where(F.col("kind") == "link-attached")
        .groupBy("address", "router", F.col("link").alias("consumer"))
        .agg(F.max("credit").alias("credit"))
    )
    known = consumers.join(F.broadcast(windows), ["address", "router", "consumer"], "left")
    # Of a consumer whose attach is not in the records, only its speed is known.
    sized = known.withColumn("capacity", F.coalesce("credit", F.lit(1)) / F.greatest("p50_us", F.lit(1)))
    address = Window.partitionBy("address")
    ratio = F.col("messages") / F.col("capacity")
    others = F.expr("percentile(p50_us, 0.5)").over(address)
    return (
        sized.withColumn("consumers", F.count(F.lit(1)).over(address))
        .withColumn("share", F.col("messages") / F.sum("messages").over(address))
        .withColumn("capacity_share", F.col("capacity") / F.sum("capacity").over(address))
        .withColumn("jain", _jain(F.col("messages"), address))
        .withColumn("fairness", _jain(ratio, address))
        .withColumn("is_slow", (F.col("consumers") > 1) & (F.col("p50_us") >= SLOW * others))
        .drop("capacity")
        .orderBy("address", "consumer")
    )


def _jain(value: Column, window: WindowSpec) -> Column:
    total = F.sum(value).over(window)
    return total * total / (F.count(F.lit(1)).over(window) * F.sum(value * value).over(window))
