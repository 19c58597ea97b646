"""Other routers: who is in reach, who hears us, and what may be done without them."""

from routerd.topics.names import Place
from routerd.topics.routers import Routers
from routerd.topics.settings import NodeConfig

B = Place("B", 4)


def routers(**config):
    given = {"router_id": "A", "incarnation": 1, "longest_timeout_s": 100.0, "is_first_start": True, **config}
    return Routers(NodeConfig(**given), 0.0)


def met(made, now=0.0, place=B):
    """Have a router be heard."""
    router = made.learn(place.router, now)
    router.place, router.is_in_reach, router.is_up, router.heard_at = place, True, True, now
    return router


def test_a_router_is_in_reach_in_one_life():
    made = routers()
    met(made)
    assert (made.is_up(B), made.is_up(Place("B", 3)), made.is_up(Place("C", 1))) == (True, False, False)
    assert (made.up(), made.places(), made.silent(3.0), made.silent(3.1)) == (["B"], [B], [], ["B"])


def test_a_router_is_alive_when_it_has_answered_a_hello_of_ours():
    made = routers()
    router = met(made)
    number = made.next_hello(router, 1.0)
    router.heard_at = 9.0
    assert not made.is_alive(B, 1.5)
    made.echoed(router, number)
    assert (made.is_alive(B, 4.0), made.is_alive(B, 4.1), made.is_alive(made.me, 99.0)) == (True, False, True)


def test_an_echo_of_something_that_was_never_said_counts_for_nothing():
    made = routers()
    made.echoed(met(made), 77)
    assert not made.is_alive(B, 0.0)


def test_the_lease_runs_from_when_a_router_was_heard_and_from_the_claim():
    made = routers()
    router = met(made, 10.0)
    assert made.lease_has_run(0.0, 10.0)
    router.is_up = False
    assert [made.lease_has_run(0.0, now) for now in (16.5, 16.7)] == [False, True]
    assert [made.lease_has_run(20.0, now) for now in (26.5, 26.7)] == [False, True]


def test_a_router_without_a_census_owes_the_lease_to_those_that_it_does_not_know():
    made = routers(is_first_start=False)
    assert [made.lease_has_run(5.0, now) for now in (11.6, 11.7)] == [False, True]
    assert made.season(["B"], 20.0)
    assert made.lease_has_run(20.0, 20.0) is False
    assert made.lease_has_run(20.0, 27.0) is True
    assert not made.season(["B"], 21.0)


def test_the_grace_ends_with_the_directory_or_with_time():
    made = routers(is_first_start=False)
    assert [made.grace_is_over(now) for now in (100.0, 100.1)] == [False, True]
    short = routers(is_first_start=False, grace_s=1.0)
    assert [short.grace_is_over(now) for now in (6.6, 6.7)] == [False, True]
    made.season([], 5.0)
    assert made.grace_is_over(5.0)


def test_contact_is_counted_up_to_the_restart_of_a_router():
    made = routers()
    router = met(made, 5.0)
    made.go_down(router)
    assert made.contact_until("B") == 5.0
    met(made, 8.0)
    made.go_down(router)
    assert made.contact_until("B") == 8.0
    router.has_restarted = True
    met(made, 9.0, Place("B", 5))
    made.go_down(router)
    assert (made.contact_until("B"), made.contact_until("C")) == (8.0, float("-inf"))


def test_routers_have_a_limit_and_old_ones_are_forgotten():
    made = routers(routers_max=1)
    assert (made.learn("B", 0.0) is not None, made.learn("C", 0.0), made.learn("A", 0.0)) == (True, None, None)
    made.forget_old(200.0)
    assert list(made.known) == ["B"]
    made.forget_old(200.1)
    assert made.known == {}


def test_a_router_that_was_away_for_long_is_noticed():
    made = routers()
    router = met(made, 0.0)
    assert not made.out_of_reach_longer_than(5.0, 9.0)
    router.is_up = False
    assert (made.out_of_reach_longer_than(5.0, 5.0), made.out_of_reach_longer_than(5.0, 5.1)) == (False, True)
