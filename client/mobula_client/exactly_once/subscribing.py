"""The link of a subscriber: its unsettled map is what the store has decided.

A delivery that is still in the application's hands is not in the map. After a failure it comes again, is recognized by
its tag, and is not handed over a second time.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

from mobula_client.engine import (
    Accepted,
    Attach,
    Delivery,
    LocalError,
    Recovery,
    Rejected,
    Source,
    Symbol,
    Target,
    UInt,
    ULong,
    plan_recovery,
)
from mobula_client.errors import ClientError, SubscriptionEnded
from mobula_client.exactly_once.absence import SUBSCRIBER_PART, Absence, AbsentLink
from mobula_client.exactly_once.names import (
    ATTACH_COUNT,
    EPOCH,
    EXACTLY_ONCE,
    STAMP,
    Guarantee,
    check_offered,
    identity_of,
)
from mobula_client.exactly_once.store import Store
from mobula_client.links.receiving import Incoming, ReceivingLink

_DURABLE = 2
_ATTACH_OCTETS = 1152
"""More than an attach has beside its map."""
_ENTRY_OCTETS = 38
"""Of a map: the longest tag, and that it was accepted."""


class LastingLink(ReceivingLink):
    """The receiving link of a subscription, which stays when the link is closed; this one keeps no map."""

    def __init__(
        self,
        name: str,
        wait_s: Callable[[int], float],
        *,
        address: str,
        timeout_s: int,
        window: int,
        guarantee: Guarantee = Guarantee.AT_LEAST_ONCE,
        expiry_policy: str = "never",
        max_message_size: int = 0,
    ) -> None:
        super().__init__(
            name,
            wait_s,
            source=Source(
                address=address, durable=_DURABLE, expiry_policy=Symbol(expiry_policy), timeout=UInt(timeout_s)
            ),
            window=window,
            rcv_settle_mode=1 if guarantee is Guarantee.EXACTLY_ONCE else 0,
            snd_settle_mode=0 if guarantee is Guarantee.EXACTLY_ONCE else 2,
            max_message_size=max_message_size,
        )
        self.is_unsubscribing = False

    @property
    def is_ended_by_close(self) -> bool:
        """Whether the subscription ends with the link."""
        return self.is_unsubscribing

    def send_attach(self, engine: Any) -> None:
        """Attach without an unsettled map, by its name."""
        self.properties = identity_of(engine)
        super().send_attach(engine)

    def final_error(self, condition: str, description: str | None) -> ClientError:
        """Return what the end of the link means to a subscriber."""
        if condition == "amqp:resource-deleted":
            return SubscriptionEnded(self.name, condition, description)
        return super().final_error(condition, description)


class SubscribingLink(AbsentLink, LastingLink):
    """The receiving link of a subscriber that gets each message once."""

    def __init__(
        self,
        name: str,
        wait_s: Callable[[int], float],
        *,
        store: Store,
        address: str,
        timeout_s: int,
        window: int,
        max_message_size: int = 0,
    ) -> None:
        super().__init__(
            name,
            wait_s,
            address=address,
            timeout_s=timeout_s,
            window=window,
            guarantee=Guarantee.EXACTLY_ONCE,
            expiry_policy="link-detach",
            max_message_size=max_message_size,
        )
        self.store = store
        self.absence = Absence(store, name, SUBSCRIBER_PART, timeout_s)
        self.was_ready = store.presence(name) is not None
        self.decided_by_tag: dict[bytes, Any] = dict(store.decided(name))
        """The unsettled map."""
        self._in_hands: dict[bytes, Incoming] = {}
        self._bound: set[bytes] = set()
        """Those that came over this attachment and are not settled."""
        self._undecided: set[bytes] = set()
        """Those of them that the application has in its hands."""
        self._settled: set[bytes] = set()

    # --- for the application

    def decide(self, incoming: Incoming, outcome: Any) -> bool:
        """Keep an outcome, in the open transaction of the store if there is one, and tell it once it is kept."""
        if incoming.is_decided:
            return False
        delivery = incoming.delivery
        is_settled = delivery is not None and delivery.remote_settled
        if isinstance(outcome, (Accepted, Rejected)) and not is_settled:
            self.store.decide(self.name, incoming.tag, outcome)
        self.store.after_commit(lambda: self.run(lambda: self._conclude(incoming, outcome)))
        return True

    def _conclude(self, incoming: Incoming, outcome: Any) -> None:
        if incoming.is_decided:
            return
        if isinstance(outcome, (Accepted, Rejected)):
            self.decided_by_tag[incoming.tag] = outcome
        else:
            self._bound.discard(incoming.tag)
        self._undecided.discard(incoming.tag)
        self._in_hands.pop(incoming.tag, None)
        super().decide(incoming, outcome)
        if incoming.delivery is not None and incoming.delivery.remote_settled:
            self._note_settled(incoming.tag)

    def tell(self, incoming: Incoming, outcome: Any) -> bool:
        """Tell the outcome, and let the sender settle first."""
        return incoming.delivery is not None and tell_unsettled(incoming.delivery, outcome)

    # --- attach and recovery

    def send_attach(self, engine: Any) -> None:
        """Attach with the unsettled map and the number of the attach, unless it was away for too long."""
        self.finish_turn()
        ticket = self.store.ticket(self.name)
        if ticket and (why := self.absence.why_too_long()) is not None:
            raise SubscriptionEnded(self.name, "amqp:resource-deleted", why)
        count = self.store.next_attach(self.name)
        engine.suspended = {tag: _record(engine, tag, outcome) for tag, outcome in self.decided_by_tag.items()}
        engine.attach(
            source=self.source,
            target=Target(),
            snd_settle_mode=self.snd_settle_mode,
            rcv_settle_mode=self.rcv_settle_mode,
            max_message_size=self.max_message_size,
            unsettled=engine.unsettled_map(),
            desired_capabilities=(EXACTLY_ONCE,),
            properties={ATTACH_COUNT: ULong(count), **identity_of(engine), **_told(ticket)},
        )
        self.refuse_incomplete_map(engine)

    def recover(self, performative: Attach) -> None:
        """Forget what the sender does not know any more, since it has settled that; the rest it resumes."""
        engine = self.engine
        assert engine is not None, "it is attached"
        try:
            check_offered(self.name, performative)
            self.refuse_incomplete_map(engine)
            for recovered in plan_recovery(engine, performative.unsettled):
                if recovered.recovery is Recovery.FORGET:
                    self._settled.add(recovered.delivery.tag)
                    recovered.delivery.settle()
            self._forget_settled()
            self.store.keep_ticket(self.name, _ticket(performative.properties))
            source = performative.source
            self.absence.attached(engine, source.timeout if isinstance(source, Source) else 0)
        except ClientError as error:
            self.finish(error)
            return
        super().recover(performative)

    # --- receiving

    def detach_from_engine(self) -> None:
        """Open the whole window to the next attachment, over which everything comes again or is resumed."""
        super().detach_from_engine()
        self._bound.clear()
        self._undecided.clear()

    @property
    def room(self) -> int:
        """How many more messages may come, new ones or others.

        Messages that came over this attachment and are not decided count. Decided messages that are still unsettled
        wait for other subscribers, which may wait for this one. So they count only if the map would no longer fit an
        attach. Messages in hands from earlier attachments come again. They count only if there are too many of them.
        """
        room = min(self.window - len(self._undecided), 2 * self.window - self.in_hands)
        return room if self.engine is None else min(room, _map_room(self.engine) - len(self._bound))

    def receive(self, delivery: Delivery, octets: bytes) -> None:
        """Hand a message over, unless it is known."""
        tag = delivery.tag
        self._bound.add(tag)
        known = self._in_hands.get(tag)
        if tag in self.decided_by_tag:
            if delivery.remote_settled:
                self._note_settled(tag)
            else:
                tell_unsettled(delivery, self.decided_by_tag[tag])
            # It has used credit, and no decision will follow that gives credit anew.
            self.replenish()
        elif known is not None:
            known.delivery = delivery
            self._undecided.add(tag)
        else:
            self._undecided.add(tag)
            incoming = Incoming(self, octets, tag, delivery)
            self._in_hands[tag] = incoming
            self.hand_over(incoming)

    def decided(self, delivery: Delivery, now: float) -> None:
        """The sender has settled: forget the delivery at the end of the turn."""
        if delivery.remote_settled and delivery.tag in self.decided_by_tag:
            self._note_settled(delivery.tag)

    def finish_turn(self) -> None:
        """Forget what was settled in this turn, in one transaction."""
        if self._settled:
            try:
                self._forget_settled()
            except ClientError as error:
                self.finish(error)
                return
            self.replenish()

    def ended(self, error: ClientError) -> None:
        """Forget the map of a subscription that was given up."""
        if self.is_unsubscribing:
            self._settled.update(self.decided_by_tag)
            self._forget_settled()
        if self.is_unsubscribing or isinstance(error, SubscriptionEnded):
            # The next one of this name is a new subscription.
            self.store.keep_ticket(self.name, b"")

    def _note_settled(self, tag: bytes) -> None:
        self._settled.add(tag)
        self.ask_turn()

    def _forget_settled(self) -> None:
        settled, self._settled = self._settled, set()
        self.store.settled(self.name, settled)
        for tag in settled:
            self.decided_by_tag.pop(tag, None)
            self._bound.discard(tag)


def _ticket(properties: Mapping[Any, Any] | None) -> bytes:
    """Return what the router says of the subscription, to be kept."""
    said = properties or {}
    if EPOCH not in said:
        return b""
    return json.dumps([list(said[EPOCH]), list(said.get(STAMP, ()))]).encode()


def _told(ticket: bytes) -> dict[Symbol, Any]:
    """Return the properties of an attach that say it again."""
    if not ticket:
        return {}
    epoch, stamp = ([ULong(one) if isinstance(one, int) else one for one in said] for said in json.loads(ticket))
    return {EPOCH: epoch, STAMP: stamp}


def _map_room(engine: Any) -> int:
    """Return how many deliveries the map of an attach has room for."""
    octets: int = engine.session.send_frame_size - _ATTACH_OCTETS
    return max(1, octets // _ENTRY_OCTETS)


def tell_unsettled(delivery: Delivery, outcome: Any) -> bool:
    """Tell an outcome without settling; return whether there was somebody to be told."""
    if delivery.settled or delivery.remote_settled:
        return True
    try:
        delivery.update(outcome, False)
    except LocalError:
        return False
    return True


def _record(engine: Any, tag: bytes, outcome: Any) -> Delivery:
    # What the engine would have kept of the delivery if this process had received it over an earlier link.
    record = Delivery()
    record.link = engine
    record.given_tag = tag
    record.is_incoming = True
    record.state = outcome
    return record


