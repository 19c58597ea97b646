"""Publish/subscribe with unsettled maps that outlive the process.

`store` says what a publisher and a subscriber keep, and when. `memory` and `sqlite` keep it. `publishing` and
`subscribing` are the links, without I/O.
"""

from mobula_client.exactly_once.memory import MemoryStore
from mobula_client.exactly_once.names import Guarantee
from mobula_client.exactly_once.publishing import PublishingLink
from mobula_client.exactly_once.sqlite import SqliteStore
from mobula_client.exactly_once.store import Entry, Refusal, Store
from mobula_client.exactly_once.subscribing import LastingLink, SubscribingLink

__all__ = [
    "Entry",
    "Guarantee",
    "LastingLink",
    "MemoryStore",
    "PublishingLink",
    "Refusal",
    "SqliteStore",
    "Store",
    "SubscribingLink",
]
