"""Producers and consumers that go on whatever happens to their connections, and keep account of every message.

A producer sends each message once. What became of it is its outcome, or `lost` when the connection ended before one
came. From both sides' accounts `check` tells whether the router kept its word.
"""

import contextlib
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator

from tests.system.proton_client import ProtonClient
from tests.system.proton_links import Sent
from tests.waiting import WITHIN_S, eventually

LOST = "lost"
RETRY_S = 0.05
IN_FLIGHT_MAX = 50
CREDIT = 100
PACE_S = 0.001
"""Between two messages of a producer: the rest of the processor is for whoever has to be started again."""

Failures = (OSError, AssertionError)
"""What a connection may end with, or not even begin."""


class Party:
    """One side of a link, which connects again and again."""

    def __init__(self, name: str, port: int, address: str) -> None:
        self.name = name
        self.address = address
        self.connections = 0
        self.progress = 0
        self.reasons: Counter[str | None] = Counter()
        """The conditions that its connections were closed with."""
        self._port = port
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def ask_to_stop(self) -> None:
        """End soon."""
        self._stop.set()

    def join(self) -> None:
        """Wait for the end."""
        self._thread.join(WITHIN_S)
        assert not self._thread.is_alive(), f"{self.name} does not end"

    def _run(self) -> None:
        while not self._stop.is_set():
            name = f"{self.name}-{self.connections}"
            with contextlib.suppress(*Failures), ProtonClient(self._port, container_id=name) as client:
                if not client.is_over:
                    self._use(client)
            self._stop.wait(RETRY_S)

    def _use(self, client: ProtonClient) -> None:
        self.connections += 1
        try:
            self.play(client)
        finally:
            if client.is_over:
                self.reasons[client.closed_with] += 1
            self.settle_accounts()

    def play(self, client: ProtonClient) -> None:
        """Use a connection until it ends or all is to end."""
        raise NotImplementedError

    def settle_accounts(self) -> None:
        """Take down what a connection that is over has left open."""

    def wait_over(self, client: ProtonClient, claim: Callable[[], bool]) -> bool:
        """Wait until a claim holds (True), or until the connection or everything is over."""
        while not self._stop.is_set():
            with contextlib.suppress(AssertionError):
                client.wait_until(lambda: claim() or client.is_over, "there is something to do", within_s=0.2)
                return not client.is_over
        return False


class LoadProducer(Party):
    """Sends messages that are numbered over all its connections."""

    def __init__(self, name: str, port: int, address: str) -> None:
        super().__init__(name, port, address)
        self.outcomes: dict[str, str] = {}
        self._next = 0
        self._open: deque[tuple[str, Sent]] = deque()

    def play(self, client: ProtonClient) -> None:
        """Send as fast as credit and outcomes allow."""
        producer = client.producer(self.address)
        while self.wait_over(client, lambda: producer.credit > 0 and len(producer.undecided) < IN_FLIGHT_MAX):
            with client.lock:
                if producer.credit <= 0:
                    # It was asked back meanwhile, and may come again much later than a send waits for it.
                    continue
                number = f"{self.name}:{self._next}"
                self._next += 1
                self._open.append((number, producer.send(number)))
            self._take_outcomes()
            self._stop.wait(PACE_S)
        if not client.is_over:
            with contextlib.suppress(AssertionError):
                client.wait_until(lambda: not producer.undecided or client.is_over, "all is decided", within_s=5.0)

    def _take_outcomes(self) -> None:
        while self._open and self._open[0][1].state is not None:
            number, sent = self._open.popleft()
            self.outcomes[number] = sent.state or LOST
            self.progress += self.outcomes[number] == "accepted"

    def settle_accounts(self) -> None:
        """What has no outcome now never gets one."""
        for number, sent in self._open:
            self.outcomes[number] = sent.state or LOST
        self._open.clear()


class LoadConsumer(Party):
    """Accepts what comes, and remembers it."""

    def __init__(self, name: str, port: int, address: str) -> None:
        super().__init__(name, port, address)
        self.received: Counter[str] = Counter()

    def play(self, client: ProtonClient) -> None:
        """Receive until the connection ends."""
        consumer = client.consumer(self.address, credit=CREDIT, outcome=None)
        while self.wait_over(client, lambda: bool(consumer.waiting)):
            while consumer.waiting:
                received = consumer.take()
                # Before it is accepted: what is accepted must have been received, even if we die in between.
                self.received[received.body] += 1
                self.progress += 1
                received.decide("accepted")
                consumer.received.clear()


class Load:
    """Some producers and consumers of the same addresses."""

    def __init__(self, port: int, address: str, *, addresses: int = 2, producers: int = 4, consumers: int = 4) -> None:
        names = [f"{address}.{number}" for number in range(addresses)]
        self.producers = [LoadProducer(f"p{at}", port, names[at % addresses]) for at in range(producers)]
        self.consumers = [LoadConsumer(f"c{at}", port, names[at % addresses]) for at in range(consumers)]

    @property
    def parties(self) -> list[Party]:
        """Everybody."""
        return [*self.producers, *self.consumers]

    def start(self) -> None:
        """Begin, and return when everybody gets on."""
        for party in (*self.consumers, *self.producers):
            party.start()
        self.wait_for_progress()

    def wait_for_progress(self, within_s: float = WITHIN_S, count: int = 10) -> float:
        """Return how long it takes until everybody has sent or received some more."""
        begun = time.monotonic()
        before = {party.name: party.progress for party in self.parties}

        def late() -> list[str]:
            return [party.name for party in self.parties if party.progress < before[party.name] + count]

        eventually(lambda: not late(), lambda: f"progress of {', '.join(late())}", within_s)
        return time.monotonic() - begun

    def stop(self) -> None:
        """End, producers first, so that what is under way can arrive."""
        for parties in (self.producers, self.consumers):
            for party in parties:
                party.ask_to_stop()
            for party in parties:
                party.join()

    def check(self) -> Counter[str]:
        """Hold the accounts against each other; return how many messages had which outcome."""
        outcomes = dict(self._outcomes())
        received: Counter[str] = sum((consumer.received for consumer in self.consumers), Counter())
        accepted = {number for number, outcome in outcomes.items() if outcome == "accepted"}
        released = {number for number, outcome in outcomes.items() if outcome == "released"}
        assert not accepted - received.keys(), "what was accepted was received"
        assert not released & received.keys(), "what was released never left"
        assert not [number for number, count in received.items() if count > 1], "nothing is received twice"
        assert received.keys() <= outcomes.keys()
        found = Counter(outcomes.values())
        assert found.keys() <= {"accepted", "released", "modified", LOST}
        return found

    def _outcomes(self) -> Iterator[tuple[str, str]]:
        for producer in self.producers:
            yield from producer.outcomes.items()
