"""All views, by the options that ask for them."""

from routerd.cli.manage.node import Node
from routerd.cli.manage.table import Block
from routerd.cli.manage.views import connections, general, links, log, network, picture, policies, topics, workers
from routerd.cli.manage.views.view import Ask, View

GENERAL = View(("-g", "--general"), "the router as a whole; the default", general.fetch_general, is_sortable=False)
CONNECTIONS = View(
    ("-c", "--connections"), "its connections", connections.fetch_connections, connections.COLUMNS
)
LINKS = View(("-l", "--links"), "its links", links.fetch_links, links.COLUMNS)
NODES = View(("-n", "--nodes"), "the routers of its network", network.fetch_nodes, network.NODE_COLUMNS)
EDGE = View(("-e", "--edge"), "its connections with edge routers", connections.fetch_edges, connections.EDGE_COLUMNS)
ADDRESSES = View(("-a", "--address"), "the addresses in use", network.fetch_addresses, network.ADDRESS_COLUMNS)
MEMORY = View(("-m", "--memory"), "its memory, and what it has most of", general.fetch_memory, general.MEMORY_COLUMNS)
POLICY = View(("-p", "--policy"), "its policy, and what that refused", policies.fetch_policy, is_sortable=False)
AUTO_LINKS = View(("--autolinks",), "its auto links", links.fetch_auto_links, links.AUTO_LINK_COLUMNS)
LINK_ROUTES = View(("--linkroutes",), "its link routes", links.fetch_link_routes, links.LINK_ROUTE_COLUMNS)
VHOSTS = View(
    ("--vhosts",), "its virtual hosts", policies.fetch_vhosts, policies.VHOST_COLUMNS, is_headed=False
)
VHOST_GROUPS = View(
    ("--vhostgroups",),
    "the groups of users of its virtual hosts",
    policies.fetch_vhost_groups,
    policies.GROUP_COLUMNS,
    is_headed=False,
)
VHOST_STATS = View(
    ("--vhoststats",),
    "what its virtual hosts let in and refused",
    policies.fetch_vhost_stats,
    policies.VHOST_STATS_COLUMNS,
    is_headed=False,
)
LOG = View(("--log",), "the last lines of its log", log.fetch_log, is_headed=False, is_sortable=False)
ACTORS = View(("--actors",), "its connection actors", workers.fetch_actors, workers.ACTOR_COLUMNS)
FABRIC = View(("--fabric",), "the links between its connection actors", workers.fetch_fabric, workers.FABRIC_COLUMNS)
RECORDS = View(("--records",), "what it records of its decisions", workers.fetch_records, workers.RECORD_COLUMNS)
TOPICS = View(
    ("--topics",), "its topics, and with -v the publishers of these", topics.fetch_topics, topics.TOPIC_COLUMNS
)
SUBSCRIPTIONS = View(
    ("--subscriptions",),
    "the subscriptions of topics, those first that hold up others",
    topics.fetch_subscriptions,
    topics.SUBSCRIPTION_COLUMNS,
)
MAP = View(("--map",), "its network as a picture; with FILE as an SVG image", picture.fetch_map, is_sortable=False)

_TOGETHER = (
    *(LINKS, ADDRESSES, CONNECTIONS, AUTO_LINKS, LINK_ROUTES),
    *(GENERAL, MEMORY, POLICY, VHOSTS, VHOST_STATS),
)


def _fetch_all(node: Node, ask: Ask) -> list[Block]:
    return [block for view in _TOGETHER for block in view.fetch(node, ask)]


ALL = View(
    ("--all-entities",),
    "links, addresses, connections, auto links, link routes and all figures, one below the other",
    _fetch_all,
    is_sortable=False,
)

VIEWS = (
    *(GENERAL, CONNECTIONS, LINKS, NODES, EDGE, ADDRESSES, MEMORY, POLICY, AUTO_LINKS, LINK_ROUTES),
    *(VHOSTS, VHOST_GROUPS, VHOST_STATS, LOG, ALL, ACTORS, FABRIC, RECORDS, TOPICS, SUBSCRIPTIONS, MAP),
)
"""In the order of the help."""
