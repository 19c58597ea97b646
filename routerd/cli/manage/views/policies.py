"""What is allowed and what was refused: -p, --vhosts, --vhostgroups and --vhoststats."""

from collections.abc import Mapping
from typing import Any

from routerd.cli.manage.figures import names, or_nil, plain
from routerd.cli.manage.node import PREFIX, Entity, Node
from routerd.cli.manage.table import COUNTER, NUMBER, TEXT, Block, Column, Kind, Line, Message, Record, of, tabulate
from routerd.cli.manage.views.view import Ask

POLICY = PREFIX + "policy"
VHOST = PREFIX + "vhost"
VHOST_STATS = PREFIX + "vhostStats"

_CONFIGURATION: tuple[tuple[str, str, Kind], ...] = (
    ("Maximum Concurrent Connections", "maxConnections", NUMBER),
    ("Maximum Message Size", "maxMessageSize", NUMBER),
    ("Enable Vhost Policy", "enableVhostPolicy", TEXT),
    ("Enable Vhost Name Patterns", "enableVhostNamePatterns", TEXT),
    ("Policy Directory", "policyDir", TEXT),
    ("Default Vhost", "defaultVhost", TEXT),
)
_STATUS: tuple[tuple[str, str, Kind], ...] = (
    ("Connections Processed", "connectionsProcessed", COUNTER),
    ("Connections Denied", "connectionsDenied", COUNTER),
    ("Connections Current", "connectionsCurrent", NUMBER),
    ("Links Denied", "linksDenied", COUNTER),
    ("Maximum Message Size Denied", "maxMessageSizeDenied", COUNTER),
    ("Total Denials", "totalDenials", COUNTER),
)
_NIL_IF_EMPTY = frozenset({"policyDir", "defaultVhost"})


def _none_if_unset(value: Any) -> str:
    return "None" if value is None else plain(value)


VHOST_COLUMNS: tuple[Column, ...] = (
    of("hostname"),
    of("maxConnections", kind=NUMBER),
    Column("maxMessageSize", lambda vhost: vhost.get("maxMessageSize"), (), NUMBER, _none_if_unset),
    of("maxConnectionsPerUser", kind=NUMBER),
    of("maxConnectionsPerHost", kind=NUMBER),
    of("allowUnknownUser"),
    Column("groups", lambda vhost: len(_groups(vhost)), (), NUMBER),
)
VHOST_STATS_COLUMNS: tuple[Column, ...] = (
    of("hostname"),
    of("connectionsApproved", kind=COUNTER),
    of("connectionsDenied", kind=COUNTER, is_trouble=True),
    of("connectionsCurrent", kind=NUMBER),
    of("sessionDenied", kind=COUNTER, is_trouble=True),
    of("senderDenied", kind=COUNTER, is_trouble=True),
    of("receiverDenied", kind=COUNTER, is_trouble=True),
    of("maxMessageSizeDenied", kind=COUNTER, is_trouble=True),
)
_USER_COLUMNS = (of("vhost"), of("user"), of("hosts", "remote hosts", TEXT, names))

_GROUP_NUMBERS = (
    *("maxConnectionsPerUser", "maxConnectionsPerHost", "maxMessageSize", "maxFrameSize", "maxSessionWindow"),
    *("maxSessions", "maxSenders", "maxReceivers"),
)
_GROUP_SWITCHES = (
    *("allowDynamicSource", "allowAnonymousSender", "allowUserIdProxy", "allowWaypointLinks"),
    *("allowDynamicLinkRoutes", "allowAdminStatusUpdate", "allowFallbackLinks"),
)
_GROUP_LISTS = ("users", "remoteHosts", "sources", "targets", "sourcePattern", "targetPattern")
GROUP_COLUMNS: tuple[Column, ...] = (
    of("vhost"),
    of("group"),
    *(of(name, kind=NUMBER, show=or_nil) for name in _GROUP_NUMBERS),
    *(of(name, show=lambda value: "False" if value is None else plain(value)) for name in _GROUP_SWITCHES),
)


def _groups(vhost: Entity) -> Mapping[str, Any]:
    groups = vhost.get("groups")
    return groups if isinstance(groups, Mapping) else {}


def policy_records(policy: Entity) -> list[Block]:
    """Return how the policy is configured, and what came of it."""

    def lines(table: tuple[tuple[str, str, Kind], ...]) -> tuple[Line, ...]:
        return tuple(
            Line(label, policy[name], kind, or_nil if name in _NIL_IF_EMPTY else plain, "enied" in name)
            for label, name, kind in table
            if name in policy
        )

    return [
        Record(title="Policy Configuration", lines=lines(_CONFIGURATION)),
        Record(title="Policy Status", lines=lines(_STATUS)),
    ]


def vhosts_block(vhosts: list[Entity]) -> Block:
    """Return what the clients of virtual hosts may do."""
    return tabulate("Vhosts", VHOST_COLUMNS, vhosts, if_empty="No Vhosts")


def vhost_groups_blocks(vhosts: list[Entity], defaults: Mapping[str, Any]) -> list[Block]:
    """Return the groups of users of virtual hosts: a table of their limits, and the lists of each group."""
    if not vhosts:
        return [Message(("No Vhosts",), "Vhost Groups")]
    groups = [
        {"vhost": vhost.get("hostname"), "group": name, **defaults, **settings}
        for vhost in vhosts
        for name, settings in _groups(vhost).items()
    ]
    # A default or a setting that is nowhere is shown all the same.
    rows: list[Entity] = [dict.fromkeys((*_GROUP_NUMBERS, *_GROUP_SWITCHES)) | group for group in groups]
    table = tabulate("Vhost Groups", GROUP_COLUMNS, rows, key=lambda row: (row["vhost"], row["group"]))
    return [table, *map(_group_record, groups)]


def _group_record(group: Entity) -> Record:
    lists = (Line(name, group.get(name), show=or_nil) for name in _GROUP_LISTS)
    return Record(
        title=f"Vhost '{plain(group['vhost'])}' UserGroup '{plain(group['group'])}'",
        lines=(Line("vhost", group["vhost"]), Line("group", group["group"]), *lists),
    )


def vhost_stats_blocks(stats: list[Entity]) -> list[Block]:
    """Return what virtual hosts let in and refused, and from where their users are connected."""
    if not stats:
        return [Message(("No Vhost Stats",), "Vhost Stats")]
    users: list[Entity] = [
        {"vhost": one.get("hostname"), "user": user, "hosts": hosts}
        for one in stats
        for user, hosts in (one.get("perUserState") or {}).items()
    ]
    return [
        tabulate("Vhost Stats", VHOST_STATS_COLUMNS, stats),
        tabulate("Vhost User Stats", _USER_COLUMNS, users, key=lambda row: (row["vhost"], row["user"])),
    ]


def group_defaults(schema: Any) -> dict[str, Any]:
    """Return the defaults of a group's settings, as the answer to GET-SCHEMA tells them."""
    try:
        attributes = schema["entityTypes"]["vhostUserGroupSettings"]["attributes"]
        return {name: one["default"] for name, one in attributes.items() if "default" in one}
    except (TypeError, KeyError):
        return {}


def fetch_policy(node: Node, ask: Ask) -> list[Block]:
    """Return what -p shows."""
    return [block for policy in node.query(POLICY)[:1] for block in policy_records(policy)]


def fetch_vhosts(node: Node, ask: Ask) -> list[Block]:
    """Return what --vhosts shows."""
    return [vhosts_block(node.query(VHOST, limit=ask.limit))]


def fetch_vhost_groups(node: Node, ask: Ask) -> list[Block]:
    """Return what --vhostgroups shows."""
    return vhost_groups_blocks(node.query(VHOST, limit=ask.limit), group_defaults(node.ask("GET-SCHEMA")))


def fetch_vhost_stats(node: Node, ask: Ask) -> list[Block]:
    """Return what --vhoststats shows."""
    return vhost_stats_blocks(node.query(VHOST_STATS, limit=ask.limit))
