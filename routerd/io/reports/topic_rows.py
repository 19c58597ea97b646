"""Rows of topics, of their publishers here and of their subscriptions."""

from collections.abc import Iterator

from routerd.management import PublisherRow, SubscriptionRow, TopicFigures, TopicRow
from routerd.topics import ClientName, PublisherCounters, TopicNode


def topic_figures(node: TopicNode | None, now: float) -> TopicFigures | None:
    """Return the sums over all topics; None at a worker that hosts none."""
    if node is None:
        return None
    found = node.topic_counters(now)
    return TopicFigures(
        topics=len(found),
        subscriptions=sum(one.subscriptions for one in found),
        publishers_here=sum(one.publishers_here for one in found),
        unsettled=sum(one.unsettled for one in found),
        unsettled_octets=sum(one.unsettled_octets for one in found),
        records=sum(one.records for one in found),
        oldest_s=max((one.oldest_s for one in found), default=0.0),
        accepted=sum(one.accepted for one in found),
        rejected=sum(one.rejected for one in found),
        unknown=sum(one.unknown for one in found),
        expired=sum(one.expired for one in found),
    )


def topic_rows(node: TopicNode | None, worker: int, now: float) -> Iterator[TopicRow]:
    """Yield a row for each topic; a worker without topics has none."""
    if node is None:
        return
    latest: dict[str, PublisherCounters] = {}
    for publisher in node.publisher_counters(now):
        other = latest.get(publisher.topic)
        if other is None or publisher.oldest_s > other.oldest_s:
            latest[publisher.topic] = publisher
    for one in node.topic_counters(now):
        behind = latest.get(one.topic)
        yield TopicRow(
            worker=worker,
            topic=one.topic,
            subscriptions=one.subscriptions,
            subscribers_here=one.subscribers_here,
            publishers_here=one.publishers_here,
            unsettled=one.unsettled,
            unsettled_octets=one.unsettled_octets,
            records=one.records,
            oldest_s=one.oldest_s,
            waits_for=() if behind is None else _keys(behind.waits_for),
            accepted=one.accepted,
            rejected=one.rejected,
            unknown=one.unknown,
            expired=one.expired,
            refused=one.refused,
        )


def publisher_rows(node: TopicNode | None, worker: int, now: float) -> Iterator[PublisherRow]:
    """Yield a row for each publisher of this router."""
    for one in () if node is None else node.publisher_counters(now):
        yield PublisherRow(
            worker=worker,
            topic=one.topic,
            container=one.name.container,
            link=one.name.link,
            is_attached=one.is_attached,
            unsettled=one.unsettled,
            settling=one.settling,
            oldest_s=one.oldest_s,
            waits_for=_keys(one.waits_for),
            credit=one.credit,
            accepted=one.accepted,
            rejected=one.rejected,
            unknown=one.unknown,
        )


def subscription_rows(node: TopicNode | None, worker: int, now: float) -> Iterator[SubscriptionRow]:
    """Yield a row for each subscription that this router knows, with the publishers here that wait for it."""
    if node is None:
        return
    waiting: dict[tuple[str, ClientName], list[float]] = {}
    for publisher in node.publisher_counters(now):
        for name in publisher.waits_for:
            waiting.setdefault((publisher.topic, name), []).append(publisher.oldest_s)
    for one in node.subscription_counters(now):
        ages = waiting.get((one.topic, one.name), [])
        yield SubscriptionRow(
            worker=worker,
            topic=one.topic,
            container=one.name.container,
            link=one.name.link,
            router=one.router,
            is_attached=one.is_attached,
            is_durable=one.is_durable,
            timeout_s=one.timeout_s,
            away_s=one.away_s,
            undecided=one.undecided,
            delivered=one.delivered,
            placeholders=one.placeholders,
            publishers_waiting=len(ages),
            oldest_waiting_s=max(ages, default=0.0),
        )


def _keys(names: tuple[ClientName, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((name.container, name.link) for name in names)
