"""What has a name is shown with all attributes of its type."""

from typing import Any

import pytest

from routerd.management import ENTITY_TYPES, LOG_MODULES, Certificate, ConfiguredEntity, ConnectorRow, LogRow, PoolRow
from routerd.wire import Int
from tests.unit.management.fake_router import SECTIONS, Client, client_of, connection, link, node, refusal, worker

LEVELS = ("trace", "debug", "info", "notice", "warning", "error", "critical")


def test_listeners_are_shown_with_the_columns_that_are_asked_for() -> None:
    assert client_of(*SECTIONS).rows("P.listener", "name", "identity", "port", "role") == [
        ["L1", "listener/127.0.0.1:5672:L1", "5672", "normal"],
        ["listener/:amqps", "listener/:amqps", "amqps", "normal"],
    ]


@pytest.mark.parametrize("name", ["listener", "P.listener"])
def test_a_query_without_names_has_all_attributes_of_the_type(name: str) -> None:
    names = client_of(*SECTIONS).query(name).body["attributeNames"]
    assert names == list(ENTITY_TYPES["listener"].attributes)
    assert names[-3:] == ["name", "identity", "type"]


def test_an_attribute_that_the_type_has_not_is_not_found() -> None:
    answer = client_of(*SECTIONS).query("P.listener", ["port", "bogus"])
    sentence = "Unknown attributes ['bogus'] for type org.apache.qpid.dispatch.listener."
    assert (refusal(answer), answer.body) == ((404, sentence), {})
    assert refusal(client_of(*SECTIONS).query(None, ["bogus"])) == (404, "Unknown attributes ['bogus'].")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("P.bogus", "org.apache.qpid.dispatch.bogus"),
        ("bogus", "org.apache.qpid.dispatch.bogus"),
        ("org.mobula.bogus", "org.mobula.bogus"),
    ],
)
def test_a_type_that_there_is_not_is_refused(given: str, told: str) -> None:
    answer = client_of(*SECTIONS).query(given)
    assert (refusal(answer), answer.body) == ((400, f"No such entity type '{told}'"), {})
    for operation in ("READ", "CREATE", "UPDATE", "DELETE"):
        refused = client_of(*SECTIONS).ask(operation, {}, type=given, name="x")
        assert refusal(refused) == (400, f"No such entity type '{told}'")


def test_entities_with_nothing_to_show_are_left_out() -> None:
    found = client_of(*SECTIONS)
    assert found.rows("P.log", "identity", "enable")[:2] == [["log/SERVER", "debug+"], ["log/ROUTER", None]]
    assert found.rows("P.log", "enable") == [["debug+"], ["info+"]]


def test_the_log_is_shown_as_it_was_given_and_with_what_holds_where_nothing_is_said() -> None:
    files = (
        ("log", {"module": "DEFAULT", "enable": "trace+", "outputFile": "/srv/./logs/a.log"}),
        ("log", {"module": "SERVER", "outputFile": "/srv/b.log"}),
        ("log", {"module": "AGENT", "outputFile": "stdout"}),
    )
    columns = ("module", "enable", "includeTimestamp", "includeSource", "outputFile")
    found = client_of(*files)
    assert found.rows("P.log", *columns)[:4] == [
        ["DEFAULT", "trace+", True, False, "logs/a.log"],
        ["SERVER", None, None, None, "/srv/b.log"],
        ["AGENT", None, None, None, "stdout"],
        ["ROUTER", None, None, None, None],
    ]
    # What a tool gives back as it has read it stays as it is.
    read = found.ask("READ", identity="log/DEFAULT").body
    answer = found.ask("UPDATE", read | {"enable": "info"}, name="log/DEFAULT")
    assert (answer.status, answer.body["outputFile"], answer.body["enable"]) == (200, "logs/a.log", "info")
    changed = next(one.values for one in found.router.entities if one.identity == "log/DEFAULT")
    assert (changed["outputFile"], changed["includeSource"]) == ("/srv/./logs/a.log", None)


def test_a_router_counts_links_and_addresses_in_its_own_list_only() -> None:
    found = client_of(*SECTIONS)
    found.router.worker_rows = [worker(0, links=5, addresses=4, connections=2)]
    columns = ("type", "linkCount", "addrCount", "connectionCount")
    assert found.rows("router", *columns) == [["org.apache.qpid.dispatch.router", 5, 4, 2]]
    [row] = [one for one in found.rows(None, *columns) if one[0].endswith(".router")]
    assert row[1:] == [0, 0, 2]


def test_types_stand_for_those_that_are_built_on_them() -> None:
    kinds = {row[0] for row in client_of(*SECTIONS).rows("P.configurationEntity", "type")}
    assert kinds == {f"org.apache.qpid.dispatch.{name}" for name in ("router", "listener", "log", "policy")} | {
        "org.apache.qpid.dispatch.router.config.address",
        "org.mobula.record",
    }
    assert client_of(*SECTIONS).rows("org.amqp.management", "identity") == [["self"]]


def test_a_query_without_a_type_is_for_all_that_has_a_name_in_other_routers_too() -> None:
    found = client_of(*SECTIONS)
    found.router.pool_rows = [PoolRow(name="Delivery", object_octets=8, in_use=1, allocated=2)]
    answer = found.query(None, ["identity"])
    identities = [row[0] for row in answer.body["results"]]
    assert [one for one in identities if not one.startswith(("log/", "logStats/"))] == [
        "self",
        "allocator/Delivery",
        "router/R1",
        "listener/127.0.0.1:5672:L1",
        "listener/:amqps",
        "address/0",
        "address/1",
        "address/2",
        "policy/None",
    ]
    names = found.query().body["attributeNames"]
    assert len(names) == len(set(names))
    assert {"port", "siblingWorker", "maxConnections"} <= set(names)


@pytest.mark.parametrize("operation", ["query", "Query", "qUERY"])
def test_in_small_letters_a_query_is_for_what_the_file_has(operation: str) -> None:
    found = client_of(*SECTIONS)
    found.ask("CREATE", {"prefix": "x"}, type="P.router.config.address")
    answer = found.ask(operation, {"attributeNames": ["identity", "name"]}, entityType="P.router.config.address")
    assert answer.body["results"] == [["address/0", "address/0"], ["address/1", "starry"], ["address/2", "address/2"]]
    assert found.ask(operation, {"attributeNames": ["identity"]}, entityType="P.connection").body["results"] == []


def test_the_router_without_its_prefix_is_what_is_configured_and_what_is_counted() -> None:
    found = client_of(*SECTIONS)
    found.router.worker_rows = [worker(0, connections=3, links_blocked=2)]
    columns = ("identity", "name", "id", "helloIntervalSeconds", "connectionCount", "blockedLinkCount", "area")
    row = ["router/R1", "router/R1", "R1", Int(1), Int(3), Int(2), "0"]
    assert found.rows("router", *columns) == [row]
    for answer in (found.ask("READ", type="router", name="router/R1"), found.ask("READ", identity="router/R1")):
        assert [answer.body[name] for name in columns] == row
        assert "debugDumpFile" not in answer.body
    assert found.ask("read", type="P.router", name="router/R1").status == 200


def test_all_numbers_are_ints_or_longs_that_are_too_large() -> None:
    found = client_of(*SECTIONS)
    found.router.worker_rows = [worker(0, memory_octets=5_000_000_000)]
    [[small, large]] = found.rows("org.mobula.connectionActor", "pid", "memoryUsage")
    assert (type(small), small) == (Int, 100)
    assert (type(large), large) == (int, 5_000_000_000)
    [[size]] = found.rows("listener", "maxFrameSize")[:1]
    assert (type(size), size) == (Int, 16384)


@pytest.mark.parametrize(
    "target", [{}, {"name": "self"}, {"identity": "self"}, {"type": "org.amqp.management"}, {"type": "P.management"}]
)
def test_the_node_is_read_by_itself(target: dict[str, str]) -> None:
    answer = client_of(*SECTIONS).ask("READ", **target)
    body = {"identity": "self", "name": "self", "type": "org.apache.qpid.dispatch.management"}
    assert (answer.status, answer.description, answer.body) == (200, "OK", body)


@pytest.mark.parametrize(
    "target",
    [
        {"name": "L1"},
        {"identity": "listener/127.0.0.1:5672:L1"},
        {"name": "L1", "identity": "listener/127.0.0.1:5672:L1", "type": "listener"},
        {"name": "L1", "type": "P.configurationEntity"},
    ],
)
def test_a_listener_is_read_without_what_is_null(target: dict[str, str]) -> None:
    answer = client_of(*SECTIONS).ask("READ", **target)
    assert (answer.status, answer.description) == (200, "OK")
    assert answer.body == {
        "host": "127.0.0.1",
        "port": "5672",
        "role": "normal",
        "cost": 1,
        "authenticatePeer": False,
        "requireEncryption": False,
        "requireSsl": False,
        "maxFrameSize": 16384,
        "maxSessions": 32768,
        "idleTimeoutSeconds": 16,
        "initialHandshakeTimeoutSeconds": 0,
        "stripAnnotations": "both",
        "multiTenant": False,
        "healthz": True,
        "metrics": True,
        "websockets": True,
        "http": False,
        "messageLoggingComponents": "none",
        "dedicatedActor": False,
        "name": "L1",
        "identity": "listener/127.0.0.1:5672:L1",
        "type": "org.apache.qpid.dispatch.listener",
    }


P = "org.apache.qpid.dispatch."


@pytest.mark.parametrize(
    ("target", "status", "sentence"),
    [
        ({"type": "P.listener", "name": "nope"}, 404, "No entity with name=nope"),
        ({"identity": "log/NOPE"}, 404, "No entity with identity=log/NOPE"),
        ({"name": "no", "identity": "neither"}, 404, "No entity with name=no identity=neither"),
        ({"name": "x" * 200}, 404, f"No entity with name={'x' * 100}..."),
        ({"type": "listener"}, 400, f"{P}listener: No name or identity provided"),
        (
            {"type": "connector", "name": "L1"},
            400,
            f"Entity type '{P}listener' does not extend requested type '{P}connector'",
        ),
        (
            {"type": "P.listener", "name": "self"},
            400,
            f"Entity type '{P}management' does not extend requested type '{P}listener'",
        ),
        (
            {"name": "L1", "identity": "listener/127.0.0.1:6201"},
            400,
            "Conflicting name=L1 identity=listener/127.0.0.1:6201",
        ),
    ],
)
def test_what_cannot_be_read_is_told(target: dict[str, str], status: int, sentence: str) -> None:
    answer = client_of(*SECTIONS).ask("READ", **target)
    assert (refusal(answer), answer.body) == ((status, sentence), {})


def test_of_two_with_one_name_that_of_the_type_is_read() -> None:
    found = client_of(("listener", {"port": "1", "name": "a"}), ("address", {"prefix": "a", "name": "a"}))
    assert found.ask("read", type="P.router.config.address", name="a").body["identity"] == "address/0"
    assert found.ask("READ", type="P.listener", name="a").body["identity"] == "listener/:1:a"


def test_a_secret_is_not_shown() -> None:
    found = client_of(*SECTIONS)
    connector = ENTITY_TYPES["connector"]
    values: dict[str, Any] = {name: one.default for name, one in connector.attributes.items()}
    values |= {"saslUsername": "ann", "saslPassword": "hunter2"}
    entity = ConfiguredEntity(type=connector, identity="connector/b:amqp", name=None, values=values)
    found.router.entities.append(entity)
    body = found.ask("READ", identity="connector/b:amqp").body
    assert body["saslUsername"] == "ann"
    assert "saslPassword" not in body
    assert found.rows("P.connector", "saslUsername", "saslPassword") == [["ann", None]]


def test_lines_of_the_log_are_counted_by_module() -> None:
    found = client_of(*SECTIONS)
    found.router.counts = {"AGENT": {"info": 4, "error": 1}, "MAIN": {"critical": 1}}
    rows = found.rows("P.logStats", "identity", "name", *(f"{level}Count" for level in LEVELS))
    assert [row[1] for row in rows] == [*LOG_MODULES, "MAIN"]
    assert ["logStats/AGENT", "AGENT", 0, 0, 4, 0, 0, 1, 0] in rows
    assert found.ask("READ", type="logStats", name="MAIN").body["criticalCount"] == 1


def test_pools_are_allocators() -> None:
    found = client_of(*SECTIONS)
    found.router.pool_rows = [PoolRow(name="Delivery", object_octets=200, in_use=3, allocated=10)]
    assert found.ask("READ", identity="allocator/Delivery").body == {
        "typeName": "Delivery",
        "typeSize": 200,
        "transferBatchSize": 1,
        "localFreeListMax": 0,
        "globalFreeListMax": 0,
        "totalAllocFromHeap": 10,
        "totalFreeToHeap": 0,
        "heldByThreads": 3,
        "batchesRebalancedToThreads": 0,
        "batchesRebalancedToGlobal": 0,
        "name": "allocator/Delivery",
        "identity": "allocator/Delivery",
        "type": "org.apache.qpid.dispatch.allocator",
    }


def test_the_policy_is_that_of_a_router_without_one() -> None:
    found = client_of(*SECTIONS)
    assert found.ask("READ", type="P.policy", name="policy/None").body == {
        "maxConnections": 65535,
        "maxMessageSize": 0,
        "enableVhostPolicy": False,
        "enableVhostNamePatterns": False,
        "policyDir": "",
        "defaultVhost": "$default",
        "connectionsProcessed": 0,
        "connectionsDenied": 0,
        "connectionsCurrent": 0,
        "linksDenied": 0,
        "maxMessageSizeDenied": 0,
        "totalDenials": 0,
        "name": "policy/None",
        "identity": "policy/None",
        "type": "org.apache.qpid.dispatch.policy",
    }


@pytest.mark.parametrize("name", ["router.node", "vhost", "vhostStats", "dummy", "sslProfile", "connector"])
def test_of_other_types_there_is_nothing(name: str) -> None:
    assert client_of(*SECTIONS).query(f"P.{name}").body["results"] == []


def connectors() -> Client:
    found = client_of(("connector", {"host": "b", "name": "B"}), ("connector", {"host": "c", "port": "1"}))
    found.router.connector_rows = [
        ConnectorRow(identity="connector/b:amqp:B", status="FAILED", message="refused", failover_urls="amqp://d:5672")
    ]
    return found


def test_a_connector_is_shown_with_how_it_fares() -> None:
    found = connectors()
    assert found.rows("P.connector", "identity", "name", "connectionStatus", "connectionMsg", "failoverUrls") == [
        ["connector/b:amqp:B", "B", "FAILED", "refused", "amqp://d:5672"],
        ["connector/c:1", "connector/c:1", "INITIALIZING", None, None],
    ]
    assert found.router.asked == ["connectors"]


def test_of_each_profile_the_certificate_that_expires_first_is_shown() -> None:
    found = client_of(("sslProfile", {"name": "tls", "certFile": "/a"}), ("sslProfile", {"name": "none"}))
    # A worker may have read a newer file than the others.
    old, new = Certificate(1_800_000_000.0, "CN=old"), Certificate(4_102_444_800.0, "CN=new")
    found.router.certificate_rows = [{"tls": new}, {"tls": old}]
    assert found.rows("certificate", "profile", "subject", "expiry") == [["tls", "CN=old", 1_800_000_000]]
    assert found.ask("READ", name="certificate/tls").body == {
        "profile": "tls",
        "subject": "CN=old",
        "expiry": 1_800_000_000,
        "name": "certificate/tls",
        "identity": "certificate/tls",
        "type": "org.mobula.certificate",
    }


def test_a_connector_is_read_with_how_it_fares() -> None:
    found = connectors()
    body = found.ask("READ", type="P.connector", name="B").body
    told = {name: body[name] for name in ("host", "port", "role", "cost", "connectionStatus", "connectionMsg")}
    assert told == {
        **{"host": "b", "port": "amqp", "role": "normal", "cost": 1},
        **{"connectionStatus": "FAILED", "connectionMsg": "refused"},
    }
    found.router.connector_rows = [
        ConnectorRow(identity="connector/b:amqp:B", status="SUCCESS", message="", failover_urls="")
    ]
    body = found.ask("READ", type="P.connector", name="B").body
    assert body["connectionStatus"] == "SUCCESS"
    assert not {"connectionMsg", "failoverUrls"} & body.keys()


def test_nobody_is_asked_for_connectors_where_there_are_none() -> None:
    found = client_of(*SECTIONS)
    assert found.query().status == 200
    assert "connectors" not in found.router.asked


def test_the_routers_of_the_network_are_shown() -> None:
    found = client_of(*SECTIONS)
    found.router.node_rows = [
        node(0, "A", link_state=("B",), last_topology_change=1_795_176_862.5),
        node(1, "B", link_state=("A", "C"), router_link=7, cost=2),
        node(2, "C", link_state=("B",), next_hop="B", valid_origins=("A",), cost=5, protocol_version=2),
    ]
    names = ("id", "nextHop", "routerLink", "protocolVersion", "cost", "linkState", "validOrigins", "index")
    assert found.rows("P.router.node", *names) == [
        ["A", "(self)", None, 1, None, ["B"], [], 0],
        ["B", None, "7", 1, 2, ["A", "C"], [], 1],
        ["C", "B", None, 2, 5, ["B"], ["A"], 2],
    ]
    assert found.ask("READ", type="P.router.node", identity="router.node/A").body == {
        "id": "A",
        "protocolVersion": 1,
        "instance": 1_795_176_000,
        "linkState": ["B"],
        "nextHop": "(self)",
        "validOrigins": [],
        "address": "amqp:/_topo/0/A",
        "lastTopoChange": 1_795_176_862,
        "index": 0,
        "name": "router.node/A",
        "identity": "router.node/A",
        "type": f"{P}router.node",
    }
    answer = found.ask("READ", type="P.router.node", identity="router.node/Z")
    assert refusal(answer) == (404, "No entity with identity=router.node/Z")


def test_a_connection_actor_is_shown() -> None:
    found = client_of(*SECTIONS)
    sums = dict.fromkeys(worker(0).ingress, 0)
    found.router.worker_rows = [
        worker(0),
        worker(
            1,
            restarts=2,
            connections=3,
            links=4,
            addresses=5,
            siblings=1,
            event_loop_lag_s=0.0015,
            event_loop_lag_max_s=0.25,
            buffered_octets=6,
            memory_octets=7,
            stuck=8,
            links_blocked=9,
            authentication_failures=20,
            ingress=sums | {"deliveries": 10, "presettled": 11, "dropped_presettled": 5, "accepted": 13},
            dropped_presettled=12,
            egress=sums | {"deliveries": 17},
            fabric_in=sums | {"deliveries": 18},
            fabric_out=sums | {"deliveries": 19},
        ),
    ]
    body = {
        "worker": 1,
        "pid": 101,
        "host": "here",
        "node": "10.0.0.1",
        "uptimeSeconds": 80,
        "restarts": 2,
        "connectionCount": 3,
        "linkCount": 4,
        "addrCount": 5,
        "siblingCount": 1,
        "eventLoopLagMicroseconds": 1500,
        "eventLoopLagMaxMicroseconds": 250_000,
        "bufferedOctets": 6,
        "memoryUsage": 7,
        "deliveriesStuck": 8,
        "linksBlocked": 9,
        "authenticationFailures": 20,
        "deliveriesIngress": 10,
        "deliveriesEgress": 17,
        "deliveriesFabricIn": 18,
        "deliveriesFabricOut": 19,
        "presettledDeliveries": 11,
        "droppedPresettledDeliveries": 12,
        "acceptedDeliveries": 13,
        "rejectedDeliveries": 0,
        "releasedDeliveries": 0,
        "modifiedDeliveries": 0,
        "name": "connection.1",
        "identity": "connectionActor/1",
        "type": "org.mobula.connectionActor",
    }
    assert found.ask("READ", type="org.mobula.connectionActor", name="connection.1").body == body
    assert found.ask("READ", identity="connectionActor/1").body == body
    for name in ("org.mobula.connectionActor", "connectionActor", "P.connectionActor"):
        assert found.rows(name, "identity") == [["connectionActor/0"], ["connectionActor/1"]]


def test_a_link_between_actors_is_shown_at_both_its_ends() -> None:
    found = client_of(*SECTIONS)
    found.router.connection_rows = [
        connection(1),
        connection(2, role="fabric", properties={"worker": 1}, is_encrypted=True),
        connection(3, role="fabric", worker=1, properties={"worker": 0}),
    ]
    found.router.link_rows = [
        link(1),
        link(2, role="fabric", connection=2, is_outgoing=True, deliveries=9, stalls=3),
        link(3, role="fabric", connection=3, worker=1),
        link(4, role="fabric", connection=9),
        link(5, role="inner"),
    ]
    columns = ("identity", "worker", "siblingWorker", "linkDir", "deliveryCount", "connectionId", "transport")
    assert found.rows("org.mobula.fabricLink", *columns) == [
        ["fabricLink/2", 0, 1, "out", 9, "2", "tls"],
        ["fabricLink/3", 1, 0, "in", 0, "3", "unix"],
        ["fabricLink/4", 0, None, "in", 0, "9", "unix"],
    ]
    body = {
        "worker": 0,
        "siblingWorker": 1,
        "connectionId": "2",
        "transport": "tls",
        "linkName": "link-2",
        "linkDir": "out",
        "owningAddr": "M0orders",
        "capacity": 250,
        "creditAvailable": 250,
        "zeroCreditSeconds": 0,
        "undeliveredCount": 0,
        "unsettledCount": 0,
        "deliveryCount": 9,
        "presettledCount": 0,
        "droppedPresettledCount": 0,
        "acceptedCount": 0,
        "rejectedCount": 0,
        "releasedCount": 0,
        "modifiedCount": 0,
        "deliveriesStuck": 0,
        "settleRate": 0,
        "stallCount": 3,
        "name": "fabricLink/2",
        "identity": "fabricLink/2",
        "type": "org.mobula.fabricLink",
    }
    assert found.ask("READ", identity="fabricLink/2").body == body


def test_links_are_gathered_only_for_who_asks_for_them() -> None:
    found = client_of(*SECTIONS)
    found.ask("READ", name="nope")
    assert found.router.asked == ["log_counts", "workers"]


def test_an_operation_that_a_type_has_not_is_not_implemented() -> None:
    answer = client_of(*SECTIONS).ask("UPDATE", {"port": "6299"}, name="L1")
    listener = "Operation 'UPDATE' not implemented for 'org.apache.qpid.dispatch.listener' ['CREATE', 'DELETE', 'READ']"
    assert (refusal(answer), answer.body) == ((501, listener), {})
    bogus = client_of(*SECTIONS).ask("bogus_thing")
    operations = [
        *("GET-SCHEMA", "GET-JSON-SCHEMA", "GET-LOG", "PROFILE", "QUERY", "GET-TYPES", "GET-ANNOTATIONS"),
        *("GET-OPERATIONS", "GET-ATTRIBUTES", "GET-MGMT-NODES", "READ"),
    ]
    sentence = f"Operation 'BOGUS-THING' not implemented for 'org.apache.qpid.dispatch.management' {operations}"
    assert refusal(bogus) == (501, sentence)


def test_a_request_without_an_operation_is_refused() -> None:
    answer = client_of(*SECTIONS).ask(color="red")
    sentence = "No 'operation' property: Message(address=None, properties={'color': 'red'})"
    assert (refusal(answer), answer.body) == ((400, sentence), {})


def test_the_log_is_told_with_its_rows() -> None:
    found = client_of(*SECTIONS)
    found.router.log_rows = [
        LogRow(module="AGENT", level="info", text="a", file=None, line=None, time=1_795_176_862.7),
        LogRow(module="SERVER", level="error", text="b", file="f.py", line=12, time=3_000_000_000.0),
    ]
    lines = [["AGENT", "info", "a", None, None, 1_795_176_862], ["SERVER", "error", "b", "f.py", 12, 3_000_000_000]]
    for limit, expected in ((None, lines), (1, lines[1:]), ("1", lines[1:]), (0, []), (5, lines), (-1, lines)):
        assert found.ask("GET-LOG", limit=limit).body == expected
    assert refusal(found.ask("get-log", limit="many")) == (400, "limit: 'many' is not a whole number")
