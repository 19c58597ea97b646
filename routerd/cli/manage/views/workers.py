"""What is inside a Mobula router: connection actors, --actors, links between these, --fabric, and records, --records.

Attributes that have no column here, since the router is newer, are shown with -v under their own names.
"""

from collections.abc import Sequence

from routerd.cli.manage.failures import Refused
from routerd.cli.manage.figures import blocked_time, duration, grouped, octets
from routerd.cli.manage.node import Entity, Node
from routerd.cli.manage.table import COUNTER, NUMBER, Block, Column, Message, Table, of, tabulate
from routerd.cli.manage.views.keys import address_class, address_text
from routerd.cli.manage.views.view import Ask

CONNECTION_ACTOR = "org.mobula.connectionActor"
FABRIC_LINK = "org.mobula.fabricLink"
RECORD = "org.mobula.record"
_NOT_SHOWN = frozenset({"type", "identity"})
_UNKNOWN_TYPE = (400, 404, 501)

ACTOR_COLUMNS: tuple[Column, ...] = (
    of("name"),
    of("worker", kind=NUMBER, is_verbose=True),
    of("pid", kind=NUMBER),
    of("host", is_verbose=True),
    of("node", is_verbose=True),
    of("uptimeSeconds", "uptime", NUMBER, duration),
    of("restarts", kind=NUMBER, is_trouble=True),
    of("connectionCount", "conns", NUMBER, grouped),
    of("linkCount", "links", NUMBER, grouped),
    of("addrCount", "addrs", NUMBER, grouped),
    of("siblingCount", "siblings", NUMBER),
    of("eventLoopLagMicroseconds", "lag us", NUMBER, grouped),
    of("eventLoopLagMaxMicroseconds", "max us", NUMBER, grouped),
    of("bufferedOctets", "buffered", NUMBER, octets),
    of("memoryUsage", "memory", NUMBER, octets),
    of("deliveriesStuck", "stuck", NUMBER, is_trouble=True),
    of("linksBlocked", "blkd", NUMBER, is_trouble=True),
    of("authenticationFailures", "auth-fail", COUNTER, grouped, is_verbose=True, is_trouble=True),
    of("deliveriesIngress", "in", COUNTER, grouped),
    of("deliveriesEgress", "out", COUNTER, grouped),
    of("deliveriesFabricIn", "fabric-in", COUNTER, grouped),
    of("deliveriesFabricOut", "fabric-out", COUNTER, grouped),
    of("presettledDeliveries", "presett", COUNTER, grouped, is_verbose=True),
    of("droppedPresettledDeliveries", "psdrop", COUNTER, grouped, is_verbose=True, is_trouble=True),
    of("acceptedDeliveries", "acc", COUNTER, grouped, is_verbose=True),
    of("rejectedDeliveries", "rej", COUNTER, grouped, is_verbose=True, is_trouble=True),
    of("releasedDeliveries", "rel", COUNTER, grouped, is_verbose=True),
    of("modifiedDeliveries", "mod", COUNTER, grouped, is_verbose=True),
)

FABRIC_COLUMNS: tuple[Column, ...] = (
    of("worker", kind=NUMBER),
    of("siblingWorker", "sibling", NUMBER),
    of("linkDir", "dir"),
    of("connectionId", "conn id"),
    of("transport", "via"),
    Column("class", lambda link: address_class(link.get("owningAddr")), ("owningAddr",)),
    Column("addr", lambda link: address_text(link.get("owningAddr")), ("owningAddr",)),
    of("capacity", "cap", NUMBER),
    of("undeliveredCount", "undel", NUMBER),
    of("unsettledCount", "unsett", NUMBER),
    of("deliveryCount", "deliv", COUNTER),
    of("presettledCount", "presett", COUNTER),
    of("droppedPresettledCount", "psdrop", COUNTER, is_trouble=True),
    of("acceptedCount", "acc", COUNTER),
    of("rejectedCount", "rej", COUNTER, is_trouble=True),
    of("releasedCount", "rel", COUNTER),
    of("modifiedCount", "mod", COUNTER),
    of("settleRate", "rate", NUMBER),
    of("deliveriesStuck", "stuck", NUMBER, is_trouble=True),
    of("creditAvailable", "cred", NUMBER),
    of("zeroCreditSeconds", "blkd", NUMBER, blocked_time, is_trouble=True),
    of("stallCount", "stalls", COUNTER),
    of("name", is_verbose=True),
    of("linkName", "link name", is_verbose=True),
)

RECORD_COLUMNS: tuple[Column, ...] = (
    of("level"),
    of("sample", kind=NUMBER),
    of("status"),
    of("rowsWritten", "rows", COUNTER, grouped),
    of("rowsPending", "pending", NUMBER, grouped),
    of("rowsLost", "lost", COUNTER, grouped, is_trouble=True),
    of("filesWritten", "files", COUNTER, grouped),
    of("filesDeleted", "deleted", COUNTER, grouped),
    of("octetsWritten", "octets", COUNTER, octets),
    of("errorCount", "errors", COUNTER, grouped, is_trouble=True),
    of("directory"),
    of("name", is_verbose=True),
    of("rotateSeconds", "rotate s", NUMBER, is_verbose=True),
    of("rotateMegabytes", "rotate MiB", NUMBER, is_verbose=True),
    of("retentionHours", "keep h", NUMBER, is_verbose=True),
    of("retentionMegabytes", "keep MiB", NUMBER, is_verbose=True),
    of("reportUrl", "report", is_verbose=True),
)


def workers_table(
    title: str, columns: Sequence[Column], entities: list[Entity], *, is_verbose: bool = False
) -> Table:
    """Return a table of what is inside a router."""
    known = {name for column in columns for name in column.needs}
    first = entities[0] if entities else {}
    others = [of(name, is_verbose=True) for name in first if name not in known | _NOT_SHOWN]
    return tabulate(title, (*columns, *others), entities, is_verbose=is_verbose, if_empty=f"No {title}")


def not_here(refusal: Refused, entity_type: str, title: str) -> Message:
    """Return what is said of a router that does not know a type; raises what else was refused."""
    if refusal.status not in _UNKNOWN_TYPE:
        raise refusal
    return Message((f"No {entity_type} here: this is not a Mobula router, or it is an older one",), title)


def _fetch(node: Node, ask: Ask, entity_type: str, title: str, columns: Sequence[Column]) -> list[Block]:
    try:
        entities = node.query(entity_type, limit=ask.limit)
    except Refused as refusal:
        return [not_here(refusal, entity_type, title)]
    return [workers_table(title, columns, entities, is_verbose=ask.is_verbose)]


def fetch_actors(node: Node, ask: Ask) -> list[Block]:
    """Return what --actors shows."""
    return _fetch(node, ask, CONNECTION_ACTOR, "Connection Actors", ACTOR_COLUMNS)


def fetch_fabric(node: Node, ask: Ask) -> list[Block]:
    """Return what --fabric shows."""
    return _fetch(node, ask, FABRIC_LINK, "Fabric Links", FABRIC_COLUMNS)


def fetch_records(node: Node, ask: Ask) -> list[Block]:
    """Return what --records shows."""
    return _fetch(node, ask, RECORD, "Records", RECORD_COLUMNS)
