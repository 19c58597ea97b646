"""What a router does otherwise than qdrouterd with a file: the rows of docs/differences.md, with lines."""

import re
from pathlib import Path

import pytest

from routerd.config import differences
from routerd.config.differences import NOT_OF_A_FILE, RULES, WHOLE_FILE
from routerd.config.errors import ConfigErrors
from tests.unit.config.reading import section

PAGE = Path(__file__).resolve().parents[3] / "docs/differences.md"
EVERYWHERE = {
    "settled messages beyond the credit of their consumer are dropped",
    "`modified` always says delivery-failed to the producer",
    "counters of the router are 0 in the general view",
}
"""The rows that hold whatever a file says."""
OF_DROP_IN = {"settled messages beyond the credit of their consumer are dropped"}
"""Those of them that a drop-in has not."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "qdrouterd.conf"


def rows_of(file: Path, text: str, *, is_drop_in: bool = False) -> dict[str, tuple[int, ...]]:
    """Return the lines by the row that they depend on, without the rows that always hold."""
    file.write_text(text)
    row_of = {rule.text: rule.row for rule in RULES}
    found = {row_of[one.text]: tuple(one.lines) for one in differences(file, is_drop_in=is_drop_in)}
    everywhere = EVERYWHERE - OF_DROP_IN if is_drop_in else EVERYWHERE
    assert {row: lines for row, lines in found.items() if row in EVERYWHERE} == dict.fromkeys(everywhere, WHOLE_FILE)
    return {row: lines for row, lines in found.items() if row not in EVERYWHERE}


def test_every_row_of_the_page_has_a_rule_or_is_of_no_file() -> None:
    rows, sentences = [], []
    for line in PAGE.read_text().splitlines():
        if line.startswith("| ") and not line.startswith("| qdrouterd |"):
            rows.append(line.split(" | ")[0].removeprefix("| "))
        elif line.startswith("`"):
            sentences.append(line)
    known = [*(rule.row for rule in RULES), *NOT_OF_A_FILE]
    assert set(rows) <= set(known)
    assert [one for one in known if one not in rows] == [one for one in sentences if one in known]
    assert len(set(known)) == len(known)


QUIET_ROUTER = section("router", "managementAccess: change", "managementFileDir: /")
QUIET = ("host: 127.0.0.1", "port: 5672", "initialHandshakeTimeoutSeconds: 9", "maxLinks: 0")


def test_a_file_that_says_everything_itself_depends_on_nothing(file: Path) -> None:
    listener = section("listener", *QUIET, "http: yes", "websockets: no", "role: normal")
    assert rows_of(file, QUIET_ROUTER + section("listener", *QUIET) + section("log", "module: DEFAULT")) == {}
    assert rows_of(file, QUIET_ROUTER + listener) == {
        "`DELETE` of a listener for HTTP works; qdrouterd refuses it.": (5,)
    }


MANAGEMENT = ("requests to management change everything", "such requests name any file")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (section("listener", *QUIET), dict.fromkeys(MANAGEMENT, WHOLE_FILE)),
        (section("listener", *QUIET) + section("router", "id: A"), dict.fromkeys(MANAGEMENT, (7,))),
        (section("router", "managementAccess: read"), {MANAGEMENT[1]: (1,)}),
        # There policy decides, as it does with qdrouterd.
        (section("policy", "enableVhostPolicy: yes"), {MANAGEMENT[1]: WHOLE_FILE}),
    ],
    ids=["no router", "a router", "access is said", "a policy"],
)
def test_management_is_as_before_for_a_drop_in(file: Path, text: str, expected: dict[str, tuple[int, ...]]) -> None:
    assert rows_of(file, text) == expected
    assert rows_of(file, text, is_drop_in=True) == {}


@pytest.mark.parametrize(
    ("text", "row", "lines"),
    [
        (
            section("listener", "port: 1", "maxLinks: 0") + section("listener", "port: 2", "maxLinks: 0"),
            "a peer may be silent before its open for ever",
            (5, 9),
        ),
        (section("listener", *QUIET[:3]), "a client may have any number of links", (5,)),
        (
            section("listener", *QUIET, "sslProfile: gone"),
            "a listener whose `sslProfile` does not exist works without TLS",
            (10,),
        ),
        (
            section("listener", *QUIET, "stripAnnotations: out") + section("listener", "port: 1", *QUIET[2:]),
            "a client's `x-opt-qd.to` is followed where its listener strips nothing",
            (5,),
        ),
        (
            section("sslProfile", "name: a") + section("sslProfile", "name: b", "protocols: TLSv1.2"),
            "an `sslProfile` without `protocols` has all versions of TLS that OpenSSL has",
            (5,),
        ),
    ],
    ids=["silence", "links", "no profile", "to", "versions"],
)
def test_the_lines_of_a_row_are_told(file: Path, text: str, row: str, lines: tuple[int, ...]) -> None:
    assert rows_of(file, QUIET_ROUTER + text) == {row: lines}


def test_what_is_for_routers_has_no_limits_of_clients(file: Path) -> None:
    router = QUIET_ROUTER.replace("{", "{\n    mode: interior")
    listener = section("listener", *QUIET[:3], "role: inter-router", "stripAnnotations: no")
    assert rows_of(file, router + listener) == {}


def test_pages_of_other_origins_are_named_where_there_is_http(file: Path) -> None:
    http = section("listener", *QUIET, "http: yes")
    named = section("listener", *QUIET, "http: yes", "webSocketOrigins: *").replace("5672", "5673")
    delete = "`DELETE` of a listener for HTTP works; qdrouterd refuses it."
    assert rows_of(file, QUIET_ROUTER + http + named) == {
        "pages of all origins connect by WebSocket": (5,),
        delete: (5, 12),
    }


def test_attributes_without_effect_are_named(file: Path) -> None:
    text = QUIET_ROUTER.replace("}", "    workerThreads: 8\n    debugDump: dump\n}")
    assert rows_of(file, text) == {
        "`workerThreads` of the router is the number of its threads": (4,),
        "`debugDumpFile` of the router is taken, but nothing is written there.": (5,),
    }


def test_they_are_told_in_the_order_of_the_file_and_what_has_no_line_comes_last(file: Path) -> None:
    file.write_text(section("listener", *QUIET[:2]) + section("sslProfile", "name: a"))
    told = [one.told("F") for one in differences(file, is_drop_in=True)]
    assert [one.split(": ")[1] for one in told[:3]] == ["line 1", "line 1", "line 5"]
    assert told[0].startswith("F: line 1: listener: a peer that has not opened after 60 s is cut off;")
    assert len(told) == 3 + len(EVERYWHERE - OF_DROP_IN)
    assert not any(re.search(r"\blines?\b", one) for one in told[3:])


def test_several_lines_are_listed(file: Path) -> None:
    file.write_text(section("listener", "port: 1", *QUIET[2:3]) + section("listener", "port: 2", *QUIET[2:3]))
    assert differences(file)[0].told("F").startswith("F: lines 1, 5: listener: a client has 10000 links at most;")


def test_a_file_that_cannot_be_read_is_said(file: Path) -> None:
    with pytest.raises(ConfigErrors):
        differences(file)
    file.write_text("listener {")
    with pytest.raises(ConfigErrors):
        differences(file)


def test_a_text_is_no_longer_than_two_sentences_of_25_words() -> None:
    for rule in RULES:
        sentences = re.split(r"[.;] ", rule.text)
        assert [one for one in sentences if len(one.split()) > 25] == []
        assert rule.text.endswith(".")
