"""The address table: who is told what, and when all know it."""

import pytest

from routerd.core.directory.address_table import AddressTable
from routerd.core.directory.membership import Changes, Delta, Interest, Sibling
from routerd.core.errors import ChangesMissed, StaleMember, UnknownMember

ORDERS, NEWS = "M0orders", "M0news"
A, B, C = (Sibling(worker, 70 + worker, f"fabric/{worker}") for worker in range(3))
B_AGAIN = Sibling(1, 99, "fabric/1.99")


def wants(sequence, **consumers):
    return Changes(sequence, tuple(Interest(f"M0{name}", count) for name, count in consumers.items()))


def table_of(*siblings, epoch=5, changes_kept=100):
    """Return a table with members that know all and want nothing."""
    table = AddressTable(epoch, changes_kept)
    for sibling in siblings:
        table.join(sibling, Changes(0, ()))
    settle(table)
    return table


def settle(table):
    """Let every member acknowledge what there is for it, and return the deltas by worker."""
    deltas = {sibling.worker: table.delta_for(sibling.worker) for sibling in table.siblings}
    for sibling in table.siblings:
        if delta := deltas[sibling.worker]:
            table.acknowledge(sibling.worker, sibling.incarnation, delta.version)
    return deltas


def test_a_table_begins_its_epoch_with_nothing():
    table = AddressTable(5)
    assert (table.version, table.known_by_all(), table.siblings) == ((5, 0), (5, 0), ())
    assert table.snapshot() == Delta((5, 0), True, (), ())


def test_the_first_member_knows_all_once_it_has_acknowledged_that_it_is_alone():
    table = AddressTable(5)
    assert table.join(A, wants(3, orders=2)) == (5, 1)
    assert table.known_by_all() == (5, -1)
    assert settle(table) == {0: Delta((5, 1), True, (A,), ())}
    assert table.known_by_all() == (5, 1)


def test_what_the_only_member_changes_is_known_at_once():
    table = table_of(A)
    version = table.update(0, 70, wants(1, orders=1))
    assert table.delta_for(0) is None
    assert table.known_by_all() == version == (5, 2)


def test_a_newcomer_is_told_everything_and_the_others_what_it_brings():
    table = table_of(A)
    table.update(0, 70, wants(1, orders=1))
    table.join(B, wants(0, news=3))
    assert settle(table) == {
        0: Delta((5, 3), False, (A, B), ((1, Interest(NEWS, 3)),)),
        1: Delta((5, 3), True, (A, B), ((0, Interest(ORDERS, 1)),)),
    }
    assert table.known_by_all() == (5, 3)


def test_a_change_is_told_to_the_others_and_confirmed_by_all_of_them():
    table = table_of(A, B, C)
    version = table.update(0, 70, wants(1, orders=1))
    told = Delta(version, False, None, ((0, Interest(ORDERS, 1)),))
    assert [table.delta_for(worker) for worker in (0, 1, 2)] == [None, told, told]
    table.acknowledge(1, 71, version)
    assert table.known_by_all() < version
    table.acknowledge(2, 72, version)
    assert table.known_by_all() == version


def test_one_delta_is_under_way_and_the_next_has_the_last_of_what_changed_meanwhile():
    table = table_of(A, B)
    first = table.update(0, 70, wants(1, orders=1))
    assert table.delta_for(1) == Delta(first, False, None, ((0, Interest(ORDERS, 1)),))
    table.update(0, 70, wants(2, orders=2))
    table.update(0, 70, wants(3, news=1))
    last = table.update(0, 70, wants(4, orders=0))
    assert table.delta_for(1) is None
    table.acknowledge(1, 71, first)
    assert table.known_by_all() == first
    assert table.delta_for(1) == Delta(last, False, None, ((0, Interest(NEWS, 1)), (0, Interest(ORDERS, 0))))


def test_what_a_member_changes_itself_does_not_set_back_what_it_knows():
    table = table_of(A, B)
    own = table.update(0, 70, wants(1, orders=1))
    settle(table)
    table.update(1, 71, wants(1, news=1))
    assert table.known_by_all() == own
    assert table.update(1, 71, wants(2, news=2)) == (5, own[1] + 2)
    assert table.known_by_all() == own


@pytest.mark.parametrize("consumers", [0, 2])
def test_what_changes_nothing_is_told_to_nobody(consumers):
    table = table_of(A, B)
    version = table.update(0, 70, wants(1, orders=consumers))
    settle(table)
    assert table.update(0, 70, wants(2, orders=consumers)) == version
    assert table.delta_for(1) is None


def test_changes_that_came_before_are_of_no_account():
    table = table_of(A, B)
    version = table.update(0, 70, wants(1, orders=1))
    assert table.update(0, 70, wants(1, orders=7)) == version
    assert table.consumers(ORDERS) == {0: 1}


def test_a_worker_whose_changes_were_lost_must_join_again():
    table = table_of(A)
    with pytest.raises(ChangesMissed):
        table.update(0, 70, wants(2, orders=1))
    table.join(A, wants(2, orders=1))
    table.update(0, 70, wants(3, orders=2))
    assert table.consumers(ORDERS) == {0: 2}


def test_a_member_that_joins_again_gets_everything_and_the_others_what_differs():
    table = table_of(A, B)
    table.update(0, 70, wants(1, orders=1, news=1))
    table.update(1, 71, wants(1, orders=5))
    settle(table)
    version = table.join(A, wants(9, orders=1, weather=1))
    assert settle(table) == {
        0: Delta(version, True, (A, B), ((1, Interest(ORDERS, 5)),)),
        1: Delta(version, False, (A, B), ((0, Interest(NEWS, 0)), (0, Interest("M0weather", 1)))),
    }


def test_who_leaves_takes_its_interests_along():
    table = table_of(A, B)
    table.update(1, 71, wants(1, orders=1))
    settle(table)
    version = table.leave(1, 71)
    assert table.consumers(ORDERS) == {}
    assert settle(table) == {0: Delta(version, False, (A,), ())}
    assert (table.known_by_all(), table.change_count) == (version, 0)


def test_a_member_that_hangs_holds_up_what_is_confirmed_until_it_leaves():
    table = table_of(A, B, C)
    version = table.update(0, 70, wants(1, orders=1))
    assert table.delta_for(2) is not None
    settle(table)
    assert table.known_by_all() < version
    table.leave(2, 72)
    settle(table)
    assert table.known_by_all() > version


def test_who_left_and_joins_again_before_the_others_noticed_brings_what_it_has_now():
    table = table_of(A, B)
    table.update(1, 71, wants(1, orders=1, news=1))
    settle(table)
    table.leave(1, 71)
    version = table.join(B, wants(2, news=1))
    told = Delta(version, False, (A, B), ((1, Interest(ORDERS, 0)), (1, Interest(NEWS, 1))))
    assert settle(table)[0] == told


def test_another_incarnation_takes_the_place_of_the_first_without_its_interests():
    table = table_of(A, B)
    table.update(1, 71, wants(1, orders=1))
    settle(table)
    version = table.join(B_AGAIN, wants(0, news=1))
    assert settle(table) == {
        0: Delta(version, False, (A, B_AGAIN), ((1, Interest(NEWS, 1)),)),
        1: Delta(version, True, (A, B_AGAIN), ()),
    }
    assert table.consumers(ORDERS) == {}


@pytest.mark.parametrize("did_leave", [False, True])
def test_an_incarnation_that_was_replaced_is_not_listened_to(did_leave):
    table = table_of(A, B)
    if did_leave:
        table.leave(1, 71)
    version = table.join(B_AGAIN, wants(0, orders=1))
    calls = [
        lambda: table.join(B, wants(4, news=1)),
        lambda: table.update(1, 71, wants(1, news=1)),
        lambda: table.acknowledge(1, 71, (5, 2)),
        lambda: table.undelivered(1, 71, (5, 2)),
        lambda: table.leave(1, 71),
    ]
    for call in calls:
        with pytest.raises(StaleMember):
            call()
    assert (table.version, table.consumers(NEWS)) == (version, {})


def test_who_is_no_member_must_join():
    table = table_of(A)
    calls = [
        lambda: table.update(1, 71, wants(1, news=1)),
        lambda: table.update(0, 99, wants(1, news=1)),
        lambda: table.acknowledge(1, 71, (5, 1)),
        lambda: table.undelivered(1, 71, (5, 1)),
        lambda: table.leave(1, 71),
    ]
    for call in calls:
        with pytest.raises(UnknownMember):
            call()
    assert table.delta_for(1) is None


def test_only_the_delta_under_way_can_be_acknowledged():
    table = table_of(A, B)
    version = table.update(0, 70, wants(1, orders=1))
    table.acknowledge(1, 71, version)
    assert table.known_by_all() < version
    assert table.delta_for(1) is not None
    for other in [(5, version[1] - 1), (5, version[1] + 1), (4, version[1])]:
        table.acknowledge(1, 71, other)
    assert table.known_by_all() < version
    table.acknowledge(1, 71, version)
    assert table.known_by_all() == version


def test_after_a_delta_of_unknown_fate_comes_a_full_one():
    table = table_of(A, B)
    table.update(0, 70, wants(1, orders=1))
    version = table.delta_for(1).version
    table.undelivered(1, 71, (5, 1))
    assert table.delta_for(1) is None
    table.undelivered(1, 71, version)
    assert table.delta_for(1) == Delta(version, True, (A, B), ((0, Interest(ORDERS, 1)),))


def test_an_address_that_came_and_went_leaves_nothing_behind():
    table = table_of(A, B)
    table.update(0, 70, wants(1, orders=1))
    table.update(0, 70, wants(2, orders=0))
    assert table.change_count == 1
    assert settle(table)[1].interests == ((0, Interest(ORDERS, 0)),)
    assert (table.change_count, table.snapshot().interests) == (0, ())


def test_a_member_that_hangs_cannot_make_the_table_grow():
    table = table_of(A, B, changes_kept=10)
    table.update(0, 70, wants(1, orders=1))
    in_flight = table.delta_for(1).version
    for number in range(1, 1000):
        table.update(0, 70, wants(2 * number, **{f"temp.{number}": 1}))
        table.update(0, 70, wants(2 * number + 1, **{f"temp.{number}": 0}))
        assert table.change_count <= 11
    table.acknowledge(1, 71, in_flight)
    assert table.known_by_all() == in_flight
    assert table.delta_for(1) == Delta(table.version, True, (A, B), ((0, Interest(ORDERS, 1)),))


def test_only_who_is_slow_is_told_everything_again():
    table = table_of(A, B, C, changes_kept=10)
    for number in range(1, 30):
        table.update(0, 70, wants(number, **{f"temp.{number}": number % 2}))
        delta = table.delta_for(1)
        assert delta is None or not delta.is_full
        if delta:
            table.acknowledge(1, 71, delta.version)
    for number in range(30, 60):
        table.update(0, 70, wants(number, **{f"temp.{number - 29}": 0}))
        if delta := table.delta_for(1):
            assert not delta.is_full
            table.acknowledge(1, 71, delta.version)
    assert table.delta_for(2).is_full


def test_the_snapshot_has_all_members_and_what_they_want():
    table = table_of(A, B)
    table.update(0, 70, wants(1, orders=1, news=2))
    table.update(1, 71, wants(1, orders=3))
    interests = ((0, Interest(ORDERS, 1)), (0, Interest(NEWS, 2)), (1, Interest(ORDERS, 3)))
    assert table.snapshot() == Delta(table.version, True, (A, B), interests)
    assert table.consumers(ORDERS) == {0: 1, 1: 3}


def test_members_of_an_earlier_table_join_a_new_one_with_what_they_have():
    table = AddressTable(6)
    with pytest.raises(UnknownMember):
        table.update(0, 70, wants(4, orders=1))
    table.join(A, wants(4, orders=1))
    table.join(B, wants(7, news=1))
    settle(table)
    assert table.known_by_all() == (6, 2)
    assert table.update(0, 70, wants(5, orders=0)) == (6, 3)


def test_a_table_that_replaces_another_tells_nobody_of_some_before_all_have_joined():
    table = AddressTable(6, awaited=[0, 1])
    table.join(A, wants(4, orders=1))
    table.update(0, 70, wants(5, orders=2))
    assert (table.awaited, table.delta_for(0), table.known_by_all()) == ({1}, None, (6, -1))
    table.join(B, wants(7, news=1))
    assert table.awaited == set()
    assert settle(table) == {
        0: Delta((6, 3), True, (A, B), ((1, Interest(NEWS, 1)),)),
        1: Delta((6, 3), True, (A, B), ((0, Interest(ORDERS, 2)),)),
    }
    assert table.known_by_all() == (6, 3)


def test_a_worker_that_does_not_join_is_not_awaited_for_ever():
    table = AddressTable(6, awaited=[0, 1])
    table.join(A, wants(4, orders=1))
    table.await_no_more()
    assert settle(table) == {0: Delta((6, 1), True, (A,), ())}
    table.join(B, wants(7))
    assert settle(table)[0] == Delta((6, 2), False, (A, B), ())
