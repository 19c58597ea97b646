"""`python -m bench NAME --record`: the page of results, with the newest figure of every case and one line a day.

A run replaces the rows of the cases that it measured. Rows of other cases stay, with their own day and commit.
"""

import datetime
import subprocess
from pathlib import Path

from bench.report import Row, bound_of, number_text, verdict_of

PAGE = Path(__file__).with_name("RESULTS.md")
FIGURES = "| benchmark | case | value | unit | target | | day | commit |"
HISTORY = "| day | commit | targets met | router, as a ratio of direct |"
_RULE = {FIGURES: "|---|---|---:|---|---|---|---|---|", HISTORY: "|---|---|---|---|"}


class NoSuchTable(Exception):
    """The page of results lacks one of its tables."""

    def __init__(self, header: str) -> None:
        super().__init__(f"{PAGE.name} has no table with this header: {header}")


def record(name: str, rows: list[Row], path: Path = PAGE) -> None:
    """Put the figures of a run that has just ended into the page of results."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    path.write_text(with_run(path.read_text(), name, rows, day, _commit()))


def with_run(page: str, name: str, rows: list[Row], day: str, commit: str) -> str:
    """Return a page of results with the figures of one run in it."""
    figures = {(line[0], line[1]): line for line in _lines(page, FIGURES)}
    for row in rows:
        cells = [name, row.case, number_text(row.value), row.unit, bound_of(row), verdict_of(row), day, commit]
        figures[name, row.case] = cells
    by_name: dict[str, list[list[str]]] = {}
    for cells in figures.values():
        by_name.setdefault(cells[0], []).append(cells)
    page = _with_lines(page, FIGURES, [cells for group in by_name.values() for cells in group])
    history = {line[0]: line for line in _lines(page, HISTORY)}
    before = history.get(day, [day, commit, "", ""])
    met = dict(part.split(": ") for part in before[2].split(", ") if part)
    bounded = [row for row in rows if row.target is not None]
    verdicts = [cells[5] for cells in by_name.get(name, []) if cells[6] == day and cells[5]]
    met[name] = f"{verdicts.count('met')} of {len(verdicts)}"
    ratios = before[3]
    if name == "router":
        suffix = ": ratio"
        ratios = "; ".join(
            f"{row.case.removesuffix(suffix)} {number_text(row.value)}" for row in bounded if row.case.endswith(suffix)
        )
    history[day] = [day, commit, ", ".join(f"{key}: {value}" for key, value in met.items()), ratios]
    return _with_lines(page, HISTORY, [history[key] for key in sorted(history, reverse=True)])


def _lines(page: str, header: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in _parts(page, header)[1]]


def _with_lines(page: str, header: str, lines: list[list[str]]) -> str:
    before, _, after = _parts(page, header)
    table = [header, _RULE[header], *("| " + " | ".join(cells) + " |" for cells in lines)]
    return "\n".join([*before, *table, *after]) + "\n"


def _parts(page: str, header: str) -> tuple[list[str], list[str], list[str]]:
    lines = page.splitlines()
    if header not in lines:
        raise NoSuchTable(header)
    first = lines.index(header)
    end = first + 2
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    return lines[:first], lines[first + 2 : end], lines[end:]


def _commit() -> str:
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=PAGE.parent, capture_output=True, text=True
    )
    return described.stdout.strip() or "unknown"
