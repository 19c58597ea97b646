"""The two ends of a link, as an engine peer plays them; each reports what it sees and says when it is done."""

import hashlib
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from routerd.wire import (
    ACCEPTED,
    RELEASED,
    Accepted,
    Attach,
    Delivery,
    Error,
    Modified,
    Outcome,
    Receiver,
    Rejected,
    Released,
    Sender,
    Symbol,
    is_outcome,
)
from tests.interop.engine.values import Notation, body_of, data_message, value_message
from tests.interop.scenarios import OUTCOME_FIELDS, content

Report = Callable[..., None]

SETTLED = 1
SECOND = 1

OUTCOME_NAMES: dict[type, str] = {
    Accepted: "accepted",
    Rejected: "rejected",
    Released: "released",
    Modified: "modified",
}


def error_of(fact: dict[str, Any] | None) -> Error | None:
    """Return the error that an option or a fact describes."""
    if fact is None:
        return None
    info = {Symbol(key): value for key, value in fact.get("info", {}).items()}
    return Error(condition=Symbol(fact["condition"]), description=fact.get("description"), info=info)


def error_fact(error: Error | None) -> dict[str, Any] | None:
    if error is None:
        return None
    info = {str(key): str(value) for key, value in (error.info or {}).items()}
    return {"condition": str(error.condition), "description": error.description, "info": info}


def outcome_of(name: str) -> Outcome:
    """Return the outcome of this name, with all its fields."""
    fields = OUTCOME_FIELDS[name]
    if name == "rejected":
        return Rejected(error=error_of(fields["error"]))
    if name == "modified":
        annotations = {Symbol(key): value for key, value in fields["message_annotations"].items()}
        return Modified(delivery_failed=True, undeliverable_here=True, message_annotations=annotations)
    return ACCEPTED if name == "accepted" else RELEASED


def outcome_fields(outcome: Any) -> dict[str, Any]:
    """Return what a fact says of an outcome besides its name."""
    if isinstance(outcome, Rejected):
        return {"error": error_fact(outcome.error)}
    if isinstance(outcome, Modified):
        annotations = {str(key): str(value) for key, value in (outcome.message_annotations or {}).items()}
        fields = {"delivery_failed": outcome.delivery_failed, "undeliverable_here": outcome.undeliverable_here}
        return {**fields, "message_annotations": annotations}
    return {}


class Sending:
    """Sends the messages of one link as credit comes, and settles them as their outcomes come."""

    def __init__(self, link: Sender, options: dict[str, Any], report: Report, totals: Counter[str]) -> None:
        self.link, self.report, self.totals = link, report, totals
        self.size, self.left = options["size"], options["messages"]
        self.is_drain_expected = options["drain"]
        self.hold_after, self.will_abort = options["hold_after"], options["abort"]
        self.freeze: Callable[[], None] = lambda: None
        self.held: tuple[Delivery, bytes] | None = None
        self.lost: list[int] = []
        """What the receiver has settled without an outcome."""
        self.values: deque[bytes] = deque()
        self.sent = self.unsettled = 0

    @property
    def is_done(self) -> bool:
        return not (self.left or self.unsettled or self.is_drain_expected)

    def queue(self, value: Notation) -> None:
        """Send this value as the body of a message, as one more than was planned."""
        self.values.append(value_message(value))
        self.left += 1

    def on_open(self, performative: Attach) -> None:
        """Wait for credit."""

    def on_credit(self) -> None:
        while self.link.credit > 0 and self.left and not self.held:
            message = self.values.popleft() if self.values else data_message(content(self.sent, self.size))
            delivery = self.link.begin(str(self.sent).encode(), self.link.snd_settle_mode == SETTLED)
            if self.hold_after:
                self.hold(delivery, message)
            else:
                self.send(delivery, message, 0)
        if self.link.drain and not self.left and self.is_drain_expected:
            self.is_drain_expected = False
            self.report("drained", link=self.link.name, returned=self.link.credit)
            self.link.drained()

    def hold(self, delivery: Delivery, message: bytes) -> None:
        """Send the beginning of a message, and nothing more until the test lets us go on."""
        self.link.write(delivery, message, 0, self.hold_after, True)
        self.held = delivery, message
        self.freeze()

    def go_on(self) -> None:
        """Send the rest of the message that was held; or abort it, and send it again."""
        assert self.held
        (delivery, message), start = self.held, self.hold_after
        self.held, self.hold_after = None, 0
        if self.will_abort:
            self.link.abort(delivery)
        else:
            self.send(delivery, message, start)
        self.on_credit()

    def send(self, delivery: Delivery, message: bytes, start: int) -> None:
        self.link.write(delivery, message, start, len(message), False)
        self.sent += 1
        self.left -= 1
        self.totals["sent"] += 1
        self.unsettled += not delivery.settled

    def on_disposition(self, delivery: Delivery) -> None:
        state = delivery.remote_state
        if is_outcome(state):
            self.report_outcome(delivery, state)
            delivery.settle()
        elif delivery.remote_settled:
            self.lost.append(int(delivery.tag))

    def report_outcome(self, delivery: Delivery, state: Any) -> None:
        name, number = OUTCOME_NAMES[type(state)], int(delivery.tag)
        about = {"link": self.link.name, "number": number, "state": name, "settled": delivery.remote_settled}
        self.report("outcome", **about, **outcome_fields(state))
        self.totals[name] += 1
        self.unsettled -= 1


class Receiving:
    """Grants the credit of one link and gives each message the outcome that its number asks for."""

    def __init__(self, link: Receiver, options: dict[str, Any], report: Report, totals: Counter[str]) -> None:
        self.link, self.report, self.totals = link, report, totals
        self.left, self.window, self.outcomes = options["messages"], options["credit"], options["outcomes"]
        self.is_draining, self.will_suspend = options["drain"], options["suspend"]
        self.on_value: Callable[[Notation], None] | None = None
        self.chunks: list[bytes] = []
        self.numbers: dict[bytes, int] = {}
        """By delivery-tag, which is not the sender's when a router stands between."""
        self.received = self.unsettled = self.open_credit = 0

    @property
    def is_done(self) -> bool:
        return not (self.left or self.unsettled or self.is_draining or self.will_suspend)

    def on_open(self, performative: Attach) -> None:
        if self.is_draining:
            self.open_credit = self.window
            self.link.set_credit(self.window, drain=True)
        else:
            self.top_up()

    def on_credit(self) -> None:
        if self.is_draining and not self.link.credit:
            self.is_draining = False
            self.report("drained", link=self.link.name, returned=self.open_credit)

    def on_transfer(self, delivery: Delivery, octets: bytes) -> None:
        if delivery.is_aborted:
            self.chunks = []
            self.report("aborted", link=self.link.name, number=self.received)
            self.top_up()
            return
        if delivery.is_partial and not self.chunks:
            self.report("partial", link=self.link.name, number=self.received, octets=len(octets))
        self.chunks.append(octets)
        if not delivery.is_partial:
            self.on_message(delivery)

    def on_message(self, delivery: Delivery) -> None:
        message, self.chunks = b"".join(self.chunks), []
        self.report_message(message, delivery)
        number, self.received, self.left = self.received, self.received + 1, self.left - 1
        self.numbers[delivery.tag] = number
        self.totals["received"] += 1
        if self.will_suspend:
            self.keep(delivery)
        elif not delivery.remote_settled:
            self.give_outcome(delivery, self.outcomes[number % len(self.outcomes)])
        self.open_credit = self.link.credit
        self.top_up()

    def keep(self, delivery: Delivery) -> None:
        """Decide nothing, and suspend the link when all messages are here."""
        if not self.left:
            self.link.detach(closed=False)

    def top_up(self) -> None:
        if not self.is_draining and not self.link.credit and self.left:
            self.link.grant(min(self.window, self.left))

    def report_message(self, message: bytes, delivery: Delivery) -> None:
        about = {"link": self.link.name, "number": self.received}
        body = body_of(message)
        if self.on_value:
            self.report("value", **about, value=body)
            self.on_value(body)
            return
        octets = bytes.fromhex(body[1])
        digest = hashlib.sha256(octets).hexdigest()
        self.report("received", **about, octets=len(octets), sha256=digest, settled=delivery.remote_settled)

    def give_outcome(self, delivery: Delivery, name: str) -> None:
        delivery.decide(outcome_of(name))
        self.totals[name] += 1
        self.unsettled += not delivery.settled

    def on_disposition(self, delivery: Delivery) -> None:
        if delivery.remote_settled:
            self.report("settled", link=self.link.name, number=self.numbers[delivery.tag])
            self.totals["settled"] += 1
            self.unsettled -= 1
            delivery.settle()
