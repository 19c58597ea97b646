"""The octets of columns, as Arrow reads them."""

import random
from array import array
from pathlib import Path

import pytest

from routerd.records import EVENTS, FLOWS, Column, Kind, Place, RecordFile, Table
from routerd.records.file_format import (
    INT64,
    TABLE_KEY,
    GroupWriter,
    constant,
    differences,
    numeric,
    packed,
    page_of_texts,
    pages_of_column,
    wide,
)

parquet = pytest.importorskip("pyarrow.parquet")

PLAIN = Table("plain", 1, "Numbers.", (Column("number", Kind.LARGE, "one"),))
FILE = RecordFile(Place.at("plain", 0, "R"), 0, "w0.1", 1, 1)


def written(directory: Path, *pages, table: Table = PLAIN, name: str = "number") -> Path:
    writer = GroupWriter(directory, table, FILE)
    for page in pages:
        writer.write({name: page}, page.count)
    writer.complete()
    return directory / FILE.path


@pytest.mark.parametrize(
    "values",
    [
        [5],
        [-1, -1, -1],
        [0, 1],
        [2**62, -(2**62), 0, 2**62],
        [2**63 - 1, 2**63 - 2, 5],
        list(range(1000)),
        [at // 100 * 37 for at in range(1000)],
        [0] * 128 + [1],
        [0] * 129 + [2**40] + [0] * 31,
    ],
)
def test_numbers_are_read_as_they_were_written(tmp_path: Path, values: list[int]) -> None:
    view = memoryview(array("q", values))
    pages = numeric(view, len(values), INT64), wide(view, len(values))
    assert parquet.read_table(written(tmp_path, *pages))["number"].to_pylist() == 2 * values


@pytest.mark.parametrize("bits", range(63))
def test_differences_of_any_width(tmp_path: Path, bits: int) -> None:
    drawn = random.Random(bits)
    values = [drawn.getrandbits(bits) - (1 << bits >> 1) for _ in range(300)]
    page = numeric(memoryview(array("q", values)), len(values), INT64)
    assert parquet.read_table(written(tmp_path, page))["number"].to_pylist() == values


@pytest.mark.parametrize("entries", [1, 2, 3, 5, 17, 255, 256, 257, 5000])
def test_texts_of_any_number(tmp_path: Path, entries: int) -> None:
    drawn = random.Random(entries)
    texts = [f"ä{drawn.randrange(entries)}" for _ in range(2 * entries)]
    table = Table("texts", 1, "Texts.", (Column("text", Kind.NAME, "one"),))
    path = written(tmp_path, page_of_texts(texts), page_of_texts(["b"] * 9), table=table, name="text")
    assert parquet.read_table(path)["text"].to_pylist() == texts + ["b"] * 9


def test_names_that_come_again_and_again_are_compressed(tmp_path: Path) -> None:
    table = Table("texts", 1, "Texts.", (Column("text", Kind.NAME, "one"),))
    texts = [f"consumer-{number % 300}" for number in range(30_000)]
    path = written(tmp_path, page_of_texts(texts), page_of_texts(["a", "b"] * 99), table=table, name="text")
    metadata = parquet.read_metadata(path)
    many, few = (metadata.row_group(group).column(0) for group in range(2))
    assert (many.compression, few.compression) == ("GZIP", "UNCOMPRESSED")
    assert many.total_compressed_size * 4 < many.total_uncompressed_size
    assert few.total_compressed_size == few.total_uncompressed_size
    assert metadata.row_group(0).total_byte_size == many.total_uncompressed_size
    found = parquet.ParquetFile(path, page_checksum_verification=True).read()
    assert found["text"].to_pylist() == texts + ["a", "b"] * 99


@pytest.mark.parametrize(("count", "width"), [(1, 1), (8, 3), (9, 3), (100, 32), (5, 31)])
def test_numbers_side_by_side(count: int, width: int) -> None:
    drawn = random.Random(count)
    values = [drawn.getrandbits(width) for _ in range(count)]
    octets = packed(memoryview(array("q", values)), count, width)
    assert len(octets) == -(-count // 8) * width
    together = sum(value << (at * width) for at, value in enumerate(values))
    assert int.from_bytes(octets, "little") == together


def test_all_kinds_of_columns_may_lack_values(tmp_path: Path) -> None:
    values = {Kind.TIME: 7, Kind.NAME: "a", Kind.TEXT: "b", Kind.SMALL: -128, Kind.NUMBER: -5, Kind.LARGE: 1 << 62}
    columns = tuple(Column(kind.name.lower(), kind, "one", is_optional=True) for kind in values)
    table = Table("all", 1, "All.", columns)
    writer = GroupWriter(tmp_path, table, FILE)
    for missing in ([None, None], [None], []):
        pages = {}
        rows = 2 + len(missing)
        for column in columns:
            value = values[column.kind]
            pages |= pages_of_column(column, [value, *missing, value])
        writer.write(pages, rows)
    pages = {}
    for column in columns:
        pages |= pages_of_column(column, [None, None])
    writer.write(pages, 2)
    writer.complete()
    found = parquet.read_table(tmp_path / FILE.path)
    for column in columns:
        there = [None if one is None else one for one in found[column.name].to_pylist()]
        is_there = [one is not None for one in there]
        assert is_there == [True, False, False, True, True, False, True, True, True, False, False]
    assert set(found["small"].to_pylist()) == {-128, None}
    assert set(found["large"].to_pylist()) == {1 << 62, None}


def test_many_row_groups_are_one_file(tmp_path: Path) -> None:
    path = written(tmp_path, *(constant(number, 3, INT64) for number in range(300)))
    assert parquet.read_metadata(path).num_row_groups == 300
    assert parquet.read_table(path)["number"].to_pylist() == [number for number in range(300) for _ in range(3)]


def test_the_footer_says_which_table_it_is(tmp_path: Path) -> None:
    metadata = parquet.read_metadata(written(tmp_path, constant(1, 1, INT64)))
    assert metadata.metadata[TABLE_KEY] == b"plain"
    assert metadata.created_by.startswith("mobula version ")


def test_a_changed_octet_is_noticed(tmp_path: Path) -> None:
    view = memoryview(array("q", random.Random(1).sample(range(1 << 40), 500)))
    path = written(tmp_path, wide(view, 500))
    octets = bytearray(path.read_bytes())
    octets[2000] ^= 1
    path.write_bytes(octets)
    with pytest.raises(OSError, match=r"(?i)crc|checksum"):
        parquet.ParquetFile(path, page_checksum_verification=True).read()


def test_what_is_not_completed_leaves_nothing(tmp_path: Path) -> None:
    writer = GroupWriter(tmp_path, PLAIN, FILE)
    writer.write({"number": constant(1, 1, INT64)}, 1)
    assert writer.aside.exists()
    writer.discard()
    assert [one for one in tmp_path.rglob("*") if one.is_file()] == []


def test_a_later_version_of_a_table_has_more_columns(tmp_path: Path) -> None:
    table = Table("later", 2, "Later.", (*PLAIN.columns, Column("more", Kind.NAME, "more", since=2)))
    file = RecordFile(Place.at("later", 0, "R"), 0, "w0.1", 1, 2)
    writer = GroupWriter(tmp_path, table, file)
    pages = {"number": constant(1, 2, INT64)} | pages_of_column(table.columns[1], [None, "x"])
    writer.write(pages, 2)
    writer.complete()
    assert parquet.read_table(tmp_path / file.path).to_pylist() == [
        {"number": 1, "more": None},
        {"number": 1, "more": "x"},
    ]


@pytest.mark.parametrize("table", [FLOWS, EVENTS])
def test_tables_have_names_for_all_leaves(table: Table) -> None:
    from routerd.records.file_format.leaves import tree_of

    leaves = tree_of(table, table.version).leaves
    assert len({leaf.name for leaf in leaves}) == len(leaves)


def test_differences_refer_to_the_one_before() -> None:
    # Blocks of 128 in 4 parts, 3 numbers, the first is 7: folded 14. Then the least difference, 1: folded 2.
    assert differences(memoryview(array("q", [7, 8, 9])), 3) == bytes([0x80, 0x01, 4, 3, 14, 2, 0, 0, 0, 0])
