"""How a table of records is described: columns with a kind each, and since which version of the table they exist.

From one version of a table to the next, columns are only added. None is removed, renamed or given another kind. So a
reader of version n reads the files of all versions. A column that an older file lacks is null, and a column that only a
newer file has is ignored.
"""

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a column holds."""

    TIME = "UTC time by the router's clock, microseconds"
    NAME = "text of which there are few different ones"
    TEXT = "text"
    SMALL = "integer, 8 bits"
    NUMBER = "integer, 32 bits"
    LARGE = "integer, 64 bits"
    COSTS = "map from the ids of routers to costs"
    CANDIDATES = "list of candidates"


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    name: str
    kind: Kind
    says: str
    is_optional: bool = False
    """Whether it may be null."""
    since: int = 1
    """The first version of the table that has it; later ones than the first are optional."""


@dataclass(frozen=True, slots=True)
class Table:
    """One table of records."""

    name: str
    version: int
    says: str
    columns: tuple[Column, ...]

    def columns_of(self, version: int) -> tuple[Column, ...]:
        """Return the columns that a version of the table has."""
        return tuple(column for column in self.columns if column.since <= version)


CANDIDATE = (
    Column("egress", Kind.NAME, "the link of a consumer, or of a way to other routers"),
    Column("cost", Kind.NUMBER, "of the path to the nearest consumer that way; 0 for a consumer of this router"),
    Column("outstanding", Kind.NUMBER, "deliveries that were under way there and not settled"),
)
"""What is known of each candidate of a decision."""
