"""What a worker records, from its loop to the files: switched on, changed and ended."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from routerd.config import RecordConfig, RecordLevel
from routerd.io.recording.courier import PENDING_ROWS_MAX, RecordCourier
from routerd.io.recording.courier_pool import HELPER_REST_S
from routerd.io.recording.recording import Recording
from tests.routers import Workers, message

WALL_CLOCK = 1_795_270_000.25


class Host:
    """A worker's recording, with a clock of its own."""

    def __init__(self, directory: Path) -> None:
        self.workers = Workers()
        self.wall_clock = WALL_CLOCK
        self.directory = directory
        self.recording = Recording(self.workers[0].router, 0, 3, lambda: self.wall_clock)

    @property
    def router(self) -> Any:
        return self.workers[0].router

    def apply(self, level: str = "all", **options: Any) -> None:
        # The files are of a fixed day, and are not too old on any.
        options = {"retention_s": 0.0, **options}
        config = RecordConfig(level=RecordLevel(level), directory=str(self.directory), **options)
        self.recording.apply(config, self.workers.now)

    def pass_second(self) -> None:
        self.wall_clock += 1.0
        self.workers.pump(1.0)
        self.recording.close_second(self.workers.now)

    def send(self, count: int) -> None:
        client = self.workers.client()
        client.consumer("orders", credit=100)
        sender = client.producer("orders")
        for _ in range(count):
            client.send(sender, message(), settled=True)
        client.leave()

    def close(self) -> None:
        self.recording.close(self.workers.now)
        self.recording.wait()

    def rows(self, table: str) -> list[dict[str, Any]]:
        paths = sorted((self.directory / table).rglob("*.parquet"))
        return [row for path in paths for row in parquet.ParquetFile(path).read().to_pylist()]


@pytest.fixture
def host(tmp_path: Path) -> Host:
    return Host(tmp_path)


def test_what_is_sent_is_in_the_files(host: Host) -> None:
    host.apply()
    host.send(5)
    host.pass_second()
    host.send(2)
    host.close()
    assert len(host.rows("decisions")) == 7
    seconds = [(round(row["time"].timestamp(), 6), row["messages"]) for row in host.rows("flows")]
    assert seconds == [(1_795_270_000.0, 5), (1_795_270_001.0, 2)]
    assert host.router.journal.recorder is None
    assert host.recording.counters.rows_written == 7 + 2 + len(host.rows("events"))


def test_nothing_is_recorded_before_it_is_switched_on(host: Host) -> None:
    host.recording.apply(RecordConfig(), host.workers.now)
    assert (host.router.journal.recorder, host.recording.status, host.recording.is_on) == (None, "off", False)
    host.recording.close_second(host.workers.now)
    host.recording.hand_over(host.workers.now)
    host.close()
    assert list(host.directory.iterdir()) == []


def test_the_level_can_be_changed(host: Host) -> None:
    host.apply("all")
    host.send(3)
    host.apply("flows")
    host.send(4)
    host.apply("sampled", sample=2)
    assert host.recording.status == "recording"
    host.send(4)
    host.apply("off")
    assert (host.router.journal.recorder, host.recording.status) == (None, "off")
    host.send(1)
    host.close()
    assert [row["weight"] for row in host.rows("decisions")] == [1, 1, 1, 2, 2]


def test_the_same_again_changes_nothing(host: Host) -> None:
    host.apply("all")
    recorder = host.router.journal.recorder
    host.apply("all")
    assert host.router.journal.recorder is recorder
    host.close()


def test_another_folder_has_what_comes_from_then_on(host: Host, tmp_path: Path) -> None:
    host.apply("all")
    host.send(3)
    host.directory = tmp_path / "other"
    host.apply("all")
    host.send(4)
    host.close()
    assert len(host.rows("decisions")) == 4
    assert len(list(tmp_path.glob("decisions/**/*.parquet"))) == 1


def test_what_is_not_written_quickly_enough_is_lost(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.apply("all")
    monkeypatch.setattr(RecordCourier, "submit", lambda courier, records: False)
    host.send(3)
    host.pass_second()
    lost = host.recording.counters.rows_lost
    assert lost > 3
    monkeypatch.undo()
    host.close()
    [told] = [row for row in host.rows("events") if row["kind"] == "rows-lost"]
    assert (told["number"], told["detail"]) == (lost, "files: they are written too slowly")


def test_one_that_falls_behind_is_helped(host: Host) -> None:
    host.apply("all")
    first = host.recording._couriers._first
    assert first is not None
    first.pending_rows = PENDING_ROWS_MAX
    host.send(3)
    host.pass_second()
    helper = host.recording._couriers._helper
    assert helper is not None
    assert (first.task.stands_back, helper.task.stands_back, host.recording.status) == (True, False, "recording")
    first.pending_rows = 0
    host.send(2)
    host.pass_second()
    for _ in range(int(HELPER_REST_S) + 1):
        host.pass_second()
    assert host.recording._couriers._helper is None
    helper.join(30.0)
    host.pass_second()
    host.close()
    found = [len(host.rows(table)) for table in ("decisions", "flows", "events")]
    assert (found[0], host.recording.counters.rows_lost) == (5, 0)
    assert host.recording.counters.rows_written == sum(found)


def test_what_the_recorder_does_not_keep_is_told(host: Host) -> None:
    host.apply("all")
    host.router.journal.recorder.events.lost = 5
    host.pass_second()
    host.pass_second()
    host.close()
    [told] = [row for row in host.rows("events") if row["kind"] == "rows-lost"]
    assert (told["number"], host.recording.counters.rows_lost) == (5, 5)


def test_a_second_ends_with_that_of_the_world(host: Host) -> None:
    assert host.recording.seconds_left(host.workers.now) == 0.75


def test_a_process_that_forwards_has_no_arrow() -> None:
    program = "import sys, routerd.io, routerd.io.recording.courier; print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
