"""A client for AMQP 1.0 that keeps its links over lost connections, and its promises over restarts.

`connect` returns a `Client` for asyncio; `mobula_client.blocking` has the same without. A client opens senders,
receivers, requesters, publishers and subscribers. README.md has a page for each.
"""

from mobula_client.aio.client import Client
from mobula_client.aio.publisher import Publisher
from mobula_client.aio.receiver import Delivery, Receiver
from mobula_client.aio.requester import Requester, reply_to
from mobula_client.aio.sender import Sender
from mobula_client.aio.subscriber import Subscriber
from mobula_client.backoff import Backoff
from mobula_client.connecting import connect
from mobula_client.engine import (
    AmqpSequence,
    AmqpValue,
    Data,
    Header,
    Message,
    Properties,
    Symbol,
)
from mobula_client.errors import (
    AuthenticationFailed,
    ClientClosed,
    ClientError,
    ConnectionFailed,
    ExactlyOnceNotOffered,
    LinkEnded,
    LinkStolen,
    MessageModified,
    MessageNotAccepted,
    MessageRejected,
    MessageReleased,
    MessageTooLarge,
    NoReply,
    NoRouterReached,
    OutcomesUnknown,
    OutcomeUnknown,
    PeerClosed,
    StoreFailed,
    SubscriptionEnded,
    UnsettledMapTooLarge,
    UsageError,
)
from mobula_client.exactly_once import Guarantee, MemoryStore, Refusal, SqliteStore, Store
from mobula_client.tls import Tls

__all__ = [
    "AmqpSequence",
    "AmqpValue",
    "AuthenticationFailed",
    "Backoff",
    "Client",
    "ClientClosed",
    "ClientError",
    "ConnectionFailed",
    "Data",
    "Delivery",
    "ExactlyOnceNotOffered",
    "Guarantee",
    "Header",
    "LinkEnded",
    "LinkStolen",
    "MemoryStore",
    "Message",
    "MessageModified",
    "MessageNotAccepted",
    "MessageRejected",
    "MessageReleased",
    "MessageTooLarge",
    "NoReply",
    "NoRouterReached",
    "OutcomeUnknown",
    "OutcomesUnknown",
    "PeerClosed",
    "Properties",
    "Publisher",
    "Receiver",
    "Refusal",
    "Requester",
    "Sender",
    "SqliteStore",
    "Store",
    "StoreFailed",
    "Subscriber",
    "SubscriptionEnded",
    "Symbol",
    "Tls",
    "UnsettledMapTooLarge",
    "UsageError",
    "connect",
    "reply_to",
]
