"""The commands in README.md and docs/ work as written.

Every block fenced as `console` is run: its lines that begin with `$ ` one after another in the root of the project.
Lines below a command are its output, compared with `...` standing for anything. A block that can't be run inside the
tests has a comment on the line above it, which says why: `<!-- not run here: it installs packages -->`.
"""

import doctest
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md")), ROOT / "tests/interop/README.md"]

BLOCK = re.compile(r"(?:<!-- not run here: (?P<reason>[^\n]+) -->\n)?^```console\n(?P<text>.*?)^```$", re.M | re.S)
WITHIN_S = 60


@dataclass(frozen=True)
class Command:
    """A command and the output that is written below it, if any."""

    line: str
    output: str


@dataclass(frozen=True)
class Block:
    """One block of commands, and why it is not run, if it is not."""

    place: str
    reason: str | None
    commands: tuple[Command, ...]


def commands_in(text: str) -> tuple[Command, ...]:
    parts = re.split(r"^\$ ", text, flags=re.M)
    assert parts[0] == "", "a console block begins with a command"
    return tuple(Command(*part.partition("\n")[::2]) for part in parts[1:])


def blocks_in(page: Path, text: str) -> list[Block]:
    return [
        Block(
            f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, found.start('text'))}",
            found["reason"],
            commands_in(found["text"]),
        )
        for found in BLOCK.finditer(text)
    ]


BLOCKS = [block for page in PAGES for block in blocks_in(page, page.read_text())]
RUN_HERE = [block for block in BLOCKS if block.reason is None]


def check_command(command: Command) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        ["bash", "-c", command.line],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
    )
    assert done.returncode == 0, f"{command.line}\n{done.stderr}"
    if command.output:
        checker = doctest.OutputChecker()
        assert checker.check_output(command.output, done.stdout, doctest.ELLIPSIS), f"{command.line}\n{done.stdout}"


@pytest.mark.skipif(not (ROOT / ".venv").is_dir(), reason="the commands use .venv, which make setup makes")
@pytest.mark.parametrize("block", RUN_HERE, ids=[block.place for block in RUN_HERE])
def test_the_commands_of_a_page_work_and_print_what_it_says(block: Block) -> None:
    for command in block.commands:
        check_command(command)


def test_a_block_is_read_with_its_commands_outputs_and_reason() -> None:
    slow = "<!-- not run here: slow -->\n```console\n$ d\n```\n"
    text = f"{slow}\n```console\n$ a b\nx\ny\n$ c\n```\n\n{slow}"
    assert blocks_in(ROOT / "README.md", text) == [
        Block("README.md:2", "slow", (Command("d", ""),)),
        Block("README.md:6", None, (Command("a b", "x\ny\n"), Command("c", ""))),
        Block("README.md:14", "slow", (Command("d", ""),)),
    ]


def test_a_command_that_fails_or_prints_something_else_is_found() -> None:
    check_command(Command("echo one two", "one ...\n"))
    with pytest.raises(AssertionError):
        check_command(Command("echo one", "two\n"))
    with pytest.raises(AssertionError):
        check_command(Command("exit 3", ""))


def test_the_readme_opens_with_the_two_commands() -> None:
    assert [command.line for command in BLOCKS[0].commands] == ["make run", "make test"]
