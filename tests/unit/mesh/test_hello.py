"""Neighbours: who is one, over which trunk, and for how long."""

from math import inf

from routerd.mesh.hello import Neighbours


def neighbours():
    return Neighbours(1.0, 3.0)


def with_trunks(*costs):
    """Return neighbours with trunks 1, 2, ... that are open since 0."""
    made = neighbours()
    for number, cost in enumerate(costs, 1):
        made.open(number, cost, 0.0)
    made.take_due(0.0)
    return made


def test_a_trunk_is_greeted_on_when_it_opens_and_then_at_each_interval():
    made = neighbours()
    assert (made.deadline, made.is_open(1)) == (inf, False)
    made.open(1, 4, 10.0)
    assert (made.deadline, made.is_open(1), made.cost(1)) == (10.0, True, 4)
    assert made.take_due(10.0) == [1]
    assert (made.deadline, made.take_due(10.5)) == (11.0, [])
    assert made.take_due(11.0) == [1]


def test_who_has_heard_us_is_a_neighbour():
    made = with_trunks(4)
    assert made.hear(1, "B", False, 0.5) is False
    assert (made.heard(), made.links) == (("B",), {})
    assert made.hear(1, "B", True, 0.6) is True
    assert (made.heard(), made.links, made.trunks) == (("B",), {"B": 4}, {"B": (1,)})
    assert made.hear(1, "B", True, 1.6) is False


def test_who_has_not_heard_us_is_greeted_at_once_but_not_at_each_greeting():
    made = with_trunks(1)
    made.hear(1, "B", False, 0.1)
    assert (made.deadline, made.take_due(0.1)) == (0.1, [1])
    made.hear(1, "B", False, 0.11)
    assert made.deadline == 0.2
    made.hear(1, "B", False, 0.12)
    assert (made.take_due(0.19), made.take_due(0.2)) == ([], [1])
    made.hear(1, "B", False, 1.19)
    assert made.take_due(1.19) == [1]
    made.open(2, 1, 1.3)
    made.hear(2, "B", False, 1.3)
    assert made.take_due(1.3) == [2]


def test_time_that_is_forgiven_does_not_count_against_neighbours():
    made = with_trunks(1, 2)
    made.hear(1, "B", True, 0.5)
    made.forgive(20.0)
    assert made.expire(23.4) is False
    # What the first says does not make the others late.
    made.hear(2, "C", True, 23.4)
    assert made.links == {"B": 1, "C": 2}
    assert made.expire(23.5) is True
    assert made.links == {"C": 2}


def test_a_neighbour_that_is_silent_for_too_long_is_lost():
    made = with_trunks(1)
    made.hear(1, "B", True, 0.5)
    for now in (1.0, 2.0, 3.0):
        made.take_due(now)
    assert made.expire(3.4) is False
    assert made.deadline == 3.5
    assert made.expire(3.5) is True
    assert (made.heard(), made.links, made.trunks) == ((), {}, {})


def test_a_neighbour_that_has_not_heard_us_for_too_long_is_lost_and_still_heard():
    made = with_trunks(1)
    made.hear(1, "B", True, 0.5)
    made.hear(1, "B", False, 3.0)
    assert made.expire(3.5) is True
    assert (made.heard(), made.links) == (("B",), {})


def test_of_several_trunks_the_cheapest_is_in_use_and_of_these_the_first():
    made = with_trunks(5, 2, 2)
    assert [made.hear(number, "B", True, 0.1) for number in (1, 3, 2)] == [True, True, True]
    assert (made.links, made.trunks) == ({"B": 2}, {"B": (2, 3, 1)})
    assert [made.hear(number, "B", True, 0.2) for number in (1, 2, 3)] == [False, False, False]


def test_another_trunk_takes_over_when_the_one_in_use_closes():
    made = with_trunks(2, 2, 5)
    for number in (1, 2, 3):
        made.hear(number, "B", True, 0.1)
    assert (made.close(1, 0.2), made.links, made.trunks) == (True, {"B": 2}, {"B": (2, 3)})
    assert (made.close(2, 0.3), made.links, made.trunks) == (True, {"B": 5}, {"B": (3,)})
    assert (made.close(3, 0.4), made.links, made.heard()) == (True, {}, ())
    assert made.close(3, 0.5) is False


def test_another_trunk_takes_over_when_the_one_in_use_falls_silent():
    made = with_trunks(1, 5)
    made.hear(1, "B", True, 0.1)
    made.hear(2, "B", True, 0.1)
    made.hear(2, "B", True, 3.0)
    assert (made.expire(3.1), made.links, made.trunks) == (True, {"B": 5}, {"B": (2,)})
    assert (made.hear(1, "B", True, 3.2), made.links) == (True, {"B": 1})


def test_a_trunk_leads_to_whoever_greeted_on_it_last():
    made = with_trunks(1)
    made.hear(1, "B", True, 0.1)
    assert made.hear(1, "C", True, 0.2) is True
    assert (made.heard(), made.links) == (("C",), {"C": 1})


def test_a_trunk_that_is_believed_to_be_there_counts_until_it_would_be_lost():
    made = neighbours()
    made.believe(1, "B", 4, 10.0)
    assert (made.links, made.trunks, made.heard()) == ({"B": 4}, {"B": (1,)}, ("B",))
    assert (made.is_open(1), made.take_due(10.0), made.deadline) == (False, [], 13.0)
    assert (made.expire(13.0), made.links) == (True, {})


def test_a_trunk_that_is_believed_to_be_there_still_leads_there_when_it_opens():
    made = neighbours()
    made.believe(1, "B", 4, 10.0)
    assert (made.open(1, 4, 11.0), made.is_open(1), made.take_due(11.0)) == (False, True, [1])
    assert (made.links, made.trunks) == ({"B": 4}, {"B": (1,)})
    made.believe(1, "B", 4, 12.0)
    assert (made.open(1, 3, 12.0), made.links) == (True, {"B": 3})


def test_a_trunk_that_opens_again_is_another_one():
    made = with_trunks(1)
    made.hear(1, "B", True, 0.1)
    assert (made.open(1, 1, 0.2), made.links, made.heard()) == (True, {}, ())
