"""`routerstat --map` of real routers: who is there, what the trunks cost, and what is shown of what fails."""

import json
import re
import signal
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.system.conftest import meshing
from tests.system.launched import routerstat
from tests.system.mesh import Mesh, To
from tests.system.routers import IN_PROCESS
from tests.waiting import eventually

SVG = "{http://www.w3.org/2000/svg}"


def drawn(mesh: Mesh, at: str, *arguments: str) -> str:
    return routerstat(mesh.port(at), "--map", *arguments)


@pytest.fixture(scope="module")
def triangle(request: pytest.FixtureRequest) -> Iterator[Mesh]:
    """Three routers, each joined to both others; the dear way from A to C is never taken while B is there."""
    with meshing(IN_PROCESS, request) as mesh:
        mesh.add("A")
        mesh.add("B", To("A", cost=2, is_proxied=True))
        mesh.add("C", To("B", cost=3), To("A", cost=9))
        mesh.wait_joined()
        wait_whole(mesh)
        yield mesh


def tables(mesh: Mesh, at: str) -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return the routers by id and the trunks by their ends, as JSON has them."""
    routers, trunks = json.loads(drawn(mesh, at, "--json"))["routers"][0]["tables"]
    return (
        {row["router-id"]: row for row in routers["rows"]},
        {f"{row['router']}-{row['neighbor']}": row for row in trunks["rows"]},
    )


def figures(rows: dict[str, dict[str, Any]], *names: str) -> dict[str, list[Any]]:
    return {key: [row[name] for name in names] for key, row in rows.items()}


def wait_whole(mesh: Mesh) -> None:
    """Wait until all routers and all trunks are up."""
    up = ({name: ["up"] for name in "ABC"}, {ends: ["up"] for ends in ("A-B", "A-C", "B-C")})
    eventually(lambda: tuple(figures(rows, "state") for rows in tables(mesh, "A")) == up, "all is up")


def test_all_routers_and_trunks_are_there_whoever_is_asked(triangle: Mesh) -> None:
    for at in "ABC":
        routers, trunks = tables(triangle, at)
        assert figures(routers, "state", "asked") == {name: ["up", name == at] for name in "ABC"}
        assert figures(trunks, "state", "costs", "conns", "lost") == {
            **{"A-B": ["up", [2], 1, 0], "A-C": ["up", [9], 1, 0], "B-C": ["up", [3], 1, 0]}
        }
        assert all(row["conns"] >= 2 and row["uptime"] >= 0 and row["stuck"] == 0 for row in routers.values())


def test_the_picture_has_the_costs_and_the_router_that_was_asked(triangle: Mesh) -> None:
    lines = drawn(triangle, "B").splitlines()
    assert lines[1] == "B"
    shapes = [re.sub(r"[\d,]+ (connections|addresses)|up [\d:]+", "", line) for line in lines[3:]]
    assert [re.findall(r"[A-C] \(asked\)|\b[A-C]\b|[├┠]─ \d+", shape) for shape in shapes if "─ " in shape] == [
        *(["A", "├─ 9"], ["├─ 2"]),
        *(["B (asked)", "┠─ 2"], ["┠─ 3"]),
        *(["C", "├─ 3"], ["├─ 9"]),
    ]


def test_the_router_that_is_asked_may_be_another(triangle: Mesh) -> None:
    assert "┃ C (asked)" in drawn(triangle, "A", "-r", "C")


def test_the_image_is_written_to_a_file(triangle: Mesh, tmp_path: Path) -> None:
    path = tmp_path / "map.svg"
    assert drawn(triangle, "A", str(path)) == f"{path}: 3 routers, 3 trunks\n"
    texts = {"".join(one.itertext()) for one in ET.parse(path).getroot().iter(f"{SVG}text")}
    assert {"A", "B", "C", "2", "3", "9"} <= texts


def test_a_trunk_that_is_cut_is_lost_until_it_is_back(triangle: Mesh) -> None:
    def trunk(at: str) -> list[Any]:
        return figures(tables(triangle, at)[1], "state", "costs", "lost")["A-B"]

    triangle.proxy("A", "B").refuse()
    for at in "AC":
        eventually(lambda: trunk(at) == ["lost", [2], 1], f"{at} shows the cut")  # noqa: B023
    assert figures(tables(triangle, "A")[0], "state") == {name: ["up"] for name in "ABC"}
    assert "✗ a trunk that is lost" in drawn(triangle, "A")
    triangle.proxy("A", "B").heal()
    eventually(lambda: trunk("A") == ["up", [2], 0], "the trunk is back")
    wait_whole(triangle)


def test_a_router_that_was_killed_is_unreachable_until_it_is_back(triangle: Mesh) -> None:
    triangle.kill("B")
    eventually(lambda: tables(triangle, "A")[0]["B"]["state"] == "unreachable", "A shows that B is gone")
    eventually(
        lambda: figures(tables(triangle, "A")[1], "state") == {"A-B": ["lost"], "A-C": ["up"], "B-C": ["lost"]},
        "the trunks of B are lost",
    )
    assert "unreachable" in drawn(triangle, "A")
    triangle.start("B")
    wait_whole(triangle)


def test_a_router_whose_management_hangs_is_shown_so(triangle: Mesh) -> None:
    wait_whole(triangle)
    [process] = triangle.routers["C"].serving()
    process.signal(signal.SIGSTOP)
    try:
        routers, trunks = tables(triangle, "A")
    finally:
        process.signal(signal.SIGCONT)
    assert routers["C"]["state"] in ("no answer", "unreachable")
    assert routers["B"]["state"] == "up"
    assert set(trunks) == {"A-B", "A-C", "B-C"}
