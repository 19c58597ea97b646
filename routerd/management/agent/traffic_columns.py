"""The columns of connections, links and addresses (5.2-5.4)."""

from collections.abc import Iterable
from operator import attrgetter
from typing import Any

from routerd.management.agent.columns import Columns, always, nothing, uint_of, ulong_of
from routerd.management.agent.numbers import uint, ulong, whole
from routerd.management.rows import AddressRow, ConnectionRow, LinkRow
from routerd.management.schema.connections import CONNECTION
from routerd.management.schema.traffic import ROUTER_ADDRESS, ROUTER_LINK

FABRIC, INNER = ("fabric", "inner")
"""Roles of what is the router's own, and is not shown among what clients have."""
_ANONYMOUS = "ANONYMOUS"
_ENDPOINT = "endpoint"
_HISTOGRAM_SIZE = 128
_OTHER_ROUTERS = [ulong(0)] * (_HISTOGRAM_SIZE - 1)


def is_of_client(row: ConnectionRow | LinkRow) -> bool:
    """Whether something is at a peer, and not between parts of the router."""
    return row.role not in (FABRIC, INNER)


def _connection_name(row: ConnectionRow) -> str:
    return f"connection/{row.host}"


def _user(row: ConnectionRow) -> str | None:
    return "anonymous" if row.user is None and row.mechanism == _ANONYMOUS else row.user


def _properties(row: ConnectionRow) -> dict[Any, Any]:
    return {
        key: value
        for key, value in row.properties.items()
        if isinstance(key, str) and isinstance(value, str | int) and not isinstance(value, bool)
    }


def _last_delivery(row: ConnectionRow) -> Any:
    return None if row.last_delivery_s is None else uint(row.last_delivery_s)


CONNECTION_COLUMNS: Columns = {
    "name": _connection_name,
    "identity": lambda row: str(row.connection),
    "host": attrgetter("host"),
    "role": attrgetter("role"),
    "protocol": always("amqp"),
    "dir": lambda row: "in" if row.is_incoming else "out",
    "container": attrgetter("container"),
    "sasl": attrgetter("mechanism"),
    "isAuthenticated": lambda row: row.mechanism is not None,
    "user": _user,
    "isEncrypted": attrgetter("is_encrypted"),
    "sslProto": attrgetter("tls_protocol"),
    "sslCipher": attrgetter("tls_cipher"),
    "properties": _properties,
    "sslSsf": attrgetter("tls_ssf"),
    "tenant": lambda row: None if row.tenant is None else f"{row.tenant}/",
    "type": always(CONNECTION.full_name),
    "ssl": attrgetter("is_encrypted"),
    "opened": attrgetter("is_open"),
    "active": lambda row: not row.is_in_reserve,
    "adminStatus": always("enabled"),
    "operStatus": always("up"),
    "uptimeSeconds": uint_of("uptime_s"),
    "lastDlvSeconds": _last_delivery,
    "enableProtocolTrace": attrgetter("is_traced"),
}


def _histogram(row: LinkRow) -> list[Any] | None:
    if not row.is_outgoing or row.kind != _ENDPOINT:
        return None
    return [ulong(row.presettled + row.accepted + row.rejected + row.released + row.modified), *_OTHER_ROUTERS]


LINK_COLUMNS: Columns = {
    "name": attrgetter("name"),
    "identity": lambda row: str(row.link),
    "type": always(ROUTER_LINK.full_name),
    "linkName": attrgetter("name"),
    "linkType": attrgetter("kind"),
    "linkDir": lambda row: "out" if row.is_outgoing else "in",
    "owningAddr": attrgetter("address"),
    "capacity": uint_of("capacity"),
    "peer": nothing,
    "undeliveredCount": ulong_of("undelivered"),
    "unsettledCount": ulong_of("unsettled"),
    "deliveryCount": ulong_of("deliveries"),
    "connectionId": lambda row: str(row.connection),
    "adminStatus": always("enabled"),
    "operStatus": always("up"),
    "presettledCount": ulong_of("presettled"),
    "droppedPresettledCount": ulong_of("dropped_presettled"),
    "acceptedCount": ulong_of("accepted"),
    "rejectedCount": ulong_of("rejected"),
    "releasedCount": ulong_of("released"),
    "modifiedCount": ulong_of("modified"),
    "deliveriesDelayed1Sec": ulong_of("delayed_1s"),
    "deliveriesDelayed10Sec": ulong_of("delayed_10s"),
    "deliveriesStuck": ulong_of("stuck"),
    "ingressHistogram": _histogram,
    "priority": uint_of("priority"),
    "settleRate": uint_of("settle_rate"),
    "creditAvailable": uint_of("credit"),
    "zeroCreditSeconds": uint_of("zero_credit_s"),
}


def address_sums(rows: Iterable[AddressRow]) -> list[AddressRow]:
    """Return each address once, with what its workers have of it together."""
    found: dict[str, AddressRow] = {}
    for row in rows:
        total = found.setdefault(row.key, row)
        if total is not row:
            found[row.key] = total._replace(
                inner_consumers=total.inner_consumers + row.inner_consumers,
                consumers=total.consumers + row.consumers,
                remote_routers=total.remote_routers or row.remote_routers,
                outstanding=total.outstanding + row.outstanding,
                ingress=total.ingress + row.ingress,
                egress=total.egress + row.egress,
                transit=total.transit + row.transit,
            )
    return list(found.values())


def _is_inner(row: AddressRow) -> bool:
    """Return whether all consumers of an address are endpoints inside the router."""
    return row.inner_consumers > 0 and not row.consumers


_KEY = attrgetter("key")
_NONE = always(ulong(0))

ADDRESS_COLUMNS: Columns = {
    "name": _KEY,
    "identity": _KEY,
    "type": always(ROUTER_ADDRESS.full_name),
    "key": _KEY,
    "distribution": attrgetter("distribution"),
    "inProcess": uint_of("inner_consumers"),
    "subscriberCount": uint_of("consumers"),
    "remoteCount": lambda row: uint(len(row.remote_routers)),
    "containerCount": always(uint(0)),
    "remoteHostRouters": lambda row: list(row.remote_routers),
    "deliveriesIngress": ulong_of("ingress"),
    "deliveriesEgress": lambda row: ulong(0 if _is_inner(row) else row.egress),
    "deliveriesTransit": ulong_of("transit"),
    "deliveriesToContainer": lambda row: ulong(row.egress if _is_inner(row) else 0),
    "deliveriesFromContainer": _NONE,
    "deliveriesEgressRouteContainer": _NONE,
    "deliveriesIngressRouteContainer": _NONE,
    "transitOutstanding": lambda row: [ulong(one) for one in row.outstanding] or None,
    "trackedDeliveries": always(0),
    "priority": lambda row: whole(row.priority),
    "deliveriesRedirectedToFallback": _NONE,
}
