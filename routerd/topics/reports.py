"""The counters of a topic that management shows. They are counted when it asks for them."""

from routerd.topics.counters import PublisherCounters, SubscriptionCounters, TopicCounters
from routerd.topics.names import ClientName
from routerd.topics.publishers import Publisher
from routerd.topics.topic import Topic


def topic_counters(name: str, topic: Topic, now: float) -> TopicCounters:
    """Return the counters of a topic at this router."""
    ingress = topic.ingress
    publishers = ingress.publishers.values()
    return TopicCounters(
        topic=name,
        subscriptions=len(topic.directory.subscriptions),
        subscribers_here=len(topic.subscribers.sessions),
        publishers_here=sum(each.is_attached for each in publishers),
        unsettled=sum(each.held for each in publishers),
        unsettled_octets=sum(each.octets for each in publishers),
        records=topic.host.held,
        oldest_s=max((_oldest_s(each, now) for each in publishers), default=0.0),
        accepted=ingress.accepted,
        rejected=ingress.rejected,
        unknown=ingress.unknown,
        expired=topic.membership.expired,
        refused=topic.refused,
    )


def publisher_counters(name: str, topic: Topic, now: float) -> list[PublisherCounters]:
    """Return the counters of the publishers at this router."""
    return [
        PublisherCounters(
            topic=name,
            name=each.name,
            is_attached=each.is_attached,
            unsettled=len(each.entries),
            settling=len(each.settling),
            oldest_s=_oldest_s(each, now),
            waits_for=_waits_for(topic, each),
            credit=each.credit,
            accepted=each.accepted,
            rejected=each.rejected,
            unknown=each.unknown,
        )
        for each in topic.ingress.publishers.values()
    ]


def subscription_counters(name: str, topic: Topic, now: float) -> list[SubscriptionCounters]:
    """Return the counters of all subscriptions of the network, as this router knows them."""
    undecided: dict[ClientName, int] = {}
    for record in topic.subscribers.records():
        for waiting in topic.subscribers.undecided(record):
            undecided[waiting] = undecided.get(waiting, 0) + 1
    told = []
    away = topic.directory.subscriptions.away
    for each in topic.directory.subscriptions:
        session = topic.subscribers.sessions.get(each.name)
        told.append(
            SubscriptionCounters(
                topic=name,
                name=each.name,
                router=each.host.router,
                is_attached=each.is_attached,
                is_durable=each.is_durable,
                timeout_s=each.timeout_s,
                away_s=now - away.get(each.name, now),
                undecided=undecided.get(each.name, 0),
                delivered=session.delivered if session is not None else 0,
                placeholders=len(session.placeholders) if session is not None else 0,
            )
        )
    return told


def _oldest_s(publisher: Publisher, now: float) -> float:
    return max((now - entry.sent_at for entry in publisher.entries.values() if not entry.is_told), default=0.0)


def _waits_for(topic: Topic, publisher: Publisher) -> tuple[ClientName, ...]:
    """Return the subscriptions that the oldest delivery without an outcome waits for."""
    for entry in publisher.entries.values():
        if not entry.is_told:
            return topic.waits_for(entry)
    return ()
