"""The columns of connections, links and addresses (5.2-5.4)."""

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter, not_
from typing import Any

from routerd.config.schema import CONNECTION, ROUTER_ADDRESS, ROUTER_LINK
from routerd.management.agent.columns import Always, Columns, Steps, uint_of, ulong_of
from routerd.management.agent.numbers import uint, ulong, whole
from routerd.management.rows import AddressRow, ConnectionRow, LinkRow

FABRIC, INNER = ("fabric", "inner")
"""Roles of what is the router's own, and is not shown among what clients have."""
_NOBODY = "anonymous"
_WITHOUT_USER = (None, "ANONYMOUS")
_ENDPOINT = "endpoint"
_HISTOGRAM_SIZE = 128
_OTHER_ROUTERS = [ulong(0)] * (_HISTOGRAM_SIZE - 1)


def is_of_client(row: ConnectionRow | LinkRow) -> bool:
    """Whether something is at a peer, and not between parts of the router."""
    return row.role not in (FABRIC, INNER)


def halves_joined(rows: Sequence[LinkRow]) -> list[LinkRow]:
    """Return the links of clients. Halves of a routed link at two workers get each other as peers.

    They are found by the unique name that a routed link has between workers.
    """
    fabric: dict[str, list[LinkRow]] = {}
    for row in rows:
        if row.role == FABRIC and row.peer is not None:
            fabric.setdefault(row.name, []).append(row)
    beyond: dict[int, int | None] = {}
    for ends in fabric.values():
        for one in ends:
            for other in ends:
                if other.worker != one.worker:
                    beyond[one.link] = other.peer
    return [row._replace(peer=beyond[row.peer]) if row.peer in beyond else row for row in rows if is_of_client(row)]


def _user(row: ConnectionRow) -> str | None:
    is_nobody = row.user is None and row.is_incoming and row.mechanism in _WITHOUT_USER
    return _NOBODY if is_nobody else row.user


def _plain(properties: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return the properties of a connection that tools can show."""
    return {
        key: value
        for key, value in properties.items()
        if isinstance(key, str) and isinstance(value, str | int) and not isinstance(value, bool)
    }


def _last_delivery(row: ConnectionRow) -> Any:
    return None if row.last_delivery_s is None else uint(row.last_delivery_s)


_CONNECTION, _HOST = attrgetter("connection"), attrgetter("host")
_IN_OR_OUT = {True: "in", False: "out"}.__getitem__
_OUT_OR_IN = {True: "out", False: "in"}.__getitem__
_UP_OR_DOWN = {True: "up", False: "down"}.__getitem__

CONNECTION_COLUMNS: Columns = {
    "name": Steps(_HOST, "connection/".__add__),
    "identity": Steps(_CONNECTION, str),
    "host": _HOST,
    "role": attrgetter("role"),
    "protocol": Always("amqp"),
    "dir": Steps(attrgetter("is_incoming"), _IN_OR_OUT),
    "container": attrgetter("container"),
    "sasl": attrgetter("mechanism"),
    "isAuthenticated": lambda row: row.mechanism is not None,
    "user": _user,
    "isEncrypted": attrgetter("is_encrypted"),
    "sslProto": attrgetter("tls_protocol"),
    "sslCipher": attrgetter("tls_cipher"),
    "properties": Steps(attrgetter("properties"), _plain),
    "sslSsf": attrgetter("tls_ssf"),
    "tenant": lambda row: None if row.tenant is None else f"{row.tenant}/",
    "type": Always(CONNECTION.full_name),
    "ssl": attrgetter("is_encrypted"),
    "opened": attrgetter("is_open"),
    "active": Steps(attrgetter("is_in_reserve"), not_),
    "adminStatus": Always("enabled"),
    "operStatus": Always("up"),
    "uptimeSeconds": Steps(attrgetter("uptime_s"), int, uint),
    "lastDlvSeconds": _last_delivery,
    "enableProtocolTrace": attrgetter("is_traced"),
}


def _histogram(row: LinkRow) -> list[Any] | None:
    if not row.is_outgoing or row.kind != _ENDPOINT:
        return None
    return [ulong(row.presettled + row.accepted + row.rejected + row.released + row.modified), *_OTHER_ROUTERS]


LINK_COLUMNS: Columns = {
    "name": attrgetter("name"),
    "identity": Steps(attrgetter("link"), str),
    "type": Always(ROUTER_LINK.full_name),
    "linkName": attrgetter("name"),
    "linkType": attrgetter("kind"),
    "linkDir": Steps(attrgetter("is_outgoing"), _OUT_OR_IN),
    "owningAddr": attrgetter("address"),
    "capacity": uint_of("capacity"),
    "peer": lambda row: None if row.peer is None else str(row.peer),
    "undeliveredCount": ulong_of("undelivered"),
    "unsettledCount": ulong_of("unsettled"),
    "deliveryCount": ulong_of("deliveries"),
    "connectionId": Steps(_CONNECTION, str),
    "adminStatus": Always("enabled"),
    "operStatus": Steps(attrgetter("is_up"), _UP_OR_DOWN),
    "presettledCount": lambda row: ulong(row.presettled + row.dropped_presettled),
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
    "abortedCount": ulong_of("aborted"),
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
                container_in=total.container_in + row.container_in,
                container_out=total.container_out + row.container_out,
                containers=total.containers + row.containers,
                redirected=total.redirected + row.redirected,
            )
    return list(found.values())


def _is_inner(row: AddressRow) -> bool:
    """Return whether all consumers of an address are endpoints inside the router."""
    return row.inner_consumers > 0 and not row.consumers


def _outstanding(routes: Sequence[int]) -> list[Any] | None:
    return [ulong(one) for one in routes] if routes else None


_KEY, _REMOTE_ROUTERS = attrgetter("key"), attrgetter("remote_routers")
_NONE = Always(ulong(0))

ADDRESS_COLUMNS: Columns = {
    "name": _KEY,
    "identity": _KEY,
    "type": Always(ROUTER_ADDRESS.full_name),
    "key": _KEY,
    "distribution": attrgetter("distribution"),
    "inProcess": uint_of("inner_consumers"),
    "subscriberCount": uint_of("consumers"),
    "remoteCount": Steps(_REMOTE_ROUTERS, len, uint),
    "containerCount": uint_of("containers"),
    "remoteHostRouters": Steps(_REMOTE_ROUTERS, list),
    "deliveriesIngress": ulong_of("ingress"),
    "deliveriesEgress": lambda row: ulong(0 if _is_inner(row) else row.egress),
    "deliveriesTransit": ulong_of("transit"),
    "deliveriesToContainer": lambda row: ulong(row.egress if _is_inner(row) else 0),
    "deliveriesFromContainer": _NONE,
    "deliveriesEgressRouteContainer": ulong_of("container_out"),
    "deliveriesIngressRouteContainer": ulong_of("container_in"),
    "transitOutstanding": Steps(attrgetter("outstanding"), _outstanding),
    "trackedDeliveries": Always(0),
    "priority": Steps(attrgetter("priority"), whole),
    "deliveriesRedirectedToFallback": ulong_of("redirected"),
}
