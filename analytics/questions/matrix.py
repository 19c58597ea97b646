"""The traffic matrix: messages by ingress router, egress router and address."""

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def matrix(flows: DataFrame, by: str = "routers") -> DataFrame:
    """Return messages and octets from where they entered to where they left, of all, each address or each family."""
    groups = {"routers": [], "address": [F.col("address")], "family": [family_of("address").alias("family")]}[by]
    left = flows.where(F.col("egress_kind").isin("client", "edge", "router"))
    return (
        left.groupBy("origin", F.col("router").alias("destination"), *groups)
        .agg(F.sum("messages").alias("messages"), F.sum("octets").alias("octets"))
        .orderBy(F.desc("messages"), "origin", "destination")
    )


def family_of(address: str) -> Column:
    """Return the first part of an address, up to a `.` or `/`."""
    return F.regexp_extract(address, r"^([^./]*)", 1)
