"""What a view shows: tables with a row for each entity, and records of one entity with a row for each attribute.

Both hold values as the router gives them; how they are written is the business of `figures` and `output`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from routerd.cli.manage.failures import WrongUse
from routerd.cli.manage.figures import natural_key, plain
from routerd.cli.manage.suggestions import among, did_you_mean

Show = Callable[[Any], str]


class Kind(Enum):
    """The meaning of a column's values to a reader."""

    TEXT = "text"
    NUMBER = "number"
    COUNTER = "counter"
    """A number that only grows, so that its rate says what goes on."""


TEXT = Kind.TEXT
NUMBER = Kind.NUMBER
COUNTER = Kind.COUNTER


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    title: str
    value: Callable[[Mapping[str, Any]], Any]
    """Makes the value of an entity."""
    needs: tuple[str, ...] = ()
    """The attributes without which there is no such column: older routers have fewer."""
    kind: Kind = TEXT
    show: Show = plain
    is_verbose: bool = False
    """Whether it is shown with -v only."""
    is_trouble: bool = False
    """Whether anything but zero and nothing deserves attention."""


def of(attribute: str, title: str | None = None, kind: Kind = TEXT, show: Show = plain, **options: Any) -> Column:
    """Return the column of an attribute as it is."""
    return Column(title or attribute, lambda entity: entity.get(attribute), (attribute,), kind, show, **options)


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column, when its values are there."""

    title: str
    kind: Kind = TEXT
    show: Show = plain
    is_trouble: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under heads."""

    title: str
    heads: tuple[Head, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    keys: tuple[str, ...] = ()
    """What each row is about, whatever its place."""
    note: str = ""
    """A line below the title."""
    if_empty: str | None = None
    """What is said when there are no rows; None is just the title."""

    def titles(self) -> tuple[str, ...]:
        """Return the titles of the columns."""
        return tuple(head.title for head in self.heads)

    def sorted_by(self, title: str, *, is_reversed: bool = False) -> "Table":
        """Return the rows by a column: numbers from the largest, texts from A, unless reversed; WrongUse without it."""
        if not self.rows:
            return self
        at = column_index(self.titles(), title)
        is_falling = (self.heads[at].kind is not TEXT) != is_reversed
        known = [number for number, row in enumerate(self.rows) if row[at] not in (None, "")]
        blank = [number for number, row in enumerate(self.rows) if row[at] in (None, "")]
        order = sorted(known, key=lambda number: natural_key(self.rows[number][at]), reverse=is_falling) + blank
        return replace(
            self,
            rows=tuple(self.rows[number] for number in order),
            keys=tuple(self.keys[number] for number in order),
        )


@dataclass(frozen=True, slots=True)
class Line:
    """One attribute of a record."""

    label: str
    value: Any
    kind: Kind = TEXT
    show: Show = plain
    is_trouble: bool = False
    rate: float | None = field(default=None, kw_only=True)
    """How fast it grows, where that is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The attributes of one entity, one below the other."""

    title: str
    lines: tuple[Line, ...] = ()
    has_rates: bool = False
    """Whether there is a column with how fast counters grow."""


@dataclass(frozen=True, slots=True)
class Message:
    """Lines of text that are shown as they are."""

    lines: tuple[str, ...]
    title: str = ""
    rows: tuple[Any, ...] = ()
    """What the lines are made of."""


class Tone(Enum):
    """The meaning of a part of a drawing to a reader."""

    PLAIN = "plain"
    TITLE = "title"
    HEAD = "head"
    RULE = "rule"
    TROUBLE = "trouble"


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a line that has one tone."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A picture made of characters, and the tables of what it shows: these stand for it where there are no pictures."""

    title: str
    lines: tuple[tuple[Span, ...], ...]
    tables: tuple[Table, ...]
    is_verbose: bool = False
    """Whether the tables follow the picture."""


Block = Table | Record | Message | Drawing


def tabulate(
    title: str,
    columns: Sequence[Column],
    entities: Sequence[Mapping[str, Any]],
    *,
    is_verbose: bool = False,
    key: Callable[[Mapping[str, Any]], Any] | None = None,
    if_empty: str | None = None,
) -> Table:
    """Return the table of entities, with the columns for which there are attributes."""
    first = entities[0] if entities else {}
    chosen = [
        column
        for column in columns
        if (is_verbose or not column.is_verbose) and (not entities or all(name in first for name in column.needs))
    ]
    identify = key or (lambda entity: entity.get("identity") or entity.get("name"))
    return Table(
        title=title,
        heads=tuple(Head(column.title, column.kind, column.show, column.is_trouble) for column in chosen),
        rows=tuple(tuple(column.value(entity) for column in chosen) for entity in entities),
        keys=tuple(plain(identify(entity)) for entity in entities),
        if_empty=if_empty,
    )


def column_index(titles: Sequence[str], title: str) -> int:
    """Return which column is meant; WrongUse if there is none of that title."""
    folded = [one.casefold() for one in titles]
    if title.casefold() in folded:
        return folded.index(title.casefold())
    raise WrongUse(f"there is no column {title!r}{did_you_mean(title, titles) or among(titles)}")

