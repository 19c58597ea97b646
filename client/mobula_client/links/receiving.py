"""A receiving link: it grants credit, puts messages together, and tells their outcomes.

The window counts messages that are on their way or in the hands of the application. So a slow application holds its
senders up, and nothing piles up here. A window of 0 leaves credit to `grant`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from mobula_client.engine import (
    ACCEPTED,
    RELEASED,
    Attach,
    Delivery,
    Link,
    LocalError,
    Receiver,
    Session,
    Source,
    Target,
)
from mobula_client.errors import ClientError
from mobula_client.links.link import RecoverableLink


@dataclass(slots=True, eq=False)
class Incoming:
    """A message that has come completely."""

    link: "ReceivingLink"
    octets: bytes
    tag: bytes
    delivery: Delivery | None
    """The engine's record; None once the attachment that it came over is gone."""
    outcome: Any = None

    @property
    def is_decided(self) -> bool:
        """Whether the application has decided on it."""
        return self.outcome is not None

    def decide(self, outcome: Any) -> bool:
        """Tell the sender an outcome; return whether there was still somebody to be told."""
        return self.link.decide(self, outcome)


class ReceivingLink(RecoverableLink):
    """The receiving end of a link."""

    def __init__(
        self,
        name: str,
        wait_s: Callable[[int], float],
        *,
        source: Source,
        window: int,
        rcv_settle_mode: int = 0,
        snd_settle_mode: int = 2,
        accepts_at_once: bool = False,
        max_message_size: int = 0,
        properties: Mapping[Any, Any] | None = None,
    ) -> None:
        super().__init__(name, wait_s)
        self.source = source
        self.remote_source: Source | None = None
        self.window = window
        self.rcv_settle_mode = rcv_settle_mode
        self.snd_settle_mode = snd_settle_mode
        self.accepts_at_once = accepts_at_once
        self.max_message_size = max_message_size
        self.properties = properties
        self.granted = 0
        """Credit that the application granted and that was not used, for a window of 0."""
        self.in_hands = 0
        """Messages that the application has and has not decided on."""
        self.on_message: Callable[[Incoming], None] = lambda incoming: None
        self._known: set[Incoming] = set()

    # --- for the application

    def grant(self, credit: int) -> None:
        """Let `credit` more messages come."""
        self.granted += credit
        if isinstance(self.engine, Receiver):
            self.engine.grant(credit)

    def drain(self) -> None:
        """Ask the sender for what it has; unused credit comes back."""
        if isinstance(self.engine, Receiver):
            self.engine.set_credit(self.engine.credit, drain=True)

    def decide(self, incoming: Incoming, outcome: Any) -> bool:
        """Tell the sender an outcome; return whether there was still somebody to be told."""
        if incoming.is_decided:
            return False
        incoming.outcome = outcome
        self._known.discard(incoming)
        told = self.tell(incoming, outcome)
        self.in_hands -= 1
        self.replenish()
        return told

    def tell(self, incoming: Incoming, outcome: Any) -> bool:
        """Send the outcome as the settle mode requires."""
        delivery = incoming.delivery
        if delivery is None:
            return False
        if delivery.settled or delivery.remote_settled:
            return True
        try:
            delivery.decide(outcome)
        except LocalError:
            return False
        return True

    # --- attach and recovery

    def new_engine(self, session: Session) -> Link:
        """Return a receiving endpoint."""
        return session.receiver(self.name)

    def send_attach(self, engine: Any) -> None:
        """Attach without an unsettled map."""
        engine.attach(
            source=self.source,
            target=Target(),
            snd_settle_mode=self.snd_settle_mode,
            rcv_settle_mode=self.rcv_settle_mode,
            max_message_size=self.max_message_size,
            properties=self.properties,
        )

    def recover(self, performative: Attach) -> None:
        """Grant credit."""
        self.remote_source = performative.source if isinstance(performative.source, Source) else None
        if self.window:
            self.replenish()
        elif self.granted and isinstance(self.engine, Receiver):
            self.engine.grant(self.granted)

    def detach_from_engine(self) -> None:
        """Cut the undecided messages off the attachment: nobody can be told of them any more."""
        for incoming in self._known:
            if incoming.delivery is not None and not incoming.delivery.remote_settled:
                incoming.delivery = None

    def ended(self, error: ClientError) -> None:
        """Nothing waits here."""

    # --- receiving

    def transferred(self, delivery: Delivery, octets: bytes) -> None:
        """Collect the octets of a message, and hand it over once it is complete."""
        if delivery.is_aborted:
            delivery.context = None
            self.replenish()
            return
        if delivery.is_partial or delivery.context is not None:
            parts = delivery.context
            if parts is None:
                parts = delivery.context = bytearray()
            parts += octets
            if delivery.is_partial:
                return
            octets = bytes(parts)
            delivery.context = None
        self.granted = max(0, self.granted - 1)
        self.receive(delivery, octets)

    def receive(self, delivery: Delivery, octets: bytes) -> None:
        """Take a complete message."""
        self.hand_over(Incoming(self, octets, delivery.tag, delivery))

    def hand_over(self, incoming: Incoming) -> None:
        """Give a message to the application."""
        self.in_hands += 1
        self._known.add(incoming)
        self.on_message(incoming)

    def taken(self, incoming: Incoming) -> bool:
        """Return whether the application is to have a message; accept it now if that is how it is settled.

        A message that waited here while the connection was lost comes again, so this copy is dropped.
        """
        if incoming.delivery is None and not self.is_bound_again:
            self.decide(incoming, RELEASED)
            return False
        if self.accepts_at_once:
            self.decide(incoming, ACCEPTED)
        return True

    @property
    def is_bound_again(self) -> bool:
        """Whether messages that come again are recognized, and not handed over again."""
        return False

    def replenish(self) -> None:
        """Open the window again, at half of it, so that the sender does not stall and flows stay few (2.6.7)."""
        engine = self.engine
        if not self.window or not self.is_ready or not isinstance(engine, Receiver) or not engine.is_attached:
            return
        room = max(0, self.room)
        if engine.credit <= room // 2 and engine.credit < room:
            engine.set_credit(room)

    @property
    def room(self) -> int:
        """How many more messages may come."""
        return self.window - self.in_hands
