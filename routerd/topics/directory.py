"""The directory of a topic: its subscriptions and publishers, where they are, and who has ended.

The latest claim says where somebody is. The directory remembers and compares; its owner acts.
"""

from dataclasses import dataclass

from routerd.topics.claims import NO_CLAIM, ZERO, Claim, Stamp
from routerd.topics.names import NOWHERE, ClientName, Place
from routerd.topics.settings import ENDED_KEPT, TopicSettings
from routerd.topics.subscriptions import Homes, Subscriptions
from routerd.topics.tags import publisher_key


@dataclass(slots=True)
class KnownPublisher:
    """A publisher that the network has, or had lately."""

    name: ClientName
    key: bytes
    claim: Claim
    ingress: Place
    is_closed: bool = False
    """It has nothing unsettled: every one of its tags counts as settled."""
    is_attached: bool = False
    """As the ingress itself has told; a publisher that left may be elsewhere."""
    heard_at: float = 0.0
    """When its ingress was last in reach."""
    may_return: bool = True
    """It may attach again, there or elsewhere."""


class Directory:
    """What a router knows of a topic's clients."""

    def __init__(self, settings: TopicSettings, homes: Homes) -> None:
        self._settings = settings
        self.subscriptions = Subscriptions(settings.subscribers_max, homes)
        self.publishers: dict[bytes, KnownPublisher] = {}
        self.horizon: Stamp = ZERO
        """When a router last accepted something, as far as we know; by its own clock."""
        self.accepted_at = float("-inf")
        """When we did so, or heard of it; by our clock."""
        self._ended: dict[tuple[ClientName, Claim], float] = {}
        # By publisher: what was sent before may have been dropped by a host.
        self._drop_lines: dict[bytes, float] = {}

    # --- subscriptions

    def has_ended(self, name: ClientName, epoch: Claim) -> bool:
        """Return whether that subscription has ended."""
        return (name, epoch) in self._ended

    def end(self, name: ClientName, epoch: Claim, now: float) -> bool:
        """Note that a subscription has ended; return whether that is news."""
        if self.has_ended(name, epoch):
            return False
        self._ended[name, epoch] = now
        if len(self._ended) > ENDED_KEPT * self._settings.subscribers_max:
            # A claim that comes back now lives no longer than its time-out.
            del self._ended[next(iter(self._ended))]
        known = self.subscriptions.get(name)
        if known is not None and known.epoch == epoch:
            self.subscriptions.remove(name)
        return True

    def endings(self) -> list[tuple[ClientName, Claim]]:
        """Return the subscriptions that have ended lately."""
        return list(self._ended)

    def raise_horizon(self, stamp: Stamp, now: float) -> None:
        """Note that a router has accepted something."""
        if stamp > self.horizon:
            self.horizon = stamp
            self.accepted_at = now

    # --- publishers

    def publisher(self, name: ClientName) -> KnownPublisher:
        """Return what is known of a publisher; a new one has no claim."""
        key = publisher_key(name)
        known = self.publishers.get(key)
        if known is None:
            if len(self.publishers) >= ENDED_KEPT * self._settings.publishers_max:
                self._forget_a_closed_one()
            known = self.publishers[key] = KnownPublisher(name, key, NO_CLAIM, NOWHERE)
        return known

    def _forget_a_closed_one(self) -> None:
        """Forget the publisher that closed first: what turns up of it is settled after the time-out."""
        closed = next((key for key, each in self.publishers.items() if each.is_closed), None)
        if closed is not None:
            del self.publishers[closed]

    def drop_line(self, key: bytes) -> float:
        """Return the time before which a publisher's deliveries may have been dropped."""
        return self._drop_lines.get(key, float("-inf"))

    def raise_drop_line(self, key: bytes, line: float) -> bool:
        """Move that time; return whether it was earlier by a relevant bit."""
        # Each router tells it as an age, so it comes back a little later than it was.
        if line <= self.drop_line(key) + 0.5:
            return False
        self._drop_lines[key] = line
        if len(self._drop_lines) > ENDED_KEPT * self._settings.publishers_max:
            del self._drop_lines[next(iter(self._drop_lines))]
        return True

    def drop_lines(self) -> dict[bytes, float]:
        """Return the times before which deliveries of publishers may have been dropped."""
        return self._drop_lines

    # --- growing old

    def forget_before(self, ended: float, publishers: float) -> list[bytes]:
        """Forget what ended, and publishers that were heard of, before these times; return their keys."""
        for name, epoch in [each for each, at in self._ended.items() if at < ended]:
            del self._ended[name, epoch]
        for line in [key for key, at in self._drop_lines.items() if at < publishers]:
            del self._drop_lines[line]
        gone = [key for key, each in self.publishers.items() if each.heard_at < publishers]
        for key in gone:
            del self.publishers[key]
        return gone

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left that matters to anybody."""
        return not (self.subscriptions or self.publishers or self._ended or self._drop_lines)
