"""How the cost of the routing protocol grows with the mesh, on virtual time: from nothing, and when a trunk is lost.

Five links a router on average, with costs from 1 to 20, and no consumers. A mesh has converged when every router has
the shortest paths to all others and knows everybody's links. The cost is that of one router, on average.
"""

import gc
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from bench.mesh.paths import mesh
from bench.mesh.simulation import Links, Simulation, Spent, costs_from, trunks
from bench.report import Row

SIZES = (10, 100, 200)
"""Messages grow by the square, and each engine knows the mesh: 1 000 routers take a quarter of an hour and 5 GiB."""
DEGREE = 5
CUTS = 3
LARGE = 500
"""From so many routers on one trunk alone is cut: what they tell each other until it can be takes minutes."""
FIGURES = 5
SETTLE_S = 10.0
"""After it routers announce themselves every 30 s only."""
KIB = 1024
MS_A_SECOND = 1000


@dataclass(frozen=True, slots=True)
class Grown:
    """What came of a mesh of one size."""

    size: int
    cold: Spent
    cuts: list[Spent]


def rows(sizes: Sequence[int] = SIZES) -> list[Row]:
    """Measure meshes of these sizes; the rows of one figure stand together."""
    meshes = [grown(size) for size in sizes]
    return [
        *(row for figure in range(FIGURES) for one in meshes for row in [_cold_rows(one)[figure]]),
        *(row for figure in range(FIGURES) for one in meshes for row in [_cut_rows(one)[figure]]),
    ]


def grown(size: int) -> Grown:
    """Start a mesh of `size` routers, and cut some of its trunks, one after the other."""
    links = mesh(size, size * DEGREE // 2)
    simulation = Simulation(links)
    # There is much to walk through, and little to find.
    gc.disable()
    try:
        cold = simulation.start()
        cuts = []
        for pair in Random(1).sample(used_trunks(links), CUTS if size < LARGE else 1):
            simulation.rest(SETTLE_S)
            cuts.append(simulation.cut(*pair))
    finally:
        gc.enable()
    return Grown(size, cold, cuts)


def used_trunks(links: Links) -> list[tuple[str, str]]:
    """Return the trunks that shortest paths lead over."""
    costs = {one: costs_from(one, links) for one in links}
    return [(one, other) for one, other in trunks(links) if costs[one][other] == links[one][other]]


def _cold_rows(one: Grown) -> list[Row]:
    return _rows(f"cold start of {one.size}", one.size, [one.cold])


def _cut_rows(one: Grown) -> list[Row]:
    return _rows(f"one trunk of {one.size} lost", one.size, one.cuts)


def _rows(case: str, size: int, spent: list[Spent]) -> list[Row]:
    """Return the medians."""
    messages = statistics.median(one.messages for one in spent)
    octets = statistics.median(one.octets for one in spent)
    cpu_s = statistics.median(one.cpu_s for one in spent)
    return [
        Row(f"{case}: shortest paths", statistics.median(one.paths_s for one in spent) * MS_A_SECOND, "ms"),
        Row(f"{case}: all links", statistics.median(one.links_s for one in spent) * MS_A_SECOND, "ms"),
        Row(f"{case}: messages", messages / size, "a router"),
        Row(f"{case}: octets", octets / size / KIB, "KiB a router"),
        Row(f"{case}: CPU", cpu_s / size * MS_A_SECOND, "ms a router"),
    ]
