"""The routers of the network: -n, and the addresses in use: -a."""

import time
from typing import Any

from routerd.cli.manage.figures import grouped, names, or_dash, plain
from routerd.cli.manage.node import PREFIX, Entity, Node
from routerd.cli.manage.table import COUNTER, NUMBER, TEXT, Block, Column, Message, Table, of, tabulate
from routerd.cli.manage.views.keys import LINK_ROUTED, address_class, address_phase, address_text
from routerd.cli.manage.views.view import Ask

NODE = PREFIX + "router.node"
ADDRESS = PREFIX + "router.address"

NODE_COLUMNS: tuple[Column, ...] = (
    of("id", "router-id"),
    of("nextHop", "next-hop", TEXT, or_dash),
    Column("link", lambda node: node.get("routerLink") if node.get("nextHop") is None else None, (), TEXT, or_dash),
    of("protocolVersion", "ver", is_verbose=True),
    Column("cost", lambda node: node.get("cost"), (), NUMBER, is_verbose=True),
    of("linkState", "neighbors", TEXT, names, is_verbose=True),
    of("validOrigins", "valid-origins", TEXT, names, is_verbose=True),
)


def _local(address: Entity) -> Any:
    is_link_routed = str(address.get("name"))[:1] in LINK_ROUTED
    return address.get("containerCount" if is_link_routed else "subscriberCount")


def _priority(value: Any) -> str:
    return "-" if not isinstance(value, int) or value < 0 else plain(value)


ADDRESS_COLUMNS: tuple[Column, ...] = (
    Column("class", lambda address: address_class(address.get("name")), ("name",)),
    Column("addr", lambda address: address_text(address.get("name")), ("name",)),
    Column("phs", lambda address: address_phase(address.get("name")), ("name",)),
    of("distribution", "distrib"),
    of("priority", "pri", NUMBER, _priority),
    of("inProcess", "in-proc", NUMBER, grouped, is_verbose=True),
    Column("local", _local, ("subscriberCount",), NUMBER, grouped),
    of("remoteCount", "remote", NUMBER, grouped),
    of("deliveriesIngress", "in", COUNTER, grouped),
    of("deliveriesEgress", "out", COUNTER, grouped),
    of("deliveriesTransit", "thru", COUNTER, grouped),
    Column(
        "fallback",
        lambda address: address.get("deliveriesRedirectedToFallback"),
        (),
        COUNTER,
        lambda value: "-" if value is None else grouped(value),
    ),
    of("deliveriesToContainer", "to-proc", COUNTER, grouped, is_verbose=True),
    of("deliveriesFromContainer", "from-proc", COUNTER, grouped, is_verbose=True),
)
_ADDRESS_ATTRIBUTES = (
    *("distribution", "inProcess", "subscriberCount", "remoteCount", "containerCount", "deliveriesIngress"),
    *("deliveriesEgress", "deliveriesRedirectedToFallback", "deliveriesTransit", "deliveriesToContainer"),
    *("deliveriesFromContainer", "name", "priority"),
)


def nodes_blocks(nodes: list[Entity], *, is_verbose: bool = False) -> list[Block]:
    """Return the routers by their ids, and when they last changed."""
    if not nodes:
        return [Message(("Router is Standalone - No Router List",), "Routers in the Network")]
    table = tabulate(
        "Routers in the Network",
        NODE_COLUMNS,
        sorted(nodes, key=lambda node: str(node.get("id"))),
        is_verbose=is_verbose,
        key=lambda node: node.get("id"),
    )
    changed = max(float(node.get("lastTopoChange") or 0) for node in nodes)
    note = f"Last Topology Change: {time.strftime('%A %b %d %H:%M:%S %Y', time.gmtime(changed))} GMT"
    return [_noted(table, note) if changed > 1 else table]


def _noted(table: Table, note: str) -> Table:
    return Table(title=table.title, heads=table.heads, rows=table.rows, keys=table.keys, note=note)


def addresses_table(addresses: list[Entity], *, is_verbose: bool = False) -> Table:
    """Return the addresses by their texts."""
    return tabulate(
        "Router Addresses",
        ADDRESS_COLUMNS,
        sorted(addresses, key=lambda address: address_text(address.get("name"))),
        is_verbose=is_verbose,
    )


def fetch_nodes(node: Node, ask: Ask) -> list[Block]:
    """Return what -n shows."""
    return nodes_blocks(node.query(NODE, limit=ask.limit), is_verbose=ask.is_verbose)


def fetch_addresses(node: Node, ask: Ask) -> list[Block]:
    """Return what -a shows."""
    return [addresses_table(node.query(ADDRESS, _ADDRESS_ATTRIBUTES, ask.limit), is_verbose=ask.is_verbose)]
