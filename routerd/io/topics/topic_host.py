"""The host of a router's topics: a container inside the router, to which the links of clients are routed.

What AMQP says of unsettled maps, modes and ends of links passes a routed link as it is. So a client may attach at any
worker, and at any router that routes links, also at one that knows nothing of topics.
"""

import logging

from routerd.core import (
    TOPICS,
    LinkDirection,
    LinkRouteSettings,
    PatternTree,
    Router,
    RouterMode,
    canonical,
)
from routerd.core.inside.inner_connection import InnerConnection
from routerd.io.logs import module_log
from routerd.io.topics.names import PLACE
from routerd.io.topics.network import TopicNetwork
from routerd.io.topics.publisher_link import PublisherLink
from routerd.io.topics.sizes import MESSAGE_MAX
from routerd.io.topics.subscriber_link import SubscriberLink
from routerd.topics import (
    AnswerPublisher,
    AnswerSubscriber,
    AskEcho,
    Decide,
    Deliver,
    Detach,
    Effect,
    Grant,
    NodeConfig,
    Refused,
    Remark,
    Send,
    SendCopies,
    Settle,
    TopicError,
    TopicSettings,
)
from routerd.topics.node import TopicNode
from routerd.wire import (
    Attach,
    Begin,
    Error,
    LinkState,
    Receiver,
    Sender,
    Session,
    SessionState,
    StateError,
)
from routerd.wire.delivery import Delivery
from routerd.wire.link import Link

LinkEffect = AnswerPublisher | AnswerSubscriber | AskEcho | Decide | Deliver | Detach | Grant | Settle
"""What a topic wants of a link."""

LOST = "qd:routed-link-lost"
"""The condition of a routed link whose other half is lost."""
FRAME_SIZE = 1 << 16
WINDOW_FRAMES = 2048
"""Messages that other routers send together, and more: what exceeds it waits in a slower queue."""
_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}

_log = module_log("ROUTER_CORE")


class TopicHost(InnerConnection):
    """Hosts the topics of a router at one of its workers."""

    def __init__(self, router: Router, config: NodeConfig, now: float) -> None:
        peer = router.connections.new_peer(TOPICS, place=PLACE)
        container_id = f"{config.router_id}#topics"
        super().__init__(router, peer, container_id, now, frame_size=FRAME_SIZE, window=WINDOW_FRAMES)
        self._patterns: PatternTree[TopicSettings] = PatternTree()
        self.node = TopicNode(config, self._patterns.match, now)
        self._incarnation = config.incarnation
        self._links: dict[int, PublisherLink | SubscriberLink] = {}
        self._last_link = 0
        self._telling: list[PublisherLink | SubscriberLink] = []
        """Links that have something to tell their topics."""
        self.network = TopicNetwork(router, now, on_frame=self._take_frame, on_copies=self._take_copies)
        self._reached: set[str] = set()
        self._is_alone = router.settings.mode is not RouterMode.STANDALONE
        """The routing engine has not told of the network yet."""
        self._now = now

    # --- configuration

    def add(self, pattern: str, settings: TopicSettings) -> None:
        """Host the addresses of a pattern."""
        self._patterns.add(pattern, settings)
        for direction in LinkDirection:
            name = _route_name(direction, pattern)
            self._router.link_route_uses.add(
                LinkRouteSettings(name=name, direction=direction, pattern=pattern, connection=PLACE)
            )

    def remove(self, pattern: str) -> None:
        """Take no further links to the addresses of a pattern."""
        if self._patterns.find(pattern) is not None:
            self._patterns.remove(pattern)
            for direction in LinkDirection:
                self._router.link_route_uses.remove(_route_name(direction, pattern))

    # --- turns

    def carry(self, now: float) -> bool:
        """Carry output, with what the topics want after what has come."""
        self._now = now
        had_output = self.carry_down(now)
        if had_output:
            self._run(now)
        return self.carry_up(now) or had_output

    def tick(self, now: float) -> None:
        """Look at the network and at the time."""
        reached = set(self._router.directory.network.routes)
        for router in sorted(reached - self._reached):
            self.node.reach(router, now)
        for router in sorted(self._reached - reached):
            self.node.lose(router, now)
            self.network.forget(router)
        self._reached = reached
        self.node.tick(now)
        self._run(now)

    def _run(self, now: float) -> None:
        if self._is_alone:
            # No other router can tell us yet which subscriptions there are, so that the grace has not begun.
            self.node.routers.begin_anew(now)
            self._is_alone = not self._router.directory.network.is_known
        self._tell(now)
        while effects := self.node.take(now):
            for effect in effects:
                self._do(effect, now)
            self._tell(now)

    def _tell(self, now: float) -> None:
        """Tell topics what their links have gathered."""
        while self._telling:
            telling, self._telling = self._telling, []
            for found in telling:
                found.tell(now)

    def _do(self, effect: Effect, now: float) -> None:
        if isinstance(effect, Send):
            self.network.send_frame(effect.router, effect.data)
        elif isinstance(effect, SendCopies):
            self.network.send_copies(effect.routers, effect.header, effect.payloads)
        elif isinstance(effect, Remark):
            _log.log(_LEVELS[effect.level], "%s", effect.text)
        else:
            self._do_at_link(effect, now)

    def _do_at_link(self, effect: LinkEffect, now: float) -> None:
        found = self._links.get(effect.link)
        if found is None or not found.link.session.is_open:
            return
        try:
            if isinstance(effect, Detach):
                del self._links[effect.link]
                _end(found.link, Error(condition=effect.condition, description=effect.description))
            elif isinstance(found, PublisherLink):
                self._do_at_publisher(found, effect)
            else:
                self._do_at_subscriber(found, effect, now)
        except StateError as error:
            # Its peer has left meanwhile.
            _log.debug("Topic %s: %s", found.topic, error)

    def _do_at_publisher(self, found: PublisherLink, effect: LinkEffect) -> None:
        if isinstance(effect, Decide):
            if found.decide(effect):
                self._telling.append(found)
        elif isinstance(effect, Grant):
            found.grant(effect.credit)
        elif isinstance(effect, AnswerPublisher):
            found.answer(effect, MESSAGE_MAX)
        elif isinstance(effect, AskEcho):
            found.ask_echo(effect.token)

    def _do_at_subscriber(self, found: SubscriberLink, effect: LinkEffect, now: float) -> None:
        if isinstance(effect, Deliver):
            found.deliver(effect.deliveries)
            found.tell(now)
        elif isinstance(effect, Settle):
            found.settle(effect.tags)
        elif isinstance(effect, AnswerSubscriber):
            found.answer(effect)
            found.flow(now)
            found.tell(now)

    # --- other routers

    def _take_frame(self, router: str, data: bytes) -> None:
        try:
            self.node.receive(router, data, self._router.now)
        except TopicError as error:
            _log.warning("Router %s says of topics what cannot be: %s", router, error)
        self._run(self._router.now)

    def _take_copies(self, header: bytes, payloads: list[bytes]) -> None:
        try:
            self.node.receive_copies(header, payloads, [len(payload) for payload in payloads], self._router.now)
        except TopicError as error:
            _log.warning("Copies of a topic's messages are malformed: %s", error)
        self._run(self._router.now)

    # --- events of the far end

    def on_session_begun(self, session: Session, performative: Begin) -> None:
        """Answer the session of a routed link."""
        if session.state is SessionState.BEGIN_RCVD:
            session.begin()

    def on_link_attached(self, link: Link, performative: Attach) -> None:
        """Have the topic take a link."""
        if link.state is not LinkState.ATTACH_RCVD:
            return
        terminus = performative.source if link.is_sender else performative.target
        topic = canonical(str(getattr(terminus, "address", "") or ""))
        self._last_link += 1
        number = self._last_link
        found: PublisherLink | SubscriberLink
        if isinstance(link, Sender):
            found = SubscriberLink(self.node, topic, number, link)
        else:
            assert isinstance(link, Receiver)
            found = PublisherLink(self.node, topic, number, link, self._incarnation)
        link.context = found
        self._links[number] = found
        try:
            found.attached(performative, self._router.now)
        except Refused as refused:
            del self._links[number]
            _end(link, Error(condition=refused.condition, description=refused.reason))

    def on_link_detached(self, link: Link, closed: bool, error: Error | None) -> None:
        """Tell the topic that a client's link is gone."""
        found = link.context
        link.context = None
        if found is not None and self._links.pop(found.number, None) is not None:
            found.tell(self._router.now)
            # Routers on the way close what a lost connection leaves behind; the client may come back.
            is_lost = error is not None and error.condition == LOST
            self.node.detach(found.number, self._router.now, is_closed=closed and not is_lost)

    def on_link_flow(self, link: Link) -> None:
        """Use a subscriber's credit, or take a publisher's answer to an echo."""
        found = link.context
        if isinstance(found, SubscriberLink):
            found.flow(self._router.now)
            found.tell(self._router.now)
        elif isinstance(found, PublisherLink):
            found.tell(self._router.now)
            found.echoed(self._router.now)

    def on_transfer(
        self, receiver: Receiver, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Take octets of a publisher's message."""
        context = receiver.context
        if isinstance(context, PublisherLink):
            found = context
            if found.take(delivery, data, start, end, self._now):
                self._telling.append(found)

    def on_disposition(self, delivery: Delivery) -> None:
        """Take a subscriber's decision, or a publisher's settlement."""
        context = delivery.link.context
        if isinstance(context, SubscriberLink):
            subscriber = context
            if subscriber.decided(delivery, self._now):
                self._telling.append(subscriber)
        elif isinstance(context, PublisherLink):
            publisher = context
            if publisher.settled(delivery):
                self._telling.append(publisher)


def _route_name(direction: LinkDirection, pattern: str) -> str:
    return f"{PLACE}/{direction.value}/{pattern}"


def _end(link: Link, error: Error) -> None:
    link.context = None
    if link.state is LinkState.ATTACH_RCVD:
        link.refuse(error)
    elif link.is_attached:
        link.detach(error=error)
