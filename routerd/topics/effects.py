"""What a node wants its host to do, in the order in which it wants it."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal

from routerd.topics.claims import Claim, Stamp
from routerd.topics.names import ClientName

RESOURCE_DELETED = "amqp:resource-deleted"
RESOURCE_LIMIT_EXCEEDED = "amqp:resource-limit-exceeded"
STOLEN = "amqp:link:stolen"
TRANSFER_LIMIT_EXCEEDED = "amqp:link:transfer-limit-exceeded"
INVALID_FIELD = "amqp:invalid-field"


class Outcome(Enum):
    """How a delivery ends."""

    ACCEPTED = "accepted"
    REJECTED = "rejected"
    RELEASED = "released"
    """Again, to the same subscriber, later."""
    UNDELIVERABLE = "modified"
    """Not to this subscriber again."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why a subscriber has rejected a delivery."""

    condition: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class AnswerPublisher:
    """Answer the attach of a publisher."""

    link: int
    known: tuple[bytes, ...]
    """Tags of its map that the router has; it resends the others."""
    stamp: Stamp
    """What the client gives at its next attach."""


@dataclass(frozen=True, slots=True)
class AnswerSubscriber:
    """Answer the attach of a subscriber."""

    link: int
    epoch: Claim
    """What the subscription is known by; the client gives it at its next attach."""
    is_resumed: bool
    stamp: Stamp


@dataclass(frozen=True, slots=True)
class Deliver:
    """Send deliveries of a publisher to a subscriber, in their order."""

    link: int
    publisher: ClientName
    deliveries: list[Any]
    """Each has a `tag` and a `payload`; the host gives them back with `accept`."""


@dataclass(frozen=True, slots=True)
class Settle:
    """Settle deliveries with a subscriber."""

    link: int
    tags: list[bytes]


@dataclass(frozen=True, slots=True)
class Decide:
    """Tell a publisher the outcome of deliveries; settle them at once if that is said."""

    link: int
    tags: list[bytes]
    outcome: Outcome
    rejection: Rejection | None
    is_settled: bool


@dataclass(frozen=True, slots=True)
class Grant:
    """Grant a publisher so much more credit."""

    link: int
    credit: int


@dataclass(frozen=True, slots=True)
class Detach:
    """Detach a link with an error."""

    link: int
    condition: str
    description: str


@dataclass(frozen=True, slots=True)
class AskEcho:
    """Ask a publisher for an answer behind everything that it has sent: `publisher_echoed` with the token."""

    link: int
    token: int


@dataclass(frozen=True, slots=True)
class Send:
    """Send octets to a router; they may be lost, and overtake each other."""

    router: str
    data: bytes


@dataclass(frozen=True, slots=True)
class SendCopies:
    """Send messages of a topic to routers that have subscribers; they may be lost."""

    routers: list[str]
    header: bytes
    payloads: list[Any]
    """As many as the header says, in the same order."""


@dataclass(frozen=True, slots=True)
class Remark:
    """Log a sentence."""

    level: Literal["warning", "info", "debug"]
    text: str


Effect = (
    AnswerPublisher
    | AnswerSubscriber
    | Deliver
    | Settle
    | Decide
    | Grant
    | Detach
    | AskEcho
    | Send
    | SendCopies
    | Remark
)
