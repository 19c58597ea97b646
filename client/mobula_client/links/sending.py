"""A sending link: messages wait for credit, are sent, and wait for their outcome.

With `resends`, messages without an outcome are sent again after a failure, before later ones, so that the order stays.
This is at-least-once. Otherwise their outcome is unknown. A settled message is over when it is sent.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

from mobula_client.engine import (
    Accepted,
    Attach,
    Delivery,
    Link,
    LocalError,
    Modified,
    Rejected,
    Released,
    Sender,
    Session,
    Source,
    Target,
    is_outcome,
)
from mobula_client.errors import (
    ClientError,
    MessageModified,
    MessageRejected,
    MessageReleased,
    MessageTooLarge,
    OutcomeUnknown,
)
from mobula_client.links.link import RecoverableLink

OnDecided: TypeAlias = Callable[[ClientError | None], None]
"""Called once for each message: with None if it was accepted, or sent settled; with the reason otherwise."""


@dataclass(slots=True, eq=False)
class Outgoing:
    """A message on its way out."""

    octets: bytes
    tag: bytes
    on_decided: OnDecided
    settled: bool = False
    message_format: int = 0
    is_over: bool = False

    def decide(self, error: ClientError | None) -> None:
        """Tell the application, once."""
        if not self.is_over:
            self.is_over = True
            self.on_decided(error)


class SendingLink(RecoverableLink):
    """The sending end of a link."""

    def __init__(
        self,
        name: str,
        wait_s: Callable[[int], float],
        *,
        target: Target,
        snd_settle_mode: int = 2,
        resends: bool = True,
        properties: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(name, wait_s)
        self.target = target
        self.remote_target: Target | None = None
        self.snd_settle_mode = snd_settle_mode
        self.resends = resends
        self.properties = properties
        self.waiting: deque[Outgoing] = deque()
        self.unsettled: dict[bytes, Outgoing] = {}
        self._tags = count()

    # --- for the application

    def new_tag(self) -> bytes:
        """Return a tag that no other message of this object has."""
        return next(self._tags).to_bytes(8, "big")

    def submit(self, outgoing: Outgoing) -> None:
        """Send a message as soon as there is credit."""
        if self.end is not None:
            outgoing.decide(self.end)
            return
        self.waiting.append(outgoing)
        self.pump()

    def withdraw(self, outgoing: Outgoing) -> None:
        """Do not send a message that still waits; one that was sent goes on."""
        if outgoing in self.waiting:
            self.waiting.remove(outgoing)
            self.on_change()

    @property
    def is_idle(self) -> bool:
        """Whether no message waits for credit or for an outcome."""
        return not self.waiting and not self.unsettled

    # --- attach and recovery

    def new_engine(self, session: Session) -> Link:
        """Return a sending endpoint."""
        return session.sender(self.name)

    def send_attach(self, engine: Any) -> None:
        """Attach without an unsettled map: what has no outcome is sent as new."""
        engine.attach(
            source=Source(),
            target=self.target,
            snd_settle_mode=self.snd_settle_mode,
            rcv_settle_mode=0,
            properties=self.properties,
        )

    def recover(self, performative: Attach) -> None:
        """Send what waits; a peer that gave credit at once has it used at once."""
        self.remote_target = performative.target if isinstance(performative.target, Target) else None
        self.pump()

    def detach_from_engine(self) -> None:
        """Have what has no outcome sent again, or tell that its outcome is unknown."""
        left = list(self.unsettled.values())
        self.unsettled.clear()
        if self.resends:
            self.waiting.extendleft(reversed(left))
            return
        for outgoing in left:
            outgoing.decide(OutcomeUnknown("the connection to the router was lost"))

    def ended(self, error: ClientError) -> None:
        """Tell everybody who waits for an outcome."""
        left = [*self.unsettled.values(), *self.waiting]
        self.unsettled.clear()
        self.waiting.clear()
        for outgoing in left:
            outgoing.decide(error)

    # --- sending

    def flowed(self) -> None:
        """Use credit; give back what is not needed if the peer drains the link."""
        self.pump()
        engine = self.engine
        if isinstance(engine, Sender) and engine.drain and engine.credit > 0:
            engine.drained()

    def pump(self) -> None:
        """Send what waits, as far as credit and the transport allow."""
        engine = self.engine
        if not isinstance(engine, Sender) or not self.is_ready:
            return
        # The endpoint knows whether the transport has room.
        endpoint = engine.session.connection.context
        while self.waiting and engine.is_attached and engine.credit > 0 and not endpoint.is_blocked:
            self.send_next(engine, self.waiting.popleft())
        if self.is_idle:
            self.on_change()

    def send_next(self, engine: Sender, outgoing: Outgoing) -> None:
        """Send one message, for which there is credit."""
        most = engine.remote_max_message_size
        if most and len(outgoing.octets) > most:
            outgoing.decide(MessageTooLarge(len(outgoing.octets), most))
            return
        if not outgoing.settled:
            self.unsettled[outgoing.tag] = outgoing
        engine.send(outgoing.octets, outgoing.tag, outgoing.settled, outgoing.message_format, outgoing)
        if outgoing.settled:
            outgoing.decide(None)

    def decided(self, delivery: Delivery, now: float) -> None:
        """Settle a delivery that has its outcome, and tell the application."""
        outgoing = delivery.context
        if not isinstance(outgoing, Outgoing) or self.unsettled.get(outgoing.tag) is not outgoing:
            return
        if not is_outcome(delivery.remote_state) and not delivery.remote_settled:
            return
        self.conclude(delivery, outgoing, now)

    def conclude(self, delivery: Delivery, outgoing: Outgoing, now: float) -> None:
        """Settle, and tell the application."""
        del self.unsettled[outgoing.tag]
        settle(delivery)
        outgoing.decide(error_for(delivery.remote_state))
        if self.is_idle:
            self.on_change()


def settle(delivery: Delivery) -> None:
    """Settle a delivery, if there is still somebody to be told."""
    if not delivery.settled:
        try:
            delivery.settle()
        except LocalError:
            # The session is over: the next attach tells the peer.
            return


def error_for(outcome: Any) -> ClientError | None:
    """Return what an outcome means to the application: None if the message was accepted."""
    match outcome:
        case Accepted():
            return None
        case Rejected():
            return MessageRejected(outcome)
        case Released():
            return MessageReleased(outcome)
        case Modified():
            return MessageModified(outcome)
        case _:
            return OutcomeUnknown("the receiver settled it without an outcome")
