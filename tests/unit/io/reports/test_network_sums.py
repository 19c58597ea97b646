"""What the routers of a network count of messages that pass several of them, by any kind of link."""

from typing import Any

import pytest

from routerd.core import LinkDirection, LinkRouteSettings
from routerd.io.reports.reports import Lag, WorkerHost, worker_row
from routerd.management import WorkerRow
from tests.routers import Client, message
from tests.unit.core.edge_routers import EdgeHost, EdgeMesh
from tests.unit.core.routed import Container

COUNT = 3


def sums(router: EdgeHost) -> tuple[int, int, int]:
    """What a router has counted as ingress, egress and transit."""
    rows = worker_rows(router)
    return (
        sum(row.entered("deliveries") for row in rows),
        sum(row.left("deliveries") for row in rows),
        sum(row.transit for row in rows),
    )


def worker_rows(router: EdgeHost) -> list[WorkerRow]:
    """The counters of a router's workers."""
    rows = []
    for number, worker in router.workers.items():
        steps = worker_row(worker.router, router.now, WorkerHost(f"connection.{number}", 0.0), Lag())
        while True:
            try:
                next(steps)
            except StopIteration as end:
                rows.append(end.value)
                break
    return rows


def outcomes(router: EdgeHost) -> dict[str, int]:
    """The outcomes that a router has counted for what came in, and what entered settled."""
    rows = worker_rows(router)
    found = {name: sum(row.came_in(name) for row in rows) for name in ("accepted", "rejected", "released", "modified")}
    found["presettled"] = sum(row.entered("presettled") for row in rows)
    return {name: number for name, number in found.items() if number}


def network(workers: int = 1) -> EdgeMesh:
    """I and J are joined, and E is an edge router at I."""
    mesh = EdgeMesh("I", "J", workers=workers)
    mesh.join("I", "J")
    mesh.hang("E", "I")
    mesh.pump()
    return mesh


def container_at(router: EdgeHost) -> Client:
    """A container for links of `lr`."""
    container: Client = router.client(len(router.workers) - 1, container_id="broker", kind=Container)
    for worker in router.workers.values():
        for name, direction in (("in", LinkDirection.IN), ("out", LinkDirection.OUT)):
            worker.router.link_routes.add(LinkRouteSettings(name=name, pattern="lr/#", direction=direction))
    for name in ("in", "out"):
        router[len(router.workers) - 1].router.link_routes.activated(name, container.peer)
    router.pump()
    return container


def pass_messages(
    mesh: EdgeMesh, producer: Client, sender: Any, consumer: Client, receiver: Any, settled: bool = False
) -> None:
    """Send messages that the consumer accepts."""
    for _ in range(COUNT):
        producer.send(sender, message(), settled=settled)
    if not settled:
        for delivery in list(consumer.unsettled[receiver.name]):
            delivery.accept()
    mesh.pump()


@pytest.mark.parametrize("workers", [1, 2])
def test_every_router_counts_the_outcomes_of_what_came_in(workers: int) -> None:
    mesh = network(workers)
    producer, consumer = mesh["I"].client(), mesh["J"].client()
    receiver = consumer.consumer("orders", credit=9)
    sender = producer.producer("orders")
    before = [sums(mesh[id]) for id in "IJ"]
    pass_messages(mesh, producer, sender, consumer, receiver)
    after = [sums(mesh[id]) for id in "IJ"]
    changes = [tuple(new - old for old, new in zip(*pair, strict=True)) for pair in zip(before, after, strict=True)]
    assert changes == [(COUNT, 0, COUNT), (0, COUNT, 0)]
    assert [outcomes(mesh[id])["accepted"] for id in "IJ"] == [COUNT, COUNT]


def test_what_comes_settled_from_another_interior_router_counts_only_where_it_entered() -> None:
    mesh = network()
    producer, consumer = mesh["I"].client(), mesh["J"].client()
    receiver = consumer.consumer("orders", credit=9)
    sender = producer.producer("orders")
    before = [outcomes(mesh[id]).get("presettled", 0) for id in "IJ"]
    pass_messages(mesh, producer, sender, consumer, receiver, settled=True)
    after = [outcomes(mesh[id]).get("presettled", 0) for id in "IJ"]
    assert [new - old for old, new in zip(before, after, strict=True)] == [COUNT, 0]


@pytest.mark.parametrize(("start", "end"), [("E", "I"), ("I", "E")])
def test_the_links_of_an_edge_router_count_like_those_of_clients(start: str, end: str) -> None:
    mesh = network()
    producer, consumer = mesh[start].client(), mesh[end].client()
    receiver = consumer.consumer("orders", credit=9)
    sender = producer.producer("orders")
    before = [sums(mesh[id]) for id in "EI"]
    pass_messages(mesh, producer, sender, consumer, receiver)
    after = [sums(mesh[id]) for id in "EI"]
    changes = [tuple(new - old for old, new in zip(*pair, strict=True)) for pair in zip(before, after, strict=True)]
    assert changes == [(COUNT, COUNT, 0)] * 2
    passed = [mesh[id].router.addresses["M0orders"] for id in "EI"]
    assert [(one.ingress, one.egress, one.transit) for one in passed] == [(COUNT, COUNT, 0)] * 2


@pytest.mark.parametrize("workers", [1, 2])
def test_routed_links_count_in_all_routers_and_transit_on_the_way_to_the_container(workers: int) -> None:
    mesh = network(workers)
    broker = container_at(mesh["J"])
    client = mesh["I"].client()
    before = [sums(mesh[id]) for id in "IJ"]
    sender = client.producer("lr.q")
    there = broker.latest_link  # type: ignore[attr-defined]
    there.grant(9)
    mesh.pump()
    pass_messages(mesh, client, sender, broker, there)
    receiver = client.consumer("lr.q", credit=9)
    back = broker.latest_link  # type: ignore[attr-defined]
    pass_messages(mesh, broker, back, client, receiver)
    after = [sums(mesh[id]) for id in "IJ"]
    changes = [tuple(new - old for old, new in zip(*pair, strict=True)) for pair in zip(before, after, strict=True)]
    # From the client by I and J to the container, and back by J and I.
    assert changes == [(2 * COUNT, COUNT, COUNT)] * 2
    assert [outcomes(mesh[id])["accepted"] for id in "IJ"] == [2 * COUNT] * 2
    client.leave()
    assert [sums(mesh[id]) for id in "IJ"] == after
