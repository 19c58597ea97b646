"""`routerstat` and `routermanage` at real routers: every view, every operation, the live view on a terminal."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

from tests.system.conftest import Connect, in_forms, in_process
from tests.system.launched import ROOT, environment, routerstat, tool
from tests.system.routers import ROUTER_ID, THREE_ACTORS, RunningRouter
from tests.waiting import WITHIN_S, eventually

VIEWS = (
    *("-g", "-c", "-l", "-n", "-e", "-a", "-m", "-p", "--autolinks", "--linkroutes", "--vhosts", "--vhostgroups"),
    *("--vhoststats", "--log", "--all-entities", "--actors", "--fabric", "--map"),
)
OF_ACTORS = ("-g", "-c", "-l", "-a", "-m", "--vhoststats", "--log", "--actors", "--fabric")
"""Those that are made of what several actors say."""


def manage(router: RunningRouter, *arguments: str, stdin: str = "") -> Any:
    done = tool("routermanage", router.port, *arguments, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    return json.loads(done.stdout) if done.stdout.strip() else None


@in_process
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_is_shown(router: RunningRouter, view: str) -> None:
    assert routerstat(router.port, view).strip()


@in_forms(THREE_ACTORS)
def test_what_actors_report_is_shown(router: RunningRouter) -> None:
    for view in OF_ACTORS:
        # Management may be the last to start.
        assert routerstat(router.port, view, "-t", "30").strip(), view


@in_process
def test_every_shape_is_shown(router: RunningRouter) -> None:
    assert [one["router"] for one in json.loads(routerstat(router.port, "-c", "--json"))["routers"]] == [ROUTER_ID]
    assert list(csv.reader(io.StringIO(routerstat(router.port, "-c", "--csv"))))
    assert routerstat(router.port, "-c", "-v").strip()


def test_connections_links_and_addresses_are_in_their_columns(
    router: RunningRouter, connect: Connect, address: str
) -> None:
    name = f"{address}here"
    consumer = connect(container_id=name).consumer(name)
    producer = connect().producer(name)
    for number in range(12):
        assert producer.send(number).outcome() == "accepted"
    assert len(consumer.bodies) == 12
    row = next(line.split() for line in routerstat(router.port, "-c").splitlines() if name in line)
    assert row[2:6] == [name, "normal", "amqp", "in"]
    rows = [line.split() for line in routerstat(router.port, "-l").splitlines() if name in line]
    assert sorted(row[:2] for row in rows) == [["endpoint", "in"], ["endpoint", "out"]]
    tables = json.loads(routerstat(router.port, "-a", "--json"))["routers"][0]["tables"]
    found = next(one for table in tables for one in table["rows"] if one["addr"] == name)
    assert {key: found[key] for key in ("class", "phs", "distrib", "local", "in", "out")} == {
        **{"class": "mobile", "phs": "0", "distrib": "balanced"},
        **{"local": 1, "in": 12, "out": 12},
    }


def explained(router: RunningRouter, address: str, *options: str) -> dict[str, Any]:
    """Return the tables of an explanation by their titles."""
    # Management may be the last to start.
    report = json.loads(routerstat(router.port, "--explain", address, "--json", "-t", "30", *options))
    tables = report["routers"][0]["tables"]
    return {table["title"]: table.get("values", table.get("rows")) for table in tables}


def test_an_address_is_explained(router: RunningRouter, connect: Connect, address: str) -> None:
    assert explained(router, address)["Explanation"]["verdict"] == "nowhere"
    consumer = connect(container_id=f"{address}shop").consumer(address)

    def has_candidates() -> dict[str, Any] | None:
        told = explained(router, address, "--from", ROUTER_ID)
        return told if told["Candidates"] else None

    told = eventually(has_candidates, "the consumer counts") or {}
    assert told["Explanation"] == {
        **{"address": address, "verdict": "routed", "distribution": "balanced", "phase": "0"}
    }
    assert [(one["consumer"], one["cost"]) for one in told["Candidates"]] == [(f"{address}shop", 0)]
    producer = connect().producer(address)
    assert producer.send("where it was said to go").outcome() == "accepted"
    assert consumer.bodies == ["where it was said to go"]
    [similar] = explained(router, address.upper())["Answer"]
    assert f"There are consumers of {address}" in similar


def test_the_actors_are_those_that_run(router: RunningRouter) -> None:
    table = json.loads(routerstat(router.port, "--actors", "--json"))["routers"][0]["tables"][0]
    assert {row["pid"] for row in table["rows"]} == {process.pid for process in router.serving()}


@in_process
def test_entities_are_created_read_updated_and_deleted(router: RunningRouter, address: str) -> None:
    prefix = f"{address}all"
    name = ("--type", "address", "--name", address)
    created = manage(router, "create", *name, f"prefix={prefix}", "distribution=multicast")
    assert (created["name"], created["prefix"], created["distribution"]) == (address, prefix, "multicast")
    read = manage(router, "read", "--type", "address", "--identity", created["identity"])
    assert read["prefix"] == prefix
    found = manage(router, "query", "--type", "address", "name", "prefix")
    assert {"name": address, "prefix": prefix} in found
    refused = tool("routermanage", router.port, "create", *name, "prefix=other")
    assert refused.returncode == 1
    assert "BadRequestStatus: Name conflicts with an existing entity" in refused.stdout
    assert manage(router, "delete", *name) is None
    updated = manage(router, "update", "--identity", "log/POLICY", "enable=debug+")
    assert updated["enable"] == "debug+"
    several = [{"type": "address", "name": f"{address}.{at}", "prefix": f"{address}{at}"} for at in range(3)]
    assert len(manage(router, "create", "--stdin", stdin=json.dumps(several))) == 3
    for one in several:
        manage(router, "delete", "--type", "address", "--name", one["name"])
    assert address not in json.dumps(manage(router, "query", "--type", "address"))


@in_process
@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ("get-types", "org.apache.qpid.dispatch.listener"),
        ("get-attributes", "linkCapacity"),
        ("get-operations", "CREATE"),
        ("get-annotations", "{"),
        ("get-mgmt-nodes", "["),
        ("get-schema", "entityTypes"),
        ("get-json-schema", "entityTypes"),
        ("get-log", "ROUTER_CORE"),
    ],
)
def test_the_node_is_asked(router: RunningRouter, operation: str, expected: str) -> None:
    assert expected in json.dumps(manage(router, operation))


@in_process
def test_a_router_that_does_not_exist_is_named(router: RunningRouter) -> None:
    done = tool("routerstat", router.port, "-r", "NOPE", "-t", "1")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert "NOPE" in done.stderr


class Screen:
    """What a program has written to the terminal that it runs in."""

    def __init__(self, terminal: int) -> None:
        self._terminal = terminal
        self.text = ""

    def type(self, keys: str) -> None:
        """Press some keys."""
        os.write(self._terminal, keys.encode())

    def wait_for(self, pattern: str) -> None:
        """Read until something has been written."""
        start = len(self.text)
        eventually(lambda: self._reads() and re.search(pattern, self.text[start:]), f"there is {pattern}")

    def _reads(self) -> bool:
        with suppress(OSError):
            self.text += os.read(self._terminal, 65536).decode(errors="replace")
        return True


@contextmanager
def on_a_terminal(*command: str) -> Iterator[tuple[Screen, subprocess.Popen[bytes]]]:
    """Run a program in a terminal."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    variables = environment() | {"TERM": "xterm", "LINES": "24", "COLUMNS": "120"}
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=variables, cwd=ROOT) as process:
        os.close(theirs)
        try:
            yield Screen(ours), process
        finally:
            process.kill()
            os.close(ours)


@in_process
def test_the_live_view_is_drawn_again_and_ends_with_q(router: RunningRouter, connect: Connect, address: str) -> None:
    place = f"127.0.0.1:{router.port}"
    program = (sys.executable, "-m", "routerd.cli.routerstat")
    with on_a_terminal(*program, "-c", "--watch", "0.2", "-b", place) as (screen, process):
        screen.wait_for("container")
        connect(container_id="comes.later")
        screen.wait_for(re.escape("comes.later"))
        screen.type("q")
        screen.wait_for(re.escape("\x1b[?1049l"))
        assert process.wait(WITHIN_S) == 0
