"""What the management node tells of itself, of the schema and of the network."""

import json

import pytest

from routerd.core import RouterMode, RouterSettings
from routerd.management import ENTITY_TYPES
from tests.unit.management.fake_router import client_of, node, refusal

P = "org.apache.qpid.dispatch."
BASES = {"entity", "configurationEntity", "operationalEntity", "org.amqp.management"}


def test_the_types_are_told_with_those_they_are_built_on() -> None:
    types = client_of().ask("GET-TYPES").body
    assert list(types) == [P + name for name in ENTITY_TYPES]
    assert types[f"{P}management"] == [f"{P}org.amqp.management", f"{P}operationalEntity", f"{P}entity"]
    assert types[f"{P}entity"] == []
    assert client_of().ask("GET-TYPES", entityType="org.mobula.fabricLink").body == {
        "org.mobula.fabricLink": [f"{P}operationalEntity", f"{P}entity"]
    }


def test_the_types_of_a_filter_are_it_and_those_built_on_it() -> None:
    assert client_of().ask("GET-TYPES", entityType="org.amqp.management").body == {
        f"{P}org.amqp.management": [f"{P}operationalEntity", f"{P}entity"],
        f"{P}management": [f"{P}org.amqp.management", f"{P}operationalEntity", f"{P}entity"],
    }


@pytest.mark.parametrize("operation", ["GET-ATTRIBUTES", "get_attributes", "Get-Attributes"])
def test_the_attributes_of_a_type_are_told(operation: str) -> None:
    assert client_of().ask(operation, entityType="P.logStats").body == {
        f"{P}logStats": [
            *("traceCount", "debugCount", "infoCount", "noticeCount", "warningCount", "errorCount", "criticalCount"),
            *("name", "identity", "type"),
        ]
    }
    assert len(client_of().ask(operation).body) == len(ENTITY_TYPES)


def test_the_operations_of_a_type_are_told() -> None:
    found = client_of()
    assert found.ask("GET-OPERATIONS", entityType="listener").body == {f"{P}listener": ["CREATE", "DELETE", "READ"]}
    assert found.ask("GET-OPERATIONS", entityType="connection").body == {f"{P}connection": ["READ"]}
    assert found.ask("GET-OPERATIONS", entityType="connectionActor").body == {"org.mobula.connectionActor": ["READ"]}
    assert len(found.ask("GET-OPERATIONS").body) == len(ENTITY_TYPES)


@pytest.mark.parametrize("operation", ["GET-TYPES", "GET-ATTRIBUTES", "GET-OPERATIONS"])
def test_a_filter_that_is_no_type_is_refused(operation: str) -> None:
    assert refusal(client_of().ask(operation, entityType="bogus")) == (400, f"No such entity type '{P}bogus'")


def test_there_are_no_annotations_of_whatever() -> None:
    answer = client_of().ask("GET-ANNOTATIONS", entityType="bogus")
    assert (answer.status, answer.body) == (200, {})


@pytest.mark.parametrize(
    ("mode", "nodes"),
    [
        (RouterMode.STANDALONE, []),
        (RouterMode.EDGE, []),
        (RouterMode.INTERIOR, ["amqp:/_topo/0/R.1/$management", "amqp:/_topo/0/R.0/$management"]),
    ],
)
def test_an_interior_router_tells_the_nodes_of_its_network(mode: RouterMode, nodes: list[str]) -> None:
    found = client_of(settings=RouterSettings(id="R.1", mode=mode))
    found.router.node_rows = [node(0, "R.1"), node(1, "R.0", next_hop="R.2")]
    assert found.ask("GET-MGMT-NODES", type="org.amqp.management", name="self").body == nodes


def test_the_schema_has_all_types_by_their_short_names() -> None:
    schema = client_of().ask("GET-SCHEMA").body
    assert schema["prefix"] == "org.apache.qpid.dispatch"
    assert list(schema["entityTypes"]) == [
        *(one.section or one.name for one in ENTITY_TYPES.values()),
        "connectionActor",
        "fabricLink",
        "certificate",
        "record",
        "deliveryTopic",
        "publisher",
        "subscription",
    ]
    assert schema["entityTypes"]["linkRoute"]["fullyQualifiedType"] == f"{P}router.config.linkRoute"
    assert schema["entityTypes"]["fabricLink"]["fullyQualifiedType"] == "org.mobula.fabricLink"


def test_the_schema_leaves_out_what_is_empty() -> None:
    types = client_of().ask("GET-SCHEMA").body["entityTypes"]
    assert types["log"] == {
        "attributes": {
            "module": {
                "type": list(ENTITY_TYPES["log"].attributes["module"].tags),
                "required": True,
                "description": ENTITY_TYPES["log"].attributes["module"].description,
            },
            **{
                name: {"type": kind, "description": ENTITY_TYPES["log"].attributes[name].description}
                for name, kind in (
                    ("enable", "string"),
                    ("includeTimestamp", "boolean"),
                    ("includeSource", "boolean"),
                    ("outputFile", "string"),
                )
            },
            "name": {
                "type": "string",
                "unique": True,
                "description": "A name of your choice; no two entities of a type have the same.",
            },
            "identity": {
                "type": "string",
                "unique": True,
                "description": "Names the entity for ever; the router chooses it.",
            },
        },
        "operations": ["UPDATE", "READ"],
        "description": "What one module of the router writes to the log, and where to.",
        "fullyQualifiedType": f"{P}log",
    }
    assert (types["console"]["deprecated"], types["console"]["singleton"]) == (True, True)
    assert "operations" not in types["entity"]


def test_the_schema_has_the_defaults_that_tools_show() -> None:
    settings = client_of().ask("GET-SCHEMA").body["entityTypes"]["vhostUserGroupSettings"]["attributes"]
    assert settings["allowWaypointLinks"]["default"] is True
    assert "default" not in settings["allowDynamicSource"]
    assert client_of().ask("GET-SCHEMA").body["entityTypes"]["router"]["attributes"]["addrCount"]["graph"] is True


@pytest.mark.parametrize(("indent", "start"), [(None, '{"prefix": '), ("2", '{\n  "prefix": '), (0, '{\n"prefix": ')])
def test_the_schema_is_told_as_text(indent: object, start: str) -> None:
    text = client_of().ask("GET-JSON-SCHEMA", indent=indent).body
    assert text.startswith(start)
    assert json.loads(text) == client_of().ask("GET-SCHEMA").body


@pytest.mark.parametrize(
    ("indent", "sentence"),
    [
        (17, "indent: 17 is not from 0 to 16"),
        (-1, "indent: -1 is not from 0 to 16"),
        ("x", "indent: 'x' is not a whole number"),
    ],
)
def test_an_indent_that_is_too_deep_is_refused(indent: object, sentence: str) -> None:
    assert refusal(client_of().ask("GET-JSON-SCHEMA", indent=indent)) == (400, sentence)


def test_another_name_of_the_schema_is_not_implemented() -> None:
    assert client_of().ask("GET-SCHEMA-JSON").status == 501


def test_there_is_no_profiler() -> None:
    found = client_of()
    status, sentence = refusal(found.ask("PROFILE", start=""))
    assert (status, sentence.partition(":")[0]) == (501, "No profiler is built in")
    assert refusal(found.ask("PROFILE", stop="kgrind")) == (400, "Profiler not started")
    assert refusal(found.ask("PROFILE")) == (400, "Profiler not started")


def test_an_operation_of_the_node_is_not_one_of_other_entities() -> None:
    found = client_of(("listener", {"name": "L1"}))
    answer = found.ask("GET-TYPES", type="listener", name="L1")
    sentence = f"Operation 'GET-TYPES' not implemented for '{P}listener' ['CREATE', 'DELETE', 'READ']"
    assert refusal(answer) == (501, sentence)
