"""The columns of the types that only this router has."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

from routerd.management.agent.columns import Columns, Getter
from routerd.management.agent.numbers import whole
from routerd.management.agent.traffic_columns import FABRIC
from routerd.management.rows import ConnectionRow, LinkRow

_MICROSECONDS = 1_000_000


def _whole_of(attribute: str) -> Getter:
    read = attrgetter(attribute)
    return lambda row: whole(read(row))


def _sum_of(attribute: str, counter: str) -> Getter:
    read = attrgetter(attribute)
    return lambda row: whole(read(row)[counter])


ACTOR_COLUMNS: Columns = {
    "worker": _whole_of("worker"),
    "pid": _whole_of("pid"),
    "host": attrgetter("host"),
    "node": attrgetter("node"),
    "uptimeSeconds": _whole_of("uptime_s"),
    "restarts": _whole_of("restarts"),
    "connectionCount": _whole_of("connections"),
    "linkCount": _whole_of("links"),
    "addrCount": _whole_of("addresses"),
    "siblingCount": _whole_of("siblings"),
    "eventLoopLagMicroseconds": lambda row: whole(row.event_loop_lag_s * _MICROSECONDS),
    "eventLoopLagMaxMicroseconds": lambda row: whole(row.event_loop_lag_max_s * _MICROSECONDS),
    "bufferedOctets": _whole_of("buffered_octets"),
    "memoryUsage": _whole_of("memory_octets"),
    "deliveriesStuck": _whole_of("stuck"),
    "linksBlocked": _whole_of("links_blocked"),
    "authenticationFailures": _whole_of("authentication_failures"),
    "deliveriesIngress": _sum_of("ingress", "deliveries"),
    "deliveriesEgress": _sum_of("egress", "deliveries"),
    "deliveriesFabricIn": _sum_of("fabric_in", "deliveries"),
    "deliveriesFabricOut": _sum_of("fabric_out", "deliveries"),
    "presettledDeliveries": _sum_of("ingress", "presettled"),
    "droppedPresettledDeliveries": _whole_of("dropped_presettled"),
    "acceptedDeliveries": _sum_of("ingress", "accepted"),
    "rejectedDeliveries": _sum_of("ingress", "rejected"),
    "releasedDeliveries": _sum_of("ingress", "released"),
    "modifiedDeliveries": _sum_of("ingress", "modified"),
}


@dataclass(frozen=True, slots=True)
class FabricEnd:
    """One end of a link between two workers."""

    link: LinkRow
    sibling: int | None
    """The worker at the other end."""
    is_encrypted: bool


def fabric_ends(links: Iterable[LinkRow], connections: Iterable[ConnectionRow]) -> list[FabricEnd]:
    """Return the ends of links between workers."""
    siblings = {one.connection: one.properties.get("worker") for one in connections if one.role == FABRIC}
    encrypted = {one.connection for one in connections if one.is_encrypted}
    return [
        FabricEnd(one, siblings.get(one.connection), one.connection in encrypted) for one in links if one.role == FABRIC
    ]


FABRIC_LINK_COLUMNS: Columns = {
    "worker": _whole_of("link.worker"),
    "siblingWorker": lambda end: None if end.sibling is None else whole(end.sibling),
    "connectionId": lambda end: str(end.link.connection),
    "transport": lambda end: "tls" if end.is_encrypted else "unix",
    "linkName": attrgetter("link.name"),
    "linkDir": lambda end: "out" if end.link.is_outgoing else "in",
    "owningAddr": attrgetter("link.address"),
    "capacity": _whole_of("link.capacity"),
    "creditAvailable": _whole_of("link.credit"),
    "zeroCreditSeconds": _whole_of("link.zero_credit_s"),
    "undeliveredCount": _whole_of("link.undelivered"),
    "unsettledCount": _whole_of("link.unsettled"),
    "deliveryCount": _whole_of("link.deliveries"),
    "presettledCount": _whole_of("link.presettled"),
    "droppedPresettledCount": _whole_of("link.dropped_presettled"),
    "acceptedCount": _whole_of("link.accepted"),
    "rejectedCount": _whole_of("link.rejected"),
    "releasedCount": _whole_of("link.released"),
    "modifiedCount": _whole_of("link.modified"),
    "deliveriesStuck": _whole_of("link.stuck"),
    "settleRate": _whole_of("link.settle_rate"),
    "stallCount": _whole_of("link.stalls"),
}
