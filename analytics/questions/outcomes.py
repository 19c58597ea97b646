"""What became of messages over time, and why some were not delivered."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from analytics.questions.cells import slot_of

OUTCOMES = ("accepted", "rejected", "released", "modified", "presettled", "dropped")
FAILURES = ("rejected", "released", "modified", "dropped")


def outcomes(flows: DataFrame, seconds: int = 3600) -> DataFrame:
    """Return messages and their outcomes by spans of time, where they entered the network."""
    entered = flows.where(F.col("ingress_kind").isin("client", "edge"))
    return (
        entered.groupBy(slot_of("time", seconds).alias("time"))
        .agg(F.sum("messages").alias("messages"), *(F.sum(name).alias(name) for name in OUTCOMES))
        .orderBy("time")
    )


def undeliverables(decisions: DataFrame) -> DataFrame:
    """Return which messages were not delivered, with the cause, at the router that knows it."""
    return (
        decisions.where(F.col("outcome").isin(*FAILURES) & F.col("cause").isNotNull())
        .groupBy("address", "router", "outcome", "cause")
        .agg(F.sum("weight").alias("messages"), F.min("time").alias("first"), F.max("time").alias("last"))
        .orderBy(F.desc("messages"), "address", "router", "cause")
    )
