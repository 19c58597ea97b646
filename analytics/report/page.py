"""Puts a report together: one HTML file that needs nothing else, on a screen or on paper."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import Any

from plotly import graph_objects as go
from plotly.offline import get_plotlyjs

from analytics.network import Network
from analytics.report.answers import Answer
from analytics.report.charts import CHARTS, topology
from analytics.report.findings import Finding
from analytics.report.sections import SECTIONS, Section
from analytics.results import text_of

_URGENCY = {1: "act", 2: "look", 3: "know"}

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 1040px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.7em; margin-bottom: 0; } h2 { border-bottom: 1px solid #ccd; margin-top: 2em; }
.says { color: #444; } .when { color: #666; }
table { border-collapse: collapse; font-size: 13px; margin: .7em 0; } th { text-align: left; background: #f0f3f7; }
td, th { padding: .25em .7em; border-bottom: 1px solid #e3e7ec; vertical-align: top; } td.number { text-align: right; }
.wide { overflow-x: auto; } nav a { margin-right: 1em; white-space: nowrap; }
.finding { border-left: 5px solid #9db4c0; padding: .3em .9em; margin: .6em 0; background: #f7f9fb; }
.finding.act { border-color: #c1666b; } .finding.look { border-color: #e4a853; }
.finding .do { color: #444; display: block; }
@media print {
  body { margin: 0; max-width: none; font-size: 11px; } nav { display: none; } table { font-size: 9px; }
  section, .finding, .chart, tr { break-inside: avoid; } .wide { overflow: visible; }
  a { color: inherit; text-decoration: none; }
}
"""


@dataclass(frozen=True)
class Report:
    """All that a report shows."""

    begin: datetime
    end: datetime
    routers: tuple[str, ...]
    messages: int
    answers: Mapping[str, Answer]
    findings: list[Finding]
    remarks: tuple[str, ...]
    network: Network


def page(report: Report) -> str:
    """Return the HTML of a report."""
    title = f"Messages from {report.begin:%F %T} to {report.end:%F %T} UTC"
    parts = [_summary(report), _topology(report), *(_section(one, report) for one in SECTIONS), _records(report)]
    links = " ".join(f'<a href="#{one.name}">{escape(one.title)}</a>' for one in SECTIONS)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            f'<html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            # Browsers ask for an icon otherwise.
            '<link rel="icon" href="data:,">',
            f"<style>{_STYLE}</style>",
            f"<script>{get_plotlyjs()}</script></head><body>",
            f"<h1>Mobula: what the routers decided</h1><p class='when'>{title}</p><nav>{links}</nav>",
            *parts,
            "</body></html>",
        ]
    )


def _summary(report: Report) -> str:
    sentence = f"{report.messages:,} messages entered the network of {len(report.routers)} routers. " + (
        f"{len(report.findings)} things need attention, the most urgent first."
        if report.findings
        else "Nothing stands out."
    )
    rows = [
        f'<div class="finding {_URGENCY[one.urgency]}"><a href="#{one.section}">{_words(one.says)}</a>'
        f'<span class="do">{_words(one.do)}</span></div>'
        for one in report.findings
    ]
    return f'<section id="summary"><h2>Summary</h2><p>{sentence}</p></section>{"".join(rows)}'


def _topology(report: Report) -> str:
    if not report.network.trunks:
        return '<section id="topology"><h2>Topology</h2><p class="says">No router recorded a trunk.</p></section>'
    figure = topology(report.network, report.answers["trunks"].rows)
    return (
        '<section id="topology"><h2>Topology</h2><p class="says">All trunks that there were, as wide as they were '
        "busy, with their cost. A thin one beside a thick one is a cost to look at.</p>"
        f"{_chart(figure, 'topology')}</section>"
    )


def _section(section: Section, report: Report) -> str:
    answer = report.answers[section.name]
    parts = [f'<section id="{section.name}"><h2>{escape(section.title)}</h2><p class="says">{_words(section.says)}</p>']
    if not answer.rows:
        parts.append("<p>Nothing was recorded of this.</p>")
    else:
        if section.name in CHARTS:
            parts.append(_chart(CHARTS[section.name](answer), section.name))
        if section.rows:
            parts.append(_table(section, answer))
    return "".join([*parts, "</section>"])


def _chart(figure: go.Figure, name: str) -> str:
    html = figure.to_html(
        full_html=False,
        include_plotlyjs=False,
        div_id=f"chart-{name}",
        config={"displaylogo": False, "responsive": True},
    )
    return f'<div class="chart">{html}</div>'


def _table(section: Section, answer: Answer) -> str:
    columns = section.columns or answer.columns
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in columns)
    rows = "".join(f"<tr>{''.join(_cell(row[name]) for name in columns)}</tr>" for row in answer.rows[: section.rows])
    more = (
        ""
        if answer.is_all and len(answer.rows) <= section.rows
        else (f"<p class='when'>The first {section.rows} rows; `routeranalyze {_command(section.name)}` has all.</p>")
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{more}'


def _words(text: str) -> str:
    """Return a sentence as HTML; what stands between backticks is as it is typed."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escape(text))


def _command(name: str) -> str:
    return {
        "families": "matrix --by family",
        "latency_by_path": "latency --by path",
        "latency_by_hop": "latency --by hop",
    }.get(name, name)


def _cell(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"<td{' class=number' if is_number else ''}>{escape(text_of(value))}</td>"


def _records(report: Report) -> str:
    sentences = "".join(f"<li>{escape(one)}</li>" for one in report.remarks)
    said = f"<ul>{sentences}</ul>" if sentences else "<p>All records could be read.</p>"
    return (
        '<section id="records"><h2>The records</h2><p class="says">What was left out or is missing, and what that '
        f"means for the rest.</p>{said}</section>"
    )
