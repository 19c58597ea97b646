"""A map as an SVG image that needs nothing else: any browser shows it, with details where the pointer rests."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from xml.sax.saxutils import escape, quoteattr

from routerd.cli.manage.figures import duration, or_dash, plain
from routerd.cli.manage.network_map.forces import Place, places
from routerd.cli.manage.network_map.graph import Edge, Graph, RouterPoint, RouterState, Trunk, TrunkState
from routerd.cli.manage.network_map.text import health_texts, trouble_text, trunk_label

EDGES_MAX = 8
NAME_MAX = 28
_CHARACTER_WIDTH = 7.4
_LINE_HEIGHT = 16
_MARGIN = 40
_GAP = 90
_STRETCH_MAX = 900.0
"""How long a trunk is at most, however close two routers stand."""
_EDGE_HEIGHT = 20
_EDGES_WIDTH = 90
_LABEL_HEIGHT = 18
_LINES_CHECKED = 200
"""With more trunks, costs may stand where trunks cross."""
_ALONG = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78)
"""Where a cost can stand on its trunk."""

STYLE = """\
text { font: 12px ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
.ground { fill: #ffffff; }
.name { font-weight: 600; font-size: 14px; }
.box { fill: #f3f6f9; stroke: #57606a; stroke-width: 1.2; }
.asked .box { stroke: #0969da; stroke-width: 3; }
.silent .box { fill: #fff4d6; stroke: #9a6700; }
.gone .box { fill: #ffebe9; stroke: #cf222e; stroke-dasharray: 5 4; }
.edge .box { fill: #ffffff; stroke: #8c959f; }
.edge text { font-size: 11px; }
.hang { stroke: #8c959f; stroke-width: 1; }
.trunk line { stroke: #57606a; stroke-width: 2; }
.trunk .label { fill: #ffffff; stroke: #57606a; }
.half line { stroke: #9a6700; stroke-dasharray: 8 5; }
.lost line { stroke: #cf222e; stroke-dasharray: 3 5; }
.trouble { fill: #cf222e; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.ground { fill: #0d1117; }
.box { fill: #1c2430; stroke: #8b949e; }
.asked .box { stroke: #58a6ff; }
.silent .box { fill: #33290d; stroke: #d29922; }
.gone .box { fill: #3a1416; stroke: #ff7b72; }
.edge .box { fill: #0d1117; stroke: #6e7681; }
.hang { stroke: #6e7681; }
.trunk line { stroke: #8b949e; }
.trunk .label { fill: #0d1117; stroke: #8b949e; }
.half line { stroke: #d29922; }
.lost line { stroke: #ff7b72; }
.trouble { fill: #ff7b72; }
}
"""
_ROUTER_CLASSES = {
    RouterState.UP: "router",
    RouterState.SILENT: "router silent",
    RouterState.UNREACHABLE: "router gone",
    RouterState.UNKNOWN: "router gone",
}
_TRUNK_CLASSES = {
    TrunkState.UP: "trunk",
    TrunkState.ONE_SIDED: "trunk half",
    TrunkState.SILENT: "trunk half",
    TrunkState.LOST: "trunk lost",
}
_STATE_TEXTS = {
    RouterState.SILENT: "does not answer",
    RouterState.UNREACHABLE: "unreachable",
    RouterState.UNKNOWN: "nobody known there",
}
Rectangle = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True, slots=True)
class _Box:
    """A router with its size, around its middle."""

    router: RouterPoint
    lines: tuple[tuple[str, str], ...]
    """Texts with their classes."""
    width: float
    height: float

    def around(self, place: Place) -> Rectangle:
        x, y = place
        return x - self.width / 2, y - self.height / 2, x + self.width / 2, y + self.height / 2


def svg_of(graph: Graph) -> str:
    """Return the text of the image."""
    boxes = {router.id: _box(router) for router in graph.routers}
    spots = _spread(boxes, places(graph))
    rectangles = {name: box.around(spots[name]) for name, box in boxes.items()}
    middle = sum(x for x, _ in spots.values()) / len(spots)
    edges = [one for name, box in boxes.items() for one in _edge_boxes(box.router, rectangles[name], middle)]
    labels = _labels(graph.trunks, spots, [*rectangles.values(), *(one[1] for one in edges)])
    everything = [*rectangles.values(), *(one[1] for one in edges)]
    left, top = (min(one[side] for one in everything) - _MARGIN for side in (0, 1))
    width, height = (max(one[side] for one in everything) + _MARGIN - low for side, low in ((2, left), (3, top)))
    view = " ".join(f"{value:.0f}" for value in (left, top, width, height))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{view}" width="{width:.0f}" height="{height:.0f}">',
            "<title>Routers and trunks</title>",
            f"<style>\n{STYLE}</style>",
            f'<rect class="ground" x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{height:.0f}"/>',
            *(_line(trunk, spots) for trunk in graph.trunks),
            *(_label(trunk, label) for trunk, label in zip(graph.trunks, labels, strict=True)),
            *(_edge(*one) for one in edges),
            *(_router(box, rectangles[name]) for name, box in boxes.items()),
            "</svg>",
            "",
        ]
    )


# --- sizes and places


def _box(router: RouterPoint) -> _Box:
    lines = [(_short(router.id), "name")]
    if router.state is not RouterState.UP:
        lines.append((_STATE_TEXTS[router.state], "trouble"))
    elif router.health is not None:
        lines += [(text, "") for text in health_texts(router.health)]
        if router.health.is_troubled:
            lines.append((trouble_text(router.health), "trouble"))
    width = max(len(text) * (_CHARACTER_WIDTH * (1.15 if kind == "name" else 0.92)) for text, kind in lines) + 24
    return _Box(router, tuple(lines), max(80.0, width), len(lines) * _LINE_HEIGHT + 14)


def _spread(boxes: Mapping[str, _Box], near: Mapping[str, Place]) -> dict[str, Place]:
    """Return the places so far from each other that no box touches another, if that can be."""
    edges = max(len(box.router.edges[:EDGES_MAX]) for box in boxes.values())
    width = max(box.width for box in boxes.values()) + _GAP + (_EDGES_WIDTH if edges else 0)
    height = max(*(box.height for box in boxes.values()), edges * (_EDGE_HEIGHT + 4)) + _GAP * 0.7
    scale = 1.0
    for (x, y), (other_x, other_y) in combinations(near.values(), 2):
        across, down = abs(x - other_x) or 1e-9, abs(y - other_y) or 1e-9
        scale = max(scale, min(1 / across, 1 / down))
    scale = min(scale, _STRETCH_MAX / max(width, height))
    return {name: (round(x * scale * width), round(y * scale * height)) for name, (x, y) in near.items()}


def _edge_boxes(router: RouterPoint, box: Rectangle, middle: float) -> Iterator[tuple[str, Rectangle, Place, str]]:
    """Yield the small boxes of the edge routers of a router: text, place, where they hang on, tooltip."""
    shown: Sequence[Edge | int] = router.edges
    if len(router.edges) > EDGES_MAX:
        shown = [*router.edges[: EDGES_MAX - 1], len(router.edges) - EDGES_MAX + 1]
    left, top, right, bottom = box
    is_left = (left + right) / 2 < middle
    start = (top + bottom) / 2 - len(shown) * (_EDGE_HEIGHT + 4) / 2
    for number, edge in enumerate(shown):
        text = f"{edge} more" if isinstance(edge, int) else _short(edge.id, 14)
        about = f"{edge} more edge routers" if isinstance(edge, int) else _edge_title(edge, router)
        width = len(text) * 6.4 + 14
        x = left - 26 - width if is_left else right + 26
        y = start + number * (_EDGE_HEIGHT + 4)
        hook = (left if is_left else right, (top + bottom) / 2)
        yield text, (x, y, x + width, y + _EDGE_HEIGHT), hook, about


def _labels(trunks: Sequence[Trunk], spots: Mapping[str, Place], taken: Iterable[Rectangle]) -> list[Rectangle]:
    """Return where the costs stand: in the middle of a trunk, or beside it where something else is."""
    blocked = list(taken)
    found: list[Rectangle] = []
    lines = [(spots[trunk.one], spots[trunk.other]) for trunk in trunks]
    for number, trunk in enumerate(trunks):
        width = len(trunk_label(trunk)) * _CHARACTER_WIDTH + 12
        others = [line for at, line in enumerate(lines) if at != number] if len(lines) <= _LINES_CHECKED else []
        candidates = [_label_place(lines[number], along, width) for along in _ALONG]
        free = [one for one in candidates if not any(_touch(one, other) for other in blocked)] or candidates
        chosen = next((one for one in free if not any(_crosses(line, one) for line in others)), free[0])
        blocked.append(chosen)
        found.append(chosen)
    return found


def _label_place(line: tuple[Place, Place], along: float, width: float) -> Rectangle:
    (x, y), (far_x, far_y) = line
    middle, height = x + (far_x - x) * along, y + (far_y - y) * along
    return middle - width / 2, height - _LABEL_HEIGHT / 2, middle + width / 2, height + _LABEL_HEIGHT / 2


def _crosses(line: tuple[Place, Place], place: Rectangle) -> bool:
    """Whether a line passes through a place: its part between the left and right of it does between top and bottom."""
    (x, y), (far_x, far_y) = line
    left, top, right, bottom = place
    begin, end = 0.0, 1.0
    for start, length, low, high in ((x, far_x - x, left, right), (y, far_y - y, top, bottom)):
        if length == 0:
            if not low <= start <= high:
                return False
            continue
        first, last = sorted(((low - start) / length, (high - start) / length))
        begin, end = max(begin, first), min(end, last)
    return begin <= end


def _touch(one: Rectangle, other: Rectangle) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


# --- elements


def _router(box: _Box, place: Rectangle) -> str:
    left, top, right, _ = place
    classes = _ROUTER_CLASSES[box.router.state] + (" asked" if box.router.is_asked else "")
    middle = (left + right) / 2
    texts = [
        f'<text{_class(kind)} x="{middle:.0f}" y="{top + 20 + number * _LINE_HEIGHT:.0f}" '
        f'text-anchor="middle">{escape(text)}</text>'
        for number, (text, kind) in enumerate(box.lines)
    ]
    return _group(classes, _router_title(box.router), [_rectangle("box", place, 6), *texts])


def _line(trunk: Trunk, spots: Mapping[str, Place]) -> str:
    (x, y), (far_x, far_y) = spots[trunk.one], spots[trunk.other]
    line = f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{far_x:.0f}" y2="{far_y:.0f}"/>'
    return _group(_TRUNK_CLASSES[trunk.state], _trunk_title(trunk), [line])


def _label(trunk: Trunk, place: Rectangle) -> str:
    left, top, right, _ = place
    kind = _class("trouble" if trunk.state is not TrunkState.UP or trunk.lost_connections else "")
    middle = (left + right) / 2
    text = f'<text{kind} x="{middle:.0f}" y="{top + 13:.0f}" text-anchor="middle">{escape(trunk_label(trunk))}</text>'
    return _group(_TRUNK_CLASSES[trunk.state], _trunk_title(trunk), [_rectangle("label", place, 9), text])


def _edge(text: str, place: Rectangle, hook: Place, about: str) -> str:
    left, top, right, bottom = place
    x = right if right < hook[0] else left
    line = f'<line class="hang" x1="{hook[0]:.0f}" y1="{hook[1]:.0f}" x2="{x:.0f}" y2="{(top + bottom) / 2:.0f}"/>'
    inner = f'<text x="{(left + right) / 2:.0f}" y="{top + 14:.0f}" text-anchor="middle">{escape(text)}</text>'
    return _group("edge", about, [line, _rectangle("box", place, 4), inner])


def _group(classes: str, about: str, parts: Sequence[str]) -> str:
    return f"<g class={quoteattr(classes)}><title>{escape(about)}</title>{''.join(parts)}</g>"


def _rectangle(kind: str, place: Rectangle, rounding: int) -> str:
    left, top, right, bottom = place
    size = f'width="{right - left:.0f}" height="{bottom - top:.0f}" rx="{rounding}"'
    return f'<rect class="{kind}" x="{left:.0f}" y="{top:.0f}" {size}/>'


def _class(kind: str) -> str:
    return f' class="{kind}"' if kind else ""


# --- words


def _router_title(router: RouterPoint) -> str:
    texts = [plain(router.id) + (", which was asked" if router.is_asked else ""), f"state: {router.state.value}"]
    if router.path_cost is not None:
        texts.append(f"cost of the way to it: {router.path_cost}")
    if router.health is not None:
        health = router.health
        texts += [
            f"connections: {or_dash(health.connections)}",
            f"addresses: {or_dash(health.addresses)}",
            f"deliveries stuck: {or_dash(health.stuck)}",
            f"links blocked: {or_dash(health.blocked)}",
            f"up {duration(health.uptime_s)}",
            f"version {or_dash(health.version)}",
        ]
    texts += [f"uplink to {plain(name)}" for name in router.uplinks]
    if router.edges:
        texts.append(f"edge routers: {len(router.edges)}")
    return "\n".join(texts)


def _trunk_title(trunk: Trunk) -> str:
    lost = f", {trunk.lost_connections} lost" if trunk.lost_connections else ""
    return "\n".join(
        [
            f"{plain(trunk.one)} - {plain(trunk.other)}",
            f"state: {trunk.state.value}",
            f"cost: {trunk.cost_text}",
            f"connections: {trunk.connections}{lost}",
        ]
    )


def _edge_title(edge: Edge, router: RouterPoint) -> str:
    return f"edge router {plain(edge.id)} at {plain(router.id)}{'' if edge.is_active else ', spare connection'}"


def _short(name: str, most: int = NAME_MAX) -> str:
    text = plain(name)
    return text if len(text) <= most else text[: most - 1] + "…"
