"""Sockets, clocks and threads: the log, the ports that a router keeps."""

from routerd.io.auth import AuthenticationUnusable, warn_if_open
from routerd.io.backing import (
    ConfigurationCopy,
    ManagedWorker,
    Member,
    MemberGone,
    RouterBacking,
    configuration_of,
    follow_log,
    own_log_rows,
)
from routerd.io.entities import check_record_directory
from routerd.io.http import accepted as websocket_proof
from routerd.io.logs import (
    Level,
    LogEntry,
    LogFileError,
    LogReceiver,
    ModuleLog,
    adopt_logger,
    change_log,
    configure_logs,
    finish_logs,
    follow_log_files,
    forward_logs,
    identity,
    log_counts,
    log_settings,
    module_log,
    recent_log_entries,
)
from routerd.io.management import ManagementAway, ManagementMessages, Scrapes, is_repeatable
from routerd.io.routing import NetworkView, RoutingHost, new_instance
from routerd.io.scheduling import Standstill, YieldTimer, collect_seldom, let_others_go_first, use_tricks, uses_tricks
from routerd.io.settings import FabricKeys, Node, WorkerConfig, fabric_name
from routerd.io.sockets import Endpoint, ListenFailed, Reservation, bind, endpoints_of, reserve
from routerd.io.standalone import InProcessRouter
from routerd.io.tls import TlsFailed, TlsProfileBroken, TlsSession, check_profiles
from routerd.io.websocket import FrameHead as WebSocketHead
from routerd.io.websocket import Opcode as WebSocketOpcode
from routerd.io.websocket import Violation as WebSocketViolation
from routerd.io.websocket import frame as websocket_frame
from routerd.io.worker import Worker

__all__ = [
    "AuthenticationUnusable",
    "ConfigurationCopy",
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
    "Scrapes",
    "Standstill",
    "TlsFailed",
    "TlsProfileBroken",
    "TlsSession",
    "WebSocketHead",
    "WebSocketOpcode",
    "WebSocketViolation",
    "Worker",
    "WorkerConfig",
    "YieldTimer",
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
    "follow_log",
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
    "use_tricks",
    "uses_tricks",
    "warn_if_open",
    "websocket_frame",
    "websocket_proof",
]
