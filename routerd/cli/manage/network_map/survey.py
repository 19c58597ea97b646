"""Asks the routers of a network how they fare, each at its own management, through the router at hand."""

from routerd.cli.manage.failures import BadAnswer, NoAnswer, Refused
from routerd.cli.manage.network_map.assembly import Answer, assembled, id_in, is_reachable
from routerd.cli.manage.network_map.graph import Graph
from routerd.cli.manage.node import PREFIX, Node, node_address

PATIENCE_S = 2.0
LITTLE_PATIENCE_S = 0.25
SILENT_MAX = 3
"""So many routers are waited for in full; when part of a network hangs, the others get less."""

_ROUTER = PREFIX + "router"
_NODE = PREFIX + "router.node"
_CONNECTION = PREFIX + "connection"
_CONNECTION_ATTRIBUTES = ("identity", "role", "container", "dir", "properties", "active")
_ROLES = ("inter-router", "edge")


def survey(node: Node) -> Graph:
    """Return the network as its routers tell it; ToolFailed if the one that is connected to does not."""
    own = _ask(node)
    asked = id_in(own)
    answers = {asked: own}
    silent = 0
    for row in own.nodes:
        router = str(row.get("id"))
        if router in answers or not is_reachable(row):
            continue
        patience_s = PATIENCE_S if silent < SILENT_MAX else LITTLE_PATIENCE_S
        try:
            answers[router] = _ask(node.at(node_address(router=router), patience_s))
        except (NoAnswer, BadAnswer, Refused):
            silent += 1
    return assembled(asked, answers)


def _ask(node: Node) -> Answer:
    return Answer(
        router=next(iter(node.query(_ROUTER)), {}),
        nodes=tuple(node.query(_NODE)),
        connections=tuple(row for row in node.query(_CONNECTION, _CONNECTION_ATTRIBUTES) if row.get("role") in _ROLES),
        connectors=tuple(row for row in node.query(PREFIX + "connector") if row.get("role") == "inter-router"),
        listeners=tuple(row for row in node.query(PREFIX + "listener") if row.get("role") == "inter-router"),
    )
