"""Exactly-once and at-least-once publish/subscribe over routers that store nothing, without I/O."""

from routerd.topics.attaching import PublisherAttach, SubscriberAttach
from routerd.topics.claims import Claim, Stamp
from routerd.topics.counters import PublisherCounters, SubscriptionCounters, TopicCounters
from routerd.topics.effects import (
    INVALID_FIELD,
    AnswerPublisher,
    AnswerSubscriber,
    AskEcho,
    Decide,
    Deliver,
    Detach,
    Effect,
    Grant,
    Outcome,
    Rejection,
    Remark,
    Send,
    SendCopies,
    Settle,
)
from routerd.topics.errors import (
    InvalidSetting,
    LinkInUse,
    MalformedTopicMessage,
    Refused,
    TopicError,
    UnsupportedTopicVersion,
)
from routerd.topics.names import ClientName, Place
from routerd.topics.node import TopicNode
from routerd.topics.settings import NodeConfig, TopicSettings
from routerd.topics.tags import delivery_tag, publisher_key

__all__ = [
    "INVALID_FIELD",
    "AnswerPublisher",
    "AnswerSubscriber",
    "AskEcho",
    "Claim",
    "ClientName",
    "Decide",
    "Deliver",
    "Detach",
    "Effect",
    "Grant",
    "InvalidSetting",
    "LinkInUse",
    "MalformedTopicMessage",
    "NodeConfig",
    "Outcome",
    "Place",
    "PublisherAttach",
    "PublisherCounters",
    "Refused",
    "Rejection",
    "Remark",
    "Send",
    "SendCopies",
    "Settle",
    "Stamp",
    "SubscriberAttach",
    "SubscriptionCounters",
    "TopicCounters",
    "TopicError",
    "TopicNode",
    "TopicSettings",
    "UnsupportedTopicVersion",
    "delivery_tag",
    "publisher_key",
]
