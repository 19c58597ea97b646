"""docs/configuration.md says what the schema says, and its examples can be loaded."""

from pathlib import Path

import pytest

from routerd.config.document import DOCUMENT, document, examples, main
from routerd.management import SECTIONS
from tests.unit.config.reading import read


def test_the_document_is_up_to_date() -> None:
    assert DOCUMENT.read_text() == document(), "run `python -m routerd.config.document`"


def test_the_document_is_written_where_one_says(tmp_path: Path) -> None:
    main([str(tmp_path / "d.md")])
    assert (tmp_path / "d.md").read_text() == document()


def test_every_supported_attribute_has_a_row() -> None:
    rows = {line.split("`")[1] for line in document().splitlines() if line.startswith("| `")}
    supported = [one for kind in SECTIONS.values() if kind.is_supported for one in kind.attributes.values()]
    assert {one.name for one in supported if one.is_settable and one.name != "type"} <= rows


def test_every_supported_section_has_an_example() -> None:
    assert {name for name, _ in examples()} == {name for name, one in SECTIONS.items() if one.is_supported}


@pytest.mark.parametrize(("name", "text"), list(examples()))
def test_an_example_is_right(name: str, text: str) -> None:
    assert f"{name} {{" in text
    assert read(text).warnings == ()


def test_the_examples_of_both_forms_are_the_same() -> None:
    blocks = document().split("```")
    assert read(blocks[1].removeprefix("\n")) == read(blocks[3].removeprefix("json\n"), "r.json")
