"""What routers tell each other about topics."""

from typing import Any, NamedTuple

from routerd.topics.claims import Claim, Stamp
from routerd.topics.names import ClientName, Place
from routerd.topics.ranges import Ranges


class Hello(NamedTuple):
    """A greeting, with the last one that was heard of the other router."""

    number: int
    heard: int


class Seasoned(NamedTuple):
    """The directory that was sent is complete, since the sender was up before; and the routers that it knows."""

    routers: list[str]


class SubscriptionKnown(NamedTuple):
    """A subscription exists."""

    name: ClientName
    epoch: Claim
    claim: Claim
    host: Place
    is_ready: bool
    timeout_ms: int
    is_durable: bool
    has_map: bool
    has_waited: bool
    """Its first attach was answered after the receiver had confirmed it."""


class SubscriptionEnded(NamedTuple):
    """A subscription has ended, whatever is claimed later."""

    name: ClientName
    epoch: Claim


class ConfirmAsked(NamedTuple):
    """Asks for a confirmation that a new subscription is known."""

    name: ClientName
    epoch: Claim


class Confirmed(NamedTuple):
    """A new subscription is known: nothing is accepted without it any more."""

    name: ClientName
    epoch: Claim


class MapsAsked(NamedTuple):
    """Asks to have no more under way than an unsettled map has room for, since a subscriber with one is to come."""

    question: int


class MapsAnswered(NamedTuple):
    """Says whether no more is under way than a map has room for. Once that is so, it stays so."""

    question: int
    do_fit: bool


class ListBegun(NamedTuple):
    """The sender's list of subscribers follows; what was told before is void."""


class MemberTold(NamedTuple):
    """A subscriber is in the sender's list since that version."""

    name: ClientName
    claim: Claim
    since: int
    is_attached: bool


class MemberGone(NamedTuple):
    """A subscriber is not in the sender's list any more."""

    name: ClientName


class PublisherKnown(NamedTuple):
    """A publisher is, or was, at an ingress."""

    name: ClientName
    claim: Claim
    ingress: Place
    may_return: bool
    is_closed: bool


class PublisherSeen(NamedTuple):
    """The publisher is attached at the sender now, or not."""

    key: bytes
    claim: Claim
    is_attached: bool


class DropLine(NamedTuple):
    """Deliveries of the publisher that were sent longer ago may have been dropped by a host."""

    key: bytes
    age_ms: int


class Horizon(NamedTuple):
    """A router has accepted something at that time."""

    stamp: Stamp


class StreamAt(NamedTuple):
    """The sender's lowest number that is not done, its next one, and what its publishers use of their share."""

    base: int
    next: int
    used: int


class PublisherSet(NamedTuple):
    """What a publisher has unsettled, in order, and what it has settled lately, by number; 0 is no number yet.

    The notice is the number under which all routers confirm that they know; 0 if all have. Copies may overtake this, so
    it says nothing of numbers from `next` on.
    """

    name: ClientName
    claim: Claim
    is_attached: bool
    may_return: bool
    notice: int
    next: int
    unsettled: list[tuple[bytes, int]]
    settled: list[tuple[bytes, int]]


class Numbered(NamedTuple):
    """A delivery that may be held under another number has this one now."""

    claim: Claim
    tag: bytes
    number: int
    age_ms: int


class SettledUnnumbered(NamedTuple):
    """A delivery that has no number was settled; the number is that of this notice."""

    claim: Claim
    tag: bytes
    number: int


class Settled(NamedTuple):
    """The publishers have settled these."""

    numbers: Ranges


class Done(NamedTuple):
    """All routers know that these are settled."""

    numbers: Ranges


class Void(NamedTuple):
    """These are not sent any more."""

    numbers: Ranges


class Acknowledged(NamedTuple):
    """All subscribers of that version of the sender's list have these; some were rejected."""

    version: int
    numbers: Ranges
    rejections: list[tuple[int, str, str]]


class Knows(NamedTuple):
    """The sender knows that these are settled."""

    numbers: Ranges


class Missing(NamedTuple):
    """The sender wants these messages."""

    numbers: Ranges


class SettledAsked(NamedTuple):
    """Asks the ingress of a publisher about a tag that a subscriber has presented."""

    question: int
    tag: bytes


class IsSettled(NamedTuple):
    """The tag of a question is settled."""

    question: int


class RecordAsked(NamedTuple):
    """Asks any router about a tag of a publisher that has closed with this claim."""

    question: int
    tag: bytes
    claim: Claim


class RecordAnswered(NamedTuple):
    """Whether the router has that delivery, or a later claim of the publisher."""

    question: int
    is_held: bool


Operation = Any
"""One of the classes above."""


class Frame(NamedTuple):
    """Octets between two routers: part of a conversation, in which nothing is lost or overtaken."""

    incarnation: int
    """The sender's life."""
    conversation: int
    """Another number after each beginning; all frames before are void."""
    sequence: int
    """From 1 on; 0 has no operations, and only acknowledges."""
    to_incarnation: int
    """The life of the receiver that is meant; 0 before it is known."""
    acknowledged_conversation: int
    acknowledged: int
    """The last frame that has come from the receiver's conversation without a gap."""
    is_missing: bool
    """Frames behind a gap have come: those before should be sent again."""
    stamp: Stamp
    operations: list[tuple[str, Operation]]
    """With their topics; those of nodes have none."""


class CopyHead(NamedTuple):
    """What travels with messages of one publisher from their ingress to a host, in the order of their numbers."""

    topic: str
    ingress: Place
    publisher: ClientName
    claim: Claim
    numbers: Ranges
    tags: list[bytes]
    ages_ms: list[int]
    """The delivery-tag of each, and how long ago its publisher sent it first."""
