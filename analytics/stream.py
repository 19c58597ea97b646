"""Keeps a directory of hourly results up to date while records come in, by Structured Streaming.

Each new file says which hour has changed, and that hour is worked out anew from all of its files. So a result does not
depend on the order in which files came, and one that comes late, or replaces others, is no special case.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from analytics.errors import NoRecords, WrongPeriod
from analytics.records import open_records
from analytics.results import write_table
from analytics.spark_types import spark_schema
from analytics.study import Study
from routerd.records import TABLES

HOURLY: dict[str, Callable[[Study], DataFrame]] = {
    "matrix": lambda study: study.matrix("address"),
    "talkers": Study.talkers,
    "outcomes": lambda study: study.outcomes(60),
    "undeliverables": Study.undeliverables,
    "latency": Study.latency,
    "balance": Study.balance,
    "trunks": Study.trunks,
    "stalls": Study.stalls,
    "churn": Study.churn,
}
_CHECKPOINT = ".checkpoint"
_FILES_AT_ONCE = 1_000


def keep_up_to_date(
    spark: SparkSession,
    directory: Path,
    results: Path,
    *,
    form: str = "parquet",
    every_s: float | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> None:
    """Work out the hours that have new files, once or every `every_s` until interrupted; raises NoRecords."""
    if not directory.is_dir():
        raise NoRecords(f"{directory} is not a directory: give the one that `record` has as its directory")
    results.mkdir(parents=True, exist_ok=True)

    def renew(batch: DataFrame, number: int) -> None:
        for row in batch.distinct().orderBy("day", "hour").collect():
            hour = datetime.strptime(f"{row['day']} {row['hour']}", "%Y-%m-%d %H").replace(tzinfo=UTC)
            say(f"{hour:%F %H:00}: {renew_hour(batch.sparkSession, directory, results, hour, form)} results")

    writer = _new_files(spark, directory).writeStream.foreachBatch(renew)
    query = _triggered(writer.option("checkpointLocation", str(results / _CHECKPOINT)), every_s).start()
    try:
        query.awaitTermination()
    finally:
        query.stop()


def renew_hour(spark: SparkSession, directory: Path, results: Path, hour: datetime, form: str) -> int:
    """Write the results of one hour: how many there are."""
    try:
        records = open_records(spark, directory, hour, hour + timedelta(hours=1))
    except (NoRecords, WrongPeriod):
        # Retention has removed the new files again, or they were never whole.
        return 0
    study = Study(spark, records)
    try:
        for name, ask in HOURLY.items():
            write_table(ask(study), results / name / f"hour={hour:%FT%H}.{form}", form)
    finally:
        study.forget()
    return len(HOURLY)


def _new_files(spark: SparkSession, directory: Path) -> DataFrame:
    found = None
    for table in TABLES:
        folder = directory / table.name
        folder.mkdir(exist_ok=True)
        reader = spark.readStream.schema(spark_schema(table)).option("maxFilesPerTrigger", _FILES_AT_ONCE)
        hours = reader.option("pathGlobFilter", "*.parquet").parquet(str(folder)).select("day", "hour")
        found = hours if found is None else found.unionByName(hours)
    assert found is not None
    return found


def _triggered(writer: DataStreamWriter, every_s: float | None) -> DataStreamWriter:
    if every_s is None:
        return writer.trigger(availableNow=True)
    return writer.trigger(processingTime=f"{every_s} seconds")
