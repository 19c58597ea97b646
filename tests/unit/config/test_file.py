"""Files: which form one has, and what is told of one that can't be read."""

from pathlib import Path

import pytest

from routerd.config import ConfigErrors, load_config
from routerd.config.file import read_sections
from routerd.config.sections import Given, Section

ROUTER = [Section("router", 1, {"id": Given("A", 2)})]


def test_the_name_tells_the_form() -> None:
    assert read_sections("router {\nid: A\n}\n", "r.conf").all == ROUTER
    assert read_sections("router {\nid: A\n}\n", "json").all == ROUTER
    assert read_sections('[["router", {\n"id": "A"}]]', "r.json").all == ROUTER


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_on_any_system(end: str) -> None:
    assert read_sections(end.join(["router {", "id: A", "}", ""]), "r.conf").all == ROUTER


def rejection(path: Path) -> str:
    with pytest.raises(ConfigErrors) as rejected:
        load_config(path)
    return str(rejected.value)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "r.conf"
    path.write_bytes(b"\xef\xbb\xbfrouter {\n id: A\n}\n")
    assert load_config(path).router.id == "A"


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "r.conf"
    assert rejection(path) == (
        f"Cannot load configuration file {path}:"
        " Not found: Configuration file could not be opened: No such file or directory"
    )


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    assert rejection(tmp_path) == (
        f"Cannot load configuration file {tmp_path}: Not found: Configuration file could not be opened: Is a directory"
    )


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.conf"
    path.touch()
    assert rejection(path) == (f"Cannot load configuration file {path}: Configuration: Configuration file was empty")


def test_octets_that_are_no_text_are_told_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "r.conf"
    path.write_bytes(b"router {\n id: \xff\n}\n")
    assert rejection(path) == f"Cannot load configuration file {path}: line 2: An octet that is not UTF-8"


def test_half_a_character_is_told_with_its_line() -> None:
    with pytest.raises(ConfigErrors) as rejected:
        read_sections("router {\n id: \ud800\n}\n", "r.conf")
    assert str(rejected.value) == "Cannot load configuration file r.conf: line 2: A character that is not text"


def test_a_fault_of_syntax_is_told_with_what_would_be_right() -> None:
    with pytest.raises(ConfigErrors) as rejected:
        read_sections("router {\n id:\n}\n", "r.conf")
    assert str(rejected.value) == (
        "Cannot load configuration file r.conf: line 2: Invalid config file syntax (line 2): id:;"
        " allowed: a value for 'id', or no such line"
    )
