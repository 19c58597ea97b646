"""A worker's copy of what its siblings want."""

import pytest

from routerd.core.address_view import AddressView, ConsumersChanged
from routerd.core.errors import FullDeltaMissing
from routerd.core.membership import Delta, Interest, Sibling

A, B, C = (Sibling(worker, 70 + worker, f"fabric/{worker}") for worker in range(3))
B_AGAIN = Sibling(1, 99, "fabric/1.99")


def full(count, siblings, *interests, epoch=5):
    return Delta((epoch, count), True, siblings, tuple((worker, Interest(*rest)) for worker, *rest in interests))


def delta(count, *interests, siblings=None, epoch=5):
    return Delta((epoch, count), False, siblings, tuple((worker, Interest(*rest)) for worker, *rest in interests))


@pytest.fixture
def view():
    """The view of worker 0, which knows B and C, and that both have consumers."""
    view = AddressView(0)
    view.apply(full(1, (A, B, C), (1, "M0a", 1), (1, "M0b", 2), (2, "M0a", 3)))
    return view


def test_a_view_knows_nothing_before_its_first_delta():
    view = AddressView(0)
    assert (view.version, view.siblings, view.consumers("M0a")) == (None, {}, {})


def test_the_first_delta_tells_everything():
    view = AddressView(0)
    changed = view.apply(full(7, (A, B), (1, "M0a", 1), (1, "M0b", 2)))
    assert changed == [ConsumersChanged("M0a", 1, 0, 1), ConsumersChanged("M0b", 1, 0, 2)]
    assert (view.version, view.siblings) == ((5, 7), {1: B})
    assert [view.consumers(key) for key in ("M0a", "M0b", "M0c")] == [{1: 1}, {1: 2}, {}]


def test_consumers_are_counted_by_sibling(view):
    assert view.consumers("M0a") == {1: 1, 2: 3}


def test_a_delta_tells_what_changed(view):
    changed = view.apply(delta(2, (1, "M0a", 4), (2, "M0a", 0), (2, "M0c", 1), (2, "M0b", 0)))
    assert changed == [
        ConsumersChanged("M0a", 1, 1, 4),
        ConsumersChanged("M0a", 2, 3, 0),
        ConsumersChanged("M0c", 2, 0, 1),
    ]
    assert [view.consumers(key) for key in ("M0a", "M0b", "M0c")] == [{1: 4}, {1: 2}, {2: 1}]
    assert view.version == (5, 2)


def test_a_sibling_that_is_gone_has_no_consumers_any_more(view):
    changed = view.apply(delta(2, siblings=(A, C)))
    assert changed == [ConsumersChanged("M0a", 1, 1, 0), ConsumersChanged("M0b", 1, 2, 0)]
    assert (view.siblings, view.consumers("M0a")) == ({2: C}, {2: 3})


def test_of_a_sibling_that_was_replaced_first_all_is_lost_and_then_the_new_one_heard(view):
    changed = view.apply(delta(2, (1, "M0a", 1), siblings=(A, B_AGAIN, C)))
    assert changed == [
        ConsumersChanged("M0a", 1, 1, 0),
        ConsumersChanged("M0b", 1, 2, 0),
        ConsumersChanged("M0a", 1, 0, 1),
    ]
    assert view.siblings == {1: B_AGAIN, 2: C}


def test_a_full_delta_stands_in_for_all_that_was_known(view):
    changed = view.apply(full(9, (A, B, C), (1, "M0a", 1), (2, "M0a", 4), (2, "M0c", 1)))
    assert changed == [
        ConsumersChanged("M0b", 1, 2, 0),
        ConsumersChanged("M0a", 2, 3, 4),
        ConsumersChanged("M0c", 2, 0, 1),
    ]


def test_a_new_epoch_begins_with_a_full_delta_whatever_its_count(view):
    assert view.apply(full(0, (A, B), (1, "M0a", 1), (1, "M0b", 2), epoch=6)) == [ConsumersChanged("M0a", 2, 3, 0)]
    assert (view.version, view.consumers("M0a")) == ((6, 0), {1: 1})


@pytest.mark.parametrize(
    "late",
    [delta(1, (1, "M0a", 9)), delta(0, (1, "M0a", 9)), full(0, (A,)), full(9, (A,), epoch=4), delta(9, epoch=4)],
)
def test_a_delta_that_is_no_news_changes_nothing(view, late):
    assert view.apply(late) == []
    assert (view.version, view.siblings, view.consumers("M0a")) == ((5, 1), {1: B, 2: C}, {1: 1, 2: 3})


def test_a_delta_that_continues_another_epoch_is_refused(view):
    with pytest.raises(FullDeltaMissing):
        view.apply(delta(1, (1, "M0a", 9), epoch=6))
    assert (view.version, view.consumers("M0a")) == ((5, 1), {1: 1, 2: 3})


def test_the_first_delta_must_be_full():
    with pytest.raises(FullDeltaMissing):
        AddressView(0).apply(delta(1))


def test_its_own_consumers_are_not_among_them(view):
    changed = view.apply(full(2, (A, B, C), (0, "M0a", 9), (1, "M0a", 1), (1, "M0b", 2), (2, "M0a", 3)))
    assert (changed, view.consumers("M0a")) == ([], {1: 1, 2: 3})
