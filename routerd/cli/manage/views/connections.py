"""Connections: -c, and those of edge routers: -e."""

from typing import Any

from routerd.cli.manage.figures import duration, or_dash
from routerd.cli.manage.node import PREFIX, Entity, Node
from routerd.cli.manage.table import NUMBER, TEXT, Block, Column, Message, Table, of, tabulate
from routerd.cli.manage.views.view import Ask

CONNECTION = PREFIX + "connection"
_MECHANISMS = {"EXTERNAL": "x.509", "GSSAPI": "Kerberos"}


def security(connection: Entity) -> str:
    """Return how a connection is encrypted."""
    if not connection.get("isEncrypted"):
        return "no-security"
    if connection.get("sasl") == "GSSAPI":
        return "Kerberos"
    return f"{connection.get('sslProto')}({connection.get('sslCipher')})"


def authentication(connection: Entity) -> str:
    """Return how it is known who is at the other end."""
    if not connection.get("isAuthenticated"):
        return "no-auth"
    mechanism = connection.get("sasl")
    if mechanism == "ANONYMOUS":
        return "anonymous-user"
    shown = _MECHANISMS.get(str(mechanism), or_dash(mechanism))
    user = connection.get("user")
    return f"{user}({shown})" if user else shown


def tenant(connection: Entity) -> Any:
    """Return the virtual host whose addresses a connection uses."""
    name = connection.get("tenant")
    return name.removesuffix("/") if isinstance(name, str) else name


_ID = of("identity", "id")
_SECURITY = Column("security", security, ("isEncrypted",))
_AUTHENTICATION = Column("authentication", authentication, ("isAuthenticated",))
_TENANT = Column("tenant", tenant, ("tenant",))

COLUMNS: tuple[Column, ...] = (
    _ID,
    of("host"),
    of("container"),
    of("role"),
    of("protocol", "proto"),
    of("dir"),
    _SECURITY,
    _AUTHENTICATION,
    _TENANT,
    of("lastDlvSeconds", "last dlv", NUMBER, duration),
    of("uptimeSeconds", "uptime", NUMBER, duration),
)
EDGE_COLUMNS: tuple[Column, ...] = (
    _ID,
    of("host"),
    of("container"),
    of("role"),
    of("dir"),
    _SECURITY,
    _AUTHENTICATION,
    _TENANT,
    of("active", "active", TEXT, lambda value: "yes" if value else "no"),
)


def connections_table(connections: list[Entity]) -> Table:
    """Return all connections."""
    return tabulate("Connections", COLUMNS, connections)


def edge_blocks(connections: list[Entity]) -> list[Block]:
    """Return the connections of edge routers among these."""
    if not connections:
        return [Message(("No Edge Router Connections",), "Edge Router Connections")]
    edges = [one for one in connections if one.get("role") == "edge"]
    return [tabulate("Edge Router Connections", EDGE_COLUMNS, edges)] if edges else []


def fetch_connections(node: Node, ask: Ask) -> list[Block]:
    """Return what -c shows."""
    return [connections_table(node.query(CONNECTION, limit=ask.limit))]


def fetch_edges(node: Node, ask: Ask) -> list[Block]:
    """Return what -e shows."""
    return edge_blocks(node.query(CONNECTION, limit=ask.limit))
