"""How long messages take until their outcome is known."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

_PERCENTILES = {"p50_us": 0.5, "p90_us": 0.9, "p99_us": 0.99, "p999_us": 0.999}


def latency(decisions: DataFrame, by: str = "address") -> DataFrame:
    """Return percentiles of the latency by address, by path or by hop: exact for rows, within 2.5 % for cells.

    By address, latencies are those at the first router, which see the whole way. By path they are those at the last
    one, from there to the consumer and back; by hop, those at each router on the way.
    """
    known = decisions.where(F.col("latency_us").isNotNull() & F.col("outcome").isin("accepted", "rejected"))
    if by != "path":
        # A message that goes from one worker of a router to another counts at the first of them.
        known = known.where(F.col("ingress_kind") != "sibling")
    if by == "address":
        known = known.where(F.col("hop") == 0)
    elif by == "path":
        known = known.where(F.col("egress_kind") == "client")
    percentiles = F.expr(f"percentile(latency_us, array({', '.join(map(str, _PERCENTILES.values()))}), weight)")
    return (
        known.groupBy(by)
        .agg(F.sum("weight").alias("decisions"), percentiles.alias("all"), F.max("latency_us").alias("max_us"))
        .select(by, "decisions", *(F.col("all")[at].alias(name) for at, name in enumerate(_PERCENTILES)), "max_us")
        .orderBy(by)
    )
