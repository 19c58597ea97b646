"""The router as its management sees it.

`managed_worker` is one worker with its configuration, `router_backing` is all of them together, and
`configuration_copy` keeps a second copy of what is configured. `followed_log` is for processes without a worker.
"""

from routerd.io.backing.configuration_copy import ConfigurationCopy
from routerd.io.backing.followed_log import follow_log
from routerd.io.backing.managed_worker import ManagedWorker, own_log_rows
from routerd.io.backing.router_backing import LocalMember, Member, MemberGone, RouterBacking, configuration_of

__all__ = [
    "ConfigurationCopy",
    "LocalMember",
    "ManagedWorker",
    "Member",
    "MemberGone",
    "RouterBacking",
    "configuration_of",
    "follow_log",
    "own_log_rows",
]
