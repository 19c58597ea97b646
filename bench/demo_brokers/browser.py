"""A client whose links are routed to a broker: it puts messages into a queue, and looks at them without taking any."""

import time
from collections.abc import Callable

from bench.demo_brokers.layout import ARCHIVE
from bench.demo_mesh.endpoint import ConnectionLost, Endpoint
from bench.demo_mesh.parts import DemoFailed
from routerd.wire import Accepted, AmqpValue, Delivery, Error, Header, Link, Message, Receiver, Source

ADDRESS = f"/amq/queue/{ARCHIVE}"
WITHIN_S = 20.0


class Browser(Endpoint):
    """One connection, with a routed link at a time."""

    def __init__(self, port: int) -> None:
        super().__init__(port, "browser")
        self.lost: list[str] = []
        """The conditions of links that ended."""
        self._link: Link | None = None
        self._accepted = 0
        self._seen: list[tuple[str, Delivery]] = []

    def put(self, texts: list[str]) -> None:
        """Send messages into the queue, and wait until it has accepted them."""
        link = self._link = self.sender(ADDRESS)
        self._await(lambda: link.credit >= len(texts), "the queue gives credit")
        for text in texts:
            link.send(Message(header=Header(durable=True), body=AmqpValue(text)).encode())
        wanted = self._accepted + len(texts)
        self._await(lambda: self._accepted == wanted, "the queue accepts messages")
        link.detach()
        self._await(lambda: link.is_over, "a link is detached")

    def browse(self, count: int) -> list[str]:
        """Return the messages of the queue; all go back to their places."""
        link = self._link = self.receiver(Source(address=ADDRESS), count)
        self._seen.clear()
        self._await(lambda: len(self._seen) == count, f"{count} messages are seen")
        for _, delivery in self._seen:
            delivery.release()
        link.detach()
        self._await(lambda: link.is_over, "a link is detached")
        return sorted(text for text, _ in self._seen)

    def watch(self) -> None:
        """Have a link to the queue, on which nothing is asked for."""
        link = self._link = self.receiver(Source(address=ADDRESS), 0)
        self._await(lambda: link.is_attached, "a link is attached")

    def await_loss(self) -> str:
        """Return the condition with which the link is detached."""
        self._await(lambda: self.lost, "the routed link ends")
        return self.lost.pop()

    def _await(self, claim: Callable[[], object], what: str) -> None:
        deadline = time.monotonic() + WITHIN_S
        while not claim():
            if time.monotonic() > deadline:
                raise DemoFailed(f"not within {WITHIN_S:g} s: {what}")
            try:
                self.turn(0.1)
            except ConnectionLost as error:
                raise DemoFailed("the connection of the browser was lost") from error

    def on_transfer(
        self, receiver: Receiver, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        """See a message."""
        body = Message.decode(bytes(data[start:end])).body
        assert isinstance(body, AmqpValue)
        self._seen.append((body.value, delivery))

    def on_disposition(self, delivery: Delivery) -> None:
        """Count what the queue accepts."""
        if not delivery.is_incoming and isinstance(delivery.remote_state, Accepted):
            self._accepted += 1

    def on_link_detached(self, link: Link, closed: bool, error: object) -> None:
        """Note the end of a link; the connection stays."""
        if isinstance(error, Error):
            self.lost.append(str(error.condition))
        if not link.is_over:
            link.detach()
