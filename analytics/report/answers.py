"""Asks all questions, and takes from each answer what fits on a page."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from analytics.progress import Progress
from analytics.results import write_table
from analytics.study import Study, slot_for

_CHART_ROWS = 2_500
_WHOLE = {"matrix", "outcomes", "trunks", "stretch", "undeliverables"}
_ROWS = 30


@dataclass(frozen=True)
class Answer:
    """The first rows of a table, in the order of what matters most."""

    columns: tuple[str, ...]
    rows: tuple[dict[str, Any], ...]
    is_all: bool
    """Whether there are no more rows."""


ANSWERS: dict[str, Callable[[Study], DataFrame]] = {
    "matrix": lambda study: study.matrix(),
    "families": lambda study: study.matrix("family"),
    "talkers": lambda study: study.talkers(),
    "outcomes": lambda study: study.outcomes(slot_for(study.records.duration_s)),
    "undeliverables": lambda study: study.undeliverables(),
    "latency": lambda study: study.latency("address").orderBy(F.desc("p99_us")),
    "latency_by_path": lambda study: study.latency("path").orderBy(F.desc("p99_us")),
    "latency_by_hop": lambda study: study.latency("hop"),
    "balance": lambda study: study.balance().orderBy(F.desc("is_slow"), "fairness", "address", "consumer"),
    "clocks": lambda study: study.clocks(),
    "stretch": lambda study: study.stretch(),
    "trunks": lambda study: study.trunks(),
    "stalls": lambda study: study.stalls(),
    "churn": lambda study: study.churn(),
    "anomalies": lambda study: study.anomalies(),
}
"""The questions that a report answers; an audit is of one message, so it is not among them."""

STEPS = len(ANSWERS) + 2


def collect_answers(
    study: Study, progress: Progress, tables: tuple[Path, str] | None = None
) -> tuple[dict[str, Answer], list[str]]:
    """Return all answers, and remarks on rows that can't be read; `tables` is where to write them in full, and how."""
    remarks = []
    for name, cells, table in (
        ("sum up the decisions", study.decision_cells, "decisions"),
        ("sum up the flows", study.flow_cells, "flows"),
    ):
        with progress.step(name):
            remarks += _missing_rows(study, cells, table)
    remarks += _lost_rows(study)
    answers = {}
    for name, ask in ANSWERS.items():
        with progress.step(name):
            rows = ask(study)
            answers[name] = _first_rows(name, rows)
            if tables is not None:
                write_table(rows, tables[0] / f"{name}.{tables[1]}", tables[1])
    return answers, remarks


def _missing_rows(study: Study, cells: DataFrame, table: str) -> list[str]:
    """Compare how many rows there are with how many the files say: Spark passes over pages that are damaged."""
    row = cells.agg(F.sum("rows")).first()
    seen = int(row[0] or 0) if row else 0
    expected = study.records.whole_rows[table]
    if expected is None or seen >= expected:
        return []
    return [f"{expected - seen:,} of {expected:,} rows of {table} are in damaged parts of files, and were left out."]


def _lost_rows(study: Study) -> list[str]:
    """Say what recorders themselves could not keep."""
    lost = (
        study.events.where(F.col("kind") == "rows-lost")
        .groupBy("router")
        .agg(F.sum("number").alias("number"), F.max("detail").alias("detail"))
    )
    rows = lost.orderBy("router").collect()
    return [
        f"The recorder of {row['router']} could not keep {row['number'] or 0:,} rows ({row['detail'] or 'no reason'})."
        for row in rows
    ]


def _first_rows(name: str, rows: DataFrame) -> Answer:
    limit = _CHART_ROWS if name in _WHOLE else _ROWS
    some = rows.limit(limit + 1).collect()
    kept = tuple(row.asDict(recursive=True) for row in some[:limit])
    return Answer(tuple(rows.columns), kept, len(some) <= limit)
