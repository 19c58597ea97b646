"""The pictures of a report, drawn by plotly."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from plotly import graph_objects as go

from analytics.network import Network
from analytics.report.answers import Answer

_COLOURS = {
    "accepted": "#2a7f62",
    "presettled": "#7fb069",
    "rejected": "#c1666b",
    "released": "#e4a853",
    "modified": "#8d6a9f",
    "dropped": "#4a4a4a",
}
_INK = "#1f3a5f"
_MOST = 40
_BESIDE = 1.22


def topology(network: Network, trunks: Iterable[Mapping[str, Any]]) -> go.Figure:
    """Draw routers on a circle, and trunks as wide as they are busy; costs stand beside them."""
    routers = network.routers
    turn = 2 * math.pi / max(1, len(routers))
    places = {one: (math.sin(at * turn), math.cos(at * turn)) for at, one in enumerate(routers)}
    loads: dict[frozenset[str], float] = {}
    for row in trunks:
        ends = frozenset((row["router"], row["peer"]))
        loads[ends] = loads.get(ends, 0.0) + row["mean_octets_s"]
    most = max(loads.values(), default=0.0) or 1.0
    figure = go.Figure()
    for one, other, cost in network.trunks:
        load = loads.get(frozenset((one, other)), 0.0)
        (left, below), (right, above) = places[one], places[other]
        figure.add_scatter(
            x=[left, right],
            y=[below, above],
            mode="lines",
            line={"width": 1.5 + 10 * load / most, "color": _INK if load else "#b0b7c3"},
            opacity=0.7,
            hoverinfo="skip",
            showlegend=False,
        )
        figure.add_scatter(
            # Beside the line, on the side away from the middle.
            x=[(left + right) / 2 * _BESIDE],
            y=[(below + above) / 2 * _BESIDE],
            mode="text",
            text=[f"cost {cost}<br>{_rate(load)}"],
            hovertext=[f"{one} - {other}"],
            showlegend=False,
        )
    figure.add_scatter(
        x=[places[one][0] for one in routers],
        y=[places[one][1] for one in routers],
        mode="markers+text",
        marker={"size": 34, "color": "#ffffff", "line": {"width": 2, "color": _INK}},
        text=list(routers),
        hoverinfo="text",
        showlegend=False,
    )
    figure.update_xaxes(visible=False, range=[-1.3, 1.3])
    figure.update_yaxes(visible=False, range=[-1.25, 1.25], scaleanchor="x")
    return _styled(figure, 460)


def heat_map(answer: Answer) -> go.Figure:
    """Draw the traffic matrix."""
    sums = {(row["origin"], row["destination"]): row["messages"] for row in answer.rows}
    routers = sorted({one for pair in sums for one in pair})
    cells = [[sums.get((origin, one), 0) for one in routers] for origin in routers]
    figure = go.Figure(
        go.Heatmap(
            x=routers, y=routers, z=cells, colorscale="Blues", colorbar={"title": "messages"}, texttemplate="%{z:.3s}"
        )
    )
    figure.update_xaxes(title="left the network at", type="category")
    figure.update_yaxes(title="entered it at", type="category", autorange="reversed")
    return _styled(figure, max(320, 60 + 44 * len(routers)))


def series(answer: Answer) -> go.Figure:
    """Draw outcomes over time."""
    figure = go.Figure()
    times = [row["time"] for row in answer.rows]
    for name, colour in _COLOURS.items():
        values = [row[name] for row in answer.rows]
        if any(values):
            figure.add_bar(x=times, y=values, name=name, marker={"color": colour, "line": {"width": 0}})
    figure.update_layout(barmode="stack", bargap=0)
    figure.update_yaxes(title="outcomes")
    return _styled(figure, 360)


def percentiles(answer: Answer, by: str) -> go.Figure:
    """Draw percentiles of the latency as bars beside each other."""
    rows = answer.rows[:_MOST]
    figure = go.Figure()
    for name, label, colour in (("p50_us", "half", "#9db4c0"), ("p90_us", "90 %", "#5c6b73"), ("p99_us", "99 %", _INK)):
        figure.add_bar(
            x=[str(row[by]) for row in rows], y=[row[name] / 1000 for row in rows], name=label, marker={"color": colour}
        )
    figure.update_yaxes(title="ms", type="log")
    figure.update_xaxes(type="category")
    return _styled(figure, 380)


def shares(answer: Answer) -> go.Figure:
    """Draw what each consumer gets beside what it could take."""
    rows = answer.rows[:_MOST]
    names = [row["consumer"] for row in rows]
    figure = go.Figure()
    figure.add_bar(x=names, y=[row["share"] for row in rows], name="share of messages", marker={"color": _INK})
    capacity = [row["capacity_share"] for row in rows]
    figure.add_bar(x=names, y=capacity, name="share of capacity", marker={"color": "#e4a853"})
    figure.update_yaxes(tickformat=".0%")
    return _styled(figure, 380)


def loads(answer: Answer) -> go.Figure:
    """Draw how busy each direction of each trunk is."""
    rows = answer.rows[:_MOST]
    names = [f"{row['router']} to {row['peer']}" for row in rows]
    figure = go.Figure()
    for name, label, colour in (
        ("mean_octets_s", "mean", "#9db4c0"),
        ("p99_octets_s", "99 % of busy seconds", "#5c6b73"),
        ("peak_octets_s", "busiest second", "#c1666b"),
    ):
        figure.add_bar(x=names, y=[row[name] for row in rows], name=label, marker={"color": colour})
    figure.update_yaxes(title="octets/s")
    return _styled(figure, 360)


CHARTS: dict[str, Callable[[Answer], go.Figure]] = {
    "matrix": heat_map,
    "outcomes": series,
    "latency": lambda answer: percentiles(answer, "address"),
    "latency_by_path": lambda answer: percentiles(answer, "path"),
    "latency_by_hop": lambda answer: percentiles(answer, "hop"),
    "balance": shares,
    "trunks": loads,
}
"""The picture of each answer that has one."""


def _styled(figure: go.Figure, height: int) -> go.Figure:
    figure.update_layout(
        template="plotly_white",
        height=height,
        margin={"l": 60, "r": 20, "t": 20, "b": 60},
        legend={"orientation": "h", "y": 1.12},
        font={"family": "system-ui, sans-serif", "size": 12},
    )
    return figure


def _rate(octets_s: float) -> str:
    for unit in ("B/s", "kB/s", "MB/s"):
        if octets_s < 1000:
            return f"{octets_s:.3g} {unit}"
        octets_s /= 1000
    return f"{octets_s:.3g} GB/s"
