"""docs/adding-an-entity.md works: it is followed in a copy of the project, and the kind that it adds is there.

A block with `<!-- new file: PATH -->` above it becomes a file. One with `<!-- change: PATH -->` has lines of a file,
and lines to add behind them. One fenced as `shell-session` is run, beside the router of the file that is named above
it. The output of its commands is compared; `...` stands for anything.
"""

import doctest
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.system.launched import ROOT, Launched, environment
from tests.system.management_client import ManagementClient
from tests.system.proton_client import ProtonClient
from tests.waiting import WITHIN_S

PAGE = ROOT / "docs" / "adding-an-entity.md"
COPIED = ("actors", "docs", "routerd", "tests", "pyproject.toml")
BLOCK = re.compile(
    r"^(?:<!-- (?P<what>new file|change|beside a router with): (?P<of>[^\n]+) -->\n)?"
    r"```(?P<language>[\w-]*)\n(?P<text>.*?)^```$",
    re.M | re.S,
)
CHANNEL = "org.mobula.channel"


@dataclass(frozen=True)
class Block:
    """A block of the page, and what is to be done with it."""

    what: str
    of: str
    text: str


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project, which has the files and the rows of the page."""
    root = tmp_path_factory.mktemp("project")
    for name in COPIED:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, root / name, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
        else:
            shutil.copy2(place, root / name)
    for block in blocks():
        path = root / block.of
        if block.what == "new file":
            path.write_text(block.text)
        elif block.what == "change":
            path.write_text(changed(path.read_text(), block.text))
    return root


@pytest.fixture(scope="module")
def router(project: Path) -> Iterator[Launched]:
    """The router of the page, at any port."""
    text = (project / "right.conf").read_text()
    assert text.count("port: 5672") == 1
    folder = project / "run"
    folder.mkdir()
    launched = Launched(
        folder, text.replace("port: 5672", "host: 127.0.0.1\n    port: 0"), "--in-process", root=project
    )
    launched.port()
    yield launched
    launched.close()


def blocks() -> list[Block]:
    """Return the blocks of the page that are for something."""
    found = (
        Block("run" if one["language"] == "shell-session" else one["what"] or "", one["of"] or "", one["text"])
        for one in BLOCK.finditer(PAGE.read_text())
    )
    return [one for one in found if one.what]


def changed(text: str, change: str) -> str:
    """Return a text with the lines that a change adds behind others."""
    behind = ""
    for line in change.splitlines():
        sign, words = line[:1], line[1:]
        if sign == "+":
            text = text.replace(behind, f"{behind}{words}\n")
            behind += f"{words}\n"
        else:
            behind = f"{words}\n"
            assert text.count(behind) == 1, f"there is one line {words!r}"
    return text


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yield each command and its output."""
    for part in re.split(r"^\$ ", text, flags=re.M)[1:]:
        line, _, output = part.partition("\n")
        yield line, output


def run(line: str, project: Path, port: int | None) -> str:
    """Run a command in the copy, and return what it prints."""
    tool, rest = line.split(" ", 1)
    python = sys.executable
    words = {
        "python": f"{python} {rest}",
        "routermanage": f"{python} -m routerd.cli.routermanage -b 127.0.0.1:{port} {rest}",
    }
    return subprocess.run(
        words.get(tool, line),
        shell=True,
        cwd=project,
        env=environment(project),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=WITHIN_S,
    ).stdout


def check_output(line: str, wanted: str, found: str) -> None:
    """Compare what a command prints with what stands in the page."""
    is_alike = doctest.OutputChecker().check_output(wanted, found, doctest.ELLIPSIS)
    assert is_alike, f"{line}\n\nprints\n\n{found}\nand not\n\n{wanted}"


def test_the_commands_of_the_page_print_what_it_says(project: Path, router: Launched) -> None:
    for block in blocks():
        if block.what == "run":
            for line, wanted in commands(block.text):
                check_output(line, wanted, run(line, project, router.port()))


def test_the_documents_have_the_kind(project: Path) -> None:
    for module in ("routerd.config.document", "routerd.management.document"):
        assert run(f"python -m {module}", project, None) == ""
    configuration = (project / "docs" / "configuration.md").read_text()
    chapter = configuration.partition("## `channel`")[2].partition("## ")[0]
    assert "| `receivers` | `all`, `one` | `all` | Who gets a message: all receivers or one. |" in chapter
    assert "No two sections have the same address." in chapter
    management = (project / "docs" / "management.md").read_text()
    assert "* CREATE, UPDATE and DELETE of `channel`. An address that is in use keeps its receivers." in management
    assert f"| `{CHANNEL}` | CREATE, UPDATE, DELETE, READ |" in management


def test_requests_create_change_and_delete_what_workers_have(router: Launched) -> None:
    management = ManagementClient(router.port())
    try:
        schema = management.ask({"operation": "GET-SCHEMA", "type": "org.amqp.management", "name": "self"}).body
        assert schema["entityTypes"]["channel"]["attributes"]["receivers"]["type"] == ["all", "one"]
        asked = {"operation": "CREATE", "type": CHANNEL, "name": "wrong"}
        told = management.ask(asked, {"address": "a", "receivers": "most"})
        assert (told.status, told.description) == (
            400,
            f"{CHANNEL}: Invalid value for enum['all', 'one']: 'most'",
        )
        told = management.ask(asked, {"address": "a.*"})
        assert (told.status, told.description) == (400, "address: is a pattern")
        assert management.ask(asked | {"name": "a"}, {"address": "a"}).status == 201
        assert management.ask(asked | {"name": "b"}, {"address": "b"}).status == 201
        updated = management.ask({"operation": "UPDATE", "type": CHANNEL, "name": "b"}, {"receivers": "one"})
        assert updated.body["receivers"] == "one"
        assert management.ask({"operation": "DELETE", "type": CHANNEL, "name": "a"}).status == 204
        assert management.ask(asked | {"name": "c"}, {"address": "c"}).status == 201
        with ProtonClient(router.port()) as client:
            for address in ("a", "b", "c"):
                client.consumer(address)
            live = management.query("router.address", "name", "distribution")
        found = {one["name"]: one["distribution"] for one in live}
        # The default is balanced: `a` is not configured any more.
        assert [found[f"M0{name}"] for name in ("a", "b", "c")] == ["balanced", "balanced", "multicast"]
    finally:
        management.close()
