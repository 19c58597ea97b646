"""Link states: what is kept of those of others, and when ours is announced."""

from math import inf

from routerd.mesh import MeshConfig
from routerd.mesh.link_state import LinkStates, OwnLinks
from routerd.mesh.topology import Topology


def states(**config):
    topology = Topology("A")
    return LinkStates(MeshConfig(router_id="A", **config), topology), topology


def reached(topology):
    """Return the routers that paths lead to from A, by way of its neighbour B."""
    topology.compute(0.0, 4, {"B": (1,)})
    return {router: route.cost for router, route in topology.routes.nodes.items()}


def learned(found, *routers):
    return [found.learn(router, 1, 0.0) for router in routers]


def test_links_of_a_router_are_what_paths_are_made_of():
    found, topology = states()
    topology.set_links("A", {"B": 1})
    node, _ = learned(found, "B", "C")
    found.store(node, 3, {"A": 1, "C": 2}, 5.0)
    assert (node.ls_seq, node.ls_wanted, node.peers, node.changed, node.last_seen) == (3, 3, {"A": 1, "C": 2}, 5.0, 5.0)
    assert (topology.due, reached(topology)) == (5.0, {"B": 1, "C": 3})


def test_a_link_state_that_says_the_same_again_changes_no_path():
    found, topology = states()
    (node,) = learned(found, "B")
    found.store(node, 3, {"A": 1}, 5.0)
    reached(topology)
    found.store(node, 4, {"A": 1}, 6.0)
    assert (node.ls_seq, node.last_seen, node.changed, topology.due) == (4, 6.0, 5.0, inf)


def test_a_router_that_did_not_announce_itself_for_too_long_has_no_links():
    found, topology = states()
    topology.set_links("A", {"B": 1})
    node, other = learned(found, "B", "C")
    found.store(node, 3, {"A": 1, "C": 2}, 5.0)
    assert found.clear_old(64.9) == []
    assert found.clear_old(65.0) == [node]
    assert (node.ls_seq, node.peers, node.changed) == (0, {}, 65.0)
    assert (reached(topology), found.clear_old(99.0)) == ({"B": 1}, [])
    assert other.peers == {}


def test_a_router_of_which_nothing_is_known_is_forgotten_at_the_third_look():
    found, topology = states()
    topology.set_links("A", {"B": 1})
    node, _, stale = learned(found, "B", "C", "D")
    found.store(node, 1, {"A": 1, "C": 2}, 0.0)
    assert [found.forget_stale(["B"]) for _ in range(3)] == [[], [], [stale]]
    assert (sorted(found.nodes), reached(topology)) == (["B", "C"], {"B": 1, "C": 3})


def test_looks_count_even_if_something_was_known_in_between():
    found, _ = states()
    (node,) = learned(found, "B")
    assert [found.forget_stale([]), found.forget_stale(["B"]), found.forget_stale([])] == [[], [], []]
    assert found.forget_stale([]) == [node]


def test_no_more_routers_are_known_than_may_be():
    found, topology = states(routers_max=2)
    topology.set_links("A", {"B": 1})
    node, _, refused = learned(found, "B", "C", "D")
    found.store(node, 1, {"A": 1, "D": 2}, 0.0)
    assert (refused, sorted(found.nodes), reached(topology)) == (None, ["B", "C"], {"B": 1})
    for _ in range(3):
        found.forget_stale(["B"])
    assert learned(found, "D") != [None]
    assert reached(topology) == {"B": 1, "D": 3}


def test_our_links_are_announced_soon_and_at_once_if_one_is_lost_or_costs_more():
    own = OwnLinks(0, {})
    own.change({"B": 1}, 1.0)
    own.change({"B": 1, "C": 1}, 1.01)
    assert (own.due, own.announced) == (1.02, {})
    own.announce(1.02)
    assert (own.ls_seq, own.announced, own.due) == (1, {"B": 1, "C": 1}, inf)
    own.change({"B": 1}, 2.0)
    assert own.due == 2.0
    own.announce(2.0)
    own.change({"B": 5}, 3.0)
    assert own.due == 3.0
    own.announce(3.0)
    own.change({"B": 2}, 4.0)
    assert (own.due, own.ls_seq) == (4.02, 3)


def test_links_that_are_again_as_they_were_announced_are_not_announced():
    own = OwnLinks(4, {"B": 1})
    own.change({"B": 1, "C": 1}, 1.0)
    own.change({"B": 1}, 1.01)
    assert own.due == inf


def test_a_few_losses_are_announced_at_once_and_more_four_times_a_second():
    own = OwnLinks(0, {str(number): 1 for number in range(9)})
    due = []
    now = 1.0
    for left in range(8, 0, -1):
        own.change({str(number): 1 for number in range(left)}, now)
        due.append(own.due)
        now = own.due
        own.announce(now)
    assert due == [1.0, 1.0, 1.0, 1.0, 1.25, 1.5, 1.75, 2.0]
