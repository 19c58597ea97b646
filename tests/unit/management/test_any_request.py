"""Whatever a client sends, it gets an answer with a status that it knows, and AMQP can carry it."""

from typing import Any

from hypothesis import given, settings
from hypothesis.strategies import (
    SearchStrategy,
    binary,
    booleans,
    dictionaries,
    floats,
    integers,
    lists,
    none,
    recursive,
    sampled_from,
    text,
)

from routerd.management import ALL_TYPES, Agent, Request
from routerd.wire import PairMap, Symbol, UInt, encode
from tests.unit.management.fake_router import SECTIONS, FakeRouter, address, connection, link, run

STATUSES = {200, 201, 204, 400, 403, 404, 500, 501}
SUCCESSES = {200: "OK", 201: "Created", 204: "No Content"}
LONGS = integers(-(2**63), 2**63 - 1)

operations = sampled_from(
    [
        *("QUERY", "READ", "CREATE", "UPDATE", "DELETE", "query", "read", "create", "get_types", "CALLME"),
        *("GET-TYPES", "GET-ATTRIBUTES", "GET-OPERATIONS", "GET-ANNOTATIONS", "GET-MGMT-NODES", "GET-SCHEMA"),
        *("GET-JSON-SCHEMA", "GET-LOG", "PROFILE", "BOGUS"),
    ]
)
type_names = sampled_from(
    [name for one in ALL_TYPES for name in (one.full_name, one.name, one.section or one.name)] + ["bogus"]
)
names = sampled_from(["self", "L1", "1", "2", "7", "log/AGENT", "starry", "address/0", "M0a", "fabricLink/3", "x"])
attributes = sampled_from(sorted({name for one in ALL_TYPES for name in (*one.attributes, *one.old_names)}))
tags = sampled_from(sorted({tag for one in ALL_TYPES for each in one.own_attributes for tag in each.tags}))
values: SearchStrategy[Any] = recursive(
    none() | booleans() | LONGS | floats() | text(max_size=5) | binary(max_size=3) | tags | names,
    lambda inner: (
        lists(inner, max_size=3)
        | dictionaries(text(max_size=3), inner, max_size=3)
        | lists(inner, max_size=1).map(lambda found: PairMap([(UInt(1), found), (True, found)]))
    ),
    max_leaves=4,
)
bodies = (
    dictionaries(attributes, values, max_size=4)
    | lists(attributes | values, max_size=4).map(lambda found: {"attributeNames": found})
    | dictionaries(attributes.map(Symbol) | LONGS, values, max_size=2)
    | values
)
properties = dictionaries(
    sampled_from(["type", "entityType", "name", "identity", "offset", "count", "limit", "indent", "start", "stop"]),
    type_names | names | values | integers(-2, 3),
    max_size=4,
)


def busy_router() -> FakeRouter:
    router = FakeRouter(*SECTIONS)
    router.connection_rows = [connection(7), connection(8, role="fabric", properties={"worker": 1})]
    router.link_rows = [link(2, connection=7), link(3, connection=8, role="fabric")]
    router.address_rows = [address("M0a"), address("M0a", worker=1)]
    return router


@settings(max_examples=1500)
@given(operations | values, properties, bodies)
def test_any_request_has_an_answer(operation: object, given_properties: dict[str, Any], body: object) -> None:
    router = busy_router()
    before = list(router.entities)
    answer = run(Agent(router).answer(Request({"operation": operation, **given_properties}, body)))
    assert answer.status in STATUSES
    assert (answer.status in SUCCESSES) is (answer.description == SUCCESSES.get(answer.status))
    # Only a level of the log that there is not makes a request fail with this status.
    assert answer.status != 500 or answer.description.startswith("CError: ")
    assert answer.status < 400 or router.entities == before
    encode(answer.body)
    encode(answer.description)


@given(properties, bodies)
def test_a_client_that_types_as_it_likes_creates_no_two_of_one_name(given: dict[str, Any], body: object) -> None:
    router = busy_router()
    agent = Agent(router)
    request = Request({**given, "operation": "CREATE"}, body)
    first, second = run(agent.answer(request)), run(agent.answer(request))
    assert second.status != 201
    assert first.status != 201 or second.status == 400
