"""What a worker tells of itself.

`worker_reports` makes reports in the loop, a little at a time: `reports` has counters and rows, `report_rows` the rows
that are many.
"""

from routerd.io.reports.reports import STUCK_IN_TESTS_S, STUCK_S, Lag, WorkerHost, policy_row
from routerd.io.reports.topic_rows import topic_figures
from routerd.io.reports.trunks import trunk_rows
from routerd.io.reports.worker_reports import WorkerReports

__all__ = [
    "STUCK_IN_TESTS_S",
    "STUCK_S",
    "Lag",
    "WorkerHost",
    "WorkerReports",
    "policy_row",
    "topic_figures",
    "trunk_rows",
]
