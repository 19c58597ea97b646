"""What others ask of a connection worker, from any thread: calls are handed over to the loop and return a future."""

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
"""Trunks, and messages of the routing protocol to be sent on them."""


class WorkerCalls(ABC):
    """The part of a `Worker` that other threads see; what it has is made by the worker."""

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
        """Return what the address table has to know to let others find this worker."""
        return Sibling(self.config.index, self.config.incarnation, self._fabric.endpoint.text())

    def interests(self) -> "Future[Changes]":
        """Return all that this worker's consumers want."""
        return self._calls.call(self.router.all_interests)

    def apply(self, delta: Delta) -> "Future[tuple[int, int]]":
        """Take news of the siblings; done when messages are forwarded by them."""
        return self._calls.call(self._apply, delta)

    def confirm(self, sequence: int) -> None:
        """Say that every worker knows the changes up to `sequence`."""
        self._calls.post_turn(self.router.confirm, sequence)
        self._calls.post(self._fabric.connect)

    def ping(self) -> "Future[float]":
        """Return how long the loop took to come to this, in seconds."""
        asked = time.monotonic()
        return self._calls.call(lambda: time.monotonic() - asked)

    def connector_states(self) -> "Future[list[ConnectorState]]":
        """Return how this worker's connectors are."""
        return self._calls.call(self.connectors.states)

    def learn_network(self, news: Sequence[NetworkNews], controls: Controls) -> "Future[None]":
        """Take what the routing engine says of the network, and send its messages, each on a trunk of this worker."""
        return self._calls.call(self.take_outputs, news, controls)

    def network_view(self) -> "Future[NetworkView]":
        """Return what a new routing engine goes on from."""
        return self._calls.call(self._network_view)

    def call(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Have the loop call a function, and return what it does."""
        return self._calls.call(function, *arguments)

    def renew_account(self) -> None:
        """Report all that counts against limits: the ledger may be another one."""
        self._calls.post_turn(self._gate.account.renew)

    def take_verdict(self, verdict: Verdict) -> "Future[None]":
        """Go on with what waited for the ledger."""
        return self._calls.call(self._gate.account.answered, verdict)

    def report_failed(self) -> "Future[None]":
        """Report everything again: the ledger may not have heard the last report."""
        return self._calls.call(self._gate.account.failed)

    def recall_sockets(self) -> "Future[int]":
        """Give back what this worker may accept and has not; return how many sockets it keeps."""
        return self._calls.call(self._gate.account.recall)

    def close_connection(self, connection: int) -> "Future[bool]":
        """Close the connection of a client; whether there is such a connection."""
        return self._calls.call(self.router.close_connection, connection)

    def set_trace(self, connection: int, is_on: bool) -> "Future[bool]":
        """Trace the frames of a connection, or leave it to the log; whether there is such a connection of a client."""
        return self._calls.call(self._set_trace, connection, is_on)

    def drain(self, grace_s: float) -> "Future[None]":
        """Close listeners, let what is under way settle, detach and close; done when nobody is connected any more."""
        return self._calls.start(self._drain(grace_s))

    # --- what takes more than a call, in the loop

    @abstractmethod
    def take_outputs(self, news: Sequence[NetworkNews], controls: Controls) -> None:
        """Take what the routing engine says."""

    @abstractmethod
    def _network_view(self) -> NetworkView:
        """Return what a new routing engine goes on from."""

    @abstractmethod
    def _apply(self, delta: Delta) -> tuple[int, int]:
        """Take news of the siblings; return their version."""

    @abstractmethod
    def _set_trace(self, connection: int, is_on: bool) -> bool:
        """Trace the frames of a connection, or not; whether there is such a connection."""

    @abstractmethod
    def _drain(self, grace_s: float) -> Coroutine[Any, Any, None]:
        """Have nobody connected any more."""
