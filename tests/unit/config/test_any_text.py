"""Whatever a file says, there is a configuration or there are errors; and both forms mean the same."""

import json
import string

from hypothesis import example, given
from hypothesis.strategies import (
    DrawFn,
    SearchStrategy,
    booleans,
    composite,
    dictionaries,
    floats,
    integers,
    lists,
    none,
    recursive,
    sampled_from,
    text,
)

from routerd.config import ConfigErrors
from routerd.management import SECTIONS
from tests.unit.config.reading import CONF, JSON, read

NAMES = sorted(SECTIONS)
ATTRIBUTES = sorted({name for one in SECTIONS.values() for name in (*one.attributes, *one.old_names)})
TAGS = sorted({tag for one in SECTIONS.values() for attribute in one.own_attributes for tag in attribute.tags})
FRAGMENTS = [
    *(
        "{",
        "}",
        "[",
        "]",
        '"',
        ":",
        ",",
        "#",
        "\n",
        "\\",
        "\\u0041",
        "\\ud800",
        "\ud800",
        "\0",
        "\t",
        "\r",
        "\ufeff",
        "$",
    ),
    *("é", "true", "null", "1e999", "-0", "9" * 30, "groups: {", "openProperties: {", "pattern: ", "a.*/#", " "),
    *("router {\n", "listener {\n", '["router", {', '"id": ', "\n}\n", "]]", "[["),
]
json_values: SearchStrategy[object] = recursive(
    none() | booleans() | integers() | floats() | text(max_size=5) | sampled_from(TAGS),
    lambda inner: lists(inner, max_size=3) | dictionaries(text(max_size=3), inner, max_size=3),
    max_leaves=4,
)


def check_it_is_read_or_refused(source: str, name: str) -> None:
    errors = None
    try:
        read(source, name)
    except ConfigErrors as rejected:
        errors = rejected
    if errors is not None:
        lines = str(errors).splitlines()
        assert len(lines) == len(errors.errors) > 0
        assert all(line.startswith(f"Cannot load configuration file {name}: ") for line in lines)


@given(text(), sampled_from([CONF, JSON]))
@example("", CONF)
def test_any_text_is_read_or_refused(source: str, name: str) -> None:
    check_it_is_read_or_refused(source, name)


@given(lists(sampled_from([*FRAGMENTS, *NAMES, *ATTRIBUTES]), max_size=30), sampled_from([CONF, JSON]))
def test_any_order_of_fragments_is_read_or_refused(fragments: list[str], name: str) -> None:
    check_it_is_read_or_refused("".join(fragments), name)


@given(
    lists(
        sampled_from(NAMES).flatmap(
            lambda name: dictionaries(sampled_from(ATTRIBUTES), json_values).map(lambda a: [name, a])
        )
    )
)
def test_any_sections_are_read_or_refused(sections: list[object]) -> None:
    check_it_is_read_or_refused(json.dumps(sections, indent=1), JSON)


@composite
def right_sections(draw: DrawFn) -> list[tuple[str, dict[str, str]]]:
    """Draw sections that no error is about, as names and values of attributes."""
    words = text(string.ascii_letters + string.digits + "_-", min_size=1, max_size=8)
    sections: list[tuple[str, dict[str, str]]] = [
        (
            "router",
            {"id": draw(words), "metadata": draw(words), "defaultDistribution": draw(sampled_from(["closest", "1"]))},
        )
    ]
    for port in draw(lists(integers(1, 65535), unique=True, max_size=3)):
        listener = {
            "port": str(port),
            "host": draw(words),
            "multiTenant": draw(sampled_from(["yes", "off", "True"])),
        }
        listener["idle-timeout-seconds"] = str(draw(integers(0, 100)))
        sections.append(("listener", listener))
    for prefix in draw(lists(words, unique=True, max_size=3)):
        sections.append(("address", {"prefix": prefix, "priority": str(draw(integers(0, 9)))}))
    return sections


@given(right_sections())
def test_both_forms_mean_the_same(sections: list[tuple[str, dict[str, str]]]) -> None:
    lines = []
    for name, attributes in sections:
        lines += [f"{name} {{", *(f"  {key}: {value}" for key, value in attributes.items()), "}"]
    assert read("\n".join(lines), CONF) == read(json.dumps(sections), JSON)
