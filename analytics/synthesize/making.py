"""Writes made-up records, hour by hour, as a job of Spark."""

import json
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import SparkSession

from analytics.synthesize.columns import decisions_at, flows_at, messages_of
from analytics.synthesize.events import events_at
from analytics.synthesize.flavours import batches
from analytics.synthesize.plan import HOUR_S, Plan, Planted
from routerd.records import DECISIONS, EVENTS, FLOWS, Place, RecordFile, Table
from routerd.records.parquet import RecordWriter

PLANTED = "planted.json"


def synthesize(spark: SparkSession, directory: Path, plan: Plan) -> tuple[Planted, int]:
    """Write the records of a plan: the faults that are in them, and how many decisions there are."""
    directory.mkdir(parents=True, exist_ok=True)

    def write(some: Iterable[int]) -> Iterator[int]:
        for hour in some:
            yield write_hour(directory, plan, hour)

    rows = spark.sparkContext.parallelize(plan.hours, len(plan.hours)).mapPartitions(write).sum()
    (directory / PLANTED).write_text(json.dumps(asdict(plan.planted), indent=2) + "\n")
    return plan.planted, int(rows)


def write_hour(directory: Path, plan: Plan, hour: int) -> int:
    """Write what all routers record of the messages that enter in an hour: how many decisions."""
    count = 0
    with ExitStack() as stack:
        files = _HourFiles(directory, f"w0.{plan.hours.index(hour)}", stack)
        for at, origin in enumerate(plan.router_ids):
            seed = plan.seed * 1_000_003 + (plan.hours.index(hour) * plan.routers + at) * 101
            messages = messages_of(batches(plan, hour, origin), seed)
            for number, router in enumerate(plan.router_ids):
                decisions = decisions_at(plan, messages, router, seed + 10 + number)
                count += decisions.num_rows
                files.write(DECISIONS, router, decisions)
                files.write(FLOWS, router, flows_at(plan, messages, router))
            files.write(EVENTS, origin, events_at(plan, hour, origin))
    return count


class _HourFiles:
    """The files that one hour needs: one for each table and router, and more where a clock is ahead."""

    def __init__(self, directory: Path, writer: str, stack: ExitStack) -> None:
        self._directory = directory
        self._writer = writer
        self._stack = stack
        self._open: dict[Place, RecordWriter] = {}

    def write(self, table: Table, router: str, rows: pa.Table) -> None:
        """Write rows that are in the order of time."""
        times = rows["time"].cast(pa.int64())
        while rows.num_rows:
            first_us = times[0].as_py()
            place = Place.at(table.name, first_us, router)
            count = pc.sum(pc.less(times, place.begins_us + HOUR_S * 1_000_000)).as_py()
            if place not in self._open:
                file = RecordFile(place, first_us, self._writer, 1, table.version)
                self._open[place] = self._stack.enter_context(RecordWriter(self._directory, table, file))
            self._open[place].write(rows.slice(0, count))
            rows, times = rows.slice(count), times.slice(count)
