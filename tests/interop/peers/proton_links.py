"""The two ends of a link, as a proton peer plays them; each reports what it sees and says when it is done."""

import hashlib
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from proton import Condition, Delivery, Disposition, Link, Receiver, Sender, symbol
from proton_values import Value, body_of, encode_message

Report = Callable[..., None]

OUTCOMES = {
    "accepted": Disposition.ACCEPTED,
    "rejected": Disposition.REJECTED,
    "released": Disposition.RELEASED,
    "modified": Disposition.MODIFIED,
}
OUTCOME_NAMES = {state: name for name, state in OUTCOMES.items()}

SND_SETTLE_MODES = {"unsettled": Link.SND_UNSETTLED, "settled": Link.SND_SETTLED, "mixed": Link.SND_MIXED}
RCV_SETTLE_MODES = {"first": Link.RCV_FIRST, "second": Link.RCV_SECOND}

REJECTION = {"condition": "test:rejected", "description": "not wanted", "info": {"reason": "a test"}}
ANNOTATIONS = {"x-opt-note": "seen"}

DATA_HEAD = b"\x00\x53\x75\xb0"
CYCLE = bytes(range(251))


def content(number: int, size: int) -> bytes:
    """Return the octets of message number so-and-so: they count up modulo 251, from the number."""
    start = number % 251
    return (CYCLE * (size // 251 + 2))[start : start + size]


def error_fact(condition: Condition | None) -> dict[str, Any] | None:
    if condition is None:
        return None
    info = {str(key): str(value) for key, value in (condition.info or {}).items()}
    return {"condition": condition.name, "description": condition.description, "info": info}


class Sending:
    """Sends the messages of one link as credit comes, and settles them as their outcomes come."""

    def __init__(self, link: Sender, options: dict[str, Any], report: Report, totals: Counter[str]) -> None:
        self.link, self.report, self.totals = link, report, totals
        self.size, self.left = options["size"], options["messages"]
        self.is_drain_expected = options["drain"]
        self.hold_after, self.will_abort = options["hold_after"], options["abort"]
        self.freeze: Callable[[], None] = lambda: None
        self.held: tuple[Delivery, bytes] | None = None
        self.values: deque[bytes] = deque()
        self.sent = self.unsettled = 0

    @property
    def is_done(self) -> bool:
        return not (self.left or self.unsettled or self.is_drain_expected)

    def queue(self, value: Value) -> None:
        """Send this value as the body of a message, as one more than was planned."""
        self.values.append(encode_message(value))
        self.left += 1

    def on_credit(self) -> None:
        while self.link.credit > 0 and self.left and not self.held:
            message = self.values.popleft() if self.values else self.data_message()
            if self.hold_after:
                self.hold(message)
            else:
                self.send(self.link.delivery(str(self.sent)), message)
        if self.link.drain_mode and not self.left and self.is_drain_expected:
            self.is_drain_expected = False
            self.report("drained", link=self.link.name, returned=self.link.drained())

    def data_message(self) -> bytes:
        return DATA_HEAD + self.size.to_bytes(4, "big") + content(self.sent, self.size)

    def hold(self, message: bytes) -> None:
        """Send the beginning of a message, and nothing more until the test lets us go on."""
        delivery = self.link.delivery(str(self.sent))
        self.link.stream(message[: self.hold_after])
        self.held = delivery, message[self.hold_after :]
        self.hold_after = 0
        self.freeze()

    def go_on(self) -> None:
        """Send the rest of the message that was held; or abort it, and send it again."""
        assert self.held
        (delivery, rest), self.held = self.held, None
        if self.will_abort:
            delivery.abort()
        else:
            self.send(delivery, rest)
        self.on_credit()

    def send(self, delivery: Delivery, message: bytes) -> None:
        self.link.stream(message)
        self.link.advance()
        self.sent += 1
        self.left -= 1
        self.totals["sent"] += 1
        if self.link.snd_settle_mode == Link.SND_SETTLED:
            delivery.settle()
        else:
            self.unsettled += 1

    def on_delivery(self, delivery: Delivery) -> None:
        if not delivery.updated or delivery.remote_state == 0:
            return
        remote = delivery.remote
        name = OUTCOME_NAMES.get(remote.type, str(remote.type))
        fact: dict[str, Any] = {}
        if name == "rejected":
            fact = {"error": error_fact(remote.condition)}
        elif name == "modified":
            annotations = {str(key): str(value) for key, value in (remote.annotations or {}).items()}
            fact = {"delivery_failed": remote.failed, "undeliverable_here": remote.undeliverable}
            fact["message_annotations"] = annotations
        number = int(delivery.tag)
        self.report("outcome", link=self.link.name, number=number, state=name, settled=delivery.settled, **fact)
        self.totals[name] += 1
        delivery.settle()
        self.unsettled -= 1


class Receiving:
    """Grants the credit of one link and gives each message the outcome that its number asks for."""

    def __init__(self, link: Receiver, options: dict[str, Any], report: Report, totals: Counter[str]) -> None:
        self.link, self.report, self.totals = link, report, totals
        self.left, self.window, self.outcomes = options["messages"], options["credit"], options["outcomes"]
        self.is_draining, self.will_suspend = options["drain"], options["suspend"]
        self.on_value: Callable[[Value], None] | None = None
        self.chunks: list[bytes] = []
        self.numbers: dict[str, int] = {}
        self.received = self.unsettled = 0

    @property
    def is_done(self) -> bool:
        return not (self.left or self.unsettled or self.is_draining or self.will_suspend)

    def on_open(self) -> None:
        if self.is_draining:
            self.link.drain(self.window)
        else:
            self.link.flow(min(self.window, self.left))

    def on_credit(self) -> None:
        if self.is_draining and not self.link.draining() and not self.link.credit:
            self.is_draining = False
            self.report("drained", link=self.link.name, returned=self.link.drained())

    def on_delivery(self, delivery: Delivery) -> None:
        if delivery.aborted:
            self.on_abort(delivery)
        elif delivery.readable:
            is_new = not self.chunks
            while chunk := self.link.recv(1 << 20):
                self.chunks.append(chunk)
            if not delivery.partial:
                self.on_message(delivery)
            elif is_new and self.chunks:
                octets = sum(map(len, self.chunks))
                self.report("partial", link=self.link.name, number=self.received, octets=octets)
        elif delivery.updated and delivery.settled:
            self.report("settled", link=self.link.name, number=self.numbers[delivery.tag])
            self.totals["settled"] += 1
            self.unsettled -= 1
            delivery.settle()

    def on_abort(self, delivery: Delivery) -> None:
        self.report("aborted", link=self.link.name, number=self.received)
        self.chunks = []
        self.link.advance()
        delivery.settle()
        self.top_up()

    def keep(self) -> None:
        """Decide nothing, and suspend the link when all messages are here."""
        if not self.left:
            self.link.detach()

    def top_up(self) -> None:
        if not self.is_draining and not self.link.credit and self.left:
            self.link.flow(min(self.window, self.left))

    def on_message(self, delivery: Delivery) -> None:
        message, self.chunks = b"".join(self.chunks), []
        self.link.advance()
        self.report_message(message, delivery)
        number, self.received, self.left = self.received, self.received + 1, self.left - 1
        self.numbers[delivery.tag] = number
        self.totals["received"] += 1
        if self.will_suspend:
            self.keep()
        elif delivery.settled:
            delivery.settle()
        else:
            self.give_outcome(delivery, self.outcomes[number % len(self.outcomes)])
        self.top_up()

    def report_message(self, message: bytes, delivery: Delivery) -> None:
        about = {"link": self.link.name, "number": self.received}
        body = body_of(message)
        if self.on_value:
            self.report("value", **about, value=body)
            self.on_value(body)
            return
        octets = bytes.fromhex(body[1])
        digest = hashlib.sha256(octets).hexdigest()
        self.report("received", **about, octets=len(octets), sha256=digest, settled=delivery.settled)

    def give_outcome(self, delivery: Delivery, name: str) -> None:
        local = delivery.local
        if name == "rejected":
            local.condition = Condition(REJECTION["condition"], REJECTION["description"], REJECTION["info"])
        elif name == "modified":
            local.failed = local.undeliverable = True
            local.annotations = {symbol(key): value for key, value in ANNOTATIONS.items()}
        delivery.update(OUTCOMES[name])
        self.totals[name] += 1
        if self.link.rcv_settle_mode == Link.RCV_SECOND:
            self.unsettled += 1
        else:
            delivery.settle()
