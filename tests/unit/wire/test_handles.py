"""The table from numbers to objects, against a dict."""

import gc
import sys

from hypothesis import given
from hypothesis import strategies as st

from routerd.wire.handles import HandleTable
from tests.calls import check_linear

HIGHEST = 2**32 - 1

numbers = (
    st.integers(0, 12)
    | st.integers(0, 300)
    | st.sampled_from([63, 64, 65, 127, 128, 129, 65_535, HIGHEST - 1, HIGHEST])
)
operations = st.tuples(st.sampled_from(["put", "put lowest", "remove", "get", "lowest"]), numbers)


class Thing:
    """What a table holds: told apart by identity."""


def lowest_absent(model):
    number = 0
    while number in model:
        number += 1
    return number


def octets_held(table):
    """The memory of the containers in the table, without what they contain."""
    found = [each for each in gc.get_referents(table) if isinstance(each, list | dict)]
    inner = [
        each for outer in found if isinstance(outer, dict) for each in outer.values() if isinstance(each, list | dict)
    ]
    return sum(map(sys.getsizeof, found + inner))


def filled(*numbers):
    table = HandleTable()
    for number in numbers:
        table.put(number, number)
    return table


def test_a_number_that_was_freed_and_taken_again_is_not_offered():
    table = filled(*range(10))
    assert table.lowest_free() == 10
    table.remove(1)
    table.remove(3)
    table.put(3, 3)
    assert table.lowest_free() == 1
    table.put(1, 1)
    assert table.lowest_free() == 10


@given(st.lists(operations, max_size=60))
def test_a_table_behaves_as_a_dict(drawn):
    table, model = HandleTable(), {}
    for operation, number in drawn:
        if operation == "put lowest":
            number = table.lowest_free()
            assert number == lowest_absent(model)
        if operation in ("put", "put lowest") and number not in model:
            model[number] = Thing()
            table.put(number, model[number])
        elif operation == "remove":
            table.remove(number)
            model.pop(number, None)
        elif operation == "lowest":
            assert table.lowest_free() == lowest_absent(model)
        assert table.get(number) is model.get(number)
        assert table.count == len(model)
    assert sorted(map(id, table)) == sorted(map(id, model.values()))
    assert {number: table.get(number) for number in model} == model


def test_an_empty_table_has_nothing_anywhere():
    table = HandleTable()
    assert (table.get(0), table.get(HIGHEST), table.count, list(table), table.lowest_free()) == (None, None, 0, [], 0)


def test_the_lowest_free_number_is_the_first_gap():
    table = filled(0, 1, 2, 4)
    assert table.lowest_free() == 3
    table.put(3, "three")
    assert table.lowest_free() == 5
    table.remove(1)
    assert table.lowest_free() == 1


def test_a_number_that_is_free_can_be_removed():
    table = filled(1)
    table.remove(0)
    table.remove(HIGHEST)
    assert (table.count, list(table)) == (1, [1])


def test_numbers_far_apart_are_found_as_well():
    table = filled(HIGHEST, 0, 70_000, 1)
    assert [table.get(number) for number in (0, 1, 70_000, HIGHEST)] == [0, 1, 70_000, HIGHEST]
    assert sorted(table) == [0, 1, 70_000, HIGHEST]
    table.remove(HIGHEST)
    table.remove(70_000)
    assert ([table.get(number) for number in (70_000, HIGHEST)], sorted(table)) == ([None, None], [0, 1])


def test_a_table_may_change_while_it_is_iterated_over():
    table = filled(0, 1, 2, 500)
    seen = []
    for value in table:
        table.remove(value)
        table.put(value + 1000, value)
        seen.append(value)
    assert seen == [0, 1, 2, 500]
    assert sorted(table) == [0, 1, 2, 500]


def test_no_number_of_a_peers_choice_takes_memory_up_to_it():
    for step in (2**27, 2**11):
        table = filled(*range(0, 32 * step, step))
        assert table.count == 32
        assert octets_held(table) < 8192


def test_numbers_that_move_on_take_no_more_memory_than_those_in_use():
    table = filled(0)
    for number in range(60, 60_000, 60):
        table.put(number, number)
        table.remove(number - 60)
    assert (list(table), table.lowest_free()) == ([59_940], 0)
    assert octets_held(table) < 8192


def test_a_table_that_is_empty_again_holds_no_memory():
    table = filled(*range(2000), 10**6)
    for number in [*range(2000), 10**6]:
        table.remove(number)
    assert (table.count, table.lowest_free()) == (0, 0)
    assert octets_held(table) < 512


def test_the_lowest_free_number_is_not_looked_for_from_the_start_again():
    def freeing(count):
        table = filled(*range(count))
        assert table.lowest_free() == count

        def work():
            for _ in range(count):
                table.remove(0)
                table.remove(count - 1)
                assert table.lowest_free() == 0
                table.put(0, "again")
                assert table.lowest_free() == count - 1
                table.put(count - 1, "again")

        return work

    check_linear(freeing, 20)


def test_what_is_freed_and_taken_again_leaves_nothing_behind():
    table = filled(0, 1, 2)
    assert table.lowest_free() == 3
    held = octets_held(table)
    for _ in range(100):
        table.remove(1)
        table.put(table.lowest_free(), 1)
    assert octets_held(table) <= held + 200
