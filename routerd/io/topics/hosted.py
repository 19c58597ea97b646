"""The topics of a worker: nothing, until an address is a topic and this worker is the one that hosts them."""

import time
from collections.abc import Callable

from routerd.core import Router, RouterMode, TopicRules, Topics
from routerd.io.topics.topic_host import TopicHost
from routerd.topics import ClientName, NodeConfig, TopicNode, TopicSettings

TICK_S = 0.5
"""The interval of looks at the time while there are topics: greetings between routers go out in time by it."""
STANDALONE_GRACE_S, GRACE_S = 10, 60
PUBLISHER_TIMES = 1.5
"""A publisher may be away that much longer than a subscriber."""
LEASE_S = 60.0
"""More than the lease of routers that do not hear each other."""
MEETING_S = 2.0
"""Routers that come into reach later than this after the start of another one may end its new subscriptions."""
UNSETTLED_OF_ONE_MAX = 2000
"""Messages that one publisher may have unsettled."""
LONGEST_TIMEOUT_S = 7 * 86_400 * PUBLISHER_TIMES


class HostedTopics(Topics):
    """Begins a host with the first pattern."""

    def __init__(self, router: Router, incarnation: int, on_begun: Callable[[], None]) -> None:
        """`on_begun` is called once the time matters."""
        self.host: TopicHost | None = None
        self._router = router
        self._incarnation = incarnation or time.time_ns()
        self._on_begun = on_begun

    def add(self, pattern: str, rules: TopicRules) -> None:
        """Make the addresses of a pattern topics."""
        if self.host is None:
            self.host = TopicHost(self._router, self._config(), self._router.now)
            self._on_begun()
        self.host.add(pattern, settings_of(rules))

    def remove(self, pattern: str) -> None:
        """Make them ordinary addresses again; links that are attached stay."""
        if self.host is not None:
            self.host.remove(pattern)

    def tick(self, now: float) -> None:
        """Look at the time."""
        if self.host is not None:
            self.host.tick(now)

    @property
    def node(self) -> TopicNode | None:
        """What has the topics, if they are hosted here."""
        return None if self.host is None else self.host.node

    def end_subscription(self, topic: str, container: str, link: str, now: float) -> bool:
        """End a subscription for an operator; return whether there is one."""
        if self.host is None or not self.host.node.end_subscription(topic, ClientName(container, link), now):
            return False
        # Its client and other routers are told of it at once.
        self.host.tick(now)
        return True

    def _config(self) -> NodeConfig:
        settings = self._router.settings
        grace_s = settings.topic_grace_s
        is_standalone = settings.mode is RouterMode.STANDALONE
        if grace_s is None:
            grace_s = STANDALONE_GRACE_S if is_standalone else GRACE_S
        return NodeConfig(
            router_id=settings.id,
            incarnation=self._incarnation,
            wall_offset_s=time.time() - self._router.now,
            hello_interval_s=float(settings.hello_interval_s),
            hello_max_age_s=float(settings.hello_max_age_s),
            meeting_s=0.0 if is_standalone else MEETING_S,
            longest_timeout_s=LONGEST_TIMEOUT_S,
            grace_s=float(grace_s),
            # Elsewhere the lease of other routers has to pass at least.
            is_first_start=is_standalone and grace_s == 0,
        )


def settings_of(rules: TopicRules) -> TopicSettings:
    """Return the settings of topics by configured rules."""
    timeout_s = float(rules.subscription_timeout_s)
    return TopicSettings(
        is_exactly_once=rules.is_exactly_once,
        subscription_timeout_s=timeout_s,
        publisher_timeout_s=PUBLISHER_TIMES * timeout_s + LEASE_S,
        unsettled_max=rules.unsettled_max,
        unsettled_octets_max=rules.unsettled_octets_max,
        unsettled_per_publisher_max=min(rules.unsettled_max, UNSETTLED_OF_ONE_MAX),
    )
