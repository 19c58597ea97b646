"""What the worker with a router's topics reports of them: tuples, as of links, since there may be very many."""

from dataclasses import dataclass
from typing import NamedTuple

ClientKey = tuple[str, str]
"""The names of a client's container and link."""


class TopicRow(NamedTuple):
    """A topic, as this router has it."""

    worker: int
    topic: str
    subscriptions: int
    """Those of the whole network."""
    subscribers_here: int
    publishers_here: int
    unsettled: int
    """Deliveries that entered here and are not done."""
    unsettled_octets: int
    records: int
    """Deliveries that are held here for subscribers."""
    oldest_s: float
    """The age of the oldest delivery that entered here without an outcome yet; 0 without one."""
    waits_for: tuple[ClientKey, ...]
    """The subscriptions that this delivery waits for."""
    accepted: int
    rejected: int
    unknown: int
    """Deliveries without an outcome, since their publishers closed or stayed away too long."""
    expired: int
    """Subscriptions that this router has ended since they were away too long."""
    refused: int
    """Links that were refused, or detached since their clients did what is not allowed."""


class PublisherRow(NamedTuple):
    """A publisher of this router."""

    worker: int
    topic: str
    container: str
    link: str
    is_attached: bool
    unsettled: int
    settling: int
    """Settled by the publisher, and not known to all routers."""
    oldest_s: float
    waits_for: tuple[ClientKey, ...]
    credit: int
    accepted: int
    rejected: int
    unknown: int


class SubscriptionRow(NamedTuple):
    """A subscription of the network, as this router knows it."""

    worker: int
    topic: str
    container: str
    link: str
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
    publishers_waiting: int
    """Publishers of this router whose oldest delivery waits for it."""
    oldest_waiting_s: float
    """The age of the oldest of these deliveries; 0 without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicFigures:
    """Sums over all topics of a router: of the counters of `TopicRow`."""

    topics: int
    subscriptions: int
    publishers_here: int
    unsettled: int
    unsettled_octets: int
    records: int
    oldest_s: float
    """The greatest age of all."""
    accepted: int
    rejected: int
    unknown: int
    expired: int
