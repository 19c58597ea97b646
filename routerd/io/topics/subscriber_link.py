"""The receiving link of a client, towards a topic."""

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any

from routerd.io.topics.names import EXACTLY_ONCE, attach_count, client_name, epoch_of, stamp_of, told_of
from routerd.io.topics.outcomes import outcome_of
from routerd.topics import AnswerSubscriber, ClientName, Outcome, SubscriberAttach
from routerd.topics.node import TopicNode
from routerd.topics.records import Record
from routerd.wire import ACCEPTED, Attach, Source, UInt, is_outcome
from routerd.wire.delivery import Delivery
from routerd.wire.sender import Sender

_NEVER = "never"
_SETTLED = 1
_ACCEPTED = ACCEPTED


class SubscriberLink:
    """Passes on what the topic delivers on one link, and what the client decides."""

    def __init__(self, node: TopicNode, topic: str, number: int, link: Sender) -> None:
        self.topic = topic
        self.number = number
        self.link = link
        self.name = ClientName("", "")
        self._node = node
        self._deliveries: dict[bytes, Delivery] = {}
        """What the client has not settled, or the topic has not."""
        self._waiting: deque[Any] = deque()
        """What the topic has delivered, and the client has no credit for any more."""
        self._resumable: dict[bytes, bool] = {}
        """Tags of the client's map that are to be resumed, and whether they are settled thereby."""
        self._granted = 0
        """The credit that the topic has."""
        self._accepted: list[Any] = []
        """What the client has accepted, and the topic was not told."""
        self._has_map = False

    def attached(self, performative: Attach, now: float) -> None:
        """Have the topic take the link."""
        self.name = client_name(performative)
        self._has_map = EXACTLY_ONCE in performative.desired_capabilities
        unsettled: Mapping[Any, Any] = (performative.unsettled or {}) if self._has_map else {}
        decided: dict[bytes, Outcome | None] = {
            bytes(tag): outcome_of(state)[0] if is_outcome(state) else None for tag, state in unsettled.items()
        }
        self._resumable = dict.fromkeys(decided, False)
        attach = SubscriberAttach(
            name=self.name,
            unsettled=decided,
            epoch=epoch_of(performative.properties) if self._has_map else None,
            attaches=attach_count(performative.properties) if self._has_map else 0,
            stamp=stamp_of(performative.properties) if self._has_map else None,
            timeout_s=_timeout_of(performative.source),
            has_map=self._has_map,
        )
        self._node.attach_subscriber(self.topic, self.number, attach, now)

    def answer(self, effect: AnswerSubscriber) -> None:
        """Answer the attach; what the client has is resumed once there is credit. The source says how long it has."""
        link = self.link
        source = link.remote_source
        if self._has_map and isinstance(source, Source):
            timeout_s = min(_timeout_of(source), self._node.topics[self.topic].settings.subscription_timeout_s)
            source = replace(source, timeout=UInt(int(timeout_s)))
        link.suspended = {tag: _record(link, tag) for tag in self._resumable} or None
        link.attach(
            source=source,
            target=link.remote_target,
            unsettled=dict.fromkeys(self._resumable) or None,
            offered_capabilities=(EXACTLY_ONCE,) if self._has_map else (),
            properties=told_of(effect.epoch, effect.stamp) if self._has_map else None,
        )

    def flow(self, now: float) -> None:
        """Use new credit: for what is resumed, for what waits, and for what the topic has."""
        link = self.link
        if not link.is_attached:
            return
        while self._resumable and link.credit > 0:
            tag = next(iter(self._resumable))
            self._resume(tag, self._resumable.pop(tag))
        while self._waiting and link.credit > 0:
            self._send(self._waiting.popleft())
        more = link.credit - self._granted
        if more > 0:
            self._granted += more
            self._node.grant(self.number, more, now)
        if link.drain and link.credit > 0:
            # What the topic still delivers by the credit that it was told of waits for the next credit.
            link.drained()

    def deliver(self, deliveries: list[Any]) -> None:
        """Send deliveries of the topic."""
        self._granted -= len(deliveries)
        for given in deliveries:
            if self.link.credit > 0 and not self._waiting:
                self._send(given)
            else:
                self._waiting.append(given)

    def settle(self, tags: list[bytes]) -> None:
        """Settle deliveries, of this link or of the client's map."""
        for tag in tags:
            if self._resumable and tag in self._resumable:
                self._resumable[tag] = True
                continue
            delivery = self._deliveries.pop(tag, None)
            if delivery is not None and not delivery.settled and not delivery.remote_settled:
                delivery.settle()

    def decided(self, delivery: Delivery, now: float) -> bool:
        """The client has decided, or settled, a delivery; return whether the topic is to be told with others."""
        if delivery.remote_state is not _ACCEPTED or not isinstance(delivery.context, Record):
            return self._decided_otherwise(delivery, now)
        given = delivery.context
        if delivery.remote_settled:
            self._deliveries.pop(given.tag, None)
            if not delivery.settled:
                delivery.settle()
        self._accepted.append(given)
        return len(self._accepted) == 1

    def _decided_otherwise(self, delivery: Delivery, now: float) -> bool:
        state = delivery.remote_state
        if delivery.context is None or not (delivery.remote_settled or is_outcome(state)):
            return False
        if delivery.remote_settled:
            self._deliveries.pop(delivery.tag, None)
            if not delivery.settled:
                delivery.settle()
        self.tell(now)
        outcome, rejection = outcome_of(state)
        self._node.decide(self.number, delivery.tag, outcome, now, rejection)
        return False

    def tell(self, now: float) -> None:
        """Tell the topic what the client has accepted."""
        if self._accepted:
            accepted, self._accepted = self._accepted, []
            self._node.accept(self.number, accepted, now)

    def _send(self, given: Record) -> None:
        """Send what the topic has given; it is the context of its delivery."""
        is_settled = self.link.snd_settle_mode == _SETTLED
        delivery = self.link.send(given.payload, given.tag, is_settled, 0, given)
        if is_settled:
            self._accepted.append(given)
        else:
            self._deliveries[given.tag] = delivery

    def _resume(self, tag: bytes, is_settled: bool) -> None:
        suspended = self.link.suspended
        assert suspended is not None, "it has what is to be resumed"
        delivery = suspended[tag]
        delivery.context = tag
        if not is_settled:
            self._deliveries[tag] = delivery
        self.link.resume(delivery, settled=is_settled)


def _timeout_of(source: Any) -> float:
    """Return how long a subscriber may be away, as it asks; the topic has a bound."""
    if not isinstance(source, Source):
        return 0.0
    return inf if source.expiry_policy == _NEVER else float(source.timeout or 0)


def _record(link: Sender, tag: bytes) -> Delivery:
    """Return what would have been kept of a delivery of an earlier link."""
    delivery = Delivery()
    delivery.link = link
    delivery.given_tag = tag
    return delivery
