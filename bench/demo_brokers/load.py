"""A producer and a consumer of the sharded queue, and what they saw."""

import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, field

from bench.demo_brokers.layout import QUEUE
from bench.demo_mesh.endpoint import ConnectionLost, Endpoint
from routerd.wire import (
    Accepted,
    AmqpValue,
    Delivery,
    Header,
    Message,
    Modified,
    Receiver,
    Source,
    ULong,
    is_outcome,
)

INTERVAL_S = 0.005
"""A message is begun so often, at most."""
CREDIT = 50
RETRY_S = 0.1
OUTCOMES_WITHIN_S = 30.0


@dataclass(slots=True)
class Account:
    """What a producer or a consumer saw."""

    sent: int = 0
    accepted: set[int] = field(default_factory=set)
    other: Counter[str] = field(default_factory=Counter)
    """Outcomes other than accepted, after which a message is sent again."""
    received: Counter[int] = field(default_factory=Counter)


class Client(ABC, threading.Thread):
    """Works on one connection after the other, until it is told to stop."""

    def __init__(self, port: int, account: Account) -> None:
        super().__init__(daemon=True)
        self._port = port
        self.account = account
        self.is_stopping = False

    def run(self) -> None:
        """Work, and connect again when the connection is lost."""
        while not self.is_over():
            try:
                line = self.line(self._port)
                while not self.is_over():
                    self.work(line)
                    line.turn(INTERVAL_S)
                line.close()
            except ConnectionLost:
                time.sleep(RETRY_S)

    @abstractmethod
    def line(self, port: int) -> Endpoint:
        """Return a new connection."""

    def work(self, line: Endpoint) -> None:
        """Do what is due."""

    def is_over(self) -> bool:
        """Whether there is nothing left to do."""
        return self.is_stopping


class Producer(Client):
    """Sends durable messages with numbers; each is sent again until it is accepted."""

    def __init__(self, port: int, account: Account) -> None:
        super().__init__(port, account)
        self.due: list[int] = []
        self.under_way: set[int] = set()
        self._ends_at = 0.0

    def stop(self) -> None:
        """Send nothing new, and wait until all is accepted, for a time."""
        self._ends_at = time.monotonic() + OUTCOMES_WITHIN_S
        self.is_stopping = True
        self.join(OUTCOMES_WITHIN_S + 5.0)

    def is_over(self) -> bool:
        """Whether everything is accepted that was sent."""
        is_decided = not self.due and not self.under_way
        return self.is_stopping and (is_decided or time.monotonic() > self._ends_at)

    def line(self, port: int) -> Endpoint:
        """Return a new connection; nobody can tell what became of what was under way on the last one."""
        self.due += sorted(self.under_way)
        self.under_way.clear()
        return _Sending(port, self)

    def work(self, line: Endpoint) -> None:
        """Send one message, if there is credit."""
        assert isinstance(line, _Sending)
        if line.link.credit <= 0 or line.session.has_backlog:
            return
        if self.due:
            number = self.due.pop(0)
        elif not self.is_stopping:
            self.account.sent += 1
            number = self.account.sent
        else:
            return
        self.under_way.add(number)
        message = Message(header=Header(durable=True), body=AmqpValue(ULong(number)))
        line.link.send(message.encode()).context = number

    def decided(self, number: int, outcome: object) -> None:
        """Take what became of a message."""
        self.under_way.discard(number)
        if isinstance(outcome, Accepted):
            self.account.accepted.add(number)
        else:
            self.account.other["modified" if isinstance(outcome, Modified) else "released or rejected"] += 1
            self.due.append(number)


class Consumer(Client):
    """Receives messages, and accepts them."""

    def line(self, port: int) -> Endpoint:
        """Return a new connection."""
        return _Receiving(port, self.account)


class _Sending(Endpoint):
    def __init__(self, port: int, producer: Producer) -> None:
        super().__init__(port, "producer")
        self._producer = producer
        self.link = self.sender(QUEUE)

    def on_disposition(self, delivery: Delivery) -> None:
        """Tell the producer."""
        outcome = delivery.remote_state
        if delivery.is_incoming or delivery.settled or not (is_outcome(outcome) or delivery.remote_settled):
            return
        if not delivery.remote_settled:
            delivery.settle()
        self._producer.decided(delivery.context, outcome)


class _Receiving(Endpoint):
    def __init__(self, port: int, account: Account) -> None:
        super().__init__(port, "consumer")
        self._account = account
        self.receiver(Source(address=QUEUE), CREDIT)

    def on_transfer(
        self, receiver: Receiver, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Note the message, and accept it."""
        body = Message.decode(bytes(data[start:end])).body
        assert isinstance(body, AmqpValue)
        self._account.received[int(body.value)] += 1
        delivery.accept()
        if receiver.credit <= CREDIT // 2:
            receiver.grant(CREDIT - receiver.credit)
