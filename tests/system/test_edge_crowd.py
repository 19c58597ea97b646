"""Many edge routers at one interior router: all come, are reached and go, and none costs more for the others."""

import asyncio

import pytest

from bench.mesh import edges
from bench.mesh.edge_crowd import EdgeCrowd
from bench.router_process import RouterProcess

COST_MAX = 3.0
"""How much more of the router's time each of many edges may take than each of a few."""


def test_a_crowd_of_edges_is_reached_edge_by_edge() -> None:
    async def crowd(router: RouterProcess) -> tuple[list[int], bool]:
        crowd = EdgeCrowd(router.places["edges"])
        await crowd.join(150)
        await crowd.reach(router.place)
        received = [edge.received for edge in crowd.edges]
        await crowd.leave()
        return received, any(edge.is_open for edge in crowd.edges)

    with RouterProcess(edges.FORM, configuration=edges.CONFIGURATION) as router:
        assert asyncio.run(crowd(router)) == ([1] * 150, False)


@pytest.mark.soak
def test_each_of_two_thousand_edges_costs_hardly_more_than_each_of_a_few() -> None:
    few, many = ({row.case: row.value for row in edges.rows(count)} for count in (300, 2000))
    assert many["2000 edges: CPU for one that comes"] <= COST_MAX * few["300 edges: CPU for one that comes"]
