"""The link of a publisher: the store has the messages, and says what is in the unsettled map.

Outcomes of one turn are forgotten in one transaction, and settled afterwards. A program that dies
between the two has settled in effect: the next attach does not name the message any more.

Only what may have been sent is in the unsettled map, with its age. A link that was away for too long gives that up,
since routers have forgotten what became of it. Everything else in the store is published as new.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from mobula_client.engine import (
    Attach,
    Delivery,
    Modified,
    Recovery,
    Released,
    Sender,
    Source,
    Symbol,
    Target,
    UInt,
    ULong,
    is_outcome,
    plan_recovery,
)
from mobula_client.errors import ClientError, MessageTooLarge, OutcomesUnknown
from mobula_client.exactly_once.absence import PUBLISHER_PART, Absence, AbsentLink
from mobula_client.exactly_once.names import AGES, ATTACH_COUNT, EXACTLY_ONCE, Guarantee, check_offered, identity_of
from mobula_client.exactly_once.position import rest_of
from mobula_client.exactly_once.store import Entry, Store
from mobula_client.links.deadlines import NEVER
from mobula_client.links.sending import OnDecided, Outgoing, SendingLink, error_for, settle

_DURABLE = 2
_AGE_MAX = (1 << 32) - 1


@dataclass(slots=True, eq=False)
class Published(Outgoing):
    """A message of the store."""

    number: int = 0
    put_at: float = 0.0
    sent_at: float | None = None
    """When it may have been sent first, by the clock of the store; None if it was certainly not."""
    resumed: Delivery | None = None
    """The record to resume, where the router knows the delivery."""
    remote_state: Any = None


class PublishingLink(AbsentLink, SendingLink):
    """The sending link of a publisher."""

    def __init__(
        self,
        name: str,
        wait_s: Callable[[int], float],
        *,
        store: Store,
        address: str,
        guarantee: Guarantee,
        window: int,
        timeout_s: int,
    ) -> None:
        # The router's end is what lasts; ours says the same of itself.
        lasting: dict[str, Any] = {"durable": _DURABLE, "expiry_policy": Symbol("never"), "timeout": UInt(timeout_s)}
        self._lasting = lasting if guarantee is Guarantee.EXACTLY_ONCE else {}
        super().__init__(name, wait_s, target=Target(address=address, **self._lasting), snd_settle_mode=0)
        self.store = store
        self.guarantee = guarantee
        self.window = store.window_of(name, window)
        self.loaded: dict[bytes, Published] = {}
        """The first messages of the store, a window at most, in their order."""
        self._cursor = 0
        self._concluded: list[tuple[Delivery | None, Published, Any]] = []
        self._returned: list[Published] = []
        self._again_at = NEVER
        self._returns = 0
        self._waiters: dict[int, OnDecided] = {}
        self.absence = Absence(store, name, PUBLISHER_PART, timeout_s)
        self.was_ready = store.presence(name) is not None
        self.sent_upto = self._load_first()

    # --- for the application

    def put(self, messages: Sequence[bytes], waiters: Sequence[OnDecided] = ()) -> list[Entry]:
        """Keep messages, and send them once they are kept; whoever waits is told the outcome."""
        entries = self.store.put(self.name, messages)
        for entry, waiter in zip(entries, waiters, strict=False):
            self._waiters[entry.number] = waiter
        self.store.after_commit(lambda: self.run(self.load))
        return entries

    def forget_waiter(self, number: int) -> None:
        """Tell nobody about a message."""
        self._waiters.pop(number, None)

    def _load_first(self) -> int:
        """Take up the first messages; return the number of the last one that may have been sent.

        All that any earlier process can have sent is among them, since its window was not larger.
        """
        self.load()
        presence = self.store.presence(self.name)
        upto = 0 if presence is None else presence.sent_upto
        if upto is None:
            upto = max((published.number for published in self.loaded.values()), default=0)
        for published in self.loaded.values():
            if published.number <= upto:
                published.sent_at = published.put_at
        return upto

    def load(self) -> None:
        """Take up further messages of the store, as far as the window allows."""
        room = self.window - len(self.loaded)
        if room <= 0 or self.end is not None:
            return
        for entry in self.store.entries(self.name, self._cursor, room):
            published = Published(entry.octets, entry.tag, _unheard, number=entry.number, put_at=entry.put_at)
            self.loaded[entry.tag] = published
            self._cursor = entry.number
            self.waiting.append(published)
        self.pump()

    @property
    def is_idle(self) -> bool:
        """Whether all messages are decided."""
        return not self.loaded

    @property
    def is_ended_by_close(self) -> bool:
        """Whether `close` ends the publisher for the router, because it has nothing left to ask for."""
        return not self.loaded

    # --- attach and recovery

    def send_attach(self, engine: Any) -> None:
        """Attach; for exactly-once with the unsettled map and the number of the attach."""
        self._conclude_all()
        self.load()
        if self.guarantee is not Guarantee.EXACTLY_ONCE:
            engine.attach(source=Source(), target=self.target, snd_settle_mode=0, rcv_settle_mode=0)
            return
        sent = {tag: each.sent_at for tag, each in self.loaded.items() if each.sent_at is not None}
        if sent and (why := self.absence.why_too_long()) is not None:
            raise OutcomesUnknown(self.name, "amqp:resource-deleted", why)
        count = self.store.next_attach(self.name)
        engine.suspended = {tag: _record(engine, tag) for tag in sent}
        properties: dict[Symbol, Any] = {ATTACH_COUNT: ULong(count), **identity_of(engine)}
        if sent:
            now = self.store.time()
            properties[AGES] = [_age(now - sent_at) for sent_at in sent.values()]
        engine.attach(
            source=Source(**self._lasting),
            target=self.target,
            snd_settle_mode=0,
            rcv_settle_mode=1,
            unsettled=engine.unsettled_map(),
            desired_capabilities=(EXACTLY_ONCE,),
            properties=properties,
        )
        self.refuse_incomplete_map(engine)

    def recover(self, performative: Attach) -> None:
        """Send again what the router does not know, resume what it knows, and confirm what it has decided."""
        target = performative.target
        engine = cast(Sender, self.engine)
        if self.guarantee is Guarantee.EXACTLY_ONCE:
            try:
                check_offered(self.name, performative)
                self.refuse_incomplete_map(engine)
                self.absence.attached(engine, target.timeout if isinstance(target, Target) else 0)
            except ClientError as error:
                self.finish(error)
                return
            for recovered in plan_recovery(engine, performative.unsettled):
                published = self.loaded[recovered.delivery.tag]
                if recovered.recovery is Recovery.RESEND:
                    del cast("dict[bytes, Delivery]", engine.suspended)[published.tag]
                else:
                    published.resumed = recovered.delivery
                    published.remote_state = recovered.remote_state
        self.waiting = deque(self.loaded.values())
        for published in self.loaded.values():
            if is_outcome(published.remote_state):
                self._concluded.append((None, published, published.remote_state))
        self._conclude_all()
        self.load()
        self.pump()

    def detach_from_engine(self) -> None:
        """Leave everything to the next attach."""
        self.unsettled.clear()
        self.waiting.clear()
        self._returned.clear()
        self._again_at = NEVER
        for published in self.loaded.values():
            published.resumed = published.remote_state = None

    def lost(self) -> None:
        """Keep the outcomes that came before the end."""
        self._conclude_all()
        super().lost()

    def ended(self, error: ClientError) -> None:
        """Tell everybody who waits. The messages stay in the store, except those whose outcome nobody knows."""
        if isinstance(error, OutcomesUnknown):
            self._give_up(str(error))
        self.waiting.clear()
        self.unsettled.clear()
        waiters, self._waiters = self._waiters, {}
        for waiter in waiters.values():
            waiter(error)

    def _give_up(self, reason: str) -> None:
        given_up = [each for each in self.loaded.values() if each.sent_at is not None]
        try:
            with self.store.transaction():
                for published in given_up:
                    self.store.refuse(self.name, published.number, reason)
        except ClientError:
            # They are in the map of the next attach, and given up for the same reason.
            return
        for published in given_up:
            del self.loaded[published.tag]

    def final_error(self, condition: str, description: str | None) -> ClientError:
        """Return what the end of the link means to a publisher."""
        if condition == "amqp:resource-deleted" and self.guarantee is Guarantee.EXACTLY_ONCE:
            return OutcomesUnknown(self.name, condition, description)
        return super().final_error(condition, description)

    # --- sending

    def send_next(self, engine: Sender, outgoing: Outgoing) -> None:
        """Send a message as new, or resume it."""
        published = cast(Published, outgoing)
        if published.sent_at is None:
            published.sent_at = self.store.time()
            self.sent_upto = max(self.sent_upto, published.number)
        if published.resumed is None:
            most = engine.remote_max_message_size
            if most and len(published.octets) > most:
                self._concluded.append((None, published, MessageTooLarge(len(published.octets), most)))
                self.ask_turn()
                return
            super().send_next(engine, published)
            return
        record, state = published.resumed, published.remote_state
        published.resumed = None
        if is_outcome(state):
            engine.resume(record, state=state, settled=True)
            return
        self.unsettled[published.tag] = published
        record.context = published
        engine.resume(record, rest_of(published.octets, state))

    def conclude(self, delivery: Delivery, outgoing: Outgoing, now: float) -> None:
        """Note an outcome, for the end of the turn."""
        published = cast(Published, outgoing)
        del self.unsettled[published.tag]
        outcome = delivery.remote_state
        if self.guarantee is Guarantee.AT_LEAST_ONCE and _is_passing(outcome):
            settle(delivery)
            self._returned.append(published)
            if self._again_at == NEVER:
                self._returns += 1
                self._again_at = now + self.wait_s(self._returns)
            self.ask_turn()
            return
        self._returns = 0
        self._concluded.append((delivery, published, outcome))
        self.ask_turn()

    def finish_turn(self) -> None:
        """Forget what was decided in this turn, then settle it, and go on with further messages."""
        if self._concluded:
            self._conclude_all()
            self.load()

    @property
    def deadline(self) -> float:
        """When the link wants to attach, released messages are due again, or the store is to know of the router."""
        return min(super().deadline, self._again_at if self.is_ready else NEVER)

    def tick(self, now: float) -> None:
        """Send released messages again, before later ones; keep when the router was heard."""
        super().tick(now)
        if self._again_at <= now and self.is_ready:
            self._again_at = NEVER
            returned, self._returned = self._returned, []
            known = [published for published in returned if self.loaded.get(published.tag) is published]
            self.waiting.extendleft(reversed(known))
            self.pump()

    def _conclude_all(self) -> None:
        concluded, self._concluded = self._concluded, []
        if not concluded:
            return
        reasons = [_error_of(outcome) for _, _, outcome in concluded]
        try:
            with self.store.transaction():
                for (_, published, _), reason in zip(concluded, reasons, strict=True):
                    if reason is None or published.number in self._waiters:
                        self.store.forget(self.name, [published.number])
                    else:
                        self.store.refuse(self.name, published.number, str(reason))
        except ClientError as error:
            self.finish(error)
            return
        for (delivery, published, _), reason in zip(concluded, reasons, strict=True):
            self.loaded.pop(published.tag, None)
            if delivery is not None:
                settle(delivery)
            waiter = self._waiters.pop(published.number, None)
            if waiter is not None:
                waiter(reason)
        self.on_change()


def _record(engine: Any, tag: bytes) -> Delivery:
    # What the engine would have kept of the delivery if this process had sent it over an earlier link.
    record = Delivery()
    record.link = engine
    record.given_tag = tag
    return record


def _age(seconds: float) -> UInt:
    return UInt(min(_AGE_MAX, max(0, int(seconds * 1000))))


def _is_passing(outcome: Any) -> bool:
    return isinstance(outcome, Released) or (isinstance(outcome, Modified) and not outcome.undeliverable_here)


def _error_of(outcome: Any) -> ClientError | None:
    return outcome if isinstance(outcome, ClientError) else error_for(outcome)


def _unheard(error: ClientError | None) -> None:
    """The outcomes of stored messages go to the waiters, if there are any."""
