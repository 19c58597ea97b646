"""The columns of the router as a whole (5.1).

Messages to and from the router's own endpoints pass links of clients. The counters of these links have them already.
Those of the endpoints would count them twice.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from routerd.config.kinds import AUTO_LINK, LINK_ROUTE, ROUTER
from routerd.core import RouterSettings
from routerd.management.agent.columns import Always, Columns, Getter
from routerd.management.agent.numbers import uint, ulong, whole
from routerd.management.backing import Backing
from routerd.management.rows import WorkerRow

AREA = "0"
ADDRESS_COUNT = "addrCount"
NODE_COUNT = "nodeCount"


@dataclass(frozen=True, slots=True)
class RouterRow:
    """A router and its workers."""

    settings: RouterSettings
    uptime_s: float
    workers: Sequence[WorkerRow]
    addresses: int
    other_routers: int
    link_routes: int = 0
    auto_links: int = 0
    worker_threads: int = 0
    """As it is configured. It has no effect."""

    @property
    def memory_octets(self) -> int:
        """What all its processes take."""
        return sum({(one.host, one.pid): one.memory_octets for one in self.workers}.values())


async def router_row(backing: Backing, names: Collection[str]) -> RouterRow:
    """Return the router; addresses and other routers are counted only if the names of columns ask for it."""
    workers = await backing.workers()
    if len(workers) == 1 or ADDRESS_COUNT not in names:
        addresses = sum(one.addresses for one in workers)
    else:
        addresses = len({row.key for row in await backing.addresses()})
    nodes = await backing.nodes() if NODE_COUNT in names else []
    others = sum(not one.is_own for one in nodes)
    uses = Counter(one.type.name for one in backing.entities)
    configured = next(one.values for one in backing.entities if one.type is ROUTER)
    return RouterRow(
        *(backing.settings, backing.uptime_s(), workers, addresses, others),
        *(uses[LINK_ROUTE.name], uses[AUTO_LINK.name], configured["workerThreads"]),
    )


def _sum_of(attribute: str) -> Getter:
    return lambda row: ulong(sum(getattr(one, attribute) for one in row.workers))


def _came_in(counter: str) -> Getter:
    return lambda row: ulong(sum(one.came_in(counter) for one in row.workers))


def _settled_ingress(row: RouterRow) -> object:
    """Return the deliveries that arrived settled: those that were dropped have, too."""
    return ulong(sum(one.entered("presettled") + one.entered("dropped_presettled") for one in row.workers))


_NONE = Always(ulong(0))

ROUTER_COLUMNS: Columns = {
    "name": lambda row: row.settings.id,
    "identity": Always("1"),
    "id": lambda row: row.settings.id,
    "type": Always(ROUTER.full_name),
    "mode": lambda row: row.settings.mode.value,
    "area": Always(AREA),
    "version": lambda row: row.settings.version,
    "metadata": lambda row: row.settings.metadata,
    ADDRESS_COUNT: lambda row: ulong(row.addresses),
    "linkCount": _sum_of("links"),
    NODE_COUNT: lambda row: ulong(row.other_routers),
    "linkRouteCount": lambda row: ulong(row.link_routes),
    "autoLinkCount": lambda row: ulong(row.auto_links),
    "connectionCount": _sum_of("connections"),
    "presettledDeliveries": _settled_ingress,
    "droppedPresettledDeliveries": _sum_of("dropped_presettled"),
    "acceptedDeliveries": _came_in("accepted"),
    "rejectedDeliveries": _came_in("rejected"),
    "releasedDeliveries": _came_in("released"),
    "modifiedDeliveries": _came_in("modified"),
    "deliveriesDelayed1Sec": _came_in("delayed_1s"),
    "deliveriesDelayed10Sec": _came_in("delayed_10s"),
    "deliveriesStuck": _sum_of("stuck"),
    "deliveriesIngress": lambda row: ulong(sum(one.entered("deliveries") for one in row.workers)),
    "deliveriesEgress": lambda row: ulong(sum(one.left("deliveries") for one in row.workers)),
    "deliveriesTransit": _sum_of("transit"),
    "deliveriesIngressRouteContainer": _sum_of("container_in"),
    "deliveriesEgressRouteContainer": _sum_of("container_out"),
    "deliveriesRedirectedToFallback": _sum_of("redirected"),
    "linksBlocked": lambda row: uint(sum(one.links_blocked for one in row.workers)),
    "uptimeSeconds": lambda row: uint(row.uptime_s),
    "memoryUsage": lambda row: ulong(row.memory_octets),
    "workerThreads": lambda row: whole(row.worker_threads),
}
