"""Record files: complete or absent, small, and known by their ends."""

import os
import random
from datetime import UTC, datetime

import pytest

from routerd.records import DECISIONS, EVENTS, NotARecordFile, Place, RecordFile

pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

from routerd.records.parquet import RecordWriter, arrow_schema, read_footer, write_record_file  # noqa: E402

BEGIN_US = 1_795_270_800_000_000
FILE = RecordFile(Place.at("decisions", BEGIN_US, "A"), BEGIN_US, "w0.1", 1, 1)
MOST_BYTES_A_ROW = 24


def decisions(count: int, seed: int = 1) -> "pa.Table":
    """Return decisions as a busy router has them: other sizes, latencies and ids for each, 200 addresses."""
    drawn = random.Random(seed)
    rows = []
    at = BEGIN_US
    for _ in range(count):
        at += int(drawn.expovariate(1 / 400))
        address = f"orders.a{min(int(drawn.paretovariate(1)), 200)}"
        loads = [int(drawn.expovariate(1 / 5)) for _ in range(3)]
        choice = loads.index(min(loads))
        latency_us = int(drawn.expovariate(1 / 1500)) + 300
        rows.append(
            {
                "time": at,
                "address": address,
                "distribution": "balanced",
                "phase": 0,
                "priority": 4,
                "size_octets": int(drawn.lognormvariate(6, 1)),
                "ingress": f"{address}/sender",
                "ingress_kind": "client",
                "path": drawn.choice(["A", "B/A", "C/B/A"]),
                "hop": 0,
                "candidates": [
                    {"egress": f"{address}/worker-{n}", "cost": 0, "outstanding": load} for n, load in enumerate(loads)
                ],
                "choice": choice,
                "egress": f"{address}/worker-{choice}",
                "egress_kind": "client",
                "egress_router": "A",
                "outcome": "accepted" if drawn.random() > 0.002 else "rejected",
                "cause": None,
                "latency_us": latency_us,
                "weight": 100,
                "message_key": drawn.getrandbits(64) - 2**63,
            }
        )
    schema = pa.schema([pa.field(one.name, plain(one.type), one.nullable) for one in arrow_schema(DECISIONS)])
    return pa.Table.from_pylist(rows, schema).cast(arrow_schema(DECISIONS))


def plain(kind: "pa.DataType") -> "pa.DataType":
    """Return a type without dictionaries, which lists of Python can't be made into where they are nested."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_list(kind):
        return pa.list_(pa.struct([(one.name, plain(one.type)) for one in kind.value_type]))
    return kind


def test_a_file_has_what_was_written(tmp_path):
    rows = decisions(100)
    path = write_record_file(tmp_path, DECISIONS, FILE, rows)
    assert path == tmp_path / FILE.path
    assert parquet.ParquetFile(path).read().to_pylist() == rows.to_pylist()


def test_a_file_is_absent_until_it_is_complete(tmp_path):
    with RecordWriter(tmp_path, DECISIONS, FILE) as writer:
        writer.write(decisions(10))
        folder = tmp_path / FILE.place.folder
        assert os.listdir(folder) == [f".{FILE.name}.part"]
        writer.write(decisions(10, seed=2))
    assert os.listdir(folder) == [FILE.name]
    assert read_footer(folder / FILE.name).rows == 20


class Interrupted(Exception):
    """What happens in the middle of writing."""


def test_a_file_that_was_not_completed_leaves_nothing(tmp_path):
    def write() -> None:
        with RecordWriter(tmp_path, DECISIONS, FILE) as writer:
            writer.write(decisions(10))
            raise Interrupted

    with pytest.raises(Interrupted):
        write()
    assert os.listdir(tmp_path / FILE.place.folder) == []


def test_the_end_of_a_file_says_which_rows_it_has(tmp_path):
    rows = decisions(1000)
    path = write_record_file(tmp_path, DECISIONS, FILE, rows, replaces=["b", "a"])
    times = rows["time"].to_pylist()
    footer = read_footer(path)
    assert (footer.rows, footer.first, footer.last) == (1000, min(times), max(times))
    assert footer.size_bytes == path.stat().st_size
    assert footer.replaces == ("a", "b")


@pytest.mark.parametrize("part", [0.0, 0.3, 0.999])
def test_half_a_file_is_found_out(tmp_path, part):
    path = write_record_file(tmp_path, DECISIONS, FILE, decisions(100))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(NotARecordFile, match="damaged, or not all of it is there"):
        read_footer(path)


def test_an_event_keeps_the_costs_of_a_router(tmp_path):
    at = datetime(2026, 11, 21, 14, tzinfo=UTC)
    schema = arrow_schema(EVENTS)
    row = {"time": at, "kind": "link-state", "costs": [("B", 1), ("C", 10)]}
    rows = pa.table([pa.array([row.get(field.name)], field.type) for field in schema], schema)
    file = RecordFile(Place.at("events", BEGIN_US, "A"), BEGIN_US, "w0.1", 1, 1)
    path = write_record_file(tmp_path, EVENTS, file, rows)
    assert parquet.ParquetFile(path).read()["costs"].to_pylist() == [[("B", 1), ("C", 10)]]


def test_a_decision_takes_no_more_than_24_bytes(tmp_path):
    path = write_record_file(tmp_path, DECISIONS, FILE, decisions(50_000))
    assert path.stat().st_size / 50_000 <= MOST_BYTES_A_ROW
