"""What runs now is shown with the columns, numbers and sentences that tools know."""

from typing import Any

import pytest

from routerd.core import RouterMode, RouterSettings
from routerd.management import ENTITY_TYPES
from routerd.wire import Array, Int, Symbol, UInt, ULong
from tests.unit.management.fake_router import (
    SECTIONS,
    Client,
    FakeRouter,
    address,
    client_of,
    connection,
    counters,
    link,
    node,
    refusal,
    worker,
)

COLUMNS = {
    "router": "name identity id type mode area version metadata addrCount linkCount nodeCount linkRouteCount"
    " autoLinkCount connectionCount presettledDeliveries droppedPresettledDeliveries acceptedDeliveries"
    " rejectedDeliveries releasedDeliveries modifiedDeliveries deliveriesDelayed1Sec deliveriesDelayed10Sec"
    " deliveriesStuck deliveriesIngress deliveriesEgress deliveriesTransit deliveriesIngressRouteContainer"
    " deliveriesEgressRouteContainer deliveriesRedirectedToFallback linksBlocked uptimeSeconds memoryUsage"
    " workerThreads",
    "connection": "name identity host role protocol dir container sasl isAuthenticated user isEncrypted sslProto"
    " sslCipher properties sslSsf tenant type ssl opened active adminStatus operStatus uptimeSeconds lastDlvSeconds"
    " enableProtocolTrace",
    "router.link": "name identity type linkName linkType linkDir owningAddr capacity peer undeliveredCount"
    " unsettledCount deliveryCount connectionId adminStatus operStatus presettledCount droppedPresettledCount"
    " acceptedCount rejectedCount releasedCount modifiedCount deliveriesDelayed1Sec deliveriesDelayed10Sec"
    " deliveriesStuck ingressHistogram priority settleRate creditAvailable zeroCreditSeconds abortedCount",
    "router.address": "name identity type key distribution inProcess subscriberCount remoteCount containerCount"
    " remoteHostRouters deliveriesIngress deliveriesEgress deliveriesTransit deliveriesToContainer"
    " deliveriesFromContainer deliveriesEgressRouteContainer deliveriesIngressRouteContainer transitOutstanding"
    " trackedDeliveries priority deliveriesRedirectedToFallback",
    "router.config.address": "name identity type prefix distribution waypoint ingressPhase egressPhase pattern"
    " priority fallback resendReleased delivery maxUnsettled maxUnsettledOctets subscriptionTimeout",
    "router.config.linkRoute": "name identity type prefix distribution connection containerId direction dir"
    " operStatus pattern addExternalPrefix delExternalPrefix",
    "router.config.autoLink": "name identity type address addr direction dir phase connection containerId"
    " externalAddress externalAddr linkRef operStatus lastError fallback",
    "router.config.exchange": "name identity address phase alternateAddress alternatePhase matchMethod bindingCount"
    " receivedCount droppedCount forwardedCount divertedCount",
    "router.config.binding": "name identity exchangeName bindingKey nextHopAddress nextHopPhase matchedCount",
    "router.connection.linkRoute": "name identity type pattern direction containerId",
}


def typed(row: dict[str, Any]) -> dict[str, tuple[type, Any]]:
    """Return values with their types, since 1 of one AMQP type equals 1 of another."""
    return {name: (type(value), value) for name, value in row.items()}


def only_row(client: Client, entity_type: str) -> dict[str, Any]:
    body = client.query(entity_type).body
    [row] = body["results"]
    return dict(zip(body["attributeNames"], row, strict=True))


@pytest.mark.parametrize("name", COLUMNS)
def test_a_query_without_names_has_the_columns_of_the_live_view(name: str) -> None:
    assert client_of().query(f"P.{name}").body["attributeNames"] == COLUMNS[name].split()


@pytest.mark.parametrize("name", list(COLUMNS)[5:])
def test_there_is_nothing_of_the_types_that_are_not_supported_yet(name: str) -> None:
    client = client_of()
    assert client.query(f"P.{name}").body["results"] == []
    assert refusal(client.ask("READ", type=f"P.{name}", identity="1")) == (404, "Not Found")
    assert refusal(client.ask("DELETE", type=f"P.{name}", name="x")) == (404, "Not Found")


def test_what_is_configured_with_a_number_is_shown_and_ends() -> None:
    route = {"prefix": "b", "direction": "in", "containerId": "broker"}
    client = client_of(("address", {"prefix": "a"}), ("linkRoute", {"name": "r", **route}))
    name = "P.router.config.linkRoute"
    told = only_row(client, name)
    assert told == dict.fromkeys(told) | route | {
        "name": "r",
        "identity": "2",
        "type": "org.apache.qpid.dispatch.router.config.linkRoute",
        "dir": "in",
        "distribution": "linkBalanced",
        "operStatus": "inactive",
    }
    assert client.ask("READ", type=name, name="r").body == told
    assert refusal(client.ask("DELETE", type=name, identity="2")) == (204, "No Content")
    assert client.query(name).body["results"] == []


def test_the_router_is_shown_with_the_sums_of_its_workers() -> None:
    router = FakeRouter()
    router.worker_rows = [
        worker(
            0,
            connections=2,
            links=5,
            addresses=4,
            stuck=1,
            links_blocked=2,
            memory_octets=1000,
            dropped_presettled=2,
            ingress=counters(
                deliveries=9,
                presettled=1,
                dropped_presettled=1,
                accepted=3,
                rejected=4,
                released=5,
                modified=6,
                delayed_1s=7,
                delayed_10s=8,
            ),
            egress=counters(deliveries=20),
            inner_in=counters(deliveries=99),
            fabric_in=counters(deliveries=99),
        ),
        worker(
            1,
            connections=1,
            links=2,
            addresses=3,
            memory_octets=2000,
            ingress=counters(deliveries=5_000_000_000),
            egress=counters(deliveries=1),
        ),
    ]
    router.address_rows = [address("M0a"), address("M0b"), address("M0a", worker=1)]
    assert typed(only_row(Client(router), "P.router")) == typed(
        {
            "name": "R1",
            "identity": "1",
            "id": "R1",
            "type": "org.apache.qpid.dispatch.router",
            "mode": "standalone",
            "area": "0",
            "version": "0.1.0",
            "metadata": "rack 4",
            "addrCount": ULong(2),
            "linkCount": ULong(7),
            "nodeCount": ULong(0),
            "linkRouteCount": ULong(0),
            "autoLinkCount": ULong(0),
            "connectionCount": ULong(3),
            "presettledDeliveries": ULong(2),
            "droppedPresettledDeliveries": ULong(2),
            "acceptedDeliveries": ULong(3),
            "rejectedDeliveries": ULong(4),
            "releasedDeliveries": ULong(5),
            "modifiedDeliveries": ULong(6),
            "deliveriesDelayed1Sec": ULong(7),
            "deliveriesDelayed10Sec": ULong(8),
            "deliveriesStuck": ULong(1),
            "deliveriesIngress": ULong(5_000_000_009),
            "deliveriesEgress": ULong(21),
            "deliveriesTransit": ULong(0),
            "deliveriesIngressRouteContainer": ULong(0),
            "deliveriesEgressRouteContainer": ULong(0),
            "deliveriesRedirectedToFallback": ULong(0),
            "linksBlocked": UInt(2),
            "uptimeSeconds": UInt(100),
            "memoryUsage": ULong(3000),
            "workerThreads": Int(4),
        }
    )


def test_the_memory_of_a_process_with_several_workers_counts_once() -> None:
    router = FakeRouter()
    router.worker_rows = [worker(0, pid=7, memory_octets=1000), worker(1, pid=7, memory_octets=1001)]
    assert Client(router).rows("P.router", "memoryUsage") == [[1001]]


def test_the_addresses_of_several_workers_are_gathered_only_to_count_them() -> None:
    router = FakeRouter()
    router.worker_rows = [worker(0, addresses=3), worker(1)]
    client = Client(router)
    client.rows("P.router", "id")
    assert router.asked == ["workers"]
    client.rows("P.router", "addrCount")
    assert router.asked == ["workers", "workers", "addresses"]


def test_a_worker_by_itself_has_counted_the_addresses() -> None:
    router = FakeRouter()
    router.worker_rows = [worker(0, addresses=3)]
    assert Client(router).rows("P.router", "addrCount") == [[3]]
    assert router.asked == ["workers"]


def test_a_connection_is_shown() -> None:
    router = FakeRouter()
    router.connection_rows = [
        connection(
            7,
            mechanism="PLAIN",
            user="ann",
            tenant="blue",
            is_traced=True,
            last_delivery_s=3.9,
            properties={
                Symbol("product"): "rhea",
                "count": 5,
                "yes": True,
                "nothing": None,
                "list": [1],
                5: "odd",
            },
        )
    ]
    assert typed(only_row(Client(router), "P.connection")) == typed(
        {
            "name": "connection/127.0.0.1:40007",
            "identity": "7",
            "host": "127.0.0.1:40007",
            "role": "normal",
            "protocol": "amqp",
            "dir": "in",
            "container": "client-7",
            "sasl": "PLAIN",
            "isAuthenticated": True,
            "user": "ann",
            "isEncrypted": False,
            "sslProto": None,
            "sslCipher": None,
            "properties": {Symbol("product"): "rhea", "count": 5},
            "sslSsf": 0,
            "tenant": "blue/",
            "type": "org.apache.qpid.dispatch.connection",
            "ssl": False,
            "opened": True,
            "active": True,
            "adminStatus": "enabled",
            "operStatus": "up",
            "uptimeSeconds": UInt(90),
            "lastDlvSeconds": UInt(3),
            "enableProtocolTrace": True,
        }
    )


def test_a_connection_says_how_its_peer_went_through_sasl() -> None:
    router = FakeRouter()
    router.connection_rows = [
        connection(1),
        connection(2, mechanism="ANONYMOUS", is_incoming=False),
        connection(3, mechanism="ANONYMOUS", user="anonymous"),
    ]
    columns = ("sasl", "isAuthenticated", "user", "dir", "tenant", "lastDlvSeconds")
    assert Client(router).rows("P.connection", *columns) == [
        [None, False, "anonymous", "in", None, None],
        ["ANONYMOUS", True, None, "out", None, None],
        ["ANONYMOUS", True, "anonymous", "in", None, None],
    ]


def test_a_link_is_shown() -> None:
    router = FakeRouter()
    router.link_rows = [
        link(
            12,
            connection=7,
            is_outgoing=True,
            credit=9,
            unsettled=1,
            undelivered=2,
            deliveries=21,
            presettled=1,
            dropped_presettled=2,
            accepted=3,
            rejected=4,
            released=5,
            modified=6,
            delayed_1s=7,
            delayed_10s=8,
            stuck=9,
            settle_rate=10,
            zero_credit_s=11.5,
            aborted=12,
        )
    ]
    assert typed(only_row(Client(router), "P.router.link")) == typed(
        {
            "name": "link-12",
            "identity": "12",
            "type": "org.apache.qpid.dispatch.router.link",
            "linkName": "link-12",
            "linkType": "endpoint",
            "linkDir": "out",
            "owningAddr": "M0orders",
            "capacity": UInt(250),
            "peer": None,
            "undeliveredCount": ULong(2),
            "unsettledCount": ULong(1),
            "deliveryCount": ULong(21),
            "connectionId": "7",
            "adminStatus": "enabled",
            "operStatus": "up",
            "presettledCount": ULong(3),
            "droppedPresettledCount": ULong(2),
            "acceptedCount": ULong(3),
            "rejectedCount": ULong(4),
            "releasedCount": ULong(5),
            "modifiedCount": ULong(6),
            "deliveriesDelayed1Sec": ULong(7),
            "deliveriesDelayed10Sec": ULong(8),
            "deliveriesStuck": ULong(9),
            "ingressHistogram": [ULong(19), *[ULong(0)] * 127],
            "priority": UInt(4),
            "settleRate": UInt(10),
            "creditAvailable": UInt(9),
            "zeroCreditSeconds": UInt(11),
            "abortedCount": ULong(12),
        }
    )


def test_a_half_of_a_routed_link_names_the_other_and_is_down_until_it_is_answered() -> None:
    router = FakeRouter()
    router.link_rows = [link(1, peer=2), link(2, peer=1, is_up=False), link(3)]
    columns = ("identity", "peer", "operStatus")
    assert Client(router).rows("P.router.link", *columns) == [["1", "2", "up"], ["2", "1", "down"], ["3", None, "up"]]


def test_halves_at_two_workers_have_each_other_as_peers() -> None:
    router = FakeRouter()
    router.link_rows = [
        link(1, peer=2, name="a"),
        link(2, peer=1, name="a between", role="fabric"),
        link(3, peer=4, name="a between", role="fabric", worker=1),
        link(4, peer=3, name="a@client", worker=1),
    ]
    assert Client(router).rows("P.router.link", "identity", "peer") == [["1", "4"], ["4", "1"]]


def test_a_link_route_has_the_containers_of_all_workers() -> None:
    router = FakeRouter()
    router.address_rows = [address("Cq", containers=2), address("Cq", worker=1, containers=1), address("M0q")]
    assert Client(router).rows("P.router.address", "key", "containerCount") == [["Cq", 3], ["M0q", 0]]


def test_an_incoming_link_has_no_histogram() -> None:
    router = FakeRouter()
    router.link_rows = [link(1, address=None)]
    columns = ("linkDir", "owningAddr", "ingressHistogram")
    assert Client(router).rows("P.router.link", *columns) == [["in", None, None]]


def test_what_is_between_the_parts_of_the_router_is_not_shown() -> None:
    router = FakeRouter()
    roles = ("normal", "fabric", "inner", "route-container")
    router.connection_rows = [connection(number, role=role) for number, role in enumerate(roles)]
    router.link_rows = [link(number, role=role) for number, role in enumerate(roles)]
    client = Client(router)
    assert client.rows("P.connection", "role") == [["normal"], ["route-container"]]
    assert client.rows("P.router.link", "identity") == [["0"], ["3"]]
    assert refusal(client.ask("READ", type="P.connection", identity="1")) == (404, "Not Found")


def test_an_address_is_what_all_workers_have_of_it() -> None:
    router = FakeRouter()
    router.address_rows = [
        address("M0a", distribution="closest", priority=7, consumers=1, sibling_consumers=2, ingress=5, egress=4),
        address("M0b"),
        address("M0a", worker=1, distribution="closest", priority=7, consumers=2, inner_consumers=1, egress=3),
    ]
    client = Client(router)
    assert client.rows("P.router.address", "key") == [["M0a"], ["M0b"]]
    assert typed(client.ask("READ", type="P.router.address", identity="M0a").body) == typed(
        {
            "name": "M0a",
            "identity": "M0a",
            "type": "org.apache.qpid.dispatch.router.address",
            "key": "M0a",
            "distribution": "closest",
            "inProcess": UInt(1),
            "subscriberCount": UInt(3),
            "remoteCount": UInt(0),
            "containerCount": UInt(0),
            "remoteHostRouters": [],
            "deliveriesIngress": ULong(5),
            "deliveriesEgress": ULong(7),
            "deliveriesTransit": ULong(0),
            "deliveriesToContainer": ULong(0),
            "deliveriesFromContainer": ULong(0),
            "deliveriesEgressRouteContainer": ULong(0),
            "deliveriesIngressRouteContainer": ULong(0),
            "transitOutstanding": None,
            "trackedDeliveries": 0,
            "priority": Int(7),
            "deliveriesRedirectedToFallback": ULong(0),
        }
    )


def test_what_goes_to_endpoints_inside_the_router_does_not_leave_it() -> None:
    router = FakeRouter()
    router.address_rows = [address("M0$management", inner_consumers=1, ingress=5, egress=5)]
    columns = ("inProcess", "deliveriesIngress", "deliveriesEgress", "deliveriesToContainer", "priority")
    assert Client(router).rows("P.router.address", *columns) == [[1, 5, 0, 5, -1]]


def test_configured_addresses_are_shown_as_they_run() -> None:
    body = client_of(*SECTIONS).query("P.router.config.address").body
    full_name = ENTITY_TYPES["router.config.address"].full_name
    of_topics = [None, Int(10_000), Int(256 << 20), Int(3600)]
    assert [list(map(typed_cell, row)) for row in body["results"]] == [
        list(map(typed_cell, [*row, *of_topics]))
        for row in (
            ["address/0", "1", full_name, "multicast", "multicast", False, Int(0), Int(0), None, Int(-1), False, False],
            ["starry", "2", full_name, None, "balanced", True, Int(0), Int(1), "a.*.b/#", Int(7), False, False],
            ["address/2", "3", full_name, "gone", None, False, Int(0), Int(0), None, Int(-1), False, False],
        )
    ]


def typed_cell(value: Any) -> tuple[type, Any]:
    return type(value), value


@pytest.mark.parametrize("name", ["router.config.address", "address", "P.router.config.address"])
def test_a_short_name_of_a_type_is_as_good_as_the_full_one(name: str) -> None:
    rows = client_of(*SECTIONS).rows(name, "identity")
    assert rows == [["1"], ["2"], ["3"]]


def test_a_column_that_there_is_not_is_null() -> None:
    names = ["id", "bogus", "mode", 5, "id"]
    answer = client_of().query("P.router", names)
    assert answer.body == {"attributeNames": names, "results": [["R1", None, "standalone", None, "R1"]]}


def test_names_may_come_as_an_array() -> None:
    client = client_of()
    answer = client.ask("QUERY", {"attributeNames": Array("string", ["id"])}, entityType="P.router")
    assert answer.body == {"attributeNames": ["id"], "results": [["R1"]]}


@pytest.mark.parametrize("body", [None, {}, {"attributeNames": None}, {"attributeNames": []}, "no map"])
def test_without_names_all_columns_come(body: object) -> None:
    answer = client_of().ask("QUERY", body, entityType="P.connection")
    assert answer.body == {"attributeNames": COLUMNS["connection"].split(), "results": []}


def test_names_that_are_no_list_or_too_many_are_refused() -> None:
    client = client_of()
    wrong = client.ask("QUERY", {"attributeNames": "id"}, entityType="P.router")
    assert refusal(wrong) == (400, "attributeNames: 'id' is not a list of names")
    assert wrong.body == {"attributeNames": [], "results": []}
    assert refusal(client.query("P.router", ["id"] * 301)) == (400, "attributeNames: 301 names are more than 300")


def test_a_connection_is_read_by_its_identity() -> None:
    router = FakeRouter()
    router.connection_rows = [connection(7), connection(8)]
    client = Client(router)
    answer = client.ask("READ", type="P.connection", identity="8")
    assert (answer.status, answer.description) == (200, "OK")
    assert list(answer.body) == COLUMNS["connection"].split()
    assert answer.body["container"] == "client-8"
    assert client.ask("READ", type="P.connection", identity=8) == answer
    by_name = client.ask("READ", type="P.connection", name="client-8")
    assert (refusal(by_name), by_name.body) == ((400, "Name not supported. Identity required"), {})
    missing = client.ask("READ", type="P.connection", identity="9")
    assert (refusal(missing), missing.body) == ((404, "Not Found"), {})
    assert refusal(client.ask("READ", type="P.connection")) == (400, "No name or identity provided")


def test_a_link_is_read_by_identity_before_name() -> None:
    router = FakeRouter()
    router.link_rows = [link(1), link(2)]
    client = Client(router)
    assert client.ask("READ", type="P.router.link", identity="2").body["name"] == "link-2"
    assert client.ask("READ", type="P.router.link", name="link-1").body["identity"] == "1"
    assert client.ask("READ", type="P.router.link", name="link-1", identity="2").body["identity"] == "2"
    assert refusal(client.ask("READ", type="P.router.link")) == (400, "No name or identity provided")


@pytest.mark.parametrize("target", [{}, {"name": "M0nope"}, {"identity": "M0nope"}])
def test_an_address_that_is_not_there_is_not_found(target: dict[str, str]) -> None:
    answer = client_of().ask("READ", type="P.router.address", **target)
    assert (refusal(answer), answer.body) == ((404, "Not Found"), {})


def test_a_configured_address_is_read_by_identity_before_name() -> None:
    client = client_of(*SECTIONS)
    kind = "P.router.config.address"
    assert client.ask("READ", type=kind, identity="2").body["name"] == "starry"
    assert client.ask("READ", type=kind, name="address/0").body["identity"] == "1"
    assert client.ask("READ", type=kind, name="address/0", identity="3").body["identity"] == "3"
    assert refusal(client.ask("READ", type=kind, identity="9")) == (404, "Not Found")
    assert refusal(client.ask("READ", type=kind)) == (400, "No name or identity provided")


@pytest.mark.parametrize(
    ("operation", "kind", "body"),
    [
        ("READ", "P.router", None),
        ("CREATE", "P.router", None),
        ("DELETE", "P.router", {}),
        ("DELETE", "P.connection", {}),
        ("QUERY", "P.console", {"attributeNames": [], "results": []}),
        ("CREATE", "P.console", None),
        ("READ", "P.console", None),
        ("UPDATE", "P.console", {}),
        ("DELETE", "P.console", {}),
    ],
)
def test_what_nobody_may_do_is_forbidden(operation: str, kind: str, body: object) -> None:
    answer = client_of().ask(operation, {"a": 1}, type=kind, identity="1")
    assert (refusal(answer), answer.body) == ((403, "Forbidden"), body)


@pytest.mark.parametrize(
    ("operation", "name"),
    [
        *(("CREATE", name) for name in ("connection", "router.link", "router.address")),
        *(("DELETE", name) for name in ("router.link", "router.address")),
        ("UPDATE", "router"),
        *(("UPDATE", name) for name in COLUMNS if name.startswith("router.") and name != "router.link"),
    ],
)
def test_what_a_type_does_not_have_is_not_implemented(operation: str, name: str) -> None:
    answer = client_of().ask(operation, {"a": 1}, type=f"P.{name}", identity="1")
    operations = list(ENTITY_TYPES[name].operations)
    sentence = f"Operation '{operation}' not implemented for 'org.apache.qpid.dispatch.{name}' {operations}"
    assert (refusal(answer), answer.body) == ((501, sentence), None if operation == "CREATE" else {})


def test_the_filter_says_the_type_before_the_type_does() -> None:
    answer = client_of().ask("QUERY", {"attributeNames": ["id"]}, entityType="P.router", type="P.listener")
    assert answer.body["results"] == [["R1"]]


def test_other_routers_are_counted_when_they_are_asked_for() -> None:
    client = client_of(settings=RouterSettings(id="R1", mode=RouterMode.INTERIOR))
    client.router.node_rows = [node(0, "R1"), node(1, "R2"), node(2, "R3")]
    assert client.rows("P.router", "nodeCount") == [[ULong(2)]]
    assert client.ask("READ", type="router", name="router/None").body["nodeCount"] == 2
    client.router.asked.clear()
    assert client.rows("P.router", "id") == [["R1"]]
    assert client.router.asked == ["workers"]


@pytest.mark.parametrize("kind", ["endpoint", "router-control", "inter-router", "edge-downlink"])
@pytest.mark.parametrize("is_outgoing", [False, True])
def test_a_link_says_what_it_is_for_and_where_its_messages_came_from(kind: str, is_outgoing: bool) -> None:
    client = client_of()
    client.router.link_rows = [link(1, kind=kind, is_outgoing=is_outgoing, accepted=3)]
    [[found, histogram]] = client.rows("P.router.link", "linkType", "ingressHistogram")
    assert found == kind
    assert histogram == ([3, *[0] * 127] if is_outgoing and kind == "endpoint" else None)


@pytest.mark.parametrize("role", ["inter-router", "edge"])
def test_a_connection_to_a_router_is_shown_and_kept(role: str) -> None:
    client = client_of()
    client.router.connection_rows = [connection(4, role=role, is_incoming=False, host="b.example.com:amqp")]
    assert client.rows("P.connection", "name", "host", "role", "dir") == [
        ["connection/b.example.com:amqp", "b.example.com:amqp", role, "out"]
    ]
    answer = client.ask("UPDATE", {"adminStatus": "deleted"}, type="P.connection", identity="4")
    assert refusal(answer) == (403, "You are not allowed to perform this operation.")


def test_the_mode_is_shown() -> None:
    client = client_of(settings=RouterSettings(id="R1", mode=RouterMode.INTERIOR))
    assert client.rows("P.router", "mode", "metadata") == [["interior", None]]


def test_a_connection_is_listed_once_both_ends_have_opened_it() -> None:
    router = FakeRouter()
    router.connection_rows = [connection(7, is_open=False, container=""), connection(8)]
    assert Client(router).rows("P.connection", "identity") == [["8"]]
