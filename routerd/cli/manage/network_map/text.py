"""A map as text: the routers below each other in boxes, and beside them the trunks, as lines from box to box."""

from collections.abc import Sequence

from routerd.cli.manage.figures import duration, plain
from routerd.cli.manage.network_map.graph import Graph, Health, RouterPoint, RouterState, Trunk, TrunkState
from routerd.cli.manage.network_map.tracks import Run, runs_of
from routerd.cli.manage.table import Span, Tone

TRACKS_MAX = 20
"""With more, the trunks are no lines: at each router stands where they lead."""
EDGES_MAX = 6
NAME_MAX = 40
_TRACK_WIDTH = 3

_LIGHT, _HEAVY, _DASHED = tuple("┌─┐│└┘├"), tuple("┏━┓┃┗┛┠"), tuple("┌╌┐╎└┘├")
"""Corners and sides of a box: top left, across, top right, side, bottom left, bottom right, side with a trunk."""
_SOLID_LINE, _BROKEN_LINE = ("─", "│"), ("╌", "╎")
_TROUBLED = (TrunkState.LOST, TrunkState.SILENT, TrunkState.ONE_SIDED)
_MARKS = {TrunkState.UP: "", TrunkState.LOST: "✗ ", TrunkState.SILENT: "✗ ", TrunkState.ONE_SIDED: "? "}
_LEGEND = {
    TrunkState.LOST: "✗ a trunk that is lost",
    TrunkState.SILENT: "✗ connected, but no greetings pass",
    TrunkState.ONE_SIDED: "? known at one end only",
}
_Cells = dict[tuple[int, int], tuple[str, Tone]]


def drawn(graph: Graph) -> tuple[tuple[Span, ...], ...]:
    """Return the lines of the drawing."""
    runs = runs_of(graph)
    has_tracks = max((run.track for run in runs), default=0) < TRACKS_MAX
    contents = [_content(router) for router in graph.routers]
    width = max(max(len(text) for text, _ in lines) for lines in contents)
    ports: list[dict[int, Run]] = [{} for _ in graph.routers]
    for run in runs:
        ports[run.upper][run.upper_port] = run
        ports[run.lower][run.lower_port] = run
    cells: _Cells = {}
    tops = []
    row = 0
    for router, lines, own in zip(graph.routers, contents, ports, strict=True):
        tops.append(row + 1)
        row = _box(cells, row, width, router, lines, len(own))
    label = max((len(trunk_label(run.trunk)) for run in runs), default=0)
    for number, own in enumerate(ports):
        for port, run in own.items():
            other = graph.routers[run.lower if number == run.upper else run.upper].id
            _stub(cells, tops[number] + port, width + 4, run.trunk, label, "" if has_tracks else other)
    for run in runs if has_tracks else ():
        _line(cells, run, tops, width + 7 + label)
    return (*_rows(cells), *_legend(graph))


def _content(router: RouterPoint) -> list[tuple[str, Tone]]:
    name = plain(router.id)
    if len(name) > NAME_MAX:
        name = name[: NAME_MAX - 1] + "…"
    lines = [(f"{name} (asked)" if router.is_asked else name, Tone.TITLE)]
    if router.state is RouterState.SILENT:
        lines.append(("does not answer", Tone.TROUBLE))
    elif router.state is RouterState.UNREACHABLE:
        lines.append(("unreachable", Tone.TROUBLE))
    elif router.state is RouterState.UNKNOWN:
        lines.append(("nobody known there", Tone.TROUBLE))
    elif router.health is not None:
        lines += [(text, Tone.PLAIN) for text in health_texts(router.health)]
        if router.health.is_troubled:
            lines.append((trouble_text(router.health), Tone.TROUBLE))
    lines += [(f"uplink to {name}", Tone.PLAIN) for name in router.uplinks]
    lines += [(f"· {edge.id}{'' if edge.is_active else ' (spare)'}", Tone.PLAIN) for edge in router.edges[:EDGES_MAX]]
    if len(router.edges) > EDGES_MAX:
        lines.append((f"· {len(router.edges) - EDGES_MAX} edge routers more", Tone.PLAIN))
    return [(plain(text), tone) for text, tone in lines]


def health_texts(health: Health) -> list[str]:
    """Return in words what a router has to do with, and for how long."""
    counts = [counted(health.connections, "connection"), counted(health.addresses, "address", "addresses")]
    since = "" if health.uptime_s is None else f"up {duration(health.uptime_s)}"
    return list(filter(None, [", ".join(filter(None, counts)), since]))


def trouble_text(health: Health) -> str:
    """Return in words what waits that should not."""
    stuck = counted(health.stuck, "delivery stuck", "deliveries stuck") if health.stuck else ""
    blocked = counted(health.blocked, "link blocked", "links blocked") if health.blocked else ""
    return ", ".join(filter(None, (stuck, blocked)))


def counted(number: int | None, one: str, several: str = "") -> str:
    """Return a number of things in words, nothing if it is not known."""
    return "" if number is None else f"{number:,} {one if number == 1 else several or one + 's'}"


def _box(
    cells: _Cells, row: int, width: int, router: RouterPoint, lines: Sequence[tuple[str, Tone]], ports: int
) -> int:
    """Draw a box; return the row behind it."""
    is_gone = router.state in (RouterState.UNREACHABLE, RouterState.UNKNOWN)
    corners = _HEAVY if router.is_asked else _DASHED if is_gone else _LIGHT
    top_left, across, top_right, side, bottom_left, bottom_right, side_with_trunk = corners
    tone = Tone.TROUBLE if router.state is not RouterState.UP else Tone.HEAD if router.is_asked else Tone.PLAIN
    height = max(len(lines), ports)
    for at, (left, right) in {row: (top_left, top_right), row + height + 1: (bottom_left, bottom_right)}.items():
        _write(cells, at, 0, left + across * (width + 2) + right, tone)
    for number in range(height):
        _write(cells, row + 1 + number, 0, side, tone)
        _write(cells, row + 1 + number, width + 3, side_with_trunk if number < ports else side, tone)
    for number, (text, colour) in enumerate(lines):
        _write(cells, row + 1 + number, 2, text, colour)
    return row + height + 2


def trunk_label(trunk: Trunk) -> str:
    """Return what stands on a trunk: its cost, and a mark if all is not well with it."""
    mark = _MARKS[trunk.state]
    return mark.rstrip() if mark and not trunk.costs else f"{mark}{trunk.cost_text}"


def _tone(trunk: Trunk) -> Tone:
    return Tone.TROUBLE if trunk.state in _TROUBLED or trunk.lost_connections else Tone.PLAIN


def _stub(cells: _Cells, row: int, column: int, trunk: Trunk, label: int, leads_to: str) -> None:
    """Begin a trunk at a box, with its cost, and with the name of the other router where there is no line to it."""
    across = _strokes(trunk)[0]
    text = trunk_label(trunk)
    _write(cells, row, column, f"{across} {text} {across * (label - len(text))}", _tone(trunk))
    if leads_to:
        _write(cells, row, column + label + 3, f"{across} {plain(leads_to)}", _tone(trunk))


def _line(cells: _Cells, run: Run, tops: Sequence[int], start: int) -> None:
    """Draw a trunk from behind its cost at the upper router to there at the lower one."""
    tone = _tone(run.trunk)
    across, down = _strokes(run.trunk)
    column = start + (run.track + 1) * _TRACK_WIDTH - 1
    upper, lower = tops[run.upper] + run.upper_port, tops[run.lower] + run.lower_port
    for row, corner in ((upper, "╮"), (lower, "╯")):
        for at in range(start, column):
            _cross(cells, row, at, across, tone)
        _write(cells, row, column, corner, tone)
    for row in range(upper + 1, lower):
        _cross(cells, row, column, down, tone)


def _strokes(trunk: Trunk) -> tuple[str, str]:
    return _SOLID_LINE if trunk.state is TrunkState.UP else _BROKEN_LINE


def _cross(cells: _Cells, row: int, column: int, character: str, tone: Tone) -> None:
    is_free = cells.get((row, column), (" ", tone))[0] == " "
    cells[row, column] = (character if is_free else "┼", tone)


def _write(cells: _Cells, row: int, column: int, text: str, tone: Tone) -> None:
    for at, character in enumerate(text):
        cells[row, column + at] = (character, tone)


def _rows(cells: _Cells) -> list[tuple[Span, ...]]:
    """Return the rows as spans of one tone each."""
    rows: list[list[Span]] = [[] for _ in range(1 + max(row for row, _ in cells))]
    ends = [0] * len(rows)
    for row, column in sorted(cells):
        character, tone = cells[row, column]
        spans = rows[row]
        gap = " " * (column - ends[row])
        if spans and spans[-1].tone is tone:
            spans[-1] = Span(spans[-1].text + gap + character, tone)
        else:
            if gap:
                spans.append(Span(gap, Tone.PLAIN))
            spans.append(Span(character, tone))
        ends[row] = column + 1
    return [tuple(spans) for spans in rows]


def _legend(graph: Graph) -> list[tuple[Span, ...]]:
    told = {trunk.state for trunk in graph.trunks}
    failing = [
        f"{trunk.one} - {trunk.other}: {trunk.lost_connections} more configured, not connected"
        for trunk in graph.trunks
        if trunk.lost_connections and trunk.state is TrunkState.UP
    ]
    texts = [text for state, text in _LEGEND.items() if state in told] + [plain(text) for text in failing]
    return [(Span(text, Tone.RULE),) for text in texts]
