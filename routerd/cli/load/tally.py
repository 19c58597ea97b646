"""What was counted, as it travels between processes and is added up."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from routerd.cli.load.histogram import LatencyHistogram

NS_PER_S = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """The counters of one process, or of several together; those of the warm-up stand apart."""

    sent: int = 0
    accepted: int = 0
    released: int = 0
    rejected: int = 0
    modified: int = 0
    other: int = 0
    """Settled without an outcome, or with one of no standard kind."""
    received: int = 0
    answered: int = 0
    """Requests to which a reply was sent."""
    attached: int = 0
    warmup_sent: int = 0
    warmup_received: int = 0
    unmeasured_refused: int = 0
    """Outcomes other than accepted, of the warm-up and of replies."""
    first_sent_ns: int = 0
    last_settled_ns: int = 0
    first_received_ns: int = 0
    last_received_ns: int = 0
    latency: LatencyHistogram = field(default_factory=LatencyHistogram)
    failures: tuple[str, ...] = ()
    failure_count: int = 0

    @property
    def settled(self) -> int:
        """How many of the messages that were sent have an outcome."""
        return self.accepted + self.released + self.rejected + self.modified + self.other

    @property
    def arrived(self) -> int:
        """What came in at the receiving side: messages, or requests that were answered."""
        return max(self.received, self.answered)

    @property
    def receive_rate(self) -> float:
        """Messages received a second, from the first to the last."""
        return _rate(self.received, self.last_received_ns - self.first_received_ns)

    @property
    def settle_rate(self) -> float:
        """Messages settled a second, from the first one sent to the last one settled."""
        return _rate(self.settled, self.last_settled_ns - self.first_sent_ns)

    @property
    def attach_rate(self) -> float:
        """Attaches answered a second, from the first one sent to the last one answered."""
        return _rate(self.attached, self.last_received_ns - self.first_sent_ns)

    @property
    def progress(self) -> int:
        """A number that grows whenever something moved."""
        return (
            self.sent
            + self.settled
            + self.received
            + self.answered
            + self.attached
            + self.warmup_sent
            + self.warmup_received
        )


_FIRST = ("first_sent_ns", "first_received_ns")
_LAST = ("last_settled_ns", "last_received_ns")


def total(tallies: Iterable[Tally]) -> Tally:
    """Return everything together: first is the earliest, last the latest."""
    all_of_them = list(tallies)
    latency = LatencyHistogram()
    for tally in all_of_them:
        latency.add(tally.latency)
    merged: dict[str, int] = {}
    for name in (one.name for one in fields(Tally)):
        values = [getattr(tally, name) for tally in all_of_them]
        if name in _FIRST:
            merged[name] = min(filter(None, values), default=0)
        elif name in _LAST:
            merged[name] = max(values, default=0)
        elif name not in ("latency", "failures"):
            merged[name] = sum(values)
    failures = tuple(failure for tally in all_of_them for failure in tally.failures)
    return Tally(**merged, latency=latency, failures=failures)


def _rate(count: int, duration_ns: int) -> float:
    return count * NS_PER_S / duration_ns if duration_ns > 0 else 0.0
