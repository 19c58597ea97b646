"""A mesh: messages over several routers, addresses of others, paths, many edge routers, and how its cost grows."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from bench.load_runs import LoadFailed, Loadgen
from bench.mesh import addresses, edges, growth, memory, paths, routers
from bench.report import Row
from bench.router import QUICK, THOROUGH, Effort


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured."""

    effort: Effort
    """Of each measurement with clients."""
    addresses: int
    sizes: tuple[int, ...]
    """Of the meshes that are simulated."""
    edges: int
    loadgen: Loadgen | None = None


CASES: dict[str, Callable[[Scale], list[Row]]] = {
    "two-routers": lambda scale: routers.two_routers(scale.effort, scale.loadgen),
    "hops": lambda scale: routers.hops(scale.effort),
    "addresses": lambda scale: addresses.rows(scale.addresses),
    "memory": lambda scale: memory.rows(scale.addresses),
    "paths": lambda scale: paths.rows(),
    "edges": lambda scale: edges.rows(scale.edges),
    "growth": lambda scale: growth.rows(scale.sizes),
}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options of this benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench mesh", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short repetition and less of all, for development")
    parser.add_argument("--case", action="append", choices=CASES, help="only this one; may be given again")
    parser.add_argument(
        "--size", action="append", type=int, metavar="N", help="of a mesh to simulate; 1000 takes a quarter of an hour"
    )
    parser.add_argument("--loadgen", metavar="PATH", help="a build of loadgen.c, for a second opinion")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace | None = None) -> list[Row]:
    """Measure every case, or those that were asked for."""
    options = options or parse([])
    scale = Scale(THOROUGH, addresses.ADDRESSES, growth.SIZES, edges.EDGES)
    if options.quick:
        scale = Scale(QUICK, 10_000, (10, 50), 200)
    if options.size:
        scale = replace(scale, sizes=tuple(options.size))
    if options.loadgen:
        scale = replace(scale, loadgen=Loadgen(options.loadgen))
    return [row for case in options.case or CASES for row in _rows_of(case, scale)]


def _rows_of(case: str, scale: Scale) -> list[Row]:
    try:
        return CASES[case](scale)
    except LoadFailed as error:
        # The other cases are worth having all the same.
        print(f"{case}: {error}", file=sys.stderr)
        return []
