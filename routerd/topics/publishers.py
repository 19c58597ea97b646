"""A publisher that is, or was last, attached at this router."""

from routerd.topics.claims import Claim
from routerd.topics.names import ClientName
from routerd.topics.records import Entry


class Publisher:
    """What an ingress knows of one publisher: its unsettled map, and what it has settled and not all routers know."""

    __slots__ = (
        *("accepted", "attached_at", "claim", "credit", "entries", "is_ending", "key", "left_at", "link", "may_return"),
        *("name", "notice", "octets", "rejected", "settling", "unknown", "unnumbered"),
    )

    def __init__(
        self, name: ClientName, key: bytes, claim: Claim, link: int, now: float, may_return: bool = True
    ) -> None:
        self.name = name
        self.may_return = may_return
        """Whether its deliveries wait for it when its link is gone; otherwise this router settles them in its place."""
        self.key = key
        self.claim = claim
        self.link: int | None = link
        """None while it is away."""
        self.attached_at = now
        self.left_at = now
        self.entries: dict[bytes, Entry] = {}
        """Its unsettled deliveries by its own tags, in order."""
        self.settling: dict[bytes, int] = {}
        """What it has settled, by tags towards subscribers, until all routers know."""
        self.notice = 0
        """The number under which all routers confirm what it had at its attach; 0 once they have."""
        self.is_ending = False
        """It closed, or stayed away too long: it is forgotten when all routers know what it had settled."""
        self.unnumbered = 0
        """How many of its unsettled deliveries have no number."""
        self.credit = 0
        """What it was granted and has not used."""
        self.octets = 0
        self.accepted = 0
        self.rejected = 0
        self.unknown = 0

    @property
    def is_attached(self) -> bool:
        """Whether it has a link here now."""
        return self.link is not None

    @property
    def is_present(self) -> bool:
        """Whether it is attached, or this router acts in its place."""
        return self.link is not None or not self.may_return

    @property
    def held(self) -> int:
        """How many of its deliveries are not done."""
        return len(self.entries) + len(self.settling)

    def add(self, entry: Entry) -> None:
        """Take a delivery into its map."""
        self.entries[entry.own_tag] = entry
        self.octets += entry.size
        self.unnumbered += 1

    def fill(self, entry: Entry, payload: object, size: int) -> None:
        """Take the message of a delivery that its map had."""
        entry.payload, entry.size = payload, size
        self.octets += size

    def remove(self, entry: Entry) -> None:
        """Take a delivery out of its map."""
        del self.entries[entry.own_tag]
        self.octets -= entry.size
        if not entry.number:
            self.unnumbered -= 1

    def state_of(self, tag: bytes) -> str:
        """Return what is known of a tag: `unsettled`, `settling`, or `none`."""
        if any(entry.tag == tag for entry in self.entries.values()):
            return "unsettled"
        # What it lacked in its map at its attach may be unknown to a router that still has it.
        return "settling" if tag in self.settling or self.notice else "none"
