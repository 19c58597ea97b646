"""What the general view has of the network: its routers, and how the connectors fare (5.5, 5.7)."""

from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Any

from routerd.management.agent.columns import Columns
from routerd.management.agent.numbers import whole
from routerd.management.agent.router_columns import AREA
from routerd.management.rows import ConnectorRow, NodeRow

_OWN = "(self)"
_INITIALIZING = "INITIALIZING"
"""Of a connector that no worker has begun with."""


def node_address(row: NodeRow) -> str:
    """Return what the addresses of a router begin with, wherever in the network they are used."""
    return f"amqp:/_topo/{AREA}/{row.id}"


def _whole_or_none(value: float | None) -> int | None:
    return None if value is None else whole(value)


NODE_COLUMNS: Columns = {
    "id": attrgetter("id"),
    "protocolVersion": lambda row: whole(row.protocol_version),
    "instance": lambda row: whole(row.instance),
    "linkState": lambda row: list(row.link_state),
    "nextHop": lambda row: _OWN if row.is_own else row.next_hop,
    "validOrigins": lambda row: list(row.valid_origins),
    "address": node_address,
    "routerLink": lambda row: None if row.router_link is None else str(row.router_link),
    "cost": lambda row: _whole_or_none(row.cost),
    "lastTopoChange": lambda row: _whole_or_none(row.last_topology_change),
    "index": lambda row: whole(row.index),
}


def connector_states(rows: Iterable[ConnectorRow]) -> Mapping[str, Mapping[str, Any]]:
    """Return the attributes that tell how connectors fare, by identity."""
    return {
        row.identity: {
            "connectionStatus": row.status,
            "connectionMsg": row.message or None,
            "failoverUrls": row.failover_urls or None,
        }
        for row in rows
    }


UNKNOWN_STATE: Mapping[str, Any] = {"connectionStatus": _INITIALIZING, "connectionMsg": None, "failoverUrls": None}
