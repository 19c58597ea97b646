"""Calls of a connection worker from other threads: each is handed over to the loop and returns a future."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

from routerd.core import Changes, Delta, Gate, NetworkNews, Router, Sibling, Verdict
from routerd.io.auth import Authentication
from routerd.io.connections import Connectors, ConnectorState, Fabric, Listeners
from routerd.io.recording import RecordingClock
from routerd.io.routing import NetworkView
from routerd.io.scheduling import LoopCalls
from routerd.io.settings import WorkerConfig
from routerd.io.tls import TlsProfiles

T = TypeVar("T")

Controls = Sequence[tuple[int, bytes]]
"""Trunks, and messages of the routing protocol for each."""


class WorkerCalls(ABC):
    """The part of a `Worker` that other threads use; the worker sets its attributes."""

    config: WorkerConfig
    router: Router
    _calls: LoopCalls
    _gate: Gate
    profiles: TlsProfiles
    authentication: Authentication
    listeners: Listeners
    connectors: Connectors
    _fabric: Fabric
    recording_clock: RecordingClock

    def sibling(self) -> Sibling:
        """Return the data by which other workers find this one."""
        return Sibling(self.config.index, self.config.incarnation, self._fabric.endpoint.text())

    def interests(self) -> "Future[Changes]":
        """Return all interests of this worker's consumers."""
        return self._calls.call(self.router.siblings.all_interests)

    def apply(self, delta: Delta) -> "Future[tuple[int, int]]":
        """Take news of the siblings; done when messages are forwarded by them."""
        return self._calls.call(self._apply, delta)

    def confirm(self, sequence: int) -> None:
        """Confirm that every worker knows the changes up to `sequence`."""
        self._calls.post_turn(self.router.clients.confirm, sequence)
        self._calls.post(self._fabric.connect)
        self._calls.post(self._note_joined)

    def ping(self) -> "Future[float]":
        """Return the delay until the loop got to this call, in seconds."""
        asked = time.monotonic()
        return self._calls.call(lambda: time.monotonic() - asked)

    def connector_states(self) -> "Future[list[ConnectorState]]":
        """Return the states of this worker's connectors."""
        return self._calls.call(self.connectors.states)

    def learn_network(self, news: Sequence[NetworkNews], controls: Controls) -> "Future[None]":
        """Take news of the routing engine, and send its messages, each on a trunk of this worker."""
        return self._calls.call(self.take_outputs, news, controls)

    def network_view(self) -> "Future[NetworkView]":
        """Return the checkpoint for a new routing engine."""
        return self._calls.call(self._network_view)

    def call(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Let the loop call a function, and return its result."""
        return self._calls.call(function, *arguments)

    def renew_account(self) -> None:
        """Report everything that counts against limits: the ledger may be a new one."""
        self._calls.post_turn(self._gate.account.renew)

    def take_verdict(self, verdict: Verdict) -> "Future[None]":
        """Continue with connections that waited for the ledger."""
        return self._calls.call(self._gate.account.answered, verdict)

    def report_failed(self) -> "Future[None]":
        """Report everything again: the last report may be lost."""
        return self._calls.call(self._gate.account.failed)

    def recall_sockets(self) -> "Future[int]":
        """Give back the unused allowance of sockets; return the remaining number."""
        return self._calls.call(self._gate.account.recall)

    def close_connection(self, connection: int) -> "Future[bool]":
        """Close the connection of a client; return whether there is one with this number."""
        return self._calls.call(self.router.connections.close, connection)

    def set_trace(self, connection: int, is_on: bool) -> "Future[bool]":
        """Trace the frames of a connection, or leave that to the log; return whether a client has this number."""
        return self._calls.call(self._set_trace, connection, is_on)

    def end_subscription(self, topic: str, container: str, link: str) -> "Future[bool]":
        """End a subscription of a topic that is hosted here; return whether there is one."""
        return self._calls.call(self._end_subscription, topic, container, link)

    def drain(self, grace_s: float) -> "Future[None]":
        """Close listeners, and let deliveries under way settle; done when none is left, or the time is over."""
        return self._calls.start(self._drain(grace_s))

    def take_leave(self) -> "Future[None]":
        """Detach and close, once all siblings have drained; done when no connection is left."""
        return self._calls.start(self._take_leave())

    # --- what takes more than a call, in the loop

    @abstractmethod
    def take_outputs(self, news: Sequence[NetworkNews], controls: Controls) -> None:
        """Take the output of the routing engine."""

    @abstractmethod
    def _network_view(self) -> NetworkView:
        """Return the checkpoint for a new routing engine."""

    @abstractmethod
    def _note_joined(self) -> None:
        """Note that the other workers know of this one."""

    @abstractmethod
    def _apply(self, delta: Delta) -> tuple[int, int]:
        """Take news of the siblings; return their version."""

    @abstractmethod
    def _set_trace(self, connection: int, is_on: bool) -> bool:
        """Trace the frames of a connection, or stop that; return whether there is such a connection."""

    @abstractmethod
    def _end_subscription(self, topic: str, container: str, link: str) -> bool:
        """End a subscription; return whether there is one."""

    @abstractmethod
    def _drain(self, grace_s: float) -> Coroutine[Any, Any, None]:
        """Take nothing more, and wait for what is under way."""

    @abstractmethod
    def _take_leave(self) -> Coroutine[Any, Any, None]:
        """Close everything."""
