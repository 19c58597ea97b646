"""Where routers stand on a plane: on a circle at first, then moved by forces; the same graph always looks the same.

Routers push each other away, near ones most, and trunks draw them together, after the method of Fruchterman and
Reingold; all are drawn to the middle a little, so that the parts of a broken network stay in sight. What could be by
chance, the first push off a balance, comes from the ids.
"""

import math
from collections.abc import Mapping, Sequence
from zlib import crc32

from routerd.cli.manage.network_map.graph import Graph

STEPS_MAX = 300
WORK_MAX = 3_000_000
"""Pairs of routers that are looked at in all steps together: large networks have fewer steps."""
_FIRST_REACH = 0.2
_GRAVITY = 0.12
_JITTER = 0.01

Place = tuple[float, float]


def places(graph: Graph) -> dict[str, Place]:
    """Return where each router stands, a trunk being about 1 long."""
    names = _in_order(graph)
    count = len(names)
    if count == 1:
        return {names[0]: (0.0, 0.0)}
    radius = 0.5 / math.sin(math.pi / count)
    # With an even number two stand on top, side by side, with an odd one only the first.
    start = -math.pi / 2 - (math.pi / count if count % 2 == 0 else 0.0)
    angles = [start + 2 * math.pi * number / count for number in range(count)]
    points = [
        [radius * math.cos(angle) + _jitter(name, "x"), radius * math.sin(angle) + _jitter(name, "y")]
        for name, angle in zip(names, angles, strict=True)
    ]
    place = {name: number for number, name in enumerate(names)}
    trunks = [(place[trunk.one], place[trunk.other]) for trunk in graph.trunks]
    steps = max(20, min(STEPS_MAX, WORK_MAX // (count * count))) if count > 4 else 0
    reach = _FIRST_REACH * max(1.0, radius)
    for step in range(steps):
        _move(points, trunks, reach * (1 - step / steps))
    return {name: (x, y) for name, (x, y) in zip(names, points, strict=True)}


def _in_order(graph: Graph) -> list[str]:
    """Return the routers so that neighbours follow each other where they can: a ring is drawn as one."""
    neighbours: Mapping[str, set[str]] = {router.id: set() for router in graph.routers}
    for trunk in graph.trunks:
        neighbours[trunk.one].add(trunk.other)
        neighbours[trunk.other].add(trunk.one)
    order: dict[str, None] = {}
    waiting = sorted(neighbours, reverse=True)
    while waiting:
        name = waiting.pop()
        if name not in order:
            order[name] = None
            waiting += sorted(neighbours[name] - order.keys(), reverse=True)
    return list(order)


def _jitter(name: str, axis: str) -> float:
    return _JITTER * (crc32(f"{axis}{name}".encode()) / 0xFFFFFFFF - 0.5)


def _move(points: list[list[float]], trunks: Sequence[tuple[int, int]], reach: float) -> None:
    """Move every point by the forces on it, but no farther than `reach`."""
    pushes = [[0.0, 0.0] for _ in points]
    for at, (x, y) in enumerate(points):
        for other in range(at):
            across, down = x - points[other][0], y - points[other][1]
            cube = max(math.hypot(across, down), 0.01) ** 3
            _push(pushes, at, other, across / cube, down / cube)
    for one, other in trunks:
        across, down = points[other][0] - points[one][0], points[other][1] - points[one][1]
        length = math.hypot(across, down)
        _push(pushes, one, other, across * length, down * length)
    for point, push in zip(points, pushes, strict=True):
        x, y = push[0] - _GRAVITY * point[0], push[1] - _GRAVITY * point[1]
        strength = math.hypot(x, y)
        if strength > 0:
            step = min(strength, reach) / strength
            point[0] += x * step
            point[1] += y * step


def _push(pushes: list[list[float]], one: int, other: int, x: float, y: float) -> None:
    pushes[one][0] += x
    pushes[one][1] += y
    pushes[other][0] -= x
    pushes[other][1] -= y
