"""Makes a report of a record directory."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from pyspark.sql import SparkSession

from analytics.progress import Progress
from analytics.records import open_records
from analytics.report.answers import STEPS, collect_answers
from analytics.report.findings import findings
from analytics.report.page import Report, page
from analytics.study import Study


def build_report(
    spark: SparkSession,
    directory: Path,
    begin: datetime | None,
    end: datetime | None,
    *,
    tables: tuple[Path, str] | None = None,
    capacity_octets_s: float | None = None,
    progress: Callable[[int], Progress] = Progress,
) -> tuple[Report, Progress]:
    """Return the report of a period, and how long each step took; raises AnalyticsError."""
    steps = progress(STEPS + 1)
    with steps.step("look at the files"):
        records = open_records(spark, directory, begin, end)
    study = Study(spark, records, capacity_octets_s)
    try:
        answers, remarks = collect_answers(study, steps, tables)
        network = study.topology.whole
        routers = {*network.routers, *(row["origin"] for row in answers["matrix"].rows)}
        routers |= {row["destination"] for row in answers["matrix"].rows}
        report = Report(
            begin=records.begin,
            end=records.end,
            routers=tuple(sorted(routers)),
            messages=sum(row["messages"] for row in answers["outcomes"].rows),
            answers=answers,
            findings=findings(answers, network, knows_capacity=capacity_octets_s is not None),
            remarks=(*records.remarks, *remarks),
            network=network,
        )
    finally:
        study.forget()
    steps.end()
    return report, steps


def write_report(report: Report, path: Path) -> None:
    """Write the page of a report; a file that is there is replaced at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.part")
    aside.write_text(page(report), encoding="utf-8")
    aside.replace(path)
