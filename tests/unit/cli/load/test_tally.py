"""Counters of several processes, added up."""

import pickle

from routerd.cli.load.histogram import LatencyHistogram
from routerd.cli.load.tally import Tally, total

MS = 1_000_000


def histogram_of(*values: int) -> LatencyHistogram:
    histogram = LatencyHistogram()
    for value in values:
        histogram.record(value)
    return histogram


SENDING = Tally(sent=10, accepted=7, released=1, rejected=1, other=1, first_sent_ns=100 * MS, last_settled_ns=200 * MS)
RECEIVING = Tally(received=10, first_received_ns=110 * MS, last_received_ns=160 * MS, latency=histogram_of(5, 7))


def test_counters_add_up_and_times_span_all_processes() -> None:
    late = Tally(
        sent=2,
        modified=2,
        first_sent_ns=150 * MS,
        last_settled_ns=300 * MS,
        latency=histogram_of(9),
        failures=("lost",),
        failure_count=1,
    )
    together = total([SENDING, RECEIVING, late, Tally()])
    assert (together.sent, together.settled, together.received, together.failures) == (12, 12, 10, ("lost",))
    assert (together.first_sent_ns, together.last_settled_ns) == (100 * MS, 300 * MS)
    assert (together.first_received_ns, together.last_received_ns) == (110 * MS, 160 * MS)
    assert together.latency.counted() == [(5, 1), (7, 1), (9, 1)]


def test_nothing_adds_up_to_nothing() -> None:
    assert total([]).progress == 0
    assert (total([]).receive_rate, total([]).settle_rate, total([]).attach_rate) == (0.0, 0.0, 0.0)


def test_rates_are_over_the_time_from_first_to_last() -> None:
    assert SENDING.settle_rate == 100.0
    assert RECEIVING.receive_rate == 200.0
    assert Tally(attached=30, first_sent_ns=1 * MS, last_received_ns=16 * MS).attach_rate == 2000.0


def test_any_event_is_progress() -> None:
    moved = Tally(sent=1, accepted=1, received=1, answered=1, attached=1, warmup_sent=1, warmup_received=1)
    assert moved.progress == 7


def test_what_arrived_is_messages_or_requests() -> None:
    assert (RECEIVING.arrived, Tally(answered=3).arrived) == (10, 3)


def test_a_tally_travels_between_processes() -> None:
    back = pickle.loads(pickle.dumps(RECEIVING))
    assert (back.received, back.latency.counted()) == (10, [(5, 1), (7, 1)])
