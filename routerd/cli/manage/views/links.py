"""Links: -l, what is linked without clients asking: --autolinks, and what is routed as links: --linkroutes."""

from routerd.cli.manage.figures import blocked_time
from routerd.cli.manage.node import PREFIX, Entity, Node
from routerd.cli.manage.table import COUNTER, NUMBER, Block, Column, Table, of, tabulate
from routerd.cli.manage.views.keys import address_class, address_phase, address_text
from routerd.cli.manage.views.view import Ask

LINK = PREFIX + "router.link"
AUTO_LINK = PREFIX + "router.config.autoLink"
LINK_ROUTE = PREFIX + "router.config.linkRoute"


def _delayed(link: Entity) -> int:
    return (link.get("deliveriesDelayed1Sec") or 0) + (link.get("deliveriesDelayed10Sec") or 0)


COLUMNS: tuple[Column, ...] = (
    of("linkType", "type"),
    of("linkDir", "dir"),
    of("connectionId", "conn id"),
    of("identity", "id"),
    of("peer"),
    Column("class", lambda link: address_class(link.get("owningAddr")), ("owningAddr",)),
    Column("addr", lambda link: address_text(link.get("owningAddr")), ("owningAddr",)),
    Column("phs", lambda link: address_phase(link.get("owningAddr")), ("owningAddr",)),
    of("capacity", "cap", NUMBER),
    of("priority", "pri", NUMBER),
    of("undeliveredCount", "undel", NUMBER),
    of("unsettledCount", "unsett", NUMBER),
    of("deliveryCount", "deliv", COUNTER),
    of("presettledCount", "presett", COUNTER),
    of("droppedPresettledCount", "psdrop", COUNTER, is_trouble=True),
    of("acceptedCount", "acc", COUNTER),
    of("rejectedCount", "rej", COUNTER, is_trouble=True),
    of("releasedCount", "rel", COUNTER),
    of("modifiedCount", "mod", COUNTER),
    Column("delay", _delayed, ("deliveriesDelayed1Sec", "deliveriesDelayed10Sec"), COUNTER),
    of("settleRate", "rate", NUMBER),
    of("deliveriesStuck", "stuck", NUMBER, is_trouble=True),
    of("creditAvailable", "cred", NUMBER),
    of("zeroCreditSeconds", "blkd", NUMBER, blocked_time, is_trouble=True),
    of("abortedCount", "abort", COUNTER, is_verbose=True),
    of("adminStatus", "admin", is_verbose=True),
    of("operStatus", "oper", is_verbose=True),
    of("linkName", "name", is_verbose=True),
)
ATTRIBUTES = tuple(dict.fromkeys(name for column in COLUMNS for name in column.needs))

AUTO_LINK_COLUMNS: tuple[Column, ...] = (
    of("address", "addr"),
    of("direction", "dir"),
    of("phase", "phs"),
    of("externalAddress", "extAddr"),
    of("linkRef", "link"),
    of("operStatus", "status"),
    of("lastError", "lastErr", is_trouble=True),
)
_AUTO_LINK_ATTRIBUTES = tuple(column.needs[0] for column in AUTO_LINK_COLUMNS)

LINK_ROUTE_COLUMNS: tuple[Column, ...] = (
    Column("address", lambda route: route.get("prefix") or route.get("pattern")),
    of("direction", "dir"),
    of("distribution", "distrib"),
    of("operStatus", "status"),
)
_PREFIX_COLUMNS = (of("addExternalPrefix", "add-ext-prefix"), of("delExternalPrefix", "del-ext-prefix"))
_PREFIXES = tuple(column.needs[0] for column in _PREFIX_COLUMNS)
_LINK_ROUTE_ATTRIBUTES = ("prefix", "direction", "distribution", "operStatus", "pattern", *_PREFIXES)


def links_table(links: list[Entity], *, is_verbose: bool = False) -> Table:
    """Return all links."""
    return tabulate("Router Links", COLUMNS, links, is_verbose=is_verbose)


def auto_links_table(auto_links: list[Entity]) -> Table:
    """Return the auto links by their addresses."""
    return tabulate(
        "AutoLinks",
        AUTO_LINK_COLUMNS,
        sorted(auto_links, key=lambda one: (str(one.get("address")), str(one.get("direction")))),
        key=lambda one: (one.get("address"), one.get("direction"), one.get("externalAddress")),
        if_empty="AutoLinks\nNo AutoLinks found",
    )


def link_routes_table(routes: list[Entity]) -> Table:
    """Return the link routes by their addresses."""
    has_prefixes = any(route.get(name) for route in routes for name in _PREFIXES)
    columns = LINK_ROUTE_COLUMNS + (_PREFIX_COLUMNS if has_prefixes else ())
    return tabulate(
        "Link Routes",
        columns,
        sorted(routes, key=lambda one: (str(one.get("prefix") or one.get("pattern")), str(one.get("direction")))),
        key=lambda route: (route.get("prefix"), route.get("pattern"), route.get("direction")),
        if_empty="Link Routes\nNo Link Routes found",
    )


def fetch_links(node: Node, ask: Ask) -> list[Block]:
    """Return what -l shows."""
    return [links_table(node.query(LINK, ATTRIBUTES, ask.limit), is_verbose=ask.is_verbose)]


def fetch_auto_links(node: Node, ask: Ask) -> list[Block]:
    """Return what --autolinks shows."""
    return [auto_links_table(node.query(AUTO_LINK, _AUTO_LINK_ATTRIBUTES, ask.limit))]


def fetch_link_routes(node: Node, ask: Ask) -> list[Block]:
    """Return what --linkroutes shows."""
    return [link_routes_table(node.query(LINK_ROUTE, _LINK_ROUTE_ATTRIBUTES, ask.limit))]
