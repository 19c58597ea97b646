"""What a scrape asks for, and how its series are gathered from the router as a whole."""

from dataclasses import dataclass

from routerd.management.backing import Backing, Unanswered
from routerd.management.metrics.detailed import detailed_samples
from routerd.management.metrics.exposition import OPEN_METRICS_TYPE, PROMETHEUS_TYPE, Samples, exposition
from routerd.management.metrics.families import DETAILED_FAMILIES, FAMILIES, LEFT_OUT
from routerd.management.metrics.router_samples import (
    RouterNow,
    engine_counts,
    restart_counts,
    samples_of,
    worker_counts,
)
from routerd.management.rows import NodeRow
from routerd.management.tally import Tally

SERIES_MAX = 10_000
"""Series of one detailed answer."""
_ENGINE = "engine"
_ALL_INCARNATIONS = (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsQuery:
    """What a scrape asks for."""

    is_open_metrics: bool = False
    takes_gzip: bool = False
    families: tuple[str, ...] = ()
    """Those of `/metrics/detailed`; none is `/metrics`."""
    addresses: tuple[str, ...] = ()
    limit: int = SERIES_MAX


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsText:
    """The answer to a scrape."""

    body: bytes
    content_type: str
    is_gzip: bool = False


class Metrics:
    """The series of a router. To be asked for one thing at a time."""

    def __init__(self, backing: Backing) -> None:
        self._backing = backing
        self._tally: Tally | None = None

    async def gather(self, query: MetricsQuery) -> Samples:
        """Return what a query asks for. Raises Unanswered."""
        if not query.families:
            return await self._router_samples()
        limit = max(0, min(query.limit, SERIES_MAX))
        return await detailed_samples(self._backing, query.families, query.addresses, limit)

    async def _router_samples(self) -> Samples:
        backing = self._backing
        if self._tally is None:
            # This process may be younger than the router.
            self._tally = await backing.kept_tally() or Tally()
        figures = await backing.figures()
        nodes = await self._nodes()
        news = {str(one.counters.worker): (one.incarnation, worker_counts(one)) for one in figures.workers}
        own = next((one for one in nodes if one.is_own), None)
        if own is not None:
            news[_ENGINE] = ((own.engine, 0), engine_counts(nodes))
        for actor, restarts in figures.restarts.items():
            # Ray counts these over all incarnations. The last known count stands while the actor is away.
            news[f"restarts of {actor}"] = (_ALL_INCARNATIONS, restart_counts(actor, restarts))
        self._tally = self._tally.added(news)
        # Before anybody sees what has been counted: then it never goes down.
        await backing.keep_tally(self._tally)
        now = RouterNow(backing.settings, backing.uptime_s(), figures, nodes, backing.entities)
        return samples_of(now, self._tally.sums())

    async def _nodes(self) -> list[NodeRow]:
        """Return the routers of the network, none while the routing engine is away."""
        try:
            return await self._backing.nodes()
        except Unanswered:
            return []


def metrics_text(query: MetricsQuery, samples: Samples) -> MetricsText:
    """Return what was gathered for a query as it is sent."""
    if query.families:
        families = [*(one for name in query.families for one in DETAILED_FAMILIES[name]), LEFT_OUT]
    else:
        families = list(FAMILIES)
    return MetricsText(
        body=exposition(families, samples, is_open_metrics=query.is_open_metrics),
        content_type=OPEN_METRICS_TYPE if query.is_open_metrics else PROMETHEUS_TYPE,
    )
