"""What a view is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from routerd.cli.manage.node import Node
from routerd.cli.manage.table import Block, Column


@dataclass(frozen=True, slots=True)
class Ask:
    """What somebody wants to see of a view."""

    limit: int | None = None
    """Rows at most; None and 0 are all."""
    is_verbose: bool = False


Fetch = Callable[[Node, Ask], list[Block]]


@dataclass(frozen=True, slots=True)
class View:
    """One way to look at a router."""

    options: tuple[str, ...]
    help: str
    fetch: Fetch
    columns: tuple[Column, ...] = ()
    """What it can be sorted by; none where that is known only once there is an answer, or nothing to sort."""
    is_headed: bool = True
    """Whether the time and the router are named above it."""
    is_sortable: bool = True

    @property
    def name(self) -> str:
        """The long option without its dashes."""
        return self.options[-1].removeprefix("--")

    def titles(self, *, is_verbose: bool) -> Sequence[str]:
        """Return the titles of its columns, as far as they are known."""
        return [column.title for column in self.columns if is_verbose or not column.is_verbose]
