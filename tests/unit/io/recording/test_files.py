"""Record files: complete or absent, by hour, rotated, and kept for a time."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyarrow import parquet

from routerd.core import RecordedEvent
from routerd.io.recording.files import IDLE_S, RecordFiles, Rotation, delete_expired, delete_left_over
from routerd.io.recording.groups import Events
from routerd.io.recording.task import GROUP_ROWS
from routerd.records import DECISIONS, Place, RecordFile, Table, aside
from routerd.records.file_format import GroupWriter

HOUR_US = 3_600_000_000
NOON_US = int(datetime(2026, 11, 21, 12, tzinfo=UTC).timestamp()) * 1_000_000
LIMITS = Rotation(60, 1 << 20)


def rows(*times_us: int) -> Events:
    return Events([RecordedEvent(time_us, "address-added", address="orders") for time_us in times_us])


def files(directory: Path, rotation: Rotation = LIMITS) -> RecordFiles:
    return RecordFiles(directory, "A/1", "w0.1", rotation)


def found(directory: Path) -> dict[str, int]:
    return {
        str(path.relative_to(directory)): parquet.read_metadata(path).num_rows
        for path in sorted(directory.rglob("*.parquet"))
    }


def test_a_file_is_there_when_it_is_complete(tmp_path: Path) -> None:
    written = files(tmp_path)
    written.add(rows(NOON_US, NOON_US + 5), 0.0)
    assert (written.pending_rows, list(tmp_path.rglob("*.parquet"))) == (2, [])
    [completed] = written.close()
    name = f"events/day=2026-11-21/hour=12/router=A%2F1/{NOON_US}-w0.1-000001.v1.parquet"
    assert found(tmp_path) == {name: 2}
    assert (completed.path, completed.rows) == (tmp_path / name, 2)
    assert completed.octets == (tmp_path / name).stat().st_size
    assert [path.name for path in tmp_path.rglob("*.part")] == []


def test_a_file_is_named_by_its_earliest_row_also_where_that_comes_late(tmp_path: Path) -> None:
    written = files(tmp_path)
    for times_us in ([NOON_US + 9], [NOON_US + 12, NOON_US + 5], [NOON_US + 7]):
        written.add(rows(*times_us), 0.0)
    [completed] = written.close()
    assert RecordFile.parse(str(completed.path.relative_to(tmp_path))).first_us == NOON_US + 5
    assert list(found(tmp_path).values()) == [4]
    assert [path.name for path in tmp_path.rglob("*.part")] == []


def test_each_hour_has_a_file_of_its_own(tmp_path: Path) -> None:
    written = files(tmp_path)
    written.add(rows(NOON_US + 7, NOON_US - 1, NOON_US + 3, NOON_US - 9), 0.0)
    assert [one.rows for one in written.close()] == [2, 2]
    assert sorted(found(tmp_path)) == [
        f"events/day=2026-11-21/hour=11/router=A%2F1/{NOON_US - 9}-w0.1-00000{number}.v1.parquet"
        if number == 2
        else f"events/day=2026-11-21/hour=12/router=A%2F1/{NOON_US + 3}-w0.1-00000{number}.v1.parquet"
        for number in (2, 1)
    ]


def test_many_rows_are_written_before_their_file_is_complete(tmp_path: Path) -> None:
    written = files(tmp_path, Rotation(60, 1))
    written.add(rows(*range(NOON_US, NOON_US + GROUP_ROWS)), 0.0)
    [part] = tmp_path.rglob(".*.part")
    assert part.stat().st_size > 1
    written.add(rows(NOON_US), 1.0)
    assert [one.rows for one in written.rotate(1.0)] == [GROUP_ROWS + 1]
    assert list(found(tmp_path).values()) == [GROUP_ROWS + 1]


@pytest.mark.parametrize(
    ("touched", "now", "count"), [(0.0, 14.0, 0), (0.0, 16.0, 1), (58.0, 59.0, 0), (58.0, 61.0, 1)]
)
def test_a_file_is_completed_in_time_or_when_it_gets_no_more(
    tmp_path: Path, touched: float, now: float, count: int
) -> None:
    assert IDLE_S < 14.0
    written = files(tmp_path)
    written.add(rows(NOON_US), 0.0)
    if touched:
        written.add(rows(NOON_US + 1), touched)
    assert len(list(written.rotate(now))) == count


def test_what_is_given_up_leaves_nothing(tmp_path: Path) -> None:
    written = files(tmp_path)
    written.add(rows(*range(NOON_US, NOON_US + GROUP_ROWS)), 0.0)
    written.add(rows(NOON_US + HOUR_US), 0.0)
    assert written.give_up() == GROUP_ROWS + 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert written.pending_rows == 0


def complete(directory: Path, hours: int, router: str = "A", size: int = 100) -> Path:
    file = RecordFile(Place.at(DECISIONS.name, NOON_US + hours * HOUR_US, router), NOON_US, "w0.1", hours, 1)
    path = directory / RecordFile(file.place, NOON_US + hours * HOUR_US, "w0.1", hours, 1).path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(size))
    return path


def test_old_files_of_the_router_are_deleted(tmp_path: Path) -> None:
    old, new = complete(tmp_path, 0), complete(tmp_path, 30)
    others = complete(tmp_path, 0, "B")
    now_us = NOON_US + 31 * HOUR_US
    assert delete_expired(tmp_path, "A", now_us, 24 * 3600, 0) == 1
    assert (old.exists(), new.exists(), others.exists()) == (False, True, True)
    assert not old.parent.exists()
    assert delete_expired(tmp_path, "A", now_us, 0, 0) == 0


def test_of_too_many_the_oldest_are_deleted(tmp_path: Path) -> None:
    made = [complete(tmp_path, number) for number in range(4)]
    (made[0].parent / "of somebody else").write_text("stays")
    assert delete_expired(tmp_path, "A", NOON_US, 0, 250) == 2
    assert [path.exists() for path in made] == [False, False, True, True]
    assert made[0].parent.exists()


def test_a_router_with_an_odd_name_finds_its_files(tmp_path: Path) -> None:
    path = complete(tmp_path, 0, "[a]*?")
    complete(tmp_path, 0, "aXY")
    assert delete_expired(tmp_path, "[a]*?", NOON_US + HOUR_US, 60, 0) == 1
    assert not path.exists()


def test_what_an_earlier_incarnation_has_begun_is_deleted(tmp_path: Path) -> None:
    folder = complete(tmp_path, 0).parent
    names = [f"{NOON_US}-w{writer}-000001.v1.parquet" for writer in ("0.1", "0.2", "1.1")]
    for name in names:
        (folder / aside(name)).write_bytes(b"half")
    delete_left_over(tmp_path, "A", "w0.")
    assert [(folder / aside(name)).exists() for name in names] == [False, False, True]


def test_a_file_that_is_deleted_before_it_is_claimed_is_begun_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[Path] = []

    class Overtaken(GroupWriter):
        def __init__(self, directory: Path, table: Table, file: RecordFile) -> None:
            super().__init__(directory, table, file)
            begun.append(self.aside)
            if len(begun) == 1:
                delete_left_over(tmp_path, "A/1", "w0.")

    monkeypatch.setattr("routerd.io.recording.files.GroupWriter", Overtaken)
    written = files(tmp_path)
    written.add(rows(NOON_US, NOON_US + 5), 0.0)
    assert [one.rows for one in written.close()] == [2]
    assert (len(begun), list(found(tmp_path).values()), list(tmp_path.rglob("*.part"))) == (2, [2], [])


def test_what_another_writer_is_at_is_not_left_over(tmp_path: Path) -> None:
    written = files(tmp_path)
    written.add(rows(*range(NOON_US, NOON_US + GROUP_ROWS)), 0.0)
    assert len(list(tmp_path.rglob("*.part"))) == 1
    delete_left_over(tmp_path, "A/1", "w0.")
    [completed] = written.close()
    assert (completed.rows, list(tmp_path.rglob("*.part"))) == (GROUP_ROWS, [])
    written.add(rows(*range(NOON_US, NOON_US + GROUP_ROWS)), 0.0)
    assert written.give_up() == GROUP_ROWS
