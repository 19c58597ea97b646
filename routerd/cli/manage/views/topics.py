"""The topics of a Mobula router, --topics, with their publishers, and the subscriptions of these, --subscriptions."""

from collections.abc import Mapping, Sequence
from typing import Any

from routerd.cli.manage.failures import Refused
from routerd.cli.manage.figures import blocked_time, duration, grouped, octets, plain
from routerd.cli.manage.node import Entity, Node
from routerd.cli.manage.table import COUNTER, NUMBER, Block, Column, Table, of
from routerd.cli.manage.views.view import Ask
from routerd.cli.manage.views.workers import not_here, workers_table

DELIVERY_TOPIC = "org.mobula.deliveryTopic"
PUBLISHER = "org.mobula.publisher"
SUBSCRIPTION = "org.mobula.subscription"


def _some_names(value: Any) -> str:
    """Return the first of some names, and how many there are beside it."""
    if not isinstance(value, Sequence) or isinstance(value, str) or not value:
        return "-"
    return plain(value[0]) + (f" +{len(value) - 1}" if len(value) > 1 else "")


def _state(entity: Mapping[str, Any]) -> str:
    return "attached" if entity.get("attached") else "away"


_OUTCOMES = (
    of("acceptedCount", "acc", COUNTER, grouped),
    of("rejectedCount", "rej", COUNTER, grouped, is_trouble=True),
    of("unknownCount", "unknown", COUNTER, grouped, is_trouble=True),
)
_WAITS = (
    of("oldestSeconds", "oldest", NUMBER, blocked_time, is_trouble=True),
    of("waitsFor", "waits for", show=_some_names),
)

TOPIC_COLUMNS: tuple[Column, ...] = (
    of("topic"),
    of("subscriptionCount", "subs", NUMBER, grouped),
    of("subscribersHere", "here", NUMBER, grouped),
    of("publishersHere", "pubs", NUMBER, grouped),
    of("unsettledCount", "unsett", NUMBER, grouped),
    of("unsettledOctets", "size", NUMBER, octets),
    of("recordCount", "held", NUMBER, grouped),
    *_WAITS,
    *_OUTCOMES,
    of("expiredCount", "expired", COUNTER, grouped, is_trouble=True),
    of("refusedCount", "refused", COUNTER, grouped, is_verbose=True),
    of("worker", kind=NUMBER, is_verbose=True),
    of("name", is_verbose=True),
)

PUBLISHER_COLUMNS: tuple[Column, ...] = (
    of("topic"),
    of("container"),
    of("link"),
    Column("state", _state, ("attached",)),
    of("unsettledCount", "unsett", NUMBER, grouped),
    of("settlingCount", "settling", NUMBER, grouped),
    of("creditAvailable", "cred", NUMBER, grouped),
    *_WAITS,
    *_OUTCOMES,
    of("name"),
)

SUBSCRIPTION_COLUMNS: tuple[Column, ...] = (
    of("topic"),
    of("container"),
    of("link"),
    of("router"),
    Column("state", _state, ("attached",)),
    of("awaySeconds", "away", NUMBER, blocked_time),
    of("timeoutSeconds", "time-out", NUMBER, duration),
    of("undecidedCount", "undecided", NUMBER, grouped),
    of("publishersWaiting", "pubs wait", NUMBER, grouped),
    of("oldestWaitingSeconds", "oldest", NUMBER, blocked_time, is_trouble=True),
    of("deliveredCount", "deliv", COUNTER, grouped),
    of("durable", is_verbose=True),
    of("placeholderCount", "unknown", NUMBER, grouped, is_verbose=True),
    of("name", is_verbose=True),
)


def topics_table(topics: list[Entity], ask: Ask) -> Table:
    """Return the topics, those first whose deliveries wait longest."""
    chosen = sorted(topics, key=_age, reverse=True)[: ask.limit or None]
    return workers_table("Topics", TOPIC_COLUMNS, chosen, is_verbose=ask.is_verbose)


def publishers_table(publishers: list[Entity], ask: Ask) -> Table:
    """Return the publishers, those first that wait longest."""
    chosen = sorted(publishers, key=_age, reverse=True)[: ask.limit or None]
    return workers_table("Publishers", PUBLISHER_COLUMNS, chosen, is_verbose=ask.is_verbose)


def subscriptions_table(subscriptions: list[Entity], ask: Ask) -> Table:
    """Return the subscriptions, those first that hold up others longest."""
    chosen = sorted(subscriptions, key=_holding, reverse=True)[: ask.limit or None]
    return workers_table("Subscriptions", SUBSCRIPTION_COLUMNS, chosen, is_verbose=ask.is_verbose)


def fetch_topics(node: Node, ask: Ask) -> list[Block]:
    """Return what --topics shows."""
    try:
        # All of them: the first ones of the table need not be the first ones of the answer.
        blocks: list[Block] = [topics_table(node.query(DELIVERY_TOPIC), ask)]
        if ask.is_verbose:
            blocks.append(publishers_table(node.query(PUBLISHER), ask))
    except Refused as refusal:
        return [not_here(refusal, DELIVERY_TOPIC, "Topics")]
    return blocks


def fetch_subscriptions(node: Node, ask: Ask) -> list[Block]:
    """Return what --subscriptions shows."""
    try:
        return [subscriptions_table(node.query(SUBSCRIPTION), ask)]
    except Refused as refusal:
        return [not_here(refusal, SUBSCRIPTION, "Subscriptions")]


def _age(entity: Entity) -> int:
    return int(entity.get("oldestSeconds") or 0)


def _holding(entity: Entity) -> tuple[int, ...]:
    names = ("oldestWaitingSeconds", "publishersWaiting", "undecidedCount", "awaySeconds")
    return tuple(int(entity.get(name) or 0) for name in names)
