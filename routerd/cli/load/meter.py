"""What one process counts: messages sent and received, their outcomes, the time they took.

Messages are measured by the time in their stamp: those sent before `measure_from_ns` are the warm-up, counted apart.
Sending ends when `quota` measured messages are sent, or at `until_ns`.
"""

import time
from typing import TYPE_CHECKING, Any

from routerd.cli.load.histogram import LatencyHistogram
from routerd.cli.load.tally import Tally
from routerd.wire import ACCEPTED, Modified, Rejected, Released

if TYPE_CHECKING:
    from routerd.wire.delivery import Delivery

NEVER_NS = 1 << 62
FAILURES_MAX = 10
_ACCEPTED = ACCEPTED
UNMEASURED = "unmeasured"
"""The context of deliveries of the warm-up, and of replies; those that are measured have none."""


class Meter:
    """The counters of a process; all its roles share them."""

    def __init__(self) -> None:
        self.measure_from_ns = NEVER_NS
        self.until_ns = NEVER_NS
        self.quota = NEVER_NS
        self.is_sending = False
        self.outstanding = 0
        self.sent = self.accepted = self.released = self.rejected = self.modified = self.other = 0
        self.received = self.answered = self.attached = 0
        self.warmup_sent = self.warmup_received = self.unmeasured_refused = 0
        self.first_sent_ns = self.last_settled_ns = 0
        self.first_received_ns = self.last_received_ns = 0
        self.latency = LatencyHistogram()
        self.failures: list[str] = []

    def may_send(self, stamp: int) -> bool:
        """Say whether a message with this stamp is still to be sent, and count it if so."""
        if stamp < self.measure_from_ns:
            self.warmup_sent += 1
            return True
        if not self.is_sending or self.quota <= 0 or stamp >= self.until_ns:
            self.is_sending = False
            return False
        self.quota -= 1
        if self.sent == 0:
            self.first_sent_ns = stamp
        self.sent += 1
        return True

    def settle(self, delivery: "Delivery") -> None:
        """Count the outcome of a delivery of ours, and settle it."""
        state = delivery.remote_state
        if state is None and not delivery.remote_settled:
            return
        if not delivery.remote_settled:
            if delivery.settled:
                return
            delivery.settle()
        self.outstanding -= 1
        if delivery.context is not None:
            if state is not _ACCEPTED:
                self.unmeasured_refused += 1
            return
        self.last_settled_ns = time.monotonic_ns()
        if state is _ACCEPTED:
            self.accepted += 1
        else:
            self._count(state)

    def receive(self, stamp: int) -> None:
        """Count a message that arrived; one without a stamp has no latency."""
        if 0 <= stamp < self.measure_from_ns:
            self.warmup_received += 1
            return
        now = time.monotonic_ns()
        if self.received == 0:
            self.first_received_ns = now
        self.received += 1
        self.last_received_ns = now
        if stamp >= 0:
            self.latency.record(now - stamp)

    def time_attach(self, started_ns: int) -> None:
        """Count an attach that was answered."""
        now = time.monotonic_ns()
        if self.attached == 0 or started_ns < self.first_sent_ns:
            self.first_sent_ns = started_ns
        self.attached += 1
        self.last_received_ns = now
        self.latency.record(now - started_ns)

    def fail(self, failure: str) -> None:
        """Note what went wrong; beyond some failures, only how many."""
        self.failures.append(failure)

    def tally(self) -> Tally:
        """Return a copy of the counters."""
        latency = LatencyHistogram()
        latency.add(self.latency)
        return Tally(
            sent=self.sent,
            accepted=self.accepted,
            released=self.released,
            rejected=self.rejected,
            modified=self.modified,
            other=self.other,
            received=self.received,
            answered=self.answered,
            attached=self.attached,
            warmup_sent=self.warmup_sent,
            warmup_received=self.warmup_received,
            unmeasured_refused=self.unmeasured_refused,
            first_sent_ns=self.first_sent_ns,
            last_settled_ns=self.last_settled_ns,
            first_received_ns=self.first_received_ns,
            last_received_ns=self.last_received_ns,
            latency=latency,
            failures=tuple(self.failures[:FAILURES_MAX]),
            failure_count=len(self.failures),
        )

    def _count(self, state: Any) -> None:
        if isinstance(state, Released):
            self.released += 1
        elif isinstance(state, Rejected):
            self.rejected += 1
        elif isinstance(state, Modified):
            self.modified += 1
        else:
            self.other += 1
