"""What comes and goes: addresses, links, trunks and routes."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

FLAPS = 3
"""What was lost so often flaps."""
_CAME = {"address-added", "link-attached", "trunk-up", "router-reached"}
_WENT = {"address-removed", "link-detached", "trunk-lost", "router-lost"}
_WHAT = {
    "address": ("address-added", "address-removed"),
    "link": ("link-attached", "link-detached"),
    "trunk": ("trunk-up", "trunk-lost"),
    "router": ("router-reached", "router-lost"),
    "route": ("route-changed",),
}


def churn(events: DataFrame) -> DataFrame:
    """Return how often each thing was lost, came or changed; a link that is only there all the time is left out."""
    what = F.coalesce(*(F.when(F.col("kind").isin(*kinds), F.lit(name)) for name, kinds in _WHAT.items()))
    name = (
        F.when(F.col("kind").isin(*_WHAT["address"]), F.col("address"))
        .when(F.col("kind").isin(*_WHAT["link"]), F.coalesce("link", "peer"))
        .otherwise(F.col("peer"))
    )
    return (
        events.withColumn("what", what)
        .where(F.col("what").isNotNull())
        .groupBy("what", "router", name.alias("name"))
        .agg(
            _count(_WENT).alias("lost"),
            _count(_CAME).alias("came"),
            _count({"route-changed"}).alias("changed"),
            F.min("time").alias("first"),
            F.max("time").alias("last"),
        )
        .where((F.col("lost") > 0) | (F.col("changed") > 0))
        .withColumn("is_flapping", F.col("lost") + F.col("changed") >= FLAPS)
        .orderBy(F.desc(F.col("lost") + F.col("changed")), "what", "router", "name")
    )


def _count(kinds: set[str]) -> Column:
    return F.sum(F.col("kind").isin(*kinds).cast("int"))
