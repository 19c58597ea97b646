"""All topics of one router: what happens to it goes in by methods, and what it wants comes out as effects.

A turn is some calls with the same time, and `take`, which returns the effects in order.
"""

from collections.abc import Callable
from typing import Any

from routerd.topics.attaching import PublisherAttach, SubscriberAttach
from routerd.topics.claims import HybridClock
from routerd.topics.conversation import Conversation
from routerd.topics.counters import PublisherCounters, SubscriptionCounters, TopicCounters
from routerd.topics.effects import (
    INVALID_FIELD,
    RESOURCE_LIMIT_EXCEEDED,
    Detach,
    Effect,
    Outcome,
    Rejection,
    Remark,
    Send,
)
from routerd.topics.errors import LinkInUse, MalformedTopicMessage, Refused
from routerd.topics.messages import Frame, Hello, Operation, Seasoned
from routerd.topics.names import ClientName, Place
from routerd.topics.octets import decode_copies, decode_frame
from routerd.topics.port import Attached, Port, Turn
from routerd.topics.publishers import Publisher
from routerd.topics.reports import publisher_counters, subscription_counters, topic_counters
from routerd.topics.routers import Router, Routers
from routerd.topics.settings import NodeConfig, TopicSettings
from routerd.topics.subscribers import Session
from routerd.topics.subscriptions import Homes
from routerd.topics.topic import Topic

_COUNTER_MAX = (1 << 62) - 1
_UNHEARD_FRAMES_MAX = 8
_REFUSED_REMEMBERED = 1024


class TopicNode:
    """One life of a router, as far as topics are concerned."""

    def __init__(self, config: NodeConfig, settings_of: Callable[[str], TopicSettings | None], now: float) -> None:
        self.topics: dict[str, Topic] = {}
        self._config = config
        self._settings_of = settings_of
        self._clock = HybridClock(config.router_id, config.wall_offset_s)
        self.routers = Routers(config, now)
        self._homes = Homes()
        self._turn = Turn(config, self._clock, self.routers, self._say)
        self._turn.now = now
        self._conversations: dict[str, Conversation] = {}
        self._conversation_number = 0
        self._links = self._turn.links
        self._dirty: dict[str, None] = {}
        self._was_seasoned = self.routers.grace_is_over(now)
        self._next_hello = now
        # Topics of other routers that were remarked on.
        self._refused: dict[str, None] = {}
        # A topic that is begun anew in this life must not use numbers again.
        self._first_number = 1

    # --- publishers

    def attach_publisher(self, topic: str, link: int, attach: PublisherAttach, now: float) -> None:
        """Take a sending link; it is answered or detached."""
        self._attach(topic, link, attach, now)

    def publish(self, link: int, tag: bytes, payload: Any, size: int, now: float, age_s: float = 0.0) -> None:
        """Take a delivery; the age says how long ago the client sent it first."""
        self._publish(link, [(tag, payload, size)], now, max(0.0, age_s))

    def publish_all(self, link: int, deliveries: list[tuple[bytes, Any, int]], now: float) -> None:
        """Take deliveries that the client sends for the first time: the tag, message and size of each."""
        self._publish(link, deliveries, now, 0.0)

    def _publish(self, link: int, deliveries: list[tuple[bytes, Any, int]], now: float, age_s: float) -> None:
        attached = self._attached(link, now)
        if attached is None or attached.publisher is None:
            return
        publisher = attached.publisher
        topic = self.topics[attached.topic]
        ingress = topic.ingress
        most = topic.settings.unsettled_octets_max
        try:
            for tag, payload, size in deliveries:
                if publisher.octets + size > most:
                    raise Refused(RESOURCE_LIMIT_EXCEEDED, f"{size} octets are more than there is room for")
                ingress.publish(publisher, tag, payload, size, age_s)
        except Refused as refused:
            topic.detach_publisher(publisher, is_closed=False)
            self._refuse(link, refused, topic)

    def settle_by_publisher(self, link: int, tag: bytes, now: float) -> None:
        """The publisher has settled a delivery."""
        attached, publisher = self._publisher(link, now)
        if publisher is not None:
            self.topics[attached.topic].ingress.settle(publisher, [tag])

    def settle_all_by_publisher(self, link: int, tags: list[bytes], now: float) -> None:
        """The publisher has settled deliveries."""
        attached, publisher = self._publisher(link, now)
        if publisher is not None:
            self.topics[attached.topic].ingress.settle(publisher, tags)

    def publisher_echoed(self, link: int, token: int, now: float) -> None:
        """The publisher has answered, behind all that it had sent."""
        attached, publisher = self._publisher(link, now)
        if publisher is not None:
            self.topics[attached.topic].questions.echoed(publisher.key, token)

    # --- subscribers

    def attach_subscriber(self, topic: str, link: int, attach: SubscriberAttach, now: float) -> None:
        """Take a receiving link; it is answered, later perhaps, or detached."""
        self._attach(topic, link, attach, now)

    def decide(self, link: int, tag: bytes, outcome: Outcome, now: float, rejection: Rejection | None = None) -> None:
        """A subscriber has decided about a delivery."""
        attached, session = self._session(link, now)
        if session is not None:
            self.topics[attached.topic].decide(session, tag, outcome, rejection)

    def accept(self, link: int, deliveries: list[Any], now: float) -> None:
        """A subscriber has accepted deliveries, which are as `Deliver` has given them."""
        attached = self._attached(link, now)
        if attached is None or (session := self._session_of(attached, link)) is None:
            return
        topic = self.topics[attached.topic]
        topic.accept(session, deliveries)

    def grant(self, link: int, credit: int, now: float) -> None:
        """A subscriber has granted credit for further deliveries."""
        _, session = self._session(link, now)
        if session is not None:
            session.credit += credit

    # --- both

    def detach(self, link: int, now: float, *, is_closed: bool = False) -> None:
        """A client's link is gone; closed, if it is not to come back."""
        attached = self._attached(link, now)
        if attached is None:
            return
        del self._links[link]
        topic = self.topics[attached.topic]
        if attached.publisher is not None:
            topic.detach_publisher(attached.publisher, is_closed=is_closed)
        else:
            topic.detach_subscriber(link, self._session_of(attached, link), is_closed=is_closed)

    def _attach(self, name: str, link: int, attach: PublisherAttach | SubscriberAttach, now: float) -> None:
        self._begin(now)
        if link in self._links:
            raise LinkInUse(link)
        try:
            self._check(attach)
            topic = self._topic(name)
            self._clock.see_of_client(attach.stamp, now)
            if isinstance(attach, PublisherAttach):
                publisher = topic.attach_publisher(link, attach)
                attached = Attached(name, publisher=publisher)
                is_attached = publisher.link == link
            else:
                topic.attach_subscriber(link, attach)
                attached = Attached(name, subscriber=attach.name)
                is_attached = topic.has_link(link, attach.name)
            if is_attached:
                self._links[link] = attached
        except Refused as refused:
            self._refuse(link, refused, self.topics.get(name))

    def _check(self, attach: PublisherAttach | SubscriberAttach) -> None:
        if len(attach.name.container) + len(attach.name.link) > self._config.name_octets_max:
            raise Refused(INVALID_FIELD, f"the names are longer than {self._config.name_octets_max}")
        epoch = attach.epoch if isinstance(attach, SubscriberAttach) else None
        numbers = (attach.attaches, *(epoch[:3] if epoch else ()))
        if not all(0 <= number <= _COUNTER_MAX for number in numbers):
            raise Refused(INVALID_FIELD, f"a counter is not from 0 to {_COUNTER_MAX}")

    def _refuse(self, link: int, refused: Refused, topic: Topic | None) -> None:
        self._links.pop(link, None)
        if topic is not None:
            topic.refused += 1
        self._turn.effects.append(Detach(link, refused.condition, refused.reason))

    def _attached(self, link: int, now: float) -> Attached | None:
        """Return what a link is; what comes from one that was detached is ignored."""
        self._begin(now)
        attached = self._links.get(link)
        if attached is not None:
            self._dirty[attached.topic] = None
        return attached

    def _publisher(self, link: int, now: float) -> tuple[Attached, Publisher | None]:
        attached = self._attached(link, now)
        return (attached, attached.publisher) if attached is not None else (Attached(""), None)

    def _session(self, link: int, now: float) -> tuple[Attached, Session | None]:
        attached = self._attached(link, now)
        return (attached, self._session_of(attached, link)) if attached is not None else (Attached(""), None)

    def _session_of(self, attached: Attached, link: int) -> Session | None:
        if attached.subscriber is None:
            return None
        session = self.topics[attached.topic].subscribers.sessions.get(attached.subscriber)
        return session if session is not None and session.link == link else None

    # --- management

    def topic_counters(self, now: float) -> list[TopicCounters]:
        """Return the counters of all topics."""
        return [topic_counters(name, topic, now) for name, topic in self.topics.items()]

    def publisher_counters(self, now: float) -> list[PublisherCounters]:
        """Return the counters of all publishers at this router."""
        return [each for name, topic in self.topics.items() for each in publisher_counters(name, topic, now)]

    def subscription_counters(self, now: float) -> list[SubscriptionCounters]:
        """Return the counters of all subscriptions that this router knows."""
        return [each for name, topic in self.topics.items() for each in subscription_counters(name, topic, now)]

    def end_subscription(self, topic: str, name: ClientName, now: float) -> bool:
        """End a subscription for an operator; return whether there is one."""
        self._begin(now)
        known = self.topics.get(topic)
        self._dirty[topic] = None
        return known is not None and known.end_subscription(name, "an operator has ended it")

    # --- other routers

    def reach(self, router: str, now: float) -> None:
        """The network has a path to a router."""
        self._begin(now)
        known = self.routers.learn(router, now)
        if known is not None and not known.is_in_reach:
            known.is_in_reach = True
            self._converse(router)
            self._greet(router, known)

    def lose(self, router: str, now: float) -> None:
        """The network has no path to a router."""
        self._begin(now)
        known = self.routers.known.get(router)
        if known is not None and known.is_in_reach:
            self._go_down(router, known)
            known.is_in_reach = False
            self._conversations.pop(router, None)

    def receive(self, router: str, data: bytes, now: float) -> None:
        """Take octets of a router; raises MalformedTopicMessage, and has then taken nothing."""
        self._begin(now)
        frame = decode_frame(data)
        known = self.routers.known.get(router)
        if known is None or not known.is_in_reach:
            return
        if frame.incarnation < known.incarnation:
            self._note_older_life(router, known, now)
            return
        if frame.to_incarnation not in (0, self._config.incarnation):
            return
        if frame.incarnation > known.incarnation:
            if known.incarnation:
                self._go_down(router, known)
                self._converse(router)
                known.has_restarted = True
            known.place = Place(router, frame.incarnation)
            known.is_older_noted = False
        self._take(router, known, frame)

    def _note_older_life(self, router: str, known: Router, now: float) -> None:
        """Say once that a router is ignored, unless these are the last frames of the life before its present one."""
        if known.is_older_noted or now - known.heard_at <= self._config.hello_max_age_s:
            return
        known.is_older_noted = True
        text = f"router {router} has the number of an earlier life, and is ignored: was its clock set back?"
        self._turn.effects.append(Remark("warning", text))

    def _take(self, router: str, known: Router, frame: Frame) -> None:
        conversation = self._conversations[router]
        is_news, operations = conversation.receive(frame)
        if conversation.is_forgotten:
            self._begin_anew(router)
        place = known.place
        known.heard_at = self._turn.now
        self._clock.see(frame.stamp)
        if not known.is_up:
            known.is_up = True
            for topic in self.topics.values():
                topic.meet(place)
            self._sync(router)
        elif is_news:
            self._sync(router)
        for name, operation in operations:
            if name:
                self._take_of_topic(place, name, operation)
            elif isinstance(operation, Hello):
                known.heard_hello = operation.number
                self.routers.echoed(known, operation.heard)
                self._touch_all()
            elif self.routers.season(operation.routers, self._turn.now):
                self._touch_all()

    def _take_of_topic(self, place: Place, name: str, operation: Operation) -> None:
        try:
            topic = self._topic(name)
        except Refused as refused:
            if len(self._refused) < _REFUSED_REMEMBERED and name not in self._refused:
                self._refused[name] = None
                text = f"router {place.router} tells of topic {name[:80]!r}: {refused}"
                self._turn.effects.append(Remark("warning", text))
            return
        topic.take(place, operation)

    def receive_copies(self, header: bytes, payloads: list[Any], sizes: list[int], now: float) -> None:
        """Take messages of a topic; raises MalformedTopicMessage, and has then taken nothing."""
        self._begin(now)
        head = decode_copies(header)
        if len(head.tags) != len(payloads):
            raise MalformedTopicMessage(f"{len(payloads)} messages, and names of {len(head.tags)}")
        if head.ingress == self.routers.me or not self.routers.is_up(head.ingress):
            return
        topic = self.topics.get(head.topic)
        if topic is not None:
            self._dirty[head.topic] = None
            topic.take_copies(head, payloads, sizes)

    # --- time

    def tick(self, now: float) -> None:
        """Look at what the time has changed; due twice within the interval of hellos."""
        self._begin(now)
        for router in self.routers.silent(now):
            self._go_down(router, self.routers.known[router])
        if now >= self._next_hello:
            self._next_hello = now + self._config.hello_interval_s
            for router in list(self._conversations):
                self._greet(router, self.routers.known[router])
        for router, conversation in self._conversations.items():
            # Acknowledgements go with hellos; what was lost in the middle is asked for at once.
            wait_s = 1.5 * self._config.hello_interval_s
            for data in conversation.late_frames(now, wait_s, self._clock.last):
                self._turn.effects.append(Send(router, data))
        for router in self.routers.forget_old(now):
            for topic in self.topics.values():
                topic.forget_router(router)
        for name, topic in list(self.topics.items()):
            topic.tick()
            if topic.is_forgettable():
                self._first_number = max(self._first_number, topic.ingress.progress.stream.next, topic.host.version + 1)
                del self.topics[name]
        self._touch_all()

    def take(self, now: float) -> list[Effect]:
        """End the turn; return what the host has to do, in order."""
        self._begin(now)
        is_seasoned = self.routers.grace_is_over(now)
        newly_told = self.routers.up() if is_seasoned and not self._was_seasoned else []
        self._was_seasoned = is_seasoned
        dirty, self._dirty = self._dirty, {}
        for name in dirty:
            if (known := self.topics.get(name)) is not None:
                known.flush()
        for router in newly_told:
            self._say_seasoned(router)
        self._send_frames()
        effects, self._turn.effects = self._turn.effects, []
        return effects

    def _send_frames(self) -> None:
        for router, conversation in list(self._conversations.items()):
            if conversation.has_pending:
                for data in conversation.frames(self._turn.now, self._clock.last):
                    self._turn.effects.append(Send(router, data))
            if conversation.is_overrun:
                self._turn.effects.append(Remark("warning", f"router {router} is too far behind: it is told all again"))
                self._begin_anew(router)
                self._sync(router)

    # --- parts of turns

    def _begin(self, now: float) -> None:
        self._turn.now = now

    def _touch_all(self) -> None:
        self._dirty.update(dict.fromkeys(self.topics))

    def _topic(self, name: str) -> Topic:
        """Return a topic, which is begun if need be; raises Refused."""
        self._dirty[name] = None
        topic = self.topics.get(name)
        if topic is None:
            settings = self._settings_of(name)
            if settings is None:
                raise Refused("amqp:not-found", "the address is no topic here")
            if len(self.topics) >= self._config.topics_max:
                raise Refused(RESOURCE_LIMIT_EXCEEDED, f"{self._config.topics_max} topics exist")
            topic = self.topics[name] = Topic(Port(name, settings, self._turn), self._first_number, self._homes)
            for place in self.routers.places():
                topic.sync(place.router)
        return topic

    def _say(self, router: str, topic: str, operation: Operation) -> None:
        known = self.routers.known.get(router)
        if known is not None and known.is_up:
            self._conversations[router].say(topic, operation)

    def _converse(self, router: str) -> None:
        self._conversation_number += 1
        patience_s = self._config.hello_interval_s / 4
        number = self._conversation_number
        self._conversations[router] = Conversation(self._config.incarnation, number, patience_s)

    def _sync(self, router: str) -> None:
        """Tell a router all that we know, before anything else that follows from what it tells."""
        for topic in self.topics.values():
            topic.sync(router)
        if self.routers.grace_is_over(self._turn.now):
            self._say_seasoned(router)
        self._touch_all()

    def _say_seasoned(self, router: str) -> None:
        self._say(router, "", Seasoned([self._config.router_id, *self.routers.known]))

    def _begin_anew(self, router: str) -> None:
        self._conversation_number += 1
        self._conversations[router].begin_anew(self._conversation_number)

    def _greet(self, router: str, known: Router) -> None:
        conversation = self._conversations[router]
        if not known.is_up and conversation.unacknowledged > _UNHEARD_FRAMES_MAX:
            self._begin_anew(router)
        number = self.routers.next_hello(known, self._turn.now)
        conversation.say("", Hello(number, known.heard_hello))

    def _go_down(self, router: str, known: Router) -> None:
        if known.is_up:
            self.routers.go_down(known)
            self._turn.effects.append(Remark("info", f"router {router} is out of reach of topics"))
        self._begin_anew(router)
        for topic in self.topics.values():
            topic.lose_router(router)
        self._touch_all()
