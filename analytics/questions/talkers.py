"""The addresses, senders and consumers with most messages."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F


def talkers(flows: DataFrame, top: int = 10) -> DataFrame:
    """Return the busiest addresses, senders and consumers, with their part of all messages."""
    entered = flows.where(F.col("ingress_kind").isin("client", "edge"))
    left = flows.where(F.col("egress_kind").isin("client", "edge"))
    return (
        _ranked(entered, "address", "address", top)
        .unionByName(_ranked(entered, "sender", "ingress", top))
        .unionByName(_ranked(left, "consumer", "egress", top))
        .orderBy("what", "rank")
    )


def _ranked(flows: DataFrame, what: str, column: str, top: int) -> DataFrame:
    sums = flows.groupBy(F.col(column).alias("name")).agg(
        F.sum("messages").alias("messages"), F.sum("octets").alias("octets")
    )
    total = sums.agg(F.sum("messages").alias("total"))
    first = sums.orderBy(F.desc("messages"), F.desc("octets"), "name").limit(top)
    # Only the first rows are in one place for their ranks.
    order = Window.partitionBy(F.lit(0)).orderBy(F.desc("messages"), F.desc("octets"), "name")
    return (
        first.crossJoin(F.broadcast(total))
        .withColumn("share", F.col("messages") / F.col("total"))
        .withColumn("rank", F.row_number().over(order))
        .select(F.lit(what).alias("what"), "rank", "name", "messages", "octets", "share")
    )
