"""Every operation, status and sentence of management, over AMQP: what scripts compare with what they expect."""

import re
from typing import Any

import pytest

from tests.system.conftest import Manage, in_process
from tests.system.management_client import NODE, PREFIX, ManagementClient
from tests.system.routers import ROUTER_ID, RunningRouter

LISTENER, LOG, ROUTER, LINK = (PREFIX + name for name in ("listener", "log", "router", "router.link"))
ADDRESS, CONNECTION = PREFIX + "router.config.address", PREFIX + "connection"
IN_USE = PREFIX + "router.address"
OK = (200, "OK")


def query(entity_type: str, **properties: Any) -> dict[str, Any]:
    return {"operation": "QUERY", "entityType": entity_type, **NODE, **properties}


def of(operation: str, entity_type: str | None = None, **properties: Any) -> dict[str, Any]:
    return {"operation": operation, **({} if entity_type is None else {"type": entity_type}), **properties}


ANSWERED: list[tuple[str, dict[str, Any], Any, int, str]] = [
    ("query", query(LISTENER), {"attributeNames": ["name"]}, *OK),
    ("query-short", query("listener"), {"attributeNames": []}, *OK),
    ("query-live", query(ROUTER), {"attributeNames": ["id", "bogus"]}, *OK),
    ("query-base", query("configurationEntity"), {"attributeNames": ["identity"]}, *OK),
    ("query-all", {"operation": "QUERY", **NODE}, {"attributeNames": ["identity"]}, *OK),
    ("query-page", query(CONNECTION, offset=1000, count=5), {"attributeNames": []}, *OK),
    (
        *("query-unknown-attribute", query(LISTENER), {"attributeNames": ["bogus"]}, 404),
        f"Unknown attributes ['bogus'] for type {LISTENER}.",
    ),
    ("query-unknown-type", query(f"{PREFIX}bogus"), {}, 400, f"No such entity type '{PREFIX}bogus'"),
    ("read-self", of("READ"), None, *OK),
    ("read-named", of("READ", LISTENER, name="clients"), None, *OK),
    ("read-general-router", of("READ", name=f"router/{ROUTER_ID}"), None, *OK),
    ("read-nobody", of("READ", LISTENER, name="nope"), None, 404, "No entity with name=nope"),
    ("read-no-name", of("READ", "listener"), None, 400, f"{LISTENER}: No name or identity provided"),
    (
        *("read-other-type", of("READ", PREFIX + "connector", name="clients"), None, 400),
        f"Entity type '{LISTENER}' does not extend requested type '{PREFIX}connector'",
    ),
    (
        *("read-conflicting", of("READ", name="clients", identity="log/AGENT"), None, 400),
        "Conflicting name=clients identity=log/AGENT",
    ),
    ("read-live-router", of("READ", ROUTER, identity="1"), None, 403, "Forbidden"),
    ("read-connection-by-name", of("READ", CONNECTION, name="x"), None, 400, "Name not supported. Identity required"),
    ("read-address", of("READ", IN_USE, identity="M0$management"), None, *OK),
    ("read-no-address", of("READ", IN_USE, identity="M0nothing"), None, 404, "Not Found"),
    ("read-no-link", of("READ", LINK, identity="987654"), None, 404, "Not Found"),
    ("create-no-body", of("CREATE", ADDRESS, name="x"), None, 400, "Body of request must be a map"),
    ("create-both", of("CREATE", ADDRESS), {"prefix": "a", "pattern": "b"}, 400, "Cannot specify both"),
    ("create-phase", of("CREATE", ADDRESS), {"prefix": "a", "ingressPhase": 12, "egressPhase": 1}, 400, "Phase values"),
    ("create-no-tokens", of("CREATE", ADDRESS), {"prefix": "./."}, 400, "Prefix invalid - no tokens"),
    ("create-same-pattern", of("CREATE", ADDRESS, name="again"), {"prefix": "multicast"}, 400, "Already exists"),
    ("create-priority", of("CREATE", ADDRESS), {"prefix": "a", "priority": 77}, 400, "Priority value, if present"),
    (
        *("create-no-type", {"operation": "CREATE", "name": "x"}, {"type": LISTENER}, 400),
        "No 'type' attribute in {'type': None",
    ),
    (
        *("create-identity", of("CREATE", LISTENER, name="x"), {"identity": "x", "port": "1"}, 400),
        "Cannot set attribute 'identity' in CREATE",
    ),
    (
        *("create-unknown-attribute", of("CREATE", LISTENER, name="x"), {"port": "1", "bogus": 1}, 400),
        f"Unknown attribute 'bogus' for '{LISTENER}'",
    ),
    (
        *("create-bad-value", of("CREATE", LISTENER, name="x"), {"port": "1", "role": "xx"}, 400),
        f"{LISTENER}: Invalid value for enum",
    ),
    (
        *("create-names-differ", of("CREATE", LISTENER, name="x"), {"name": "y", "port": "1"}, 400),
        "Conflicting values for 'name'",
    ),
    ("create-dummy", of("CREATE", PREFIX + "dummy", name="x"), {"arg1": "a"}, 201, "Created"),
    ("create-log", of("CREATE", LOG, name="x"), {}, 501, f"Operation 'CREATE' not implemented for '{LOG}'"),
    ("update-log", of("UPDATE", identity="log/POLICY"), {"enable": "info+"}, *OK),
    (
        *("update-module", of("UPDATE", identity="log/AGENT"), {"module": "SERVER"}, 400),
        "Cannot update attribute 'module' in UPDATE",
    ),
    (
        *("update-bad-level", of("UPDATE", identity="log/AGENT"), {"enable": "bogus"}, 500),
        "CError: Configuration: 'bogus' is not a valid log level.",
    ),
    (
        *("update-listener", of("UPDATE", name="clients"), {"port": "1"}, 501),
        f"Operation 'UPDATE' not implemented for '{LISTENER}'",
    ),
    (
        *("update-no-connection", of("UPDATE", CONNECTION, identity="987654"), {"adminStatus": "deleted"}, 400),
        "Bad Request",
    ),
    ("update-live-address", of("UPDATE", ADDRESS, identity="1"), {"prefix": "x"}, 501, "Operation 'UPDATE'"),
    ("delete-nobody", of("DELETE", LISTENER, name="nope"), None, 404, "No entity with name=nope"),
    ("delete-no-address", of("DELETE", ADDRESS, name="nope"), None, 404, "Not Found"),
    ("delete-connection", of("DELETE", CONNECTION, identity="1"), None, 403, "Forbidden"),
    (
        *("delete-log", of("DELETE", LOG, identity="log/AGENT"), None, 501),
        f"Operation 'DELETE' not implemented for '{LOG}'",
    ),
    ("types", of("GET-TYPES", **NODE), None, *OK),
    ("attributes", of("get_attributes", **NODE, entityType=LISTENER), None, *OK),
    ("operations", of("GET-OPERATIONS", **NODE), None, *OK),
    ("annotations", of("GET-ANNOTATIONS", **NODE), None, *OK),
    ("nodes", of("GET-MGMT-NODES", **NODE), None, *OK),
    ("schema", of("GET-SCHEMA", **NODE), None, *OK),
    ("json-schema", of("GET-JSON-SCHEMA", **NODE, indent=2), None, *OK),
    ("log", of("GET-LOG", **NODE, limit="3"), None, *OK),
    ("profile", of("PROFILE", **NODE), None, 400, "Profiler not started"),
    ("unknown", of("BOGUS", **NODE), None, 501, f"Operation 'BOGUS' not implemented for '{PREFIX}management'"),
    ("nothing", {}, None, 400, "No 'operation' property"),
]

pytestmark = in_process


@pytest.mark.parametrize(
    ("properties", "body", "status", "start"), [one[1:] for one in ANSWERED], ids=[one[0] for one in ANSWERED]
)
def test_a_request_is_answered_with_its_status_and_its_sentence(
    manage: ManagementClient, properties: dict[str, Any], body: Any, status: int, start: str
) -> None:
    told = manage.ask(properties, body)
    assert (told.status, told.description[: len(start)]) == (status, start)


def test_a_request_without_anything_is_answered(router: RunningRouter, manage_at: Manage) -> None:
    client = manage_at(router.port)
    client.send(None, None, reply_to=client.reply_to)  # type: ignore[arg-type]
    told = client.receive()
    assert (told.status, bool(re.match("No 'operation' property", told.description))) == (400, True)
