"""The routing engine and its surroundings: octets, the router's addresses, the log, and news for workers.

It has no clock and no loop. Its host tells it the time, asks `next_deadline`, and takes `outputs` after each call.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from routerd.core import (
    HINTS,
    Changes,
    ControlArrived,
    Interest,
    MappedAddresses,
    NetworkNews,
    RouterSettings,
    RouteTo,
    Treatments,
    TrunkClosed,
    TrunkEvent,
    TrunkOpened,
)
from routerd.io.logs import module_log
from routerd.io.routing.control_messages import decoded, encoded
from routerd.management import NodeRow
from routerd.mesh import (
    AddressesMapped,
    Checkpoint,
    MalformedControl,
    MeshConfig,
    OriginsChanged,
    Remark,
    RouterForgotten,
    RoutesChanged,
    RoutingEngine,
    SendControl,
)

CHECKPOINT_S = 30.0
"""The greatest age of the checkpoint at the workers."""
COMPLAINTS_REMEMBERED = 1000
"""Limit of the complaints about neighbours that are remembered; a neighbour could make up any number of causes."""
ADVERTISED = frozenset("MCDEFH")
"""The classes of addresses that other routers learn of."""
IN_PROCESS = ("M0$management", "M0_$qd.", "M0org.apache.qpid.dispatch.router/test/")
"""Addresses of endpoints inside the router: each router has them."""

_log = module_log("ROUTER")
_levels = {"warning": _log.warning, "info": _log.info, "debug": _log.debug}


@dataclass(slots=True)
class Outputs:
    """The output for the workers."""

    controls: list[tuple[int, bytes]] = field(default_factory=list)
    """Trunks, and the messages for each of them."""
    news: NetworkNews | None = None


class RoutingHost:
    """Hosts the routing engine of one router."""

    def __init__(
        self,
        settings: RouterSettings,
        *,
        epoch: int,
        instance: int,
        now: float,
        wall_clock: float,
        resumed: Checkpoint | None = None,
        mapping: Iterable[MappedAddresses] = (),
    ) -> None:
        """`epoch` is higher than that of every earlier engine of this router; `instance` differs at each start.

        `resumed` and `mapping` are the workers' data of an engine that has ended while the router went on.
        """
        self._settings = settings
        self._treatments = Treatments(settings)
        self._to_wall_clock = wall_clock - now
        config = MeshConfig(
            router_id=settings.id,
            hello_interval_s=float(settings.hello_interval_s),
            hello_max_age_s=float(settings.hello_max_age_s),
            ra_interval_s=float(settings.ra_interval_s),
            ra_interval_flux_s=float(settings.ra_interval_flux_s),
            remote_ls_max_age_s=float(settings.remote_ls_max_age_s),
        )
        self._engine = RoutingEngine(config, instance, now, resumed)
        for mapped in mapping:
            self._engine.restore_mapping(mapped.router, mapped.added)
        self._consumers: dict[str, int] = {}
        """By key: the addresses that other routers learn of."""
        self._version = (epoch, 0)
        self._checkpoint_due = now
        self._complaints: set[tuple[int, str]] = set()
        self._routes: Mapping[str, RouteTo] = {}
        self._radius = 0
        self._through: Mapping[str, frozenset[str]] = {}
        self._topology_changes = 0

    # --- what happens

    def take_events(self, events: Iterable[TrunkEvent], now: float) -> None:
        """Take the workers' events of trunks."""
        for event in events:
            match event:
                case TrunkOpened():
                    self._engine.trunk_opened(event.trunk, event.cost, now)
                case TrunkClosed():
                    self._engine.trunk_closed(event.trunk, now)
                case ControlArrived():
                    self._receive(event, now)

    def lose_trunks(self, trunks: Iterable[int], now: float) -> None:
        """Remove the trunks of a worker that is gone."""
        for trunk in trunks:
            self._engine.trunk_closed(trunk, now)

    def take_changes(self, changes: Changes, now: float) -> None:
        """Take the changed interests of the router's only worker."""
        self.take_interests(changes.interests, now)

    def take_interests(self, interests: Iterable[Interest], now: float) -> None:
        """Take the changed numbers of consumers, summed over all workers."""
        for interest in interests:
            key = interest.key
            if not is_advertised(key):
                continue
            if interest.consumers and key not in self._consumers:
                self._engine.want(key, self._hint(key), now)
            elif not interest.consumers and key in self._consumers:
                self._engine.unwant(key, now)
            self._note(interest)

    def set_interests(self, interests: Iterable[Interest], now: float) -> None:
        """Set all interests of the router's consumers."""
        self._consumers.clear()
        for interest in interests:
            if is_advertised(interest.key):
                self._note(interest)
        self._engine.set_addresses({key: self._hint(key) for key in self._consumers}, now)

    def forgive(self, seconds: float) -> None:
        """Exclude a time in which no messages of neighbours were taken."""
        if seconds > 0:
            self._engine.forgive(seconds)

    def tick(self, now: float) -> None:
        """Do the work that is due."""
        self._engine.tick(now)

    def next_deadline(self) -> float:
        """Return the time of the next work."""
        return min(self._engine.next_deadline(), self._checkpoint_due)

    # --- what follows

    def outputs(self, now: float) -> Outputs:
        """Return the messages to send, and the news for workers."""
        outputs = Outputs()
        mapped: list[MappedAddresses] = []
        forgotten: list[str] = []
        has_routes = has_origins = False
        for command in self._engine.take_commands():
            match command:
                case SendControl():
                    outputs.controls.append((command.trunk, encoded(command.message)))
                case RoutesChanged():
                    has_routes = True
                    self._topology_changes += 1
                    self._radius = command.routes.radius
                    self._routes = {
                        router: RouteTo(route.next_hop, route.trunk, route.cost)
                        for router, route in command.routes.nodes.items()
                    }
                case OriginsChanged():
                    has_origins = True
                    self._through = command.through_us
                case AddressesMapped():
                    mapped.append(MappedAddresses(command.router, command.added, command.removed))
                case RouterForgotten():
                    # Addresses that were mapped before are forgotten; those that are mapped later are not.
                    mapped = [one for one in mapped if one.router != command.router]
                    forgotten.append(command.router)
                case Remark():
                    _levels[command.level]("%s", command.text)
        is_late = now >= self._checkpoint_due
        if has_routes or has_origins or mapped or forgotten or is_late:
            self._checkpoint_due = now + CHECKPOINT_S
            outputs.news = NetworkNews(
                self._next_version(),
                routes=self._routes if has_routes else None,
                radius=self._radius,
                through=self._through if has_origins else None,
                mapped=tuple(mapped),
                forgotten=tuple(forgotten),
                **self._own_state(),
            )
        return outputs

    def full_news(self) -> NetworkNews:
        """Return complete news, for a worker that knows nothing."""
        return NetworkNews(
            self._version,
            is_full=True,
            routes=self._routes,
            radius=self._radius,
            through=self._through,
            mapped=tuple(
                MappedAddresses(node.id, dict(self._engine.addresses_of(node.id)))
                for node in self._engine.nodes()
                if not node.is_self and node.address_count
            ),
            **self._own_state(),
        )

    def _own_state(self) -> dict[str, Any]:
        """Return the checkpoint for a new engine, and the trunks that this router advertises."""
        checkpoint = self._engine.checkpoint()
        link_state: dict[str, int] = {}
        for router, cost in checkpoint.trunks.values():
            link_state[router] = min(cost, link_state.get(router, cost))
        return {"checkpoint": checkpoint, "link_state": link_state}

    def nodes(self) -> list[NodeRow]:
        """Return the routers of the network for management, this one first."""
        states = sorted(self._engine.nodes(), key=lambda node: (not node.is_self, node.id))
        return [
            NodeRow(
                id=node.id,
                is_own=node.is_self,
                protocol_version=node.protocol_version,
                instance=node.instance,
                link_state=tuple(sorted(node.peers)),
                next_hop=node.next_hop,
                valid_origins=node.valid_origins,
                router_link=node.trunk,
                cost=node.cost,
                last_topology_change=node.last_topology_change + self._to_wall_clock if node.is_self else None,
                topology_changes=self._topology_changes if node.is_self else 0,
                engine=self._version[0] if node.is_self else 0,
                index=index,
            )
            for index, node in enumerate(states)
        ]

    # --- the rest

    def _receive(self, event: ControlArrived, now: float) -> None:
        try:
            message = decoded(event.octets)
        except MalformedControl as error:
            self._complain(event.trunk, str(error))
            return
        self._engine.receive(event.trunk, message, now)

    def _complain(self, trunk: int, reason: str) -> None:
        """Log a fault in a neighbour's messages, once for each cause."""
        if (trunk, reason) in self._complaints:
            return
        if len(self._complaints) >= COMPLAINTS_REMEMBERED:
            self._complaints.clear()
        self._complaints.add((trunk, reason))
        _log.warning("Control message of [C%d] ignored: %s", trunk, reason)

    def _hint(self, key: str) -> int:
        return HINTS[self._treatments.of_key(key).distribution] if key[:1] == "M" else HINTS_BY_CLASS[key[:1]]

    def _note(self, interest: Interest) -> None:
        if interest.consumers:
            self._consumers[interest.key] = interest.consumers
        else:
            self._consumers.pop(interest.key, None)

    def _next_version(self) -> tuple[int, int]:
        self._version = (self._version[0], self._version[1] + 1)
        return self._version


def new_instance(wall_clock: float) -> int:
    """Return a number that differs from that of every other start of this router; others only compare it.

    Existing routers take the seconds since 1970. A router that is killed and back within a second would seem to be the
    old one.
    """
    return int(wall_clock * 1000) & 0x7FFFFFFF


HINTS_BY_CLASS = {"H": 3, "C": 4, "D": 4, "E": 4, "F": 4}


def is_advertised(key: str) -> bool:
    """Whether other routers learn of an address."""
    return key[:1] in ADVERTISED and not key.startswith(IN_PROCESS)
