"""Sockets, clocks and threads: the log, the ports that a router keeps."""

from routerd.io.configuration_keeper import ConfigurationKeeper
from routerd.io.in_process import InProcessRouter
from routerd.io.log_levels import Level
from routerd.io.log_lines import LogEntry, identity
from routerd.io.log_outputs import LogFileError
from routerd.io.log_receiver import LogReceiver
from routerd.io.logs import (
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
from routerd.io.managed_worker import ManagedWorker, own_log_rows
from routerd.io.management_messages import ManagementMessages
from routerd.io.network_view import NetworkView
from routerd.io.ports import Endpoint, ListenFailed, Reservation, bind, endpoints_of, reserve
from routerd.io.router_backing import Member, MemberGone, RouterBacking, configuration_of
from routerd.io.routing_host import RoutingHost, new_instance
from routerd.io.worker import Worker
from routerd.io.worker_config import WorkerConfig

__all__ = [
    "ConfigurationKeeper",
    "Endpoint",
    "InProcessRouter",
    "Level",
    "ListenFailed",
    "LogEntry",
    "LogFileError",
    "LogReceiver",
    "ManagedWorker",
    "ManagementMessages",
    "Member",
    "MemberGone",
    "ModuleLog",
    "NetworkView",
    "Reservation",
    "RouterBacking",
    "RoutingHost",
    "Worker",
    "WorkerConfig",
    "adopt_logger",
    "bind",
    "change_log",
    "configuration_of",
    "configure_logs",
    "endpoints_of",
    "finish_logs",
    "follow_log_files",
    "forward_logs",
    "identity",
    "log_counts",
    "log_settings",
    "module_log",
    "new_instance",
    "own_log_rows",
    "recent_log_entries",
    "reserve",
]
