"""The log of a process, and what it says.

`log_system` is the log over Python's logging: `levels` of modules, `lines` as text or JSON, `outputs` with a
`line_writer`, and a `receiver` for the lines of other processes. `seldom_log` says once in a while what goes on and on.
`event_log`, `message_log` and `protocol_trace` have the lines about connections, messages and frames; they use
`connection_ends` and `value_text`.
"""

from routerd.io.logs.connection_ends import failure_of, opening_of
from routerd.io.logs.event_log import EventLog
from routerd.io.logs.levels import Level, level_of
from routerd.io.logs.lines import LogEntry, identity
from routerd.io.logs.log_system import (
    ModuleLog,
    adopt_logger,
    change_log,
    configure_logs,
    finish_logs,
    follow_log_files,
    forward_logs,
    log_counts,
    log_settings,
    module_log,
    recent_log_entries,
)
from routerd.io.logs.message_log import is_watched
from routerd.io.logs.outputs import LogFileError
from routerd.io.logs.protocol_trace import FrameTracer
from routerd.io.logs.receiver import LogReceiver
from routerd.io.logs.seldom_log import SeldomLog

__all__ = [
    "EventLog",
    "FrameTracer",
    "Level",
    "LogEntry",
    "LogFileError",
    "LogReceiver",
    "ModuleLog",
    "SeldomLog",
    "adopt_logger",
    "change_log",
    "configure_logs",
    "failure_of",
    "finish_logs",
    "follow_log_files",
    "forward_logs",
    "identity",
    "is_watched",
    "level_of",
    "log_counts",
    "log_settings",
    "module_log",
    "opening_of",
    "recent_log_entries",
]
