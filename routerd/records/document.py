"""Writes docs/records.md from the tables: `python -m routerd.records.document [FILE]`."""

import sys
from collections.abc import Iterable
from enum import Enum
from pathlib import Path

from routerd.records.schema import CANDIDATE, Column, Kind
from routerd.records.tables import TABLES
from routerd.records.vocabulary import Cause, EventKind, LinkKind, Outcome

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "records.md"

_INTRODUCTION = """# Records

<!-- Written by `python -m routerd.records.document` from the tables; a test compares. -->

Routers record their decisions in three tables, as Parquet, which many tools can read.
[analytics.md](analytics.md) says how to study them with `routeranalyze`.

## Files

```
RECORDS/decisions/day=2026-11-21/hour=14/router=A/1795270800000000-w0.1-000001.v1.parquet
```

* Each table, day, hour and router has a folder. Day and hour are UTC, by the router's clock. Characters of a router's
  id other than letters, digits and `_.-~` are written as `%` and two digits.
* The name of a file has four parts. The first is the least time of its rows, in microseconds since 1970. The second is
  the writer: worker and incarnation, or `compact`. The number of the file at this writer and the version of the table
  follow.
* A file is complete or does not exist: it is written as `.NAME.part` and renamed. A file that ends in `.part` can be
  deleted once its writer is gone.
* A file that replaces others of its folder names them in the metadata `mobula.replaces` (a list in JSON). Rows of a
  file that is named there must not be read twice: whoever wrote the new one deletes it, and may have been
  interrupted. `mobula.table` and `mobula.version` say what a file is.
* Pages have check sums. Names are kept by dictionary, times and most numbers by their differences. Routers
  also compress columns of many names with gzip. `routeranalyze` compresses its files with Snappy.

## Versions

From one version of a table to the next, columns are only added. A reader passes over columns that it does not know,
and takes those that a file lacks for null; so files of several versions can be read together.

## Clocks

A row has the time of the router that wrote it, and no row compares the clocks of two: `latency_us` is measured where
it is recorded. A comparison of rows of two routers has to allow for clocks that disagree. `routeranalyze clocks`
measures the difference.
"""


def document() -> str:
    """Return the text of docs/records.md."""
    parts = [_INTRODUCTION]
    for table in TABLES:
        parts.append(f"## `{table.name}`, version {table.version}\n\n{table.says}\n\n{_columns(table.columns)}")
        if any(column.kind is Kind.CANDIDATES for column in table.columns):
            parts.append(f"Each of the `candidates`:\n\n{_columns(CANDIDATE)}")
    words: tuple[tuple[str, type[Enum]], ...] = (
        ("Kinds of events (`kind`)", EventKind),
        ("What is at the other end of a link (`ingress_kind`, `egress_kind`, `link_kind`)", LinkKind),
        ("Outcomes (`outcome`)", Outcome),
        ("Why a message was not delivered (`cause`)", Cause),
    )
    parts.extend(f"## {title}\n\n{_words(kind)}" for title, kind in words)
    parts.append(_ENDING)
    return "\n".join(parts)


_ENDING = """## Message keys

`message_key` is the 64-bit FNV-1a hash of the message-id, as a signed number. A string counts as its UTF-8, a ulong
as its decimal digits, a uuid as its 36 characters, a binary as it is. `routeranalyze audit --message ID` computes it.
"""


def _columns(columns: Iterable[Column]) -> str:
    rows = [
        f"| `{one.name}` | {one.kind.value} | {'may be null' if one.is_optional else ''} | {one.since} | {one.says} |"
        for one in columns
    ]
    return "\n".join(["| column | holds | | since version | says |", "|---|---|---|---|---|", *rows]) + "\n"


def _words(words: type[Enum]) -> str:
    rows = [f"| `{word.value}` | {word.says} |" for word in words]  # type: ignore[attr-defined]
    return "\n".join(["| word | means |", "|---|---|", *rows]) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """Write the document."""
    given = sys.argv[1:] if arguments is None else arguments
    (Path(given[0]) if given else DOCUMENT).write_text(document())


if __name__ == "__main__":
    main()
