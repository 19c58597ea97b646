"""The links of a proton client, as tests use them: what a call needs is waited for, with a deadline."""

from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from proton import Delivery, Endpoint, Link, Message

if TYPE_CHECKING:
    from tests.system.proton_client import ProtonClient

STREAM_AHEAD = 1 << 20
"""Octets of a message that proton may have before it is given more."""

Sink = Callable[[bytes], None]

STATES = {
    Delivery.ACCEPTED: "accepted",
    Delivery.REJECTED: "rejected",
    Delivery.RELEASED: "released",
    Delivery.MODIFIED: "modified",
}
OUTCOMES = {name: state for state, name in STATES.items()}


class Sent:
    """A message on its way, until its outcome is known."""

    def __init__(self, client: "ProtonClient", delivery: Delivery, *, is_complete: bool = True) -> None:
        self._client = client
        self.delivery = client.keep(delivery)
        self.is_complete = is_complete
        self.state: str | None = None
        self.condition: str | None = None
        """What it was rejected with."""
        self.is_failed = self.is_undeliverable = False
        """What it was modified with."""

    def outcome(self) -> str:
        """Return the outcome, once it is there."""
        self._client.wait_until(lambda: self.state is not None, "a message has its outcome")
        assert self.state is not None
        return self.state

    def decided(self) -> None:
        """Take down the outcome; called by the pump."""
        remote = self.delivery.remote
        self.condition = None if remote.condition is None else str(remote.condition.name)
        self.is_failed, self.is_undeliverable = bool(remote.failed), bool(remote.undeliverable)
        self.state = STATES.get(self.delivery.remote_state, "settled")
        if self.is_complete:
            self.delivery.settle()


class Streamed:
    """A message that is sent piece by piece."""

    def __init__(self, producer: "Producer", *, settled: bool) -> None:
        self._client, self._link = producer.client, producer.link
        self._is_settled = settled
        self.sent = producer.new(is_complete=False)

    def write(self, octets: bytes) -> None:
        """Send some more, once what was written before has nearly left."""
        client, session = self._client, self._link.session
        client.wait_until(lambda: session.outgoing_bytes < STREAM_AHEAD, "what was written leaves")
        with client.lock:
            self._link.send(octets)
            client.wake()

    def write_all(self, chunks: Iterable[bytes]) -> None:
        """Send the rest."""
        for chunk in chunks:
            self.write(chunk)
        self.end()

    def end(self) -> None:
        """Say that this is all."""
        with self._client.lock:
            self.sent.is_complete = True
            self._link.advance()
            if self._is_settled or self.sent.state is not None:
                self.sent.delivery.settle()
            self._client.wake()

    def abort(self) -> None:
        """Give it up."""
        with self._client.lock:
            self.sent.delivery.abort()
            self._client.wake()


class Producer:
    """A link that sends."""

    def __init__(self, client: "ProtonClient", link: Link) -> None:
        self.client = client
        self.link = link
        self.undecided: dict[str, Sent] = {}

    @property
    def credit(self) -> int:
        """What the router has granted and is not used yet."""
        with self.client.lock:
            return self._lasting_credit()

    def _lasting_credit(self) -> int:
        # What the router asks back is for messages that are queued already.
        return 0 if self.link.drain_mode else int(self.link.credit)

    def wait_for_credit(self, count: int = 1, *, within_s: float | None = None) -> None:
        """Return once the router has granted so much."""
        link = self.link
        self.client.wait_until(
            lambda: self._lasting_credit() >= count or link.state & Endpoint.REMOTE_CLOSED,
            f"credit of {count}",
            within_s,
        )
        with self.client.lock:
            assert not link.state & Endpoint.REMOTE_CLOSED, f"the link is gone: {link.remote_condition}"

    def wait_for_no_credit(self, *, within_s: float | None = None) -> None:
        """Return once the router asks back what it granted, or has it, be it while more than that is on its way."""
        self.client.wait_until(lambda: self._lasting_credit() <= 0, "the credit is taken back", within_s)

    def wait_until_detached(self) -> None:
        """Return once the router has detached."""
        self.client.wait_until(lambda: self.link.state & Endpoint.REMOTE_CLOSED, "the router detaches")

    def wait_until_written(self) -> None:
        """Return once what was sent has left on the credit that there was."""
        self.client.wait_until(lambda: self.link.queued == 0, "what was sent is written")

    def send(self, body: Any, *, settled: bool = False, **fields: Any) -> Sent:
        """Send one message on credit, which is waited for; its fields are those of proton's Message."""
        return self.send_encoded(Message(body=body, **fields).encode(), settled=settled)

    def send_encoded(self, octets: bytes, *, settled: bool = False) -> Sent:
        """Send one message as it is, on credit."""
        self.wait_for_credit()
        with self.client.lock:
            sent = self.new(is_complete=True, is_settled=settled)
            self.link.send(octets)
            if settled:
                sent.delivery.settle()
            self.link.advance()
            self.client.wake()
            return sent

    def send_all(self, bodies: Iterable[Any], *, settled: bool = False) -> list[Sent]:
        """Send many messages."""
        return [self.send(body, settled=settled) for body in bodies]

    def begin(self, *, settled: bool = False) -> Streamed:
        """Begin a message that is sent piece by piece, on credit."""
        self.wait_for_credit()
        return Streamed(self, settled=settled)

    def stream(self, chunks: Iterable[bytes], *, settled: bool = False) -> Sent:
        """Send one message piece by piece, as fast as it leaves."""
        begun = self.begin(settled=settled)
        begun.write_all(chunks)
        return begun.sent

    def new(self, *, is_complete: bool, is_settled: bool = False) -> Sent:
        """Begin a delivery."""
        with self.client.lock:
            tag = self.client.next_name()
            sent = Sent(self.client, self.link.delivery(tag), is_complete=is_complete)
            if not is_settled:
                self.undecided[tag] = sent
            return sent

    def on_delivery(self, delivery: Delivery) -> None:
        """Take the outcome of a message; called by the pump."""
        if delivery.updated and (delivery.remote_state in STATES or delivery.settled):
            self.undecided.pop(delivery.tag).decided()

    def close(self) -> None:
        """Detach, and wait for the answer."""
        self.client.close_link(self.link)


class Received:
    """A message that has arrived, whole."""

    def __init__(self, client: "ProtonClient", delivery: Delivery, octets: bytes) -> None:
        self._client = client
        self._delivery = client.keep(delivery)
        self.octets = octets
        self.is_settled = bool(delivery.settled)

    @property
    def message(self) -> Message:
        """The message, decoded."""
        message = Message()
        message.decode(self.octets)
        return message

    @property
    def body(self) -> Any:
        """The body of the message."""
        message = self.message
        # The octets of a memoryview are gone with the message.
        return bytes(message.body) if isinstance(message.body, memoryview) else message.body

    def decide(self, outcome: str) -> None:
        """Give it this outcome, and settle."""
        with self._client.lock:
            self._delivery.update(OUTCOMES[outcome])
            self._delivery.settle()
            self._client.wake()


class Consumer:
    """A link that receives; each message gets `outcome` at once, or waits to be decided by hand if that is None."""

    def __init__(self, client: "ProtonClient", link: Link, window: int, outcome: str | None, sink: Sink | None) -> None:
        self.client = client
        self.link = link
        self._window = window
        self._outcome = outcome
        self._sink = sink
        self._is_stalled = False
        self._octets = b""
        self.waiting: deque[Received] = deque()
        self.received: list[Received] = []
        self.aborted = 0

    @property
    def address(self) -> str:
        """The address as the router answered it."""
        with self.client.lock:
            return str(self.link.remote_source.address)

    @property
    def bodies(self) -> list[Any]:
        """The bodies of all messages so far."""
        return [one.body for one in list(self.received)]

    @property
    def credit(self) -> int:
        """What is granted and not used."""
        with self.client.lock:
            return int(self.link.credit)

    @property
    def partial_octets(self) -> int:
        """How much of a message is here that is not complete."""
        return len(self._octets)

    def take(self) -> Received:
        """Return the next message that was not taken yet."""
        self.client.wait_until(lambda: self.waiting, f"a message arrives on {self.link.name}")
        return self.waiting.popleft()

    def wait_for(self, count: int, *, within_s: float | None = None) -> list[Any]:
        """Return all bodies, once there are so many."""
        self.client.wait_until(lambda: len(self.received) >= count, f"{count} messages arrive", within_s)
        return self.bodies

    def stall(self) -> None:
        """Take nothing more of the messages of this link."""
        with self.client.lock:
            self._is_stalled = True

    def go_on(self) -> None:
        """Take what has come meanwhile, and what comes."""
        with self.client.lock:
            self._is_stalled = False
            if (delivery := self.link.current) is not None:
                self.on_delivery(delivery)
            self.client.wake()

    def grant(self, credit: int) -> None:
        """Grant credit, once: it is not renewed."""
        with self.client.lock:
            self.link.flow(credit)
            self.client.wake()

    def drain(self, credit: int) -> None:
        """Grant credit once, and return when what was not used has been given back."""
        with self.client.lock:
            self.link.drain(credit)
            self.client.wake()
        self.client.wait_until(lambda: self.link.credit == 0, "the link is drained")
        with self.client.lock:
            self.link.drained()

    def close(self) -> None:
        """Detach, and wait for the answer."""
        self.client.close_link(self.link)

    def on_delivery(self, delivery: Delivery) -> None:
        """Collect what has arrived; called by the pump."""
        if delivery.aborted:
            self.aborted += 1
            self._octets = b""
            delivery.settle()
            self._renew()
            return
        if self._is_stalled:
            return
        while delivery.pending:
            octets = self.link.recv(delivery.pending) or b""
            if self._sink is None:
                self._octets += octets
            else:
                self._sink(octets)
        if delivery.readable and not delivery.partial:
            self._on_message(delivery)

    def _on_message(self, delivery: Delivery) -> None:
        octets, self._octets = self._octets, b""
        received = Received(self.client, delivery, octets)
        self.link.advance()
        self.received.append(received)
        self.waiting.append(received)
        if received.is_settled:
            delivery.settle()
        elif self._outcome is not None:
            delivery.update(OUTCOMES[self._outcome])
            delivery.settle()
        self._renew()

    def _renew(self) -> None:
        if self._window and self.link.credit <= self._window // 2:
            self.link.flow(self._window - self.link.credit)
