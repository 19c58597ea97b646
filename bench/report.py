"""The form in which every benchmark tells its figures: one row a case."""

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """One figure, and the target that it is held to; `at_most` says on which side of it is good."""

    case: str
    value: float
    unit: str
    target: float | None = None
    at_most: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the figure is on the good side of its target; one without a target always is."""
        if self.target is None:
            return True
        return self.value <= self.target if self.at_most else self.value >= self.target


def as_text(rows: list[Row]) -> str:
    """Return the rows as aligned columns."""
    cells = [("case", "value", "unit", "target", "")]
    for row in rows:
        cells.append((row.case, number_text(row.value), row.unit, bound_of(row), verdict_of(row)))
    widths = [max(len(line[column]) for line in cells) for column in range(5)]
    return "\n".join(
        f"{case:{widths[0]}}  {value:>{widths[1]}}  {unit:{widths[2]}}  {bound:{widths[3]}}  {verdict}".rstrip()
        for case, value, unit, bound, verdict in cells
    )


def as_json(rows: list[Row]) -> str:
    """Return the rows as an object keyed by case."""
    return json.dumps(
        {
            row.case: {"value": row.value, "unit": row.unit, "target": row.target, "met": row.is_met}
            for row in rows
        },
        indent=2,
    )


def bound_of(row: Row) -> str:
    """Return the target of a row and the side of it that is good, or nothing."""
    return "" if row.target is None else f"{'<=' if row.at_most else '>='} {number_text(row.target)}"


def verdict_of(row: Row) -> str:
    """Say whether a row meets its target, if it has one."""
    return "" if row.target is None else "met" if row.is_met else "short"


def number_text(value: float) -> str:
    """Return a figure in three digits, or whole where it is larger."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
