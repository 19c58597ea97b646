import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.io.logs.levels import Level
from routerd.io.logs.lines import TEXT_MAX, Clock, LogEntry, identity, in_one_line, json_line, shortened, text_lines

UTC = Clock(in_utc=True)
TIME_S = 1_795_262_666.559323


def entry(text: str = "hello", **changes: object) -> LogEntry:
    values: dict[str, object] = {
        "module": "SERVER",
        "level": Level.NOTICE,
        "text": text,
        "file": "routerd/io/worker/worker.py",
        "line": 7,
        "time_s": TIME_S,
    }
    return LogEntry(**(values | changes))  # type: ignore[arg-type]


def test_a_line_is_time_module_level_and_text() -> None:
    assert text_lines(entry(), UTC, with_source=False) == [
        "2026-11-21 12:04:26.559323 +0000 SERVER (notice) hello\n",
    ]


def test_a_line_can_do_without_its_time_and_have_its_source() -> None:
    assert text_lines(entry(), None, with_source=True) == ["SERVER (notice) hello (routerd/io/worker/worker.py:7)\n"]


def test_an_entry_without_a_place_has_no_source() -> None:
    assert text_lines(entry(file=None, line=None), None, with_source=True) == ["SERVER (notice) hello\n"]


def test_each_line_of_a_traceback_is_a_line_of_the_log() -> None:
    assert text_lines(entry(traceback="Traceback:\n  here\n"), None, with_source=False) == [
        "SERVER (notice) hello\n",
        "SERVER (notice) Traceback:\n",
        "SERVER (notice)   here\n",
    ]


def test_time_is_local_unless_it_is_to_be_utc() -> None:
    local = time.strftime("%Y-%m-%d %H:%M:%S.559323 %z", time.localtime(TIME_S))
    assert Clock().text(TIME_S) == local
    assert UTC.text(TIME_S) == "2026-11-21 12:04:26.559323 +0000"


def test_a_form_of_its_own_has_microseconds_where_it_says() -> None:
    clock = Clock("%H:%M|%%06lu|", in_utc=True)
    times = (TIME_S, TIME_S + 60, 0.000_001)
    assert [clock.text(at) for at in times] == ["12:04|559323|", "12:05|559323|", "00:00|000001|"]
    assert Clock("%y%%", in_utc=True).text(TIME_S) == "26%"


def test_an_identity_names_a_connection_and_its_link() -> None:
    assert identity(3) == "[C3]"
    assert identity(3, 11) == "[C3][L11]"


@given(st.text())
def test_a_text_never_ends_its_line(text: str) -> None:
    line = in_one_line(text)
    assert len(f"{line}.".splitlines()) == 1
    assert "\x1b" not in line


def test_control_characters_are_written_out_and_others_kept() -> None:
    assert in_one_line("a\nb\x1b[1m\x00 é\u00a0\u2028") == "a\\nb\\x1b[1m\\x00 é\u00a0\\u2028"


def test_a_long_text_says_how_much_is_missing() -> None:
    assert shortened("x" * TEXT_MAX) == "x" * TEXT_MAX
    assert shortened("x" * (TEXT_MAX + 5)) == "x" * TEXT_MAX + "... (5 more)"


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("hello", {}),
        ("[C1] opened", {"connection": 1}),
        ("[C12][L34] attached", {"connection": 12, "link": 34}),
        ("[C1]:FRAME: 0 -> @open(16) []", {"connection": 1}),
        ("a peer says [C1]", {}),
    ],
)
def test_json_has_the_numbers_that_the_text_begins_with(text: str, ids: dict[str, int]) -> None:
    line = json_line(entry(text), "QDR.A")
    assert line.endswith("}\n")
    assert json.loads(line) == {
        "ts": "2026-11-21T12:04:26.559323Z",
        "router": "QDR.A",
        "module": "SERVER",
        "level": "notice",
        "text": text,
        "file": "routerd/io/worker/worker.py",
        "line": 7,
        **ids,
    }


def test_json_is_one_line_whatever_the_text_and_has_the_traceback_as_a_member() -> None:
    line = json_line(entry("a\nb\u2028", traceback="x\ny"), "R")
    assert line.count("\n") == 1
    assert (json.loads(line)["text"], json.loads(line)["traceback"]) == ("a\nb\u2028", "x\ny")
