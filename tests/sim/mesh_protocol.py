"""`python -m tests.sim.mesh_protocol --seeds N`: whole meshes on virtual time, with all that can go wrong.

After each of a number of troubled times there is quiet, and every router must know the shortest paths and the addresses
that there are; both are found here by other means than the engine's.
"""

import argparse
import heapq
import sys
import time
from dataclasses import dataclass
from itertools import pairwise

from tests.sim.campaign import Failed
from tests.sim.mesh import Mesh, Router, Trunk
from tests.sim.world import Broken

SIZE = 50
QUIET_S = 12.0
LONG_QUIET_S = 70.0
"""By then nothing is left of a router that is gone."""
TROUBLES = 25
LARGE = 40
"""Routers, of which a run without a second time of trouble is long enough."""
TROUBLED_S = 4.0
KEYS = ("M0orders", "M0news", "M1queue", "MFspare", "Clr", "Dlr", "Ea/*/b", "Fa/*/b", "Hedge")

Path = tuple[str, int, int]
Links = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Result:
    """What came of a run."""

    seed: int
    digest: int
    events: int
    sent: int


def run(seed: int, size: int = SIZE) -> Result:
    """Run and check one mesh; raises Failed."""
    mesh: Mesh | None = None
    try:
        mesh = Mesh(seed, size)
        mesh.world.run_for(QUIET_S)
        check(mesh)
        for _ in range(2 if size < LARGE else 1):
            trouble(mesh)
            mesh.world.run_for(TROUBLED_S + QUIET_S)
            check(mesh)
        resume_unnoticed(mesh)
        if seed % 5 == 0:
            mesh.world.run_for(LONG_QUIET_S)
            check(mesh)
            check_nothing_is_left(mesh)
    except Exception as error:
        trace = "\n".join(mesh.world.trace) if mesh else ""
        raise Failed(
            f"{trace}\nseed {seed}: {type(error).__name__}: {error}\n"
            f"again: python -m tests.sim.mesh_protocol --first {seed} --seeds 1 --size {size}"
        ) from error
    return Result(seed, mesh.world.digest, mesh.world.events, sum(each.sent.total() for each in mesh.routers.values()))


# --- what happens


def trouble(mesh: Mesh) -> None:
    """Let things happen within the next seconds."""
    random = mesh.world.random
    kinds = (cut, cut, connect, connect, want, want, want, unwant, stall, crash, hand_over, hand_over, join)
    for _ in range(TROUBLES):
        mesh.world.later(random.uniform(0.0, TROUBLED_S), random.choice(kinds), mesh)


def _some_trunk(mesh: Mesh) -> Trunk | None:
    return mesh.world.random.choice(mesh.trunks) if mesh.trunks else None


def _some_router(mesh: Mesh) -> Router:
    return mesh.world.random.choice(mesh.alive())


def cut(mesh: Mesh) -> None:
    if trunk := _some_trunk(mesh):
        mesh.world.note(f"trunk {trunk.ends[0].id}-{trunk.ends[1].id} is cut")
        trunk.cut()
        if mesh.world.chance(0.5):
            mesh.world.later(mesh.world.random.uniform(0.0, 1.0), _connect_again, mesh, trunk)


def _connect_again(mesh: Mesh, trunk: Trunk) -> None:
    if all(router.is_alive for router in trunk.ends):
        mesh.connect(*trunk.ends)


def stall(mesh: Mesh) -> None:
    if trunk := _some_trunk(mesh):
        mesh.world.note(f"trunk {trunk.ends[0].id}-{trunk.ends[1].id} stalls")
        trunk.stalled_until = mesh.world.now + mesh.world.random.uniform(0.1, 4.0)


def connect(mesh: Mesh) -> None:
    one, other = _some_router(mesh), _some_router(mesh)
    if one is not other:
        mesh.connect(one, other)


def join(mesh: Mesh) -> None:
    mesh.join()


def want(mesh: Mesh) -> None:
    router, key = _some_router(mesh), mesh.world.random.choice(KEYS)
    if key not in router.wanted:
        router.want(key, 3)


def unwant(mesh: Mesh) -> None:
    router = _some_router(mesh)
    if router.wanted:
        router.unwant(mesh.world.random.choice([*router.wanted]))


def crash(mesh: Mesh) -> None:
    router = _some_router(mesh)
    if len(mesh.alive()) > 2:
        mesh.world.note(f"{router.id} dies")
        peers = [trunk.ends[1 - trunk.end(router)].id for trunk in router.trunks.values()]
        router.die()
        if mesh.world.chance(0.7):
            mesh.world.later(mesh.world.random.uniform(0.1, 2.0), _start_again, mesh, router.id, peers)


def _start_again(mesh: Mesh, id: str, peers: list[str]) -> None:
    router = mesh.start(id)
    for peer in peers:
        if mesh.routers[peer].is_alive and peer != id:
            mesh.connect(router, mesh.routers[peer])


def hand_over(mesh: Mesh) -> None:
    random = mesh.world.random
    router = _some_router(mesh)
    if router.engine is not None:
        router.remember()
        mesh.world.later(random.uniform(0.0, 1.0), _end_engine, mesh, router)


def _end_engine(mesh: Mesh, router: Router) -> None:
    mesh.world.note(f"the engine of {router.id} ends")
    router.end_engine()
    mesh.world.later(mesh.world.random.uniform(0.01, 1.0), router.resume)


def resume_unnoticed(mesh: Mesh) -> None:
    """Have an engine take the place of another while nothing else happens: nobody may lose anything."""
    router = _some_router(mesh)
    mesh.world.note(f"the engine of {router.id} is replaced")
    losses = {each.id: each.losses for each in mesh.alive()}
    router.remember()
    router.end_engine()
    mesh.world.run_for(1.0)
    router.resume()
    mesh.world.run_for(QUIET_S / 2)
    if losses != {each.id: each.losses for each in mesh.alive()}:
        raise Broken(f"an engine that took the place of that of {router.id} was noticed")
    check(mesh)


# --- what must be


def check(mesh: Mesh) -> None:
    """Check that every router knows the paths and the addresses."""
    links = true_links(mesh)
    trees = {id: tree_from(id, links) for id in links}
    for router in mesh.alive():
        check_routes(router, trees, links)
        check_addresses(mesh, router)


def true_links(mesh: Mesh) -> Links:
    """Return what there is of links, each as costly as its cheapest trunk."""
    links: Links = {router.id: {} for router in mesh.alive()}
    for trunk in mesh.trunks:
        one, other = (router.id for router in trunk.ends)
        cost = min(trunk.cost, links[one].get(other, trunk.cost))
        links[one][other] = links[other][one] = cost
    return links


def tree_from(root: str, links: Links) -> dict[str, list[str]]:
    """Return the shortest paths from a router, each as the routers on it; ties go as section 3.8 says."""
    costs, paths = {root: 0}, {root: [root]}
    queue = [(0, root)]
    done: set[str] = set()
    while queue:
        cost, router = heapq.heappop(queue)
        if router in done:
            continue
        done.add(router)
        for peer, step in links[router].items():
            if cost + step < costs.get(peer, sys.maxsize):
                costs[peer] = cost + step
                paths[peer] = [*paths[router], peer]
                heapq.heappush(queue, (costs[peer], peer))
    return paths


def check_routes(router: Router, trees: dict[str, dict[str, list[str]]], links: Links) -> None:
    """Check where a router sends what, and whose paths it believes to lead through it."""
    told = {
        other: (route.next_hop, route.cost, route.hops, route.trunk) for other, route in router.routes.nodes.items()
    }
    true = {
        other: (path[1], cost_of(path, links), len(path) - 1, best_trunk(router, path[1]))
        for other, path in trees[router.id].items()
        if other != router.id
    }
    if told != true:
        wrong = {
            other: (told.get(other), true.get(other)) for other in told | true if told.get(other) != true.get(other)
        }
        raise Broken(f"the routes of {router.id}, as told and as they are: {wrong}")
    radius = max((hops for _, _, hops, _ in true.values()), default=0)
    if router.routes.radius != radius:
        raise Broken(f"the radius of {router.id} is {router.routes.radius}, not {radius}")
    if router.routes.neighbours.keys() != links[router.id].keys():
        raise Broken(f"the neighbours of {router.id} are {[*router.routes.neighbours]}")
    through = {
        origin: frozenset(other for other, path in tree.items() if router.id in path[1:-1])
        for origin, tree in trees.items()
    }
    if router.through_us != {origin: others for origin, others in through.items() if others}:
        raise Broken(f"what leads through {router.id} is {router.through_us}, and it should be {through}")


def cost_of(path: list[str], links: Links) -> int:
    """Return what a path costs."""
    return sum(links[start][end] for start, end in pairwise(path))


def best_trunk(router: Router, neighbour: str) -> int:
    """Return the trunk to use to a neighbour: the cheapest, and of these the one with the lowest number."""
    ways = {n: trunk for n, trunk in router.trunks.items() if trunk.ends[1 - trunk.end(router)].id == neighbour}
    return min(ways, key=lambda number: (ways[number].cost, number))


def check_addresses(mesh: Mesh, router: Router) -> None:
    """Check the addresses that a router has mapped to those that it can reach."""
    for other in router.routes.nodes:
        told, true = router.mapped.get(other, {}), mesh.routers[other].wanted
        if told != true:
            raise Broken(f"{router.id} believes that {other} has {told}, and it has {true}")


def check_nothing_is_left(mesh: Mesh) -> None:
    """Check that nothing is mapped to a router that can't be reached, and none is known any more."""
    for router in mesh.alive():
        assert router.engine is not None
        known = {node.id for node in router.engine.nodes() if not node.is_self}
        mapped = {other for other, keys in router.mapped.items() if keys}
        if known != router.routes.nodes.keys() or not mapped <= known:
            raise Broken(f"{router.id} knows {known}, has mapped {mapped} and reaches {[*router.routes.nodes]}")


def main() -> int:
    """Return the exit status: 1 when a run failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.sim.mesh_protocol", description=__doc__)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--seeds", type=int, default=20, help="how many")
    parser.add_argument("--size", type=int, default=SIZE, help="routers at the beginning")
    options = parser.parse_args()
    failed = 0
    for seed in range(options.first, options.first + options.seeds):
        start = time.process_time()
        try:
            result = run(seed, options.size)
        except Failed as failure:
            failed += 1
            print(failure, flush=True)
            continue
        print(f"{result}, {time.process_time() - start:.1f} s", flush=True)
    print(f"{options.seeds} seeds, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
