"""What a worker knows of other routers: routes, addresses, and what news make of them."""

import pickle

import pytest

from routerd.core import MappedAddresses, Network, NetworkNews, RouteTo

NEAR = RouteTo("B", 1, 1)
FAR = RouteTo("B", 1, 3)


@pytest.fixture
def network():
    return Network()


def news(count, *mapped, epoch=1, **options):
    return NetworkNews((epoch, count), mapped=tuple(MappedAddresses(*one) for one in mapped), **options)


def test_a_network_that_nothing_is_known_of_has_nobody(network):
    assert network == Network((0, 0), {}, 0, {}, None)
    assert (network.routers_of("M0a"), network.reaches("M0a"), network.hint_of("M0a")) == ((), False, None)
    assert (network.mapping(), network.is_through_us("A", ("B",))) == ((), False)


def test_routes_stand_in_for_those_before(network):
    assert set(network.apply(news(1, routes={"B": NEAR, "C": FAR}, radius=2))) == set()
    assert (network.routes, network.radius, network.version) == ({"B": NEAR, "C": FAR}, 2, (1, 1))
    network.apply(news(2, routes={"B": FAR}, radius=1))
    assert (network.routes, network.radius, network.version) == ({"B": FAR}, 1, (1, 2))


def test_what_news_do_not_name_stays(network):
    network.apply(
        news(1, ("B", {"M0a": 3}), routes={"B": NEAR}, radius=4, through={"A": frozenset("B")}, checkpoint="kept")
    )
    network.apply(news(2))
    assert (network.routes, network.radius, network.through) == ({"B": NEAR}, 4, {"A": frozenset("B")})
    assert (network.checkpoint, network.mapping()) == ("kept", (MappedAddresses("B", {"M0a": 3}),))
    network.apply(news(3, checkpoint="newer"))
    assert (network.checkpoint, network.version) == ("newer", (1, 3))


def test_a_router_has_itself_and_whatever_is_mapped_to_it(network):
    network.apply(news(1, ("B", {"M0a": 3, "M0b": 2}), ("C", {"M0a": 1})))
    network.apply(news(2, ("D", {"M0a": 2})))
    assert network.routers_of("RB") == ("B",)
    assert network.routers_of("Rnobody") == ("nobody",)
    assert (network.routers_of("M0a"), network.routers_of("M0b")) == (("B", "C", "D"), ("B",))


def test_an_address_is_reached_if_one_of_those_who_have_it_is(network):
    network.apply(news(1, ("B", {"M0a": 3}), ("C", {"M0a": 3, "M0c": 3}), routes={"B": NEAR}))
    keys = ("M0a", "M0c", "RB", "RC", "M0other")
    assert [network.reaches(key) for key in keys] == [True, False, True, False, False]


def test_the_hint_is_that_of_the_first_that_has_the_address(network):
    network.apply(news(1, ("B", {"M0a": 3}), ("C", {"M0a": 1})))
    assert network.hint_of("M0a") == 3
    network.apply(news(2, ("B", {"M0a": 2})))
    assert (network.hint_of("M0a"), network.routers_of("M0a")) == (2, ("B", "C"))
    network.apply(news(3, ("B", {}, ("M0a",))))
    assert (network.hint_of("M0a"), network.hint_of("RB")) == (1, None)


def test_addresses_come_and_go_in_any_number_of_steps(network):
    assert set(network.apply(news(1, ("B", {"M0a": 3}), ("C", {"M0a": 3}), ("D", {"M0a": 3})))) == {"M0a"}
    assert set(network.apply(news(2, ("C", {"M0b": 3}, ("M0a", "M0never"))))) == {"M0a", "M0b", "M0never"}
    assert (network.routers_of("M0a"), network.routers_of("M0never")) == (("B", "D"), ())
    assert set(network.apply(news(3, ("B", {}, ("M0a",))))) == {"M0a"}
    assert network.routers_of("M0a") == ("D",)
    network.apply(news(4, ("D", {}, ("M0a",)), ("B", {}), ("nobody", {}, ("M0a",))))
    assert (network.routers_of("M0a"), network.mapping()) == ((), (MappedAddresses("C", {"M0b": 3}),))


def test_an_address_may_go_and_come_in_the_same_news(network):
    network.apply(news(1, ("B", {"M0a": 3})))
    network.apply(news(2, ("B", {"M0a": 1}, ("M0a",))))
    assert (network.routers_of("M0a"), network.hint_of("M0a")) == (("B",), 1)


def test_a_router_is_forgotten_with_its_addresses_alone(network):
    network.apply(news(1, ("B", {"M0a": 3, "M0b": 3}), ("C", {"M0a": 3}), routes={"B": NEAR, "C": FAR}))
    assert set(network.apply(news(2, forgotten=("B", "nobody")))) == {"M0a", "M0b"}
    assert (network.routers_of("M0a"), network.routers_of("M0b")) == (("C",), ())
    assert network.mapping() == (MappedAddresses("C", {"M0a": 3}),)


def test_what_is_mapped_of_a_router_that_is_forgotten_in_the_same_news_comes_after_that(network):
    network.apply(news(1, ("B", {"M0a": 3})))
    assert set(network.apply(news(2, ("B", {"M0b": 3}), forgotten=("B",)))) == {"M0a", "M0b"}
    assert network.mapping() == (MappedAddresses("B", {"M0b": 3}),)


def test_full_news_stand_in_for_everything(network):
    network.apply(
        news(5, ("B", {"M0a": 3}), routes={"B": NEAR}, radius=4, through={"A": frozenset("B")}, checkpoint="kept")
    )
    assert set(network.apply(news(1, ("C", {"M0c": 2}), epoch=2, is_full=True))) == {"M0a", "M0c"}
    assert (network.routes, network.radius, network.through) == ({}, 0, {})
    assert (network.mapping(), network.version) == ((MappedAddresses("C", {"M0c": 2}),), (2, 1))
    assert (network.routers_of("M0a"), network.checkpoint) == ((), "kept")


def test_a_path_leads_over_us_to_some_routers_by_where_it_begins(network):
    network.apply(news(1, through={"A": frozenset({"B", "C"}), "B": frozenset({"A"})}))
    asked = [("A", ("B",)), ("A", ("D", "C")), ("A", ("D",)), ("A", ()), ("B", ("C",)), ("X", ("A",))]
    assert [network.is_through_us(*one) for one in asked] == [True, True, False, False, False, False]


def test_news_keep_their_own_copy_of_routes(network):
    routes = {"B": NEAR}
    network.apply(news(1, routes=routes))
    routes["C"] = FAR
    assert network.routes == {"B": NEAR}


def test_the_mapping_is_what_makes_another_network_know_the_same(network):
    network.apply(news(1, ("B", {"M0a": 3, "M1b": 1}), ("C", {"M0a": 2})))
    other = Network()
    other.apply(NetworkNews((1, 1), mapped=network.mapping()))
    assert other == network


def test_news_can_be_sent_to_another_process():
    told = news(1, ("B", {"M0a": 3}), routes={"B": NEAR}, through={"A": frozenset("B")}, forgotten=("D",))
    assert pickle.loads(pickle.dumps(told)) == told
