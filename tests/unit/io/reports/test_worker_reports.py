"""Reports are complete, and messages pass while they are made."""

import asyncio
import pickle
from concurrent.futures import Future
from typing import Any

import pytest

from routerd.io.reports import worker_reports
from routerd.io.reports.reports import WorkerHost, address_rows, connection_rows, link_rows
from routerd.io.reports.worker_reports import WorkerReports
from tests.routers import Workers

LINKS = 30


@pytest.fixture
def workers() -> Workers:
    found = Workers()
    for number in range(3):
        client = found.client()
        for _ in range(LINKS // 3):
            client.consumer(f"orders.{number}", credit=5)
    return found


def made(workers: Workers, what: str, *, is_busy: bool = False) -> tuple[Any, int]:
    """What is reported, and how often somebody else had a turn meanwhile."""

    async def main() -> tuple[Any, int]:
        def start(coroutine: Any) -> "Future[Any]":
            return asyncio.ensure_future(coroutine)  # type: ignore[return-value]

        reports = WorkerReports(
            workers[0].router, WorkerHost("connection.0", 0.0), start, is_busy=lambda now: is_busy
        )
        turns = 0
        making: Any = getattr(reports, what)()
        while not making.done():
            await asyncio.sleep(0)
            turns += 1
        return making.result(), turns

    return asyncio.run(main())


@pytest.mark.parametrize("step_s", [0.0, 60.0], ids=["a row at a time", "all at once"])
@pytest.mark.parametrize(
    ("kind", "rows"), [("links", link_rows), ("connections", connection_rows), ("addresses", address_rows)]
)
def test_all_rows_are_there_in_either_form(
    workers: Workers, monkeypatch: pytest.MonkeyPatch, kind: str, rows: Any, step_s: float
) -> None:
    monkeypatch.setattr(worker_reports, "STEP_S", step_s)
    names = [(row.worker, row[1], row[2]) for row in rows(workers[0].router, workers.now)]
    plain, _ = made(workers, kind)
    packed, _ = made(workers, f"packed_{kind}")
    assert [(row.worker, row[1], row[2]) for row in plain] == names
    unpacked = [row for piece in packed for row in pickle.loads(piece)]
    assert [row[:3] for row in unpacked] == names
    assert {type(row) for row in unpacked} == {tuple}


def test_others_have_their_turn_after_each_step(workers: Workers, monkeypatch: pytest.MonkeyPatch) -> None:
    _, turns_at_once = made(workers, "packed_links")
    monkeypatch.setattr(worker_reports, "STEP_S", 0.0)
    for what in ("links", "packed_links"):
        assert made(workers, what)[1] >= LINKS > turns_at_once
    row, turns = made(workers, "counters")
    assert (row.links, row.connections) == (LINKS, 3)
    assert turns >= 3


def test_they_have_more_time_than_the_rows_where_messages_come_all_the_time(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    rests = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        if asyncio.current_task() is not main:
            rests.append(seconds)
        await sleep(0)

    class Clock:
        now = 0.0

        def monotonic(self) -> float:
            self.now += 0.25
            return self.now

    async def both() -> None:
        nonlocal main
        main = asyncio.current_task()
        for is_busy in (False, True):
            reports = WorkerReports(
                workers[0].router,
                WorkerHost("connection.0", 0.0),
                asyncio.ensure_future,  # type: ignore[arg-type]
                is_busy=lambda now, is_busy=is_busy: is_busy,
            )
            await reports.packed_links()  # type: ignore[misc]

    main: Any = None
    monkeypatch.setattr(worker_reports, "time", Clock())
    monkeypatch.setattr(worker_reports.asyncio, "sleep", noted)
    asyncio.run(both())
    assert {*rests[:LINKS]} == {0}
    assert {*rests[LINKS:]} == {worker_reports.RESTS * 0.25}
