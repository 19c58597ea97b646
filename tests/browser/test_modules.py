"""The files of the console: types, modules that need no browser, and what comes from others."""

import json
import re
import shutil
import subprocess
from contextlib import suppress
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routerd.cli.manage.rights import Membership, rights
from routerd.core import DuplicatePattern
from routerd.core.directory.pattern_tree import PatternTree
from tests.browser.made_up_facts import ADDRESSES, RULES, made_up_facts
from tests.unit.cli.manage.explaining import told
from tests.waiting import WITHIN_S

HERE = Path(__file__).resolve().parent
CONSOLE = HERE.parents[1] / "routerd/console"
PACKAGES = HERE / "node_modules"
EXAMPLES = HERE.parent / "unit/cli/manage/explanations.json"

needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not PACKAGES.is_dir(), reason="node and the packages of tests/browser are needed"
)
VENDORED = re.compile(r"^\| `([^`]+)` \| (\w+) \| ([\d.]+) \| ([\w.-]+) \| `([^`]+)` \| (.*?) ?\|$", re.M)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the console's modules that Node takes for modules, with types in the place of what others wrote."""
    shutil.copytree(CONSOLE, tmp_path / "console")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copy(HERE / "modules.test.mjs", tmp_path)
    shutil.copy(EXAMPLES, tmp_path)
    return tmp_path


def run(*command: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, input=stdin, capture_output=True, text=True, timeout=3 * WITHIN_S)


@needs_node
def test_modules_that_need_no_browser_are_right(tree: Path) -> None:
    done = run("node", "--test", "modules.test.mjs", cwd=tree)
    assert done.returncode == 0, done.stdout


@needs_node
def test_modules_have_the_types_that_they_say(tmp_path: Path) -> None:
    shutil.copytree(CONSOLE / "app", tmp_path / "app")
    shutil.copytree(HERE / "types/vendor", tmp_path / "vendor")
    shutil.copy(HERE / "tsconfig.json", tmp_path)
    (tmp_path / "node_modules").symlink_to(PACKAGES)
    done = run("node", "node_modules/typescript/bin/tsc", "-p", "tsconfig.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")


@needs_node
def test_files_of_others_are_as_their_packages_have_them() -> None:
    rows = VENDORED.findall((CONSOLE / "vendor/README.md").read_text())
    listed = {name for name, *_ in rows}
    assert listed == {one.name for one in (CONSOLE / "vendor").iterdir() if one.suffix in (".js", ".mjs", ".css")}
    for name, package, version, licence, source, _ in rows:
        about = json.loads((PACKAGES / package / "package.json").read_text())
        assert (about["version"], about["license"]) == (version, licence)
        assert (CONSOLE / f"vendor/LICENSE-{package}").read_bytes() == (PACKAGES / package / "LICENSE").read_bytes()
        text = re.sub(r"(?m)^//# sourceMappingURL=.*\n?", "", (PACKAGES / package / source).read_text())
        assert (CONSOLE / "vendor" / name).read_text() == text.replace('from"preact"', 'from"./preact.mjs"'), name


WORDS = st.sampled_from(["a", "b", "*", "#"])
PATTERNS = st.lists(WORDS, min_size=1, max_size=4).map(".".join)
CASES = st.tuples(
    st.lists(PATTERNS, min_size=1, max_size=5, unique=True),
    st.lists(st.sampled_from(["a", "b", "c", "*", "#"]), min_size=1, max_size=4).map("/".join),
)
MATCH = """
import { matching } from './console/app/patterns.js';
let text = '';
process.stdin.on('data', (part) => { text += part; }).on('end', () => {
    const best = ([patterns, to]) => matching(patterns.map((pattern) => ({ pattern })), to)[0]?.pattern ?? null;
    console.log(JSON.stringify(JSON.parse(text).map(best)));
});
"""


@needs_node
def test_patterns_match_as_in_the_router(tree: Path) -> None:
    cases: list[tuple[list[str], str]] = []

    @settings(max_examples=400)
    @given(CASES)
    def collect(case: tuple[list[str], str]) -> None:
        cases.append(case)

    collect()
    (tree / "match.mjs").write_text(MATCH)
    done = run("node", "match.mjs", cwd=tree, stdin=json.dumps(cases))
    assert done.returncode == 0, done.stderr
    for (patterns, address), found in zip(cases, json.loads(done.stdout), strict=True):
        expected: PatternTree[str] = PatternTree()
        for pattern in patterns:
            # Of patterns that say the same, the first one counts.
            with suppress(DuplicatePattern):
                expected.add(pattern, pattern)
        assert (patterns, address, found) == (patterns, address, expected.match(address))


USERS = (None, "u", "a.b", "*")
RANDOM_FACTS = 3000

EXPLAIN = """
import { explain } from './console/app/explain.js';
let text = '';
process.stdin.on('data', (part) => { text += part; }).on('end', () => {
    const told = ([address, facts]) => {
        const found = explain(address, facts);
        const candidates = found.candidates.map(({ href, ...one }) => one);
        return { ...found, candidates, steps: found.steps.map((one) => [one.title, one.text]) };
    };
    console.log(JSON.stringify(JSON.parse(text).map(told)));
});
"""


@needs_node
def test_what_is_explained_is_what_routerstat_explains(tree: Path) -> None:
    random = Random(30)
    cases = [(random.choice(ADDRESSES), made_up_facts(random)) for _ in range(RANDOM_FACTS)]
    (tree / "explain.mjs").write_text(EXPLAIN)
    done = run("node", "explain.mjs", cwd=tree, stdin=json.dumps(cases))
    assert done.returncode == 0, done.stderr
    for (address, facts), found in zip(cases, json.loads(done.stdout), strict=True):
        assert (address, facts, found) == (address, facts, told(address, facts))


RIGHTS = """
import { rights } from './console/app/rights.js';
let text = '';
process.stdin.on('data', (part) => { text += part; }).on('end', () => {
    const told = ([address, settings, user]) => {
        const asker = user === null ? null : { user, vhost: 'v', group: 'g' };
        const [{ maySend, mayReceive }] = rights(address, [{ hostname: 'v', groups: { g: settings } }], asker);
        return [maySend, mayReceive];
    };
    console.log(JSON.stringify(JSON.parse(text).map(told)));
});
"""


@needs_node
def test_rights_are_those_of_the_router(tree: Path) -> None:
    cases = [
        (address, {kind: rules}, user)
        for address, rules, user in product(ADDRESSES, RULES, USERS)
        for kind in ("targets", "targetPattern")
    ]
    (tree / "rights.mjs").write_text(RIGHTS)
    done = run("node", "rights.mjs", cwd=tree, stdin=json.dumps(cases))
    assert done.returncode == 0, done.stderr
    for (address, group, user), found in zip(cases, json.loads(done.stdout), strict=True):
        asker = None if user is None else Membership(user, "v", "g")
        [right] = rights(address, [{"hostname": "v", "groups": {"g": group}}], asker)
        assert (address, group, user, found) == (address, group, user, [right.may_send, right.may_receive])


def test_nothing_is_inline_and_nothing_comes_from_elsewhere() -> None:
    page = (CONSOLE / "index.html").read_text()
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page) == []
    for file in [CONSOLE / "index.html", *CONSOLE.glob("app/**/*.js"), *CONSOLE.glob("styles/*.css")]:
        assert re.findall(r"(?:https?:)?//[a-z0-9.-]+\.[a-z]{2,}", file.read_text()) == [], file
    named = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert [one for one in named if not (CONSOLE / one).is_file()] == []
