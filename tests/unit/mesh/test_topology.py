"""Paths: when they are computed, and what is told of them."""

from math import inf

from routerd.mesh import Route, Routes
from routerd.mesh.topology import Topology

TRUNKS = {"B": (7, 9)}


def line(length, version=0):
    """Return the topology of A, B1, B2, ... in a line, as B1, which is small up to 64 routers."""
    topology = Topology("B1", version)
    topology.set_links("B1", {"A": 1, "B2": 1})
    for number in range(2, length + 1):
        topology.set_links(
            f"B{number}", {f"B{number - 1}": 1, f"B{number + 1}": 1} if number < length else {f"B{number - 1}": 1}
        )
    topology.set_links("A", {"B1": 1})
    topology.compute(1.0, length, {"A": (1,), "B2": (2,)})
    return topology


def origins(topology, now):
    """Compute the paths of others; return how many calls it took."""
    for calls in range(1, 100):
        if topology.compute_origins(now):
            return calls
    return None


def test_routes_have_the_trunk_in_use_to_the_next_hop():
    topology = Topology("A", 5)
    topology.set_links("A", {"B": 2})
    topology.set_links("B", {"A": 2, "C": 3})
    topology.set_links("C", {"B": 3})
    assert topology.compute(1.0, 2, TRUNKS) is True
    nodes = {"B": Route("B", "B", 7, 2, 1), "C": Route("C", "B", 7, 5, 2)}
    assert topology.routes == Routes(6, 2, nodes, TRUNKS)
    assert topology.ways == (("0/B", 7),)


def test_routes_are_told_when_they_change_and_at_first():
    topology = Topology("A")
    assert topology.compute(1.0, 0, {}) is True
    assert topology.compute(1.0, 0, {}) is False
    topology.set_links("A", {"B": 2})
    assert topology.compute(1.0, 1, TRUNKS) is True
    topology.set_links("B", {"A": 2})
    assert topology.compute(1.0, 1, TRUNKS) is False
    assert topology.compute(1.0, 1, {"B": (9, 7)}) is True
    assert (topology.routes.version, topology.routes.nodes["B"].trunk) == (3, 9)
    topology.forget("B")
    topology.set_links("A", {})
    assert topology.compute(1.0, 0, {}) is True
    assert topology.routes == Routes(4, 0, {}, {})


def test_whose_paths_lead_through_us_is_told_when_it_changes_and_at_first():
    topology = line(3)
    assert topology.origins_due == 1.0
    assert topology.compute_origins(1.0) is True
    through = {"A": frozenset({"B2", "B3"}), "B2": frozenset({"A"}), "B3": frozenset({"A"})}
    assert (topology.through_us, topology.origins_version, topology.origins_due) == (through, 1, inf)
    assert topology.compute_origins(2.0) is False
    topology.set_links("B2", {"B1": 1})
    topology.set_links("B3", {})
    topology.compute(2.0, 3, {"A": (1,), "B2": (2,)})
    assert topology.compute_origins(2.0) is True
    assert topology.through_us == {"A": frozenset({"B2"}), "B2": frozenset({"A"})}


def test_whose_paths_lead_through_us_is_not_computed_all_the_time():
    topology = line(3)
    topology.compute_origins(1.0)
    topology.compute(1.01, 3, {"A": (1,), "B2": (2,)})
    assert topology.origins_due == 1.05


def test_a_small_mesh_is_computed_at_once():
    topology = line(64)
    topology.changed(1.001)
    assert (topology.is_small, topology.due, origins(topology, 1.0)) == (True, 1.001, 1)


def test_in_a_large_mesh_computations_wait_for_more_unless_they_are_urgent():
    topology = line(65)
    topology.changed(1.001)
    assert (topology.is_small, topology.due) == (False, 1.02)
    topology.changed(1.002, is_urgent=True)
    assert topology.due == 1.002
    topology.compute(5.0, 65, {"A": (1,), "B2": (2,)})
    topology.changed(6.0)
    assert topology.due == 6.0


def test_in_a_large_mesh_the_paths_of_others_are_computed_in_slices():
    topology = line(100)
    assert topology.compute_origins(1.0) is False
    assert topology.origins_due == 1.0
    assert origins(topology, 1.1) == 3
    assert len(topology.through_us) == 100
