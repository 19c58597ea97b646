"""Sets of numbers as ranges, held against sets of Python."""

from random import Random

import pytest

from routerd.topics.ranges import Acknowledged, Ranges


def test_numbers_in_order_are_one_range():
    numbers = Ranges([1, 2, 3, 5, 4, 9])
    assert (numbers.spans(), len(numbers), numbers.lowest) == ([1, 5, 9, 1], 6, 1)
    assert list(numbers) == [1, 2, 3, 4, 5, 9]
    assert (5 in numbers, 6 in numbers, 0 in numbers) == (True, False, False)


def test_spans_lead_to_the_same_numbers():
    assert Ranges.of_spans([3, 2, 7, 1]) == Ranges([3, 4, 7])
    assert Ranges.of_spans([]) == Ranges()


@pytest.mark.parametrize("spans", [[1], [1, 0], [5, 2, 6, 1], [5, 1, 3, 1]])
def test_spans_that_are_not_sorted_ranges_are_refused(spans):
    with pytest.raises(ValueError, match="number"):
        Ranges.of_spans(spans)


@pytest.mark.parametrize("seed", range(5))
def test_ranges_do_what_sets_do(seed):
    random = Random(seed)
    ranges, numbers = Ranges(), set()
    for _ in range(300):
        first = random.randrange(60)
        last = first + random.randrange(6)
        if random.random() < 0.6:
            ranges.add_range(first, last)
            numbers.update(range(first, last + 1))
        else:
            ranges.discard_range(first, last)
            numbers.difference_update(range(first, last + 1))
        assert list(ranges) == sorted(numbers)
        assert Ranges.of_spans(ranges.spans()) == ranges
    other = Ranges(random.sample(range(70), 30))
    assert set(ranges.shared(other)) == numbers & set(other)
    rest = ranges.copy()
    rest.subtract(other)
    assert (set(rest), set(ranges)) == (numbers - set(other), numbers)
    rest.update(other)
    assert set(rest) == numbers | set(other)


def test_taken_numbers_are_gone():
    numbers = Ranges([1, 2])
    assert (numbers.take(), bool(numbers)) == (Ranges([1, 2]), False)


def test_an_acknowledgement_counts_for_its_version_of_the_list_and_those_before():
    acknowledged = Acknowledged()
    acknowledged.add(1, Ranges([1, 2, 3]))
    acknowledged.add(3, Ranges([2]))
    assert [list(acknowledged.at_least(version)) for version in (1, 2, 3, 4)] == [[1, 2, 3], [2], [2], []]
    acknowledged.forget(Ranges([2]))
    assert (len(acknowledged), list(acknowledged.at_least(0))) == (1, [1, 3])
