"""Shortest paths in a mesh of 1 000 routers and 5 000 trunks: ours, and the trees of all the others."""

import gc
import statistics
import time
import tracemalloc
from collections.abc import Callable, Iterator
from random import Random

from bench.report import Row
from routerd.mesh.paths import Paths

ROUTERS = 1_000
TRUNKS = 5_000
COST_MAX = 20
CHANGES = 20
REPETITIONS = 5
TREES_A_TURN = 10
MIB = 1 << 20

Mesh = dict[str, dict[str, int]]


def mesh(routers: int, trunks: int) -> Mesh:
    """Return the links of a mesh without a pattern: a ring, so that all are reached, and trunks across it."""
    chance = Random(1)
    ids = [f"router.{number}" for number in range(routers)]
    links: Mesh = {router: {} for router in ids}
    pairs = list(zip(ids, ids[1:] + ids[:1], strict=True))
    while pairs or sum(map(len, links.values())) < 2 * trunks:
        one, other = pairs.pop() if pairs else chance.sample(ids, 2)
        links[one][other] = links[other][one] = links[one].get(other) or chance.randint(1, COST_MAX)
    return links


def told(links: Mesh) -> Paths:
    """Return the paths of the first router, told of all links and not computed."""
    paths = Paths(next(iter(links)))
    for router, costs in links.items():
        paths.set_links(router, costs)
    return paths


def known(links: Mesh) -> Paths:
    """Return the paths of the first router with the trees of all origins."""
    paths = told(links)
    paths.compute()
    compute_origins(paths)
    return paths


def compute_origins(paths: Paths) -> None:
    """Compute the trees of origins that have to be, a few a turn."""
    paths.begin_origins()
    while not paths.advance_origins(TREES_A_TURN):
        pass


def full_computation_ms(links: Mesh) -> float:
    """Time the first computation of our tree."""
    paths = told(links)
    return _milliseconds(paths.compute)


def one_change_ms(links: Mesh) -> float:
    """Time the computation of our tree after one cost changed."""
    paths = told(links)
    paths.compute()
    return statistics.median(_milliseconds(paths.compute) for _ in changes(paths, links, 10 * CHANGES))


def all_origins_ms(links: Mesh) -> float:
    """Time the computation of all trees of origins."""
    paths = told(links)
    paths.compute()
    return _milliseconds(lambda: compute_origins(paths))


def origins_after_one_change_ms(links: Mesh) -> float:
    """Time the computation of those trees that one changed cost may affect."""
    paths = known(links)
    return statistics.median(_milliseconds(lambda: compute_origins(paths)) for _ in changes(paths, links, CHANGES))


def known_bytes(links: Mesh) -> float:
    """Weigh what a router keeps of its mesh, the trees of all origins included."""
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = known(links)
    gc.collect()
    weight = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert kept.routes()
    return weight


def changes(paths: Paths, links: Mesh, count: int) -> Iterator[None]:
    """Change the cost of a link in one of its directions, `count` times."""
    chance = Random(2)
    links = {router: dict(costs) for router, costs in links.items()}
    for _ in range(count):
        router = chance.choice(list(links))
        links[router][chance.choice(list(links[router]))] = chance.randint(1, COST_MAX)
        paths.set_links(router, links[router])
        yield


def rows(routers: int = ROUTERS, trunks: int = TRUNKS) -> list[Row]:
    """Measure everything; the median of some runs."""
    links = mesh(routers, trunks)
    return [
        _time_row("full computation", full_computation_ms, links, 50),
        _time_row("one cost change", one_change_ms, links, 5),
        _time_row("all origins", all_origins_ms, links),
        _time_row("origins after one cost change", origins_after_one_change_ms, links),
        Row("memory with all origins", known_bytes(links) / MIB, "MiB", 30, at_most=True),
    ]


def _time_row(case: str, measure: Callable[[Mesh], float], links: Mesh, target: float | None = None) -> Row:
    return Row(case, statistics.median(measure(links) for _ in range(REPETITIONS)), "ms", target, at_most=True)


def _milliseconds(call: Callable[[], object]) -> float:
    started = time.perf_counter()
    call()
    return (time.perf_counter() - started) * 1e3
