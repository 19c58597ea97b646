"""docs/tricks.md names each module that uses a platform trick."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/tricks.md").read_text()
HOME = "routerd/io/scheduling/tricks.py"

SIGNS = (
    # Linux and the C library, by other means than Python's own functions.
    *(r"CDLL\(None", r"LD_PRELOAD", r"prctl\(", r"sched_(?:yield|setaffinity|setscheduler|setattr)\b", r"SCHED_IDLE"),
    # Python.
    *(r"gc\.(?:freeze|set_threshold)\(", r"setswitchinterval\(", r"sys\.meta_path", r"sys\.modules\.setdefault"),
    r"vars\(dataclasses\)",
    # CPython's objects by their fields, Ray's and Cython's private parts, the compiler.
    *(r"->ob_\w+", r"\bray\._\w+", r"Cython\.Compiler", r"-fprofile-"),
    # Questions whether there are tricks.
    *(r"\buses_tricks\(\)", r"\b_uses_tricks\b"),
)
ASK_FOR_OTHERS = {"routerd/io/worker/worker.py"}
"""They ask on behalf of a module that is named."""


def sources() -> Iterator[tuple[str, str]]:
    for top in ("routerd", "actors", "compiling"):
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix in (".py", ".pxd", ".c"):
                yield str(file.relative_to(ROOT)), file.read_text()


def test_each_module_with_a_trick_is_on_the_page() -> None:
    found = {name for name, text in sources() if any(re.search(sign, text) for sign in SIGNS)}
    assert found >= {HOME, "actors/own_ray.py", "routerd/io/scheduling/heap.py"}
    assert sorted(name for name in found - ASK_FOR_OTHERS if name not in PAGE) == []


def test_each_module_on_the_page_is_there() -> None:
    named = re.findall(r"`((?:routerd|actors|compiling|tests)/[\w/]+\.\w+)`", PAGE)
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_each_trick_has_a_module_and_a_switch() -> None:
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if line.startswith("| ")]
    tricks = [row for row in rows if row[0].strip() != "trick"]
    assert len(tricks) > 15
    assert [row[0] for row in tricks if len(row) != 4 or "`" not in row[2] or "`" not in row[3]] == []
