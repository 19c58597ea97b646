"""One look at a router, or at all of its network, by one view."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from routerd.cli.manage.failures import WrongUse
from routerd.cli.manage.node import PREFIX, Node
from routerd.cli.manage.output import PLAIN, Style, as_csv, as_json, as_text
from routerd.cli.manage.table import Block, Table, column_index
from routerd.cli.manage.views.view import Ask, View

_ROUTER = PREFIX + "router"
_SCHEME = "amqp:/"


@dataclass(frozen=True, slots=True)
class Section:
    """What one router showed."""

    router: str | None
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one look showed."""

    time: datetime
    sections: tuple[Section, ...]
    is_headed: bool = True
    is_of_all_routers: bool = False

    def text(self, style: Style = PLAIN, sort: str | None = None) -> list[str]:
        """Return the lines to print."""
        return self._lines([as_text(section.blocks, style, sort) for section in self.sections])

    def csv(self) -> list[str]:
        """Return the lines to print with cells separated by commas."""
        return self._lines([as_csv(section.blocks) for section in self.sections])

    def json(self) -> dict[str, Any]:
        """Return all of it, with values as the routers gave them."""
        return {
            "time": self.time.isoformat(),
            "routers": [{"router": one.router, "tables": as_json(one.blocks)} for one in self.sections],
        }

    def _lines(self, bodies: Sequence[list[str]]) -> list[str]:
        stamp = f"{self.time.replace(tzinfo=None)} UTC"
        if self.is_of_all_routers:
            lines = [stamp]
            for section, body in zip(self.sections, bodies, strict=True):
                lines += [f"Router  {section.router}", "", *body, ""]
            return lines[:-1]
        head = [stamp, str(self.sections[0].router), ""] if self.is_headed else []
        return head + [line for body in bodies for line in body]

    def sorted_by(self, title: str, *, is_reversed: bool) -> "Report":
        """Return it with the rows of those tables that have such a column in the order of it."""
        sections = tuple(
            replace(section, blocks=tuple(_sorted(block, title, is_reversed=is_reversed) for block in section.blocks))
            for section in self.sections
        )
        return replace(self, sections=sections)

    def titles(self) -> list[str]:
        """Return the titles of all columns."""
        tables = [block for section in self.sections for block in section.blocks if isinstance(block, Table)]
        return list(dict.fromkeys(title for table in tables for title in table.titles()))


def look(node: Node, view: View, ask: Ask, *, of_all_routers: bool = False, needs_id: bool = True) -> Report:
    """Return what a view shows now of a router, or of each one of its network."""
    nodes = node.management_nodes() if of_all_routers else []
    if len(nodes) < 2:
        router = _router_id(node) if view.is_headed or needs_id else None
        alone = Section(router, tuple(view.fetch(node, ask)))
        return Report(time=datetime.now(UTC), sections=(alone,), is_headed=view.is_headed)
    there = [(address.split("/")[3:4], node.at(address.removeprefix(_SCHEME))) for address in nodes]
    sections = tuple(Section("".join(name), tuple(view.fetch(other, ask))) for name, other in there)
    return Report(time=datetime.now(UTC), sections=sections, is_of_all_routers=True)


def check_column(view: View, title: str, *, is_verbose: bool, report: Report | None = None) -> None:
    """Refuse a column that a view does not have, as far as that can be told before there is an answer."""
    if not view.is_sortable:
        raise WrongUse(f"--{view.name} has nothing to sort")
    titles = view.titles(is_verbose=is_verbose) if report is None else report.titles()
    if titles:
        column_index(titles, title.removesuffix("/s") if report is None else title)


def _router_id(node: Node) -> str | None:
    return next((router.get("id") for router in node.query(_ROUTER, ("id",))), None)


def _sorted(block: Block, title: str, *, is_reversed: bool) -> Block:
    if isinstance(block, Table) and title.casefold() in (one.casefold() for one in block.titles()):
        return block.sorted_by(title, is_reversed=is_reversed)
    return block
