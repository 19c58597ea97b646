"""A password is in the text, in a variable or in a file, and what is in none of these is told."""

from pathlib import Path

import pytest

from routerd.config.passwords import LINE_MAX, is_plain, password_of
from routerd.management import ValueRefused

ENVIRONMENT = {"SECRET": "from a variable", "EMPTY": "", "OCTETS": "\udc80"}


@pytest.mark.parametrize(
    ("text", "password"),
    [
        ("hunter2", "hunter2"),
        ("pass:hunter2", "hunter2"),
        ("pass:env:SECRET", "env:SECRET"),
        ("literal:hunter2", "literal:hunter2"),
        ("env:SECRET", "from a variable"),
        ("env:EMPTY", ""),
    ],
)
def test_a_text_says_the_password_or_the_variable(text: str, password: str) -> None:
    assert password_of(text, ENVIRONMENT) == password


def test_a_file_has_it_in_its_first_line(tmp_path: Path) -> None:
    path = tmp_path / "password"
    for text in ("hunter2\nrest\n", "hunter2"):
        path.write_text(text)
        assert password_of(f"file:{path}", {}) == "hunter2"
    path.write_text("x" * LINE_MAX)
    assert len(password_of(f"file:{path}", {})) == LINE_MAX


@pytest.mark.parametrize("text", ["", "\nhunter2", "x" * (LINE_MAX + 1)])
def test_a_file_without_a_first_line_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "password"
    path.write_text(text)
    with pytest.raises(ValueRefused, match="has no password in its first line"):
        password_of(f"file:{path}", {})


def test_octets_that_are_no_text_are_told(tmp_path: Path) -> None:
    path = tmp_path / "password"
    path.write_bytes(b"\x80")
    for text, place in ((f"file:{path}", f"password file '{path}'"), ("env:OCTETS", "environment variable 'OCTETS'")):
        with pytest.raises(ValueRefused, match="has no text") as refused:
            password_of(text, ENVIRONMENT)
        assert str(refused.value) == f"{place} has no text"


def test_a_place_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueRefused, match="environment variable 'NONE'"):
        password_of("env:NONE", ENVIRONMENT)
    with pytest.raises(ValueRefused, match="Unable to open password file"):
        password_of(f"file:{tmp_path}", ENVIRONMENT)


@pytest.mark.parametrize(
    ("text", "is_it"), [("hunter2", True), ("pass:x", True), ("env:x", False), ("file:x", False)]
)
def test_plain_text_is_told_from_places(text: str, is_it: bool) -> None:
    assert is_plain(text) is is_it
