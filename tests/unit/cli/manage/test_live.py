"""The live view without a terminal: rates, keys, and what is on the screen."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from routerd.cli.manage.figures import rate
from routerd.cli.manage.live import Key, LiveState, arranged, clip, frame, keys_in
from routerd.cli.manage.output import PLAIN
from routerd.cli.manage.rates import Rates, without_idle_rates
from routerd.cli.manage.report import Report, Section
from routerd.cli.manage.table import COUNTER, NUMBER, Block, Head, Line, Record, Table, of, tabulate

COLUMNS = (of("name"), of("in", kind=COUNTER), of("out", kind=COUNTER), of("load", kind=NUMBER))


def table(*rows: tuple[str, int, int]) -> Table:
    return tabulate(
        "T", COLUMNS, [{"name": name, "in": came, "out": went, "load": 1} for name, came, went in rows]
    )


def report(*blocks: Block) -> Report:
    return Report(time=datetime(2026, 11, 20, 12, 0, 1, 5, tzinfo=UTC), sections=(Section("QDR.A", blocks),))


def test_a_rate_is_the_growth_of_a_counter_a_second() -> None:
    rates = Rates()
    rates.look([table(("a", 100, 7), ("b", 5, 7))], 10.0)
    [seen] = rates.look([table(("b", 25, 7), ("a", 100, 5), ("c", 9, 9))], 14.0)
    assert isinstance(seen, Table)
    assert seen.heads == (
        *(Head("name"), Head("in", COUNTER), Head("in/s", NUMBER, rate), Head("out", COUNTER)),
        *(Head("out/s", NUMBER, rate), Head("load", NUMBER)),
    )
    # What has become less began anew, and of what is new nothing is known.
    assert seen.rows == (("b", 25, 5.0, 7, 0.0, 1), ("a", 100, 0.0, 5, None, 1), ("c", 9, None, 9, None, 1))


def test_a_record_has_its_rates_in_a_column() -> None:
    rates = Rates()
    rates.look([Record(title="R", lines=(Line("Id", "x"), Line("In", 10, COUNTER)))], 1.0)
    [seen] = rates.look([Record(title="R", lines=(Line("Id", "x"), Line("In", 25, COUNTER)))], 3.0)
    assert isinstance(seen, Record)
    assert [line.rate for line in seen.lines] == [None, 7.5]
    assert report(seen).text()[3:] == [
        "R",
        "  attr  value  per second",
        "  =========================",
        "  Id    x      ",
        "  In    25     7.5",
    ]


def test_rates_of_what_stands_still_are_left_out_but_for_the_first() -> None:
    rates = Rates()
    rates.look([table(("a", 1, 1))], 1.0)
    [idle] = rates.look([table(("a", 1, 1))], 2.0)
    [busy] = rates.look([table(("a", 1, 5))], 3.0)
    titles = [block.titles() for block in map(without_idle_rates, (idle, busy)) if isinstance(block, Table)]
    assert titles == [("name", "in", "in/s", "out", "load"), ("name", "in", "in/s", "out", "out/s", "load")]


def test_keys_are_found_in_what_is_typed() -> None:
    assert keys_in("xq<\x1b[A\x1bOB\x1b[6~ r") == [
        *(Key.QUIT, Key.SORT_LEFT, Key.UP, Key.DOWN, Key.PAGE_DOWN, Key.REFRESH, Key.REVERSE),
    ]


@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        (Key.SORT_RIGHT, {}, {"sort": "a"}),
        (Key.SORT_LEFT, {}, {"sort": "c"}),
        (Key.SORT_RIGHT, {"sort": "c"}, {"sort": "a"}),
        (Key.SORT_LEFT, {"sort": "b"}, {"sort": "a"}),
        (Key.REVERSE, {}, {"is_reversed": True}),
        (Key.RATES, {}, {"has_rates": False}),
        (Key.UP, {"top": 3}, {"top": 2}),
        (Key.UP, {}, {}),
        (Key.PAGE_DOWN, {"top": 3}, {"top": 23}),
        (Key.RIGHT, {}, {"left": 8}),
        (Key.LEFT, {"left": 3}, {}),
        (Key.REFRESH, {"top": 3}, {"top": 3}),
    ],
)
def test_a_key_changes_what_is_shown(key: Key, before: dict[str, object], after: dict[str, object]) -> None:
    state = replace(LiveState(), **before)  # type: ignore[arg-type]
    assert state.pressed(key, ("a", "b", "c"), 20) == replace(LiveState(), **after)  # type: ignore[arg-type]


def test_there_is_nothing_to_sort_by_without_columns() -> None:
    assert LiveState().pressed(Key.SORT_RIGHT, (), 20).sort is None


def test_what_was_chosen_is_shown() -> None:
    rates = Rates()
    rates.look([table(("a", 1, 1), ("b", 1, 1))], 1.0)
    plain = report(table(("a", 2, 1), ("b", 9, 1)))
    with_rates = report(*rates.look(plain.sections[0].blocks, 2.0))
    by_rate = arranged(plain, with_rates, LiveState(sort="in/s"))
    assert [line.split()[:3] for line in by_rate.text()[4:]][2:] == [["b", "9", "8.0"], ["a", "2", "1.0"]]
    assert arranged(plain, with_rates, LiveState(has_rates=False)) == plain


def test_the_screen_is_filled_and_its_heads_stay() -> None:
    lines = ["time", "T", "  a  b", "  ======", *(f"  row {number}" for number in range(10))]
    shown, state = frame(lines, LiveState(top=3), (8, 10), "a long status", PLAIN)
    assert shown == ["time", "T", "  a  b", "  ======", *(f"  row {number}" for number in range(3, 8)), "a long s"]
    assert state == LiveState(top=3)


def test_nobody_scrolls_beyond_the_end() -> None:
    shown, state = frame(["abcdef", "x"], LiveState(top=99, left=99), (4, 5), "", PLAIN)
    assert shown == ["cdef", "", "", "", ""]
    assert state == LiveState(top=0, left=2)


def test_colours_outlive_the_cut() -> None:
    assert clip("\x1b[1mabc\x1b[0mdef", 1, 3) == "\x1b[1mbc\x1b[0md\x1b[0m"
    assert clip("abcdef", 2, 2) == "cd"
