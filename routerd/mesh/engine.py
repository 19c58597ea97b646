"""The routing engine of one router: what happens goes in with the time, commands come out.

Each call does all that is due by then, so the shell's timer follows `next_deadline` and nothing else. In this order:
neighbours that fell silent, and greetings; once a second, what grew old; our own links, which are announced when they
change; paths; questions to other routers; our own addresses; and last the advertisement, so that nobody asks for what
was just told. `exchange` takes what other routers tell, `knowledge` has what is known.

Existing routers act once a second. This engine acts at once where it can. It does so when a trunk is lost and when a
router greets that has not heard us. It also asks about a new router at once. Messages and their sequences have the same
meaning (3.3 to 3.9).
"""

from collections.abc import Iterable, Mapping
from math import inf
from zlib import crc32

from routerd.core import AddressSpace
from routerd.mesh.checkpoint import Checkpoint, NodeCheckpoint
from routerd.mesh.commands import Command, OriginsChanged
from routerd.mesh.errors import ForeignCheckpoint
from routerd.mesh.exchange import Exchange
from routerd.mesh.fields import PROTOCOL_VERSION
from routerd.mesh.knowledge import Knowledge
from routerd.mesh.messages import (
    AREA,
    MOBILE_ENGINE,
    NEIGHBOUR_ENGINE,
    ROUTER_ENGINE,
    TO_ALL_MOBILE,
    TO_ALL_ROUTERS,
    ControlMessage,
    Hello,
    LinkStateRequest,
    MobileAddressRequest,
    RouterAdvertisement,
)
from routerd.mesh.mobile_addresses import NO_HINT
from routerd.mesh.node import Node
from routerd.mesh.routes import NodeState, Routes
from routerd.mesh.settings import (
    MISSED_GAP_S,
    MISSED_WAIT_S,
    PLACE_LENGTH_MAX,
    PLACES_REMEMBERED,
    RESUME_WAIT_S,
    SPREAD_STEPS,
    TICK_S,
    MeshConfig,
)


class RoutingEngine:
    """The routing engine of one router: it learns the mesh, and announces this router.

    `instance` differs from that of any earlier start of the router. With a checkpoint the engine
    replaces an earlier one, and other routers do not notice. It keeps the instance, and believes its neighbours for as
    long as a greeting counts. It announces its addresses after `set_addresses`. Raises ForeignCheckpoint.
    """

    def __init__(self, config: MeshConfig, instance: int, now: float, resumed: Checkpoint | None = None) -> None:
        if resumed is not None and resumed.router_id != config.router_id:
            raise ForeignCheckpoint(config.router_id, resumed.router_id)
        state = resumed or Checkpoint(config.router_id, instance, 0, 0, 0, {}, ())
        self._config = config
        self._space = AddressSpace(config.router_id, AREA)
        self._places: dict[str, tuple[str, str]] = {}
        self._knowledge = knowledge = Knowledge(config, state, now, is_resumed=resumed is not None)
        self._neighbours = knowledge.neighbours
        self._topology = knowledge.topology
        self._questions = knowledge.questions
        self._addresses = knowledge.addresses
        self._outbox = knowledge.outbox
        self._exchange = Exchange(knowledge)
        self._now = now
        self._tick_at = now + TICK_S
        self._advertised = now
        self._spread_s = config.ra_interval_flux_s * (crc32(config.router_id.encode()) % SPREAD_STEPS) / SPREAD_STEPS
        self._least_interval_s = min(config.ra_interval_s, config.ra_interval_flux_s)
        self._advertise_at = inf
        """Besides the times at which it is done anyway."""
        self._resumed_at = -inf
        """When the trunks of a resumed engine are taken to be open again."""
        self._deadline = now
        self._checksums = {node.id: node.addresses for node in state.nodes}
        if resumed is not None:
            self._resume(now)

    @property
    def routes(self) -> Routes:
        """The ways to all routers, as of the last RoutesChanged."""
        return self._topology.routes

    # --- what happens

    def trunk_opened(self, trunk: int, cost: int, now: float) -> None:
        """Note a connection to another router, with a control link in each direction."""
        if self._neighbours.open(trunk, cost, now):
            self._knowledge.review_links(now)
        self._questions.try_again(now)
        self._advance(now)

    def trunk_closed(self, trunk: int, now: float) -> None:
        """Note the loss of a connection to another router; it acts at once."""
        is_doubled = self._neighbours.is_doubled(trunk)
        if self._neighbours.close(trunk, now):
            self._knowledge.review_links(now)
        if is_doubled:
            # No link changes, so nobody announces anything. But messages on the trunk may be lost.
            self._knowledge.ask_all(now + RESUME_WAIT_S)
        self._advance(now)

    def receive(self, trunk: int, message: ControlMessage, now: float) -> None:
        """Take a message of a control link, for this router or for others."""
        is_taken = self._neighbours.is_open(trunk) and self._receive(trunk, message, now)
        # Most messages are for others, and change nothing here.
        if is_taken or now >= self._deadline:
            self._advance(now)

    def want(self, key: str, hint: int, now: float) -> None:
        """Tell all routers that there are consumers of an address here; raises NotAdvertisable."""
        self._addresses.want(key, hint, now)
        self._advance(now)

    def unwant(self, key: str, now: float) -> None:
        """Tell all routers that there are no consumers of an address here any more."""
        self._addresses.unwant(key, now)
        self._advance(now)

    def set_addresses(self, wanted: Mapping[str, int], now: float) -> None:
        """Replace all addresses with consumers here, given with hints; raises NotAdvertisable."""
        if self._addresses.set(wanted, now):
            self._advertise_at = now
        self._advance(now)

    def restore_mapping(self, router: str, keys: Mapping[str, int] | Iterable[str]) -> None:
        """Hand back the addresses of another router that the engine before this one had told.

        To be called right after the start of a resumed engine; makes no command.
        """
        hinted = keys.items() if isinstance(keys, Mapping) else ((key, NO_HINT) for key in keys)
        self._knowledge.remote.change(router, hinted, ())
        if router not in self._knowledge.states.nodes:
            # It came after the checkpoint: it is forgotten with its addresses, unless there is news of it.
            self._knowledge.learn(router, 0, self._now)
        self._deadline = self._next_deadline()

    def forgive(self, seconds: float) -> None:
        """Do not count this time against neighbours: their greetings could not be taken in it."""
        self._neighbours.forgive(seconds)

    def tick(self, now: float) -> None:
        """Do the work that is due."""
        self._advance(now)
        if now >= self._topology.origins_due:
            self._compute_origins(now)
            self._deadline = self._next_deadline()

    def next_deadline(self) -> float:
        """Return when to call `tick`; it may be now, or early."""
        return self._deadline

    def take_commands(self) -> list[Command]:
        """Return the commands, in order."""
        return self._outbox.take()

    # --- what is known

    def addresses_of(self, router: str) -> Mapping[str, int]:
        """Return the addresses of another router, with hints."""
        return self._knowledge.remote.of(router)

    def nodes(self) -> list[NodeState]:
        """Return all known routers, this one first."""
        origins: dict[str, list[str]] = {}
        for origin, destinations in sorted(self._topology.through_us.items()):
            for router in destinations:
                origins.setdefault(router, []).append(origin)
        others = sorted(self._knowledge.states.nodes.items())
        return [self._own_state(), *(self._node_state(node, tuple(origins.get(id, ()))) for id, node in others)]

    def checkpoint(self) -> Checkpoint:
        """Return the state for the engine that takes the place of this one."""
        knowledge = self._knowledge
        links = self._neighbours.trunks
        return Checkpoint(
            router_id=knowledge.id,
            instance=knowledge.instance,
            version=self._topology.routes.version,
            ls_seq=knowledge.own.ls_seq,
            mobile_seq=self._addresses.mobile_seq,
            trunks={n: (router, self._neighbours.cost(n)) for router, trunks in links.items() for n in trunks},
            nodes=tuple(
                NodeCheckpoint(
                    id=node.id,
                    instance=node.instance,
                    ls_seq=node.ls_seq,
                    mobile_seq=node.mobile_seq,
                    peers={**node.peers},
                    addresses=knowledge.remote.checksum(node.id),
                )
                for node in knowledge.states.nodes.values()
            ),
        )

    # --- how it is done

    def _receive(self, trunk: int, message: ControlMessage, now: float) -> bool:
        """Take a message or pass it on; return whether it may have changed anything here."""
        place, rest = self._place(message.to)
        is_greeting = place != "R" and rest == NEIGHBOUR_ENGINE
        if is_greeting and place == "L":
            # This includes a message of our own id: there is another router with it.
            self._exchange.take(trunk, rest, message, now)
            return True
        if is_greeting or self._outbox.is_own(message):
            return False
        if place == "R":
            self._outbox.pass_on(message, rest)
        elif place == "L" or (place == "T" and self._outbox.pass_on_to_all(trunk, message, now)):
            self._exchange.take(trunk, rest, message, now)
            return True
        return False

    def _place(self, address: str) -> tuple[str, str]:
        place = self._places.get(address)
        if place is None:
            key = self._space.key(address)
            place = key[:1], key[1:]
            if len(address) <= PLACE_LENGTH_MAX:
                if len(self._places) >= PLACES_REMEMBERED:
                    self._places.clear()
                self._places[address] = place
        return place

    def _advance(self, now: float) -> None:
        self._now = now
        if now >= self._neighbours.deadline:
            self._greet(now)
        if now >= self._tick_at:
            self._look_for_old(now)
        if now >= self._knowledge.own.due:
            self._announce_links(now)
        if now >= self._topology.due:
            self._knowledge.compute_paths(now)
        if now >= self._topology.origins_due and self._topology.is_small:
            self._compute_origins(now)
        if now >= self._questions.deadline:
            self._ask(now)
        if now >= self._addresses_due():
            # A new neighbour may not know us yet, or have no path to us: it would take messages for us and give them
            # back. The advertisement that follows makes it ask for all addresses.
            self._outbox.flood(TO_ALL_MOBILE, self._addresses.take_changes(now), self._knowledge.new_neighbours())
            self._advertise_at = now
        if self._exchange.is_missed:
            self._exchange.is_missed = False
            self._advertise_at = min(self._advertise_at, max(now + MISSED_WAIT_S, self._advertised + MISSED_GAP_S))
        is_near = now >= self._advertise_at or now >= self._advertised + self._least_interval_s
        if is_near and now >= self._next_advertisement():
            self._advertise(now)
        self._deadline = self._next_deadline()

    def _next_deadline(self) -> float:
        return min(
            self._neighbours.deadline,
            self._tick_at,
            self._knowledge.own.due,
            self._topology.due,
            self._topology.origins_due,
            self._questions.deadline,
            self._addresses_due(),
            self._next_advertisement(),
        )

    def _greet(self, now: float) -> None:
        if self._neighbours.expire(now):
            self._knowledge.review_links(now)
        due = self._neighbours.take_due(now)
        hello = Hello(self._knowledge.id, self._knowledge.instance, self._neighbours.heard())
        for trunk in due:
            self._outbox.greet(trunk, hello)

    def _look_for_old(self, now: float) -> None:
        self._tick_at = now + TICK_S
        for node in self._knowledge.states.clear_old(now):
            self._outbox.remark("info", f"router {node.id} has not been heard of for long: its links are void")
        self._knowledge.forget_stale()
        self._knowledge.ask_silent(now)

    def _announce_links(self, now: float) -> None:
        own = self._knowledge.own
        if own.ls_seq == 0:
            self._addresses.fold()
        own.announce(now)
        self._advertise_at = now

    def _ask(self, now: float) -> None:
        known = self._knowledge.remote.checksum
        links, addresses = self._questions.take_due(now, self._outbox.can_reach)
        request = LinkStateRequest(self._knowledge.id).to_body() if links else {}
        for node in links:
            self._outbox.send(node.id, ROUTER_ENGINE, LinkStateRequest.OPCODE, request)
        for node in addresses:
            if self._checksums.pop(node.id, known(node.id)) != known(node.id):
                # The addresses that were handed back do not belong to the checkpoint.
                node.mobile_seq = 0
            asked = MobileAddressRequest(self._knowledge.id, node.mobile_seq)
            self._outbox.send(node.id, MOBILE_ENGINE, asked.OPCODE, asked.to_body())

    def _advertise(self, now: float) -> None:
        knowledge = self._knowledge
        if now >= self._knowledge.flux_end:
            self._compare_costs()
        self._advertise_at = self._resumed_at if now < self._resumed_at else inf
        self._advertised = now
        told = RouterAdvertisement(knowledge.id, knowledge.instance, knowledge.own.ls_seq, self._addresses.mobile_seq)
        self._outbox.flood(TO_ALL_ROUTERS, told)

    def _compute_origins(self, now: float) -> None:
        if self._topology.compute_origins(now):
            self._outbox.put(OriginsChanged(self._topology.origins_version, self._topology.through_us))

    def _compare_costs(self) -> None:
        """Remark on neighbours for whom the link costs another price than for us, once nothing is in flux."""
        knowledge = self._knowledge
        for router, cost in knowledge.own.links.items():
            theirs = knowledge.states.nodes[router].peers.get(knowledge.id, cost)
            if theirs != cost:
                text = f"the link to router {router} costs {cost}, and from there {theirs}"
                self._outbox.remark("warning", text, "cost", router, cost, theirs)

    def _addresses_due(self) -> float:
        # Before we are known, what we tell is not understood (3.9).
        is_told = self._knowledge.own.ls_seq > 0 and self._addresses.is_known
        return self._addresses.due if is_told else inf

    def _next_advertisement(self) -> float:
        # A change makes all routers of the mesh announce themselves: not at once, but spread over the interval. Those
        # that follow upon it make nobody wait longer, or where they don't end, what is lost once would not be told.
        spread = self._knowledge.in_flux_from + self._spread_s
        in_flux = max(self._advertised + self._config.ra_interval_flux_s, spread)
        regular = in_flux if in_flux < self._knowledge.flux_end else self._advertised + self._config.ra_interval_s
        return min(regular, self._advertise_at)

    def _resume(self, now: float) -> None:
        self._advertise_at = self._resumed_at = now + RESUME_WAIT_S
        self._knowledge.ask_all(self._resumed_at)
        self._topology.changed(now, is_urgent=True)
        self._advance(now)

    def _own_state(self) -> NodeState:
        knowledge = self._knowledge
        return NodeState(
            id=knowledge.id,
            is_self=True,
            instance=knowledge.instance,
            protocol_version=PROTOCOL_VERSION,
            ls_seq=knowledge.own.ls_seq,
            mobile_seq=self._addresses.mobile_seq,
            peers=knowledge.own.links,
            is_reachable=True,
            next_hop=None,
            trunk=None,
            cost=None,
            valid_origins=(),
            address_count=self._addresses.count,
            last_topology_change=knowledge.in_flux_since,
            last_seen=None,
        )

    def _node_state(self, node: Node, valid_origins: tuple[str, ...]) -> NodeState:
        route = self._topology.routes.nodes.get(node.id)
        trunks = self._neighbours.trunks.get(node.id)
        return NodeState(
            id=node.id,
            is_self=False,
            instance=node.instance,
            protocol_version=PROTOCOL_VERSION,
            ls_seq=node.ls_seq,
            mobile_seq=node.mobile_seq,
            peers=node.peers,
            is_reachable=route is not None,
            next_hop=None if route is None or route.next_hop == node.id else route.next_hop,
            trunk=trunks[0] if trunks else None,
            cost=None if route is None else route.cost,
            valid_origins=valid_origins,
            address_count=len(self._knowledge.remote.of(node.id)),
            last_topology_change=node.changed,
            last_seen=node.last_seen,
        )
