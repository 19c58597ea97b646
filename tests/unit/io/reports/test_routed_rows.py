"""What a worker reports of routed links and link routes."""

import pytest

from routerd.core import LinkDirection
from routerd.io.reports.reports import Lag, WorkerHost, address_rows, link_rows, worker_row
from routerd.management import LinkRow
from routerd.management.agent.traffic_columns import address_sums, halves_joined
from routerd.wire import Coordinator, Source, Symbol
from tests.routers import Workers, message
from tests.unit.core.routed import Routed


@pytest.fixture
def routed() -> Routed:
    return Routed()


def rows(workers: Workers, worker: int = 0) -> list[LinkRow]:
    """The rows of the links of a worker."""
    return list(link_rows(workers[worker].router, workers.now))


def halves(routed: Routed) -> tuple[LinkRow, LinkRow]:
    """The rows of the only routed link, that of the client first."""
    near, far = rows(routed.workers)
    return near, far


def test_both_halves_have_a_row_and_know_each_other(routed: Routed) -> None:
    link, _ = routed.consumer("lr.q", credit=7)
    near, far = halves(routed)
    assert (near.name, far.name) == (link.name, f"{link.name}@c1")
    assert (near.peer, far.peer) == (far.link, near.link)
    assert (near.connection, far.connection) == (routed.client.peer.number, routed.container.peer.number)
    assert (near.address, far.address) == ("M0lr.q", "M0lr.q")
    assert (near.kind, far.kind, near.priority, far.priority) == ("endpoint", "endpoint", 4, 4)
    assert (near.is_outgoing, far.is_outgoing) == (True, False)
    assert (near.capacity, far.capacity) == (250, 0)
    assert (near.credit, far.credit) == (7, 7)
    assert (near.is_up, far.is_up) == (True, True)


def test_a_half_is_down_until_the_container_has_answered(routed: Routed) -> None:
    routed.container.answers_links = False
    routed.consumer()
    assert [row.is_up for row in rows(routed.workers)] == [False, False]
    routed.container.answer(routed.container.latest_link)
    routed.pump()
    assert [row.is_up for row in rows(routed.workers)] == [True, True]


def test_rows_go_with_the_link(routed: Routed) -> None:
    link, _ = routed.consumer()
    routed.client.detach(link)
    assert rows(routed.workers) == []


def test_a_coordinator_has_no_address(routed: Routed) -> None:
    routed.add("transactions", "$coordinator", LinkDirection.IN)
    routed.activate(routed.container, "transactions")
    routed.client.producer(None, target=Coordinator())
    assert [row.address for row in halves(routed)] == [None, None]


def test_a_node_that_is_still_to_be_made_has_no_address(routed: Routed) -> None:
    properties = {Symbol("x-opt-qd.address"): "lr.x"}
    routed.client.consumer(None, source=Source(dynamic=True, dynamic_node_properties=properties))
    assert [row.address for row in halves(routed)] == [None, None]


def test_deliveries_and_outcomes_are_counted_on_both_halves(routed: Routed) -> None:
    sender, far = routed.producer(credit=10)
    for number in range(3):
        routed.client.send(sender, message(str(number)), settled=number == 2)
    routed.container.unsettled[far.name][0].accept()
    routed.pump()
    for row in halves(routed):
        assert (row.deliveries, row.presettled, row.accepted, row.unsettled, row.credit) == (3, 1, 1, 1, 7)


def test_a_sender_without_credit_is_blocked_on_both_halves(routed: Routed) -> None:
    sender, far = routed.producer()
    routed.pump(3.0)
    assert [row.zero_credit_s for row in halves(routed)] == [3.0, 3.0]
    far.grant(1)
    routed.pump(2.0)
    assert [row.zero_credit_s for row in halves(routed)] == [0.0, 0.0]
    routed.client.send(sender, message())
    routed.pump(5.0)
    assert [row.zero_credit_s for row in halves(routed)] == [5.0, 5.0]


def test_credit_that_is_taken_back_is_missed_from_then_on(routed: Routed) -> None:
    link, _ = routed.consumer(credit=3)
    routed.pump(2.0)
    link.set_credit(0)
    routed.pump()
    routed.pump(4.0)
    assert [row.zero_credit_s for row in halves(routed)] == [4.0, 4.0]


def test_the_worker_counts_what_passes_once_each_way(routed: Routed) -> None:
    sender, _ = routed.producer(credit=10)
    routed.client.send(sender, message(), settled=True)
    steps = worker_row(routed.router, routed.workers.now, WorkerHost("connection.0", 0.0), Lag())
    while True:
        try:
            next(steps)
        except StopIteration as end:
            found = end.value
            break
    assert (found.ingress["deliveries"], found.egress["deliveries"], found.links) == (1, 1, 2)


def test_halves_at_two_workers_are_each_others_peers() -> None:
    routed = Routed(2, client=0, at=1)
    routed.consumer("lr.q")
    everything = rows(routed.workers, 0) + rows(routed.workers, 1)
    assert len(everything) == 4
    near, far = halves_joined(everything)
    assert (near.connection, far.connection) == (routed.client.peer.number, routed.container.peer.number)
    assert (near.peer, far.peer) == (far.link, near.link)


def containers(workers: Workers) -> dict[str, tuple[str, int]]:
    """Of each direction of link routes, what the rows of its addresses say."""
    found = [row for worker in workers.workers for row in address_rows(workers[worker].router, workers.now)]
    return {row.key: (row.distribution, row.containers) for row in address_sums(found) if row.key[0] in "CD"}


def test_a_link_route_has_the_row_of_an_address_with_its_containers() -> None:
    routed = Routed(2, client=0, at=1)
    another = routed.workers.client(0, container_id="broker")
    assert containers(routed.workers) == {"Clr": ("linkBalanced", 1), "Dlr": ("linkBalanced", 1)}
    routed.activate(another, "in")
    assert containers(routed.workers) == {"Clr": ("linkBalanced", 2), "Dlr": ("linkBalanced", 1)}
    routed.deactivate(another, "in")
    routed.deactivate(routed.container)
    assert containers(routed.workers) == {"Clr": ("linkBalanced", 0), "Dlr": ("linkBalanced", 0)}
