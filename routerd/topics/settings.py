"""The settings of a router for topics, and those of one topic."""

from dataclasses import dataclass

from routerd.topics.errors import InvalidSetting

WINDOW_MAX = 4096
"""Copies of one stream that may wait behind a gap; those that come beyond are asked for again."""
MISSING_ASKED_MAX = 512
"""Numbers that are asked for at once."""
FRAMES_UNACKNOWLEDGED_MAX = 4096
FRAMES_AHEAD_MAX = 512
"""Frames to one router that it has not acknowledged, after which it is told everything anew; and frames that may wait
behind a lost one.
"""
FRAMES_REPEATED_MAX = 64
OPERATIONS_PER_FRAME = 256
COPIES_TOGETHER = 256
COPIES_OCTETS = 1 << 16
"""Messages that go to another router as one: so many at most, and none behind so many octets."""
ACKNOWLEDGE_FRAMES = 64
"""Frames that are received before they are acknowledged without waiting for the next hello."""
RELEASES_MAX = 3
"""How often a subscriber may release a delivery; then it counts as rejected."""
MAP_MAX = 400
"""What subscribers may have decided and unsettled, all publishers of a topic together: the map has to fit an attach."""
MAPS_ASKED_KEPT = 5
"""So many times `confirm_wait_s`, publishers keep to that for a subscriber with a map that is to come."""
CREDIT_WINDOW = 256
"""The credit that a publisher is granted at most."""
QUESTIONS_PER_TICK = 1024
UNSETTLED_PER_PUBLISHER_MAX = 20_000
"""What a publisher has unsettled is told in one list, which the codec limits."""
ENDED_KEPT = 4
"""For each subscription or publisher that a topic may have, so many that have ended are remembered at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeConfig:
    """One router's part in the protocol."""

    router_id: str
    incarnation: int
    """Higher after each start of the router."""
    wall_offset_s: float = 0.0
    """What to add to the time that the node is told to have that of the host's clock."""
    hello_interval_s: float = 1.0
    hello_max_age_s: float = 3.0
    """A router that was not heard for so long is out of reach."""
    confirm_wait_s: float = 2.0
    """A new subscription is answered after so long even if a router has not confirmed it."""
    meeting_s: float = 0.0
    """A router answers no new subscription for so long after its start: others may not be in reach yet."""
    longest_timeout_s: float = 5400.0
    """No subscription and no publisher of the network may be away longer and come back."""
    grace_s: float | None = None
    """How long a router accepts nothing after its start if nobody tells it the directory; the longest timeout unless
    given. If it is less, subscriptions that come back later are ended, and told so.
    """
    is_first_start: bool = False
    """The network has no subscriptions yet, so there is nothing to wait for."""
    topics_max: int = 10_000
    routers_max: int = 2048
    name_octets_max: int = 512
    """Characters of a container and of a link together."""

    @property
    def lease_s(self) -> float:
        """How long a router out of reach may still show what it has to subscribers: twice the age, and 10 %."""
        return 2.2 * self.hello_max_age_s

    @property
    def grace(self) -> float:
        """How long a router without a directory waits."""
        return self.longest_timeout_s if self.grace_s is None else max(self.grace_s, self.lease_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSettings:
    """What holds for one topic, on all routers alike."""

    is_exactly_once: bool = True
    """Otherwise messages may come twice after a failure, and settling takes one round less."""
    subscription_timeout_s: float = 3600.0
    """The longest time that a subscriber may be away; less if it asks for less."""
    publisher_timeout_s: float = 5400.0
    """How long a publisher may be away: at least 1.5 times that of subscriptions."""
    unsettled_max: int = 10_000
    unsettled_octets_max: int = 256 * 1024 * 1024
    """Deliveries and octets that the publishers at one router may have unsettled. Then they get no credit."""
    unsettled_per_publisher_max: int = 2000
    subscribers_max: int = 10_000
    publishers_max: int = 10_000
    records_max: int = 100_000
    """Deliveries of all publishers that one router holds for its subscribers; further ones stay where they entered."""

    def __post_init__(self) -> None:
        most = UNSETTLED_PER_PUBLISHER_MAX
        if not 1 <= self.unsettled_per_publisher_max <= most:
            raise InvalidSetting(
                "unsettled_per_publisher_max", self.unsettled_per_publisher_max, f"and must be from 1 to {most}"
            )
        if self.publisher_timeout_s < 1.5 * self.subscription_timeout_s:
            raise InvalidSetting(
                *("publisher_timeout_s", self.publisher_timeout_s),
                f"and must be at least 1.5 times subscription_timeout_s, {self.subscription_timeout_s}",
            )
