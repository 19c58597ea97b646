"""When a thread works, on which core, and with what memory.

`busy_poll` keeps a loop awake, `core_keeper` keeps it on a core, and `loop_calls` hands calls over to it. `peer_timers`
judge nobody before the sockets were read. `processor_share` and `yield_timer` keep long work out of the way of others.
`process_settings` and `heap` hold what a process asks of Python and of the C library. `tricks` says whether any of
this is to be done.
"""

from routerd.io.scheduling.busy_poll import SPAN_S, BusyPoll
from routerd.io.scheduling.core_keeper import CoreKeeper, SystemCores, use_all_cores
from routerd.io.scheduling.heap import keep_freed_memory
from routerd.io.scheduling.loop_calls import LoopCalls
from routerd.io.scheduling.peer_timers import PeerTimer, Standstill, after_reading, all_is_read
from routerd.io.scheduling.process_settings import be_quick, collect_seldom
from routerd.io.scheduling.processor_share import Leisure, let_others_go_first
from routerd.io.scheduling.tricks import use_tricks, uses_tricks
from routerd.io.scheduling.yield_timer import YieldTimer

__all__ = [
    "SPAN_S",
    "BusyPoll",
    "CoreKeeper",
    "Leisure",
    "LoopCalls",
    "PeerTimer",
    "Standstill",
    "SystemCores",
    "YieldTimer",
    "after_reading",
    "all_is_read",
    "be_quick",
    "collect_seldom",
    "keep_freed_memory",
    "let_others_go_first",
    "use_all_cores",
    "use_tricks",
    "uses_tricks",
]
