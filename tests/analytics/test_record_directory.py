"""Records that are damaged, half, of several versions or not there at all: left out, and said."""

import os
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from analytics.errors import NoRecords, WrongPeriod
from analytics.record_directory import list_records
from analytics.records import open_records
from analytics.study import Study
from routerd.records import DECISIONS, FLOWS, Column, Kind, Table, aside
from tests.analytics.made_rows import BEGIN_US, made_world, write_rows

BEGIN = datetime(2026, 11, 21, 14, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def records(world, tmp_path):
    """A copy of the records to do damage to."""
    return shutil.copytree(world.directory, tmp_path / "records")


def file_of(records, table, at=0):
    return sorted((records / table).rglob("*.parquet"))[at]


def test_all_files_are_found(world):
    listing = list_records(world.directory)
    assert sum(one.footer.rows for one in listing.of("decisions")) == len(world.decisions)
    assert listing.remarks == ()


def test_half_a_file_is_left_out_and_named(world, records):
    path = file_of(records, "decisions")
    rows = next(one.footer.rows for one in list_records(records).of("decisions") if one.path == path)
    path.write_bytes(path.read_bytes()[:-200])
    listing = list_records(records)
    assert sum(one.footer.rows for one in listing.of("decisions")) == len(world.decisions) - rows
    assert listing.remarks == (f"1 files are damaged and were left out: {path.relative_to(records)}.",)


def test_a_file_that_is_being_written_is_none_yet(records):
    path = file_of(records, "flows")
    path.rename(path.with_name(aside(path.name)))
    assert list_records(records).remarks == ()


def test_what_is_no_record_is_passed_over_and_named(records):
    (file_of(records, "flows").parent / "notes.txt").write_text("x")
    assert "1 files are no records and were passed over, flows/day=" in list_records(records).remarks[0]


def test_rows_in_a_damaged_part_of_a_file_are_missed_and_said(spark, world, records):
    path = max((records / "decisions").rglob("*.parquet"), key=os.path.getsize)
    whole = bytearray(path.read_bytes())
    # The first page of a column of the file, which its end does not tell of.
    for at in range(40, 400):
        whole[at] ^= 0xFF
    path.write_bytes(bytes(whole))
    study = Study(spark, open_records(spark, records))
    rows = study.decision_cells.agg({"rows": "sum"}).first()[0]
    study.forget()
    assert 0 < rows < len(world.decisions)
    assert study.records.whole_rows["decisions"] == len(world.decisions)


def test_a_file_that_another_one_replaces_is_not_read_twice(spark, world, records):
    from analytics.compact import compact_folder

    found = [one for one in list_records(records).files if one.file.place == list_records(records).files[0].file.place]
    copy = file_of(records, found[0].file.place.table)
    second = copy.with_name(copy.name.replace("-w0.1-", "-w1.1-"))
    shutil.copy(copy, second)
    kept = second.read_bytes()
    both = [one for one in list_records(records).files if one.file.place == found[0].file.place]
    assert compact_folder(records, found[0].file.place, both) == 1
    # As if the run had been interrupted before the last one was deleted.
    second.write_bytes(kept)
    listing = list_records(records)
    assert listing.remarks == ("1 files were left out since compacted ones have their rows.",)
    assert sum(one.footer.rows for one in listing.files if one.file.place == found[0].file.place) == 2 * sum(
        one.footer.rows for one in found
    )


NEWER = Table("decisions", 2, "", (*DECISIONS.columns, Column("colour", Kind.NAME, "", is_optional=True, since=2)))
OLDER = Table(
    "flows", 0, "", tuple(replace(one, since=0) for one in FLOWS.columns if one.name not in ("dropped", "presettled"))
)


def test_files_of_several_versions_are_read_together(spark, world, records):
    decision = {**world.decisions[0], "colour": "red"}
    write_rows(records, NEWER, [decision], writer="new")
    write_rows(records, OLDER, [world.flows[0]], writer="old")
    read = open_records(spark, records)
    assert read.decisions.count() == len(world.decisions) + 1
    assert "colour" not in read.decisions.columns
    assert read.flows.where("dropped is null").count() == 1
    assert read.remarks == (
        "1 files of flows are of an older version: what they lack is taken for unknown.",
        "1 files of decisions are newer than version 1: what it added is not read.",
    )


def test_a_period_leaves_out_the_rest(spark, world):
    middle = BEGIN + HOUR / 2
    read = open_records(spark, world.directory, BEGIN, middle)
    expected = [row for row in world.decisions if row["time"] < BEGIN_US + 1_800_000_000]
    assert read.decisions.count() == len(expected)
    assert (read.begin, read.end) == (BEGIN, middle)
    assert read.whole_rows["decisions"] is None


def test_a_period_that_is_partly_empty_is_said_to_be(spark, world):
    read = open_records(spark, world.directory, BEGIN - 5 * HOUR, BEGIN + 9 * HOUR)
    assert read.decisions.count() == len(world.decisions)
    assert [one.partition(" of ")[0] for one in read.remarks] == ["There are no records", "There are no records"]


def test_a_table_without_files_has_no_rows(spark, world, records):
    shutil.rmtree(records / "events")
    read = open_records(spark, records)
    assert read.events.count() == 0
    assert read.remarks == ("There are no events.",)


def test_no_directory_is_said_to_be_none(tmp_path):
    with pytest.raises(NoRecords, match="nowhere is not a directory"):
        list_records(tmp_path / "nowhere")


def test_a_directory_without_records_is_told_by_what_it_has(tmp_path):
    with pytest.raises(NoRecords, match="has no records, but 0 other files"):
        list_records(tmp_path)


def test_an_empty_period_is_told_with_the_hours_that_there_are(world):
    with pytest.raises(WrongPeriod, match=r"of the hours 2026-11-21 14:00 to 2026-11-21 1[56]:59 UTC"):
        list_records(world.directory, BEGIN + 30 * HOUR, BEGIN + 40 * HOUR)


def test_a_period_that_ends_before_it_begins_is_refused(world):
    with pytest.raises(WrongPeriod, match="give --to a later time than --from"):
        list_records(world.directory, BEGIN, BEGIN - HOUR)


def test_records_of_which_all_are_damaged_are_none(tmp_path):
    made_world(tmp_path, messages=5)
    for path in tmp_path.rglob("*.parquet"):
        path.write_bytes(b"PAR1")
    with pytest.raises(WrongPeriod, match="files of the period are damaged"):
        list_records(tmp_path)


def test_events_are_read_with_their_costs(study, world):
    states = study.events.where("kind = 'link-state'").collect()
    assert {row["router"]: row["costs"] for row in states} == {
        row["router"]: row["costs"] for row in world.events if row["kind"] == "link-state"
    }
