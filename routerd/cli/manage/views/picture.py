"""The network as a picture: --map."""

from routerd.cli.manage.figures import duration, grouped, or_dash
from routerd.cli.manage.network_map.graph import Graph, Health, RouterPoint, Trunk
from routerd.cli.manage.network_map.survey import survey
from routerd.cli.manage.network_map.text import drawn
from routerd.cli.manage.node import Entity, Node
from routerd.cli.manage.table import NUMBER, TEXT, Block, Column, Drawing, of, tabulate
from routerd.cli.manage.views.view import Ask

ROUTER_COLUMNS: tuple[Column, ...] = (
    of("id", "router-id"),
    of("state"),
    of("isAsked", "asked", TEXT, lambda value: "yes" if value else "no"),
    of("cost", "cost", NUMBER, or_dash),
    of("connections", "conns", NUMBER, grouped),
    of("addresses", "addrs", NUMBER, grouped),
    of("stuck", "stuck", NUMBER, grouped, is_trouble=True),
    of("blocked", "blkd", NUMBER, grouped, is_trouble=True),
    of("uptime", "uptime", NUMBER, duration),
    of("version"),
    of("edges", "edges", TEXT, ", ".join),
)
TRUNK_COLUMNS: tuple[Column, ...] = (
    of("one", "router"),
    of("other", "neighbor"),
    of("state"),
    of("costs", "costs", TEXT, lambda costs: "/".join(map(str, costs)) or "?"),
    of("connections", "conns", NUMBER),
    of("lost", "lost", NUMBER, is_trouble=True),
)


def map_blocks(graph: Graph, *, is_verbose: bool = False) -> list[Block]:
    """Return the picture of a network, which has its routers and trunks as tables."""
    routers = tabulate("Routers", ROUTER_COLUMNS, list(map(_router_entity, graph.routers)), key=lambda one: one["id"])
    trunks = tabulate(
        "Trunks", TRUNK_COLUMNS, list(map(_trunk_entity, graph.trunks)), key=lambda one: (one["one"], one["other"])
    )
    return [Drawing(title="Map", lines=drawn(graph), tables=(routers, trunks), is_verbose=is_verbose)]


def _router_entity(router: RouterPoint) -> Entity:
    health = router.health or Health()
    return {
        "id": router.id,
        "state": router.state.value,
        "isAsked": router.is_asked,
        "cost": router.path_cost,
        "connections": health.connections,
        "addresses": health.addresses,
        "stuck": health.stuck,
        "blocked": health.blocked,
        "uptime": health.uptime_s,
        "version": health.version,
        "edges": [edge.id for edge in router.edges],
    }


def _trunk_entity(trunk: Trunk) -> Entity:
    return {
        "one": trunk.one,
        "other": trunk.other,
        "state": trunk.state.value,
        "costs": list(trunk.costs),
        "connections": trunk.connections,
        "lost": trunk.lost_connections,
    }


def fetch_map(node: Node, ask: Ask) -> list[Block]:
    """Return what --map shows."""
    return map_blocks(survey(node), is_verbose=ask.is_verbose)
