"""Tables as text in the layout that scripts know, as CSV and as JSON."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from routerd.cli.manage import figures
from routerd.cli.manage.table import COUNTER, Block, Drawing, Head, Line, Message, Record, Table, Tone

INDENT = "  "
SPACING = 2
_RESET = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Style:
    """The colours, as the codes that switch them on; none by default."""

    title: str = ""
    head: str = ""
    rule: str = ""
    trouble: str = ""
    sorted: str = ""

    def paint(self, code: str, text: str) -> str:
        """Return a text in a colour."""
        return f"{code}{text}{_RESET}" if code and text else text


PLAIN = Style()
COLOURED = Style(title="\x1b[1m", head="\x1b[1;36m", rule="\x1b[2m", trouble="\x1b[1;33m", sorted="\x1b[1;7;36m")


def as_text(blocks: Sequence[Block], style: Style = PLAIN, sort: str | None = None) -> list[str]:
    """Return the lines of blocks, with an empty one between any two."""
    lines: list[str] = []
    for number, block in enumerate(blocks):
        if number:
            lines.append("")
        lines += _block_lines(block, style, sort)
    return lines


def as_csv(blocks: Sequence[Block]) -> list[str]:
    """Return the lines of blocks with their cells quoted and separated by commas."""
    lines: list[str] = []
    for number, block in enumerate(_without_drawings(blocks)):
        if number:
            lines.append("")
        if isinstance(block, Message):
            lines += block.lines
            continue
        table = record_table(block) if isinstance(block, Record) else block
        lines += _titles(table)
        if table.rows:
            lines.append(_quoted(table.titles()))
            lines += (_quoted(cells) for cells in _cells(table))
    return lines


def as_json(blocks: Iterable[Block]) -> list[dict[str, Any]]:
    """Return blocks as what JSON has, with values as the router gave them."""
    return [_json_block(block) for block in _without_drawings(blocks)]


def dumps(value: Any, indent: int | None = 2) -> str:
    """Return the text of a JSON value; without indent it is one line."""
    return json.dumps(figures.jsonable(value), indent=indent)


def record_table(record: Record) -> Table:
    """Return a record as a table of two columns, or three with rates."""
    width = 3 if record.has_rates else 2
    cells = [(line.label, line.show(line.value), figures.rate(line.rate)) for line in record.lines]
    return Table(
        title=record.title,
        heads=(Head("attr"), Head("value"), Head("per second"))[:width],
        rows=tuple(row[:width] for row in cells),
        keys=tuple(line.label for line in record.lines),
    )


def _without_drawings(blocks: Iterable[Block]) -> Iterator[Table | Record | Message]:
    for block in blocks:
        if isinstance(block, Drawing):
            yield from block.tables
        else:
            yield block


def _json_block(block: Table | Record | Message) -> dict[str, Any]:
    if isinstance(block, Message):
        return {"title": block.title, "rows": list(block.rows)}
    if isinstance(block, Record):
        values = {line.label: line.value for line in block.lines}
        rates = {line.label: line.rate for line in block.lines if line.kind is COUNTER}
        return {"title": block.title, "values": values} | ({"perSecond": rates} if block.has_rates else {})
    titles = block.titles()
    rows = [dict(zip(titles, row, strict=True)) for row in block.rows]
    return {"title": block.title, "rows": rows}


def _block_lines(block: Block, style: Style, sort: str | None) -> list[str]:
    if isinstance(block, Message):
        return [*block.lines]
    if isinstance(block, Drawing):
        return _drawing_lines(block, style)
    if isinstance(block, Table):
        return _table_lines(block, _cells(block), _troubles(block), style, sort)
    table = record_table(block)
    troubles = [[False, _is_trouble(line), False][: len(table.heads)] for line in block.lines]
    return _table_lines(table, _cells(table), troubles, style, None)


def _drawing_lines(drawing: Drawing, style: Style) -> list[str]:
    codes = {tone: "" if tone is Tone.PLAIN else getattr(style, tone.value) for tone in Tone}
    lines = ["".join(style.paint(codes[span.tone], span.text) for span in spans) for spans in drawing.lines]
    return [*lines, "", *as_text(drawing.tables, style)] if drawing.is_verbose else lines


def _titles(table: Table) -> list[str]:
    if not table.rows and table.if_empty is not None:
        return table.if_empty.splitlines()
    return [table.title, *([table.note] if table.note else [])]


def _cells(table: Table) -> list[list[str]]:
    return [[head.show(value) for head, value in zip(table.heads, row, strict=True)] for row in table.rows]


def _troubles(table: Table) -> list[list[bool]]:
    return [
        [head.is_trouble and bool(value) for head, value in zip(table.heads, row, strict=True)] for row in table.rows
    ]


def _is_trouble(line: Line) -> bool:
    return line.is_trouble and bool(line.value)


def _table_lines(
    table: Table, cells: list[list[str]], troubles: list[list[bool]], style: Style, sort: str | None
) -> list[str]:
    lines = [style.paint(style.title, line) for line in _titles(table)]
    if not table.rows:
        return lines
    titles = table.titles()
    widths = [max(map(len, column)) + SPACING for column in zip(titles, *cells, strict=True)]
    codes = [style.sorted if sort is not None and title == sort else style.head for title in titles]
    lines.append(_line(titles, widths, codes, style))
    lines.append(INDENT + style.paint(style.rule, "=" * sum(widths)))
    for row, marks in zip(cells, troubles, strict=True):
        lines.append(_line(row, widths, [style.trouble if mark else "" for mark in marks], style))
    return lines


def _line(cells: Sequence[str], widths: Sequence[int], codes: Sequence[str], style: Style) -> str:
    # The last cell is not padded: scripts compare lines.
    padding = [" " * (width - len(cell)) for cell, width in zip(cells, widths, strict=True)]
    padding[-1] = ""
    painted = (style.paint(code, cell) for cell, code in zip(cells, codes, strict=True))
    return INDENT + "".join(cell + blank for cell, blank in zip(painted, padding, strict=True))


def _quoted(cells: Iterable[str]) -> str:
    return ",".join('"' + cell.replace('"', '""') + '"' if cell else "" for cell in cells)
