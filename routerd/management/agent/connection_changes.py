"""Changes to a connection: its end, and the trace of its frames (3.5)."""

from collections.abc import Mapping, Sequence
from typing import Any

from routerd.config.schema import CONNECTION, ValueRefused, convert
from routerd.management.agent.call import Call
from routerd.management.agent.columns import as_map
from routerd.management.agent.refusals import BadRequest, Forbidden
from routerd.management.agent.traffic_columns import CONNECTION_COLUMNS
from routerd.management.backing import Backing
from routerd.management.rows import ConnectionRow

_STATUS, _TRACE = ("adminStatus", "enableProtocolTrace")
_KEPT_ROLES = ("inter-router", "edge")


async def update_connection(call: Call, backing: Backing, rows: Sequence[ConnectionRow]) -> dict[str, Any]:
    """Do what a request wants of a connection, and return the connection as it is then."""
    is_traced, is_to_end = _changes(call.body)
    row = next((one for one in rows if str(one.connection) == call.identity), None)
    if row is None:
        raise BadRequest("Bad Request")
    if is_to_end and row.role in _KEPT_ROLES:
        raise Forbidden("You are not allowed to perform this operation.")
    shown = as_map(CONNECTION_COLUMNS, row)
    if is_traced is not None:
        if not await backing.set_trace(row.connection, is_traced):
            raise BadRequest("Bad Request")
        shown[_TRACE] = is_traced
    if is_to_end:
        if not await backing.close_connection(row.connection):
            raise BadRequest("Bad Request")
        shown |= {_STATUS: "deleted", "operStatus": "closing"}
    return shown


def _changes(body: object) -> tuple[bool | None, bool]:
    """Return whether the trace is to be switched on or off, if it is, and whether the connection is to end."""
    if not isinstance(body, Mapping) or not body or not body.keys() <= {_STATUS, _TRACE}:
        raise BadRequest("Bad Request")
    if _STATUS in body and body[_STATUS] != "deleted":
        raise BadRequest("Bad Request")
    try:
        is_traced = convert(CONNECTION.attributes[_TRACE], body[_TRACE]) if _TRACE in body else None
    except ValueRefused:
        raise BadRequest("Bad Request") from None
    return is_traced, _STATUS in body
