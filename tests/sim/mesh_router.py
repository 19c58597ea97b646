"""A router of a mesh as a process hosts it: one worker, the routing engine, and trunks."""

from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from routerd.core import (
    EDGE,
    HEARTBEAT_S,
    INTER_ROUTER,
    Inlet,
    NetworkNews,
    Observer,
    Peer,
    Router,
    RouterMode,
    TrunkEvent,
)
from routerd.wire import Connection, ConnectionConfig, Int, RemoteError, Symbol
from tests.sim.host import Host
from tests.sim.mesh_checks import Vain
from tests.sim.mesh_engine import MeshEngine
from tests.sim.network import End
from tests.sim.world import Broken, World

if TYPE_CHECKING:
    from tests.sim.mesh_simulation import MeshSimulation

COST = Symbol("qd.inter-router-cost")
SESSIONS_MAX = 0x7FFF
BEAT_S = 1.0
LINGER_S = 5.0
EVENTS_KEPT = 1000
"""Those of trunks that wait for an engine that is away."""


class Watcher(Observer):
    """Hears of each message that comes to a router; and nobody breaks the protocol here."""

    def __init__(self, host: "MeshRouter") -> None:
        self._host = host

    def message_received(self, inlet: Inlet, data: bytes | bytearray, start: int, end: int, is_partial: bool) -> None:
        """Enter the message in the ledger."""
        if not inlet.is_control and inlet.trunk is not None and not self._host.is_edge:
            ledger, octets = self._host.simulation.ledger, bytes(data[start:end])
            if inlet.peer.is_edge:
                ledger.came_up(self._host.id, octets)
            else:
                ledger.passed(self._host.id, octets, is_partial)

    def violation(self, peer: Peer, error: RemoteError) -> None:
        """Fail."""
        raise Broken(f"{self._host.id} says of connection {peer.number} that it broke the protocol: {error!r}")


class Shell:
    """What a router may ask of the transport of a connection."""

    def __init__(self, world: World, end: End) -> None:
        self._world = world
        self._end = end

    def flush(self, now: float) -> None:
        """Write what the engine has."""
        self._end.flush(now)

    def end_soon(self) -> None:
        """Cut the connection before long."""
        self._world.later(LINGER_S, self._end.lose)

    def abort(self) -> None:
        """Cut the connection."""
        self._world.later(0.0, self._end.lose)


class MeshRouter(Host):
    """One start of a router; a later one of the same id is another object. An edge router has no routing engine."""

    def __init__(self, simulation: "MeshSimulation", index: int, engine_delay: float, *, is_edge: bool) -> None:
        self.simulation = simulation
        self.index = index
        self.is_edge = is_edge
        self.id = f"E{index}" if is_edge else f"R{index}"
        mode = RouterMode.EDGE if is_edge else RouterMode.INTERIOR
        self.settings = replace(simulation.settings, id=self.id, mode=mode)
        super().__init__(simulation.world, Router(self.settings, simulation.token, Watcher(self)))
        self._engine_delay = engine_delay
        self._epoch = 0
        self._edges_due = 0.0
        self._unheard: deque[TrunkEvent] = deque(maxlen=EVENTS_KEPT)
        self.engine: MeshEngine | None = None
        self._vain = Vain(self)
        self.start_engine()
        self._beat()

    @property
    def is_engine_apart(self) -> bool:
        """Whether the engine has a process of its own, which may end while messages are forwarded."""
        return self._engine_delay > 0 and not self.is_edge

    @property
    def interior(self) -> str | None:
        """The id of the interior router that it is, or has for its uplink."""
        if not self.is_edge:
            return self.id
        uplink = self.router.uplinks.active
        return None if uplink is None else str(uplink.interior)

    def die(self) -> None:
        """End without a word."""
        self.end_engine()
        super().die()

    def hang(self, seconds: float) -> None:
        """Do nothing for a while, which is no fault of a message that waits."""
        self._vain.forget()
        super().hang(seconds)

    # --- the engine

    def start_engine(self) -> None:
        """Start the engine, or the next one; to go on from where the one before ended, if there was one."""
        if self.is_alive and self.engine is None and not self.is_edge:
            self._epoch += 1
            self.engine = MeshEngine(self, self._epoch, self.simulation.next_instance(), self._engine_delay)
            self.engine.begin()
            unheard, self._unheard = [*self._unheard], deque(maxlen=EVENTS_KEPT)
            if unheard:
                self.engine.take_events(unheard)

    def end_engine(self) -> None:
        """Do without an engine."""
        if self.engine is not None:
            self._unheard.extend(self.engine.end())
            self.engine = None

    def learn(self, news: list[NetworkNews], controls: list[tuple[int, bytes]]) -> None:
        """Take what comes of the engine."""
        self.router.set_clock(self.world.now)
        for one in news:
            self.router.routes.apply_network(one)
        for trunk, octets in controls:
            self.router.trunks.send_control(trunk, octets)
        self.turn_ends()

    # --- connections

    def trunk_end(
        self, *, cost: int, capacity: int, is_initiator: bool, is_to_edge: bool, **options: Any
    ) -> Connection:
        """Return this router's end of a connection to another."""
        peer = self.router.connections.new_peer(EDGE if is_to_edge else INTER_ROUTER, capacity=capacity)
        peer.cost, peer.is_initiator = cost, is_initiator
        config = ConnectionConfig(
            container_id=self.id,
            channel_max=SESSIONS_MAX,
            properties={COST: Int(cost)} if cost > 1 else {},
            **options,
        )
        connection = self.connection(peer, config, is_client=is_initiator)
        if is_initiator:
            connection.open()
        return connection

    def connection(self, peer: Peer, config: ConnectionConfig, *, is_client: bool) -> Connection:
        """Return this router's end of a connection, whose messages the ledger is told of."""
        peer.is_watched = True
        return super().connection(peer, config, is_client=is_client)

    def shell(self, end: End) -> Shell:
        """Return what the router may ask of a transport."""
        return Shell(self.world, end)

    # --- turns

    def tell(self) -> None:
        """Tell the engine of consumers and of trunks."""
        changes = self.router.siblings.take_changes()
        if changes is not None and self.engine is not None:
            self.engine.take_changes(changes)
        if self.router.directory.trunks or self.router.trunks.wanting:
            self.router.trunks.open_streams()
        events = self.router.trunks.take_events()
        if events and self.engine is not None:
            self.engine.take_events(events)
        else:
            self._unheard.extend(events)

    def check(self) -> None:
        """Check what holds at any time."""
        self.simulation.check_router(self)
        self._vain.check()

    def ended(self) -> None:
        """Exit, to be started again."""
        self.simulation.router_ended(self)

    def _beat(self) -> None:
        if self.is_alive:
            self.world.later(BEAT_S, self._beat)
            self.do(self._look_after_others)

    def _look_after_others(self) -> None:
        now = self.world.now
        self.router.each_second(now)
        self.turn_ends()
        if now >= self._edges_due:
            self._edges_due = now + HEARTBEAT_S
            self.router.look_after_edges(now)
            self.turn_ends()
