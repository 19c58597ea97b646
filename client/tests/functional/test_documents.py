"""What README.md, the pages and the examples say is so."""

import ast
import io
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import mobula_client
from mobula_client import ClientError, errors

CLIENT = Path(__file__).resolve().parents[2]
TREE = CLIENT.parent
PAGES = [CLIENT / "README.md", *sorted((CLIENT / "docs").glob("*.md"))]
BLOCK = re.compile(
    r"(<!-- not run: [^\n]+ -->\n)?^```python\n(.*?)^```$(?:\n+It prints:\n+```text\n(.*?)```)?", re.M | re.S
)
WITHIN_S = 60


def programs() -> list[tuple[str, str, str | None]]:
    """Return the programs of the pages that can be run: page, text, and output where the page has it."""
    found = []
    for page in PAGES:
        for skipped, text, output in BLOCK.findall(page.read_text()):
            if not skipped:
                found.append((page.name, text, output or None))
    return found


@pytest.mark.parametrize(("page", "text", "output"), programs(), ids=[page for page, _, _ in programs()])
def test_the_program_of_a_page_works(
    page: str, text: str, output: str | None, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    program = text.replace("amqp://localhost", url)
    assert program != text
    with redirect_stdout(printed):
        exec(compile(program, page, "exec"), {"__name__": "__main__"})
    assert printed.getvalue() == output if output else printed.getvalue() != ""


def test_programs_that_are_not_run_are_python() -> None:
    skipped = [
        (page.name, text)
        for page in PAGES
        for reason, text, _ in BLOCK.findall(page.read_text())
        if reason
    ]
    assert len(skipped) == 4
    for page, text in skipped:
        body = "".join(f"    {line}\n" for line in text.splitlines())
        ast.parse(f"async def program():\n{body}", page)


def test_the_program_of_the_readme_has_ten_lines() -> None:
    (_, text, _), *_ = programs()
    assert len([line for line in text.splitlines() if line and "import" not in line]) <= 10


def test_links_between_pages_lead_somewhere() -> None:
    broken = [
        (path.name, target)
        for path in PAGES
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text())
        if not (path.parent / target).exists()
    ]
    assert broken == []


def test_the_page_of_errors_has_each_of_them() -> None:
    text = (CLIENT / "docs/errors.md").read_text()
    named = set(re.findall(r"^\| `(\w+)`", text, re.M))
    exported = {
        name
        for name in mobula_client.__all__
        if isinstance(one := getattr(mobula_client, name), type) and issubclass(one, ClientError)
    }
    defined = {one.__name__ for one in vars(errors).values() if isinstance(one, type) and issubclass(one, ClientError)}
    assert exported == defined
    assert named == defined - {"ClientError"}


def test_the_licence_is_that_of_the_router() -> None:
    assert (CLIENT / "LICENSE").read_text() == (TREE / "LICENSE").read_text()


def run(name: str, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, str(CLIENT / "examples" / name), *arguments]
    environment = os.environ | {"PYTHONPATH": f"{TREE}{os.pathsep}{CLIENT}"}
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_examples_publish_and_subscribe(url: str, tmp_path: Path) -> None:
    reader = run("subscribe.py", url, "4")
    assert reader.stdout is not None
    assert reader.stdout.readline() == "subscribed\n"
    for _ in range(2):
        writer = run("publish.py", url, "2", str(tmp_path / "meter.db"))
        assert writer.communicate(timeout=WITHIN_S) == ("published 2 readings\n", "")
    assert reader.communicate(timeout=WITHIN_S) == ("".join(f"reading {number}\n" for number in range(4)), "")


def test_the_examples_ask_and_answer(url: str) -> None:
    service = run("service.py", url, "3")
    assert service.stdout is not None
    assert service.stdout.readline() == "ready\n"
    asking = run("ask.py", url, "20", "one", "4")
    assert asking.communicate(timeout=WITHIN_S) == ("40\n'one' is not a number\n8\n", "")
    assert service.communicate(timeout=WITHIN_S) == ("", "")
