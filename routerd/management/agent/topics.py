"""Topics, their publishers and their subscriptions, as entities of the general view."""

from operator import attrgetter
from typing import Any

from routerd.config.schema import DELIVERY_TOPIC, PUBLISHER, SUBSCRIPTION, EntityType
from routerd.management.agent.columns import Columns, Getter
from routerd.management.agent.entity import Entity, entity_of
from routerd.management.agent.numbers import whole
from routerd.management.agent.refusals import NotFound
from routerd.management.backing import Backing
from routerd.management.topic_rows import PublisherRow, SubscriptionRow


def _whole_of(attribute: str) -> Getter:
    read = attrgetter(attribute)
    return lambda row: whole(read(row))


def _waits_for(row: Any) -> list[str]:
    return [_client(container, link) for container, link in row.waits_for]


_CLIENT_COLUMNS: Columns = {
    "topic": attrgetter("topic"),
    "container": attrgetter("container"),
    "link": attrgetter("link"),
}
_OUTCOME_COLUMNS: Columns = {
    "acceptedCount": _whole_of("accepted"),
    "rejectedCount": _whole_of("rejected"),
    "unknownCount": _whole_of("unknown"),
}

TOPIC_COLUMNS: Columns = {
    "topic": attrgetter("topic"),
    "worker": _whole_of("worker"),
    "subscriptionCount": _whole_of("subscriptions"),
    "subscribersHere": _whole_of("subscribers_here"),
    "publishersHere": _whole_of("publishers_here"),
    "unsettledCount": _whole_of("unsettled"),
    "unsettledOctets": _whole_of("unsettled_octets"),
    "recordCount": _whole_of("records"),
    "oldestSeconds": _whole_of("oldest_s"),
    "waitsFor": _waits_for,
    **_OUTCOME_COLUMNS,
    "expiredCount": _whole_of("expired"),
    "refusedCount": _whole_of("refused"),
}
PUBLISHER_COLUMNS: Columns = {
    **_CLIENT_COLUMNS,
    "attached": attrgetter("is_attached"),
    "unsettledCount": _whole_of("unsettled"),
    "settlingCount": _whole_of("settling"),
    "oldestSeconds": _whole_of("oldest_s"),
    "waitsFor": _waits_for,
    "creditAvailable": _whole_of("credit"),
    **_OUTCOME_COLUMNS,
}
SUBSCRIPTION_COLUMNS: Columns = {
    **_CLIENT_COLUMNS,
    "router": attrgetter("router"),
    "attached": attrgetter("is_attached"),
    "durable": attrgetter("is_durable"),
    "timeoutSeconds": _whole_of("timeout_s"),
    "awaySeconds": _whole_of("away_s"),
    "undecidedCount": _whole_of("undecided"),
    "deliveredCount": _whole_of("delivered"),
    "placeholderCount": _whole_of("placeholders"),
    "publishersWaiting": _whole_of("publishers_waiting"),
    "oldestWaitingSeconds": _whole_of("oldest_waiting_s"),
}

TOPIC_PREFIX, PUBLISHER_PREFIX, SUBSCRIPTION_PREFIX = ("topic/", "publisher/", "subscription/")
"""What the names and identities begin with."""


async def topic_entities(backing: Backing) -> list[Entity]:
    """Return the topics of the router."""
    return [_entity(DELIVERY_TOPIC, TOPIC_PREFIX + row.topic, TOPIC_COLUMNS, row) for row in await backing.topics()]


async def publisher_entities(backing: Backing) -> list[Entity]:
    """Return the publishers at the router."""
    return [
        _entity(PUBLISHER, _identity(PUBLISHER_PREFIX, row), PUBLISHER_COLUMNS, row)
        for row in await backing.publishers()
    ]


async def subscription_entities(backing: Backing) -> list[Entity]:
    """Return the subscriptions that the router knows."""
    return [
        _entity(SUBSCRIPTION, _identity(SUBSCRIPTION_PREFIX, row), SUBSCRIPTION_COLUMNS, row)
        for row in await backing.subscriptions()
    ]


async def end_subscription(target: Entity, backing: Backing) -> None:
    """End a subscription; NotFound if it has ended meanwhile."""
    values = target.values
    if not await backing.end_subscription(values["topic"], values["container"], values["link"]):
        raise NotFound(f"No entity with identity={values['identity']}")


def _entity(entity_type: EntityType, identity: str, columns: Columns, row: object) -> Entity:
    return entity_of(entity_type, identity, identity, {name: read(row) for name, read in columns.items()})


def _identity(prefix: str, row: PublisherRow | SubscriptionRow) -> str:
    return f"{prefix}{row.topic}/{_client(row.container, row.link)}"


def _client(container: str, link: str) -> str:
    """Return the last parts of an identity. Names may have slashes. They are escaped, except in topics."""
    return "/".join(name.replace("%", "%25").replace("/", "%2F") for name in (container, link))
