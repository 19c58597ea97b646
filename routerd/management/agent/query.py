"""Answers to QUERY: rows with the columns that are asked for, a page at a time (3.5).

Tools ask for one page after the other. The rows of the first request are kept for a while. So no row moves from one
page to another when entities come and go in between. Each page costs no more than its own rows.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from routerd.management.agent.call import Call

SNAPSHOTS_MAX = 8
SNAPSHOT_AGE_S = 10.0

Cells = list[list[Any]]
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Snapshot:
    key: Key
    offset: int
    """Where the next page begins."""
    kept_at: float
    rows: Sequence[Any]


class Pages:
    """The pages of queries."""

    def __init__(self, uptime_s: Callable[[], float]) -> None:
        self._uptime_s = uptime_s
        self._snapshots: list[_Snapshot] = []

    async def page(
        self, call: Call, view: str, names: Sequence[Any], gather: Callable[[], Awaitable[Sequence[Any]]]
    ) -> Sequence[Any]:
        """Return the rows of the page that is asked for; they are gathered if it is no later page of the same query."""
        offset, count = call.window
        key = (view, *(name if isinstance(name, str) else repr(name) for name in names))
        rows = self._take(key, offset)
        if rows is None:
            rows = await gather()
        if count is None:
            return rows[offset:]
        page = rows[offset : offset + count]
        # Tools go on until a page is not full, even if nothing is left.
        if len(page) == count:
            self._keep(_Snapshot(key, offset + count, self._uptime_s(), rows))
        return page

    def _take(self, key: Key, offset: int) -> Sequence[Any] | None:
        oldest = self._uptime_s() - SNAPSHOT_AGE_S
        self._snapshots = [one for one in self._snapshots if one.kept_at >= oldest]
        for one in self._snapshots:
            if offset and one.key == key and one.offset == offset:
                self._snapshots.remove(one)
                return one.rows
        return None

    def _keep(self, snapshot: _Snapshot) -> None:
        self._snapshots.append(snapshot)
        del self._snapshots[:-SNAPSHOTS_MAX]


def result(names: Sequence[Any], cells: Cells) -> dict[str, Any]:
    """Return the body of an answer."""
    return {"attributeNames": list(names), "results": cells}
