"""The thread that has records written by another process: what that takes, and what becomes of it when it dies."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from routerd.config import RecordConfig, RecordLevel
from routerd.core import RecordedEvent, Records
from routerd.io.recording import courier as recording_courier
from routerd.io.recording.courier import PENDING_ROWS_MAX, RecordCourier
from routerd.io.recording.line import Line
from routerd.io.recording.parcels import Packer
from routerd.io.recording.process import USAGE
from routerd.io.recording.task import RecordTask
from tests.waiting import WITHIN_S, eventually

NOW_US = 1_795_270_000_000_000


class Desk:
    """A courier, and what it has done."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.courier = RecordCourier(task_for(directory))
        self.counters = self.courier.counters

    def submit(self, rows: int) -> bool:
        return self.courier.submit(records_of(rows))

    def close(self) -> None:
        self.courier.end()
        self.courier.join(WITHIN_S)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    found = Desk(tmp_path)
    yield found
    found.close()


def task_for(directory: Path) -> RecordTask:
    config = RecordConfig(level=RecordLevel.ALL, directory=str(directory), rotate_s=3600)
    return RecordTask(config=config, router_id="A", worker=2, incarnation=17)


def records_of(rows: int) -> Records:
    return Records(1, events=[RecordedEvent(NOW_US, "address-added", address="orders")] * rows)


def rows_in(directory: Path) -> list[dict[str, Any]]:
    paths = sorted(directory.rglob("*.parquet"))
    return [row for path in paths for row in parquet.ParquetFile(path).read().to_pylist()]


def test_the_task_names_the_files(desk: Desk) -> None:
    assert (desk.courier.task.writer_prefix, desk.courier.task.writer) == ("w2.", "w2.11")


def test_it_takes_no_more_than_it_can_keep(desk: Desk) -> None:
    assert desk.submit(10)
    desk.courier.pending_rows = PENDING_ROWS_MAX
    assert not desk.submit(10)
    desk.close()
    assert (desk.counters.rows_written, desk.counters.files_written) == (10, 1)
    assert len(rows_in(desk.directory)) == 10


def test_what_a_process_that_is_killed_had_is_lost_and_another_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording_courier, "RESTART_S", 0.0)
    desk.submit(10)
    first = eventually(lambda: desk.counters.rows_pending == 10 and desk.courier.process_id, "ten rows are under way")
    os.kill(first, signal.SIGKILL)
    eventually(lambda: desk.courier.process_id not in (first, None), "there is another process")
    assert (desk.counters.rows_lost, desk.counters.errors) == (10, 1)
    desk.submit(4)
    desk.close()
    assert desk.courier.status == "recording"
    found = [(row["kind"], row["number"], row["detail"]) for row in rows_in(desk.directory)]
    lost = ("rows-lost", 10, "the process that writes them was killed")
    assert sorted(found) == [("address-added", None, None)] * 4 + [lost]
    assert list(desk.directory.rglob("*.part")) == []


def test_while_there_is_no_process_it_says_why(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording_courier, "RESTART_S", 2 * WITHIN_S)
    os.kill(eventually(lambda: desk.courier.process_id, "there is a process"), signal.SIGKILL)
    said = "stopped: the process that writes has ended: signal SIGKILL"
    eventually(lambda: desk.courier.status == said, f"the status is: {said}")
    desk.submit(3)
    # Whoever ends the recording does not wait for the time to be over.
    desk.close()
    assert len(rows_in(desk.directory)) == 3


def test_a_process_that_is_killed_at_the_end_does_not_keep_the_courier(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.submit(2)
    process = eventually(lambda: desk.counters.rows_pending == 2 and desk.courier.process_id, "two rows are under way")
    end = Line.end

    def kill_first(line: Line) -> None:
        monkeypatch.setattr(Line, "end", end)
        os.kill(process, signal.SIGKILL)
        end(line)

    monkeypatch.setattr(Line, "end", kill_first)
    desk.close()
    assert desk.courier.has_ended
    assert [row["number"] for row in rows_in(desk.directory)] == [2]


def test_who_interrupts_the_router_does_not_interrupt_the_writing(desk: Desk) -> None:
    desk.submit(5)
    process = eventually(lambda: desk.counters.rows_pending == 5 and desk.courier.process_id, "five rows are under way")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(process, number)
    desk.close()
    assert (desk.counters.rows_written, desk.counters.errors) == (5, 0)


def test_a_process_that_fails_says_why(desk: Desk) -> None:
    desk.courier.submit(Records(1, events=[None]))  # type: ignore[list-item]
    desk.courier.join(WITHIN_S)
    assert (desk.counters.errors, desk.counters.rows_lost, desk.courier.status) == (
        *(1, 1),
        "recording has ended: 'NoneType' object has no attribute 'time_us'",
    )
    desk.submit(1)


def test_what_was_handed_over_is_written_when_the_worker_is_killed(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "routerd.io.recording.process", str(theirs.fileno()), "A/2"]
    with theirs, subprocess.Popen(command, pass_fds=[theirs.fileno()]) as process:
        theirs.close()
        line = Line(ours)
        line.send(task_for(tmp_path))
        line.send(*Packer().pack(records_of(6)))
        line.receive()
        assert rows_in(tmp_path) == []
        line.close()
        assert process.wait(WITHIN_S) == 0
    assert len(rows_in(tmp_path)) == 6


def test_a_process_whose_worker_has_gone_before_it_came_ends() -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        command = [sys.executable, "-m", "routerd.io.recording.process", str(theirs.fileno())]
        assert subprocess.run(command, pass_fds=[theirs.fileno()], timeout=WITHIN_S, check=False).returncode == 0


@pytest.mark.parametrize("arguments", [(), ("router",), ("9999",)])
def test_it_is_not_for_being_started_by_hand(arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "routerd.io.recording.process", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S, check=False)
    assert (done.returncode, done.stderr) == (1, f"{USAGE}\n")
