"""The demo of a Nova in small: nothing that was promised is lost, and what would be is told."""

import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from examples.nova.account import Seen
from examples.nova.layout import COMPUTES, ROUTERS, layout
from tests.functional.server_process import DRIVER

RUN_S = 110
BY_API = re.compile(r"   api: (\d+) boots begun, (\d+) promised, (\d+) running, (\d+) rules told, .*")


def test_nothing_is_lost_when_a_router_fails(routers_can_start: None) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "examples.nova", "--free-ports", "--phase", "0.5"],
        cwd=DRIVER,
        env=os.environ.copy(),
        capture_output=True,
        text=True,
        timeout=RUN_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    events = re.findall(r"^ *[\d.]+ s  (.*)$", done.stdout, re.M)
    assert [re.sub(r"router [ABC]", "a router", event.partition(",")[0].partition(";")[0]) for event in events] == [
        "three routers start from router-a.conf to router-c.conf",
        "they are joined",
        "the API boots instances",
        "kill -9 of a router",
        "a router is started again",
        "the API has stopped",
    ]
    seen = [found for found in map(BY_API.fullmatch, done.stdout.splitlines()) if found]
    # Before the kill, after it, when the router is back, and over all; services may need all of the second phase.
    assert [int(one[3]) > 0 for one in seen[::2]] == [True, True]
    assert seen[-1][1] == seen[-1][2] == seen[-1][3]
    assert done.stdout.splitlines()[-1].startswith("Nothing was lost: ")


def test_without_a_router_it_says_so() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "examples.nova"],
        cwd=DRIVER,
        env=os.environ | {"MOBULA_PYTHON": "/nowhere/python"},
        capture_output=True,
        text=True,
        timeout=RUN_S,
    )
    told = "/nowhere/python is not there: `make setup` makes it, MOBULA_PYTHON names another"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"demo-nova: {told}\n")


def test_a_service_may_connect_to_any_router() -> None:
    made = layout(has_free_ports=True)
    assert list(made.client_ports) == list(ROUTERS)
    assert not {5691, 5692, 5693} & set(made.client_ports.values())
    hosts = ",".join(f"127.0.0.1:{port}" for port in made.client_ports.values())
    assert made.url("api").startswith(f"amqp://{hosts}/?")
    assert layout(has_free_ports=False).client_ports == {"A": 5691, "B": 5692, "C": 5693}


# What is told of a loss

WELL = Seen(
    api={
        "begun": ["one", "two"],
        "promised": {"one": "compute-1", "two": "compute-2"},
        "running": ["one", "two"],
        "wrong": [],
        "rules": [1, 2],
        "repeated": {},
        "pause_s": 0.0,
    },
    scheduler={"chosen": {"compute-1": 1, "compute-2": 1}, "reports": {}},
    computes={
        name: {"built": built, "rules": [1, 2], "asked": 1}
        for name, built in zip(COMPUTES, ({"one": 1}, {"two": 2}, {}), strict=True)
    },
)


def test_nothing_is_told_when_all_is_well() -> None:
    assert WELL.faults({}) == []
    assert WELL.asked_again == 1


@pytest.mark.parametrize(
    ("api", "compute", "expected"),
    [
        ({}, {"built": {}}, "one: compute-1 accepted it and has not built it"),
        ({"running": ["two"]}, {}, "one was begun and does not run"),
        ({"wrong": ["one: nothing"]}, {}, "answered wrongly: one: nothing"),
        ({}, {"rules": [1]}, "compute-1 has not heard of rule 2"),
    ],
    ids=["not built", "not running", "wrong", "fanout"],
)
def test_what_is_lost_is_told(api: dict[str, object], compute: dict[str, object], expected: str) -> None:
    computes = {**WELL.computes, "compute-1": {**WELL.computes["compute-1"], **compute}}
    assert replace(WELL, api={**WELL.api, **api}, computes=computes).faults({}) == [expected]


def test_a_compute_without_a_router_may_miss_a_fanout() -> None:
    computes = {**WELL.computes, "compute-1": {**WELL.computes["compute-1"], "rules": [1]}}
    assert replace(WELL, computes=computes).faults({"compute-1": {2}}) == []
