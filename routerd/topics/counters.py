"""The counters of topics that management shows, by publisher and by subscription."""

from dataclasses import dataclass

from routerd.topics.names import ClientName


@dataclass(frozen=True, slots=True)
class TopicCounters:
    """One topic, as this router has it."""

    topic: str
    subscriptions: int
    subscribers_here: int
    publishers_here: int
    unsettled: int
    """Deliveries that entered here and are not done."""
    unsettled_octets: int
    records: int
    """Deliveries that are held here for subscribers."""
    oldest_s: float
    """The age of the oldest delivery that entered here and that no publisher was told the outcome of; 0 if none."""
    accepted: int
    rejected: int
    unknown: int
    """Deliveries whose publishers were told nothing: these have closed, or stayed away too long."""
    expired: int
    """Subscriptions that this router has ended since they were away too long."""
    refused: int
    """Links that were refused, or detached since their clients did what is not allowed."""


@dataclass(frozen=True, slots=True)
class PublisherCounters:
    """One publisher of this router."""

    topic: str
    name: ClientName
    is_attached: bool
    unsettled: int
    settling: int
    """Settled by the publisher, and not known to all routers."""
    oldest_s: float
    waits_for: tuple[ClientName, ...]
    """The subscriptions that its oldest delivery waits for, as far as this router knows."""
    credit: int
    accepted: int
    rejected: int
    unknown: int


@dataclass(frozen=True, slots=True)
class SubscriptionCounters:
    """One subscription of the network."""

    topic: str
    name: ClientName
    router: str
    """Where it is attached, or was last."""
    is_attached: bool
    is_durable: bool
    timeout_s: float
    away_s: float
    undecided: int
    """Deliveries held here that wait for it; 0 if it is not here."""
    delivered: int
    placeholders: int
    """Deliveries of its map that nobody here has a record of."""
