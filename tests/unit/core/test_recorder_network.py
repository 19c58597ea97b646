"""What is recorded of messages that pass several routers, and of the network itself."""

import pytest

from routerd.core import NetworkNews
from tests.routers import message
from tests.unit.core.joined_routers import Mesh, mapped, neighbour, routes, to_router
from tests.unit.core.recorder_rows import OFFSET, decision_rows, event_rows, flow_rows, record, take


def rows(joined, worker=0):
    return decision_rows(take(joined[worker].router))


def row_of(row, *names):
    return tuple(row[name] for name in names)


def test_each_router_on_the_way_records_its_own_decision():
    mesh = Mesh("A", "B", "C")
    mesh.join("A", "B", 3)
    mesh.join("B", "C", 5)
    for id in "ABC":
        record(mesh[id].router)
    client, other = mesh["A"].client(), mesh["C"].client()
    consumer = other.consumer("orders", "sink", credit=5)
    client.send(client.producer("orders", "source"), message())
    other.latest(consumer).accept()
    mesh.pump()
    names = "ingress", "ingress_kind", "path", "hop", "candidates", "choice", "egress", "egress_router", "outcome"
    found = {id: [row_of(row, *names) for row in rows(mesh[id])] for id in "ABC"}
    assert found == {
        "A": [("client-1/source", "client", None, 0, [("trunk/B", 8, 0)], 0, "trunk/B", "B", "accepted")],
        "B": [("trunk/A", "trunk", "A/B", 1, [("trunk/C", 5, 0)], 0, "trunk/C", "C", "accepted")],
        "C": [("trunk/B", "trunk", "A/B/C", 2, [("client-1/sink", 0, 0)], 0, "client-1/sink", "C", "accepted")],
    }


def test_flows_say_where_their_messages_entered_the_network():
    mesh = Mesh("A", "B", "C")
    mesh.join("A", "B")
    mesh.join("C", "B")
    record(mesh["B"].router, every=0)
    consumer = mesh["B"].client()
    consumer.consumer("orders", "sink", credit=50)
    for id, count in (("A", 2), ("C", 3), ("B", 4)):
        client = mesh[id].client()
        sender = client.producer("orders")
        for _ in range(count):
            client.send(sender, message(), settled=True)
    found = flow_rows(take(mesh["B"].router))
    assert [row_of(row, "origin", "ingress", "egress", "messages") for row in found] == [
        ("A", "trunk/A", "client-1/sink", 2),
        ("C", "trunk/C", "client-1/sink", 3),
        ("B", "client-2/producer-1", "client-1/sink", 4),
    ]


def test_a_consumer_here_and_a_way_are_compared():
    mesh = Mesh("A", "B")
    mesh.join("A", "B", 2)
    record(mesh["A"].router)
    here, there = mesh["A"].client(), mesh["B"].client()
    here.consumer("orders", "near", credit=50)
    there.consumer("orders", "far", credit=50)
    sender = here.producer("orders")
    for _ in range(4):
        here.send(sender, message())
    assert rows(mesh["A"]) == []
    for delivery in here.unsettled["near"]:
        delivery.accept()
    for delivery in there.unsettled["far"]:
        delivery.release()
    mesh.pump()
    assert [row_of(row, "candidates", "choice", "outcome") for row in rows(mesh["A"])] == [
        ([("client-1/near", 0, 0), ("trunk/B", 2, 0)], 0, "accepted"),
        ([("client-1/near", 0, 1), ("trunk/B", 2, 0)], 0, "accepted"),
        ([("client-1/near", 0, 2), ("trunk/B", 2, 0)], 0, "accepted"),
        ([("client-1/near", 0, 3), ("trunk/B", 2, 0)], 1, "released"),
    ]


@pytest.mark.parametrize(("settled", "outcome"), [(False, "modified"), (True, "presettled")])
def test_a_lost_trunk_leaves_the_outcome_open(settled, outcome):
    mesh = Mesh("A", "B")
    trunk = mesh.join("A", "B")
    record(mesh["A"].router)
    client, other = mesh["A"].client(), mesh["B"].client()
    other.consumer("orders", credit=5)
    client.send(client.producer("orders"), message(), settled=settled)
    trunk.cut()
    [row] = rows(mesh["A"])
    assert row_of(row, "egress", "outcome", "cause") == ("trunk/B", outcome, None if settled else "trunk-lost")


def test_a_message_that_has_been_here_before_is_in_a_loop():
    mesh = Mesh("R")
    far = neighbour(mesh["R"]).attach()
    record(mesh["R"].router)
    mesh["R"].client().consumer("orders", credit=5)
    far.pass_on(to_router(annotations={"to": "orders", "ingress": "0/X", "trace": ["0/X", "0/R", "0/N"]}))
    [row] = rows(mesh["R"])
    assert row_of(row, "path", "hop", "outcome", "cause") == ("X/R/N/R", 3, "released", "loop")


def test_what_another_router_sends_to_nobody_is_recorded():
    mesh = Mesh("R")
    far = neighbour(mesh["R"]).attach()
    record(mesh["R"].router)
    annotations = {"ingress": "0/N", "trace": ["0/N"]}
    far.pass_on(to_router(annotations=annotations | {"to": "_topo/0/elsewhere/x"}))
    far.pass_on(to_router(annotations=annotations))
    far.pass_on(to_router(annotations=annotations | {"trace": "wrong"}))
    far.pass_on(bytes.fromhex("005372c00101"))
    far.pass_on(to_router(annotations=annotations | {"to": "nowhere"}))
    mesh["R"].let_pass(2)
    found = [row_of(row, "address", "outcome", "cause") for row in rows(mesh["R"])]
    assert found == [
        ("_topo/0/elsewhere/x", "released", "no-consumer"),
        ("", "rejected", None),
        ("", "rejected", None),
        ("", "rejected", None),
        ("nowhere", "released", "no-consumer"),
    ]


def test_a_message_may_not_go_back_where_it_came_from():
    mesh = Mesh("R")
    far = neighbour(mesh["R"]).attach()
    record(mesh["R"].router)
    mesh["R"].tell(routes=routes((far, {"N": 1})), radius=1, mapped=mapped(N=("M0orders",)))
    mesh["R"].client().producer("orders")
    far.pass_on(to_router(annotations={"to": "orders", "ingress": "0/N", "trace": ["0/N"]}))
    [row] = rows(mesh["R"])
    assert row_of(row, "candidates", "outcome", "cause") == ([], "released", "no-route")


def test_settled_messages_of_routers_that_a_lagging_consumer_misses_are_recorded():
    mesh = Mesh("R")
    far = neighbour(mesh["R"], capacity=2).attach(pairs=1)
    record(mesh["R"].router)
    mesh["R"].client().consumer("orders")
    octets = to_router(body="x" * (1 << 21), annotations={"to": "orders", "ingress": "0/N", "trace": ["0/N"]})
    for _ in range(3):
        far.data_out[0].send(octets, settled=True)
        mesh.pump()
    [row] = rows(mesh["R"])
    assert row_of(row, "ingress", "outcome", "cause") == ("trunk/N", "dropped", "too-many-wait")


@pytest.mark.parametrize("credit", [5, 0])
@pytest.mark.parametrize("address", ["orders", "multicast/a"])
def test_a_sibling_knows_where_what_it_delivers_has_come_from(address, credit):
    mesh = Mesh("R", workers=2)
    joined = mesh["R"]
    far = neighbour(joined, worker=0).attach()
    joined.tell(routes=routes((far, {"N": 1, "O": 2})), radius=2)
    for index in (0, 1):
        record(joined[index].router)
    consumer = joined.client(1).consumer(address, "sink", credit=credit)
    annotations = {"to": address, "ingress": "0/O", "trace": ["0/O", "0/N"]}
    for _ in range(2):
        far.pass_on(to_router(annotations=annotations), settled=True)
    if not credit:
        consumer.grant(5)
        mesh.pump()
    records = take(joined[1].router)
    assert [row_of(row, "ingress", "path", "hop", "egress") for row in decision_rows(records)] == [
        ("sibling/0", "O/N/R", 2, "client-1/sink")
    ] * 2
    assert [(row["origin"], row["messages"]) for row in flow_rows(records)] == [("O", 2)]


@pytest.mark.parametrize("settled", [True, False])
def test_a_sibling_knows_it_of_each_of_those_that_come_together(settled):
    mesh = Mesh("R", workers=2)
    joined = mesh["R"]
    far = neighbour(joined, worker=0).attach()
    joined.tell(routes=routes((far, {"N": 1, "O": 2})), radius=2)
    for index in (0, 1):
        record(joined[index].router)
    # Else nothing with annotations would go together anyway.
    joined.client(1, peer={"strips_out": False}).consumer("orders", "sink", credit=20)
    paths = ["O/N/R", "O/N/R", "N/R", "O/N/R", "N/R", "N/R"]
    for path in paths:
        trace = [f"0/{router}" for router in path.split("/")[:-1]]
        octets = to_router(annotations={"to": "orders", "ingress": trace[0], "trace": trace})
        far.data_out[4].send(octets, settled=settled)
    mesh.pump()
    records = take(joined[1].router)
    if settled:
        assert [row["path"] for row in decision_rows(records)] == paths
    assert {row["origin"]: row["messages"] for row in flow_rows(records)} == {"O": 3, "N": 3}


def test_a_relay_records_nothing():
    mesh = Mesh("R", workers=2)
    joined = mesh["R"]
    far = neighbour(joined, worker=1).attach()
    joined.tell(routes=routes((far, {"P": 1})), radius=1, mapped=mapped(P=("M0orders",)))
    for index in (0, 1):
        record(joined[index].router)
    client = joined.client(0)
    client.send(client.producer("orders", "source"), message())
    far.settle_all()
    found = {index: rows(joined, index) for index in (0, 1)}
    assert found[1] == []
    [row] = found[0]
    assert row_of(row, "candidates", "egress", "egress_kind", "egress_router", "outcome") == (
        [("trunk/N", 1, 0)],
        "trunk/N",
        "trunk",
        "N",
        "accepted",
    )


def test_copies_take_the_ways_to_other_routers():
    mesh = Mesh("A", "B")
    mesh.join("A", "B")
    record(mesh["A"].router)
    record(mesh["B"].router)
    here, there = mesh["A"].client(), mesh["B"].client()
    here.consumer("multicast/a", "near", credit=5)
    there.consumer("multicast/a", "far", credit=5)
    here.send(here.producer("multicast/a"), message(), settled=True)
    found = [row_of(row, "path", "candidates", "egress") for id in "AB" for row in rows(mesh[id])]
    assert found == [
        (None, [("client-1/near", 0, 0)], "client-1/near"),
        (None, [("trunk/B", 1, 0)], "trunk/B"),
        ("A/B", [("client-1/far", 0, 0)], "client-1/far"),
    ]


def test_copies_that_wait_for_a_lost_way_are_released():
    mesh = Mesh("R")
    far = neighbour(mesh["R"]).attach(credit=0)
    record(mesh["R"].router)
    mesh["R"].tell(routes=routes((far, {"N": 1})), radius=1, mapped=mapped(N=("M0multicast/a",)))
    client = mesh["R"].client(peer={"capacity": 1})
    sender = client.producer("multicast/a")
    client.send(sender, message())
    client.another_session()
    mesh["R"].tell(routes={}, forgotten=("N",))
    mesh.pump()
    assert [row_of(row, "egress", "outcome", "cause") for row in rows(mesh["R"])] == [
        (None, "released", "no-route")
    ]


# --- the network


def test_a_router_that_comes_and_goes_is_told_of():
    mesh = Mesh("R", workers=2)
    joined = mesh["R"]
    for index in (0, 1):
        record(joined[index].router, is_witness=index == 0)
    far = neighbour(joined, worker=1).attach()
    joined.tell(routes=routes((far, {"P": 1})), radius=1, link_state={"P": 1})
    joined.tell(routes=routes((far, {"P": 2, "Q": 5})), radius=2, link_state={"P": 2})
    joined.tell(routes={}, radius=0, link_state={})
    found = [event for event in event_rows(take(joined[0].router)) if event["kind"] != "link-attached"]
    trunk = {"link": "trunk/P", "link_kind": "trunk", "peer": "P"}
    assert found == [
        {"kind": "trunk-up", "cost": 1} | trunk,
        {"kind": "link-state", "costs": {"P": 1}},
        {"kind": "router-reached", "peer": "P", "cost": 1},
        {"kind": "link-state", "costs": {"P": 2}},
        {"kind": "route-changed", "peer": "P", "cost": 2, "detail": "N"},
        {"kind": "router-reached", "peer": "Q", "cost": 5},
        {"kind": "trunk-lost"} | trunk,
        {"kind": "link-state", "costs": {}},
        {"kind": "router-lost", "peer": "P"},
        {"kind": "router-lost", "peer": "Q"},
        {"kind": "link-state", "costs": {}},
    ]
    assert event_rows(take(joined[1].router)) == []


def test_news_that_change_nothing_are_no_events():
    mesh = Mesh("R")
    record(mesh["R"].router)
    take(mesh["R"].router)
    mesh["R"].router.routes.apply_network(NetworkNews((2, 0), is_full=True, routes={}, link_state={}))
    assert event_rows(take(mesh["R"].router)) == []


def test_events_have_the_time_of_the_world():
    mesh = Mesh("R")
    router = mesh["R"].router
    record(router)
    [event] = take(router).events
    assert event.time_us == round((router.now + OFFSET) * 1e6)


