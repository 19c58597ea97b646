"""Endpoints inside the router: consumers that hand messages to a function, and producers.

They are at the far end of a `LoopBack`, a connection of the router to itself. It consists of two connections of the
engine. The shell hands each of them the octets of the other when it flushes. The router sees one more peer. So the
rules for addresses, credit, settlement and the fabric are those of clients' links. The price is one encoding and one
decoding of each message, some microseconds. Such messages are few: management and tests.
"""

from collections import deque
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from routerd.core.errors import QueueFull
from routerd.core.inside.inner_connection import InnerConnection
from routerd.core.links.fan_out import MAYBE_SEEN
from routerd.core.links.peer import INNER
from routerd.core.settings import DEFAULT_LINK_CAPACITY
from routerd.wire import (
    RELEASED,
    Attach,
    Delivery,
    Error,
    Link,
    Receiver,
    Sender,
    Source,
    Target,
    is_outcome,
)

if TYPE_CHECKING:
    from routerd.core.router import Router

MESSAGE_SIZE_MAX = 1 << 20
"""Octets of the largest message that an endpoint takes by default: it is assembled in memory."""
FRAME_SIZE = 1 << 14
SESSION_FRAMES = 16
"""Both limits together bound the data under way between the two ends."""
PIECE = 2 * FRAME_SIZE
"""Octets of a large message that a producer sends in one turn, so that other messages need not wait for all of it."""
QUEUED_MAX = 10_000
"""Limit of the messages of a producer that wait for credit."""

Take: TypeAlias = Callable[[bytes, Delivery], None]
"""Takes a whole message; it settles by the delivery's `accept`, `reject`, ... now or later."""
Decided: TypeAlias = Callable[[Any], None]
"""Gets the outcome of a message."""

_INTERNAL = Error(condition="amqp:internal-error", description="the endpoint inside the router failed")


class InnerConsumer:
    """Gets whole messages of an address."""

    def __init__(self, link: Receiver, address: str, take: Take, capacity: int, least_room: int) -> None:
        self.link = link
        self.address = address
        """A dynamic address is known once `is_attached`."""
        self._take = take
        self._capacity = capacity
        self._least_room = least_room
        """The free capacity that is worth a flow."""
        self._held = 0
        self._octets = bytearray()

    @property
    def is_attached(self) -> bool:
        """Whether messages can come in."""
        return self.link.is_attached

    def top_up(self) -> None:
        """Grant credit again once enough of the capacity is free."""
        link = self.link
        room = self._capacity - link.credit - link.unsettled_count - self._held
        if room >= self._least_room:
            link.grant(room)

    def hold(self) -> None:
        """Count a settled message that is still being processed; unsettled ones count by themselves."""
        self._held += 1

    def let_go(self) -> None:
        """Stop counting one of them."""
        self._held -= 1
        if self.is_attached:
            self.top_up()

    def arrive(self, delivery: Delivery, data: bytes | bytearray, start: int, end: int) -> None:
        """Assemble a message, and hand it over once it is whole."""
        if delivery.is_aborted:
            self._octets.clear()
            return
        self._octets += data[start:end]
        if not delivery.is_partial:
            message = bytes(self._octets)
            self._octets.clear()
            self._take(message, delivery)

    def close(self) -> None:
        """Detach."""
        if self.link.is_attached:
            self.link.detach()


class InnerProducer:
    """Sends messages to an address, or each message to the address in its `to`."""

    def __init__(self, link: Sender, address: str, on_credit: "Callable[[InnerProducer], None] | None") -> None:
        self.link = link
        self.address = address
        self._on_credit = on_credit
        self._is_over = False
        self._is_closing = False
        self._queue: deque[tuple[bytes, bool, Decided | None]] = deque()
        self._delivery: Delivery | None = None
        """The delivery that is under way in pieces, its message, and the octets of it that were sent."""
        self._message = b""
        self._sent = 0
        self._queued_octets = 0

    @property
    def is_attached(self) -> bool:
        """Whether messages can be sent."""
        return self.link.is_attached

    @property
    def waiting_octets(self) -> int:
        """The octets that have not been sent to the router."""
        return self._queued_octets + len(self._message) - (self._sent if self._message else 0)

    @property
    def waiting_messages(self) -> int:
        """The messages that have not been sent as a whole."""
        return len(self._queue) + (self._delivery is not None)

    @property
    def is_idle(self) -> bool:
        """Whether all messages have been sent."""
        return not self.waiting_messages

    @property
    def credit(self) -> int:
        """The number of messages that can be sent at once."""
        return self.link.credit if self.link.is_attached else 0

    def send(self, message: bytes, *, settled: bool = False, decided: Decided | None = None) -> None:
        """Send a message, now or when there is credit; raises QueueFull. Without a link the message is released."""
        if self._is_over:
            _tell(RELEASED, decided)
        elif self.credit > 0 and self._delivery is None and not self._queue:
            self._send(message, settled, decided)
        elif len(self._queue) >= QUEUED_MAX:
            raise QueueFull(self.address, QUEUED_MAX)
        else:
            self._queue.append((message, settled, decided))
            self._queued_octets += len(message)

    def use_credit(self) -> None:
        """Send messages that wait; the remaining credit is for messages made on demand."""
        while self._queue and self._delivery is None and self.credit > 0:
            message, settled, decided = self._queue.popleft()
            self._queued_octets -= len(message)
            self._send(message, settled, decided)
        if self._on_credit is not None and self._delivery is None and self.credit > 0:
            self._on_credit(self)

    def go_on(self) -> None:
        """Send the next piece of a large message, if there is one and room for it."""
        if self._delivery is None or not self.link.is_attached or self.link.session.has_backlog:
            return
        start, self._sent = self._sent, min(self._sent + PIECE, len(self._message))
        is_more = self._sent < len(self._message)
        self.link.write(self._delivery, self._message, start, self._sent, is_more)
        if not is_more:
            self._delivery, self._message = None, b""
            self.use_credit()

    def _send(self, message: bytes, settled: bool, decided: Decided | None) -> None:
        if len(message) <= PIECE or 0 < self.link.remote_max_message_size < len(message):
            self.link.send(message, settled=settled, context=decided)
            return
        self._delivery = self.link.begin(settled=settled, context=decided)
        self._message, self._sent = message, PIECE
        self.link.write(self._delivery, message, 0, PIECE, True)

    def end(self) -> None:
        """Report an outcome for each message under way, now that the link is over."""
        self._is_over = True
        self._delivery, self._message = None, b""
        self._queued_octets = 0
        for delivery in (self.link.suspended or {}).values():
            _tell(MAYBE_SEEN, delivery.context)
        queue, self._queue = self._queue, deque()
        for _, _, decided in queue:
            _tell(RELEASED, decided)

    def close(self) -> None:
        """Detach; messages that wait are not sent."""
        self._is_closing = True
        if self.link.is_attached:
            self.link.detach()

    def attached(self) -> None:
        """Detach if it was closed meanwhile."""
        if self._is_closing:
            self.link.detach()


class LoopBack(InnerConnection):
    """A connection of the router to itself, and the endpoints at its far end."""

    def __init__(self, router: "Router", now: float, *, capacity: int = 0, is_fair: bool = False) -> None:
        """`capacity` is that of each producer; with `is_fair`, connections that send to the consumers take turns."""
        peer = router.connections.new_peer(INNER, capacity)
        peer.is_fair = is_fair
        container_id = f"{router.settings.id}#inside"
        super().__init__(router, peer, container_id, now, frame_size=FRAME_SIZE, window=SESSION_FRAMES)
        self._endpoints: dict[Link, InnerConsumer | InnerProducer] = {}
        self._names = 0
        self._flushed_at = -inf
        self._session = self._far.session()
        self._session.begin()

    def consume(
        self,
        address: str | None,
        take: Take,
        *,
        capacity: int = DEFAULT_LINK_CAPACITY,
        message_size_max: int = MESSAGE_SIZE_MAX,
    ) -> InnerConsumer:
        """Hand the messages of an address to a function; without an address, those of a new reply address."""
        link = self._session.receiver(self._name(address))
        # A slow request must not keep other requests from coming.
        least_room = 1 if self.peer.is_fair else max(1, capacity // 2)
        consumer = InnerConsumer(link, address or "", take, capacity, least_room)
        self._endpoints[link] = consumer
        link.attach(
            source=Source(address=address, dynamic=address is None),
            target=Target(),
            max_message_size=message_size_max,
        )
        return consumer

    def produce(
        self,
        address: str | None = None,
        on_credit: Callable[[InnerProducer], None] | None = None,
        *,
        is_apart: bool = False,
    ) -> InnerProducer:
        """Return a producer for an address, or for the address that each message has in its `to`.

        `on_credit` is called whenever there is credit for messages made on demand. A producer with `is_apart` has a
        session to itself, so that its messages cannot fill the window of others.
        """
        session = self._session
        if is_apart:
            session = self._far.session()
            session.begin()
        link = session.sender(self._name(address))
        producer = InnerProducer(link, address or "", on_credit)
        self._endpoints[link] = producer
        link.attach(source=Source(), target=Target(address=address))
        return producer

    def _name(self, address: str | None) -> str:
        self._names += 1
        return f"{address or 'any'} {self._names}"

    # --- the transport

    def flush(self, now: float) -> None:
        """Carry the output of either end to the other, once; answers go with the next flush.

        The shell may ask several times in one turn; the time is the same for all of them.
        """
        is_new_turn = now != self._flushed_at
        self._flushed_at = now
        self._carry_some(now, goes_on=is_new_turn)

    def carry(self, now: float) -> bool:
        """Do the same as a turn by itself; return whether there was output."""
        return self._carry_some(now, goes_on=True)

    def _carry_some(self, now: float, *, goes_on: bool) -> bool:
        endpoints = list(self._endpoints.values())
        for endpoint in endpoints:
            if isinstance(endpoint, InnerConsumer) and endpoint.is_attached:
                endpoint.top_up()
        had_output = super().carry(now)
        if goes_on:
            # Nothing is left to send: this asks for the next turn.
            for endpoint in endpoints:
                if isinstance(endpoint, InnerProducer):
                    endpoint.go_on()
        return had_output

    # --- events of the far end

    def on_link_attached(self, link: Link, performative: Attach) -> None:
        """Note a dynamic address, and grant the first credit."""
        endpoint = self._endpoints.get(link)
        if isinstance(endpoint, InnerProducer):
            endpoint.attached()
        if isinstance(endpoint, InnerConsumer) and performative.source is not None:
            endpoint.address = cast(Source, performative.source).address
            endpoint.top_up()

    def on_link_detached(self, link: Link, closed: bool, error: Error | None) -> None:
        """Forget an endpoint."""
        endpoint = self._endpoints.pop(link, None)
        if isinstance(endpoint, InnerProducer):
            endpoint.end()
        if link.session is not self._session and link.session.is_open:
            link.session.end()

    def on_link_flow(self, link: Link) -> None:
        """Send messages that waited for credit."""
        endpoint = self._endpoints.get(link)
        if isinstance(endpoint, InnerProducer):
            endpoint.use_credit()

    def on_transfer(
        self, receiver: Receiver, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Hand a message to its consumer."""
        endpoint = self._endpoints.get(receiver)
        if not isinstance(endpoint, InnerConsumer):
            return
        try:
            endpoint.arrive(delivery, data, start, end)
        except Exception as error:
            # A fault of one endpoint costs one message. The connection of all endpoints goes on.
            self._router.observer.endpoint_failed(endpoint.address, error)
            if not delivery.settled:
                delivery.reject(_INTERNAL)

    def on_disposition(self, delivery: Delivery) -> None:
        """Tell the producer the outcome of a message."""
        if delivery.is_incoming or not (delivery.remote_settled or is_outcome(delivery.remote_state)):
            return
        if not delivery.settled and not delivery.remote_settled:
            delivery.settle()
        decided, delivery.context = delivery.context, None
        _tell(delivery.remote_state, decided)


def _tell(outcome: Any, decided: Decided | None) -> None:
    if decided is not None:
        decided(outcome)
