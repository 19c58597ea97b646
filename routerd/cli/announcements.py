"""The lines of the log that say what a router has been told and when it is ready; scripts wait for them (2.4)."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from routerd.cli.version import build, version
from routerd.compiled_form import why_untrained
from routerd.config import ListenerConfig, RouterConfig
from routerd.io import module_log, warn_if_open

_server_log = module_log("SERVER")
_router_log = module_log("ROUTER")
_connections_log = module_log("CONN_MGR")
_policy_log = module_log("POLICY")
_KIB_PER_MIB, _KIB_PER_GIB = 1 << 10, 1 << 20
_ANY_HOST = ("", "0.0.0.0", "[::]", "::")


def announce_configuration(config: RouterConfig) -> None:
    """Say what the router is and what it is to listen on and connect to."""
    router = config.router
    _server_log.info("Container Name: %s", router.id)
    _router_log.info("Router started in %s mode, area=0 id=%s", router.mode.value.capitalize(), router.id)
    _router_log.info("Version: %s", version())
    if build() == "uncompiled":
        _router_log.warning(
            "This router runs uncompiled: it does the same, many times slower. Install a C compiler and the Python "
            "headers (Debian: gcc, python3-dev), and build it again with ROUTERD_CYTHON=require"
        )
    elif reason := why_untrained():
        _router_log.info("This router is compiled and not trained, which makes it a quarter slower: %s", reason)
    for warning in config.warnings:
        tell = _connections_log.error if warning in config.faults else _router_log.warning
        tell("%s", warning)
    policy = config.policy
    folder = next((values["policyDir"] or "" for name, values in config.sections if name == "policy"), "")
    _policy_log.info(
        "Policy configured maxConnections: %d, policyDir: '%s',access rules enabled: '%s', use hostname patterns: '%s'",
        *(policy.max_connections, folder, _word(policy.is_enforced), _word(policy.uses_name_patterns)),
    )
    if policy.default_vhost:
        _policy_log.info("Policy fallback defaultVhost is defined: '%s'", policy.default_vhost)
    for listener in config.listeners:
        http = ", http" if listener.takes_http else ""
        text = "Configured Listener: %s proto=any, role=%s%s"
        _connections_log.info(text, listener.address, listener.role.value, http)
        warn_if_open(listener)
    for connector in config.connectors:
        _connections_log.info("Configured Connector: %s proto=any, role=%s", connector.address, connector.role.value)


def announce_readiness(listening: Iterable[str], listeners: Iterable[ListenerConfig], threads: int) -> None:
    """Say that clients can connect, and where; and where the console is."""
    places = list(listening)
    for text in places:
        _server_log.notice("Listening on %s", text)
    for listener in listeners:
        if listener.serves_console:
            for place in places:
                _announce_console(listener, place)
    _server_log.notice("Operational, %d Threads Running (process ID %d)", threads, os.getpid())
    size, available = (_kib("/proc/self/status", "VmSize"), _kib("/proc/meminfo", "MemAvailable"))
    _server_log.notice(
        "Process VmSize %.2f MiB (%.2f GiB available memory)", size / _KIB_PER_MIB, available / _KIB_PER_GIB
    )


def _announce_console(listener: ListenerConfig, place: str) -> None:
    address, _, name = place.partition(" ")
    if name != f"({listener.name})" and (listener.name or address != listener.address):
        return
    host, _, port = address.rpartition(":")
    scheme = "https" if listener.ssl_profile else "http"
    _server_log.notice("The console is at %s://%s:%s/", scheme, "localhost" if host in _ANY_HOST else host, port)


def _word(is_so: bool) -> str:
    return "true" if is_so else "false"


def _kib(file: str, name: str) -> int:
    found = re.search(rf"^{name}:\s+(\d+) kB$", Path(file).read_text(), re.M)
    return int(found[1]) if found else 0
