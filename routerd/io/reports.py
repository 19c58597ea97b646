"""What a worker reports of itself: its counters, and a row for each connection, link and address.

Nothing here is kept up to date while messages pass: what is not a counter is worked out when somebody asks. The rows
are made one by one, so that whoever asks for many of them can let messages pass in between.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from routerd.config import ListenerConfig
from routerd.core import COUNTERS, Address, Inlet, Outlet, Peer, Router
from routerd.wire import Link

STUCK_S = 10.0
"""A message that is undelivered or unsettled for longer is stuck."""
STUCK_IN_TESTS_S = 3.0
"""The same with test hooks (2.1)."""
BLOCKED_S = 10.0
"""A consumer that gives no credit for longer blocks its link (5.1)."""


@dataclass(frozen=True, slots=True)
class Lag:
    """How late the event loop is."""

    last_s: float = 0.0
    """When it was last measured."""
    longest_s: float = 0.0
    """In the second before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkRow:
    """A link of now."""

    connection: int
    link: int
    name: str
    role: str
    """`normal` and so on as listeners have it, `fabric` to a sibling, `inner` to an endpoint inside the router."""
    is_outgoing: bool
    address: str | None
    """The key; an anonymous producer has none."""
    capacity: int
    credit: int
    """Deliveries that may be begun now: by the producer, or to the consumer."""
    unsettled: int
    undelivered: int
    """Messages of a producer that wait for some consumer; to a consumer, those that wait for this one."""
    deliveries: int
    presettled: int
    dropped_presettled: int
    accepted: int
    rejected: int
    released: int
    modified: int
    delayed_1s: int
    delayed_10s: int
    stuck: int
    """Unsettled or undelivered for too long; messages that are still streaming are not counted."""
    oldest_unsettled_s: float
    """Age of the oldest unsettled delivery, 0 without one."""
    stalls: int
    """How often a consumer's credit was used up, or there was no room on the way to it."""
    zero_credit_s: float
    """For how long a consumer has given no credit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionRow:
    """A connection of now."""

    connection: int
    role: str
    host: str
    """Address and port of the peer."""
    container: str
    hostname: str
    mechanism: str | None
    user: str | None
    listener: str | None
    """Identity of the listener where it came in."""
    is_open: bool
    is_blocked: bool
    """Whether the peer takes less than there is for it."""
    is_traced: bool
    """Whether its frames are traced whatever the log is set to."""
    producers: int
    consumers: int
    uptime_s: float
    properties: dict[Any, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressRow:
    """An address that is in use."""

    key: str
    distribution: str
    priority: int
    producers: int
    consumers: int
    inner_consumers: int
    """Endpoints inside the router; they are no `consumers`."""
    sibling_consumers: int
    """Consumers at other workers."""
    ingress: int
    egress: int
    parked: int
    """Messages that wait for a consumer."""
    oldest_parked_s: float


@dataclass(slots=True)
class _Ages:
    """What the unsettled deliveries of one link come to."""

    oldest: float
    stuck: int = 0


def report_of(router: Router, now: float, lag: Lag, stuck_s: float = STUCK_S) -> dict[str, Any]:
    """Return the counters of a worker."""
    totals = router.totals.copy()
    links = connections = blocked = stuck = 0
    for peer in router.peers.values():
        for end in _ends(peer):
            totals.add(end)
            if peer.is_external:
                links += 1
                blocked += _zero_credit_s(end, now) > BLOCKED_S
        if peer.is_external:
            connections += 1
            stuck += sum(ages.stuck for ages in _ages(peer, now - stuck_s).values())
    stuck += sum(_parked_too_long(router, now - stuck_s).values())
    return {
        "connections": connections,
        "links": links,
        "addresses": len(router.addresses),
        "siblings": sum(neighbour.peer is not None for neighbour in router.neighbours.values()),
        "event_loop_lag_s": lag.last_s,
        "event_loop_lag_max_s": lag.longest_s,
        "stuck": stuck,
        "links_blocked": blocked,
        "ingress": totals.ingress,
        "egress": totals.egress,
        "fabric_in": totals.fabric_in,
        "fabric_out": totals.fabric_out,
        "inner_in": totals.inner_in,
        "inner_out": totals.inner_out,
    }


def link_rows(router: Router, now: float, stuck_s: float = STUCK_S) -> Iterator[LinkRow]:
    """Yield a row for each link."""
    parked = _parked_too_long(router, now - stuck_s)
    for peer in list(router.peers.values()):
        ages = _ages(peer, now - stuck_s)
        for end in _ends(peer):
            too_long = parked.get(end, 0) if isinstance(end, Inlet) else 0
            yield _link_row(end, now, ages.get(end.link), too_long)


def connection_rows(router: Router, now: float) -> Iterator[ConnectionRow]:
    """Yield a row for each connection."""
    for peer in list(router.peers.values()):
        remote = peer.connection.remote_open
        sasl = peer.connection.sasl
        yield ConnectionRow(
            connection=peer.number,
            role=peer.role,
            host=getattr(peer.shell, "host", ""),
            container=remote.container_id if remote else "",
            hostname=(remote and remote.hostname) or "",
            mechanism=sasl.mechanism if sasl else None,
            user=sasl.identity if sasl else None,
            listener=peer.details.identity if isinstance(peer.details, ListenerConfig) else None,
            is_open=peer.is_open,
            is_blocked=peer.is_blocked,
            is_traced=getattr(peer.shell, "is_traced", False),
            producers=len(peer.inlets),
            consumers=len(peer.outlets),
            uptime_s=now - peer.opened_at if peer.opened_at else 0.0,
            properties=dict((remote and remote.properties) or {}),
        )


def address_rows(router: Router, now: float) -> Iterator[AddressRow]:
    """Yield a row for each address."""
    for address in list(router.addresses.values()):
        local = address.outlets[: address.local_count]
        inner = sum(outlet.peer.is_inner for outlet in local)
        yield AddressRow(
            key=address.key,
            distribution=address.distribution.value,
            priority=address.priority,
            producers=sum(not inlet.is_fabric for inlet in address.inlets),
            consumers=len(local) - inner,
            inner_consumers=inner,
            sibling_consumers=address.remote_count,
            ingress=address.ingress,
            egress=address.egress,
            parked=len(address.parked) + len(address.parked_from_siblings),
            oldest_parked_s=_oldest_parked_s(address, now),
        )


def _ends(peer: Peer) -> list[Inlet | Outlet]:
    return [*peer.inlets, *peer.outlets]


def _link_row(end: Inlet | Outlet, now: float, ages: _Ages | None, parked_too_long: int) -> LinkRow:
    link = end.link
    address = end.address
    if isinstance(end, Inlet):
        capacity, undelivered, stalls = end.capacity, end.parked, 0
    else:
        capacity, undelivered, stalls = end.peer.capacity, _waiting_for(end), end.stalls
    return LinkRow(
        connection=end.peer.number,
        link=end.number,
        name=link.name,
        role=end.peer.role,
        is_outgoing=link.is_sender,
        address=None if address is None else address.key,
        capacity=capacity,
        credit=link.credit,
        unsettled=link.unsettled_count,
        undelivered=undelivered,
        stuck=parked_too_long + (ages.stuck if ages else 0),
        oldest_unsettled_s=now - ages.oldest if ages else 0.0,
        stalls=stalls,
        zero_credit_s=_zero_credit_s(end, now),
        **{name: getattr(end, name) for name in COUNTERS},
    )


def _waiting_for(outlet: Outlet) -> int:
    # Copies that wait for credit, and deliveries that were begun and wait for the session's window.
    link = outlet.link
    return len(outlet.waiting or ()) + link.credit_on_wire() - link.credit


def _zero_credit_s(end: Inlet | Outlet, now: float) -> float:
    if isinstance(end, Inlet) or end.link.credit > 0 or not end.dry_since:
        return 0.0
    return now - end.dry_since


def _ages(peer: Peer, stuck_before: float) -> dict[Link, _Ages]:
    """Return what the unsettled deliveries of a connection come to, by link."""
    found: dict[Link, _Ages] = {}
    for session in peer.connection.sessions():
        for ring in (session.incoming, session.outgoing):
            for delivery in ring.all():
                stamp = delivery.stamp
                if stamp == 0.0:
                    continue
                ages = found.get(delivery.link)
                if ages is None:
                    ages = found[delivery.link] = _Ages(stamp)
                elif stamp < ages.oldest:
                    ages.oldest = stamp
                if stamp < stuck_before and not delivery.is_partial:
                    ages.stuck += 1
    return found


def _parked_too_long(router: Router, stuck_before: float) -> dict[Inlet, int]:
    """Return how many settled messages wait for too long, by producer; those unsettled have their place elsewhere."""
    found: dict[Inlet, int] = {}
    for address in router.addresses.values():
        for queue in (address.parked_from_siblings, address.parked):
            for parked in queue:
                if parked.delivery.stamp >= stuck_before:
                    break
                if parked.is_settled and parked.is_complete:
                    found[parked.inlet] = found.get(parked.inlet, 0) + 1
    return found


def _oldest_parked_s(address: Address, now: float) -> float:
    stamps = [queue[0].delivery.stamp for queue in (address.parked_from_siblings, address.parked) if queue]
    return now - min(stamps) if stamps else 0.0
