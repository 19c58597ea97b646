"""The links of clients: producers that send as they like, and consumers that take their time."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from routerd.wire import (
    ACCEPTED,
    RELEASED,
    Data,
    Error,
    Header,
    Message,
    Modified,
    Properties,
    Receiver,
    Rejected,
    Sender,
    Symbol,
    is_outcome,
)
from tests.sim.ledger import Receipt, Sent, mark, number_in

if TYPE_CHECKING:
    from tests.sim.client import Client

OURS = Symbol("x-opt-qd.ingress")
SECOND = 1
SETTLED = 1

DECISIONS = (
    *[ACCEPTED] * 12,
    *[RELEASED] * 3,
    Rejected(error=Error(condition=Symbol("x:bad"), description="of no use")),
    Modified(),
    Modified(undeliverable_here=True),
    Modified(delivery_failed=True, message_annotations={Symbol("x-opt-again"): 1}),
)


class Producer:
    """A link on which a client sends."""

    def __init__(
        self,
        client: "Client",
        link: Sender,
        address: str | None,
        *,
        is_settling: float,
        is_streaming: bool,
        leisure: float | None,
    ) -> None:
        self.client = client
        self.link = link
        self.address = address
        self.is_settling = is_settling
        """How often it sends settled."""
        self.is_streaming = is_streaming
        """Whether it sends messages of several frames, and has a session of its own to that end."""
        self.leisure = leisure
        """How long it takes at most to settle what has an outcome; None if it does so when all comes to an end."""
        self.unsettled: list[Any] = []
        """The deliveries with an outcome that wait for it."""
        self.stream: tuple[Any, bytes] | None = None
        """The delivery that it is in the middle of, and what is left of it."""

    def __repr__(self) -> str:
        return f"producer {self.link.name} of {self.client.name}"

    @property
    def is_attached(self) -> bool:
        """Whether the link lives, as far as the client knows."""
        return self.link.is_attached and self.client.is_open

    @property
    def is_living(self) -> bool:
        """Whether the router has no reason either to take it for gone."""
        return self.is_attached and self.client.line is not None and self.client.line.is_whole

    @property
    def can_send(self) -> bool:
        """Whether a message can be begun."""
        return self.is_attached and self.link.credit > 0 and self.stream is None

    def send(self, address: str, reply_to: str | None = None) -> None:
        """Send a message, in one go or a first part of it."""
        world = self.client.world
        settled = world.chance(self.is_settling)
        sent = self.client.ledger.send(self, address, settled, reply_to=reply_to)
        octets = self._compose(sent, reply_to)
        delivery = self.link.begin(settled=settled)
        delivery.context = sent
        if self.is_streaming and world.chance(0.5):
            cut = world.randrange(len(octets)) if world.chance(0.8) else 0
            self.stream = delivery, octets
            self._write(cut)
        else:
            self.stream = delivery, octets
            self._write(len(octets))
        self.client.turn_ends()

    def go_on(self) -> None:
        """Send more of a message."""
        if self.stream is not None and self.is_attached:
            left = len(self.stream[1])
            self._write(left if self.client.is_finishing else min(left, self.client.world.randrange(1, 2000)))
            self.client.turn_ends()

    def abort(self) -> None:
        """Give up a message in the middle."""
        if self.stream is not None and self.is_attached:
            delivery, _ = self.stream
            delivery.context.is_aborted = True
            self.link.abort(delivery)
            self.stream = None
            self.client.ledger.count("aborted")
            self.client.turn_ends()

    def _write(self, size: int) -> None:
        assert self.stream is not None
        delivery, octets = self.stream
        more = size < len(octets)
        self.link.write(delivery, octets, 0, size, more)
        self.stream = (delivery, octets[size:]) if more else None
        delivery.context.is_complete = not more

    def _compose(self, sent: Sent, reply_to: str | None) -> bytes:
        world = self.client.world
        size = world.choice((0, 20, 200))
        if self.is_streaming:
            size = 20_000 if world.chance(0.1) else 3000
        sections: dict[str, Any] = {"body": Data([mark(sent.number) + b"." * world.randrange(size + 1)])}
        if world.chance(0.2):
            sections["header"] = Header(durable=True)
        if self.address is None or reply_to:
            sections["properties"] = Properties(to=sent.address if self.address is None else None, reply_to=reply_to)
        user = {Symbol("x-opt-mine"): 1} if world.chance(0.1) else {}
        sent.expected = bytes(Message(**sections, message_annotations=user or None).encode())
        if self.client.is_stripped and world.chance(0.1):
            return bytes(Message(**sections, message_annotations=user | {OURS: "Q"}).encode())
        return sent.expected

    def told(self, delivery: Any) -> None:
        """Hear what became of a message."""
        sent: Sent = delivery.context
        if delivery.remote_settled and delivery in self.unsettled:
            self.unsettled.remove(delivery)
        if not sent.is_forgotten and not sent.is_aborted:
            if is_outcome(delivery.remote_state):
                self.client.ledger.told(sent, delivery.remote_state)
            elif delivery.remote_settled:
                self.client.ledger.told(sent, None)
            if delivery.remote_settled:
                self.client.ledger.settled(sent)
        if delivery.remote_settled or delivery.settled or not is_outcome(delivery.remote_state):
            return
        self.client.ledger.count("told unsettled")
        self.unsettled.append(delivery)
        if self.client.is_finishing or self.leisure == 0.0:
            self.settle(delivery)
        elif self.leisure is not None:
            self.client.later(self.client.world.random() * self.leisure, self.settle, delivery)

    def settle(self, delivery: Any) -> None:
        """Settle a delivery that has its outcome, unless that is done or the link is over."""
        if delivery in self.unsettled:
            self.unsettled.remove(delivery)
        if not self.is_attached or delivery.settled or delivery.remote_settled:
            return
        delivery.context.is_over = True
        delivery.update(delivery.remote_state if self.client.world.chance(0.2) else None, True)
        self.client.turn_ends()

    def forget(self) -> None:
        """Settle what is not settled, without waiting for what becomes of it."""
        for delivery in self.link.session.outgoing.all():
            if delivery.link is self.link and not delivery.is_partial:
                delivery.context.is_forgotten = delivery.context.is_over = True
                delivery.settle()
        self.unsettled = [each for each in self.unsettled if not each.settled]
        self.client.turn_ends()


@dataclass
class Arriving:
    """A message of which a consumer has a part."""

    octets: bytes = b""
    receipt: Receipt | None = None


class Consumer:
    """A link on which a client receives."""

    def __init__(
        self,
        client: "Client",
        link: Receiver,
        address: str,
        *,
        window: int,
        patience: float,
        is_waiting: bool,
        is_responder: bool,
    ) -> None:
        self.client = client
        self.link = link
        self.address = address
        self.window = window
        """The credit that it keeps up; with 0 it grants when it likes to."""
        self.patience = patience
        """For how long it keeps a message at most."""
        self.is_waiting = is_waiting
        """Whether it does not settle with the outcome, so that the producer may settle first."""
        self.is_responder = is_responder
        self.latest: dict[Producer, int] = {}
        self.undecided: list[Any] = []
        self._arriving: dict[Any, Arriving] = {}

    def __repr__(self) -> str:
        return f"consumer {self.link.name} of {self.client.name}"

    @property
    def is_attached(self) -> bool:
        """Whether the link lives, as far as the client knows."""
        return self.link.is_attached and self.client.is_open

    @property
    def is_living(self) -> bool:
        """Whether the router has no reason either to take it for gone."""
        return self.is_attached and self.client.line is not None and self.client.line.is_whole

    @property
    def wants_settled(self) -> bool:
        """Whether it asked for messages that are settled when they are sent."""
        return self.link.snd_settle_mode == SETTLED

    def attached(self) -> None:
        """The router has answered."""
        self.client.simulation.consumer_came(self)
        self.top_up()

    def top_up(self) -> None:
        """Keep the credit up."""
        wanted = max(self.window, 50 if self.client.is_finishing else 0)
        if self.is_attached and self.link.credit <= wanted // 2 and wanted:
            self.link.grant(wanted - self.link.credit)
            self.client.turn_ends()

    def receive(self, delivery: Any, octets: bytes) -> None:
        """Take a part of a message."""
        ledger = self.client.ledger
        arriving = self._arriving.setdefault(delivery, Arriving())
        arriving.octets += octets
        if arriving.receipt is None:
            number = number_in(arriving.octets)
            if number is not None:
                arriving.receipt = ledger.started(self, number)
        if delivery.is_partial:
            return
        del self._arriving[delivery]
        receipt = arriving.receipt
        if delivery.is_aborted:
            if receipt is not None:
                receipt.is_aborted = True
            return
        assert receipt is not None, f"{self} got {arriving.octets!r}"
        ledger.finished(receipt, arriving.octets)
        delivery.context = receipt
        if self.is_responder and receipt.sent.reply_to is not None:
            self.client.reply(receipt.sent.reply_to)
        if delivery.remote_settled:
            receipt.is_decided = True
            self.top_up()
        elif self.client.is_finishing or self.patience == 0:
            self.decide(delivery)
        else:
            self.undecided.append(delivery)
            self.client.later(self.client.world.random() * self.patience, self.decide, delivery)

    def decide(self, delivery: Any) -> None:
        """Say what becomes of a message."""
        if delivery in self.undecided:
            self.undecided.remove(delivery)
        if not self.is_attached or delivery.settled or delivery.remote_settled or delivery.state is not None:
            return
        decision = ACCEPTED if self.is_responder else self.client.world.choice(DECISIONS)
        self.client.ledger.decided(delivery.context, decision, is_waiting=self.is_waiting)
        delivery.update(decision, not self.is_waiting)
        if self.is_waiting and self.client.world.chance(0.2):
            self.client.later(self.client.world.random() * 2.0, self.settle, delivery)
        self.top_up()
        self.client.turn_ends()

    def settle(self, delivery: Any) -> None:
        """Settle without waiting for the producer any longer."""
        if self.is_attached and not (delivery.settled or delivery.remote_settled):
            delivery.context.is_waiting = False
            delivery.settle()
            self.client.turn_ends()

    def settled(self, delivery: Any) -> None:
        """Hear that the router has settled."""
        if delivery.remote_settled and delivery.context is not None:
            self.client.ledger.answered(delivery.context)
        self.top_up()
