"""What a router has counted goes on when its actors are started again."""

import pickle

from routerd.management import Tally

IN, OUT = ("deliveries", ("in",)), ("deliveries", ("out",))


def test_what_an_incarnation_has_counted_is_kept_when_the_next_one_begins() -> None:
    tally = Tally().added({"0": ((0, 10), {IN: 5, OUT: 1}), "1": ((0, 11), {IN: 7})})
    assert tally.sums() == {IN: 12, OUT: 1}
    tally = tally.added({"0": ((1, 12), {IN: 2}), "1": ((0, 11), {IN: 8})})
    assert tally.sums() == {IN: 15, OUT: 1}
    assert tally.added({"0": ((2, 13), {})}).sums() == {IN: 15, OUT: 1}


def test_a_source_that_does_not_answer_counts_as_before() -> None:
    tally = Tally().added({"0": ((0, 10), {IN: 5}), "1": ((0, 11), {IN: 7})})
    assert tally.added({"1": ((0, 11), {IN: 9})}).sums() == {IN: 14}


def test_no_count_of_an_incarnation_goes_down() -> None:
    tally = Tally().added({"0": (1, {IN: 5})}).added({"0": (1, {IN: 3, OUT: 1})})
    assert tally.sums() == {IN: 5, OUT: 1}


def test_a_tally_goes_on_after_it_has_been_kept_elsewhere() -> None:
    tally = Tally().added({"0": (1, {IN: 5})}).added({"0": (2, {IN: 1})})
    kept: Tally = pickle.loads(pickle.dumps(tally))
    assert (kept.number, kept.added({"0": (3, {IN: 1})}).sums()) == (2, {IN: 7})
