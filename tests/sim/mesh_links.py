"""`python -m tests.sim.mesh_links --seeds N --routers M`: routed links through whole meshes on virtual time.

Both ends of each link write down what they see. After a while without misfortunes, a link is attached at both ends or
at neither. Messages arrive once and in order, and have the outcome that their receiver has said. Once all have left,
nothing is left in any router.
"""

import argparse
import sys
import time
from collections import Counter
from itertools import count
from typing import Any

from routerd.core import LinkDirection, LinkRouteSettings
from routerd.core.roles.routed_links import PATIENCE_S
from tests.sim.actions import Choice
from tests.sim.campaign import Failed, run_all
from tests.sim.mesh_actions import MeshActions
from tests.sim.mesh_checks import check_lines
from tests.sim.mesh_messages import CALM_SEEDS, EDGES, Result
from tests.sim.mesh_rest import NO_END, settle
from tests.sim.mesh_simulation import KNOWN_S, MeshSimulation
from tests.sim.routed_ends import CONTAINER, PREFIX, WITHDRAWN, LinkClient, LinkContainer, RoutedEnd, RoutedLink
from tests.sim.world import Broken

ROUTERS = 5
STEPS = 200
CLIENTS = 5
CONTAINERS = 3
LINKS_MAX = 8
REST_EVERY = 100
"""Steps; at half of the rests all messages come to an end, and at the end of a run they do, too."""
ROUNDS = 100
REFUSALS = 0.05
SETTLED = 0.2
SIZES = (0, 0, 0, 500, 3000)
"""Octets of messages, beyond a few; frames are as small as 512."""
PATIENT = 0.1
"""How often receivers without credit stay so while all else comes to rest."""
LINK_ROUTES = tuple(
    LinkRouteSettings(name=direction.value, direction=direction, pattern=f"{PREFIX}#", container_id=CONTAINER)
    for direction in LinkDirection
)


class RoutedSimulation(MeshSimulation):
    """A mesh whose routers route the links of some addresses to containers."""

    def __init__(self, seed: int, size: int, edges: int, *, is_calm: bool) -> None:
        self.counts: Counter[str] = Counter()
        self.may_end = not is_calm
        """Whether links that containers have answered may end."""
        self.routed: dict[str, RoutedLink] = {}
        """Those that may have an end somewhere, by address."""
        self._numbers = count(1)
        self._containers = 0
        super().__init__(seed, size, edges, is_calm=is_calm)

    def count(self, what: str) -> None:
        """Count what there was to check."""
        self.counts[what] += 1

    def start_router(self, index: int) -> None:
        """Start a router, which has the link routes."""
        super().start_router(index)
        for one in LINK_ROUTES:
            self.routers[index].router.link_route_uses.add(one)

    # --- links

    def new_link(self, is_in: bool) -> RoutedLink:
        """Have one more link."""
        routed = RoutedLink(next(self._numbers), is_in)
        self.routed[routed.address] = routed
        return routed

    def refuses(self) -> bool:
        """Whether a container refuses the next link."""
        return not (self.is_calm or self.is_finishing) and self.world.chance(REFUSALS)

    def forget_links(self) -> None:
        """Forget links that are over at both ends."""
        self.routed = {address: one for address, one in self.routed.items() if not one.is_over}

    # --- clients

    def new_client(self) -> RoutedEnd:
        """Have one more client, or one more connection of the container."""
        is_container = self._containers < CONTAINERS
        self._containers += is_container
        name = f"{CONTAINER} {self._containers}" if is_container else f"client {len(self.clients)}"
        client = LinkContainer(self, name) if is_container else LinkClient(self, name)
        self.clients.append(client)
        self.absent.append(client)
        return client

    def containers_for(self, client: LinkClient) -> list[LinkContainer]:
        """Return the connections of the container at routers that a client's router can reach."""
        start = self._place_of(client.worker)
        reached = set() if start is None else self.reached_from(start)
        containers = [one for one in self.clients if isinstance(one, LinkContainer) and one.is_open]
        return [one for one in containers if self._place_of(one.worker) in reached]


class LinkActions(MeshActions):
    """Chooses what happens to links, and to the mesh."""

    def peaceful(self) -> list[Choice]:
        """What nobody has to put up with."""
        return [(10, self.come), (15, self.attach), (60, self.send), (30, self.decide), (20, self.grant)]

    def fickle(self) -> list[Choice]:
        """What the ends do that change their minds."""
        return [
            (3, self.detach),
            (3, self.abort),
            (1, self.end_session),
            (1, self.leave),
            (1, self.cut),
            (0.5, self.half_close),
            (5, self.stall),
            (4, self.stall_trunk),
            (1, self.hang_briefly),
            (1, self.replace_engine),
        ]

    consume = produce = lambda self: None

    def come(self) -> None:
        """A client or a container connects; containers do so to interior routers."""
        mesh: Any = self._mesh
        if not mesh.absent and len(mesh.clients) < self._clients_max:
            mesh.new_client()
        routers = [one for one in mesh.alive() if not one.is_draining]
        if mesh.absent and isinstance(mesh.absent[0], LinkContainer):
            # An edge router would have to tell of it by management, which is not here.
            routers = [one for one in routers if not one.is_edge]
        if mesh.absent and routers:
            client = mesh.absent.pop(0)
            router = self._random.choice(routers)
            mesh.note(f"{client.name} comes to {router.id}")
            client.come(router.index)

    def attach(self) -> None:
        """A client attaches a link."""
        client = self._one([one for one in self._ends() if isinstance(one, LinkClient) and one.shared])
        if client and len(client.links) < LINKS_MAX:
            self._mesh.note(f"{client.name} attaches {client.attach(self._random.random() < 0.5)}")

    def send(self) -> None:
        """Some messages are sent, perhaps the last one in part only."""
        routed = self._routed()
        if routed:
            for _ in range(self._random.choice((1, 1, 3, 10))):
                routed.send(self._random.choice(SIZES), settled=self._random.random() < SETTLED)
            routed.send(self._random.choice(SIZES), is_whole=self._random.random() < 0.7)

    def abort(self) -> None:
        """A message that is begun comes to no end."""
        routed = self._routed()
        if routed:
            routed.abort()

    def decide(self) -> None:
        """A receiver says what becomes of messages."""
        end = self._one([one for one in self._ends() if one.undecided])
        if end:
            end.decide_some(self._random.choice((1, 5, 50)))

    def grant(self) -> None:
        """A receiver grants credit, or wants what there is and no more."""
        routed = self._routed()
        if routed and routed.receiver is not None:
            routed.receiver.set_credit(self._random.choice((0, 1, 5, 50)), drain=self._random.random() < 0.1)

    def detach(self) -> None:
        """Either end detaches a link."""
        end = self._one([one for one in self._ends() if one.links])
        if end:
            link = self._one(list(end.links))
            self._mesh.note(f"{end.name} detaches {end.links[link]}")
            end.detach(link, self._random.choice((None, WITHDRAWN)))

    def _ends(self) -> list[Any]:
        return [one for one in self._mesh.clients if one.is_open]

    def _routed(self) -> RoutedLink | None:
        mesh: Any = self._mesh
        found: RoutedLink | None = self._one([one for one in mesh.routed.values() if one.is_whole])
        return found


# --- what must hold


def rest(simulation: RoutedSimulation, without_changes_s: float = KNOWN_S) -> None:
    """Let the network find its mind; then no link is attached at one end alone, or waits for an answer."""
    simulation.note("rest")
    if simulation.world.chance(PATIENT):
        # A link whose other end is lost is detached behind messages for which there is no credit, or after this time.
        simulation.world.run_for(PATIENCE_S)
        settle(simulation, without_changes_s)
    else:
        _settle_with_credit(simulation, without_changes_s)
        if any(routed.is_torn for routed in simulation.routed.values()):
            # What has come meanwhile may have used up all credit.
            _settle_with_credit(simulation, without_changes_s)
    for routed in simulation.routed.values():
        if routed.is_torn:
            raise Broken(f"{routed} is {routed.near} at its client, and {routed.far} at the container")
    check_lines(simulation)
    simulation.forget_links()


def _settle_with_credit(simulation: RoutedSimulation, without_changes_s: float) -> None:
    for routed in simulation.routed.values():
        routed.want_more()
    settle(simulation, without_changes_s)


def finish(simulation: RoutedSimulation) -> None:
    """Let all messages come to an end; each has the outcome that was said. Then further links find their containers."""
    simulation.note("finish")
    simulation.is_finishing = True
    simulation.heal()
    rest(simulation, NO_END)
    _finish_messages(simulation)
    _attach_everywhere(simulation)
    simulation.is_finishing = False


def leave(simulation: RoutedSimulation) -> None:
    """Have all go; nothing is left of their links."""
    finish(simulation)
    simulation.note("all leave")
    simulation.may_end = True
    for client in simulation.clients:
        client.leave()
    settle(simulation, NO_END)
    for host in simulation.alive():
        links = host.router.routed_links
        left: dict[str, Any] = {
            "pending": links.pending,
            "namesakes": links.namesakes,
            "connections": [one.number for one in host.router.peers.values() if not (one.is_router or one.is_edge)],
        }
        for peer in host.router.peers.values():
            left[f"routed at {peer.number}"] = peer.routed
            left[f"stuck at {peer.number}"] = peer.stuck
            left[f"counts of {peer.number}"] = peer.routed_in or peer.routed_out
            left[f"links of {peer.number}"] = len(peer.connection.links) - len(peer.inlets) - len(peer.outlets)
            sessions = [one for one in peer.connection.sessions() if not one.links()]
            left[f"sessions of {peer.number}"] = sessions if peer.trunk is not None else ()
        found = {what: one for what, one in left.items() if one}
        if found:
            raise Broken(f"{host.id} has left {found}")


def _finish_messages(simulation: RoutedSimulation) -> None:
    whole = [one for one in simulation.routed.values() if one.is_whole]
    for _ in range(ROUNDS):
        for routed in whole:
            routed.want_more()
            routed.end_message()
        for client in simulation.clients:
            if isinstance(client, RoutedEnd):
                client.decide_some(len(client.undecided))
        simulation.world.run_for(1.0)
        if all(one.is_done for one in whole):
            return
    raise Broken(f"messages do not come to an end: {[one.account() for one in whole if not one.is_done]}")


def _attach_everywhere(simulation: RoutedSimulation) -> None:
    probes: list[tuple[LinkClient, RoutedLink]] = []
    for client in simulation.clients:
        if isinstance(client, LinkClient) and client.is_open and client.shared:
            probes += [(client, client.attach(is_in)) for is_in in (False, True)]
    simulation.world.run_for(KNOWN_S)
    for client, routed in probes:
        containers = simulation.containers_for(client)
        if routed.is_whole is not bool(containers):
            raise Broken(f"{routed} of {client.name} is {routed.near} with {len(containers)} containers in reach")
        simulation.count("probes with a container" if containers else "probes without one")


def run(seed: int, routers: int = ROUTERS, edges: int = EDGES, steps: int = STEPS, clients: int = CLIENTS) -> Result:
    """Run, check, and return what there was to check; raises Failed."""
    simulation: RoutedSimulation | None = None
    step = 0
    try:
        is_calm = seed % CALM_SEEDS == 0
        simulation = RoutedSimulation(seed, routers, edges, is_calm=is_calm)
        actions = LinkActions(simulation, clients + CONTAINERS)
        for step in range(1, steps + 1):
            actions.step()
            if step % REST_EVERY == 0 and step < steps:
                (finish if simulation.world.chance(0.5) else rest)(simulation)
        leave(simulation)
    except Exception as error:
        trace = "\n".join(simulation.world.trace) if simulation else ""
        raise Failed(
            f"{trace}\nseed {seed} fails at step {step} of {steps}: {type(error).__name__}: {error}\n"
            f"again: python -m tests.sim.mesh_links --first {seed} --seeds 1 --routers {routers} --edges {edges} "
            f"--steps {steps} --clients {clients}"
        ) from error
    return Result(seed, is_calm, simulation.world.events, simulation.world.digest, dict(simulation.counts))


def main() -> int:
    """Return the exit status: 1 when a run failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.sim.mesh_links", description=__doc__)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seeds", type=int, default=20, help="how many")
    parser.add_argument("--routers", type=int, default=ROUTERS, help="routers at the beginning of each run")
    parser.add_argument("--edges", type=int, default=EDGES, help="edge routers besides")
    parser.add_argument("--steps", type=int, default=STEPS, help="steps of each run")
    parser.add_argument("--clients", type=int, default=CLIENTS, help="clients at a time")
    parser.add_argument("--go-on", action="store_true", help="do not stop at the first failure")
    options = parser.parse_args()
    mesh = (options.routers, options.edges, options.steps, options.clients)
    seeds = range(options.first, options.first + options.seeds)
    start = time.process_time()
    campaign = run_all(seeds, lambda seed: run(seed, *mesh), goes_on=options.go_on)
    seconds = time.process_time() - start
    print(f"{options.seeds} seeds, {campaign.failed} failed; {campaign.events} events in {seconds:.1f} s")
    print(campaign.report())
    return 1 if campaign.failed else 0


if __name__ == "__main__":
    sys.exit(main())
