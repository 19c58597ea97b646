"""The tables of records, as they are described and as Arrow has them."""

import pytest

from routerd.records import DECISIONS, EVENTS, FLOWS, TABLES, Column, Kind, Table, message_key

pa = pytest.importorskip("pyarrow")

from routerd.records.parquet import arrow_schema  # noqa: E402


def test_the_tables_are_flows_decisions_and_events():
    assert [(table.name, table.version) for table in TABLES] == [("flows", 1), ("decisions", 1), ("events", 1)]


def test_every_column_of_a_table_has_a_name_of_its_own():
    for table in TABLES:
        names = [column.name for column in table.columns]
        assert len(set(names)) == len(names)


def test_an_older_version_of_a_table_lacks_what_was_added_later():
    table = Table("t", 2, "", (Column("time", Kind.TIME, ""), Column("more", Kind.NUMBER, "", since=2)))
    assert arrow_schema(table, 1).names == ["time"]
    assert arrow_schema(table).field("more") == pa.field("more", pa.int32(), nullable=True)


def test_a_name_is_kept_by_dictionary_and_a_time_in_utc():
    schema = arrow_schema(FLOWS)
    assert schema.field("address").type == pa.dictionary(pa.int32(), pa.string())
    assert schema.field("time").type == pa.timestamp("us", tz="UTC")
    assert arrow_schema(EVENTS).field("costs").type == pa.map_(pa.string(), pa.int32())


def test_a_candidate_has_its_link_cost_and_load():
    element = arrow_schema(DECISIONS).field("candidates").type.value_type
    assert [field.name for field in element] == ["egress", "cost", "outstanding"]


@pytest.mark.parametrize(
    ("message_id", "key"),
    [
        # The hash of nothing and of `a`, `foobar`, as the inventors of FNV publish them.
        (b"", 0xCBF29CE484222325 - 2**64),
        (b"a", 0xAF63DC4C8601EC8C - 2**64),
        (b"foobar", 0x85944171F73967E8 - 2**64),
    ],
)
def test_a_message_key_is_fnv_1a_as_a_signed_number(message_id, key):
    assert message_key(message_id) == key


def test_a_message_key_fits_into_its_column():
    keys = [message_key(str(number).encode()) for number in range(1000)]
    assert pa.array(keys, pa.int64()).to_pylist() == keys
    assert min(keys) < 0 < max(keys)
