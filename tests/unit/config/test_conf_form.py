"""The line form: what stands in each line, and what is told of a line that is wrong (1.2 to 1.4)."""

import pytest

from routerd.config.conf_form import read_conf_form
from routerd.config.json_reader import DEPTH_MAX, SyntaxFault
from routerd.config.sections import Given, Section


def sections_in(text: str) -> list[Section]:
    return read_conf_form(text).all


def values_in(*lines: str) -> dict[str, object]:
    [section] = sections_in("\n".join(["s {", *lines, "}"]))
    return {name: given.value for name, given in section.attributes.items()}


def test_sections_and_attributes_have_their_lines() -> None:
    assert sections_in("# first\n\nrouter {\n    id: A\n\n    mode: edge\n}\nlistener {\n}\n") == [
        Section("router", 3, {"id": Given("A", 4), "mode": Given("edge", 6)}),
        Section("listener", 8),
    ]


def test_a_text_of_comments_has_no_sections() -> None:
    assert sections_in("# nothing\n   # at all\n") == []


VALUES = [
    ("id: A", {"id": "A"}),
    ("id  :\tA b  ", {"id": "A b"}),
    ("id: A # a comment", {"id": "A"}),
    ("prefix: a#b", {"prefix": "a"}),
    ("pattern: a/# # a comment", {"pattern": "a/#"}),
    ("bindingKey: a b c", {"bindingKey": "a"}),
    ("hostname: #.foo # c", {"hostname": "#.foo"}),
    ("ssl-profile: p", {"sslProfile": "p"}),
    ("remote-ls-max-age-seconds: 7", {"remoteLsMaxAgeSeconds": "7"}),
    ("url: amqp://h:1, {x}", {"url": "amqp://h:1, {x}"}),
    ("value: a { b }", {"value": "a { b }"}),
    (r"value: a\\b\u0041", {"value": r"a\bA"}),
    (r"value: \"a\"", {"value": '"a"'}),
    ("value: a\tb", {"value": "a\tb"}),
    ("value: Zürich", {"value": "Zürich"}),
    ("value: $HOME", {"value": "$HOME"}),
    ("key_1: }", {"key_1": "}"}),
]


@pytest.mark.parametrize(("line", "values"), VALUES)
def test_a_line_gives_an_attribute(line: str, values: dict[str, object]) -> None:
    assert values_in(line) == values


@pytest.mark.parametrize("opening", ["s {", "s{", "  s\t{  ", "s { # a comment"])
def test_blanks_before_a_brace_do_not_matter(opening: str) -> None:
    assert sections_in(f"{opening}\n }} # a comment\n") == [Section("s", 1)]


def test_the_name_of_a_section_may_have_hyphens() -> None:
    assert sections_in("auto-link {\n}\n") == [Section("autoLink", 1)]


def test_of_two_values_the_later_counts_with_a_notice() -> None:
    sections = read_conf_form("s {\n  max-size: 1\n  maxSize: 2\n}\n")
    assert sections.all == [Section("s", 1, {"maxSize": Given("2", 3)})]
    assert sections.notices == [(3, "Attribute 'maxSize' was given in line 2 already. This one counts")]


def test_a_comma_before_a_closing_bracket_is_left_out_with_a_notice() -> None:
    sections = read_conf_form("s {\n  a: b, ]\n}\n")
    assert sections.all == [Section("s", 1, {"a": Given("b]", 2)})]
    assert sections.notices == [(2, "The comma before a closing bracket is left out: 'b]'")]


def test_maps_may_stand_in_maps() -> None:
    assert values_in("a: {", "b: {", "c: d", "}", "$default: {", "}", "e: f", "}", "g: h") == {
        "a": {"b": {"c": "d"}, "$default": {}, "e": "f"},
        "g": "h",
    }


GROUPS = {"admin": {"users": "a, b"}, "$default": {"sources": "q.#"}}
LAYOUTS = {
    "one line each, with commas": ('groups: {\n"admin": {"users": "a, b"},\n"$default": {"sources": "q.#"},\n}'),
    "a comma in a line of its own": (
        'groups: {\n"admin": {\n"users": "a, b"\n}\n,\n"$default": {\n"sources": "q.#"\n}\n}'
    ),
    "commas behind the braces": 'groups: {\n"admin": {\n"users": "a, b"\n},\n"$default": {\n"sources": "q.#"\n}\n}',
    "commas behind everything": (
        'groups: {\n"admin": {\n"users": "a, b",\n},\n"$default": {\n"sources": "q.#",\n},\n}'
    ),
    "with comments": (
        'groups: { # groups\n# a comment\n"admin": {"users": "a, b"},\n  # another\n"$default":\n{"sources": "q.#"}}'
    ),
    "a single line": 'groups: {"admin": {"users": "a, b"}, "$default": {"sources": "q.#"}}',
    "a single line and a comment": 'groups: {"admin": {"users": "a, b"}, "$default": {"sources": "q.#"}}  # so',
    "a brace and a comma at the end": 'groups: {\n"admin": {"users": "a, b"}, "$default": {"sources": "q.#"}\n},',
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_groups_are_json_in_any_layout(layout: str) -> None:
    assert values_in(layout, "after: x") == {"groups": GROUPS, "after": "x"}


def test_groups_may_be_without_quotes() -> None:
    assert values_in("groups: {", "admin: {", "users: a, b", "}", "$default: {", "users: *", "}", "}") == {
        "groups": {"admin": {"users": "a, b"}, "$default": {"users": "*"}}
    }


def test_open_properties_have_the_values_of_json() -> None:
    assert values_in('openProperties: {"a": [1, -2.5e1, true, null, {"b": "#"}], "c": {}}') == {
        "openProperties": {"a": [1, -25.0, True, None, {"b": "#"}], "c": {}}
    }


def test_empty_groups_are_an_empty_map() -> None:
    assert values_in("groups: {", "}", "a: b") == {"groups": {}, "a": "b"}


def test_the_line_of_a_json_map_is_where_it_begins() -> None:
    text = 's {\n  openProperties: {\n    "a": 1\n  }\n  b: c\n}\n'
    assert sections_in(text) == [Section("s", 1, {"openProperties": Given({"a": 1}, 2), "b": Given("c", 5)})]


SYNTAX = "`section {`, `attribute: value` or `}`, each in a line of its own"
START = "`section {` at the end of a line, and then its attributes"
UNQUOTED = "a value without quotes, in which a backslash is written as two"

FAULTS = [
    ("id: A\n", 1, "Invalid config file syntax (line 1): id: A", START),
    ("router { id: X\n}\n", 1, "Invalid config file syntax (line 1): router { id: X", START),
    ("router { id: X }\n", 1, "Invalid config file syntax (line 1): router { id: X }", START),
    ("a.b {\n}\n", 1, "Invalid config file syntax (line 1): a.b {", START),
    ("}\n", 1, "Invalid config file syntax (line 1): }", "no `}`, for nothing is open"),
    ("s {\n  id\n}\n", 2, "Invalid config file syntax (line 2): id", SYNTAX),
    ("s {\n  a.b: c\n}\n", 2, "Invalid config file syntax (line 2): a.b: c", SYNTAX),
    ("s {\n  a: {b}\n}\n", 2, "Invalid config file syntax (line 2): a: {b}", SYNTAX),
    ("s {\n  a: # b\n}\n", 2, "Invalid config file syntax (line 2): a:", "a value for 'a', or no such line"),
    (
        "s {\n  a: b\nt {\n}\n",
        3,
        "Invalid config file syntax (line 3): t {",
        "`}` before it: Section 's' of line 1 is still open",
    ),
    ('s {\n  a: "b"\n}\n', 2, 'Invalid config file syntax (line 2): a: "b"', UNQUOTED),
    ("s {\n  a: C:\\Dir\n}\n", 2, "Invalid config file syntax (line 2): a: C:\\Dir", UNQUOTED),
    ("s {\n  a: \\ud800\n}\n", 2, "Invalid config file syntax (line 2): a: \\ud800", UNQUOTED),
    ("s {\n  a: b }\n", 1, "Section 's' is not closed", "`}` in a line of its own at its end"),
    ("s {\n  m: {\n    a: b\n}\n", 1, "Section 's' is not closed", "`}` in a line of its own at its end"),
    ("s {\n  m: {\n", 2, "Map 'm' is not closed", "`}` in a line of its own at its end"),
    (
        's {\n  groups: {"a": 1 "b": 2}\n}\n',
        2,
        "Expecting ',' delimiter: line 2 column 19 (char 22)",
        None,
    ),
    ('s {\n  groups: {"a": 1} x\n}\n', 2, "Extra data: line 2 column 19 (char 22)", None),
    (
        's {\n  groups: {\n    "a": 1\n',
        4,
        "Expecting ',' delimiter: line 4 column 1 (char 27)",
        None,
    ),
    (
        "s {\n  groups: {",
        2,
        "Expecting property name enclosed in double quotes: line 2 column 12 (char 15)",
        None,
    ),
    (
        "s {\n  openProperties: {\n    a: b\n  }\n}\n",
        3,
        "Expecting property name enclosed in double quotes: line 3 column 5 (char 28)",
        None,
    ),
    ('s {\n  groups: {"a": x}\n}\n', 2, "Expecting value: line 2 column 17 (char 20)", None),
]


@pytest.mark.parametrize(("text", "line", "reason", "hint"), FAULTS)
def test_a_wrong_line_is_told_with_what_would_be_right(text: str, line: int, reason: str, hint: str | None) -> None:
    with pytest.raises(SyntaxFault) as fault:
        read_conf_form(text)
    assert (fault.value.line, fault.value.reason, fault.value.hint) == (line, reason, hint)


def test_a_long_line_is_told_in_part() -> None:
    with pytest.raises(SyntaxFault) as fault:
        read_conf_form("x" * 150)
    assert fault.value.reason == f"Invalid config file syntax (line 1): {'x' * 100}... (50 more)"


def test_maps_in_maps_have_a_limit() -> None:
    with pytest.raises(SyntaxFault, match="Invalid config file syntax") as fault:
        read_conf_form("s {\n" + "m: {\n" * 1000)
    assert (fault.value.line, fault.value.hint) == (DEPTH_MAX + 2, f"at most {DEPTH_MAX} maps inside one another")
