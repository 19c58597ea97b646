"""The configurations of the demo's three routers: A and C have a broker each, B is between them."""

from collections.abc import Mapping

QUEUE = "jobs"
ARCHIVE = "archive"
ROUTERS = ("A", "B", "C")
BROKERS = ("A", "C")
"""The routers that have one."""

_ROUTER = """\
router {{
    mode: interior
    id: {name}
}}
listener {{
    name: clients
    host: 127.0.0.1
    port: {clients}
    authenticatePeer: no
}}
listener {{
    name: routers
    role: inter-router
    host: 127.0.0.1
    port: {routers}
    authenticatePeer: no
}}
address {{
    prefix: {queue}
    waypoint: yes
}}
"""
_TRUNK = """\
connector {{
    name: {name}
    role: inter-router
    host: 127.0.0.1
    port: {port}
}}
"""
_BROKER = """\
connector {{
    name: broker
    role: route-container
    host: 127.0.0.1
    port: {port}
}}
"""
_SHARD = """\
autoLink {{
    address: {queue}
    direction: {direction}
    connection: broker
    externalAddress: /amq/queue/{queue}
}}
"""
_LINK_ROUTE = """\
linkRoute {{
    prefix: amq/queue/{archive}
    direction: {direction}
{place}}}
"""
_DIRECTIONS = ("in", "out")


def configurations(ports: Mapping[str, int], trunks: Mapping[str, int], brokers: Mapping[str, int]) -> dict[str, str]:
    """Return the text for each router, from the ports of clients and routers there, and of the brokers."""
    texts = {}
    for number, name in enumerate(ROUTERS):
        parts = [_ROUTER.format(name=name, clients=ports[name], routers=trunks[name], queue=QUEUE)]
        if number:
            before = ROUTERS[number - 1]
            parts.append(_TRUNK.format(name=before, port=trunks[before]))
        if name in brokers:
            parts.append(_BROKER.format(port=brokers[name]))
            parts += [_SHARD.format(queue=QUEUE, direction=direction) for direction in _DIRECTIONS]
        # Only A has the container. The others refuse such links while it is away.
        place = "    connection: broker\n" if name == ROUTERS[0] else ""
        parts += [
            _LINK_ROUTE.format(archive=ARCHIVE, direction=direction, place=place) for direction in _DIRECTIONS
        ]
        texts[name] = "".join(parts)
    return texts
