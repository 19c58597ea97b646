"""A delivery, as its ingress and as a host of subscribers know it.

There is one of each for every delivery under way, so they have few fields, and no dict.
"""

from typing import Any

from routerd.topics.claims import Claim
from routerd.topics.effects import Rejection


class Entry:
    """A delivery of a publisher that is attached here, by the publisher's key. Number 0: none was given yet.

    One without a tag is a notice: its number stands for something that all routers have to know.
    """

    __slots__ = (
        *("is_from_map", "is_told", "number", "own_tag", "payload", "publisher", "rejection", "sent_at", "size"),
        "tag",
    )

    publisher: bytes
    own_tag: bytes
    tag: bytes
    sent_at: float

    def __init__(self) -> None:
        self.payload: Any = None
        self.size = 0
        self.number = 0
        self.is_told = False
        self.is_from_map = False
        self.rejection: Rejection | None = None


def new_entry(publisher: bytes, own_tag: bytes, tag: bytes, sent_at: float) -> Entry:
    """Return the entry of a delivery, without its message."""
    made = Entry.__new__(Entry) if _IS_BORN_BLANK else Entry()
    made.publisher = publisher
    made.own_tag = own_tag
    made.tag = tag
    made.sent_at = sent_at
    return made


class Record:
    """A delivery that subscribers here get. Subscribers are bits of masks."""

    __slots__ = (
        *("claim", "decided", "given", "ingress", "is_settled", "key", "number", "payload", "rejection", "releases"),
        *("size", "tag"),
    )

    key: bytes
    """That of the publisher."""
    tag: bytes
    payload: Any
    size: int
    given: int
    decided: int
    """Who was sent it, or had it in its map; and whose outcome is final."""

    def __init__(self) -> None:
        self.claim: Claim | None = None
        # The `Upstream` that it came from, which refers to records itself.
        self.ingress: Any = None
        """What it is numbered by; None once it is dropped."""
        self.number = 0
        # The publisher has settled it, and not every router is known to know.
        self.is_settled = False
        self.releases: dict[int, int] | None = None
        self.rejection: Rejection | None = None


def new_record(key: bytes, tag: bytes, payload: Any, size: int) -> Record:
    """Return the record of a delivery that nobody was given yet."""
    made = Record.__new__(Record) if _IS_BORN_BLANK else Record()
    made.key = key
    made.tag = tag
    made.payload = payload
    made.size = size
    made.given = made.decided = 0
    return made


class Copy:
    """A delivery on its way from its ingress to a host. Without its message it only names what the host may have."""

    __slots__ = ("claim", "has_payload", "number", "payload", "sent_at", "size", "tag")

    def __init__(self, number: int, claim: Claim, tag: bytes, sent_at: float) -> None:
        self.number = number
        self.claim = claim
        self.tag = tag
        self.sent_at = sent_at
        self.has_payload = False
        self.payload: Any = None
        self.size = 0

    def put(self, payload: Any, size: int) -> None:
        """Add the message."""
        self.has_payload = True
        self.payload = payload
        self.size = size


# Fields of a compiled object are initially None, zero or false.
_IS_BORN_BLANK = hasattr(Copy, "__pyx_vtable__")
