"""What a run is told as."""

import json
from dataclasses import replace

import pytest

from routerd.cli.load.conductor import Result
from routerd.cli.load.histogram import LatencyHistogram
from routerd.cli.load.plan import Mode, Plan
from routerd.cli.load.report import Progress, as_json, as_text, shortfalls
from routerd.cli.load.tally import Tally

S = 1_000_000_000


def latency(*microseconds: float) -> LatencyHistogram:
    histogram = LatencyHistogram()
    for value in microseconds:
        histogram.record(int(value * 1000))
    return histogram


PLAN = Plan(senders=1, receivers=1)
GOOD = Tally(
    sent=1000,
    accepted=1000,
    received=1000,
    first_sent_ns=S,
    last_settled_ns=3 * S,
    first_received_ns=S,
    last_received_ns=2 * S,
    latency=latency(*range(1, 101)),
)


def result(tally: Tally = GOOD, plan: Plan = PLAN, **other: bool) -> Result:
    return Result(plan, tally, ready_s=0.25, measured_s=2.0, **other)


def test_a_run_in_which_all_went_well_falls_short_of_nothing() -> None:
    assert shortfalls(result()) == []


@pytest.mark.parametrize(
    ("tally", "found"),
    [
        (replace(GOOD, accepted=990, released=6, rejected=3, modified=1), ["6 released", "3 rejected", "1 modified"]),
        (replace(GOOD, accepted=900), ["100 without an outcome"]),
        (replace(GOOD, received=999), ["1 not received"]),
        (replace(GOOD, unmeasured_refused=4), ["4 of the warm-up or of replies not accepted"]),
        (replace(GOOD, failures=("lost",), failure_count=3), ["lost", "2 failures more"]),
    ],
)
def test_what_fell_short_is_named(tally: Tally, found: list[str]) -> None:
    assert shortfalls(result(tally)) == found


def test_what_had_no_time_to_arrive_is_no_shortfall_of_an_interrupted_run() -> None:
    assert shortfalls(result(replace(GOOD, accepted=900, received=950), is_interrupted=True)) == []


def test_a_run_in_which_nothing_moved_says_so() -> None:
    assert shortfalls(result(Tally(), is_stalled=True)) == ["nothing moved for 10 s"]


def test_attaches_that_were_not_answered_are_a_shortfall() -> None:
    plan = Plan(mode=Mode.ATTACH, connections=10, links=5)
    assert shortfalls(result(Tally(attached=48), plan)) == ["2 attaches not answered"]
    assert shortfalls(result(Tally(attached=50), plan)) == []


def test_a_receiving_side_alone_misses_what_was_to_come() -> None:
    plan = Plan(receivers=1, count=10, is_listening=True)
    assert shortfalls(result(Tally(received=7), plan)) == ["3 not received"]
    assert shortfalls(result(Tally(answered=10), Plan(responders=1, count=10, is_listening=True))) == []


def test_the_table_has_throughput_outcomes_and_percentiles() -> None:
    tally = replace(GOOD, accepted=990, released=10)
    assert as_text(result(tally)).splitlines() == [
        "connect and attach  0.250  s",
        "sent                1,000  messages",
        "accepted              990  messages",
        "released               10  messages",
        "settled               500  messages/s",
        "received            1,000  messages",
        "throughput          1,000  messages/s",
        "                      0.1  MB/s of bodies",
        "latency min           1.0  us",
        "latency p50          50.2  us",
        "latency p90          90.1  us",
        "latency p99          99.3  us",
        "latency p99.9       100.0  us",
        "latency max         100.0  us",
    ]


def test_the_table_of_attaches_has_their_rate() -> None:
    plan = Plan(mode=Mode.ATTACH, connections=1, links=2)
    tally = Tally(attached=2, first_sent_ns=S, last_received_ns=2 * S, latency=latency(5, 6))
    assert as_text(result(tally, plan)).splitlines()[1:4] == [
        "attaches answered       2",
        "attach rate             2  a second",
        "attach min            5.0  us",
    ]


def test_the_table_of_idle_connections_has_their_number() -> None:
    assert as_text(result(Tally(), Plan(mode=Mode.IDLE, connections=7))).splitlines() == [
        "connect and attach  0.250  s",
        "connections held        7",
    ]


def test_the_table_of_requests_has_round_trips() -> None:
    requests = Plan(requesters=1, responders=1, is_settled=True)
    assert "round trip p50       50.2  us" in as_text(result(GOOD, requests)).splitlines()
    alone = Plan(responders=1, is_listening=True)
    assert "answered                5  requests" in as_text(result(Tally(answered=5), alone)).splitlines()


def test_json_has_the_same_figures() -> None:
    figures = json.loads(as_json(result(replace(GOOD, accepted=990, released=10))))
    assert figures["outcomes"] == {"accepted": 990, "released": 10, "rejected": 0, "modified": 0, "other": 0}
    assert (figures["sent"], figures["received"], figures["shortfalls"]) == (1000, 1000, ["10 released"])
    assert (figures["settled_per_s"], figures["received_per_s"], figures["ready_s"]) == (500.0, 1000.0, 0.25)
    assert figures["latency_us"] == {
        "count": 100,
        "min": 1.0,
        "p50": 50.175,
        "p90": 90.111,
        "p99": 99.327,
        "p99.9": 100.0,
        "max": 100.0,
    }


def test_a_line_of_progress_tells_what_happened_since_the_one_before() -> None:
    progress = Progress(Mode.TRAFFIC)
    first = Tally(warmup_sent=50, warmup_received=40)
    assert progress.line(1.0, first) == "  1.0 s  sent 50/s  received 40/s  p50 -"
    later = replace(GOOD, warmup_sent=50, warmup_received=50, accepted=900, modified=2)
    assert progress.line(3.0, later) == ("  3.0 s  sent 500/s  received 505/s  p50 50.2 us  accepted 900  modified 2")
    assert progress.line(4.0, later).endswith("modified 2  nothing moves: no credit?")


def test_a_line_of_progress_has_the_first_failure() -> None:
    line = Progress(Mode.TRAFFIC).line(1.0, Tally(sent=1, failures=("lost", "found"), failure_count=2))
    assert line == "  1.0 s  sent 1/s  received 0/s  p50 -  failures 2: lost"


def test_a_line_of_progress_of_attaches_counts_them() -> None:
    line = Progress(Mode.ATTACH).line(1.0, Tally(attached=3, latency=latency(5)))
    assert line == "  1.0 s  3 attached  p50 5.0 us"
