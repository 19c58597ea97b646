"""Small files put together, and results kept up to date while files come in."""

import json
import shutil
from datetime import UTC, datetime

import pytest

from analytics.compact import compact
from analytics.errors import NoRecords
from analytics.record_directory import list_records
from analytics.records import open_records
from analytics.stream import HOURLY, keep_up_to_date
from tests.analytics.made_rows import made_world

LATER = datetime(2026, 11, 22, tzinfo=UTC)
LAST_HOUR = "hour=15"


@pytest.fixture
def records(tmp_path):
    """The records of two writers, so that each hour has two files of each table."""
    first = made_world(tmp_path / "records", seed=3, messages=80)
    second = made_world(tmp_path / "other", seed=4, messages=80)
    for path in second.directory.rglob("*.parquet"):
        place = first.directory / path.relative_to(second.directory)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place.with_name(place.name.replace("-w0.1-", "-w1.1-")))
    return first.directory


def content(spark, directory):
    read = open_records(spark, directory)
    return [sorted(map(str, rows.collect())) for rows in (read.flows, read.decisions, read.events)]


def test_files_of_past_hours_are_put_together_and_no_row_is_lost(spark, records):
    before = content(spark, records)
    files = len(list(records.rglob("*.parquet")))
    done = compact(spark, records, LATER)
    assert (done.files_before, done.files_after) == (files, done.folders)
    assert len(list(records.rglob("*.parquet"))) == done.folders
    assert content(spark, records) == before


def test_what_is_put_together_stays_so(spark, records):
    compact(spark, records, LATER)
    assert compact(spark, records, LATER).folders == 0


def test_an_hour_that_is_not_over_is_left_alone(spark, records):
    files = len(list(records.rglob("*.parquet")))
    assert compact(spark, records, datetime(2026, 11, 21, 14, 30, tzinfo=UTC)).folders == 0
    assert len(list(records.rglob("*.parquet"))) == files


def test_a_damaged_file_is_left_where_it_is(spark, records):
    path = next(iter(sorted(records.rglob("*.parquet"))))
    path.write_bytes(path.read_bytes()[:-9])
    assert compact(spark, records, LATER).left_out == 1
    assert path.exists()


def test_compacting_needs_a_directory(spark, tmp_path):
    with pytest.raises(NoRecords):
        compact(spark, tmp_path / "nowhere", LATER)


def test_hours_with_new_files_are_worked_out_anew_and_others_are_not(spark, records, tmp_path):
    results = tmp_path / "results"
    moved = [path for path in records.rglob("*.parquet") if "-w1.1-" in path.name and LAST_HOUR in path.parts]
    for path in moved:
        path.rename(path.with_suffix(".later"))
    for path in [one.with_suffix(".later") for one in moved]:
        path.rename(tmp_path / f"{path.parent.relative_to(records).as_posix().replace('/', '!')}!{path.name}")
    said = []
    keep_up_to_date(spark, records, results, form="json", say=said.append)
    hours = sorted({(one.file.place.day, one.file.place.hour) for one in list_records(records).files})
    assert said == [f"{day} {hour}:00: {len(HOURLY)} results" for day, hour in hours]
    first = messages(results)
    assert first == sum(row["messages"] for row in entered(spark, records))

    for path in tmp_path.glob("*.later"):
        path.rename(records / path.name.replace("!", "/").replace(".later", ".parquet"))
    said.clear()
    keep_up_to_date(spark, records, results, form="json", say=said.append)
    assert said == [f"2026-11-21 15:00: {len(HOURLY)} results"]
    assert messages(results) == sum(row["messages"] for row in entered(spark, records)) > first

    said.clear()
    keep_up_to_date(spark, records, results, form="json", say=said.append)
    assert said == []


def messages(results):
    rows = [json.loads(line) for path in (results / "outcomes").iterdir() for line in path.read_text().splitlines()]
    return sum(row["messages"] for row in rows)


def entered(spark, records):
    return open_records(spark, records).flows.where("ingress_kind = 'client'").collect()
