"""How records are written: what becomes of them when they can't be, and when they can again."""

from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from routerd.config import RecordConfig, RecordLevel
from routerd.core import RecordedEvent, Records
from routerd.io.logs.levels import Level
from routerd.io.recording.task import GROUP_ROWS, RecordTask
from routerd.io.recording.writer import EXPIRY_S, KEEP_FREE, RETRY_S, ROOM_S, RecordWriting

NOW_US = 1_795_270_000_000_000


class Desk:
    """A writer whose clock and disk are the test's."""

    def __init__(self, directory: Path, worker: int = 0, **config: Any) -> None:
        self.free = 1 << 40
        self.now = 100.0
        settings = RecordConfig(level=RecordLevel.ALL, directory=str(directory), **{"rotate_s": 10, **config})
        task = RecordTask(config=settings, router_id="A", worker=worker, incarnation=1)
        self.writing = RecordWriting(task, clock=lambda: NOW_US / 1e6, free=lambda path: self.free)
        self.counters = self.writing.counters

    def step(self, rows: int = 0, seconds: float = 0.0) -> str:
        """Let time pass, and write so many events; return how it fares."""
        self.now += seconds
        events = [RecordedEvent(NOW_US + number, "address-added", address="orders") for number in range(rows)]
        self.writing.step(Records(1, events=events) if rows else None, self.now)
        return self.writing.status

    def counts(self, *names: str) -> tuple[int, ...]:
        return tuple(self.counters.as_map()[name] for name in names)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "records")


def rows_in(directory: Path) -> list[dict[str, Any]]:
    paths = sorted(directory.rglob("*.parquet"))
    return [row for path in paths for row in parquet.ParquetFile(path).read().to_pylist()]


def test_rows_are_counted_when_their_file_is_complete(desk: Desk, tmp_path: Path) -> None:
    desk.step(3)
    assert desk.counts("rows_written", "rows_pending", "files_written") == (0, 3, 0)
    desk.step(seconds=11)
    [path] = tmp_path.rglob("*.parquet")
    assert desk.counts("rows_written", "rows_pending", "files_written") == (3, 0, 1)
    assert desk.counters.octets_written == path.stat().st_size


def test_what_is_written_at_once_is_not_taken_for_what_an_earlier_writer_left(desk: Desk) -> None:
    desk.step(GROUP_ROWS)
    assert desk.step(seconds=11) == "recording"
    assert desk.counts("rows_written", "rows_lost", "files_written", "errors") == (GROUP_ROWS, 0, 1, 0)


def test_a_file_that_vanishes_is_lost_and_recording_goes_on(desk: Desk, tmp_path: Path) -> None:
    desk.step(GROUP_ROWS)
    [path] = tmp_path.rglob("*.part")
    path.unlink()
    assert desk.step(seconds=11).startswith("stopped: ")
    assert desk.counts("rows_written", "rows_lost", "errors") == (0, GROUP_ROWS, 1)
    assert desk.step(2, seconds=RETRY_S) == "recording"


def test_a_full_disk_stops_recording_until_there_is_room(desk: Desk, tmp_path: Path) -> None:
    desk.step(3)
    desk.free = KEEP_FREE - 1
    said = desk.step(2, seconds=ROOM_S)
    assert said == f"stopped: {tmp_path}/records: no space left but 32767 KiB, which others may need"
    desk.step(4, seconds=RETRY_S - 1)
    assert desk.counts("rows_lost", "rows_pending", "errors") == (9, 0, 1)
    desk.step(1, seconds=1.5)
    assert desk.counts("rows_lost", "errors") == (10, 2)
    desk.free = 1 << 40
    assert desk.step(5, seconds=RETRY_S) == "recording"
    desk.writing.finish()
    assert desk.writing.remarks == [
        (Level.ERROR, f"Recording stops until files can be written again, forwarding goes on: {said[9:]}"),
        (Level.NOTICE, "Recording goes on; 10 rows were lost"),
    ]
    lost = RecordedEvent(NOW_US, "rows-lost", number=10)
    found = [(row["kind"], row["number"]) for row in rows_in(tmp_path)]
    assert found == [(lost.kind, lost.number)] + [("address-added", None)] * 5
    assert desk.counters.rows_lost == 10


def test_a_folder_that_cannot_be_written_stops_recording_too(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "records").write_text("a file where the folder should be")
    assert desk.step(2).startswith("stopped: ")
    desk.step(1, seconds=RETRY_S)
    assert desk.counts("rows_lost", "errors") == (3, 2)
    (tmp_path / "records").unlink()
    assert desk.step(4, seconds=RETRY_S) == "recording"
    desk.writing.finish()
    assert desk.counters.rows_written == 5


def test_what_cannot_be_completed_is_lost(desk: Desk, tmp_path: Path) -> None:
    desk.step(2)
    for folder in sorted(tmp_path.rglob("*"), reverse=True):
        folder.rmdir()
    (tmp_path / "records").write_text("in the way")
    desk.writing.finish()
    assert desk.counts("rows_lost", "rows_pending", "errors") == (2, 0, 1)


def test_one_worker_deletes_what_is_too_old(tmp_path: Path) -> None:
    for worker, count in ((1, 0), (0, 1)):
        desk = Desk(tmp_path, worker=worker, retention_s=3600)
        folder = tmp_path / "events/day=2026-01-01/hour=00/router=A"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{NOW_US - 7_200_000_000}-w0.1-000001.v1.parquet").write_bytes(b"old")
        desk.step()
        assert desk.counters.files_deleted == count
        desk.step(seconds=EXPIRY_S)
