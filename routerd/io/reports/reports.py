"""The reports of a worker: its counters, and a row for each connection, link and address.

Nothing here is kept up to date while messages pass: values other than counters are worked out on request. The rows are
made one by one, so that messages can pass between them.
"""

import os
import resource
import socket
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from routerd.core import (
    PRIORITY_MAX,
    RELAY,
    Address,
    Exchanges,
    Inlet,
    Outlet,
    Peer,
    RoutedEnd,
    Router,
    is_link_route,
)
from routerd.io.reports.octets import OctetTotals
from routerd.io.reports.report_rows import (
    address_row,
    connection_row,
    inlet_row,
    outlet_row,
    remote_routers,
    routed_row,
    routed_zero_credit_s,
    settled_count,
    zero_credit_s,
)
from routerd.io.reports.service_addresses import service_addresses
from routerd.management import (
    AddressRow,
    AutoLinkRow,
    BindingRow,
    ConnectionRow,
    ExchangeRow,
    LinkRouteRow,
    LinkRow,
    PolicyRow,
    PoolRow,
    VhostRow,
    WorkerRow,
)
from routerd.wire import Connection, ConnectionState, Delivery, Link

RATE_S = 5.0
STUCK_S = 10.0
"""The time after which an undelivered or unsettled message counts as stuck, and a link without credit as blocked."""
STUCK_IN_TESTS_S = 3.0
"""The same with test hooks (2.1)."""
LINK_PRIORITY = 4
"""The kind and priority of links that are not trunks (5.3)."""
CONTROL_PRIORITY = 9
ENDPOINT, CONTROL, DATA, EDGE_DOWNLINK = ("endpoint", "router-control", "inter-router", "edge-downlink")
_KINDS = {"qd.router": CONTROL, "qd.router-data": DATA, "qd.router-edge-downlink": EDGE_DOWNLINK}
"""By the capability of our end of the link."""
LINK_BALANCED = "linkBalanced"
ENDS_AT_ONCE = 200
"""Links that are added up without a pause."""
ADDRESSES_AT_ONCE = 2000
"""Addresses that are looked at without a pause."""
_CLOSING = (ConnectionState.CLOSE_SENT, ConnectionState.DISCARDING, ConnectionState.END)


@dataclass(frozen=True, slots=True)
class Lag:
    """The delay of the event loop."""

    last_s: float = 0.0
    """The time of the last measurement."""
    longest_s: float = 0.0
    """The delay in the second before."""


@dataclass(frozen=True, slots=True)
class WorkerHost:
    """The process that a worker is in."""

    role: str
    """The name of the actor in its router."""
    started_at: float
    restarts: int = 0
    node: str = ""
    pid: int = field(default_factory=os.getpid)
    name: str = field(default_factory=socket.gethostname)

    def memory_octets(self) -> int:
        """Return the present memory of the process."""
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * resource.getpagesize()


@dataclass(slots=True)
class _Ages:
    """The sums over the unsettled deliveries of one link."""

    oldest: float
    stuck: int = 0


@dataclass(frozen=True, slots=True)
class _Dry:
    """A producer's link that has had no credit in all samples since `since`, and sent nothing."""

    since: float
    deliveries: int


class LinkSamples:
    """Settlement rates of links, and producers without credit, by samples. A rate's older one is at least `RATE_S` old.

    The credit of a producer may run out with each message and come back at once. So only samples note that it has none.
    """

    def __init__(self) -> None:
        self._dry: dict[int, _Dry] = {}
        self._older: dict[int, int] = {}
        self._newer: dict[int, int] = {}
        self._older_at = self._newer_at = 0.0

    def sample(self, router: Router, now: float) -> Generator[None, None, None]:
        """Take a sample; yields after each connection, so that others have their turns."""
        self._older, self._older_at = self._newer, self._newer_at
        self._newer, self._newer_at = {}, now
        dry: dict[int, _Dry] = {}
        for peer in list(router.peers.values()):
            for end in _ends(peer):
                self._newer[end.number] = settled_count(end)
                if isinstance(end, Inlet) and _is_dry(end):
                    now_dry = _Dry(now, end.deliveries)
                    before = self._dry.get(end.number, now_dry)
                    dry[end.number] = before if before.deliveries == end.deliveries else now_dry
            yield
        self._dry = dry

    def without_credit_s(self, inlet: Inlet, now: float) -> float:
        """Return for how long a producer has had no credit, since the first sample that found none."""
        dry = self._dry.get(inlet.number)
        if dry is None or dry.deliveries != inlet.deliveries or not _is_dry(inlet):
            return 0.0
        return now - dry.since

    def rate_of(self, end: Inlet | Outlet | RoutedEnd, now: float) -> int:
        """Return the rate of a link; 0 until it is older than both samples."""
        settled = self._older.get(end.number)
        return 0 if settled is None else round((settled_count(end) - settled) / max(now - self._older_at, RATE_S))


def worker_row(
    router: Router,
    now: float,
    host: WorkerHost,
    lag: Lag,
    stuck_s: float = STUCK_S,
    ended: OctetTotals | None = None,
    samples: LinkSamples | None = None,
) -> Generator[None, None, WorkerRow]:
    """Return the counters of a worker; yields now and then, for others to have their turns.

    `ended` has the octets of connections that are over.
    """
    totals = router.totals.copy()
    octets = OctetTotals() if ended is None else ended.copy()
    links = connections = blocked = stuck = buffered = 0
    for peer in list(router.peers.values()):
        for some, is_outgoing in _ends_in_slices(peer):
            totals.add_all(some, is_outgoing)
            if peer.is_external:
                links += len(some)
                blocked += sum(_zero_credit_s(end, now, samples) > stuck_s and _wants_credit(end) for end in some)
            yield
        if peer.is_external and _carries_amqp(peer):
            connections += 1
            stuck += sum(ages.stuck for ages in _ages(peer, now - stuck_s).values())
        buffered += getattr(peer.shell, "buffered_octets", 0)
        octets.add(peer)
        yield
    addresses = list(router.addresses.values())
    for first in range(0, len(addresses), ADDRESSES_AT_ONCE):
        some_addresses = addresses[first : first + ADDRESSES_AT_ONCE]
        stuck += sum(_parked_too_long(some_addresses, now - stuck_s).values())
        yield
    return WorkerRow(
        worker=router.worker,
        role=host.role,
        pid=host.pid,
        host=host.name,
        node=host.node,
        uptime_s=now - host.started_at,
        restarts=host.restarts,
        connections=connections,
        links=links,
        addresses=len(router.addresses) + sum(key not in router.addresses for key in service_addresses(router)),
        siblings=sum(neighbour.peer is not None for neighbour in router.directory.neighbours.values()),
        event_loop_lag_s=lag.last_s,
        event_loop_lag_max_s=lag.longest_s,
        buffered_octets=buffered,
        memory_octets=host.memory_octets(),
        stuck=stuck,
        links_blocked=blocked,
        ingress=totals.ingress,
        egress=totals.egress,
        fabric_in=totals.fabric_in,
        fabric_out=totals.fabric_out,
        inner_in=totals.inner_in,
        inner_out=totals.inner_out,
        transit=router.sending.transit + totals.routed_on["deliveries"],
        redirected=router.intake.redirected,
        container_in=totals.container_in["deliveries"],
        container_out=totals.container_out["deliveries"],
        dropped_presettled=totals.dropped(),
        trunk_in=totals.trunk_in,
        trunk_out=totals.trunk_out,
        endpoint_in=totals.endpoint_in,
        endpoint_out=totals.endpoint_out,
        stalls=totals.stalls,
        octets_in=octets.octets_in,
        octets_out=octets.octets_out,
    )


def link_rows(
    router: Router, now: float, stuck_s: float = STUCK_S, samples: LinkSamples | None = None
) -> Iterator[LinkRow]:
    """Yield a row for each link."""
    parked = _parked_too_long(router.addresses.values(), now - stuck_s)
    worker = router.worker
    for peer in list(router.peers.values()):
        ages = _ages(peer, now - stuck_s)
        places = TrunkPlaces()
        for end in _ends(peer):
            kind, priority = places.of(end.link)
            age = ages.get(end.link)
            oldest_s, stuck = (0.0, 0) if age is None else (now - age.oldest, age.stuck)
            rate = 0 if samples is None else samples.rate_of(end, now)
            if isinstance(end, Inlet):
                stuck += parked.get(end, 0)
                dry_s = _zero_credit_s(end, now, samples)
                yield inlet_row(end, worker, kind, priority, stuck, oldest_s, rate, dry_s)
            elif isinstance(end, RoutedEnd):
                yield routed_row(end, worker, kind, priority, stuck, oldest_s, rate, now)
            else:
                yield outlet_row(end, worker, kind, priority, stuck, oldest_s, rate, now)


def connection_rows(router: Router, now: float) -> Iterator[ConnectionRow]:
    """Yield a row for each connection, except those that only wait for the peer's close."""
    for peer in list(router.peers.values()):
        if _carries_amqp(peer) and peer.connection.state not in _CLOSING:
            yield connection_row(peer, router.worker, now, router.uplinks.is_in_reserve(peer))


def _carries_amqp(peer: Peer) -> bool:
    """Whether a connection is one of AMQP, and not of HTTP."""
    return getattr(peer.shell, "carries_amqp", True)


def address_keys(router: Router) -> Iterator[tuple[str]]:
    """Yield the key of each address that is in use."""
    for key in list(router.addresses):
        if not key.startswith(RELAY):
            yield (key,)
    for key in service_addresses(router):
        yield (key,)


def address_rows(router: Router, now: float) -> Iterator[AddressRow]:
    """Yield a row for each address."""
    worker = router.worker
    network = router.directory.network if router.directory.network.routes else None
    for address in list(router.addresses.values()):
        if not address.key.startswith(RELAY):
            yield address_row(address, worker, now, network)
    if router.worker == 0:
        # All workers know the same about an address that nobody here uses.
        yield from _far_address_rows(router)
        for key, distribution in service_addresses(router).items():
            yield _idle_row(router, key, distribution, -1)._replace(inner_consumers=int(key[0] != "M"))
    for pattern in list(router.link_routes.patterns.values()):
        if pattern.containers or router.worker == 0:
            yield _idle_row(router, pattern.key, LINK_BALANCED, -1)._replace(containers=len(pattern.containers))


def _far_address_rows(router: Router) -> Iterator[AddressRow]:
    for key in router.directory.network.known_keys():
        if key not in router.addresses and not is_link_route(key):
            treatment = router.directory.treatment_of_key(key)
            priority = -1 if treatment.priority is None else treatment.priority
            yield _idle_row(router, key, treatment.distribution.value, priority)


def _idle_row(router: Router, key: str, distribution: str, priority: int) -> AddressRow:
    """Return the row of an address at which no message passes."""
    return AddressRow(
        worker=router.worker,
        key=key,
        distribution=distribution,
        priority=priority,
        producers=0,
        consumers=0,
        inner_consumers=0,
        sibling_consumers=0,
        remote_routers=remote_routers(router.directory.network, key),
        ingress=0,
        egress=0,
        parked=0,
        oldest_parked_s=0.0,
    )


def link_route_rows(router: Router) -> Iterator[LinkRouteRow]:
    """Yield a row for each link route."""
    for name, use in list(router.link_route_uses.uses.items()):
        yield LinkRouteRow(router.worker, name, len(use.peers))


def auto_link_rows(router: Router) -> Iterator[AutoLinkRow]:
    """Yield a row for each auto-link."""
    for name, use in list(router.auto_links.uses.items()):
        state = use.state()
        yield AutoLinkRow(router.worker, name, state.status, state.link, state.last_error)


def exchange_rows(exchanges: Exchanges, worker: int) -> Iterator[ExchangeRow]:
    """Yield a row for each exchange that a worker hosts."""
    for one in exchanges.hosted:
        counts = (one.received, one.dropped, one.forwarded, one.diverted)
        yield ExchangeRow(worker, one.settings.name, *counts)


def binding_rows(exchanges: Exchanges, worker: int) -> Iterator[BindingRow]:
    """Yield a row for each binding of an exchange that a worker hosts."""
    for exchange in exchanges.hosted:
        for name, binding in list(exchange.bindings.items()):
            yield BindingRow(worker, exchange.settings.name, name, binding.matched)


def pool_rows(router: Router) -> list[PoolRow]:
    """Return the kinds of records that a worker has most of, with the names that tools know (14)."""
    ends = [end for peer in router.peers.values() for end in _ends(peer)]
    deliveries = sum(end.link.unsettled_count for end in ends)
    counts: dict[str, tuple[type[Any], int]] = {
        "qd_connection_t": (Connection, len(router.peers)),
        "qdr_address_t": (Address, len(router.addresses)),
        "qdr_delivery_t": (Delivery, deliveries),
        "qdr_link_t": (Link, len(ends)),
    }
    return [
        PoolRow(name=name, object_octets=kind.__basicsize__, in_use=count, allocated=count)
        for name, (kind, count) in counts.items()
    ]


def policy_row(router: Router) -> PolicyRow:
    """Return the counters of policy."""
    gate = router.policy.gate
    if gate is None:
        return PolicyRow()
    counters = gate.counters
    vhosts = [
        VhostRow(
            hostname=hostname,
            connections_approved=one.connections_approved,
            connections_denied=one.connections_denied,
            connections_current=one.connections_current,
            by_user={user: tuple(names) for user, names in one.by_user.items()},
            by_host={host: tuple(names) for host, names in one.by_host.items()},
            sessions_denied=one.sessions_denied,
            senders_denied=one.senders_denied,
            receivers_denied=one.receivers_denied,
            message_size_denied=one.message_size_denied,
        )
        for hostname, one in gate.vhosts.items()
    ]
    return PolicyRow(
        connections_processed=counters.connections_processed,
        connections_denied=counters.connections_denied,
        connections_current=gate.account.sockets,
        links_denied=counters.links_denied,
        message_size_denied=counters.message_size_denied,
        total_denials=counters.total_denials,
        vhosts=vhosts,
    )


def _ends(peer: Peer) -> list[Inlet | Outlet | RoutedEnd]:
    return [*peer.inlets, *peer.outlets, *peer.routed]


def _ends_in_slices(peer: Peer) -> Iterator[tuple[Sequence[Inlet | Outlet | RoutedEnd], bool]]:
    """Yield the links of a connection, some at a time, and whether these go out."""
    routed = list(peer.routed)
    # A link that ends meanwhile is among them all the same.
    incoming: list[Inlet | Outlet | RoutedEnd] = [*peer.inlets, *(end for end in routed if not end.link.is_sender)]
    outgoing: list[Inlet | Outlet | RoutedEnd] = [*peer.outlets, *(end for end in routed if end.link.is_sender)]
    for ends, is_outgoing in ((incoming, False), (outgoing, True)):
        for first in range(0, len(ends), ENDS_AT_ONCE):
            yield ends[first : first + ENDS_AT_ONCE], is_outgoing


def _zero_credit_s(end: Inlet | Outlet | RoutedEnd, now: float, samples: LinkSamples | None) -> float:
    if isinstance(end, Outlet):
        return zero_credit_s(end, now)
    if isinstance(end, Inlet):
        return 0.0 if samples is None else samples.without_credit_s(end, now)
    sending = end if end.link.is_sender else end.other
    return 0.0 if sending is None else routed_zero_credit_s(sending, now)


def _wants_credit(end: Inlet | Outlet | RoutedEnd) -> bool:
    """Whether more credit would be of use. A consumer that took what it wanted blocks nothing until there is more."""
    if not isinstance(end, Outlet) or end.trunk is not None or not end.deliveries:
        return True
    return bool(end.waiting) or end.address.waiting > 0


def _is_dry(inlet: Inlet) -> bool:
    return inlet.is_open and inlet.link.credit == 0


class TrunkPlaces:
    """Tells the kinds and priorities of a connection's links (1.6). It is asked about them in their order."""

    def __init__(self) -> None:
        self._data = {True: 0, False: 0}

    def of(self, link: Link) -> tuple[str, int]:
        """Return kind and priority of the next link."""
        terminus = link.source if link.is_sender else link.target
        capabilities = getattr(terminus, "capabilities", ())
        if not capabilities:
            return ENDPOINT, LINK_PRIORITY
        kind = next((_KINDS[one] for one in capabilities if one in _KINDS), ENDPOINT)
        if kind == CONTROL:
            return kind, CONTROL_PRIORITY
        if kind != DATA:
            return kind, LINK_PRIORITY
        place = self._data[link.is_sender]
        self._data[link.is_sender] += 1
        # Further links are for large messages.
        return kind, place if place <= PRIORITY_MAX else LINK_PRIORITY


def _ages(peer: Peer, stuck_before: float) -> dict[Link, _Ages]:
    """Return the sums over the unsettled deliveries of a connection, by link."""
    found: dict[Link, _Ages] = {}
    for session in peer.connection.sessions():
        for ring in (session.incoming, session.outgoing):
            for one in ring.stamps():
                stamp = one.stamp
                if stamp == 0.0:
                    continue
                if isinstance(one, Delivery):
                    link, count = one.link, 0 if one.is_partial else 1
                else:
                    link, count = one.receiver if ring is session.incoming else one.sender, one.count
                ages = found.get(link)
                if ages is None:
                    ages = found[link] = _Ages(stamp)
                elif stamp < ages.oldest:
                    ages.oldest = stamp
                if stamp < stuck_before:
                    ages.stuck += count
    return found


def _parked_too_long(addresses: Iterable[Address], stuck_before: float) -> dict[Inlet, int]:
    """Return the settled messages that wait for too long, by producer; unsettled ones are counted elsewhere."""
    found: dict[Inlet, int] = {}
    for address in addresses:
        if not address.waiting:
            continue
        for queue in (address.parked_from_siblings, address.parked):
            for parked in queue:
                if parked.stamp >= stuck_before:
                    break
                if parked.is_settled and parked.is_complete:
                    found[parked.inlet] = found.get(parked.inlet, 0) + parked.count
    return found
