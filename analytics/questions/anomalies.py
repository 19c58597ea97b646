"""Hours that are unlike the same hour of the days before."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from analytics.questions.cells import hour_of

DAYS = 2
"""So many earlier days have to have had the hour."""
_UNLIKE = 6.0
_LEAST_SPREAD = 0.1
_DAY_S = 86_400


def anomalies(flows: DataFrame) -> DataFrame:
    """Return addresses and hours whose messages or failures are far from those of earlier days at that hour.

    Far is six times the usual distance from their median, which counts as a tenth of it at least.
    """
    sums = (
        flows.where(F.col("ingress_kind").isin("client", "edge"))
        .groupBy("address", hour_of("time").alias("hour"))
        .agg(
            F.sum("messages").alias("messages"),
            F.sum(F.col("rejected") + F.col("released") + F.col("modified") + F.col("dropped")).alias("failures"),
        )
    )
    # An address that has fallen silent has no rows.
    since = sums.groupBy("address").agg(F.min("hour").alias("since"))
    every = since.crossJoin(F.broadcast(sums.select("hour").distinct())).where("hour >= since").drop("since")
    hours = every.join(sums, ["address", "hour"], "left").na.fill(0).withColumn("of_day", F.hour("hour"))
    earlier = (
        Window.partitionBy("address", "of_day")
        .orderBy(F.unix_timestamp("hour"))
        .rangeBetween(Window.unboundedPreceding, -_DAY_S)
    )
    found = None
    for measure in ("messages", "failures"):
        before = F.collect_list(measure).over(earlier)
        rows = (
            hours.withColumn("before", before)
            .where(F.size("before") >= DAYS)
            .withColumn("usual", _median("before"))
            .withColumn("distances", F.expr("transform(before, x -> abs(x - usual))"))
            .withColumn("spread", F.greatest(_median("distances"), F.col("usual") * _LEAST_SPREAD, F.lit(1.0)))
            .withColumn("measure", F.lit(measure))
            .withColumn("value", F.col(measure))
            .withColumn("score", (F.col("value") - F.col("usual")) / F.col("spread"))
            .where(F.abs("score") >= _UNLIKE)
            .select("address", "hour", "measure", "value", "usual", "score", F.size("before").alias("days"))
        )
        found = rows if found is None else found.unionByName(rows)
    assert found is not None
    return found.orderBy(F.desc(F.abs("score")), "address", "hour", "measure")


def _median(name: str) -> Column:
    ordered = f"array_sort({name})"
    return F.expr(
        f"(get({ordered}, int(floor((size({name}) - 1) / 2))) + get({ordered}, int(floor(size({name}) / 2)))) / 2.0"
    )
