"""New addresses and listeners, and why there are none."""

from typing import Any

import pytest

from routerd.management import SECTIONS as KNOWN_SECTIONS
from routerd.management import ChangeRefused, ConfiguredEntity, Request
from routerd.management.agent.call import call_of
from routerd.management.agent.entity_index import EntityIndex
from routerd.management.agent.numbered_creation import create_numbered
from routerd.management.agent.problems import ANOTHERS
from routerd.management.agent.refusals import BadRequest
from routerd.wire import Symbol
from tests.unit.management.fake_router import SECTIONS, Client, FakeRouter, client_of, refusal, run

P = "org.apache.qpid.dispatch."
ADDRESS = "P.router.config.address"


def create(found: Client, kind: str, body: Any, **properties: Any) -> tuple[int, str]:
    answer = found.ask("CREATE", body, type=kind, **properties)
    return refusal(answer)


# --- addresses


def test_an_address_is_created_and_shown_with_all_it_has() -> None:
    found = client_of(*SECTIONS)
    answer = found.ask("CREATE", {"prefix": "x1", "distribution": "closest"}, type=ADDRESS, name="x1")
    assert (answer.status, answer.description) == (201, "Created")
    assert answer.body == {
        "name": "x1",
        "identity": "4",
        "type": f"{P}router.config.address",
        "prefix": "x1",
        "distribution": "closest",
        "waypoint": False,
        "ingressPhase": 0,
        "egressPhase": 0,
        "pattern": None,
        "priority": -1,
        "fallback": False,
        "resendReleased": False,
        "delivery": None,
        "maxUnsettled": 10_000,
        "maxUnsettledOctets": 256 << 20,
        "subscriptionTimeout": 3600,
    }
    assert found.router.asked == ["create 4"]
    assert found.rows(ADDRESS, "identity") == [["1"], ["2"], ["3"], ["4"]]
    assert found.ask("READ", type=ADDRESS, name="x1").body == answer.body


def test_a_type_with_numbers_needs_no_sentences_of_its_own() -> None:
    router = FakeRouter(*SECTIONS)
    agent_index = EntityIndex(router)

    def made(**body: Any) -> ConfiguredEntity:
        call = call_of(Request({"operation": "CREATE", "name": body.pop("name", None)}, body))
        return run(create_numbered(call, KNOWN_SECTIONS["address"], router, agent_index))

    assert (made(name="x", prefix="x1").identity, router.asked) == ("4", ["create 4"])
    for body, refused in (
        ({"name": "x", "prefix": "x2"}, "^Name conflicts with an existing entity$"),
        ({"name": "y", "prefix": "x1"}, "^Already exists$"),
        ({"prefix": "x3", "priority": 10}, f"^{P}router.config.address: 10 is too large; allowed: 0 to 9$"),
    ):
        with pytest.raises(BadRequest, match=refused):
            made(**body)
    assert router.asked == ["create 4"]


def test_the_router_gets_the_entity_with_all_attributes() -> None:
    found = client_of(*SECTIONS)
    found.ask("CREATE", {"prefix": "x1", "name": "x1"}, type=ADDRESS)
    entity = found.router.entities[-1]
    assert (entity.identity, entity.name, entity.file_index) == ("4", "x1", None)
    assert entity.values == {
        "prefix": "x1",
        "pattern": None,
        "distribution": "balanced",
        "waypoint": False,
        "ingressPhase": None,
        "egressPhase": None,
        "priority": None,
        "resendReleased": False,
        "delivery": None,
        "maxUnsettled": 10_000,
        "maxUnsettledOctets": 256 << 20,
        "subscriptionTimeout": 3600,
        "enableFallback": False,
        "name": "x1",
        "identity": None,
        "type": f"{P}router.config.address",
    }


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ({"prefix": "/a.b/"}, {"prefix": "a.b", "pattern": None, "name": None}),
        ({"pattern": "*/b/"}, {"prefix": None, "pattern": "*/b"}),
        ({"prefix": 5}, {"prefix": "5"}),
        ({"prefix": "a", "waypoint": "yes"}, {"waypoint": True, "ingressPhase": 0, "egressPhase": 1}),
        ({"prefix": "a", "ingressPhase": 2, "egressPhase": "3"}, {"ingressPhase": 2, "egressPhase": 3}),
        ({"prefix": "a", "priority": 9, "fallback": False}, {"priority": 9, "fallback": False}),
        ({"prefix": "a", "enableFallback": None}, {"fallback": False}),
        ({"prefix": "a", "enableFallback": "yes"}, {"fallback": True}),
        ({"prefix": "a", "fallback": True}, {"fallback": True}),
        ({"prefix": "a", "resendReleased": True}, {"resendReleased": True}),
        ({"prefix": "a", "distribution": "unavailable"}, {"distribution": None}),
        ({"prefix": "a", "name": "of the body"}, {"name": "of the body"}),
        ({"prefix": "a", "name": ""}, {"name": None}),
        ({Symbol("prefix"): "a", "type": "address"}, {"prefix": "a"}),
    ],
)
def test_an_address_is_shown_as_it_is_understood(body: dict[str, Any], shown: dict[str, Any]) -> None:
    answer = client_of(*SECTIONS).ask("CREATE", body, type=ADDRESS)
    assert answer.status == 201
    assert {name: answer.body[name] for name in shown} == shown


@pytest.mark.parametrize("operation", ["create", "Create"])
@pytest.mark.parametrize("kind", ["address", "router.config.address", ADDRESS])
def test_an_address_is_created_however_it_is_asked_for(operation: str, kind: str) -> None:
    assert client_of(*SECTIONS).ask(operation, {"prefix": "x"}, type=kind).body["identity"] == "4"


@pytest.mark.parametrize("name", ["", "zzz"])
def test_an_attribute_without_a_value_is_not_given(name: str) -> None:
    body = {"prefix": "x", name: None}
    assert client_of(*SECTIONS).ask("CREATE", body, type=f"{P}router.config.address").body["prefix"] == "x"


_PHASES = "Phase values must be between 0 and 9"
_PRIORITY = "Priority value, if present, must be between 0 and QDR_MAX_PRIORITY"
_FALLBACK = "Fallback cannot be specified with waypoint or non-zero ingress and egress phases"
_DISTRIBUTIONS = "['multicast', 'closest', 'balanced', 'unavailable']"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (None, "Body of request must be a map"),
        ([], "Body of request must be a map"),
        ({}, "Either a 'prefix' or 'pattern' attribute must be provided"),
        ({"prefix": "a", "pattern": "b"}, "Cannot specify both a 'prefix' and a 'pattern' attribute"),
        ({"prefix": "/."}, "Prefix invalid - no tokens"),
        ({"pattern": ""}, "Pattern invalid - no tokens"),
        ({"prefix": [1]}, f"{P}router.config.address: a list is not text"),
        ({"prefix": "multicast"}, "Already exists"),
        ({"pattern": "/multicast/#"}, "Already exists"),
        ({"pattern": "a/*/b.#"}, "Already exists"),
        ({"prefix": "x", "ingressPhase": 10, "egressPhase": 0}, _PHASES),
        ({"prefix": "x", "ingressPhase": 0, "egressPhase": "many"}, _PHASES),
        ({"prefix": "x", "ingressPhase": 1}, _PHASES),
        ({"prefix": "x", "egressPhase": 1, "waypoint": True}, _PHASES),
        ({"prefix": "x", "priority": 10}, _PRIORITY),
        ({"prefix": "x", "priority": -1}, _PRIORITY),
        ({"prefix": "x", "fallback": True, "waypoint": True}, _FALLBACK),
        ({"prefix": "x", "enableFallback": True, "ingressPhase": 1, "egressPhase": 0}, _FALLBACK),
        (
            {"prefix": "x", "fallback": True, "enableFallback": True},
            f"Both 'fallback' and 'enableFallback' cannot be specified for entity '{P}router.config.address'",
        ),
        (
            {"prefix": "x", "fallback": "maybe"},
            f"{P}router.config.address: Invalid Boolean value ''maybe''; allowed: yes, no, true, false, on, off",
        ),
        (
            {"prefix": "x", "distribution": "multicats"},
            f"{P}router.config.address: Invalid value for enum{_DISTRIBUTIONS}: 'multicats'; did you mean 'multicast'?",
        ),
        (
            {"prefix": "x", "distribution": "nonsense"},
            f"{P}router.config.address: Invalid value for enum{_DISTRIBUTIONS}: 'nonsense'",
        ),
        (
            {"prefix": "x", "distributon": "closest"},
            f"Unknown attribute 'distributon' for '{P}router.config.address'; did you mean 'distribution'?",
        ),
        ({"prefix": "x", 5: "a"}, f"Unknown attribute 5 for '{P}router.config.address'"),
        ({"prefix": "x", "identity": "9"}, "Cannot set attribute 'identity' in CREATE"),
        (
            {"prefix": "x", "type": "listener"},
            f"{P}router.config.address: 'listener' is not the type of this entity; allowed: {P}router.config.address",
        ),
        ({"prefix": "x", "name": "starry"}, "Name conflicts with an existing entity"),
        ({"prefix": "x", "name": "address/0"}, "Name conflicts with an existing entity"),
    ],
)
def test_an_address_that_is_wrong_is_refused(body: Any, sentence: str) -> None:
    found = client_of(*SECTIONS)
    answer = found.ask("CREATE", body, type=ADDRESS)
    assert (refusal(answer), answer.body) == ((400, sentence), None)
    assert found.router.asked == []


def test_names_of_the_properties_and_of_the_body_have_to_agree() -> None:
    found = client_of(*SECTIONS)
    assert create(found, ADDRESS, {"prefix": "x", "name": "b"}, name="a") == (400, "Conflicting values for 'name'")
    assert create(found, ADDRESS, {"prefix": "x", "name": "a"}, name="a") == (201, "Created")
    assert create(found, ADDRESS, None, name="a") == (400, "Name conflicts with an existing entity")


def test_a_pattern_is_free_again_once_its_address_is_deleted() -> None:
    found = client_of(*SECTIONS)
    assert refusal(found.ask("DELETE", type=ADDRESS, identity="1")) == (204, "No Content")
    assert create(found, ADDRESS, {"prefix": "multicast"}, name="address/0") == (201, "Created")
    assert found.rows(ADDRESS, "identity") == [["2"], ["3"], ["4"]]


def test_what_the_router_refuses_is_told_and_not_there() -> None:
    found = client_of(*SECTIONS)
    found.router.failure = ChangeRefused("no room for it")
    answer = found.ask("CREATE", {"prefix": "x"}, type=ADDRESS, name="x")
    assert (refusal(answer), answer.body) == ((400, "no room for it"), None)
    found.router.failure = None
    assert create(found, ADDRESS, {"prefix": "x"}, name="x") == (201, "Created")


def test_of_two_creations_at_once_only_one_has_the_name_and_the_pattern() -> None:
    found = client_of(*SECTIONS)
    found.router.is_slow = True
    first = found.begun("CREATE", {"prefix": "x"}, type=ADDRESS, name="x")
    first.send(None)
    assert create(found, ADDRESS, {"prefix": "y"}, name="x") == (400, "Name conflicts with an existing entity")
    assert create(found, ADDRESS, {"pattern": "x/#"}) == (400, "Already exists")
    assert run(first).status == 201
    assert found.router.asked == ["create 4"]


# --- listeners

LISTENER = {"host": "127.0.0.1", "port": "6210"}


def test_a_listener_is_created_and_shown_without_what_is_null() -> None:
    found = client_of(*SECTIONS)
    answer = found.ask("CREATE", dict(LISTENER), type="P.listener", name="n2")
    assert (answer.status, answer.description) == (201, "Created")
    assert answer.body == {
        **LISTENER,
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
        "name": "n2",
        "identity": "listener/127.0.0.1:6210:n2",
        "type": f"{P}listener",
    }
    assert found.router.asked == ["create listener/127.0.0.1:6210:n2"]
    assert found.ask("READ", type="P.listener", name="n2").body == answer.body


@pytest.mark.parametrize(
    ("body", "properties", "identity", "name"),
    [
        ({"port": "1"}, {}, "listener/:1", "listener/:1"),
        ({"port": 1, "name": "b"}, {}, "listener/:1:b", "b"),
        ({"port": 1, "name": "b"}, {"name": "b"}, "listener/:1:b", "b"),
        (None, {"name": "b"}, "listener/:amqp:b", "b"),
        ({"port": "1", "type": "listener"}, {}, "listener/:1", "listener/:1"),
        ({"port": "1", "type": f"{P}listener"}, {}, "listener/:1", "listener/:1"),
        ({"port": "1", "logMessage": "all"}, {}, "listener/:1", "listener/:1"),
    ],
)
def test_a_listener_has_its_identity_from_host_port_and_name(
    body: Any, properties: dict[str, str], identity: str, name: str
) -> None:
    answer = client_of(*SECTIONS).ask("CREATE", body, type="listener", **properties)
    assert (answer.status, answer.body["identity"], answer.body["name"]) == (201, identity, name)


_ROLES = "['normal', 'inter-router', 'route-container', 'edge']"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"bogus": 1}, f"Unknown attribute 'bogus' for '{P}listener'"),
        ({"x" * 500: 1}, f"Unknown attribute '{'x' * 100}'... (400 more) for '{P}listener'"),
        ({"role": "xx"}, f"{P}listener: Invalid value for enum{_ROLES}: 'xx'"),
        (
            {"cost": "abc"},
            f"{P}listener: 'abc' is not a whole number; allowed: 1 to 2147483647",
        ),
        ({"identity": "x"}, "Cannot set attribute 'identity' in CREATE"),
        ({"type": "log"}, "Conflicting values for 'type'"),
        ([], "Body of request must be a map"),
        ("text", "Body of request must be a map"),
    ],
)
def test_a_listener_that_is_wrong_is_refused(body: Any, sentence: str) -> None:
    found = client_of(*SECTIONS)
    answer = found.ask("CREATE", body, type="P.listener", name="n3")
    assert (refusal(answer), answer.body) == ((400, sentence), {})
    assert found.router.asked == []


def test_the_name_of_a_listener_is_its_own() -> None:
    found = client_of(*SECTIONS)
    existing = "ListenerEntity(name=L1, identity=listener/127.0.0.1:5672:L1)"
    adding = "adding ListenerEntity(name=L1, identity=listener/:1:L1)"
    sentence = f"{adding} duplicates unique attribute 'name' from existing {existing}"
    assert create(found, "P.listener", {"port": "1"}, name="L1") == (400, sentence)
    adding = "adding ListenerEntity(name=starry, identity=listener/:1:starry)"
    existing = "AddressEntity(name=starry, identity=address/1)"
    sentence = f"{adding} duplicates unique attribute 'name' from existing {existing}"
    assert create(found, "P.listener", {"port": "1"}, name="starry") == (400, sentence)
    adding = "adding ListenerEntity(name=self, identity=listener/:1:self)"
    existing = "ManagementEntity(name=self, identity=self)"
    sentence = f"{adding} duplicates unique attribute 'name' from existing {existing}"
    assert create(found, "P.listener", {"port": "1"}, name="self") == (400, sentence)


def test_the_identity_of_a_listener_is_its_own() -> None:
    found = client_of(*SECTIONS)
    same = "ListenerEntity(name=listener/:amqps, identity=listener/:amqps)"
    sentence = f"adding {same} duplicates unique attribute 'name' from existing {same}"
    assert create(found, "P.listener", {"port": "amqps"}) == (400, sentence)
    adding = "ListenerEntity(name=5672:L1, identity=listener/127.0.0.1:5672:L1)"
    assert create(found, "P.listener", {"host": "127.0.0.1", "port": "5672:L1"}, name="other") == (201, "Created")
    existing = "ListenerEntity(name=L1, identity=listener/127.0.0.1:5672:L1)"
    sentence = f"adding {adding} duplicates unique attribute 'identity' from existing {existing}"
    adding = "listener/127.0.0.1"
    body = {"host": "127.0.0.1:5672", "port": "L1"}
    adding = "ListenerEntity(name=listener/127.0.0.1:5672:L1, identity=listener/127.0.0.1:5672:L1)"
    sentence = f"adding {adding} duplicates unique attribute 'identity' from existing {existing}"
    assert create(found, "P.listener", body) == (400, sentence)


def test_of_two_listeners_at_once_only_one_has_the_name() -> None:
    found = client_of(*SECTIONS)
    found.router.is_slow = True
    first = found.begun("CREATE", dict(LISTENER), type="listener", name="n2")
    first.send(None)
    same = "ListenerEntity(name=n2, identity=listener/127.0.0.1:6210:n2)"
    sentence = f"adding {same} duplicates unique attribute 'name' from existing {same}"
    assert create(found, "listener", LISTENER, name="n2") == (400, sentence)
    assert run(first).status == 201


def test_a_connector_is_created_and_deleted() -> None:
    found = client_of(*SECTIONS)
    body = {"host": "b", "port": "5673", "saslUsername": "ann", "saslPassword": "hunter2"}
    answer = found.ask("CREATE", body, type="P.connector", name="B")
    assert refusal(answer) == (201, "Created")
    assert answer.body == {
        **{"host": "b", "port": "5673", "saslUsername": "ann", "role": "normal", "cost": 1, "allowRedirect": True},
        **{"maxFrameSize": 16384, "maxSessions": 32768, "idleTimeoutSeconds": 16, "stripAnnotations": "both"},
        **{"verifyHostname": True, "messageLoggingComponents": "none", "dedicatedActor": False},
        **{"websockets": False, "webSocketPath": "/"},
        **{"name": "B", "identity": "connector/b:5673:B", "type": f"{P}connector"},
    }
    [created] = [one for one in found.router.entities if one.type.name == "connector"]
    assert created.values["saslPassword"] == "hunter2"
    assert found.ask("DELETE", type="P.connector", name="B").status == 204
    assert found.router.asked == ["create connector/b:5673:B", "delete connector/b:5673:B"]


def test_no_two_connectors_are_called_the_same() -> None:
    found = client_of(*SECTIONS)
    assert create(found, "P.connector", {"host": "b"}) == (201, "Created")
    same = "ConnectorEntity(name=connector/b:amqp, identity=connector/b:amqp)"
    sentence = f"adding {same} duplicates unique attribute 'name' from existing {same}"
    assert create(found, "P.connector", {"host": "b"}) == (400, sentence)
    assert create(found, "P.connector", {"host": "b"}, name="B") == (201, "Created")


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"bogus": 1}, f"Unknown attribute 'bogus' for '{P}connector'"),
        ({"connectionStatus": "x"}, "Cannot set attribute 'connectionStatus' in CREATE"),
        ({"failoverUrls": "x"}, "Cannot set attribute 'failoverUrls' in CREATE"),
        ({"cost": 0}, f"{P}connector: 0 is too small; allowed: 1 to 2147483647"),
    ],
)
def test_a_connector_that_is_wrong_is_refused(body: Any, sentence: str) -> None:
    found = client_of(*SECTIONS)
    answer = found.ask("CREATE", body, type="P.connector", name="B")
    assert (refusal(answer), answer.body) == ((400, sentence), {})
    assert found.router.asked == []


def test_a_connector_cannot_be_changed() -> None:
    found = client_of(*SECTIONS)
    assert create(found, "P.connector", {"host": "b"}, name="B") == (201, "Created")
    sentence = f"Operation 'UPDATE' not implemented for '{P}connector' ['CREATE', 'DELETE', 'READ']"
    assert refusal(found.ask("UPDATE", {"cost": 2}, type="P.connector", name="B")) == (501, sentence)


def test_a_creation_without_a_type_is_refused() -> None:
    answer = client_of(*SECTIONS).ask("CREATE", {"type": "listener"}, name="n3")
    assert (refusal(answer), answer.body) == ((400, "No 'type' attribute in {'type': None, 'name': 'n3'}"), {})


@pytest.mark.parametrize(
    ("kind", "operations"),
    [("log", ["UPDATE", "READ"]), ("policy", ["READ"]), ("logStats", ["READ"]), ("router", ["READ"])],
)
def test_a_type_that_is_not_made_by_clients_is_not_implemented(kind: str, operations: list[str]) -> None:
    answer = client_of(*SECTIONS).ask("CREATE", {}, type=kind)
    sentence = f"Operation 'CREATE' not implemented for '{P}{kind}' {operations}"
    assert (refusal(answer), answer.body) == ((501, sentence), {})


# --- what is missing, or not made here


@pytest.mark.parametrize(
    ("kind", "body", "sentence"),
    [
        ("vhost", {}, f"{P}vhost: Missing required attribute 'hostname'"),
        ("router.connection.linkRoute", {"direction": "in"}, "Pattern field is required"),
        ("router.connection.linkRoute", {"pattern": "a", "direction": "in"}, ANOTHERS),
    ],
)
def test_what_is_missing_or_not_made_here_is_checked_and_refused(kind: str, body: Any, sentence: str) -> None:
    found = client_of(*SECTIONS)
    answer = found.ask("CREATE", body, type=f"P.{kind}", name="x")
    assert (refusal(answer), answer.body) == ((400, sentence), None if kind.startswith("router.") else {})
    assert found.router.asked == []
