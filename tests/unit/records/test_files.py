"""Where the files of records lie, and what they are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.records import NotARecordFile, Place, RecordFile, aside, is_aside

HOUR_US = 3_600_000_000


def test_a_file_lies_by_table_day_hour_and_router():
    place = Place.at("decisions", 1_795_270_800_000_000 + 5, "A")
    file = RecordFile(place, 1_795_270_800_000_005, "w0.1", 7, 1)
    assert file.path == "decisions/day=2026-11-21/hour=14/router=A/1795270800000005-w0.1-000007.v1.parquet"


@given(
    time_us=st.integers(0, 4_000_000_000_000_000),
    router=st.text(min_size=1),
    writer=st.from_regex(r"[A-Za-z0-9.]+", fullmatch=True),
    sequence=st.integers(0, 10**9),
)
def test_a_file_is_found_again_by_its_path(time_us, router, writer, sequence):
    file = RecordFile(Place.at("flows", time_us, router), time_us, writer, sequence, 3)
    assert RecordFile.parse(file.path) == file


@given(time_us=st.integers(0, 4_000_000_000_000_000))
def test_a_row_lies_in_the_hour_of_its_time(time_us):
    begins_us = Place.at("flows", time_us, "A").begins_us
    assert begins_us <= time_us < begins_us + HOUR_US


@pytest.mark.parametrize(
    "path",
    [
        "flows/day=2026-11-21/hour=15/router=A/x.parquet",
        "flows/day=2026-11-21/router=A/1-w-1.v1.parquet",
        "1-w-1.v1.parquet",
        "flows/day=2026-11-21/hour=15/router=A/.1-w-1.v1.parquet.part",
    ],
)
def test_what_is_no_record_file_is_refused_by_name(path):
    with pytest.raises(NotARecordFile):
        RecordFile.parse(path)


def test_a_file_that_is_not_complete_is_known_by_its_name():
    assert is_aside(aside("1-w-1.v1.parquet"))
    assert not is_aside("1-w-1.v1.parquet")
