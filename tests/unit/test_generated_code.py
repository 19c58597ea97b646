"""The code that dataclasses generate is kept for the next start, and nothing is different with it."""

import marshal
import os
import subprocess
import sys
from pathlib import Path

import pytest

from routerd import generated_code
from routerd.generated_code import PARTS_MAX, GeneratedCode

DAMAGED = generated_code.MAGIC_NUMBER + b"\0damaged"
OTHER = generated_code.MAGIC_NUMBER + marshal.dumps(["no dictionary"])
TEXT = "def double(number):\n return 2 * number"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return str(tmp_path / "kept.parts")


def doubled(code: GeneratedCode) -> int:
    names: dict[str, object] = {}
    code.run(TEXT, {}, names)
    double = names["double"]
    assert callable(double)
    return int(double(4))


def run_and_keep(file: str) -> None:
    code = GeneratedCode(file)
    assert doubled(code) == 8
    code.keep()


def forbid_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object) -> None:
        pytest.fail("it was compiled again")

    monkeypatch.setattr(generated_code, "compile", refuse, raising=False)


def test_what_was_compiled_once_is_taken_from_the_file(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run_and_keep(file)
    forbid_compiling(monkeypatch)
    assert doubled(GeneratedCode(file)) == 8


def test_what_several_processes_compiled_is_kept_together(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    early = GeneratedCode(file)
    early.run("a = 1", {}, {})
    run_and_keep(file)
    early.keep()
    forbid_compiling(monkeypatch)
    late = GeneratedCode(file)
    late.run("a = 1", {}, {})
    assert doubled(late) == 8


def test_code_objects_are_run_as_they_are(file: str) -> None:
    names: dict[str, object] = {}
    GeneratedCode(file).run(compile("a = 5", "<string>", "exec"), {}, names)
    assert names == {"a": 5}


@pytest.mark.parametrize("octets", [b"", b"of another version of Python", DAMAGED, OTHER])
def test_a_file_that_cannot_be_read_is_written_anew(
    file: str, octets: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(file).write_bytes(octets)
    run_and_keep(file)
    forbid_compiling(monkeypatch)
    assert doubled(GeneratedCode(file)) == 8


def test_a_file_of_too_many_versions_is_begun_anew(file: str) -> None:
    code = GeneratedCode(file)
    for number in range(PARTS_MAX):
        code.run(f"a = {number}", {}, {})
    code.keep()
    size = Path(file).stat().st_size
    run_and_keep(file)
    assert Path(file).stat().st_size < size / 1000


def test_nothing_is_written_where_python_writes_no_code(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    run_and_keep(file)
    assert not Path(file).exists()


def test_a_folder_that_is_not_there_is_none_to_write_to(tmp_path: Path, file: str) -> None:
    run_and_keep(str(tmp_path / "none" / "kept.parts"))
    assert list(tmp_path.iterdir()) == []


def started(folder: Path, code: str, **environment: str) -> str:
    """Return what a Python says that keeps its code in a folder."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-X", f"pycache_prefix={folder}", "-c", code]
    return subprocess.run(command, env=variables | environment, check=True, capture_output=True, text=True).stdout


def test_a_program_keeps_its_code_for_the_next_start(tmp_path: Path) -> None:
    program = "import sys; sys.argv = ['routerd', '--version']; from routerd.cli.programs import routerd; routerd()"
    started(tmp_path, program)
    (file,) = tmp_path.rglob("*.parts")
    written = file.stat().st_mtime_ns
    refuse = "import routerd.generated_code\nrouterd.generated_code.compile = None\n"
    assert started(tmp_path, refuse + program) == started(tmp_path, program, ROUTERD_TRICKS="off")
    assert file.stat().st_mtime_ns == written


def test_without_tricks_dataclasses_are_left_alone(tmp_path: Path) -> None:
    question = "import routerd, dataclasses; print('exec' in vars(dataclasses))"
    assert started(tmp_path, question) == "True\n"
    assert started(tmp_path, question, ROUTERD_TRICKS="off") == "False\n"
