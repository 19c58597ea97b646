"""The account of the demo: what publishers have written, against what each subscriber has processed."""

import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Account:
    """What one subscriber did."""

    subscriber: str
    processed: int
    missing: int
    twice: int
    """How often a message was processed again."""
    disordered: int
    """Messages that came for the first time behind a later one of the same publisher."""

    def is_clean(self, twice_at_most: int = 0) -> bool:
        """Whether each message was processed, in order, and not again more often than that."""
        return not (self.missing or self.disordered) and self.twice <= twice_at_most


def written(database: Path) -> int:
    """Return how many messages a publisher has written."""
    return int(_rows(database, "SELECT count(*) FROM written")[0][0])


def is_attached(database: Path) -> bool:
    """Whether a subscriber has been attached."""
    try:
        return bool(_rows(database, "SELECT count(*) FROM attached")[0][0])
    except sqlite3.OperationalError:
        # It has not begun.
        return False


def processed(database: Path) -> int:
    """Return how many different messages a subscriber has processed."""
    query = "SELECT count(*) FROM (SELECT DISTINCT writer, number FROM processed)"
    return int(_rows(database, query)[0][0])


def account_of(name: str, database: Path, publishers: dict[str, int]) -> Account:
    """Hold what a subscriber has processed against what publishers have written."""
    rows = _rows(database, "SELECT writer, number FROM processed ORDER BY place")
    counts = Counter(rows)
    missing = sum(counts[(writer, number)] == 0 for writer, count in publishers.items() for number in range(count))
    latest: dict[str, int] = {}
    disordered = 0
    for writer, number in dict.fromkeys(rows):
        disordered += number < latest.get(writer, -1)
        latest[writer] = max(number, latest.get(writer, -1))
    return Account(name, len(rows), missing, sum(count - 1 for count in counts.values()), disordered)


def _rows(database: Path, query: str) -> Sequence[tuple[str, int]]:
    if not database.exists():
        raise sqlite3.OperationalError("there is no database yet")
    with closing(sqlite3.connect(database, timeout=30.0)) as connection:
        return connection.execute(query).fetchall()
