"""How recording fares."""

from collections.abc import Iterable
from typing import Any

from routerd.management.agent.numbers import whole
from routerd.management.rows import WorkerRow

RECORD_COUNTERS = {
    "rowsWritten": "rows_written",
    "rowsLost": "rows_lost",
    "rowsPending": "rows_pending",
    "filesWritten": "files_written",
    "filesDeleted": "files_deleted",
    "octetsWritten": "octets_written",
    "errorCount": "errors",
}
"""From attributes to the counters of `WorkerRow.recording`."""
_QUIET = ("off", "recording")


def recording_values(workers: Iterable[WorkerRow]) -> dict[str, Any]:
    """Return how recording fares over all workers; a worker that does not write has the say on the status."""
    rows = sorted(workers, key=lambda row: row.worker)
    statuses = [row.recording_status for row in rows]
    found: dict[str, Any] = {
        name: whole(sum(row.recording.get(counter, 0) for row in rows)) for name, counter in RECORD_COUNTERS.items()
    }
    troubled = next((one for one in statuses if one not in _QUIET), None)
    found["status"] = troubled or next(iter(statuses), _QUIET[0])
    return found
