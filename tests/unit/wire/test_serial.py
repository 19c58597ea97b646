"""Serial numbers of 32 bits that wrap around."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.wire.serial import distance, precedes

CIRCLE = 2**32
HALF = 2**31

numbers = st.integers(0, CIRCLE - 1) | st.sampled_from([0, 1, HALF - 1, HALF, HALF + 1, CIRCLE - 1])


@pytest.mark.parametrize(
    ("a", "b", "is_before"),
    [
        (0, 1, True),
        (1, 0, False),
        (7, 7, False),
        (CIRCLE - 1, 0, True),
        (0, CIRCLE - 1, False),
        (0, HALF - 1, True),
        (CIRCLE - 5, HALF - 6, True),
        (0, HALF, False),
        (HALF, 0, False),
    ],
)
def test_a_number_precedes_those_of_the_half_circle_behind_it(a, b, is_before):
    assert precedes(a, b) is is_before


@given(numbers, st.integers(1, HALF - 1))
def test_of_two_numbers_less_than_half_a_circle_apart_one_precedes_the_other(a, steps):
    b = (a + steps) % CIRCLE
    assert (precedes(a, b), precedes(b, a)) == (True, False)


@given(numbers, numbers)
def test_the_distance_leads_from_the_first_number_to_the_second(a, b):
    assert (a + distance(a, b)) % CIRCLE == b
    assert 0 <= distance(a, b) < CIRCLE


@given(numbers, numbers)
def test_the_distances_there_and_back_make_a_circle(a, b):
    assert (distance(a, b) + distance(b, a)) % CIRCLE == 0
