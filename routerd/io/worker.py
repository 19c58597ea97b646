"""A connection worker: one event loop in a thread of its own, with all that its connections need.

The methods of `Worker` that others call are safe from any thread: they hand over to the loop and return a future.
Everything else runs in the loop, which no caller can make wait.
"""

import asyncio
import contextlib
import gc
import os
import resource
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import uvloop

from routerd.config import AuthServiceConfig, ConnectorConfig, ListenerConfig, RecordConfig
from routerd.core import (
    FABRIC,
    HEARTBEAT_S,
    AddressSettings,
    Changes,
    Delta,
    Gate,
    NetworkNews,
    Peer,
    Report,
    Router,
    Sibling,
    TrunkEvent,
    Verdict,
    VhostSettings,
    add_built_in_endpoints,
)
from routerd.io.authentication import Authentication
from routerd.io.busy_poll import BusyPoll
from routerd.io.connection_configs import client_config, connector_config, fabric_config
from routerd.io.connectors import Connectors, ConnectorState, client_sasl
from routerd.io.deadlines import NEVER, Deadlines
from routerd.io.entrance import Entrance
from routerd.io.event_log import EventLog
from routerd.io.heap import keep_freed_memory
from routerd.io.logs import module_log
from routerd.io.management_endpoint import Ask, ManagementEndpoint
from routerd.io.message_log import is_watched
from routerd.io.network_view import NetworkView
from routerd.io.ports import ListenFailed, bind, endpoints_of
from routerd.io.recording import Recording
from routerd.io.reports import STUCK_IN_TESTS_S, STUCK_S, Lag, WorkerHost
from routerd.io.tls_handshakes import Handshakes
from routerd.io.tls_profile import TlsProfile, TlsProfileBroken
from routerd.io.tls_profiles import TlsProfiles, check_use
from routerd.io.tls_transport import transport_at, transport_to
from routerd.io.transport import Transport
from routerd.io.worker_config import WorkerConfig
from routerd.io.worker_reports import WorkerReports
from routerd.wire import Connection, Open
from routerd.wire.sasl import SaslFrame

T = TypeVar("T")

OnTrunks = Callable[[list[TrunkEvent]], None]
OnReport = Callable[[Report], None]
Controls = Sequence[tuple[int, bytes]]
"""Trunks, and messages of the routing protocol to be sent on them."""

READ_SIZE = 1 << 18
"""Octets that are read at once; one buffer serves all connections."""
BACKLOG = 4096
"""Connections that the kernel holds until they are accepted."""
GC_THRESHOLD = 50_000
"""New objects between two garbage collections: a delivery leaves none behind, only links and connections do."""
SWITCH_S = 0.0002
"""How long other threads of the process may keep the loop from running once it has something to do."""
RECONNECT_S = 0.1
FABRIC_OPEN_S = 1.0
"""What a sibling gets to answer the open of a connection; a second one beside it would confuse both."""
DRAIN_STEP_S = 0.05
BEAT_S = 1.0
"""How often the loop is looked at."""
CLOSE_WAIT_S = 1.0
"""What peers get to answer our closes."""

_log = module_log("SERVER")
_heeded_logs = (module_log("PROTOCOL"), module_log("MESSAGE"))


class Worker:
    """Hosts a `Router` over real sockets."""

    def __init__(
        self,
        config: WorkerConfig,
        on_changes: Callable[[Changes], None],
        ask: Ask | None = None,
        on_trunks: OnTrunks | None = None,
        on_report: OnReport | None = None,
    ) -> None:
        """`ask` has requests to the router's management answered; without it there is none.

        `on_changes`, `on_trunks` and `on_report` are called in the loop, with what the address table, the routing
        engine and the ledger of connections need.
        """
        self.config = config
        self._ask = ask
        self._on_trunks = on_trunks
        self._connectors = Connectors(self._outgoing)
        self.router = Router(
            config.router,
            _token,
            EventLog(),
            worker=config.index,
            workers=config.workers,
            is_alone=config.fabric_folder is None,
        )
        self._on_report = on_report
        self._gate = Gate(
            config.policy, config.vhosts, self.router.observer, self._proceed, is_alone=config.workers == 1
        )
        self.router.gate = self._gate
        self._entrance = Entrance(self._gate, self._turn_ends)
        self._on_changes = on_changes
        self._buffer = bytearray(READ_SIZE)
        self.buffer_view = memoryview(self._buffer)
        self.encrypted_view = memoryview(bytearray(READ_SIZE))
        self._profiles = TlsProfiles(config.ssl_profiles)
        self.handshakes = Handshakes(lambda step: self._loop.call_soon(step))
        self._authentication = Authentication(
            config.router, config.auth_services, self._profiles, self._post, self._send_sasl
        )
        self._deadlines = Deadlines()
        self._deadline = NEVER
        self._timer: asyncio.TimerHandle | None = None
        self._is_flush_due = False
        self._loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
        self._busy_poll = BusyPoll(self._loop, config.busy_poll_s)
        self._servers: list[asyncio.Server] = []
        self._listening: dict[str, list[asyncio.Server]] = {}
        """By the identity of their listener."""
        self._connecting: dict[int, asyncio.Task[None]] = {}
        self._thread: threading.Thread | None = None
        self._is_over = threading.Event()
        self._turn_began = 0.0
        self._longest_turn_s = 0.0
        self._edges_due = 0.0
        self.recording = Recording(self.router, config.index, config.incarnation)
        self._second: asyncio.TimerHandle | None = None
        self.reports = WorkerReports(
            self.router,
            WorkerHost(config.role, time.monotonic(), config.restarts),
            self._start,
            stuck_s=STUCK_IN_TESTS_S if config.router.has_test_hooks else STUCK_S,
            failures=lambda: self._authentication.failures,
            recording=self.recording,
        )

    # --- for any thread

    def start(self) -> list[str]:
        """Run in a thread of its own; return what it listens on, once it does. Raises ListenFailed."""
        started: Future[list[str]] = Future()
        self._thread = threading.Thread(target=self._run, args=(started,), name="routerd-data", daemon=True)
        self._thread.start()
        return started.result()

    def run(self, on_started: Callable[[list[str]], None]) -> None:
        """Run in this thread until `stop`. Raises ListenFailed."""
        started: Future[list[str]] = Future()
        started.add_done_callback(lambda done: None if done.exception() else on_started(done.result()))
        self._run(started)
        started.result()

    def sibling(self) -> Sibling:
        """Return what the address table has to know to let others find this worker."""
        return Sibling(self.config.index, self.config.incarnation, self.config.fabric_endpoint)

    def interests(self) -> "Future[Changes]":
        """Return all that this worker's consumers want."""
        return self._call(self.router.all_interests)

    def apply(self, delta: Delta) -> "Future[tuple[int, int]]":
        """Take news of the siblings; done when messages are forwarded by them."""
        return self._call(self._apply, delta)

    def confirm(self, sequence: int) -> None:
        """Say that every worker knows the changes up to `sequence`."""
        self._post(self._confirm, sequence)

    def ping(self) -> "Future[float]":
        """Return how long the loop took to come to this, in seconds."""
        asked = time.monotonic()
        return self._call(lambda: time.monotonic() - asked)

    def serves(self, listener: ListenerConfig) -> bool:
        """Return whether this worker listens for a listener that has come at run time; some have one of their own."""
        return not (listener.dedicated_actor or self.config.is_dedicated)

    def listen(self, listener: ListenerConfig, sockets: list[socket.socket]) -> "Future[None]":
        """Listen for one more listener, whose sockets have been bound."""
        return self._start(self._listen_with(listener, sockets))

    def add_profile(self, profile: TlsProfile) -> "Future[None]":
        """Have listeners and connectors use a profile, in the place of one with its name."""
        return self._call(self._profiles.add, profile)

    def remove_profile(self, name: str) -> "Future[None]":
        """Do without a profile that nothing names any more."""
        return self._call(self._profiles.remove, name)

    def add_auth_service(self, service: AuthServiceConfig) -> "Future[None]":
        """Have listeners use a service, in the place of one with its name."""
        return self._call(self._authentication.add_service, service)

    def remove_auth_service(self, name: str) -> "Future[None]":
        """Do without a service that no listener names any more."""
        return self._call(self._authentication.remove_service, name)

    def stop_listening(self, identity: str) -> "Future[None]":
        """Do without a listener; its connections stay."""
        return self._call(self._stop_listening, identity)

    def connect(self, connector: ConnectorConfig) -> "Future[None]":
        """Connect to a peer, again and again."""
        return self._call(self._connectors.start, connector)

    def stop_connecting(self, identity: str) -> "Future[None]":
        """Close the connection of a connector, if this worker has it, and make no other."""
        return self._call(self._connectors.stop, identity)

    def connector_states(self) -> "Future[list[ConnectorState]]":
        """Return how this worker's connectors are."""
        return self._call(self._connectors.states)

    def learn_network(self, news: Sequence[NetworkNews], controls: Controls) -> "Future[None]":
        """Take what the routing engine says of the network, and send its messages, each on a trunk of this worker."""
        return self._call(self.take_outputs, news, controls)

    def network_view(self) -> "Future[NetworkView]":
        """Return what a new routing engine goes on from."""
        return self._call(self._network_view)

    def record(self, config: RecordConfig) -> "Future[None]":
        """Record decisions as a configuration says from now on."""
        return self._call(self._record, config)

    def call(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Have the loop call a function, and return what it does."""
        return self._call(function, *arguments)

    def configure_address(self, settings: AddressSettings) -> "Future[None]":
        """Treat addresses that come into use from now on by these settings."""
        return self._call(self.router.configure_address, settings)

    def forget_pattern(self, pattern: str) -> "Future[None]":
        """Treat addresses that come into use from now on as if a pattern were not configured."""
        return self._call(self.router.forget_pattern, pattern)

    def configure_vhost(self, settings: VhostSettings) -> "Future[None]":
        """Hold what begins from now on against a vhost, in the place of one with its name."""
        return self._call(self._gate.configure, settings)

    def forget_vhost(self, hostname: str) -> "Future[None]":
        """Do without a vhost."""
        return self._call(self._gate.forget, hostname)

    def renew_account(self) -> None:
        """Report all that counts against limits: the ledger may be another one."""
        self._post_turn(self._gate.account.renew)

    def take_verdict(self, verdict: Verdict) -> "Future[None]":
        """Go on with what waited for the ledger."""
        return self._call(self._gate.account.answered, verdict)

    def report_failed(self) -> "Future[None]":
        """Report everything again: the ledger may not have heard the last report."""
        return self._call(self._gate.account.failed)

    def recall_sockets(self) -> "Future[int]":
        """Give back what this worker may accept and has not; return how many sockets it keeps."""
        return self._call(self._gate.account.recall)

    def close_connection(self, connection: int) -> "Future[bool]":
        """Close the connection of a client; whether there is such a connection."""
        return self._call(self.router.close_connection, connection)

    def set_trace(self, connection: int, is_on: bool) -> "Future[bool]":
        """Trace the frames of a connection, or leave it to the log; whether there is such a connection of a client."""
        return self._call(self._set_trace, connection, is_on)

    def drain(self, grace_s: float) -> "Future[None]":
        """Close listeners, let what is under way settle, detach and close; done when nobody is connected any more."""
        return self._start(self._drain(grace_s))

    def stop(self) -> None:
        """End now."""
        if self._loop.is_closed():
            return
        self._post(self._loop.stop)
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end; whether it has come."""
        return self._is_over.wait(timeout_s)

    # --- the loop

    def _run(self, started: "Future[list[str]]") -> None:
        loop = self._loop
        asyncio.set_event_loop(loop)
        for log in _heeded_logs:
            log.watch(self._on_log_switched)
        try:
            try:
                texts = loop.run_until_complete(self._listen())
            except BaseException as error:
                started.set_exception(error)
                return
            _allow_many_connections()
            keep_freed_memory()
            gc.freeze()
            gc.set_threshold(GC_THRESHOLD, *gc.get_threshold()[1:])
            sys.setswitchinterval(SWITCH_S)
            self._beat(time.monotonic())
            self._record(self.config.record)
            sampling = loop.create_task(self.reports.sample())
            started.set_result(texts)
            loop.run_forever()
            sampling.cancel()
            loop.run_until_complete(self._leave())
        finally:
            for log in _heeded_logs:
                log.unwatch(self._on_log_switched)
            self._is_over.set()
            loop.close()

    async def _leave(self) -> None:
        self._close_servers()
        self._authentication.close()
        for task in self._connecting.values():
            task.cancel()
        for peer in list(self.router.peers.values()):
            if peer.shell is not None:
                peer.shell.abort()
        await asyncio.sleep(0)
        if self.config.fabric_endpoint:
            with contextlib.suppress(OSError):
                os.unlink(self.config.fabric_endpoint)
        self.recording.close(time.monotonic())

    def _call(self, function: Callable[..., T], *arguments: Any) -> "Future[T]":
        result: Future[T] = Future()

        def run() -> None:
            if not result.set_running_or_notify_cancel():
                return
            try:
                value = function(*arguments)
            except BaseException as error:
                result.set_exception(error)
            else:
                result.set_result(value)
            self._turn_ends()

        self._post(run)
        return result

    def _start(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        except RuntimeError:
            coroutine.close()
            raise

    def _post(self, function: Callable[..., Any], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: there is nobody to tell
            self._loop.call_soon_threadsafe(function, *arguments)

    def _post_turn(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Have the loop run a function that may give the router something to do."""

        def run() -> None:
            function(*arguments)
            self._turn_ends()

        self._post(run)

    # --- listening

    async def _listen(self) -> list[str]:
        self._authentication.start()
        if self.config.router.has_test_hooks:
            add_built_in_endpoints(self.router, time.monotonic(), is_host=self.config.index == 0)
            self._turn_ends()
        if self._ask is not None:
            ManagementEndpoint(self.router, time.monotonic(), self._ask, self._post_turn)
            self._turn_ends()
        texts = []
        for listener in self.config.listeners:
            self._check_profile(listener)
            texts.append(await self._listen_at(listener))
        if self.config.fabric_endpoint:
            self._servers.append(
                await self._loop.create_unix_server(self._accept_sibling, self.config.fabric_endpoint)
            )
        for connector in self.config.own_connectors:
            self._connectors.start(connector)
        return texts

    async def _listen_at(self, listener: ListenerConfig) -> str:
        port = listener.port
        try:
            for endpoint in endpoints_of(listener.host, port, listener.family):
                bound = bind(endpoint.at_port(port), shared=self.config.shares_ports)
                port = bound.getsockname()[1]
                await self._listen_with(listener, [bound])
        except OSError as error:
            raise ListenFailed(listener.name, listener.host, listener.port, error.strerror or str(error)) from error
        label = f" ({listener.name})" if listener.name else ""
        return f"{listener.host or '*'}:{port}{label}"

    def _check_profile(self, listener: ListenerConfig) -> None:
        if listener.ssl_profile is None:
            return
        try:
            check_use(self._profiles.get(listener.ssl_profile), listener)
        except TlsProfileBroken as error:
            raise ListenFailed(listener.name, listener.host, listener.port, str(error)) from error

    async def _listen_with(self, listener: ListenerConfig, sockets: list[socket.socket]) -> None:
        for bound in sockets:
            bound.setblocking(False)
            server = await self._loop.create_server(
                lambda: self._entrance.protocol(lambda: self._accept(listener)), sock=bound, backlog=BACKLOG
            )
            self._listening.setdefault(listener.identity, []).append(server)

    def _stop_listening(self, identity: str) -> None:
        for server in self._listening.pop(identity, ()):
            server.close()

    def _accept(self, listener: ListenerConfig) -> Transport:
        peer = self.router.new_peer(
            listener.role.value,
            capacity=listener.link_capacity,
            strips_in=listener.strip_in,
            strips_out=listener.strip_out,
            is_multi_tenant=listener.is_multi_tenant,
        )
        peer.details = listener
        peer.policy_vhost = listener.policy_vhost
        peer.cost = listener.cost
        peer.is_watched = is_watched(listener)
        login = self._authentication.login(listener, peer)
        connection = Connection(
            client_config(self.config.router, listener, peer.number, login.frame_size),
            self.router,
            is_client=False,
            sasl=login.sasl,
            is_sasl_required=listener.authenticate_peer,
        )
        return transport_at(self, peer, connection, listener, self._profiles)

    def _outgoing(self, connector: ConnectorConfig, host: str) -> Transport:
        peer = self.router.new_peer(
            connector.role.value,
            capacity=connector.link_capacity,
            strips_in=connector.strip_in,
            strips_out=connector.strip_out,
        )
        peer.details = connector
        peer.policy_vhost = connector.policy_vhost
        peer.cost = connector.cost
        peer.is_initiator = True
        peer.is_watched = is_watched(connector)
        config = connector_config(self.config.router, connector, peer.number)
        connection = Connection(config, self.router, is_client=True, sasl=client_sasl(connector))
        connection.open()
        return transport_to(self, peer, connection, connector, host, self._profiles)

    # --- connections, called by their transports

    def connected(self, transport: Transport) -> None:
        """Begin with a connection."""
        now = time.monotonic()
        listener = transport.peer.details
        if isinstance(listener, ListenerConfig) and not self._authentication.admits(transport, listener):
            transport.abort()
            return
        transport.connection.start(now)
        if isinstance(listener, ListenerConfig) and listener.handshake_timeout_s:
            self._loop.call_later(listener.handshake_timeout_s, self._check_handshake, transport)
        self._deadlines.watch(transport)
        self._turn_ends()

    def received(self, transport: Transport, size: int) -> None:
        """Have the engine take what was read."""
        now = time.monotonic()
        self.router.now = now
        was_open = transport.peer.is_open
        try:
            if transport.tracer is not None:
                transport.tracer.received(self.buffer_view[:size])
            transport.connection.receive_data(self._buffer, now, 0, size)
        except Exception:
            # A fault of ours: it costs this connection, and no other.
            _log.exception("[C%d] Connection is given up", transport.peer.number)
            transport.abort()
        self._look_at(transport, was_open, now)
        if not self._is_flush_due:
            self._turn_ends(now)

    def _send_sasl(self, transport: Transport, frames: list[SaslFrame]) -> None:
        """Go on with an exchange that waited; what the peer sent meanwhile is taken, too."""
        now = time.monotonic()
        self.router.now = now
        was_open = transport.peer.is_open
        transport.connection.send_sasl(frames, now)
        self._look_at(transport, was_open, now)
        self._turn_ends(now)

    def _proceed(self, peer: Peer, performative: Open | None) -> None:
        """Go on with a connection that waited for the ledger."""
        now = time.monotonic()
        self.router.now = now
        self.router.go_on(peer, performative)
        if isinstance(peer.shell, Transport):
            self._look_at(peer.shell, False, now)

    def _look_at(self, transport: Transport, was_open: bool, now: float) -> None:
        if transport.connection.is_finished:
            # Where the peer has the last word there is nothing to write, and nobody else to close.
            transport.flush(now)
        if transport.deadline == NEVER or transport.peer.is_open is not was_open:
            # The open of the peer says how often it wants to hear from us.
            self._deadlines.watch(transport)
            self._connectors.notice(transport)
            if transport.peer.is_open:
                self._authentication.settled(transport)

    def disconnected(self, transport: Transport) -> None:
        """Report the end of a connection."""
        self.router.now = time.monotonic()
        transport.connection.transport_closed()
        if isinstance(transport.peer.details, ListenerConfig):
            self._gate.socket_closed()
        self._authentication.settled(transport)
        self._deadlines.forget(transport)
        self._connectors.notice(transport)
        self._turn_ends()

    def set_blocked(self, transport: Transport, is_blocked: bool) -> None:
        """Pass on whether the transport has room."""
        self.router.set_blocked(transport.peer, is_blocked)
        if not is_blocked:
            transport.flush(time.monotonic())
        self._turn_ends()

    def _check_handshake(self, transport: Transport) -> None:
        if not transport.peer.is_open and not transport.connection.is_finished:
            _log.info("[C%d] Connection is closed: no open was received in time", transport.peer.number)
            transport.abort()

    def _set_trace(self, connection: int, is_on: bool) -> bool:
        peer = self.router.peers.get(connection)
        if peer is None or not isinstance(peer.shell, Transport) or peer.is_fabric:
            return False
        peer.shell.set_trace(is_on)
        return True

    def _on_log_switched(self) -> None:
        self._post(self._heed_logs)

    def _heed_logs(self) -> None:
        for peer in self.router.peers.values():
            if isinstance(peer.shell, Transport):
                peer.shell.heed_log()
                self.router.watch(peer, is_watched(peer.details))

    # --- the end of a turn

    def _turn_ends(self, began: float = 0.0) -> None:
        if not self._is_flush_due:
            self._is_flush_due = True
            self._turn_began = began or time.monotonic()
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        """Write what the turn brought about, tell the table, and set the timer."""
        self._is_flush_due = False
        router = self.router
        now = time.monotonic()
        self._busy_poll.worked(now)
        if now - self._turn_began > self._longest_turn_s:
            self._longest_turn_s = now - self._turn_began
        router.end_turn()
        changes = router.take_changes()
        if changes is not None:
            self._on_changes(changes)
        if self._on_report is not None:
            report = self._gate.account.report()
            if report is not None:
                self._on_report(report)
        if router.trunks:
            router.open_streams()
        if router.recorder is not None and router.recorder.is_pressed:
            self.recording.hand_over(now)
        events = router.take_trunk_events()
        if events and self._on_trunks is not None:
            self._on_trunks(events)
        awake = router.awake
        if awake:
            router.awake = []
            for connection in awake:
                try:
                    connection.context.shell.flush(now)
                except Exception:
                    # A fault of ours: it costs this connection, and no other.
                    _log.exception("[C%d] Connection is given up", connection.context.number)
                    connection.context.shell.abort()
            if router.awake:
                # An endpoint inside the router has answered.
                self._turn_ends()
        if self._deadlines.next() < self._deadline:
            self._set_timer(self._deadlines.next(), now)

    def _beat(self, due: float) -> None:
        now = time.monotonic()
        late_s = max(0.0, now - due)
        self.reports.lag = Lag(late_s, max(late_s, self._longest_turn_s))
        self._longest_turn_s = 0.0
        if self.router.trunks:
            self.router.each_second(now)
            self._turn_ends(now)
        if now >= self._edges_due:
            self._edges_due = now + HEARTBEAT_S
            self.router.look_after_edges(now)
            self._turn_ends(now)
        self._profiles.refresh()
        self._loop.call_later(BEAT_S, self._beat, now + BEAT_S)

    def _record(self, config: RecordConfig) -> None:
        self.recording.apply(config, time.monotonic())
        if self.recording.is_on and self._second is None:
            self._await_second()

    def _await_second(self) -> None:
        now = time.monotonic()
        self._second = self._loop.call_later(self.recording.seconds_left(now), self._end_second)

    def _end_second(self) -> None:
        self._second = None
        self.recording.close_second(time.monotonic())
        if self.recording.is_on:
            self._await_second()

    def _set_timer(self, deadline: float, now: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._deadline = deadline
        self._timer = self._loop.call_later(max(0.0, deadline - now), self._tick)

    def _tick(self) -> None:
        now = time.monotonic()
        self.router.now = now
        self._timer = None
        self._deadline = NEVER
        for transport in self._deadlines.due(now):
            transport.connection.tick(now)
            if transport.connection.is_finished:
                transport.flush(now)
                transport.abort()
            else:
                self._deadlines.watch(transport)
        self._turn_ends()

    def take_outputs(self, news: Sequence[NetworkNews], controls: Controls) -> None:
        """Take what comes of the routing engine; in the loop."""
        self.router.now = time.monotonic()
        for one in news:
            self.router.apply_network(one)
        for trunk, octets in controls:
            self.router.send_control(trunk, octets)
        self._turn_ends()

    def _network_view(self) -> NetworkView:
        network = self.router.network
        return NetworkView(network.version, network.checkpoint, network.mapping(), tuple(self.router.open_trunks()))

    # --- siblings

    def _apply(self, delta: Delta) -> tuple[int, int]:
        self.router.apply(delta)
        for worker, neighbour in self.router.neighbours.items():
            # Of two siblings, the one with the higher number connects.
            if worker < self.config.index and neighbour.peer is None and worker not in self._connecting:
                self._connecting[worker] = self._loop.create_task(self._connect(worker))
        return delta.version

    def _confirm(self, sequence: int) -> None:
        self.router.confirm(sequence)
        self._turn_ends()

    async def _connect(self, worker: int) -> None:
        """Keep a connection to a sibling, as long as the table names it."""
        transport: Transport | None = None
        sibling: Sibling | None = None
        begun_at = 0.0
        try:
            while (neighbour := self.router.neighbours.get(worker)) is not None:
                now = time.monotonic()
                is_late = sibling != neighbour.sibling or now > begun_at + FABRIC_OPEN_S
                if transport is not None and is_late and neighbour.peer is not transport.peer:
                    # It is to somebody who is no more, or who does not answer.
                    transport.abort()
                    transport = None
                if neighbour.peer is None and (transport is None or transport.is_over):
                    sibling, begun_at = neighbour.sibling, now
                    transport = await self._connected_to(worker, neighbour.sibling.endpoint)
                await asyncio.sleep(RECONNECT_S)
        finally:
            if transport is not None:
                transport.abort()
            del self._connecting[worker]

    async def _connected_to(self, worker: int, endpoint: str) -> Transport | None:
        try:
            _, transport = await self._loop.create_unix_connection(
                lambda: self._fabric_transport(is_client=True), endpoint
            )
        except OSError:
            self.router.connect_failed(worker)
            self._turn_ends()
            return None
        return transport

    def _accept_sibling(self) -> Transport:
        return self._fabric_transport(is_client=False)

    def _fabric_transport(self, *, is_client: bool) -> Transport:
        peer = self.router.new_peer(FABRIC)
        connection = Connection(fabric_config(self.config), self.router, is_client=is_client)
        transport = Transport(self, peer, connection)
        if is_client:
            connection.open()
        return transport

    # --- the end

    async def _drain(self, grace_s: float) -> None:
        self._close_servers()
        self.router.drain()
        self._turn_ends()
        end = time.monotonic() + grace_s
        while not self.router.is_drained() and time.monotonic() < end:
            self.router.now = time.monotonic()
            self._turn_ends()
            await asyncio.sleep(DRAIN_STEP_S)
        self.router.close_all()
        self._turn_ends()
        end = time.monotonic() + CLOSE_WAIT_S
        while self._has_clients() and time.monotonic() < end:
            await asyncio.sleep(DRAIN_STEP_S)
        self.recording.close(time.monotonic())

    def _close_servers(self) -> None:
        self._connectors.retire()
        for server in (*self._servers, *(one for servers in self._listening.values() for one in servers)):
            server.close()

    def _has_clients(self) -> bool:
        return any(peer.is_external for peer in self.router.peers.values())


def _allow_many_connections() -> None:
    """Take all the descriptors that this process may have."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _token() -> str:
    # 15 characters are what other routers make of it; 88 bits cannot be guessed.
    return secrets.token_urlsafe(11)
