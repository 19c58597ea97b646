"""docs/conformance.md and tests/conformance/ agree, row by row and test by test.

What a test of `tests/unit/wire` shows already has no second one in tests/conformance/; the page names that one.
"""

import ast
import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "conformance.md"
FOLDER = ROOT / "tests" / "conformance"
UNIT_TESTS = ROOT / "tests" / "unit" / "wire"

LEVELS = {"MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "RULE"}
DUTIES = {"codec", "both", "client", "server", "sender", "receiver", "intermediary", "node", "application"}
REASONS = ("Carried by ", "Nothing to show", "Departs: ")
NODE_ID = re.compile(r"`(tests/[\w/]+\.py::test_\w+)`")


class Row(NamedTuple):
    """One row of the table."""

    id: str
    section: str
    requirement: str
    level: str
    who: str
    shown: str


def rows() -> list[Row]:
    """Every row of the page, in its order."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if re.match(r"\| \d", line)]
    return [Row(*(cell.strip() for cell in line.strip("|").split(" | "))) for line in lines]


def node_ids_in(folder: Path) -> set[str]:
    """Node ids of all test functions in a folder."""
    found = set()
    for path in sorted(folder.glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found.add(f"{path.relative_to(ROOT).as_posix()}::{node.name}")
    return found


def node_ids_on_the_page() -> set[str]:
    """Node ids that the page names."""
    return {node_id for row in rows() for node_id in NODE_ID.findall(row.shown)}


def test_the_page_covers_every_chapter_of_the_standard_it_promises():
    chapters = {".".join(row.section.split(".")[:2]) for row in rows()}
    assert chapters >= {f"1.{n}" for n in range(1, 7)}
    assert chapters >= {f"2.{n}" for n in range(1, 9)}
    assert chapters >= {f"3.{n}" for n in range(2, 6)}
    assert "5.3" in chapters


def test_every_id_is_its_section_and_the_next_number():
    last: dict[str, int] = {}
    for row in rows():
        section, number = row.id.rsplit("-", 1)
        assert section == row.section
        assert int(number) == last.get(section, 0) + 1, row.id
        last[section] = int(number)


def test_levels_and_duties_are_those_the_page_explains():
    assert {row.level for row in rows()} <= LEVELS
    assert {row.who for row in rows()} <= DUTIES


def test_every_row_has_a_requirement_and_a_test_or_a_reason():
    without = [row.id for row in rows() if not (NODE_ID.findall(row.shown) or row.shown.startswith(REASONS))]
    assert without == []
    assert [row.id for row in rows() if len(row.requirement) < 10] == []


def test_every_test_the_page_names_exists():
    assert sorted(node_ids_on_the_page() - node_ids_in(FOLDER) - node_ids_in(UNIT_TESTS)) == []


def test_every_conformance_test_is_named_on_the_page():
    assert sorted(node_ids_in(FOLDER) - node_ids_on_the_page()) == []
