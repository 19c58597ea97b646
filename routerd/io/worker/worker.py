"""A connection worker: one event loop in a separate thread, with all that its connections need.

The calls for others are safe from any thread (`worker_calls`). Everything else runs in the loop, and no caller can make
the loop wait.
"""

import asyncio
import random
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypeVar

import uvloop

from routerd.config import SECTIONS, ConnectorConfig, ListenerConfig, configurable
from routerd.core import (
    HEARTBEAT_S,
    Changes,
    Delta,
    Exchanges,
    Gate,
    NetworkNews,
    Peer,
    Report,
    Router,
    RouterMode,
    TrunkEvent,
    add_built_in_endpoints,
)
from routerd.io.auth import Authentication
from routerd.io.connections import (
    Connectors,
    Entrance,
    Fabric,
    Listeners,
    client_sasl,
    connector_config,
    filters_to,
    open_within_s,
    transport_with,
)
from routerd.io.entities import running
from routerd.io.http import Scrape
from routerd.io.logs import EventLog, failure_of, is_watched, module_log
from routerd.io.management import Ask, ManagementEndpoint
from routerd.io.recording import Recording, RecordingClock
from routerd.io.reports import STUCK_IN_TESTS_S, STUCK_S, Lag, WorkerHost, WorkerReports
from routerd.io.routing import NetworkView
from routerd.io.scheduling import BusyPoll, CoreKeeper, LoopCalls, SystemCores, after_reading, be_quick, uses_tricks
from routerd.io.settings import WorkerConfig
from routerd.io.sockets import NEVER, READ_SIZE, Deadlines, FilterBuffers, StuckOutputs, Transport, Turn
from routerd.io.sockets import STUCK_S as UNREAD_S
from routerd.io.tls import Handshakes, TlsProfiles, check_use
from routerd.io.topics import PLACE as TOPICS
from routerd.io.topics import TICK_S, HostedTopics
from routerd.io.worker.calls import Controls, WorkerCalls
from routerd.wire import Connection, Open
from routerd.wire.sasl import SaslFrame

T = TypeVar("T")

OnTrunks = Callable[[list[TrunkEvent]], None]
OnReport = Callable[[Report], None]
DRAIN_STEP_S = 0.05
BEAT_S = 1.0
"""The interval of checks of the loop."""
CLOSE_WAIT_S = 1.0
"""The time for peers to answer our closes."""

_log = module_log("SERVER")
_heeded_logs = (module_log("PROTOCOL"), module_log("MESSAGE"))


class Worker(WorkerCalls):
    """Hosts a `Router` over real sockets."""

    def __init__(
        self,
        config: WorkerConfig,
        on_changes: Callable[[Changes], None],
        ask: Ask | None = None,
        on_trunks: OnTrunks | None = None,
        on_report: OnReport | None = None,
        scrape: Scrape | None = None,
    ) -> None:
        """`ask` answers requests to management, and `scrape` those for metrics; each may be missing.

        `on_changes`, `on_trunks` and `on_report` are called in the loop, with the data for the address table, the
        routing engine and the ledger of connections.
        """
        self.config = config
        self._ask = ask
        self._on_trunks = on_trunks
        self.connectors = Connectors(self._outgoing)
        self.router = Router(
            config.router,
            _token,
            EventLog(),
            worker=config.index,
            workers=config.workers,
            is_alone=config.fabric_folder is None,
            chance=random.random,
        )
        self._on_report = on_report
        self._gate = Gate(
            config.policy, config.vhosts, self.router.observer, self._proceed, is_alone=config.workers == 1
        )
        self.router.policy.gate = self._gate
        self._loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
        self._busy_poll = BusyPoll(self._loop.call_soon, config.busy_poll_s if uses_tricks() else 0.0)
        self.turn = Turn(self, self.router, self._loop.call_soon, self._busy_poll)
        self._calls = LoopCalls(self._loop, self.turn.begin, self.turn.due)
        self._on_changes = on_changes
        self.filter_buffers = FilterBuffers(READ_SIZE)
        self.profiles = TlsProfiles(config.ssl_profiles)
        self.handshakes = Handshakes(lambda step: self._loop.call_soon(step))
        self.authentication = Authentication(
            config.router, self.profiles, self._calls.post, self._send_sasl
        )
        entrance = Entrance(self._gate, self.turn.due)
        about = (self.authentication, self.profiles, self._loop)
        self.listeners = Listeners(self, config, entrance, *about, self, scrape)
        self._fabric = Fabric(self, config, self._loop, self.turn.due)
        self._deadlines: Deadlines[Transport] = Deadlines()
        self._deadline = NEVER
        self._timer: asyncio.TimerHandle | None = None
        self._core_keeper: CoreKeeper | None = None
        self._thread: threading.Thread | None = None
        self._is_over = threading.Event()
        self._is_listening = False
        """Whether it listens at all its ports."""
        self._has_joined = config.workers == 1
        """Whether all workers have learned of this one."""
        self._is_draining = False
        self._edges_due = 0.0
        self._stuck_outputs = StuckOutputs()
        self.exchanges = Exchanges(self.router)
        self.topics = HostedTopics(self.router, config.incarnation, self._topics_begun)
        if config.hosts(TOPICS) and config.router.mode is not RouterMode.EDGE:
            self.router.configured_addresses.topics = self.topics
        self.recording = Recording(self.router, config.index, config.incarnation)
        self.recording_clock = RecordingClock(self.recording, self._loop)
        self.reports = WorkerReports(
            self.router,
            WorkerHost(config.role, time.monotonic(), config.restarts, config.node.address),
            self._calls.start,
            stuck_s=STUCK_IN_TESTS_S if config.router.has_test_hooks else STUCK_S,
            failures=lambda: self.authentication.failures,
            is_busy=self._busy_poll.is_busy,
            recording=self.recording,
            exchanges=self.exchanges,
            topics=lambda: self.topics.node,
        )

    # --- for any thread

    def start(self) -> list[str]:
        """Run in a separate thread; return the addresses once it listens on them. Raises ListenFailed."""
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

    def stop(self) -> None:
        """End at once."""
        if self._loop.is_closed():
            return
        self._calls.post(self._loop.stop)
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end; return whether it has come."""
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
            be_quick()
            if self.config.keeps_core and uses_tricks():
                # It must run in the thread that it changes.
                self._core_keeper = CoreKeeper(SystemCores())
            self._beat(time.monotonic())
            self.recording_clock.record(self.config.record)
            sampling = loop.create_task(self.reports.sample())
            self._is_listening = True
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
        self.connectors.retire()
        self.listeners.close_all()
        self.authentication.close()
        self._fabric.leave()
        for peer in list(self.router.peers.values()):
            if peer.shell is not None:
                peer.shell.abort()
        if self._core_keeper is not None:
            self._core_keeper.close()
        await asyncio.sleep(0)
        await self._complete_records()

    # --- where connections come from

    async def _listen(self) -> list[str]:
        self.authentication.start()
        if self.config.router.has_test_hooks:
            add_built_in_endpoints(self.router, self.turn.begin(), is_host=self.config.index == 0)
            self.turn.due()
        if self._ask is not None:
            ManagementEndpoint(self.router, self.turn.begin(), self._ask, self._calls.post_turn)
            self.turn.due()
        for address in self.config.router.addresses:
            if address.topic is not None:
                self.router.configured_addresses.topics.add(address.pattern, address.topic)
        self.turn.due()
        await self._take_others()
        texts = [await self.listeners.open(listener) for listener in self.config.listeners]
        self._fabric.listen()
        for connector in self.config.own_connectors:
            self.connectors.start(connector)
        return texts

    async def _take_others(self) -> None:
        """Apply configured entities that no constructor above takes."""
        for section, configs in self.config.others.items():
            kind = configurable(SECTIONS[section])
            assert kind is not None, "it was read by its kind"
            for config in configs:
                step = running(kind).prepare(config, self, {})
                if step is not None:
                    await step.commit()

    def _outgoing(self, connector: ConnectorConfig, host: str) -> Transport:
        """Return a new connection; raises TlsProfileBroken."""
        if connector.ssl_profile is not None:
            check_use(self.profiles.get(connector.ssl_profile), connector)
        peer = self.router.connections.new_peer(
            connector.role.value,
            capacity=connector.link_capacity,
            strips_in=connector.strip_in,
            strips_out=connector.strip_out,
            place=connector.name or "",
        )
        peer.details = connector
        peer.policy_vhost = connector.policy_vhost
        peer.cost = connector.cost
        peer.is_initiator = True
        peer.is_watched = is_watched(connector)
        config = connector_config(self.config.router, connector, peer.number)
        login = self.authentication.login_threads(peer)
        sasl = client_sasl(connector, login, self.authentication.ticket_login(connector, host, login))
        connection = Connection(config, self.router, is_client=True, sasl=sasl)
        connection.open()
        return transport_with(self, peer, connection, filters_to(connector, host, self.handshakes, self.profiles))

    # --- connections, called by their transports

    def connected(self, transport: Transport) -> None:
        """Begin with a connection."""
        now = self.turn.begin()
        listener = transport.peer.details
        if isinstance(listener, ListenerConfig) and not self.authentication.admits(transport, listener):
            transport.abort()
            return
        transport.connection.start(now)
        if isinstance(listener, ListenerConfig):
            transport.expect_open(open_within_s(listener))
        self._deadlines.watch(transport)
        self.turn.due()

    def _send_sasl(self, transport: Transport, frames: list[SaslFrame]) -> None:
        """Continue with an exchange that waited, and with input that came meanwhile."""
        now = self.turn.begin()
        was_open = transport.peer.is_open
        transport.connection.send_sasl(frames, now)
        self.look_at(transport, was_open, now)
        self.turn.due(now)

    def _proceed(self, peer: Peer, performative: Open | None) -> None:
        """Continue with a connection that waited for the ledger."""
        now = self.turn.begin()
        self.router.connections.go_on(peer, performative)
        if isinstance(peer.shell, Transport):
            self.look_at(peer.shell, False, now)

    def look_at(self, transport: Transport, was_open: bool, now: float) -> None:
        """Continue with a connection after its open or its end."""
        if transport.connection.is_finished:
            # After the peer's last word there is nothing to write, and nobody else closes.
            transport.flush(now)
        if transport.deadline == NEVER or transport.peer.is_open is not was_open:
            # The peer's open has the interval at which it wants frames of us.
            self._deadlines.watch(transport)
            self.connectors.notice(transport)
            if transport.peer.is_open:
                transport.settled()
                self.authentication.settled(transport)

    def disconnected(self, transport: Transport) -> None:
        """Report the end of a connection."""
        self.turn.begin()
        transport.connection.transport_closed()
        self.reports.ended.add(transport.peer)
        if isinstance(transport.peer.details, ListenerConfig):
            self._gate.socket_closed()
        self.authentication.settled(transport)
        self._deadlines.forget(transport)
        self.connectors.notice(transport)
        self.turn.due()

    def set_blocked(self, transport: Transport, is_blocked: bool) -> None:
        """Tell the router whether the transport has room."""
        now = self.turn.begin()
        self.router.set_blocked(transport.peer, is_blocked)
        if not is_blocked:
            transport.flush(now)
        self.turn.due()

    def close_unless_open(self, transport: Transport) -> None:
        """Give up a peer whose time for an open is over."""
        if not transport.peer.is_open and not transport.connection.is_finished:
            reason = "no open was received in time"
            _log.info("%s", failure_of(transport.peer, reason))
            transport.give_up(reason)

    def _set_trace(self, connection: int, is_on: bool) -> bool:
        peer = self.router.peers.get(connection)
        if peer is None or not isinstance(peer.shell, Transport) or peer.is_fabric:
            return False
        peer.shell.set_trace(is_on)
        return True

    def _on_log_switched(self) -> None:
        self._calls.post(self._heed_logs)

    def _heed_logs(self) -> None:
        for peer in self.router.peers.values():
            if isinstance(peer.shell, Transport):
                peer.shell.heed_log()
                peer.watch(is_watched(peer.details))

    # --- the end of a turn

    def conclude(self, now: float) -> None:
        """Send the turn's output to the table and others, and set the timer."""
        router = self.router
        changes = router.siblings.take_changes()
        if changes is not None:
            self._on_changes(changes)
        if self._on_report is not None:
            report = self._gate.account.report()
            if report is not None:
                self._on_report(report)
        if router.directory.trunks or router.trunks.wanting:
            router.trunks.open_streams()
        if router.journal.recorder is not None and router.journal.recorder.is_pressed:
            self.recording.hand_over(now, is_all=False)
        events = router.trunks.take_events()
        if events and self._on_trunks is not None:
            self._on_trunks(events)
        if self._deadlines.next() < self._deadline:
            self._set_timer(self._deadlines.next(), now)

    def _beat(self, due: float) -> None:
        now = self.turn.begin()
        late_s = max(0.0, now - due)
        self.reports.lag = Lag(late_s, max(late_s, self.turn.longest_s))
        self.turn.longest_s = 0.0
        self.router.each_second(now)
        self.exchanges.each_second(now)
        self.turn.due(now)
        if now >= self._edges_due:
            self._edges_due = now + HEARTBEAT_S
            self.router.look_after_edges(now)
            self.turn.due(now)
        choked = [one for one in self.turn.choked if isinstance(one, Transport)]
        for transport in self._stuck_outputs.look(choked, now):
            waiting = f"{transport.buffered_octets} octets wait for it"
            reason = f"the peer has read nothing for {UNREAD_S:g} s, and {waiting}"
            _log.warning("%s", failure_of(transport.peer, reason))
            transport.give_up(reason)
        self.profiles.refresh()
        if self._core_keeper is not None:
            self._core_keeper.look()
        self._loop.call_later(BEAT_S, self._beat, now + BEAT_S)

    def _topics_begun(self) -> None:
        self._loop.call_later(TICK_S, self._tick_topics)

    def _tick_topics(self) -> None:
        now = self.turn.begin()
        self.topics.tick(now)
        self.turn.due(now)
        self._topics_begun()

    def _end_subscription(self, topic: str, container: str, link: str) -> bool:
        return self.topics.end_subscription(topic, container, link, self.router.now)

    def _set_timer(self, deadline: float, now: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._deadline = deadline
        self._timer = self._loop.call_later(max(0.0, deadline - now), self._tick)

    def _tick(self) -> None:
        after_reading(self._loop, self._judge)

    def _judge(self) -> None:
        """Let connections do their due work, now that the input of their peers has been read."""
        now = self.turn.begin()
        self._timer = None
        self._deadline = NEVER
        for transport in self._deadlines.due(now):
            if transport.is_choked:
                # It cannot be heard, as its socket is not read.
                transport.connection.receive_data(b"", now)
            transport.connection.tick(now)
            if transport.connection.is_finished:
                transport.flush(now)
                transport.abort()
            else:
                self._deadlines.watch(transport)
        self.turn.due()

    def take_outputs(self, news: Sequence[NetworkNews], controls: Controls) -> None:
        """Take the output of the routing engine; in the loop."""
        self.turn.begin()
        for one in news:
            self.router.routes.apply_network(one)
        for trunk, octets in controls:
            self.router.trunks.send_control(trunk, octets)
        self.turn.due()

    def _network_view(self) -> NetworkView:
        network = self.router.directory.network
        trunks = tuple(self.router.trunks.open_trunks())
        return NetworkView(network.version, network.checkpoint, network.mapping(), trunks)

    @property
    def has_started(self) -> bool:
        """Whether it listens, and the other workers know of it."""
        return self._is_listening and self._has_joined

    def _note_joined(self) -> None:
        self._has_joined = True

    def lacks(self) -> list[str]:
        """Return why it is not ready for clients, in one sentence each."""
        if not self.has_started:
            return ["The router has not started yet."]
        found = ["The router is draining."] if self._is_draining else []
        others = self.config.workers - 1
        joined = sum(neighbour.peer is not None for neighbour in self.router.directory.neighbours.values())
        if joined < others:
            found.append(f"{joined} of {others} other connection actors are joined to this one.")
        return found

    # --- siblings

    def _apply(self, delta: Delta) -> tuple[int, int]:
        self.router.siblings.apply(delta)
        self._fabric.heard()
        return delta.version

    # --- the end

    async def _drain(self, grace_s: float) -> None:
        self._is_draining = True
        self.connectors.retire()
        self.listeners.close_all()
        for peer in list(self.router.peers.values()):
            if isinstance(peer.shell, Transport):
                peer.shell.retire()
        now = self.turn.begin()
        end = now + grace_s
        self.router.leaving.drain()
        self.turn.due()
        while not self.router.leaving.is_drained() and now < end:
            self.turn.due()
            await asyncio.sleep(DRAIN_STEP_S)
            now = self.turn.begin()

    async def _take_leave(self) -> None:
        self.turn.begin()
        self.router.leaving.close_all()
        self.turn.due()
        end = time.monotonic() + CLOSE_WAIT_S
        while any(map(_is_waited_for, self.router.peers.values())) and time.monotonic() < end:
            await asyncio.sleep(DRAIN_STEP_S)
        await self._complete_records()

    async def _complete_records(self) -> None:
        self.recording.close(time.monotonic())
        # In another thread: a worker whose loop stands still is taken for dead, and ended with what is not written.
        await asyncio.to_thread(self.recording.wait)


def _is_waited_for(peer: Peer) -> bool:
    """Whether a peer may still answer our close; a peer over HTTP does not."""
    return peer.is_external and getattr(peer.shell, "carries_amqp", True)


def _token() -> str:
    # Other routers use 15 characters as well; 88 bits cannot be guessed.
    return secrets.token_urlsafe(11)
