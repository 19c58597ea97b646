"""The sending link of a client, towards a topic."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from routerd.io.topics.names import AGES, EXACTLY_ONCE, ages_of, attach_count, client_name
from routerd.io.topics.outcomes import state_of
from routerd.topics import INVALID_FIELD, AnswerPublisher, ClientName, Decide, PublisherAttach, Refused
from routerd.topics.node import TopicNode
from routerd.wire import Attach, Target, UInt
from routerd.wire.delivery import Delivery
from routerd.wire.receiver import Receiver

_SECOND = 1


class PublisherLink:
    """Passes on what comes on one link, and what the topic decides."""

    def __init__(self, node: TopicNode, topic: str, number: int, link: Receiver, life: int) -> None:
        """`life` is the number of this life of the router: it tells apart clients that do not keep an unsettled map."""
        self.topic = topic
        self.number = number
        self.link = link
        self.name = ClientName("", "")
        self._node = node
        self._life = life
        self._has_map = False
        self._deliveries: dict[bytes, Delivery] = {}
        """Those without outcome, by the tag that the topic knows."""
        self._decided: dict[bytes, Decide] = {}
        """Decisions about deliveries of the map that the client has not resumed yet."""
        self._awaited: set[bytes] = set()
        """The tags that it is to resume."""
        self._octets = bytearray()
        self._count = 0
        self._taken: list[tuple[bytes, bytes, int]] = []
        self._settled: list[bytes] = []
        """What the client has sent and settled, and the topic was not told."""
        self._is_telling = False
        self._echoes: list[int] = []
        """Tokens of questions that the client has not answered."""

    def attached(self, performative: Attach, now: float) -> None:
        """Have the topic take the link. Raises Refused."""
        self.name = client_name(performative)
        self._has_map = EXACTLY_ONCE in performative.desired_capabilities
        unsettled: Mapping[Any, Any] = performative.unsettled or {}
        name = self.name
        if not self._has_map:
            # Its tags begin anew with each link, so that it is another publisher each time.
            name = ClientName(name.container, f"{name.link}#{self._life}.{self.number}")
            unsettled = {}
        ages = ages_of(performative.properties, len(unsettled)) if self._has_map else []
        if ages is None:
            text = f"{AGES} is not a list of {len(unsettled)} ages, one for each delivery of the unsettled map"
            raise Refused(INVALID_FIELD, text)
        attach = PublisherAttach(
            name=name,
            unsettled={bytes(tag): age_s for tag, age_s in zip(unsettled, ages, strict=True)},
            attaches=attach_count(performative.properties) if self._has_map else 0,
            may_return=self._has_map,
        )
        self._node.attach_publisher(self.topic, self.number, attach, now)

    def answer(self, effect: AnswerPublisher, size_max: int) -> None:
        """Answer the attach: the unsettled map has what the client need not send again, the target how long it has."""
        link = self.link
        target = link.remote_target
        if self._has_map and isinstance(target, Target):
            timeout_s = self._node.topics[self.topic].settings.publisher_timeout_s
            target = replace(target, timeout=UInt(int(timeout_s)))
        self._awaited = set(effect.known)
        link.suspended = {tag: _record(link, tag) for tag in effect.known} or None
        link.attach(
            source=link.remote_source,
            target=target,
            rcv_settle_mode=link.rcv_settle_mode,
            unsettled=dict.fromkeys(effect.known) or None,
            max_message_size=size_max,
            offered_capabilities=(EXACTLY_ONCE,) if self._has_map else (),
        )
        if effect.known:
            # A delivery that is resumed takes credit like any other.
            link.grant(len(effect.known))

    def grant(self, credit: int) -> None:
        """Let more messages come."""
        if self.link.is_attached:
            self.link.grant(credit)

    def ask_echo(self, token: int) -> None:
        """Ask the client for an answer behind all that it has sent."""
        self._echoes.append(token)
        self.link.flow(echo=True)

    def echoed(self, now: float) -> None:
        """The client has sent a flow: it answers what it was asked."""
        echoes, self._echoes = self._echoes, []
        for token in echoes:
            self._node.publisher_echoed(self.number, token, now)

    def take(self, delivery: Delivery, data: bytes | bytearray, start: int, end: int, now: float) -> bool:
        """Take octets of a message; a whole one is published. Return whether the topic is to be told more."""
        if delivery.is_aborted:
            self._octets.clear()
            return False
        if delivery.is_partial or self._octets:
            self._octets += data[start:end]
            if delivery.is_partial:
                return False
            message = bytes(self._octets)
            self._octets.clear()
        else:
            message = bytes(data[start:end])
        if delivery.is_resumed:
            return self._resumed(delivery, now)
        self._count += 1
        tag = delivery.tag if self._has_map else self._count.to_bytes(8, "big")
        if not delivery.remote_settled:
            delivery.context = tag
            self._deliveries[tag] = delivery
        self._taken.append((tag, message, len(message)))
        if delivery.remote_settled:
            self._settled.append(tag)
        return self._has_more()

    def _resumed(self, delivery: Delivery, now: float) -> bool:
        tag = delivery.tag
        self._awaited.discard(tag)
        decided = self._decided.pop(tag, None)
        if delivery.remote_settled:
            self._settled.append(tag)
            return self._has_more()
        delivery.context = tag
        self._deliveries[tag] = delivery
        return decided is not None and self._decide(decided, [tag])

    def decide(self, effect: Decide) -> bool:
        """Tell the client the outcome of deliveries; return whether the topic is to be told more."""
        return self._decide(effect, effect.tags)

    def _decide(self, effect: Decide, tags: list[bytes]) -> bool:
        """Do so. A client that settles first has thereby settled them."""
        state = state_of(effect.outcome, effect.rejection)
        is_final = effect.is_settled
        is_telling = False
        for tag in tags:
            delivery = self._deliveries.get(tag)
            if delivery is None:
                if tag in self._awaited:
                    self._decided[tag] = effect
                continue
            is_settled = is_final or not (self._has_map and delivery.rcv_settle_mode == _SECOND)
            delivery.update(state, is_settled)
            if is_settled:
                del self._deliveries[tag]
                if not is_final:
                    self._settled.append(tag)
                    is_telling = True
        return is_telling and self._has_more()

    def settled(self, delivery: Delivery) -> bool:
        """The client has settled a delivery; return whether the topic is to be told of it with others."""
        if not delivery.remote_settled or self._deliveries.pop(delivery.context, None) is None:
            return False
        if not delivery.settled:
            delivery.settle()
        self._settled.append(delivery.context)
        return self._has_more()

    def _has_more(self) -> bool:
        """Return whether there was nothing to tell before."""
        is_first = not self._is_telling
        self._is_telling = True
        return is_first

    def tell(self, now: float) -> None:
        """Tell the topic what the client has sent and settled."""
        self._is_telling = False
        if self._taken:
            taken, self._taken = self._taken, []
            self._node.publish_all(self.number, taken, now)
        if self._settled:
            settled, self._settled = self._settled, []
            self._node.settle_all_by_publisher(self.number, settled, now)


def _record(link: Receiver, tag: bytes) -> Delivery:
    """Return what would have been kept of a delivery of an earlier link."""
    delivery = Delivery()
    delivery.link = link
    delivery.given_tag = tag
    delivery.is_incoming = True
    return delivery
