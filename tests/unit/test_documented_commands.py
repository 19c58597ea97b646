"""The commands in README.md and docs/ work as written.

Every block fenced as `console` is run: its lines that begin with `$ ` one after another in the root of the project.
A command goes on in lines that begin with `> `; lines below it are its output, compared with `...` standing for
anything. A block that can't be run inside the tests has a comment on the line above it, which says why:
`<!-- not run here: it installs packages -->`. With `<!-- beside make run -->`, it is run while that command runs; and
with `<!-- beside make run, needs rhea -->`, where that is installed. With `<!-- these go on running -->` its commands
are routers, or brokers too with `<!-- these go on running, needs rabbitmq -->`. The blocks behind it with
`<!-- beside these -->` are run while these run. They are tried again until they print what they should, since routers
take a moment to find each other.
"""

import doctest
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench import rabbitmq
from tests.interop import peer_process
from tests.system.processes import end_all, family_of
from tests.waiting import eventually

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))),
    ROOT / "tests/interop/README.md",
    *(ROOT / "driver/README.md", *sorted((ROOT / "driver/docs").glob("*.md"))),
    *(ROOT / "client/README.md", *sorted((ROOT / "client/docs").glob("*.md"))),
]

BLOCK = re.compile(
    r"(?:<!-- (?:not run here: (?P<reason>[^\n]+)|(?P<going>these go on running)(?:, needs (?P<needed>\w+))?|"
    r"(?P<beside>beside (?:make run|these))(?:, needs (?P<needs>\w+))?) -->\n)?"
    r"^```console\n(?P<text>.*?)^```$",
    re.M | re.S,
)
WITHIN_S = 60
READY_WITHIN_S = 180
"""Brokers take long to start."""
RUN_PORT = 5672


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
    beside: str | None = None
    needs: str | None = None
    is_going_on: bool = False


def commands_in(text: str) -> tuple[Command, ...]:
    parts = re.split(r"^\$ ", text, flags=re.M)
    assert parts[0] == "", "a console block begins with a command"
    return tuple(map(command_in, parts[1:]))


def command_in(text: str) -> Command:
    lines = text.splitlines(keepends=True)
    end = next((at for at, line in enumerate(lines) if at > 0 and line[:2].rstrip("\n") not in ("> ", ">")), len(lines))
    line = lines[0] + "".join(one[2:] or "\n" for one in lines[1:end])
    return Command(line.removesuffix("\n"), "".join(lines[end:]))


def blocks_in(page: Path, text: str) -> list[Block]:
    return [
        Block(
            f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, found.start('text'))}",
            found["reason"],
            commands_in(found["text"]),
            found["beside"],
            found["needs"] or found["needed"],
            found["going"] is not None,
        )
        for found in BLOCK.finditer(text)
    ]


BLOCKS = [block for page in PAGES for block in blocks_in(page, page.read_text())]
RUN_HERE = [block for block in BLOCKS if block.reason is None and block.beside is None and not block.is_going_on]
RUN_BESIDE = [block for block in BLOCKS if block.beside == "beside make run"]


def followed(blocks: list[Block]) -> dict[str, tuple[Block, list[Block]]]:
    """Return by their places the blocks whose commands go on running, and those that are run beside each."""
    found: dict[str, tuple[Block, list[Block]]] = {}
    last = ""
    for block in blocks:
        if block.is_going_on:
            last = block.place
            found[last] = (block, [])
        elif block.beside == "beside these":
            found[last][1].append(block)
    return found


GO_ON = followed(BLOCKS)


def absence(what: str) -> str | None:
    """Return why something is not here that commands need, or None."""
    return rabbitmq.absence() if what == "rabbitmq" else peer_process.absence(what)


def plain_environment() -> dict[str, str]:
    """The environment without what a make around us has put there."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}


def check_command(command: Command) -> None:
    done = subprocess.run(
        ["bash", "-c", command.line],
        cwd=ROOT,
        env=plain_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
    )
    assert done.returncode == 0, f"{command.line}\n{done.stderr}"
    if command.output:
        checker = doctest.OutputChecker()
        assert checker.check_output(command.output, done.stdout, doctest.ELLIPSIS), f"{command.line}\n{done.stdout}"


with_environment = pytest.mark.skipif(
    not (ROOT / ".venv").is_dir(), reason="the commands use .venv, which make setup makes"
)


@with_environment
@pytest.mark.parametrize("block", RUN_HERE, ids=[block.place for block in RUN_HERE])
def test_the_commands_of_a_page_work_and_print_what_it_says(block: Block) -> None:
    for command in block.commands:
        check_command(command)


@pytest.fixture(scope="module")
def make_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """`make run`, from when its router is ready."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", RUN_PORT)) == 0:
            pytest.skip(f"somebody else listens on port {RUN_PORT}")
    log = tmp_path_factory.mktemp("run") / "log"
    with log.open("w") as output:
        running = subprocess.Popen(
            ["make", "run"], cwd=ROOT, env=plain_environment(), stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        has_begun = lambda: "Operational" in log.read_text() or running.poll() is not None  # noqa: E731
        eventually(has_begun, "the router is ready", READY_WITHIN_S)
        assert running.poll() is None, log.read_text()
        # The commands give it 5 s; on a busy machine its first answer can take longer.
        patient = [".venv/bin/routerstat", "-t", str(int(WITHIN_S))]
        subprocess.run(patient, cwd=ROOT, env=plain_environment(), stdout=subprocess.DEVNULL, check=True)
        yield
    finally:
        everything = family_of(running.pid)
        # The command alone: it ends the others in order.
        for one in everything:
            if "bin/routerd " in one.title:
                one.signal(signal.SIGTERM)
        end_all(everything, WITHIN_S)
        running.wait(WITHIN_S)


@with_environment
@pytest.mark.parametrize("block", RUN_BESIDE, ids=[block.place for block in RUN_BESIDE])
def test_the_commands_beside_a_running_router_work(make_run: None, block: Block) -> None:
    if block.needs and (reason := absence(block.needs)):
        pytest.skip(reason)
    for command in block.commands:
        check_command(command)


@contextmanager
def going_on(block: Block, folder: Path) -> Iterator[None]:
    """Run the commands of a block, from when their routers are ready."""
    for port in map(int, re.findall(r"(?m)^ *port: (\d+)$", "".join(configurations(block)))):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                pytest.skip(f"somebody else listens on port {port}")
    running: list[subprocess.Popen[bytes]] = []
    try:
        for number, command in enumerate(block.commands):
            log = folder / str(number)
            with log.open("w") as output:
                started = subprocess.Popen(
                    ["bash", "-c", f"exec {command.line}"],
                    cwd=ROOT,
                    env=plain_environment(),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                )
            running.append(started)
            has_begun = lambda: "Operational" in log.read_text() or started.poll() is not None  # noqa: B023, E731
            eventually(has_begun, command.line, READY_WITHIN_S)
            assert started.poll() is None, log.read_text()
        yield
    finally:
        for one in running:
            one.terminate()
        for one in running:
            one.wait(WITHIN_S)


def configurations(block: Block) -> list[str]:
    return [(ROOT / name).read_text() for command in block.commands for name in re.findall(r"-c (\S+)", command.line)]


def failure_of(command: Command) -> str:
    """Return what is wrong with a command, or nothing."""
    try:
        check_command(command)
    except AssertionError as error:
        return str(error) or repr(error)
    return ""


@with_environment
@pytest.mark.parametrize("place", GO_ON)
def test_the_commands_beside_those_that_go_on_work(place: str, tmp_path: Path) -> None:
    block, others = GO_ON[place]
    if block.needs and (reason := absence(block.needs)):
        pytest.skip(reason)
    with going_on(block, tmp_path):
        for command in (command for other in others for command in other.commands):
            eventually(lambda: not failure_of(command), lambda: failure_of(command), WITHIN_S)  # noqa: B023


def test_a_command_may_go_on_in_further_lines() -> None:
    assert commands_in("$ cat <<END\n> a\n>\n>  b\n> END\na\n\n b\n$ c\n") == (
        Command("cat <<END\na\n\n b\nEND", "a\n\n b\n"),
        Command("c", ""),
    )


def test_a_block_is_read_with_its_commands_outputs_and_reason() -> None:
    slow = "<!-- not run here: slow -->\n```console\n$ d\n```\n"
    text = f"{slow}\n```console\n$ a b\nx\ny\n$ c\n```\n\n{slow}"
    assert blocks_in(ROOT / "README.md", text) == [
        Block("README.md:2", "slow", (Command("d", ""),)),
        Block("README.md:6", None, (Command("a b", "x\ny\n"), Command("c", ""))),
        Block("README.md:14", "slow", (Command("d", ""),)),
    ]


def test_blocks_are_run_beside_those_that_go_on_before_them() -> None:
    text = "".join(
        f"<!-- {comment} -->\n```console\n$ {command}\n```\n"
        for comment, command in (
            *(("these go on running", "a"), ("beside these", "b"), ("beside make run", "c")),
            *(("beside these", "d"), ("these go on running", "e"), ("beside these", "f")),
        )
    )
    found = followed(blocks_in(ROOT / "README.md", text)).values()
    lines = [[block.commands[0].line for block in (going, *beside)] for going, beside in found]
    assert lines == [["a", "b", "d"], ["e", "f"]]


def test_a_command_that_fails_or_prints_something_else_is_found() -> None:
    check_command(Command("echo one two", "one ...\n"))
    with pytest.raises(AssertionError):
        check_command(Command("echo one", "two\n"))
    with pytest.raises(AssertionError):
        check_command(Command("exit 3", ""))


def test_the_readme_opens_with_the_two_commands() -> None:
    assert [command.line for command in BLOCKS[0].commands] == ["make run", "make test"]


def test_what_the_first_programs_need_is_installed_by_a_command_before_them() -> None:
    readme = [block for block in BLOCKS if block.place.startswith("README.md:")]
    first = next(at for at, block in enumerate(readme) if block.needs)
    before = [command.line for block in readme[:first] for command in block.commands]
    assert {block.needs for block in readme} == {None, "proton", "rhea"}
    assert "make clients" in before
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", "clients"],
        cwd=ROOT,
        env=plain_environment(),
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
    )
    assert (done.returncode, "install-proton.sh .venv/bin/python" in done.stdout) == (0, True)
    assert "npm ci --prefix tests/interop/rhea" in done.stdout
    # What only tests need takes minutes, and as root packages of the system.
    assert not re.search(r"system-packages|analytics", done.stdout)


@pytest.mark.soak
@with_environment
def test_the_first_program_runs_with_nothing_but_what_was_installed_for_it(make_run: None, tmp_path: Path) -> None:
    python = tmp_path / "venv/bin/python"
    for command in ([sys.executable, "-m", "venv", tmp_path / "venv"], ["tests/interop/install-proton.sh", python]):
        subprocess.run(command, cwd=ROOT, env=plain_environment(), check=True, capture_output=True)
    [block] = [block for block in BLOCKS if block.place.startswith("README.md:") and block.needs == "proton"]
    for command in block.commands:
        check_command(Command(command.line.replace(".venv/bin/python", str(python)), command.output))
