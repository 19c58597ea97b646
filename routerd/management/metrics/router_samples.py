"""The samples of `/metrics`: what all workers count, and what the router as a whole knows."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from routerd.config import ConfiguredEntity
from routerd.config.kinds import AUTO_LINK, LINK_ROUTE
from routerd.core import RouterSettings
from routerd.management.certificates import first_to_expire
from routerd.management.metrics.exposition import Samples
from routerd.management.rows import NodeRow, RouterFigures, WorkerFigures, WorkerRow
from routerd.management.tally import Count, Counts

OUTCOMES = ("presettled", "accepted", "rejected", "released", "modified")
_DELAYS = {"1": "delayed_1s", "10": "delayed_10s"}
_OFF, _RECORDING = "off", "recording"
_INTER_ROUTER = "inter-router"

Sample = tuple[str, tuple[str, ...], float]


def worker_counts(figures: WorkerFigures) -> Counts:
    """Return what a worker has counted since it was started."""
    row = figures.counters
    counts: dict[Count, int] = {}
    for name, labels, value in (*_deliveries(row), *_old_counts(row), *_other_counts(figures)):
        key = (name, labels)
        counts[key] = counts.get(key, 0) + int(value)
    return counts


def engine_counts(nodes: Sequence[NodeRow]) -> Counts:
    """Return what the routing engine has counted since it was started."""
    return {("mobula_topology_changes_total", ()): sum(one.topology_changes for one in nodes if one.is_own)}


def restart_counts(actor: str, restarts: int) -> Counts:
    """Return how often an actor without connections was started again since the start of the router."""
    return {("mobula_actor_restarts_total", (actor,)): restarts}


@dataclass(frozen=True, slots=True)
class RouterNow:
    """The router when it was asked."""

    settings: RouterSettings
    uptime_s: float
    figures: RouterFigures
    nodes: Sequence[NodeRow]
    entities: Sequence[ConfiguredEntity]


def samples_of(now: RouterNow, counts: Mapping[Count, int]) -> Samples:
    """Return all samples: those of now, and what has been counted."""
    found: dict[str, dict[tuple[str, ...], float]] = {}
    counted = ((name, labels, count) for (name, labels), count in counts.items())
    figures = now.figures
    present = (*_whole(now), *_topics(figures), *_network(now.nodes), *_trunks(now), *_workers(figures))
    for name, labels, value in (*counted, *present):
        found.setdefault(name, {})[labels] = value
    return found


# --- counters


def _deliveries(row: WorkerRow) -> Iterator[Sample]:
    """Yield deliveries by direction and peer."""
    for direction, peer, sums in (
        ("in", "client", row.ingress),
        ("out", "client", row.egress),
        ("in", "router", row.trunk_in),
        ("out", "router", row.trunk_out),
        ("in", "fabric", row.fabric_in),
        ("out", "fabric", row.fabric_out),
        ("in", "inner", row.inner_in),
        ("out", "inner", row.inner_out),
    ):
        where = (direction, peer)
        yield "mobula_deliveries_total", where, sums.get("deliveries", 0)
        yield "mobula_deliveries_dropped_total", where, sums.get("dropped_presettled", 0)
        for outcome in OUTCOMES:
            yield "mobula_deliveries_settled_total", (*where, outcome), sums.get(outcome, 0)
        for seconds, counter in _DELAYS.items():
            yield "mobula_deliveries_delayed_total", (*where, seconds), sums.get(counter, 0)


def _old_counts(row: WorkerRow) -> Iterator[Sample]:
    yield "qdr_presettled_deliveries_total", (), row.entered("presettled") + row.entered("dropped_presettled")
    for outcome in OUTCOMES[1:]:
        yield f"qdr_{outcome}_deliveries_total", (), row.came_in(outcome)
    yield "qdr_dropped_presettled_deliveries_total", (), row.dropped_presettled
    yield "qdr_deliveries_ingress_total", (), row.entered("deliveries")
    yield "qdr_deliveries_egress_total", (), row.left("deliveries")
    yield "qdr_deliveries_transit_total", (), row.transit
    yield "qdr_deliveries_ingress_route_container_total", (), row.container_in
    yield "qdr_deliveries_egress_route_container_total", (), row.container_out
    yield "qdr_deliveries_delayed_1sec_total", (), row.came_in("delayed_1s")
    yield "qdr_deliveries_delayed_10sec_total", (), row.came_in("delayed_10s")
    yield "qdr_deliveries_redirected_to_fallback_total", (), row.redirected


def _other_counts(figures: WorkerFigures) -> Iterator[Sample]:
    row, policy = figures.counters, figures.policy
    for peer, octets in row.octets_in.items():
        yield "mobula_received_bytes_total", (peer,), octets
    for peer, octets in row.octets_out.items():
        yield "mobula_sent_bytes_total", (peer,), octets
    yield "mobula_credit_stalls_total", (), row.stalls
    yield "mobula_authentication_failures_total", (), row.authentication_failures
    yield "mobula_policy_connections_total", (), policy.connections_processed
    denials = {
        "connection": policy.connections_denied,
        "link": policy.links_denied,
        "message_size": policy.message_size_denied,
    }
    for what, count in denials.items():
        yield "mobula_policy_denials_total", (what,), count
    # Whatever else is in the total: there is no counter for sessions alone that outlives its vhost.
    yield "mobula_policy_denials_total", ("session",), policy.total_denials - sum(denials.values())
    for level, count in figures.log_lines.items():
        yield "mobula_log_lines_total", (level,), count
    if row.recording_status != _OFF or any(row.recording.values()):
        for result in ("written", "lost"):
            yield "mobula_recording_rows_total", (result,), row.recording.get(f"rows_{result}", 0)
        for result in ("written", "deleted"):
            yield "mobula_recording_files_total", (result,), row.recording.get(f"files_{result}", 0)
        yield "mobula_recording_written_bytes_total", (), row.recording.get("octets_written", 0)
        yield "mobula_recording_errors_total", (), row.recording.get("errors", 0)
    if (topics := figures.topics) is not None:
        yield "mobula_topic_accepted_total", (), topics.accepted
        yield "mobula_topic_rejected_total", (), topics.rejected
        yield "mobula_topic_unknown_total", (), topics.unknown
        yield "mobula_topic_expired_total", (), topics.expired


# --- what is so now


def _whole(now: RouterNow) -> Iterator[Sample]:
    settings, rows = now.settings, [one.counters for one in now.figures.workers]
    uses = Counter(one.type.name for one in now.entities)
    connections, links = sum(row.connections for row in rows), sum(row.links for row in rows)
    blocked, stuck = sum(row.links_blocked for row in rows), sum(row.stuck for row in rows)
    yield "mobula_router_info", (settings.id, settings.mode.value, settings.version), 1
    yield "mobula_uptime_seconds", (), round(now.uptime_s, 3)
    for name, value in (
        ("connections", connections),
        ("links", links),
        ("links_blocked", blocked),
        ("addresses", now.figures.addresses),
        ("deliveries_stuck", stuck),
    ):
        yield f"mobula_{name}", (), value
        yield f"qdr_{name}_total", (), value
    yield "qdr_link_routes_total", (), uses[LINK_ROUTE.name]
    yield "qdr_auto_links_total", (), uses[AUTO_LINK.name]
    for name, certificate in first_to_expire(one.certificates for one in now.figures.workers).items():
        yield "mobula_certificate_expiry_timestamp_seconds", (name,), certificate.expires_at
    statuses = {row.recording_status for row in rows}
    if statuses - {_OFF}:
        yield "mobula_recording_up", (), int(statuses == {_RECORDING})
        yield "mobula_recording_rows_pending", (), sum(row.recording.get("rows_pending", 0) for row in rows)


def _topics(figures: RouterFigures) -> Iterator[Sample]:
    """Yield what there is at the worker with the topics, if there are any."""
    for one in figures.workers:
        if (topics := one.topics) is not None:
            yield "mobula_topics", (), topics.topics
            yield "mobula_topic_subscriptions", (), topics.subscriptions
            yield "mobula_topic_publishers", (), topics.publishers_here
            yield "mobula_topic_unsettled", (), topics.unsettled
            yield "mobula_topic_unsettled_bytes", (), topics.unsettled_octets
            yield "mobula_topic_held", (), topics.records
            yield "mobula_topic_oldest_seconds", (), round(topics.oldest_s, 3)


def _network(nodes: Sequence[NodeRow]) -> Iterator[Sample]:
    others = [one for one in nodes if not one.is_own]
    yield "qdr_routers_total", (), len(others)
    yield "mobula_routers", (), len(others)
    yield "mobula_routers_unreachable", (), sum(one.cost is None for one in others)
    for one in nodes:
        if one.is_own and one.last_topology_change is not None:
            yield "mobula_topology_last_change_timestamp_seconds", (), one.last_topology_change


def _trunks(now: RouterNow) -> Iterator[Sample]:
    trunks = [trunk for one in now.figures.workers for trunk in one.trunks]
    for (router, role), count in Counter((one.router, one.role) for one in trunks).items():
        yield "mobula_trunk_connections", (router, role), count
    for router in {one.router: None for one in trunks if one.role == _INTER_ROUTER}:
        yield "mobula_trunk_cost", (router,), min(one.cost for one in trunks if one.router == router)
    yield "mobula_edge_connections", (), sum(one.edges for one in now.figures.workers)
    connectors = {one.identity: one for one in now.entities if one.type.section == "connector"}
    for figures in now.figures.workers:
        for identity, is_up in figures.connectors.items():
            entity = connectors.get(identity)
            if entity is not None:
                yield "mobula_connector_up", (entity.name or identity, str(entity.values["role"])), int(is_up)


def _workers(figures: RouterFigures) -> Iterator[Sample]:
    for number in figures.absent:
        yield "mobula_worker_up", (str(number),), 0
    for one in figures.workers:
        row = one.counters
        labels = (str(row.worker),)
        yield "mobula_worker_up", labels, 1
        yield "mobula_worker_restarts_total", labels, row.restarts
        yield "mobula_worker_uptime_seconds", labels, round(row.uptime_s, 3)
        yield "mobula_worker_connections", labels, row.connections
        yield "mobula_worker_fabric_connections", labels, row.siblings
        yield "mobula_worker_memory_bytes", labels, row.memory_octets
        yield "mobula_worker_buffered_bytes", labels, row.buffered_octets
        yield "mobula_worker_event_loop_lag_seconds", labels, round(row.event_loop_lag_s, 6)
        yield "mobula_worker_event_loop_lag_max_seconds", labels, round(row.event_loop_lag_max_s, 6)
