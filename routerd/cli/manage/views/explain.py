"""Where a message to an address would go: --explain."""

import textwrap
from collections.abc import Sequence
from functools import partial

from routerd.cli.manage.failures import Refused
from routerd.cli.manage.node import PREFIX, Entity, Node
from routerd.cli.manage.table import NUMBER, Block, Head, Line, Message, Record, Table
from routerd.cli.manage.views.view import Ask, View

_UNREADABLE = (401, 403)
_WIDTH = 118
_NUMBERS = ("cost", "outstanding", "credit")
_ADDRESS_COLUMNS = (
    *("key", "distribution", "inProcess", "subscriberCount", "remoteCount", "containerCount", "remoteHostRouters"),
    "transitOutstanding",
)
_LINK_COLUMNS = (
    *("connectionId", "linkType", "linkDir", "owningAddr", "undeliveredCount", "unsettledCount", "creditAvailable"),
    "zeroCreditSeconds",
)


def explain_view(address: str) -> View:
    """Return the view of what becomes of a message to an address."""
    return View(("--explain",), "", partial(fetch_explanation, address), is_sortable=False)


def fetch_explanation(address: str, node: Node, _ask: Ask) -> list[Block]:
    """Return what --explain shows."""
    # Only now: other views do without the patterns and rules of the core.
    from routerd.cli.manage.explanation import Facts, explain

    # By this name the general view answers, which alone has the default.
    general = next(iter(node.query("router")), {})
    policy = next(iter(node.query(PREFIX + "policy", ("enableVhostPolicy",))), {})
    has_policy = policy.get("enableVhostPolicy") is True
    told = explain(
        address,
        Facts(
            router=str(general.get("id")),
            mode=str(general.get("mode") or "interior"),
            default_distribution=str(general.get("defaultDistribution") or "balanced"),
            treatments=node.query(PREFIX + "router.config.address"),
            link_routes=node.query(PREFIX + "router.config.linkRoute"),
            auto_links=node.query(PREFIX + "router.config.autoLink"),
            exchanges=_if_known(node, "router.config.exchange"),
            bindings=_if_known(node, "router.config.binding"),
            addresses=node.query(PREFIX + "router.address", _ADDRESS_COLUMNS),
            links=node.query(PREFIX + "router.link", _LINK_COLUMNS),
            nodes=node.query(PREFIX + "router.node", ("id", "nextHop", "cost")),
            connections=node.query(PREFIX + "connection", ("identity", "container", "role", "host", "user")),
            has_policy=has_policy,
            vhosts=_vhosts(node) if has_policy else (),
            vhost_stats=_if_known(node, "vhostStats", ("hostname", "perUserState")) if has_policy else (),
            asker=node.asker,
        ),
    )
    facts = (
        Line("address", address),
        Line("verdict", told.verdict),
        Line("distribution", told.distribution),
        Line("phase", told.phase),
    )
    blocks: list[Block] = [
        Message(tuple(textwrap.wrap(told.sentence, _WIDTH)), "Answer", (told.sentence,)),
        Record(title="Explanation", lines=facts),
        Message(
            ("Why", *(line for one in told.steps for line in _step_lines(one.title, one.text))),
            "Why",
            tuple({"step": one.title, "text": one.text} for one in told.steps),
        ),
    ]
    if told.rights:
        rights = [
            (one.vhost, one.group, _word(one.may_send), _word(one.may_receive), "yes" if one.is_asker else "no")
            for one in told.rights
        ]
        blocks.append(_table("Rights", ("vhost", "group", "send", "receive", "yours"), rights))
    rows = [(one.name, one.words, one.phase, one.cost, one.outstanding, one.credit) for one in told.candidates]
    return [*blocks, _table("Candidates", ("consumer", "state", "phs", "cost", "outstanding", "credit"), rows)]


def _step_lines(title: str, text: str) -> list[str]:
    return textwrap.wrap(f"{title}: {text}", _WIDTH, initial_indent="  ", subsequent_indent="    ")


def _table(title: str, titles: Sequence[str], rows: Sequence[tuple[object, ...]]) -> Table:
    return Table(
        title=title,
        heads=tuple(Head(one, NUMBER) if one in _NUMBERS else Head(one) for one in titles),
        rows=tuple(rows),
        keys=tuple(str(number) for number in range(len(rows))),
        if_empty="No candidates",
    )


def _word(is_allowed: bool | None) -> str:
    return "depends on the user" if is_allowed is None else "yes" if is_allowed else "no"


def _if_known(node: Node, entity_type: str, attributes: Sequence[str] = ()) -> list[Entity]:
    """Return the entities of a type; none at routers of another kind, which do not know it."""
    try:
        return node.query(PREFIX + entity_type, attributes)
    except Refused:
        return []


def _vhosts(node: Node) -> list[Entity] | None:
    try:
        return node.query(PREFIX + "vhost")
    except Refused as refused:
        if refused.status in _UNREADABLE:
            return None
        raise
