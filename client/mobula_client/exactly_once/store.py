"""What has to outlive a process, and the moments at which it must be kept.

* A publisher keeps each message before it is sent, until it is decided. It forgets a message before it settles it:
  a message that is not in its unsettled map counts as settled.
* A subscriber keeps the tag of each message that it has decided on before it tells so, until the sender has settled.
* Both count their attaches, before each attach.

The unsettled map of a publisher is the first `window` messages that it keeps. Messages are sent in order, and never
more than a window beyond the oldest one. So all that may have been sent is in the map, without a note that it was sent.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

STORE_ID_OCTETS = 8
"""Octets of the random number that begins the tags of a store."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A message that a publisher keeps."""

    number: int
    octets: bytes
    tag: bytes
    put_at: float
    """When it was put, by the clock of the store."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A message that was not accepted, and that nobody waited for."""

    number: int
    octets: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class Presence:
    """What a link knew of its router when they were last together."""

    heard_at: float
    """When the router was heard last, by the clock of the store; at the end of a process, perhaps a while before."""
    timeout_s: float
    """How long routers remember the link after that."""
    sent_upto: int | None = None
    """The number of the last message that was sent; None while the link is attached, or if its process has died."""


def tag_of(store_id: bytes, number: int) -> bytes:
    """Return the delivery-tag of a message: no other message of any store has it.

    The numbers of a store are never used again, and a store that is made anew has another id. With 16 octets, the tag
    fits into the tags that routers make of it for subscribers.
    """
    return store_id + number.to_bytes(8, "big")


class Store(ABC):
    """Keeps the unsettled maps of publishers and subscribers, by the names of their links.

    A transaction is one step: all of it is kept, or nothing. Routers are told afterwards.
    """

    is_durable: bool
    """Whether it outlives the process."""
    time: Callable[[], float]
    """The clock: seconds since 1970. It goes on while no process runs."""

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Any]:
        """Return a context for one transaction; calls of other methods inside belong to it. An exception undoes it."""

    @abstractmethod
    def after_commit(self, action: Callable[[], None]) -> None:
        """Call a function once the open transaction is kept; at once if none is open. A rollback drops it."""

    @abstractmethod
    def bind(self, container_id: str) -> None:
        """Note to which container the store belongs. Raises UsageError if it belongs to another one."""

    @abstractmethod
    def next_attach(self, link: str) -> int:
        """Count an attach, and return its number."""

    @abstractmethod
    def ticket(self, link: str) -> bytes:
        """Return what the router said of the subscription; empty for a new one."""

    @abstractmethod
    def keep_ticket(self, link: str, ticket: bytes) -> None:
        """Keep what the router says of the subscription; an empty ticket is that of one that has ended."""

    @abstractmethod
    def presence(self, link: str) -> Presence | None:
        """Return what was kept of the router last; None before the first attach."""

    @abstractmethod
    def keep_presence(self, link: str, presence: Presence) -> None:
        """Keep when the router was heard, and what it is known to have been sent."""

    # --- publishers

    @abstractmethod
    def window_of(self, link: str, window: int) -> int:
        """Return the larger of this window and those that the publisher had before, and keep it."""

    @abstractmethod
    def put(self, link: str, messages: Sequence[bytes]) -> list[Entry]:
        """Keep messages, in their order."""

    @abstractmethod
    def entries(self, link: str, after: int, most: int) -> list[Entry]:
        """Return the first messages whose numbers are above `after`."""

    @abstractmethod
    def forget(self, link: str, numbers: Iterable[int]) -> None:
        """Forget messages that are decided."""

    @abstractmethod
    def refuse(self, link: str, number: int, reason: str) -> None:
        """Move a message that was not accepted out of the map."""

    @abstractmethod
    def refusals(self, link: str) -> list[Refusal]:
        """Return the messages that were not accepted."""

    @abstractmethod
    def forget_refusals(self, link: str, numbers: Iterable[int]) -> None:
        """Forget refusals that the application has seen to."""

    # --- subscribers

    @abstractmethod
    def decided(self, link: str) -> Mapping[bytes, Any]:
        """Return the outcome of each delivery that is decided and not settled, by tag."""

    @abstractmethod
    def decide(self, link: str, tag: bytes, outcome: Any) -> None:
        """Keep the outcome of a delivery."""

    @abstractmethod
    def settled(self, link: str, tags: Iterable[bytes]) -> None:
        """Forget deliveries that the sender has settled."""

    @abstractmethod
    def close(self) -> None:
        """Release what the store holds."""

