"""Tables as text, CSV and JSON; their order; and how values are written."""

import json
from typing import Any

import pytest

from routerd.cli.manage import figures
from routerd.cli.manage.failures import WrongUse
from routerd.cli.manage.output import COLOURED, as_csv, as_json, as_text, dumps
from routerd.cli.manage.table import COUNTER, NUMBER, Line, Message, Record, Table, of, tabulate
from routerd.wire import Array, Symbol, ULong

COLUMNS = (of("name"), of("count", kind=COUNTER), of("load", kind=NUMBER), of("lost", kind=NUMBER, is_trouble=True))
ENTITIES: list[dict[str, Any]] = [
    {"name": "b", "count": 10, "load": None, "lost": 0},
    {"name": 'say "a"', "count": 9, "load": 2.5, "lost": 3},
    {"name": None, "count": 100, "load": 11, "lost": 0},
]


def table() -> Table:
    return tabulate("Things", COLUMNS, ENTITIES)


RECORD = Record(title="One", lines=(Line("Name", "x"), Line("Uptime", 61, show=figures.duration)))


def test_cells_of_csv_are_quoted_and_empty_ones_are_not() -> None:
    assert as_csv([table(), Message(("none",)), RECORD]) == [
        *("Things", '"name","count","load","lost"', '"b","10",,"0"', '"say ""a""","9","2.5","3"', ',"100","11","0"'),
        *("", "none", "", "One", '"attr","value"', '"Name","x"', '"Uptime","000:00:01:01"'),
    ]


def test_json_has_values_as_they_are() -> None:
    assert as_json([table(), RECORD, Message(("a",), "Log", ({"level": "info"},))]) == [
        {"title": "Things", "rows": ENTITIES},
        {"title": "One", "values": {"Name": "x", "Uptime": 61}},
        {"title": "Log", "rows": [{"level": "info"}]},
    ]


def test_values_of_amqp_become_those_of_json() -> None:
    value = {
        **{"a": ULong(1), "b": Symbol("s"), "c": b"\xff", "d": [None, True], "e": float("nan")},
        **{"f": Array("int", [1, 2]), "g": {ULong(3): "x"}},
    }
    assert json.loads(dumps(value)) == {
        **{"a": 1, "b": "s", "c": "\\xff", "d": [None, True], "e": None},
        **{"f": [1, 2], "g": {"3": "x"}},
    }
    assert dumps([1, 2], None) == "[1, 2]"


def test_colour_does_not_move_the_columns() -> None:
    painted = as_text([table()], COLOURED, "count")
    plain = [line.replace("\x1b[0m", "") for line in painted]
    for code in (COLOURED.title, COLOURED.head, COLOURED.rule, COLOURED.trouble, COLOURED.sorted):
        assert any(code in line for line in plain)
        plain = [line.replace(code, "") for line in plain]
    assert plain == as_text([table()])


@pytest.mark.parametrize(
    ("column", "is_reversed", "names"),
    [
        ("count", False, [None, "b", 'say "a"']),
        ("count", True, ['say "a"', "b", None]),
        ("COUNT", False, [None, "b", 'say "a"']),
        ("name", False, ["b", 'say "a"', None]),
        ("name", True, ['say "a"', "b", None]),
        ("load", False, [None, 'say "a"', "b"]),
        ("load", True, ['say "a"', None, "b"]),
    ],
)
def test_numbers_are_sorted_from_the_largest_and_texts_from_a(
    column: str, is_reversed: bool, names: list[str | None]
) -> None:
    found = table().sorted_by(column, is_reversed=is_reversed)
    assert [row[0] for row in found.rows] == names
    assert dict(zip(found.keys, found.rows, strict=True)) == dict(zip(table().keys, table().rows, strict=True))


def test_identities_are_sorted_as_numbers() -> None:
    rows = [{"identity": text} for text in ("10", "9", "x", "1")]
    found = tabulate("T", (of("identity"),), rows).sorted_by("identity")
    assert [row[0] for row in found.rows] == ["1", "9", "10", "x"]


def test_a_column_that_is_not_there_is_not_sorted_by() -> None:
    with pytest.raises(WrongUse, match=r"there is no column 'cuont'; did you mean count\?"):
        table().sorted_by("cuont")
    with pytest.raises(WrongUse, match="there is no column 'zz'; there are name, count, load, lost"):
        table().sorted_by("zz")


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (figures.plain, None, ""),
        (figures.plain, True, "True"),
        (figures.plain, b"\xffa", "\\xffa"),
        (figures.plain, "naïve\x1b]0;x\x07\n", "naïve\\x1b]0;x\\x07\\n"),
        (figures.grouped, 1234567, "1,234,567"),
        (figures.grouped, None, ""),
        (figures.duration, 100 * 86400 + 3723, "100:01:02:03"),
        (figures.duration, None, "-"),
        (figures.blocked_time, 0, "-"),
        (figures.blocked_time, 86_400 + 61, "00:01:01"),
        (figures.octets, 1023, "1023"),
        (figures.octets, 1024, "1.00 KiB"),
        (figures.octets, 15 << 20, "15.0 MiB"),
        (figures.octets, 187_904_819, "179 MiB"),
        (figures.octets, 5 << 60, "5120 PiB"),
        (figures.octets, None, "-"),
        (figures.rate, None, ""),
        (figures.rate, 0.0, "0"),
        (figures.rate, 2.25, "2.2"),
        (figures.rate, 12345.6, "12,346"),
        (figures.names, ["a", "b"], "['a', 'b']"),
    ],
)
def test_a_value_is_written_as_people_read_it(write: Any, value: Any, text: str) -> None:
    assert write(value) == text
