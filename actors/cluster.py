"""The Ray that a router runs on: one that others started, or the one that the router starts (`own_ray`)."""

import os
import socket
from typing import Protocol

import ray
from ray.exceptions import RayError

from actors.errors import JoinFailed
from actors.lean_worker import leave_out_addons
from actors.processes import Process, condition_of
from actors.ray_internals import (
    be_quiet,
    is_let_in,
    local_raylet,
    read_settings_again,
    resolved,
    session_folder,
    use_token,
)
from routerd.io import adopt_logger, uses_tricks

CONNECT_S = 3.0
LOOK_S = 1.0
"""How long it may take to reach a head that was there before."""
RAYLET_ENDED = "its raylet has ended"
HINT = "start one with `ray start --head`, name another, or leave ray_address out: the router has its own Ray then"
_WITHOUT_HEAD = {"RAY_gcs_rpc_server_reconnect_timeout_s": "86400"}
"""How long this process stays when Ray's head is gone."""


class Cluster(Protocol):
    """A Ray, as long as this process uses it."""

    ends_with_us: bool

    def start(self, namespace: str) -> None:
        """Become a driver of it, in a namespace."""

    def failure(self) -> str | None:
        """Return why there is no Ray any more, if so."""

    def has_head(self) -> bool:
        """Return whether its head is there, without which no actor is started again."""

    def folder(self) -> str:
        """Return where its processes on this host write."""

    def stop(self) -> None:
        """Be its driver no longer."""


class JoinedRay:
    """A Ray that others started."""

    ends_with_us = False

    def __init__(self, address: str) -> None:
        self._address = address
        self._head = address
        """Host and port, once they are known."""
        self._raylet: Process | None = None
        """That of this host, unless it cannot be seen."""

    def start(self, namespace: str) -> None:
        """Become a driver of it. Raises JoinFailed."""
        for variable, value in _WITHOUT_HEAD.items():
            os.environ.setdefault(variable, value)
        read_settings_again()
        try:
            self._head = self._resolved()
            self._check(self._head)
            enter_ray(self._head, namespace)
            self._raylet = local_raylet()
        except (ConnectionError, RuntimeError, ValueError, RayError) as error:
            raise JoinFailed(self._address, str(error)) from error

    def failure(self) -> str | None:
        """Return why there is no Ray any more: without its raylet, this process is no driver, and may be ended."""
        return None if self._raylet is None or condition_of(self._raylet) is not None else RAYLET_ENDED

    def has_head(self) -> bool:
        """Return whether somebody listens at the address of its head."""
        try:
            _reach(self._head, LOOK_S)
        except OSError:
            return False
        return True

    def folder(self) -> str:
        """Return the folder of its session."""
        return session_folder()

    def stop(self) -> None:
        """Leave it as it is."""
        # Without a raylet, Ray ends the process that takes its leave.
        if self.failure() is None:
            leave_ray()

    def _resolved(self) -> str:
        if self._address.startswith("ray://"):
            raise JoinFailed(self._address, "a router needs the address of its head, not of a server for Ray Client")
        address = resolved(self._address)
        if address is None:
            raise JoinFailed(self._address, f"there is none on this host; {HINT}")
        return address

    def _check(self, address: str) -> None:
        """Find out within seconds whether there is a Ray that lets us in."""
        try:
            _reach(address, CONNECT_S)
        except OSError as error:
            # Ray takes another address of this host for that of its loopback.
            where = "" if address == self._address else f"{address}: "
            raise JoinFailed(self._address, f"{where}{error.strerror or error}; {HINT}") from error
        # Given an address, Ray uses a token only when it is told to; here it turns out whether one is wanted.
        if not is_let_in(address) and not (use_token() and is_let_in(address)):
            raise JoinFailed(self._address, "it wants a token that we do not have (RAY_AUTH_MODE, RAY_AUTH_TOKEN_PATH)")


def _reach(address: str, within_s: float) -> None:
    """Connect to an address; raises OSError."""
    host, _, port = address.rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), within_s).close()


def enter_ray(address: str, namespace: str) -> None:
    """Become the driver of a Ray, and a quiet one."""
    if uses_tricks():
        leave_out_addons()
    ray.init(address=address, namespace=namespace, log_to_driver=False, configure_logging=False)
    adopt_logger("ray")
    be_quiet()


def leave_ray() -> None:
    """Be a driver no longer, if this process is one."""
    ray.shutdown()
