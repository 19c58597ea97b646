"""How fast counters grow between two looks at them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from routerd.cli.manage.figures import rate
from routerd.cli.manage.table import COUNTER, NUMBER, Block, Head, Record, Table

_Figures = dict[tuple[str, str, str], int]


class Rates:
    """Remembers the counters of the last look."""

    def __init__(self) -> None:
        self._figures: _Figures = {}
        self._at = 0.0

    def look(self, blocks: Sequence[Block], now: float) -> list[Block]:
        """Return the blocks with the rates of their counters since the last look, which have no value at the first."""
        figures = _figures(blocks)
        seconds = now - self._at
        grown = {
            place: (value - self._figures[place]) / seconds
            for place, value in figures.items()
            # A counter that has decreased belongs to something new.
            if place in self._figures and seconds > 0 and value >= self._figures[place]
        }
        self._figures, self._at = figures, now
        return [_with_rates(block, grown) for block in blocks]


def _figures(blocks: Sequence[Block]) -> _Figures:
    figures: _Figures = {}
    for block in blocks:
        if isinstance(block, Record):
            lines = [(block.title, line.label, "", line.kind, line.value) for line in block.lines]
        elif isinstance(block, Table):
            lines = [
                (block.title, key, head.title, head.kind, value)
                for key, row in zip(block.keys, block.rows, strict=True)
                for head, value in zip(block.heads, row, strict=True)
            ]
        else:
            continue
        figures |= {
            (title, key, column): value
            for title, key, column, kind, value in lines
            if kind is COUNTER and isinstance(value, int)
        }
    return figures


def _with_rates(block: Block, grown: dict[tuple[str, str, str], float]) -> Block:
    if isinstance(block, Record):
        lines = tuple(replace(line, rate=grown.get((block.title, line.label, ""))) for line in block.lines)
        return replace(block, lines=lines, has_rates=True)
    if not isinstance(block, Table):
        return block
    heads: list[Head] = []
    for head in block.heads:
        heads.append(head)
        if head.kind is COUNTER:
            heads.append(Head(f"{head.title}/s", NUMBER, rate))
    rows = []
    for key, row in zip(block.keys, block.rows, strict=True):
        cells: list[Any] = []
        for head, value in zip(block.heads, row, strict=True):
            cells.append(value)
            if head.kind is COUNTER:
                cells.append(grown.get((block.title, key, head.title)))
        rows.append(tuple(cells))
    return replace(block, heads=tuple(heads), rows=tuple(rows))


def without_idle_rates(block: Block) -> Block:
    """Return a table without the rates of counters that grow in no row; the first of these stays."""
    if not isinstance(block, Table):
        return block
    rates = [number for number, head in enumerate(block.heads) if head.show is rate]
    dropped = {number for number in rates[1:] if not any(row[number] for row in block.rows)}
    kept = [number for number in range(len(block.heads)) if number not in dropped]
    return replace(
        block,
        heads=tuple(block.heads[number] for number in kept),
        rows=tuple(tuple(row[number] for number in kept) for row in block.rows),
    )
