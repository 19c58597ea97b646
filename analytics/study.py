"""Asks the questions of the records of one period, and shares between them what several of them need."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from analytics import questions
from analytics.errors import UnknownName
from analytics.questions.clocks import ROWS
from analytics.records import Records
from analytics.topology import Topology, clocks_ahead, topology

_EXACT_ROWS = 1_000_000


@dataclass(frozen=True)
class Study:
    """The records of a period, and the answers to be had from them."""

    spark: SparkSession
    records: Records
    capacity_octets_s: float | None = None
    """What a trunk can carry, if that is known."""

    @cached_property
    def decision_cells(self) -> DataFrame:
        """Decisions, summed where they are alike."""
        return questions.decision_cells(self.records.decisions).persist(StorageLevel.MEMORY_AND_DISK)

    @cached_property
    def flow_cells(self) -> DataFrame:
        """Flows, summed by the hour."""
        return questions.flow_cells(self.records.flows).persist(StorageLevel.MEMORY_AND_DISK)

    @cached_property
    def events(self) -> DataFrame:
        """Events, which several questions look at."""
        return self.records.events.persist(StorageLevel.MEMORY_AND_DISK)

    @cached_property
    def decisions_or_cells(self) -> DataFrame:
        """Decisions where they are few, so that percentiles are exact; else the cells."""
        rows = self.records.whole_rows["decisions"]
        if rows is not None and rows <= _EXACT_ROWS:
            return self.records.decisions
        return self.decision_cells

    @cached_property
    def clock_rows(self) -> list[tuple[str, str, int]]:
        """How far clocks are apart, for each trunk."""
        return [(row["earlier"], row["later"], row["ahead_us"]) for row in self.clocks().collect()]

    @cached_property
    def ahead_us(self) -> dict[str, int]:
        """The routers whose clocks are not like those of the others, and how far they are ahead."""
        return clocks_ahead(self.clock_rows)

    @cached_property
    def topology(self) -> Topology:
        """How the network changed."""
        return topology(self.events, self.ahead_us)

    def matrix(self, by: str = "routers") -> DataFrame:
        """From which router to which."""
        return questions.matrix(self.flow_cells, by)

    def talkers(self, top: int = 10) -> DataFrame:
        """The addresses, senders and consumers with most messages."""
        return questions.talkers(self.flow_cells, top)

    def latency(self, by: str = "address") -> DataFrame:
        """Percentiles of the time until the outcome."""
        return questions.latency(self.decisions_or_cells, by)

    def outcomes(self, seconds: int | None = None) -> DataFrame:
        """What became of messages over time."""
        if seconds is None:
            seconds = slot_for(self.records.duration_s)
        return questions.outcomes(self.flow_cells if seconds % 3600 == 0 else self.records.flows, seconds)

    def undeliverables(self) -> DataFrame:
        """Which messages were not delivered, and why."""
        return questions.undeliverables(self.decision_cells)

    def balance(self) -> DataFrame:
        """How the messages of an address are shared among consumers."""
        return questions.balance(self.decisions_or_cells, self.events)

    def stretch(self) -> DataFrame:
        """Paths against the best of their time; the time of a router whose clock is wrong is put right."""
        decisions = self.records.decisions
        if self.ahead_us:
            apart = [F.when(F.col("router") == name, F.lit(ahead)) for name, ahead in self.ahead_us.items()]
            right = F.timestamp_micros(F.unix_micros("time") - F.coalesce(*apart, F.lit(0)))
            decisions = decisions.withColumn("time", right)
        return questions.stretch(self.spark, decisions, self.topology)

    def trunks(self) -> DataFrame:
        """How busy trunks are."""
        return questions.trunks(self.records.flows, self.records.duration_s, self.capacity_octets_s)

    def stalls(self) -> DataFrame:
        """Where messages waited for credit."""
        return questions.stalls(self.events, self.records.duration_s)

    def churn(self) -> DataFrame:
        """What comes and goes."""
        return questions.churn(self.events)

    def anomalies(self) -> DataFrame:
        """Hours unlike those of the days before."""
        return questions.anomalies(self.flow_cells)

    def clocks(self) -> DataFrame:
        """By how much clocks disagree."""
        rows = self.records.whole_rows["decisions"] or 0
        return questions.clocks(self.records.decisions, max(1, rows // ROWS))

    def audit(self, message: str | None = None, address: str | None = None, at: datetime | None = None) -> DataFrame:
        """One decision in full; raises UnknownName."""
        if address is not None:
            self.check_address(address)
        found = questions.audit(self.records.decisions, message=message, address=address, at=at)
        if message is not None and found.isEmpty():
            raise UnknownName("message", message, ["no way to list them: only one in so many decisions is recorded"])
        return found

    def check_address(self, address: str) -> None:
        """Raise UnknownName if nothing was recorded of an address."""
        if self.records.flows.where(F.col("address") == address).isEmpty():
            names = self.flow_cells.select("address").distinct().orderBy("address").limit(50).collect()
            raise UnknownName("address", address, [row[0] for row in names])

    def forget(self) -> None:
        """Give back what is kept in memory."""
        for name in ("decision_cells", "flow_cells", "events"):
            if name in self.__dict__:
                self.__dict__[name].unpersist()


def slot_for(duration_s: float) -> int:
    """Return the span of time, in seconds, that divides a period into a number of points that a chart can show."""
    for seconds in (1, 10, 60, 600, 3600):
        if duration_s / seconds <= 200:
            return seconds
    return 3600 * max(1, round(duration_s / 3600 / 200))


QUESTIONS: dict[str, Callable[..., DataFrame]] = {
    "matrix": Study.matrix,
    "talkers": Study.talkers,
    "latency": Study.latency,
    "outcomes": Study.outcomes,
    "undeliverables": Study.undeliverables,
    "balance": Study.balance,
    "stretch": Study.stretch,
    "trunks": Study.trunks,
    "stalls": Study.stalls,
    "churn": Study.churn,
    "anomalies": Study.anomalies,
    "clocks": Study.clocks,
    "audit": Study.audit,
}
"""Every question by its name."""
