"""The JSON form: sections and lines, and what is told of a text that is none (1.5)."""

import pytest

from routerd.config.json_form import read_json_form
from routerd.config.json_reader import DEPTH_MAX, SyntaxFault
from routerd.config.sections import Given, Section

TEXT = """# A comment
[ ["router", {"id": "A",
      "mode": "edge"}],
  # another
  ["auto-link",
   {"address": "a", "phase": 1, "fallback": true, "name": null}] ]
"""


def test_sections_and_attributes_have_their_lines() -> None:
    assert read_json_form(TEXT).all == [
        Section("router", 2, {"id": Given("A", 2), "mode": Given("edge", 3)}),
        Section(
            "autoLink",
            5,
            {"address": Given("a", 6), "phase": Given(1, 6), "fallback": Given(True, 6), "name": Given(None, 6)},
        ),
    ]


def test_an_empty_list_has_no_sections() -> None:
    assert read_json_form("[]").all == []


def test_a_section_may_be_empty() -> None:
    assert read_json_form('[["router", {}]]').all == [Section("router", 1)]


def test_of_two_values_the_later_counts_with_a_notice() -> None:
    sections = read_json_form('[["s", {"a-b": 1,\n"aB": 2}]]')
    assert sections.all == [Section("s", 1, {"aB": Given(2, 2)})]
    assert sections.notices == [(2, "Attribute 'aB' was given in line 1 already. This one counts")]


def test_values_are_those_of_json() -> None:
    [section] = read_json_form(r'[["s", {"a": [0, -1, 1.5, 2E+1, true, false, null, "\u00e9\n\ud83d\ude00"]}]]').all
    assert section.attributes["a"].value == [0, -1, 1.5, 20.0, True, False, None, "é\n😀"]


SHAPE = 'a list of sections, each a list like ["listener", {"port": 5672}]'
NO_KEY = "Expecting property name enclosed in double quotes"

FAULTS = [
    ("", 1, "Expecting value: line 1 column 1 (char 0)", None),
    ("# nothing", 1, "Expecting value: line 1 column 10 (char 9)", None),
    ("{}", 1, "A configuration in JSON form is a list", SHAPE),
    ("router {\n}\n", 1, "A configuration in JSON form is a list", SHAPE),
    ('[\n{"router": {}}]', 2, "A section is a list of its name and a map", SHAPE),
    ("[[1, {}]]", 1, "A section begins with its name", SHAPE),
    ('[["s"]]', 1, "Section 's' has no map of attributes", SHAPE),
    ('[["s",\n []]]', 2, "The attributes of section 's' are a map", SHAPE),
    ('[["s", {}, 1]]', 1, "Section 's' has more than a name and a map", SHAPE),
    ("[", 1, "Expecting value: line 1 column 2 (char 1)", None),
    ('[["s", {}]', 1, "Expecting ',' delimiter: line 1 column 11 (char 10)", None),
    ('[["s", {}]] x', 1, "Extra data: line 1 column 13 (char 12)", None),
    ('[["s", {}],\n]', 2, "Expecting value: line 2 column 1 (char 12)", None),
    ('[["s", {"a": 1,}]]', 1, f"{NO_KEY}: line 1 column 16 (char 15)", None),
    ('[["s", {"a": [1,]}]]', 1, "Expecting value: line 1 column 17 (char 16)", None),
    ('[["s", {a: 1}]]', 1, f"{NO_KEY}: line 1 column 9 (char 8)", None),
    ('[["s", {"a" 1}]]', 1, "Expecting ':' delimiter: line 1 column 13 (char 12)", None),
    ('[["s", {"a": }]]', 1, "Expecting value: line 1 column 14 (char 13)", None),
    ('[["s", {"a": NaN}]]', 1, "Expecting value: line 1 column 14 (char 13)", None),
    ('[["s", {"a": "b', 1, "Unterminated string starting at: line 1 column 14 (char 13)", None),
    ('[["s", {"a": "b\tc"}]]', 1, "Invalid control character or \\escape in: line 1 column 14 (char 13)", None),
    (r'[["s", {"a": "\x"}]]', 1, "Invalid control character or \\escape in: line 1 column 14 (char 13)", None),
    (r'[["s", {"a": "\ud800"}]]', 1, "Invalid control character or \\escape in: line 1 column 14 (char 13)", None),
    ('[["s", {"a": ' + "1" * 5000 + "}]]", 1, "Too many digits: line 1 column 14 (char 13)", None),
]


@pytest.mark.parametrize(("text", "line", "reason", "hint"), FAULTS)
def test_a_wrong_text_is_told_with_its_place(text: str, line: int, reason: str, hint: str | None) -> None:
    with pytest.raises(SyntaxFault) as fault:
        read_json_form(text)
    assert (fault.value.line, fault.value.reason, fault.value.hint) == (line, reason, hint)


def test_lists_in_lists_have_a_limit() -> None:
    with pytest.raises(SyntaxFault, match=f"More than {DEPTH_MAX} maps and lists inside one another"):
        read_json_form('[["s", {"a": ' + "[" * 100_000)


def test_an_unterminated_string_is_found_at_once() -> None:
    with pytest.raises(SyntaxFault, match="Unterminated string"):
        read_json_form('[["' + "\\\\a" * 200_000)
