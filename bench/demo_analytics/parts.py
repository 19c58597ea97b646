"""The clients of the demo: consumers (one is slow) and a producer. Each is a thread with a connection."""

import threading
import time
from collections import deque

from bench.demo_analytics.layout import ADDRESS
from bench.demo_mesh.endpoint import ConnectionLost, Endpoint
from routerd.wire import AmqpValue, Delivery, Message, Properties, Receiver, Source

RETRY_S = 0.1
TURN_S = 0.005


class Consumer(threading.Thread):
    """Takes one message after the other, and a time for each."""

    def __init__(self, name: str, port: int, *, service_s: float, credit: int) -> None:
        super().__init__(name=name, daemon=True)
        self.taken = 0
        self.is_stopping = False
        self.service_s = service_s
        self.credit = credit
        self._port = port

    def run(self) -> None:
        """Consume until told to stop."""
        while not self.is_stopping:
            try:
                line = _ConsumerLine(self, self._port)
                while not self.is_stopping:
                    line.serve()
                line.close()
            except ConnectionLost:
                time.sleep(RETRY_S)


class _ConsumerLine(Endpoint):
    def __init__(self, consumer: Consumer, port: int) -> None:
        super().__init__(port, consumer.name)
        self._consumer = consumer
        self._waiting: deque[Delivery] = deque()
        self._done_at = 0.0
        self._receiver = self.receiver(Source(address=ADDRESS), consumer.credit)

    def on_transfer(
        self, receiver: Receiver, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Accept it, or put it behind the others."""
        if not self._consumer.service_s:
            self._consumer.taken += 1
            delivery.accept()
            self._replenish()
            return
        if not self._waiting:
            self._done_at = time.monotonic() + self._consumer.service_s
        self._waiting.append(delivery)

    def serve(self) -> None:
        """Accept what is done, and wait for more."""
        while self._waiting and self._done_at <= time.monotonic():
            self._waiting.popleft().accept()
            self._consumer.taken += 1
            self._done_at += self._consumer.service_s
            self._replenish()
        self.turn(TURN_S)

    def _replenish(self) -> None:
        room = self._consumer.credit - self._receiver.credit - len(self._waiting)
        if room >= self._consumer.credit // 2:
            self._receiver.grant(room)


class Producer(threading.Thread):
    """Sends messages at a rate, as far as there is credit."""

    def __init__(self, name: str, port: int, rate: float) -> None:
        super().__init__(name=name, daemon=True)
        self.sent = 0
        self.outcomes = 0
        self.is_stopping = False
        self.rate = rate
        self._port = port

    def run(self) -> None:
        """Send until told to stop."""
        while not self.is_stopping:
            try:
                line = _ProducerLine(self, self._port)
                while not self.is_stopping:
                    line.send_due()
                while line.is_open and line.unsettled:
                    line.turn(TURN_S)
                line.close()
            except ConnectionLost:
                time.sleep(RETRY_S)


class _ProducerLine(Endpoint):
    def __init__(self, producer: Producer, port: int) -> None:
        super().__init__(port, producer.name)
        self._producer = producer
        self._due = time.monotonic()
        self._sender = self.sender(ADDRESS)
        self._give_up_at = 0.0
        self.unsettled = 0

    @property
    def is_open(self) -> bool:
        """Whether it is worth to wait for outcomes."""
        if not self._give_up_at:
            self._give_up_at = time.monotonic() + 5.0
        return time.monotonic() < self._give_up_at

    def send_due(self) -> None:
        """Send what should have been sent by now."""
        now = time.monotonic()
        while self._due <= now and self._sender.credit > 0:
            self._producer.sent += 1
            self.unsettled += 1
            name = f"{self._producer.name}-{self._producer.sent}"
            body = AmqpValue({"order": self._producer.sent})
            self._sender.send(Message(properties=Properties(message_id=name), body=body).encode())
            self._due += 1 / self._producer.rate
        # Messages that were not sent for lack of credit are not made up for.
        self._due = max(self._due, now - 0.1)
        self.turn(TURN_S)

    def on_disposition(self, delivery: Delivery) -> None:
        """Settle what has its outcome."""
        if delivery.remote_settled:
            self.unsettled -= 1
            self._producer.outcomes += 1
