"""A caller: calls all the time, checks every answer, and repeats what comes back."""

import itertools
import threading
import time
from collections import deque
from dataclasses import dataclass

from bench.demo_mesh.account import Account
from bench.demo_mesh.endpoint import ConnectionLost, Endpoint
from bench.demo_mesh.layout import ADDRESS
from routerd.wire import (
    Accepted,
    AmqpValue,
    Attach,
    Delivery,
    Link,
    Message,
    Modified,
    Properties,
    Receiver,
    Rejected,
    Source,
    ULong,
    is_outcome,
)

WINDOW = 16
"""Calls that are under way at a time."""
INTERVAL_S = 0.005
"""A caller begins a call so often, at most."""
RETRY_S = 0.05
ENDING_S = 15.0
_CREDIT = 100
RELEASED, MODIFIED, CONNECTION_LOST = "released", "modified", "connection lost"


@dataclass(slots=True, eq=False)
class Call:
    """One call, in all its attempts."""

    number: int
    is_answered: bool = False

    @property
    def numbers(self) -> list[int]:
        """What is to be added."""
        return [self.number, self.number * 7 % 1000, 1]


class Caller(threading.Thread):
    """Calls from one router, on one connection after the other, until it is told to stop."""

    def __init__(self, router: str, port: int) -> None:
        super().__init__(name=f"caller-{router}", daemon=True)
        self.router = router
        self.total = Account()
        self._port = port
        self._now = Account()
        self._lock = threading.Lock()
        self._is_stopping = False
        self._ends_at = 0.0
        self._last_answer: float | None = None
        self._numbers = itertools.count(1)
        self.calls: dict[int, Call] = {}
        """Those without an answer, and those under way though they have one."""
        self.under_way: set[Call] = set()
        self.due: deque[tuple[float, Call]] = deque()
        """To be repeated, and when."""

    def take_account(self) -> Account:
        """Return what was seen since the last time."""
        with self._lock:
            self._note_pause()
            taken, self._now = self._now, Account()
            self.total.add(taken)
            return taken

    @property
    def has_begun(self) -> bool:
        """Whether there was an answer."""
        return self._now.answered + self.total.answered > 0

    def stop(self) -> None:
        """Make no more calls; wait for what is under way, for a time."""
        self._ends_at = time.monotonic() + ENDING_S
        self._is_stopping = True
        if self.is_alive():
            self.join(ENDING_S + 5.0)
        with self._lock:
            self._now.open = sum(not call.is_answered for call in self.calls.values())

    def run(self) -> None:
        """Call, until all is done or the time for that is over."""
        while not self._is_over():
            try:
                line = _Line(self, self._port)
            except ConnectionLost:
                time.sleep(RETRY_S)
                continue
            try:
                while not self._is_over():
                    line.call(may_begin=not self._is_stopping)
                    line.turn(INTERVAL_S)
                line.close()
            except ConnectionLost:
                line.abandon()
                self.connection_lost()

    def _is_over(self) -> bool:
        return self._is_stopping and (not self.calls or time.monotonic() > self._ends_at)

    # --- what its connection tells

    def next_call(self, *, may_begin: bool) -> Call | None:
        """Return what is to be sent next."""
        if self.due and self.due[0][0] <= time.monotonic():
            return self.due.popleft()[1]
        if not may_begin or len(self.calls) >= WINDOW:
            return None
        call = Call(next(self._numbers))
        self.calls[call.number] = call
        with self._lock:
            self._now.calls += 1
        return call

    def answered(self, number: int, server: str, total: int) -> None:
        """Take an answer; one that was given twice counts once."""
        call = self.calls.get(number)
        if call is None or call.is_answered:
            return
        call.is_answered = True
        with self._lock:
            self._note_pause()
            self._last_answer = time.monotonic()
            if total != sum(call.numbers):
                self._now.wrong += 1
            else:
                self._now.answered += 1
                self._now.answered_by[server] += 1
        if call not in self.under_way:
            self._finish(call)

    def decided(self, call: Call, outcome: object) -> None:
        """Take what became of an attempt."""
        self.under_way.discard(call)
        with self._lock:
            if isinstance(outcome, Accepted):
                self._now.accepted_unanswered += not call.is_answered
            elif isinstance(outcome, Rejected):
                self._now.rejected += 1
        if isinstance(outcome, Accepted | Rejected) or call.is_answered:
            self._finish(call)
        else:
            self._repeat(call, MODIFIED if isinstance(outcome, Modified) else RELEASED)

    def connection_lost(self) -> None:
        """Repeat all that was under way: nobody can tell what became of it."""
        for call in sorted(self.under_way, key=lambda call: call.number):
            if call.is_answered:
                self._finish(call)
            else:
                self._repeat(call, CONNECTION_LOST)
        self.under_way.clear()

    def _repeat(self, call: Call, reason: str) -> None:
        with self._lock:
            self._now.repeated[reason] += 1
        self.due.append((time.monotonic() + RETRY_S, call))

    def _finish(self, call: Call) -> None:
        self.calls.pop(call.number, None)
        # An answer may come to what is waiting to be repeated.
        self.due = deque(entry for entry in self.due if entry[1] is not call)

    def _note_pause(self) -> None:
        if self._last_answer is not None:
            self._now.worst_pause_s = max(self._now.worst_pause_s, time.monotonic() - self._last_answer)


class _Line(Endpoint):
    """One connection of a caller: a sender for requests, and a separate address for the answers."""

    def __init__(self, caller: Caller, port: int) -> None:
        super().__init__(port, f"caller-{caller.router}")
        self._caller = caller
        self._reply_to: str | None = None
        self._may_begin_at = 0.0
        self._requests = self.sender(ADDRESS)
        self._replies = self.receiver(Source(dynamic=True), _CREDIT)

    def call(self, *, may_begin: bool) -> None:
        """Send what may be sent: what is to be repeated, and new calls if these may begin."""
        while self._reply_to is not None and self._requests.credit > 0:
            now = time.monotonic()
            call = self._caller.next_call(may_begin=may_begin and now >= self._may_begin_at)
            if call is None:
                return
            self._may_begin_at = now + INTERVAL_S
            self._caller.under_way.add(call)
            properties = Properties(reply_to=self._reply_to, correlation_id=ULong(call.number))
            message = Message(properties=properties, body=AmqpValue(call.numbers))
            self._requests.send(message.encode()).context = call

    def on_link_attached(self, link: Link, performative: Attach) -> None:
        """Learn the address for answers."""
        if not link.is_sender and isinstance(performative.source, Source):
            self._reply_to = performative.source.address

    def on_transfer(
        self, receiver: Receiver, delivery: Delivery, data: bytes | bytearray, start: int, end: int
    ) -> None:
        """Take an answer, and accept it."""
        answer = Message.decode(bytes(data[start:end]))
        assert answer.properties is not None
        assert isinstance(answer.body, AmqpValue)
        number = answer.properties.correlation_id
        assert isinstance(number, ULong)
        self._caller.answered(number, answer.body.value["server"], answer.body.value["sum"])
        delivery.accept()
        if receiver.credit <= _CREDIT // 2:
            receiver.grant(_CREDIT - receiver.credit)

    def on_disposition(self, delivery: Delivery) -> None:
        """Take what became of a request."""
        outcome = delivery.remote_state
        if delivery.is_incoming or delivery.settled or not (is_outcome(outcome) or delivery.remote_settled):
            return
        if not delivery.remote_settled:
            delivery.settle()
        self._caller.decided(delivery.context, outcome)
