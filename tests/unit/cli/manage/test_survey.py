"""Every router that can be reached is asked for the map, for a while."""

import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from routerd.cli import routerstat
from routerd.cli.manage.client import ManagementClient
from routerd.cli.manage.failures import Unreachable
from routerd.cli.manage.network_map.file import MapNotWritten, write_map
from routerd.cli.manage.network_map.graph import Graph, RouterPoint, RouterState, Trunk
from routerd.cli.manage.network_map.survey import LITTLE_PATIENCE_S, PATIENCE_S, SILENT_MAX, survey
from routerd.cli.manage.node import Node
from tests.unit.cli.manage.canned_router import CannedRouter, MemoryStream, Reply, entities
from tests.unit.cli.manage.test_commands import refused

TYPE = "org.apache.qpid.dispatch."


class Network:
    """The management of a router A with some neighbours, of which some keep silent, or are not served at all."""

    def __init__(self, *others: str, silent: str = "", unserved: str = "") -> None:
        self.others = others
        self.silent = silent
        self.router = CannedRouter(self._answer, serves=lambda address: self._of(address) not in [*unserved])
        self.stream = MemoryStream(self.router)

    def node(self, timeout_s: float = 5.0) -> Node:
        """The management of A."""
        client = ManagementClient(
            self.stream, "h:1", hostname=None, container_id="t", timeout_s=timeout_s, clock=self.stream.clock
        )
        return Node(client)

    def _of(self, address: str) -> str:
        return address.split("/")[2] if "/" in address else "A"

    def _answer(self, address: str, properties: Mapping[str, Any], body: Any) -> Reply | None:
        name = self._of(address)
        if name in [*self.silent]:
            return None
        match properties["entityType"].removeprefix(TYPE):
            case "router":
                return entities({"id": name, "connectionCount": 1})
            case "router.node":
                own = {"id": "A", "linkState": list(self.others), "nextHop": "(self)", "cost": None}
                rows = [{"id": one, "linkState": ["A"], "nextHop": None, "cost": 1} for one in self.others]
                return entities(own, *rows)
            case "connection":
                return entities({"role": "normal", "container": "client", "properties": {}})
        return entities()


def asked(network: Network) -> list[str]:
    return list(dict.fromkeys(address for address, _, _ in network.router.requests))


def test_every_router_is_asked_at_its_own_management() -> None:
    network = Network("B", "C")
    graph = survey(network.node())
    assert [router.state for router in graph.routers] == [RouterState.UP] * 3
    assert [(trunk.one, trunk.other, trunk.costs) for trunk in graph.trunks] == [("A", "B", (1,)), ("A", "C", (1,))]
    assert asked(network) == ["$management", "_topo/0/B/$management", "_topo/0/C/$management"]


@pytest.mark.parametrize("kind", ["silent", "unserved"])
def test_one_that_does_not_answer_is_waited_for_a_while(kind: str) -> None:
    network = Network("B", "C", **{kind: "B"})
    begun = network.stream.now
    graph = survey(network.node())
    assert [router.state for router in graph.routers] == [RouterState.UP, RouterState.SILENT, RouterState.UP]
    assert network.stream.now - begun == PATIENCE_S


def test_of_many_that_do_not_answer_the_later_ones_are_waited_for_less() -> None:
    network = Network(*"BCDEFG", silent="BCDEF")
    begun = network.stream.now
    graph = survey(network.node())
    assert [router.id for router in graph.routers if router.state is RouterState.UP] == ["A", "G"]
    assert network.stream.now - begun == SILENT_MAX * PATIENCE_S + 2 * LITTLE_PATIENCE_S


def test_the_timeout_of_the_command_line_is_the_most() -> None:
    network = Network("B", silent="B")
    begun = network.stream.now
    survey(network.node(timeout_s=0.5))
    assert network.stream.now - begun == 0.5


def test_a_connection_that_is_lost_is_no_silence() -> None:
    network = Network("B")
    node = network.node()
    node.query("org.apache.qpid.dispatch.router")
    network.router.connection.close()
    with pytest.raises(Unreachable):
        survey(node)


# The command


@pytest.mark.parametrize("option", ["--json", "--csv", "--all-routers", "--watch=1"])
def test_a_file_has_one_picture(capsys: pytest.CaptureFixture[str], option: str) -> None:
    complaint = refused(capsys, routerstat.main, "--map", "map.svg", option)
    assert complaint.startswith("routerstat: error: --map FILE draws one picture; ")


def test_the_file_is_chosen_with_the_view() -> None:
    parse = routerstat.option_parser().parse_args
    assert [(parse(given).view.name, parse(given).map_file) for given in (["--map"], ["--map", "f"], ["-c"])] == [
        *(("map", None), ("map", "f"), ("connections", None))
    ]


def test_the_file_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    graph = Graph((RouterPoint(id="A"), RouterPoint(id="B")), (Trunk(one="A", other="B", costs=(1,)),))
    write_map(graph, str(tmp_path / "map.svg"))
    assert [path.name for path in tmp_path.iterdir()] == ["map.svg"]
    assert (tmp_path / "map.svg").read_text().startswith("<svg ")
    with pytest.raises(MapNotWritten) as caught:
        write_map(graph, str(tmp_path / "none" / "map.svg"))
    assert str(caught.value) == f"cannot write {tmp_path}/none/map.svg: No such file or directory"


def test_a_terminal_that_cannot_show_lines_gets_question_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="latin-1"))
    routerstat.print_lines(["┌─┐", "A"])
    sys.stdout.flush()
    assert written.getvalue() == b"???\nA\n"
