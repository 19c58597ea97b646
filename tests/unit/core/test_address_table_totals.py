"""How many consumers each address has over all workers, as the routing engine is told by the address table."""

import tracemalloc

import pytest

from routerd.core import AddressTable, Changes, Interest, Sibling


@pytest.fixture
def table():
    table = AddressTable(1)
    for worker in range(2):
        table.join(Sibling(worker, 1, f"fabric/{worker}"), Changes(0, (Interest("M0both", 1),)))
    return table


def totals(told):
    return {interest.key: interest.consumers for interest in told}


def test_they_are_sums_over_all_workers(table):
    table.update(0, 1, Changes(1, (Interest("M0both", 3), Interest("M0one", 2))))
    assert totals(table.totals()) == {"M0both": 4, "M0one": 2}


def test_afterwards_those_that_changed_are_told_once(table):
    table.totals()
    assert table.take_totals() == ()
    table.update(0, 1, Changes(1, (Interest("M0both", 3), Interest("M0one", 2))))
    table.update(1, 1, Changes(1, (Interest("M0both", 0), Interest("M0other", 1))))
    table.update(1, 1, Changes(2, (Interest("M0other", 0),)))
    assert totals(table.take_totals()) == {"M0both": 3, "M0one": 2, "M0other": 0}
    assert table.take_totals() == ()


def test_all_that_is_told_at_once_counts_as_told(table):
    table.update(0, 1, Changes(1, (Interest("M0one", 2),)))
    assert totals(table.totals()) == {"M0both": 2, "M0one": 2}
    assert table.take_totals() == ()


def test_a_worker_that_leaves_or_comes_back_changes_them(table):
    table.totals()
    table.leave(0, 1)
    assert totals(table.take_totals()) == {"M0both": 1}
    table.leave(1, 1)
    assert totals(table.take_totals()) == {"M0both": 0}
    table.join(Sibling(0, 2, "fabric/0"), Changes(0, (Interest("M0both", 5),)))
    assert totals(table.take_totals()) == {"M0both": 5}
    assert totals(table.totals()) == {"M0both": 5}


def test_a_worker_that_is_replaced_has_what_the_other_one_brings(table):
    table.totals()
    table.join(Sibling(1, 2, "fabric/1"), Changes(0, (Interest("M0new", 1),)))
    assert totals(table.take_totals()) == {"M0both": 1, "M0new": 1}


def test_where_nobody_keeps_them_nothing_is_kept_of_addresses_that_are_gone(table):
    """As in a router without a network: its engine never asks."""

    def come_and_go(first, count):
        for number in range(first, first + count):
            table.update(0, 1, Changes(2 * number + 1, (Interest(f"M0{number}", 1),)))
            table.update(0, 1, Changes(2 * number + 2, (Interest(f"M0{number}", 0),)))
            while (delta := table.delta_for(1)) is not None:
                table.acknowledge(1, 1, delta.version)

    come_and_go(0, 100)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        come_and_go(100, 2000)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 10_000
    assert table.take_totals() == ()
    assert totals(table.totals()) == {"M0both": 2}
