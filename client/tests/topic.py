"""A scripted peer that has exactly-once delivery, as one router would: unsettled maps, by AMQP 1.0 section 2.6.13.

A `Topic` has what its routers know. It can forget all records, as if all routers had died; then only the maps of
publishers and subscribers tell what is unsettled. `TopicPeer` is the router's end of one connection.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from routerd.wire import (
    ACCEPTED,
    Attach,
    Connection,
    ConnectionConfig,
    Delivery,
    Error,
    Handler,
    Link,
    Received,
    Receiver,
    Rejected,
    Released,
    Sender,
    Source,
    Symbol,
    UInt,
    ULong,
    is_outcome,
)
from routerd.wire.sasl import AnonymousServer, SaslServer

from mobula_client.exactly_once.names import ATTACH_COUNT, EPOCH, EXACTLY_ONCE

PUBLISHER_CREDIT = 4
ALL = Received(section_number=100, section_offset=0)
"""The state of a delivery of which nothing is missing."""


def key_of(container: str, name: str) -> bytes:
    """Return the key of a publisher."""
    return sha256(f"{container}\0{name}".encode()).digest()[:8]


@dataclass(eq=False)
class Record:
    """A delivery that is not settled."""

    tag: bytes
    octets: bytes | None = None
    """None for one that only a subscriber's map has told of."""
    outcomes: dict[str, Any] = field(default_factory=dict)
    inward: Delivery | None = None
    outward: dict[str, Delivery] = field(default_factory=dict)


@dataclass(eq=False)
class End:
    """A publisher or a subscriber: its latest attach, and its link."""

    name: str
    count: int = 0
    link: Any = None
    to_resume: dict[bytes, tuple[Delivery, bool]] = field(default_factory=dict)
    to_come: set[bytes] = field(default_factory=set)
    """Tags of a publisher's map that it is still to send again."""


class Topic:
    """The publishers and subscribers of one address, and the deliveries that are not settled."""

    def __init__(self, *, keeps_octets: bool = True) -> None:
        """Without `keeps_octets`, resumed deliveries are asked for from their beginning."""
        self.keeps_octets = keeps_octets
        self.publishers: dict[bytes, End] = {}
        self.subscribers: dict[str, End] = {}
        self.records: dict[bytes, dict[bytes, Record]] = {}
        self.decide: Callable[[bytes], Any] = lambda octets: None
        """What to say to a publisher at once of a message, beside what subscribers say."""

        self.timeout_s: int | None = None
        """How long a link may be away, if it is not what the link asks for."""

    def forget(self) -> None:
        """Lose all records and links: all routers die. Who the subscribers are is known elsewhere."""
        self.records.clear()
        for end in (*self.publishers.values(), *self.subscribers.values()):
            end.link = None
            end.to_resume.clear()

    @property
    def unsettled(self) -> int:
        """How many deliveries are not settled."""
        return sum(len(records) for records in self.records.values())

    # --- publishers

    def publisher_attached(self, container: str, link: Link, attach: Attach) -> None:
        """Answer with what is known of the publisher's map; what is not in its map is settled."""
        key = key_of(container, link.name)
        end = self.publishers.setdefault(key, End(link.name))
        if not self._claims(end, link, attach):
            return
        records = self.records.setdefault(key, {})
        theirs = attach.unsettled or {}
        for record in [record for tag, record in records.items() if tag not in theirs]:
            self._settle(key, record)
        known = {tag: record for tag, record in records.items() if record.octets is not None}
        end.to_come = set(theirs) - set(known)
        link.suspended = {tag: _remembered(link, tag, is_incoming=True) for tag in known}
        link.attach(
            source=attach.source,
            target=self._granted(attach.target),
            unsettled={tag: self._state(record) for tag, record in known.items()},
            offered_capabilities=(EXACTLY_ONCE,),
        )
        link.grant(PUBLISHER_CREDIT)

    def published(self, container: str, delivery: Delivery, octets: bytes) -> None:
        """Take a message, new or resumed, and pass it to the subscribers."""
        key = key_of(container, delivery.link.name)
        records = self.records.setdefault(key, {})
        record = records.get(delivery.tag)
        self.publishers[key].to_come.discard(delivery.tag)
        if delivery.is_resumed and record is None:
            return
        if record is None or record.octets is None:
            # The order in which they come as new is that of the publisher.
            known = records.pop(delivery.tag, None) or Record(delivery.tag)
            record = records[delivery.tag] = known
            record.octets = octets
        record.inward = delivery
        if delivery.remote_settled:
            self._settle(key, record)
            return
        verdict = self.decide(record.octets or b"")
        if verdict is not None:
            delivery.update(verdict, isinstance(verdict, Released))
            return
        for subscriber in self.subscribers.values():
            self._send(key, record, subscriber)
        self._answer(record)

    def publisher_decided(self, container: str, delivery: Delivery) -> None:
        """The publisher has settled."""
        key = key_of(container, delivery.link.name)
        record = self.records.get(key, {}).get(delivery.tag)
        if record is not None and delivery.remote_settled:
            self._settle(key, record)

    def _state(self, record: Record) -> Any:
        if self._is_done(record):
            return ACCEPTED
        return ALL if self.keeps_octets else None

    def _is_done(self, record: Record) -> bool:
        return all(name in record.outcomes for name in self.subscribers)

    def _answer(self, record: Record) -> None:
        inward = record.inward
        if inward is None or inward.settled or inward.remote_settled or not inward.is_tracked:
            return
        if record.octets is not None and self._is_done(record) and not is_outcome(inward.state):
            refused = [each for each in record.outcomes.values() if isinstance(each, Rejected)]
            inward.update(refused[0] if refused else ACCEPTED, False)

    def _settle(self, key: bytes, record: Record) -> None:
        self.records[key].pop(record.tag, None)
        for name, delivery in record.outward.items():
            end = self.subscribers[name]
            if delivery.is_tracked and not delivery.settled:
                delivery.settle()
            elif (tag := outward_tag(key, record.tag)) in end.to_resume:
                end.to_resume[tag] = (end.to_resume[tag][0], True)
                self.flow(end)

    # --- subscribers

    def subscriber_attached(self, container: str, link: Link, attach: Attach) -> None:
        """Take the map in whole, answer with what is not known to be settled, then send what is missing."""
        name = f"{container}/{link.name}"
        end = self.subscribers.setdefault(name, End(link.name))
        if not self._claims(end, link, attach):
            return
        answer: dict[bytes, Any] = {}
        link.suspended = {}
        end.to_resume.clear()
        for tag, state in (attach.unsettled or {}).items():
            key, inner = tag[:8], tag[9:]
            record = self.records.get(key, {}).get(inner)
            if record is None:
                publisher = self.publishers.get(key)
                if publisher is not None and publisher.link is not None and inner not in publisher.to_come:
                    # Its map is known and does not have the tag: settled.
                    continue
                record = self.records.setdefault(key, {})[inner] = Record(inner)
            record.outcomes[name] = state
            delivery = link.suspended[tag] = _remembered(link, tag, is_incoming=False)
            record.outward[name] = delivery
            answer[tag] = state
            end.to_resume[tag] = (delivery, False)
        link.attach(
            source=self._granted(attach.source),
            target=attach.target,
            unsettled=answer,
            offered_capabilities=(EXACTLY_ONCE,),
            properties={EPOCH: [ULong(1), ULong(1), ULong(1), "router"]},
        )
        for key, records in self.records.items():
            for record in list(records.values()):
                if name not in record.outcomes:
                    record.outward.pop(name, None)
                self._answer(record)
                self._send(key, record, end)

    def flow(self, end: End) -> None:
        """Use credit: for what is to be resumed, then for what is new."""
        link = end.link
        if not isinstance(link, Sender) or not link.is_attached:
            return
        for tag, (delivery, is_settled) in list(end.to_resume.items()):
            if link.credit <= 0:
                return
            if not is_settled and self.records.get(tag[:8], {}).get(tag[9:]) is None:
                continue
            del end.to_resume[tag]
            link.resume(delivery, state=ACCEPTED, settled=is_settled)
        for key, records in self.records.items():
            for record in list(records.values()):
                self._send(key, record, end)

    def subscriber_decided(self, container: str, delivery: Delivery) -> None:
        """A subscriber has told an outcome."""
        name = f"{container}/{delivery.link.name}"
        key, inner = delivery.tag[:8], delivery.tag[9:]
        record = self.records.get(key, {}).get(inner)
        if record is None:
            return
        if isinstance(delivery.remote_state, Released):
            delivery.settle()
            record.outward.pop(name, None)
            self._send(key, record, self.subscribers[name])
        elif is_outcome(delivery.remote_state):
            record.outcomes[name] = delivery.remote_state
            self._answer(record)

    def _send(self, key: bytes, record: Record, end: End) -> None:
        name = next(name for name, each in self.subscribers.items() if each is end)
        link = end.link
        is_there = isinstance(link, Sender) and link.is_attached
        if not is_there or record.octets is None or name in record.outcomes or name in record.outward:
            return
        if link.credit > 0 and not end.to_resume:
            tag = outward_tag(key, record.tag)
            record.outward[name] = link.send(record.octets, tag=tag)

    def _granted(self, terminus: Any) -> Any:
        return terminus if self.timeout_s is None else replace(terminus, timeout=UInt(self.timeout_s))

    def _claims(self, end: End, link: Link, attach: Attach) -> bool:
        count = int((attach.properties or {}).get(ATTACH_COUNT, 0))
        if count <= end.count:
            link.refuse(Error(condition=Symbol("amqp:link:stolen"), description=f"attach {end.count} was later"))
            return False
        end.count, end.link = count, link
        return True


def outward_tag(key: bytes, tag: bytes) -> bytes:
    """Return the tag towards subscribers."""
    return key + bytes((len(tag),)) + tag


def _remembered(link: Link, tag: bytes, *, is_incoming: bool) -> Delivery:
    delivery = Delivery()
    delivery.link, delivery.given_tag, delivery.is_incoming = link, tag, is_incoming
    return delivery


class TopicPeer(Handler):
    """The router's end of one connection to a topic."""

    def __init__(self, topic: Topic, *, offers: bool = True, max_frame_size: int = 65_536) -> None:
        """Without `offers`, it is a router that heeds no maps."""
        self.topic = topic
        self.offers = offers
        self.attaches: list[Attach] = []
        self.parts: dict[Delivery, bytearray] = {}
        self.connection = Connection(
            ConnectionConfig(container_id="router", max_frame_size=max_frame_size),
            self,
            is_client=False,
            sasl=SaslServer([AnonymousServer()]),
        )

    @property
    def container(self) -> str:
        """The client's name."""
        assert self.connection.remote_open is not None, "it has opened"
        return self.connection.remote_open.container_id

    def on_opened(self, connection: Connection, performative: Any) -> None:
        connection.open()

    def on_session_begun(self, session: Any, performative: Any) -> None:
        session.begin()

    def on_link_attached(self, link: Link, performative: Attach) -> None:
        self.attaches.append(performative)
        if not self.offers:
            link.attach(source=performative.source or Source(), target=performative.target)
        elif link.is_sender:
            self.topic.subscriber_attached(self.container, link, performative)
        else:
            self.topic.publisher_attached(self.container, link, performative)

    def on_link_flow(self, link: Link) -> None:
        for end in self.topic.subscribers.values():
            if end.link is link:
                self.topic.flow(end)

    def on_transfer(
        self, receiver: Receiver, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        part = self.parts.setdefault(delivery, bytearray())
        part += data[start:end]
        if not delivery.is_partial:
            self.topic.published(self.container, delivery, bytes(self.parts.pop(delivery)))
            if receiver.credit < PUBLISHER_CREDIT // 2:
                receiver.set_credit(PUBLISHER_CREDIT)

    def on_disposition(self, delivery: Delivery) -> None:
        if delivery.is_incoming:
            self.topic.publisher_decided(self.container, delivery)
        else:
            self.topic.subscriber_decided(self.container, delivery)

    def on_link_detached(self, link: Link, closed: bool, error: Any) -> None:
        for end in (*self.topic.publishers.values(), *self.topic.subscribers.values()):
            if end.link is link:
                end.link = None
                end.to_resume.clear()
