"""Requests to the router's management, and their answers.

`endpoint` takes requests in a worker, `messages` reads and writes them, `answer_lines` keeps requesters apart.
`scrapes` answers requests for metrics.
"""

from routerd.io.management.endpoint import Ask, ManagementAway, ManagementEndpoint
from routerd.io.management.messages import ManagementMessages, is_repeatable
from routerd.io.management.scrapes import Scrapes

__all__ = [
    "Ask",
    "ManagementAway",
    "ManagementEndpoint",
    "ManagementMessages",
    "Scrapes",
    "is_repeatable",
]
