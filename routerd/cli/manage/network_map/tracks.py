"""Where trunks run beside a column of routers: each on a track, from a row of the one router to a row of the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from routerd.cli.manage.network_map.graph import Graph, Trunk


@dataclass(frozen=True, slots=True)
class Run:
    """One trunk: its track, from 0 beside the routers, and its rows in the boxes of its upper and lower router."""

    trunk: Trunk
    upper: int
    lower: int
    track: int
    upper_port: int
    lower_port: int


def runs_of(graph: Graph) -> list[Run]:
    """Return how the trunks run past the routers in their order.

    Short ones are nearest. At a router those that lead up come first, the nearest on top; then those that lead down,
    the farthest on top: so no two trunks of a router cross each other.
    """
    place = {router.id: number for number, router in enumerate(graph.routers)}
    spans = sorted(
        ((*_ordered(place[trunk.one], place[trunk.other]), trunk) for trunk in graph.trunks),
        key=lambda span: (span[1] - span[0], span[0]),
    )
    tracks = _tracks([(upper, lower) for upper, lower, _ in spans])
    ports: dict[tuple[int, int], int] = {}
    for router in place.values():
        up = [number for number, span in enumerate(spans) if span[1] == router]
        down = [number for number, span in enumerate(spans) if span[0] == router]
        up.sort(key=lambda number: tracks[number])
        down.sort(key=lambda number: -tracks[number])
        ports |= {(router, number): port for port, number in enumerate([*up, *down])}
    return [
        Run(trunk, upper, lower, tracks[number], ports[upper, number], ports[lower, number])
        for number, (upper, lower, trunk) in enumerate(spans)
    ]


def _ordered(one: int, other: int) -> tuple[int, int]:
    return min(one, other), max(one, other)


def _tracks(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return for each span the nearest track that no earlier one needs between the same routers."""
    taken: list[list[tuple[int, int]]] = []
    chosen = []
    for upper, lower in spans:
        # One may begin at the router at which another ends: its row there is a lower one.
        free = (
            number
            for number, others in enumerate(taken)
            if all(lower <= other[0] or other[1] <= upper for other in others)
        )
        track = next(free, len(taken))
        if track == len(taken):
            taken.append([])
        taken[track].append((upper, lower))
        chosen.append(track)
    return chosen
