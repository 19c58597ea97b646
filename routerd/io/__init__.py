"""Sockets, clocks and threads: the log, the ports that a router keeps."""

from routerd.io.authentication import AuthenticationUnusable, warn_if_open
from routerd.io.configuration_keeper import ConfigurationKeeper
from routerd.io.fabric_keys import FabricKeys, fabric_name
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
from routerd.io.managed_worker import ManagedWorker, check_record_directory, own_log_rows
from routerd.io.management_endpoint import ManagementAway
from routerd.io.management_messages import ManagementMessages, is_repeatable
from routerd.io.network_view import NetworkView
from routerd.io.node import Node
from routerd.io.peer_timers import Standstill
from routerd.io.ports import Endpoint, ListenFailed, Reservation, bind, endpoints_of, reserve
from routerd.io.process_settings import collect_seldom
from routerd.io.processor_share import let_others_go_first
from routerd.io.router_backing import Member, MemberGone, RouterBacking, configuration_of
from routerd.io.routing_host import RoutingHost, new_instance
from routerd.io.tls import TlsFailed, TlsSession
from routerd.io.tls_profile import TlsProfileBroken
from routerd.io.tls_profiles import check_profiles
from routerd.io.turns import Turns
from routerd.io.worker import Worker
from routerd.io.worker_config import WorkerConfig

__all__ = [
    "AuthenticationUnusable",
    "ConfigurationKeeper",
    "Endpoint",
    "FabricKeys",
    "InProcessRouter",
    "Level",
    "ListenFailed",
    "LogEntry",
    "LogFileError",
    "LogReceiver",
    "ManagedWorker",
    "ManagementAway",
    "ManagementMessages",
    "Member",
    "MemberGone",
    "ModuleLog",
    "NetworkView",
    "Node",
    "Reservation",
    "RouterBacking",
    "RoutingHost",
    "Standstill",
    "TlsFailed",
    "TlsProfileBroken",
    "TlsSession",
    "Turns",
    "Worker",
    "WorkerConfig",
    "adopt_logger",
    "bind",
    "change_log",
    "check_profiles",
    "check_record_directory",
    "collect_seldom",
    "configuration_of",
    "configure_logs",
    "endpoints_of",
    "fabric_name",
    "finish_logs",
    "follow_log_files",
    "forward_logs",
    "identity",
    "is_repeatable",
    "let_others_go_first",
    "log_counts",
    "log_settings",
    "module_log",
    "new_instance",
    "own_log_rows",
    "recent_log_entries",
    "reserve",
    "warn_if_open",
]
