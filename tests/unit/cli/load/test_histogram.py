"""The histogram of latencies, against the same values kept one by one."""

import math
import pickle

import pytest
from hypothesis import given
from hypothesis.strategies import floats, integers, lists

from routerd.cli.load.histogram import LatencyHistogram

NANOSECONDS = integers(0, 2**40 - 1)
SAMPLES = lists(NANOSECONDS | integers(0, 300), min_size=1, max_size=60)
FRACTIONS = floats(0, 1) | integers(0, 1000).map(lambda thousandths: thousandths / 1000)


def histogram_of(values: list[int]) -> LatencyHistogram:
    histogram = LatencyHistogram()
    for value in values:
        histogram.record(value)
    return histogram


def figures(histogram: LatencyHistogram) -> tuple[object, ...]:
    return histogram.count, histogram.least, histogram.greatest, histogram.counted()


@given(SAMPLES, FRACTIONS)
def test_a_percentile_is_the_exact_one_or_at_most_a_128th_above(values: list[int], fraction: float) -> None:
    rank = max(1, math.ceil(round(fraction * len(values), 6)))
    exact = sorted(values)[rank - 1]
    assert exact <= histogram_of(values).at(fraction) <= exact + exact // 128


@given(SAMPLES)
def test_the_count_the_least_and_the_greatest_are_exact(values: list[int]) -> None:
    histogram = histogram_of(values)
    assert (histogram.count, histogram.least, histogram.greatest) == (len(values), min(values), max(values))
    assert (histogram.at(0.0) <= histogram.at(0.5), histogram.at(1.0)) == (True, max(values))


@given(integers(0, 255))
def test_a_small_value_is_read_back_exactly(value: int) -> None:
    assert histogram_of([0, value, 2**30]).at(0.5) == value


@given(SAMPLES, SAMPLES)
def test_two_histograms_added_are_the_one_of_all_values(one: list[int], other: list[int]) -> None:
    both = histogram_of(one)
    both.add(histogram_of(other))
    assert figures(both) == figures(histogram_of(one + other))


@given(SAMPLES)
def test_adding_nothing_changes_nothing(values: list[int]) -> None:
    histogram = histogram_of(values)
    histogram.add(LatencyHistogram())
    empty = LatencyHistogram()
    empty.add(histogram)
    assert figures(histogram) == figures(empty) == figures(histogram_of(values))


@given(SAMPLES, SAMPLES)
def test_what_came_since_an_earlier_copy_has_the_buckets_of_the_later_values(
    earlier: list[int], later: list[int]
) -> None:
    since = histogram_of(earlier + later).since(histogram_of(earlier))
    assert since.counted() == histogram_of(later).counted()
    assert since.count == len(later)
    assert since.least <= min(later)
    assert since.greatest >= max(later)


def test_nothing_came_since_itself() -> None:
    histogram = histogram_of([5, 50_000])
    assert figures(histogram.since(histogram)) == (0, 0, 0, [])


@given(SAMPLES)
def test_a_histogram_travels_between_processes(values: list[int]) -> None:
    histogram = histogram_of(values)
    assert figures(pickle.loads(pickle.dumps(histogram))) == figures(histogram)


def test_an_empty_histogram_has_no_percentile() -> None:
    assert [LatencyHistogram().at(fraction) for fraction in (0.0, 0.5, 1.0)] == [0, 0, 0]


@pytest.mark.parametrize(("value", "read_back"), [(-5, 0), (2**45, 2**45), (2**62, 2**62)])
def test_a_value_out_of_range_counts_in_the_outermost_bucket(value: int, read_back: int) -> None:
    histogram = histogram_of([value])
    assert (histogram.count, histogram.greatest) == (1, read_back)
    assert histogram.at(0.5) == read_back


def test_a_bucket_that_does_not_exist_is_refused() -> None:
    with pytest.raises(IndexError):
        LatencyHistogram([(4352, 1)])
