"""The map of a network: what is made of the answers of its routers, and how it is drawn."""

import itertools
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from routerd.cli.manage.network_map.assembly import Answer, assembled
from routerd.cli.manage.network_map.forces import places
from routerd.cli.manage.network_map.graph import Edge, Graph, Health, RouterPoint, RouterState, Trunk, TrunkState
from routerd.cli.manage.network_map.svg import svg_of
from routerd.cli.manage.network_map.text import TRACKS_MAX, drawn
from routerd.cli.manage.output import COLOURED, as_csv, as_json, as_text
from routerd.cli.manage.views.picture import map_blocks

HEALTH = Health(connections=5, addresses=1, stuck=0, blocked=0, uptime_s=723, version="0.1.0")
Connector = dict[str, Any]


# What routers tell


class Told:
    """The answers of routers, which grow as a test describes them."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.costs: dict[tuple[str, str], int] = {}
        self.next_hops: dict[tuple[str, str], str] = {}
        self.neighbours = {name: set[str]() for name in names}
        self.connections: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
        self.connectors: dict[str, list[Connector]] = {name: [] for name in names}
        self.listeners: dict[str, list[dict[str, Any]]] = {name: [] for name in names}

    def join(self, one: str, other: str, cost: int = 1) -> None:
        """A trunk that is up, and that is the way from each of its ends to the other."""
        for here, there in ((one, other), (other, one)):
            self.neighbours[here].add(there)
            self.costs[here, there] = cost
            self.connect(here, there)

    def connect(self, here: str, there: str, told_cost: int | None = None) -> None:
        properties = {} if told_cost is None else {"qd.inter-router-cost": told_cost}
        self.connections[here].append({"role": "inter-router", "container": there, "properties": properties})

    def graph(self, asked: str = "A", silent: str = "", **router: Any) -> Graph:
        return assembled(asked, {name: self.answer(name, router) for name in self.names if name not in silent})

    def answer(self, name: str, router: dict[str, Any]) -> Answer:
        rows = [
            {
                "id": other,
                "linkState": sorted(self.neighbours[other]),
                "nextHop": "(self)" if other == name else self.next_hops.get((name, other)),
                "cost": self.costs.get((name, other)),
            }
            for other in self.names
        ]
        return Answer(
            router={"id": name, "connectionCount": 5, "addrCount": 1, "uptimeSeconds": 723} | router,
            nodes=tuple(rows),
            connections=tuple(self.connections[name]),
            connectors=tuple(self.connectors[name]),
            listeners=tuple(self.listeners[name]),
        )


def states(graph: Graph) -> dict[str, RouterState]:
    return {router.id: router.state for router in graph.routers}


def test_routers_and_the_trunk_between_them_are_found() -> None:
    told = Told("A", "B")
    told.join("A", "B", 3)
    health = Health(connections=5, addresses=1, uptime_s=723)
    assert told.graph() == Graph(
        (RouterPoint(id="A", is_asked=True, health=health), RouterPoint(id="B", health=health, path_cost=3)),
        (Trunk(one="A", other="B", costs=(3,)),),
    )


@pytest.mark.parametrize(
    ("at_a", "at_b", "expected"), [(None, 9, (9,)), (7, None, (7,)), (7, 9, (9,)), (None, None, (1,))]
)
def test_a_trunk_that_is_no_way_costs_what_the_dearer_end_told_the_other(
    at_a: int | None, at_b: int | None, expected: tuple[int, ...]
) -> None:
    told = Told("A", "B", "C")
    told.join("A", "C")
    told.join("B", "C")
    told.neighbours["A"].add("B")
    told.neighbours["B"].add("A")
    told.connect("A", "B", at_b)
    told.connect("B", "A", at_a)
    for pair in (("A", "B"), ("B", "A")):
        told.costs[pair], told.next_hops[pair] = 2, "C"
    assert told.graph().trunks[0] == Trunk(one="A", other="B", costs=expected)
    # With one end silent the other does not know enough.
    assert told.graph(silent="B").trunks[0].costs == ()


def test_ends_that_do_not_agree_are_both_shown() -> None:
    told = Told("A", "B")
    told.join("A", "B", 3)
    told.costs["B", "A"] = 5
    assert told.graph().trunks[0].cost_text == "3/5"


def test_a_router_that_does_not_answer_is_silent_and_one_without_a_way_unreachable() -> None:
    told = Told("A", "B", "C")
    told.join("A", "B")
    told.join("A", "C")
    del told.costs["A", "C"]
    told.neighbours["A"].remove("C")
    graph = told.graph(silent="BC")
    assert states(graph) == {"A": RouterState.UP, "B": RouterState.SILENT, "C": RouterState.UNREACHABLE}
    assert [(trunk.one, trunk.other, trunk.state) for trunk in graph.trunks] == [
        ("A", "B", TrunkState.UP),
        ("A", "C", TrunkState.LOST),
    ]


def test_a_neighbour_that_only_one_end_knows_is_one_sided() -> None:
    told = Told("A", "B")
    told.join("A", "B")
    told.neighbours["B"].clear()
    assert told.graph().trunks == (Trunk(one="A", other="B", state=TrunkState.ONE_SIDED, costs=(1,)),)


def test_a_connection_without_greetings_is_silent() -> None:
    told = Told("A", "B")
    told.connect("A", "B")
    assert told.graph().trunks == (Trunk(one="A", other="B", state=TrunkState.SILENT),)


def failed(**attributes: Any) -> Connector:
    return {"host": "127.0.0.1", "port": "20672", "connectionStatus": "FAILED", "cost": 4} | attributes


@pytest.mark.parametrize(
    ("connector", "listeners", "expected"),
    [
        (failed(name="C"), [], "C"),
        (failed(), [{"host": "0.0.0.0", "port": "20672"}], "B"),
        (failed(host="localhost"), [{"host": "127.0.0.1", "port": "20672"}], "B"),
        (failed(port="amqp"), [{"host": None, "port": "5672"}], "B"),
        (failed(), [{"host": "10.1.1.1", "port": "20672"}], "127.0.0.1:20672"),
        (failed(), [{"host": "", "port": "20673"}], "127.0.0.1:20672"),
        (failed(connectionStatus="CONNECTING", name="x"), [], "127.0.0.1:20672"),
    ],
)
def test_a_connector_that_fails_leads_to_who_is_meant(
    connector: Connector, listeners: list[dict[str, Any]], expected: str
) -> None:
    told = Told("A", "B", "C")
    told.join("B", "C")
    told.costs["A", "B"] = told.costs["A", "C"] = 9
    told.connectors["A"].append(connector)
    told.listeners["B"] += listeners
    graph = told.graph()
    ends = sorted(["A", expected])
    [lost] = [trunk for trunk in graph.trunks if "A" in (trunk.one, trunk.other)]
    assert lost == Trunk(
        one=ends[0], other=ends[1], state=TrunkState.LOST, costs=(4,), connections=0, lost_connections=1
    )
    assert (states(graph)[expected] is RouterState.UNKNOWN) == (":" in expected)


def test_one_of_two_connections_that_is_lost_is_counted() -> None:
    told = Told("A", "B")
    told.join("A", "B", 2)
    told.connect("A", "B")
    told.connectors["A"] += [failed(name="B"), failed(name="B", connectionStatus="SUCCESS")]
    [trunk] = told.graph().trunks
    assert trunk == Trunk(one="A", other="B", costs=(2,), connections=2, lost_connections=1)
    assert "A - B: 1 more configured, not connected" in lines(told.graph())


def test_edge_routers_hang_on_the_routers_that_they_are_connected_to() -> None:
    told = Told("A")
    told.connections["A"] += [
        {"role": "edge", "container": "E2", "active": False},
        {"role": "edge", "container": "E1", "active": True},
    ]
    assert told.graph().routers[0].edges == (Edge("E1"), Edge("E2", is_active=False))


def test_an_edge_router_has_an_uplink() -> None:
    told = Told("A")
    told.connections["A"].append({"role": "edge", "container": "I", "dir": "out"})
    [router] = told.graph().routers
    assert (router.edges, router.uplinks) == ((), ("I",))
    assert "┃ uplink to I              ┃" in lines(told.graph())
    assert "\nuplink to I</title>" in svg_of(told.graph())


def test_a_router_without_a_network_is_alone() -> None:
    graph = assembled("A", {"A": Answer(router={"id": "A", "blockedLinkCount": 3, "deliveriesStuck": 1})})
    assert graph == Graph((RouterPoint(id="A", is_asked=True, health=Health(stuck=1, blocked=3)),), ())
    assert lines(graph)[2] == "┃ 1 delivery stuck, 3 links blocked ┃"


# Text


def router(name: str, **options: Any) -> RouterPoint:
    given: dict[str, Any] = {"id": name, "health": HEALTH} | options
    return RouterPoint(**given)


def mesh(*names: str, asked: str = "A") -> Graph:
    return Graph(
        tuple(router(name, is_asked=name == asked) for name in names),
        tuple(Trunk(one=one, other=other, costs=(1,)) for one, other in itertools.combinations(names, 2)),
    )


LOST = Graph(
    (
        router("A", is_asked=True),
        router("B", health=None, state=RouterState.UNREACHABLE),
        router("C", health=Health(connections=2, stuck=3), edges=tuple(Edge(f"E{at}") for at in range(9))),
        router("D", health=None, state=RouterState.SILENT),
        router("h:1", health=None, state=RouterState.UNKNOWN),
    ),
    (
        Trunk(one="A", other="B", costs=(2,), state=TrunkState.LOST),
        Trunk(one="A", other="C", costs=(12,)),
        Trunk(one="B", other="C", state=TrunkState.LOST),
        Trunk(one="C", other="D", costs=(1, 3), state=TrunkState.ONE_SIDED),
        Trunk(one="C", other="h:1", costs=(1,), state=TrunkState.SILENT),
    ),
)


def lines(graph: Graph) -> list[str]:
    return as_text(map_blocks(graph))


def check_drawing(graph: Graph, expected: str) -> None:
    assert "\n".join(lines(graph)) == expected.strip("\n")


def test_two_routers_are_drawn() -> None:
    check_drawing(
        mesh("A", "B"),
        """
┏━━━━━━━━━━━━━━━━━━━━━━━━━━┓
┃ A (asked)                ┠─ 1 ──╮
┃ 5 connections, 1 address ┃      │
┃ up 000:00:12:03          ┃      │
┗━━━━━━━━━━━━━━━━━━━━━━━━━━┛      │
┌──────────────────────────┐      │
│ B                        ├─ 1 ──╯
│ 5 connections, 1 address │
│ up 000:00:12:03          │
└──────────────────────────┘
""",
    )


def test_three_routers_are_drawn() -> None:
    check_drawing(
        mesh("A", "B", "C", asked="B"),
        """
┌──────────────────────────┐
│ A                        ├─ 1 ─────╮
│ 5 connections, 1 address ├─ 1 ──╮  │
│ up 000:00:12:03          │      │  │
└──────────────────────────┘      │  │
┏━━━━━━━━━━━━━━━━━━━━━━━━━━┓      │  │
┃ B (asked)                ┠─ 1 ──╯  │
┃ 5 connections, 1 address ┠─ 1 ──╮  │
┃ up 000:00:12:03          ┃      │  │
┗━━━━━━━━━━━━━━━━━━━━━━━━━━┛      │  │
┌──────────────────────────┐      │  │
│ C                        ├─ 1 ──╯  │
│ 5 connections, 1 address ├─ 1 ─────╯
│ up 000:00:12:03          │
└──────────────────────────┘
""",
    )


def test_four_routers_are_drawn() -> None:
    check_drawing(
        mesh("A", "B", "C", "D"),
        """
┏━━━━━━━━━━━━━━━━━━━━━━━━━━┓
┃ A (asked)                ┠─ 1 ───────────╮
┃ 5 connections, 1 address ┠─ 1 ─────╮     │
┃ up 000:00:12:03          ┠─ 1 ──╮  │     │
┗━━━━━━━━━━━━━━━━━━━━━━━━━━┛      │  │     │
┌──────────────────────────┐      │  │     │
│ B                        ├─ 1 ──╯  │     │
│ 5 connections, 1 address ├─ 1 ─────┼──╮  │
│ up 000:00:12:03          ├─ 1 ──╮  │  │  │
└──────────────────────────┘      │  │  │  │
┌──────────────────────────┐      │  │  │  │
│ C                        ├─ 1 ──╯  │  │  │
│ 5 connections, 1 address ├─ 1 ─────╯  │  │
│ up 000:00:12:03          ├─ 1 ──╮     │  │
└──────────────────────────┘      │     │  │
┌──────────────────────────┐      │     │  │
│ D                        ├─ 1 ──╯     │  │
│ 5 connections, 1 address ├─ 1 ────────╯  │
│ up 000:00:12:03          ├─ 1 ───────────╯
└──────────────────────────┘
""",
    )


def test_what_is_wrong_is_drawn() -> None:
    check_drawing(
        LOST,
        """
┏━━━━━━━━━━━━━━━━━━━━━━━━━━┓
┃ A (asked)                ┠─ 12 ────────╮
┃ 5 connections, 1 address ┠╌ ✗ 2 ╌╌╌╌╮  │
┃ up 000:00:12:03          ┃          ╎  │
┗━━━━━━━━━━━━━━━━━━━━━━━━━━┛          ╎  │
┌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┐          ╎  │
╎ B                        ├╌ ✗ 2 ╌╌╌╌╯  │
╎ unreachable              ├╌ ✗ ╌╌╌╌╌╌╮  │
└╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┘          ╎  │
┌──────────────────────────┐          ╎  │
│ C                        ├╌ ✗ ╌╌╌╌╌╌╯  │
│ 2 connections            ├─ 12 ────────╯
│ 3 deliveries stuck       ├╌ ✗ 1 ╌╌╌╌╌╌╌╮
│ · E0                     ├╌ ? 1/3 ╌╌╮  ╎
│ · E1                     │          ╎  ╎
│ · E2                     │          ╎  ╎
│ · E3                     │          ╎  ╎
│ · E4                     │          ╎  ╎
│ · E5                     │          ╎  ╎
│ · 3 edge routers more    │          ╎  ╎
└──────────────────────────┘          ╎  ╎
┌──────────────────────────┐          ╎  ╎
│ D                        ├╌ ? 1/3 ╌╌╯  ╎
│ does not answer          │             ╎
└──────────────────────────┘             ╎
┌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┐             ╎
╎ h:1                      ├╌ ✗ 1 ╌╌╌╌╌╌╌╯
╎ nobody known there       ╎
└╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌┘
✗ a trunk that is lost
✗ connected, but no greetings pass
? known at one end only
""",
    )


def test_a_network_with_too_many_trunks_for_lines_names_their_ends() -> None:
    names = [f"R{number:02}" for number in range(TRACKS_MAX)]
    text = lines(mesh(*names))
    assert text[1] == "│ R00                      ├─ 1 ─ R19"
    assert text[-2] == "│                          ├─ 1 ─ R00"
    assert not any("╮" in line for line in text)


def test_a_name_that_would_steer_the_terminal_does_not() -> None:
    text = "".join(lines(mesh("A", "\x1b[2J", "x" * 100)))
    assert "\x1b" not in text
    assert "x" * 39 + "…" in text


def test_colour_marks_trouble_and_moves_nothing() -> None:
    painted = as_text(map_blocks(LOST), COLOURED)
    plain = [line.replace("\x1b[0m", "") for line in painted]
    for code in (COLOURED.title, COLOURED.head, COLOURED.trouble, COLOURED.rule):
        assert any(code in line for line in plain)
        plain = [line.replace(code, "") for line in plain]
    assert plain == lines(LOST)


def test_the_tables_follow_with_v_and_stand_alone_as_json_and_csv() -> None:
    blocks = map_blocks(LOST, is_verbose=True)
    text = as_text(blocks)
    assert text[: len(lines(LOST))] == lines(LOST)
    assert [line for line in text if line in ("Routers", "Trunks")] == ["Routers", "Trunks"]
    routers, trunks = as_json(blocks)
    assert (routers["title"], trunks["title"]) == ("Routers", "Trunks")
    assert routers["rows"][2] == {
        **{"router-id": "C", "state": "up", "asked": False, "cost": None, "conns": 2, "addrs": None, "stuck": 3},
        **{"blkd": None, "uptime": None, "version": None, "edges": [f"E{at}" for at in range(9)]},
    }
    assert trunks["rows"][3] == {
        **{"router": "C", "neighbor": "D", "state": "one-sided", "costs": [1, 3], "conns": 1, "lost": 0}
    }
    assert '"C","D","one-sided","1/3","1","0"' in as_csv(blocks)


# The image


def texts_of(graph: Graph) -> list[str]:
    image = ET.fromstring(svg_of(graph))
    return ["".join(one.itertext()) for one in image.iter("{http://www.w3.org/2000/svg}text")]


def test_the_image_is_xml_with_every_router_cost_and_edge() -> None:
    texts = texts_of(LOST)
    for text in ("A", "unreachable", "✗ 2", "12", "? 1/3", "E0", "E6", "2 more", "3 deliveries stuck", "h:1"):
        assert text in texts, text


def test_the_image_tells_details_where_the_pointer_rests() -> None:
    image = ET.fromstring(svg_of(LOST))
    titles = [one.text for one in image.iter("{http://www.w3.org/2000/svg}title")]
    assert "A - C\nstate: up\ncost: 12\nconnections: 1" in titles
    assert any(title is not None and title.startswith("A, which was asked\nstate: up\n") for title in titles)
    assert "edge router E0 at C" in titles


def test_names_cannot_break_the_image() -> None:
    assert '<b>&"\\x00' in texts_of(mesh("A", '<b>&"\x00'))


def test_the_same_network_is_always_the_same_image() -> None:
    names = [f"R{number}" for number in range(9)]
    assert svg_of(mesh(*names)) == svg_of(mesh(*names))
    assert places(mesh(*names)) == places(mesh(*names))


def rectangles(graph: Graph) -> list[tuple[float, float, float, float]]:
    image = ET.fromstring(svg_of(graph))
    boxes = [one for one in image.iter("{http://www.w3.org/2000/svg}rect") if one.get("class") == "box"]
    sides = [[float(one.attrib[name]) for name in ("x", "y", "width", "height")] for one in boxes]
    return [(x, y, x + width, y + height) for x, y, width, height in sides]


def ring(count: int) -> Graph:
    names = [f"R{number * 7 % count}" for number in range(count)]
    ends = [sorted((names[at], names[at - 1])) for at in range(count)]
    return Graph(
        tuple(router(name) for name in sorted(names)), tuple(Trunk(one=one, other=other) for one, other in ends)
    )


@pytest.mark.parametrize(
    "graph",
    [mesh("A"), mesh("A", "B"), mesh("A", "B", "C"), mesh("A", "B", "C", "D"), ring(9), ring(30), LOST],
    ids=["1", "2", "3", "4", "ring of 9", "ring of 30", "lost"],
)
def test_no_box_covers_another(graph: Graph) -> None:
    for one, other in itertools.combinations(rectangles(graph), 2):
        assert one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


def test_a_ring_is_drawn_as_a_ring() -> None:
    spots = places(ring(9))
    lengths = [
        ((spots[trunk.one][0] - spots[trunk.other][0]) ** 2 + (spots[trunk.one][1] - spots[trunk.other][1]) ** 2) ** 0.5
        for trunk in ring(9).trunks
    ]
    assert max(lengths) < 1.2 * min(lengths)


def test_parts_of_a_broken_network_stay_in_sight() -> None:
    parts = Graph(
        tuple(router(name) for name in "ABCDEF"),
        tuple(Trunk(one=one, other=other) for one, other in ("AB", "BC", "DE", "EF")),
    )
    spots = places(parts)
    assert max(abs(x) + abs(y) for x, y in spots.values()) < 5


def test_the_drawing_has_spans_of_one_tone() -> None:
    for line in drawn(LOST):
        assert all(span.text for span in line)
