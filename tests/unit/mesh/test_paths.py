"""Paths against a plain computation of the same: any links, and any history of changes."""

from heapq import heappop, heappush
from itertools import pairwise
from random import Random

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from routerd.mesh.paths import CostOutOfRange, Paths

IDS = ["a", "b", "B", "c1", "c10", "c2", "é", "\U0001f600"]
COST_MAX = 2**31

ids = st.sampled_from(IDS)
# Few costs, so that ties abound.
costs = st.one_of(st.integers(1, 3), st.just(COST_MAX))
links = st.dictionaries(ids, costs, max_size=4)
steps = st.one_of(
    st.tuples(st.just("set_links"), ids, links),
    st.tuples(st.just("forget"), ids),
    st.tuples(st.sampled_from(["compute", "begin_origins", "check"])),
    st.tuples(st.just("advance_origins"), st.integers(0, 3)),
)

RING = {
    "R1": {"R2": 1, "R4": 1},
    "R2": {"R1": 1, "R3": 1},
    "R3": {"R2": 1, "R4": 1},
    "R4": {"R1": 1, "R3": 1},
}
LINE = {"A": {"B": 1}, "B": {"A": 1, "C": 1}, "C": {"B": 1}}
# Seen from A. Nobody reaches F, and B's and A's paths to E lead by C, which wins over D.
SQUARE = {
    "A": {"B": 1},
    "B": {"A": 1, "C": 1, "D": 1},
    "C": {"B": 1, "D": 5, "E": 1},
    "D": {"B": 1, "E": 1},
    "E": {"C": 1, "D": 1},
    "F": {"B": 1},
}


class Model:
    """The same as `Paths`, computed from nothing each time."""

    def __init__(self, own_id):
        self.own_id = own_id
        self.advertised = {own_id: {}}
        self.mentions = []

    def set_links(self, router, costs):
        self.advertised[router] = {peer: cost for peer, cost in costs.items() if peer != router}
        self.mentions = [each for each in self.mentions if each[0] != router or each[1] in self.advertised[router]]
        self.mentions += [(router, peer) for peer in self.advertised[router] if (router, peer) not in self.mentions]

    def forget(self, router):
        self.set_links(router, {})
        if router != self.own_id:
            del self.advertised[router]

    def links(self):
        assumed = {}
        for router, peer in self.mentions:
            if peer not in self.advertised:
                assumed.setdefault(peer, {router: 1})
        return {**self.advertised, **assumed}

    def routes(self):
        paths = paths_from(self.links(), self.own_id)
        return {end: (path[1], cost, len(path) - 1) for end, (cost, path) in paths.items() if end != self.own_id}

    def through_us(self):
        found = {}
        for origin in self.routes():
            paths = paths_from(self.links(), origin)
            if below := frozenset(end for end, (_, path) in paths.items() if self.own_id in path[1:-1]):
                found[origin] = below
        return found


def paths_from(links, root):
    """Return the cost and the path to each router that one router reaches."""
    best = {root: (0, [root])}
    queue = [(0, root)]
    settled = set()
    while queue:
        cost, router = heappop(queue)
        if router in settled:
            continue
        settled.add(router)
        for peer, step in links[router].items():
            if peer not in best or cost + step < best[peer][0]:
                best[peer] = (cost + step, [*best[router][1], peer])
                heappush(queue, (cost + step, peer))
    return best


def told(own_id, links):
    paths = Paths(own_id)
    for router, costs in links.items():
        paths.set_links(router, costs)
    return paths


def next_hops(own_id, links):
    paths = told(own_id, links)
    paths.compute()
    return {end: hop for end, (hop, _, _) in paths.routes().items()}


def trees_computed(paths):
    """Compute the trees of origins that have to be, one at a time; how many those were."""
    paths.begin_origins()
    count = 0
    while not paths.advance_origins(0):
        paths.advance_origins(1)
        count += 1
    return count


def through(own_id, links):
    paths = told(own_id, links)
    trees_computed(paths)
    return paths.through_us()


def check_equal(paths, model):
    paths.compute()
    routes = model.routes()
    assert (paths.routes(), paths.radius) == (routes, max((hops for _, _, hops in routes.values()), default=0))
    trees_computed(paths)
    assert paths.through_us() == model.through_us()


# --- our paths


def test_who_knows_of_no_link_reaches_nobody():
    paths = Paths("A")
    assert (paths.compute(), paths.routes(), paths.radius) == (False, {}, 0)
    assert (trees_computed(paths), paths.through_us()) == (0, {})


def test_a_route_is_next_hop_cost_and_hops():
    paths = told("A", {"A": {"B": 2}, "B": {"A": 2, "C": 3}, "C": {"B": 3}})
    assert paths.compute()
    assert (paths.routes(), paths.radius) == ({"B": ("B", 2, 1), "C": ("B", 5, 2)}, 2)


def test_a_ring_of_equal_costs_is_cut_as_other_routers_cut_it():
    ends = [("R1", "R3"), ("R2", "R4"), ("R4", "R2"), ("R3", "R1")]
    assert [next_hops(router, RING)[end] for router, end in ends] == ["R2", "R1", "R1", "R2"]


def test_among_equals_the_nearer_is_settled_first_and_then_the_lower_id():
    far = {"A": {"B": 2, "C": 1}, "B": {"D": 1}, "C": {"D": 2}, "D": {}}
    assert next_hops("A", far)["D"] == "C"
    assert next_hops("A", {**far, "A": {"B": 1, "C": 1}, "B": {"D": 2}})["D"] == "B"


def test_ids_are_compared_as_text():
    paths = told("A", {"A": {"r9": 1, "r10": 1}, "r9": {"D": 1}, "r10": {"D": 1}, "D": {}})
    paths.compute()
    assert paths.routes()["D"] == ("r10", 2, 2)


def test_a_neighbour_may_be_nearer_through_another():
    assert next_hops("A", {"A": {"B": 5, "C": 1}, "B": {"A": 5, "C": 1}, "C": {"A": 1, "B": 1}}) == {"B": "C", "C": "C"}


def test_each_direction_has_the_cost_that_its_start_advertises():
    links = {"A": {"B": 7}, "B": {"A": 1}}
    ours, theirs = told("A", links), told("B", links)
    assert (ours.compute(), ours.routes()) == (True, {"B": ("B", 7, 1)})
    assert (theirs.compute(), theirs.routes()) == (True, {"A": ("A", 1, 1)})


def test_the_greatest_costs_add_up():
    ends = [f"r{number}" for number in range(9)]
    paths = told("r0", {one: {other: COST_MAX} for one, other in pairwise(ends)})
    paths.compute()
    assert paths.routes()["r8"] == ("r1", 8 * COST_MAX, 8)


def test_what_a_router_says_of_itself_is_no_link():
    paths = told("A", {"A": {"A": 1, "B": 1}, "B": {"B": 1}})
    paths.compute()
    assert paths.routes() == {"B": ("B", 1, 1)}


@pytest.mark.parametrize("cost", [0, -1, COST_MAX + 1, 2**70])
def test_a_cost_out_of_range_is_refused_and_nothing_of_it_taken(cost):
    paths = told("A", LINE)
    paths.compute()
    with pytest.raises(CostOutOfRange) as refused:
        paths.set_links("A", {"D": 1, "B": cost})
    assert str(refused.value) == f"cost {cost} of the link from A to B is not from 1 to 2147483648"
    assert (paths.compute(), paths.routes()) == (False, {"B": ("B", 1, 1), "C": ("B", 2, 2)})


# --- routers without link state


def test_a_router_that_is_only_mentioned_is_reached_and_leads_back_at_cost_1():
    paths = told("A", {"A": {"B": 4}, "B": {"A": 4, "X": 9}})
    trees_computed(paths)
    assert paths.routes() == {"B": ("B", 4, 1), "X": ("B", 13, 2)}
    assert through("B", {"B": {"A": 4, "X": 9}}) == {"A": frozenset({"X"}), "X": frozenset({"A"})}


def test_it_leads_back_to_who_mentioned_it_first_of_those_that_still_do():
    paths = told("A", {"A": {"B": 1, "C": 1}, "C": {"A": 1, "X": 1}, "B": {"A": 1, "X": 1}})
    trees_computed(paths)
    assert paths.through_us() == {"B": frozenset({"C"}), "C": frozenset({"B"}), "X": frozenset({"B"})}
    paths.set_links("C", {"A": 1})
    trees_computed(paths)
    assert paths.through_us() == {"B": frozenset({"C"}), "C": frozenset({"B", "X"}), "X": frozenset({"C"})}
    paths.set_links("C", {"A": 1, "X": 1})
    trees_computed(paths)
    assert paths.through_us() == {"B": frozenset({"C"}), "C": frozenset({"B"}), "X": frozenset({"C"})}


def test_its_own_link_state_ends_the_assumption_and_forgetting_that_brings_it_back():
    assumed = {"A": frozenset({"C"}), "C": frozenset({"A"})}
    paths = told("B", {"B": {"A": 1, "C": 1}, "A": {"B": 1}})
    trees_computed(paths)
    assert paths.through_us() == assumed
    paths.set_links("C", {})
    trees_computed(paths)
    assert paths.through_us() == {"A": frozenset({"C"})}
    paths.forget("C")
    trees_computed(paths)
    assert paths.through_us() == assumed


def test_who_is_forgotten_and_not_mentioned_is_gone():
    paths = told("A", LINE)
    paths.compute()
    paths.forget("C")
    assert (paths.compute(), paths.routes()["C"]) == (False, ("B", 2, 2))
    paths.set_links("B", {"A": 1})
    assert (paths.compute(), paths.routes()) == (True, {"B": ("B", 1, 1)})


def test_we_are_known_without_links_when_ours_are_forgotten():
    paths = told("A", LINE)
    paths.compute()
    paths.forget("A")
    assert (paths.compute(), paths.routes()) == (True, {})


def test_to_forget_whom_nobody_knows_changes_nothing():
    paths = told("A", LINE)
    paths.compute()
    paths.forget("X")
    assert not paths.compute()


# --- what changed


@pytest.mark.parametrize(
    ("router", "costs", "route"),
    [
        ("B", {"A": 1, "C": 1, "D": 3}, ("B", 4, 2)),
        ("A", {"B": 1, "D": 2}, ("D", 2, 1)),
        ("A", {"B": 1, "C": 1, "D": 2}, ("D", 2, 1)),
        ("A", {}, None),
    ],
    ids=["cost", "next hop and hops", "a new one", "lost"],
)
def test_a_changed_route_is_told_once(router, costs, route):
    paths = told("A", SQUARE)
    assert paths.compute()
    assert (paths.compute(), paths.routes()["D"]) == (False, ("B", 2, 2))
    paths.set_links(router, costs)
    assert [paths.compute(), paths.compute()] == [True, False]
    assert paths.routes().get("D") == route


def test_the_next_hop_alone_is_a_change():
    paths = told("A", RING | {"A": {"R2": 1, "R4": 1}})
    paths.compute()
    assert paths.routes()["R3"] == ("R2", 2, 2)
    paths.set_links("R2", {"R1": 1})
    assert (paths.compute(), paths.routes()["R3"]) == (True, ("R4", 2, 2))


def test_hops_alone_are_a_change():
    paths = told("A", {"A": {"B": 1}, "B": {"C": 1, "D": 3}, "C": {"D": 2}, "D": {}})
    paths.compute()
    assert paths.routes()["D"] == ("B", 4, 2)
    paths.set_links("B", {"C": 1, "D": 4})
    assert (paths.compute(), paths.routes()["D"]) == (True, ("B", 4, 3))


def test_links_that_change_no_route_are_no_change():
    paths = told("A", SQUARE)
    paths.compute()
    for router, costs in [("A", {"B": 1}), ("C", {"B": 1, "D": 6, "E": 1}), ("E", {}), ("F", {}), ("D", {"B": 1})]:
        paths.set_links(router, costs)
        assert not paths.compute()


def test_a_change_that_was_undone_is_none():
    paths = told("A", LINE)
    paths.compute()
    paths.set_links("B", {})
    paths.begin_origins()
    paths.set_links("B", LINE["B"])
    assert not paths.compute()


def test_what_came_and_went_between_two_computations_leaves_nothing():
    paths = told("A", LINE)
    paths.compute()
    paths.set_links("X", {"Y": 1})
    paths.forget("X")
    assert not paths.compute()
    check_equal(paths, modelled("A", LINE))


def test_a_router_in_the_place_of_another_is_a_change():
    paths = told("A", LINE)
    trees_computed(paths)
    paths.compute()
    paths.forget("C")
    paths.set_links("B", {"A": 1, "D": 1})
    paths.set_links("D", {"B": 1})
    assert (paths.compute(), paths.routes()) == (True, {"B": ("B", 1, 1), "D": ("B", 2, 2)})


def test_a_change_that_origins_met_first_is_told_all_the_same():
    paths = told("A", LINE)
    paths.begin_origins()
    assert [paths.compute(), paths.compute()] == [True, False]


def test_routes_and_origins_are_those_of_the_moment_for_good():
    paths = told("B", LINE)
    trees_computed(paths)
    routes, origins = paths.routes(), paths.through_us()
    routes.clear()
    origins.clear()
    assert paths.routes() == {"A": ("A", 1, 1), "C": ("C", 1, 1)}
    assert paths.through_us() == {"A": frozenset({"C"}), "C": frozenset({"A"})}


# --- trees of others


def test_in_a_line_only_the_middle_lies_between_others():
    assert [through(router, LINE) for router in LINE] == [{}, {"A": frozenset({"C"}), "C": frozenset({"A"})}, {}]


def test_in_a_ring_of_equal_costs_each_lies_where_its_neighbours_paths_are_cut():
    assert [through(router, RING) for router in RING] == [
        {"R2": frozenset({"R4"}), "R4": frozenset({"R2"})},
        {"R1": frozenset({"R3"}), "R3": frozenset({"R1"})},
        {},
        {},
    ]


def test_whom_we_do_not_reach_is_no_origin():
    assert through("B", {"A": {"B": 1}, "B": {"C": 1}, "C": {"B": 1}}) == {}


def test_trees_are_computed_so_many_at_a_time():
    paths = told("A", RING | {"A": {"R1": 1, "R3": 1}})
    paths.begin_origins()
    assert [paths.advance_origins(count) for count in (0, 3, 0, 1, 1)] == [False, False, False, True, True]


def test_what_was_known_of_an_origin_stays_until_its_tree_is_computed():
    paths = told("B", LINE)
    trees_computed(paths)
    paths.set_links("C", {"B": 1, "A": 1})
    paths.set_links("A", {"B": 1, "C": 1})
    known = {"A": frozenset({"C"}), "C": frozenset({"A"})}
    seen = []
    paths.begin_origins()
    while not paths.advance_origins(0):
        seen.append(paths.through_us())
        paths.advance_origins(1)
    assert (seen[0], len(seen), paths.through_us()) == (known, 2, {})


def test_an_origin_that_is_lost_before_its_turn_is_passed_over():
    paths = told("B", LINE)
    paths.begin_origins()
    paths.set_links("B", {"A": 1})
    paths.compute()
    # The others are computed in the links of when it began.
    assert (paths.advance_origins(2), paths.through_us()) == (True, {"A": frozenset({"C"})})
    check_equal(paths, modelled("B", {**LINE, "B": {"A": 1}}))


def test_an_origin_that_is_gone_is_left_out():
    paths = told("B", LINE)
    trees_computed(paths)
    paths.forget("C")
    paths.set_links("B", {"A": 1})
    assert paths.compute()
    assert paths.through_us() == {"A": frozenset({"C"})}
    trees_computed(paths)
    assert paths.through_us() == {}


@pytest.mark.parametrize(
    ("changes", "trees"),
    [
        ([("C", {"B": 1, "D": 6, "E": 1})], 0),
        ([("C", {"B": 1, "E": 1})], 0),
        ([("C", {"B": 1, "D": 3, "E": 1})], 0),
        ([("C", {"B": 1, "D": 2, "E": 1})], 1),
        ([("C", {"B": 1, "D": 1, "E": 1})], 1),
        ([("D", {"B": 1, "E": 2})], 1),
        ([("D", {"B": 1, "E": 2}), ("D", {"B": 1, "E": 1})], 1),
        ([("C", {"B": 1, "D": 5, "E": 2})], 2),
        ([("F", {"B": 2, "C": 1})], 0),
        ([("G", {"B": 1})], 0),
        ([("D", {"B": 1, "E": 1, "F": 1})], 5),
        ([("D", {"B": 1, "E": 1, "G": 1})], 5),
    ],
    ids=[
        "dearer off every path",
        "lost off every path",
        "cheaper off every path",
        "a tie that is won by the nearer",
        "cheaper",
        "dearer on a path",
        "a tie that is lost by id",
        "dearer on two",
        "from where nobody gets",
        "from a new router",
        "to a router that was out of reach",
        "to a new router",
    ],
)
def test_only_the_trees_that_a_change_may_affect_are_computed_again(changes, trees):
    paths, model = told("A", SQUARE), modelled("A", SQUARE)
    assert trees_computed(paths) == 4
    for router, costs in changes:
        paths.set_links(router, costs)
        model.set_links(router, costs)
        computed = trees_computed(paths)
    assert computed == trees
    check_equal(paths, model)


def test_a_tie_that_is_won_by_id_affects_a_tree():
    paths = told("C", SQUARE)
    by_us = {"A": frozenset({"E"}), "B": frozenset({"E"}), "E": frozenset({"A", "B"})}
    for cost, trees, origins in [(1, 4, by_us), (3, 2, {"E": by_us["E"]}), (2, 0, {"E": by_us["E"]}), (1, 2, by_us)]:
        paths.set_links("C", {**SQUARE["C"], "E": cost})
        assert (trees_computed(paths), paths.through_us()) == (trees, origins)


# --- any links and any history


def modelled(own_id, links):
    model = Model(own_id)
    for router, costs in links.items():
        model.set_links(router, costs)
    return model


@settings(max_examples=300)
@given(own_id=ids, advertised=st.lists(st.tuples(ids, links), max_size=12))
def test_any_links_give_the_paths_of_a_plain_computation(own_id, advertised):
    paths, model = Paths(own_id), Model(own_id)
    for router, costs in advertised:
        paths.set_links(router, costs)
        model.set_links(router, costs)
    check_equal(paths, model)


@settings(max_examples=300)
@given(own_id=ids, history=st.lists(steps, max_size=40))
def test_any_history_ends_where_a_computation_from_nothing_does(own_id, history):
    paths, model = Paths(own_id), Model(own_id)
    known = {}
    for name, *arguments in [*history, ("check",)]:
        if name in ("set_links", "forget"):
            getattr(model, name)(*arguments)
        if name == "check":
            check_equal(paths, model)
            known = paths.routes()
        elif name == "compute":
            before, known = known, model.routes()
            assert paths.compute() == (known != before)
        else:
            getattr(paths, name)(*arguments)


@pytest.mark.parametrize("seed", range(10))
def test_a_long_history_of_a_larger_mesh_ends_well(seed):
    chance = Random(seed)
    routers = [f"r{number}" for number in range(25)]
    paths, model = Paths("r7"), Model("r7")
    for step in range(300):
        router = chance.choice(routers)
        if chance.random() < 0.2:
            paths.forget(router)
            model.forget(router)
        else:
            costs = {peer: chance.randint(1, 3) for peer in chance.sample(routers, chance.randint(0, 4))}
            paths.set_links(router, costs)
            model.set_links(router, costs)
        deed = chance.randrange(8)
        if deed == 0:
            paths.compute()
        elif deed <= 3:
            paths.begin_origins()
        elif deed <= 6:
            paths.advance_origins(deed)
        elif step % 4 == 0:
            check_equal(paths, model)
    check_equal(paths, model)


@settings(max_examples=100)
@given(advertised=st.dictionaries(ids, links, min_size=2))
def test_each_router_on_an_origins_path_sends_on_along_it(advertised):
    model = modelled("a", advertised)
    everybody = model.links()
    hops = {router: next_hops(router, everybody) for router in everybody}
    between = {router: through(router, everybody) for router in everybody}
    for origin in everybody:
        for end, (_, path) in paths_from(everybody, origin).items():
            walked = [origin]
            while walked[-1] != end:
                walked.append(hops[walked[-1]][end])
            assert walked == path
            for router in path[1:-1]:
                assert origin not in hops[router] or end in between[router][origin]
