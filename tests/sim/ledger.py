"""What was sent, what arrived and what producers were told, and the promises that these must keep."""

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from routerd.wire import ACCEPTED, RELEASED, Modified, Rejected
from tests.sim.world import Broken

if TYPE_CHECKING:
    from tests.sim.clientele import Clientele
    from tests.sim.links import Consumer, Producer

_MARK = re.compile(rb"#(\d{8})#")
MAYBE_SEEN = Modified(delivery_failed=True)
OF_THE_ROUTER = frozenset({"amqp:link:message-size-exceeded", "amqp:precondition-failed", "amqp:not-found"})
"""Why the router itself rejects messages here."""


def mark(number: int) -> bytes:
    """Return what a message has in it to be known by."""
    return b"#%08d#" % number


def number_in(octets: bytes) -> int | None:
    """Return the number of a message, once enough of it is there."""
    found = _MARK.search(octets)
    return int(found[1]) if found else None


@dataclass(eq=False)
class Receipt:
    """One consumer's copy of a message, or the beginning of it."""

    sent: "Sent"
    consumer: "Consumer"
    is_whole: bool = False
    is_aborted: bool = False
    decision: Any = None
    """What the consumer said, as far as it knows; it may be lost on its way."""
    is_decided: bool = False
    is_waiting: bool = False
    """Whether the consumer has decided, and nobody has settled yet."""


@dataclass(eq=False)
class Sent:
    """A message on a producer's link."""

    number: int
    producer: "Producer"
    address: str
    is_multicast: bool
    is_settled: bool
    expected: bytes
    """Its octets as a consumer gets them."""
    epoch: int
    """The troubles of the router that there had been when it was sent."""
    began_in_trouble: bool
    sent_at: float
    audience: list["Consumer"]
    """Consumers that were there before."""
    reply_to: str | None = None
    receipts: list[Receipt] = field(default_factory=list)
    outcome: Any = None
    is_told: bool = False
    is_aborted: bool = False
    is_complete: bool = False
    is_forgotten: bool = False
    """Whether the producer settled it before it knew what became of it."""
    is_over: bool = False
    """Whether the producer settled it."""

    def __repr__(self) -> str:
        return f"message {self.number} of {self.producer} for {self.address}"


class Ledger:
    """All messages of a run."""

    def __init__(self, simulation: "Clientele") -> None:
        self._simulation = simulation
        self.sent: list[Sent] = []
        self.counts: dict[str, int] = {}

    def count(self, what: str) -> None:
        """Count something that happened, to show that a run was worth its time."""
        self.counts[what] = self.counts.get(what, 0) + 1

    def send(self, producer: "Producer", address: str, is_settled: bool, **details: Any) -> Sent:
        """Enter a message that is about to be sent."""
        simulation = self._simulation
        is_multicast = address.startswith("multicast")
        audience = [each for each in simulation.consumers_of(address) if each.is_attached] if is_multicast else []
        sent = Sent(
            len(self.sent),
            producer,
            address,
            is_multicast,
            is_settled,
            b"",
            simulation.epoch,
            not simulation.is_whole,
            simulation.world.now,
            audience,
            **details,
        )
        self.sent.append(sent)
        self.count("sent settled" if is_settled else "sent")
        return sent

    # --- at consumers

    def may_be_sent_back(self, sent: Sent, consumer: "Consumer") -> bool:
        """Whether a message that a consumer released may come to it again."""
        return False

    def started(self, consumer: "Consumer", number: int) -> Receipt:
        """A consumer gets a message, or the beginning of it."""
        sent = self.sent[number]
        receipt = Receipt(sent, consumer)
        others = [each for each in sent.receipts if not sent.is_multicast or each.consumer is consumer]
        is_again = bool(others) and sent.address.startswith("again")
        if is_again:
            self.count("resent")
            may_be_sent_back = self.may_be_sent_back(sent, consumer)
            others = [
                each
                for each in others
                if each.decision != RELEASED or (each.consumer is consumer and not may_be_sent_back)
            ]
        if others:
            raise Broken(f"{sent} comes to {consumer}, though it came to {others[0].consumer} before")
        if sent.address != consumer.address:
            raise Broken(f"{sent} comes to {consumer}, which is one of {consumer.address}")
        if sent.is_told and sent.outcome == RELEASED:
            raise Broken(f"{sent} comes to {consumer}, though its producer was told that it is released")
        before = consumer.latest.get(sent.producer, -1)
        # One that goes elsewhere may have been released by a router whose consumer had left, and never begun there.
        if before > number and not sent.address.startswith("again"):
            raise Broken(f"{sent} comes to {consumer} behind number {before}")
        consumer.latest[sent.producer] = max(before, number)
        sent.receipts.append(receipt)
        return receipt

    def finished(self, receipt: Receipt, octets: bytes) -> None:
        """A consumer has a whole message."""
        sent = receipt.sent
        receipt.is_whole = True
        self.count("received")
        if sent.is_aborted:
            raise Broken(f"{sent} comes whole to {receipt.consumer}, though its producer aborted it")
        if octets != sent.expected:
            raise Broken(f"{sent} comes to {receipt.consumer} as {octets!r} instead of {sent.expected!r}")

    def decided(self, receipt: Receipt, decision: Any, *, is_waiting: bool = False) -> None:
        """A consumer says what becomes of its copy, and may wait for the producer."""
        # One that says nothing of the kind of change counts as failed.
        receipt.decision = MAYBE_SEEN if decision == Modified() else decision
        receipt.is_decided = True
        receipt.is_waiting = is_waiting

    def answered(self, receipt: Receipt) -> None:
        """A consumer hears that its copy is settled."""
        sent, was_waiting = receipt.sent, receipt.is_waiting
        receipt.is_waiting = False
        if not was_waiting or sent.is_settled or sent.is_over or _goes_elsewhere(receipt):
            return
        self.count("answered for a lost producer")
        if sent.producer.is_living and receipt.consumer.is_living and not self._simulation.had_trouble_since(sent):
            raise Broken(f"{sent} is settled with {receipt.consumer}, and its producer has not settled it")

    # --- at producers

    def told(self, sent: Sent, outcome: Any) -> None:
        """A producer is told what became of its message."""
        if sent.is_told:
            if outcome != sent.outcome:
                raise Broken(f"{sent} was {sent.outcome!r}, and is {outcome!r} now")
            return
        sent.is_told = True
        sent.outcome = outcome
        self.count(type(outcome).__name__.lower())
        if sent.is_settled:
            raise Broken(f"{sent} was sent settled, and yet its producer is told {outcome!r}")
        if sent.is_multicast:
            self._check_copies(sent)
        else:
            self._check_one(sent)

    def settled(self, sent: Sent) -> None:
        """A producer hears that its message is settled."""
        for receipt in sent.receipts:
            is_there = receipt.consumer.is_living and sent.producer.is_living
            waits = receipt.is_waiting and not _goes_elsewhere(receipt)
            if waits and is_there and not self._simulation.had_trouble_since(sent):
                raise Broken(f"{sent} is settled with its producer, and {receipt.consumer} has not settled it")

    def _check_one(self, sent: Sent) -> None:
        outcome = sent.outcome
        # Before the last one, consumers have released it.
        *_, receipt = sent.receipts or [None]
        if receipt is None:
            if outcome == ACCEPTED and not self._simulation.has_settling_consumer(sent.address):
                raise Broken(f"{sent} is accepted, and nobody has got it")
            if not self._is_possible_without_receipt(sent):
                raise Broken(f"{sent} is {outcome!r}, and nobody has got it")
        elif outcome == ACCEPTED and not (receipt.is_whole or receipt.consumer.wants_settled):
            raise Broken(f"{sent} is accepted, and {receipt.consumer} has only a part of it")
        elif receipt.consumer.wants_settled:
            self._check_settled_by_router(sent, outcome)
        elif receipt.is_decided and receipt.decision == outcome:
            return
        elif receipt.decision == RELEASED and _is_of_the_router(outcome) and sent.address.startswith("again"):
            # It is too large for the next one.
            return
        elif receipt.decision == RELEASED and outcome == MAYBE_SEEN and sent.address.startswith("again"):
            if not self._may_be_lost(sent):
                raise Broken(f"{sent} is {outcome!r}, and nobody was lost after {receipt.consumer} had released it")
        elif receipt.decision == RELEASED and outcome == ACCEPTED and sent.address.startswith("again"):
            # The next one takes settled messages, and may not have it yet.
            if not self._simulation.has_settling_consumer(sent.address):
                raise Broken(f"{sent} is accepted, and {receipt.consumer}, the last that got it, has released it")
        elif not self._is_excusable(sent, receipt, outcome):
            raise Broken(
                f"{sent} is {outcome!r}, where {receipt.consumer} "
                + (f"said {receipt.decision!r}" if receipt.is_decided else "has said nothing")
            )

    def _is_possible_without_receipt(self, sent: Sent) -> bool:
        # A message that left and was lost on its way may have been seen.
        outcome = sent.outcome
        if outcome in (ACCEPTED, RELEASED) or _is_of_the_router(outcome):
            return True
        return bool(outcome == MAYBE_SEEN and self._may_be_lost(sent))

    def _may_be_lost(self, sent: Sent) -> bool:
        simulation = self._simulation
        if not sent.producer.is_attached:
            return True
        has_broken = any(not each.is_living for each in simulation.consumers_of(sent.address))
        return has_broken or simulation.lost_consumer_since(sent) or simulation.had_trouble_since(sent)

    def _check_settled_by_router(self, sent: Sent, outcome: Any) -> None:
        if outcome not in (ACCEPTED, MAYBE_SEEN) and not _is_of_the_router(outcome):
            raise Broken(f"{sent} is {outcome!r}, though it went to a consumer that wants all settled")

    def _is_excusable(self, sent: Sent, receipt: Receipt, outcome: Any) -> bool:
        """Whether an outcome may be the router's own, and not what the consumer said."""
        if _is_of_the_router(outcome):
            return receipt.is_aborted or not receipt.is_whole
        if outcome != MAYBE_SEEN:
            return False
        is_lost = not (receipt.consumer.is_living and sent.producer.is_attached)
        return is_lost or self._simulation.had_trouble_since(sent)

    def _check_copies(self, sent: Sent) -> None:
        outcome = sent.outcome
        receipts = sent.receipts
        decisions = [each.decision for each in receipts if each.is_decided]
        settling = any(each.consumer.wants_settled for each in receipts)
        is_lost = not sent.producer.is_attached or self._simulation.had_trouble_since(sent)
        if outcome == ACCEPTED and ACCEPTED not in decisions and not settling:
            if not self._simulation.has_settling_consumer(sent.address):
                raise Broken(f"{sent} is accepted, and no consumer has accepted it")
        elif outcome not in decisions and (
            (isinstance(outcome, Rejected) and not _is_of_the_router(outcome))
            or (isinstance(outcome, Modified) and outcome != MAYBE_SEEN)
        ):
            raise Broken(f"{sent} is {outcome!r}, and no consumer has said so")
        for receipt in receipts:
            is_there = receipt.consumer.is_living and not is_lost and not receipt.consumer.wants_settled
            is_being_aborted = receipt.is_aborted or (not receipt.is_whole and receipt.consumer.link.max_message_size)
            if is_there and not receipt.is_decided and not is_being_aborted:
                raise Broken(f"{sent} is {outcome!r}, and {receipt.consumer} has not yet decided")
            if is_there and receipt.is_decided and rank_of(receipt.decision) > rank_of(outcome):
                raise Broken(f"{sent} is {outcome!r}, though {receipt.consumer} said {receipt.decision!r}")
        if not is_lost and outcome != RELEASED and not _is_of_the_router(outcome):
            self._check_audience(sent)

    def _check_audience(self, sent: Sent) -> None:
        has_it = {id(each.consumer) for each in sent.receipts}
        for consumer in sent.audience:
            may_lack_it = consumer.wants_settled or 0 < consumer.link.max_message_size < len(sent.expected) + 100
            if consumer.is_living and id(consumer) not in has_it and not may_lack_it:
                raise Broken(f"{sent} is {sent.outcome!r}, and {consumer}, there all the time, has not got it")

    # --- when all is quiet

    def check_all_are_told(self) -> None:
        """Check that each message of a link that lives has its outcome."""
        for sent in self.sent:
            is_due = sent.is_complete and not (sent.is_settled or sent.is_told or sent.is_forgotten)
            if is_due and sent.producer.is_attached:
                raise Broken(f"all is quiet, and nobody has said what became of {sent}; it came to {sent.receipts}")

    def check_all_have_arrived(self) -> None:
        """Check, for a run without any trouble, that what was sent settled to one consumer arrived."""
        for sent in self.sent:
            is_due = sent.is_settled and sent.is_complete and not sent.is_multicast
            if is_due and not [each for each in sent.receipts if each.is_whole]:
                raise Broken(f"all went well, and {sent}, which was settled, has not arrived")


def rank_of(outcome: Any) -> int:
    """Return how an outcome ranks among those of the copies of a message."""
    if outcome in (RELEASED, None):
        return 0
    if isinstance(outcome, Modified):
        return 1
    return 3 if isinstance(outcome, Rejected) else 2


def _goes_elsewhere(receipt: Receipt) -> bool:
    """Whether a router may have settled a message with a consumer, because it goes to another one."""
    return receipt.decision == RELEASED and receipt.sent.address.startswith("again")


def _is_of_the_router(outcome: Any) -> bool:
    return isinstance(outcome, Rejected) and outcome.error is not None and outcome.error.condition in OF_THE_ROUTER
