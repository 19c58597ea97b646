"""Link routes and auto-links over management: which are refused and how, and what is told of those that there are."""

from typing import Any

import pytest

from routerd.management import AutoLinkRow, LinkRouteRow
from tests.unit.management.fake_router import Client, FakeRouter, client_of, refusal

ROUTE = "P.router.config.linkRoute"
LINK = "P.router.config.autoLink"
IN_AND_PREFIX = {"direction": "in", "prefix": "a"}
BOTH = "Both connection and containerId cannot be specified. Specify only one"
FIELDS = "address and direction fields are mandatory"


def created(kind: str, body: Any, name: str | None = "x") -> tuple[Client, Any]:
    client = client_of()
    return client, client.ask("CREATE", body, type=kind, name=name)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (None, "Body of request must be a map"),
        ({"connection": "c", "containerId": "d"}, BOTH),
        ({}, "No 'direction' attribute provided - it is mandatory"),
        ({"prefix": "a"}, "No 'direction' attribute provided - it is mandatory"),
        ({"direction": "in"}, "Either a 'prefix' or 'pattern' attribute must be provided"),
        ({"dir": "up"}, "Either a 'prefix' or 'pattern' attribute must be provided"),
        ({**IN_AND_PREFIX, "pattern": "a"}, "Cannot specify both a 'prefix' and a 'pattern' attribute"),
        ({"direction": "in", "prefix": ""}, "Prefix must be a non-empty string type"),
        ({"direction": "in", "pattern": 5}, "Pattern must be a non-empty string type"),
        ({"direction": "in", "prefix": "./"}, "Prefix invalid - no tokens"),
        ({"direction": "in", "pattern": "/"}, "Pattern invalid - no tokens"),
        ({**IN_AND_PREFIX, "direction": "up"}, "Invalid value for 'direction'"),
        ({**IN_AND_PREFIX, "distribution": "x"}, "Invalid value for 'distribution'"),
    ],
)
def test_a_link_route_that_is_wrong_is_refused(body: Any, sentence: str) -> None:
    client, answer = created(ROUTE, body)
    assert (refusal(answer), answer.body) == ((400, sentence), None)
    assert client.router.asked == []


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (None, "Body of request must be a map"),
        ({"connection": "c", "containerId": "d"}, BOTH),
        ({}, FIELDS),
        ({"address": "a"}, FIELDS),
        ({"direction": "in"}, FIELDS),
        ({"address": "a", "direction": "up"}, "Invalid value for 'direction'"),
        ({"address": "a", "direction": "in", "phase": 10}, "autoLink phase must be between 0 and 9"),
    ],
)
def test_an_auto_link_that_is_wrong_is_refused(body: Any, sentence: str) -> None:
    client, answer = created(LINK, body)
    assert (refusal(answer), answer.body) == ((400, sentence), None)
    assert client.router.asked == []


@pytest.mark.parametrize(("kind", "body"), [(ROUTE, IN_AND_PREFIX), (LINK, {"address": "a", "direction": "in"})])
def test_a_name_is_taken_once_among_those_of_a_type(kind: str, body: dict[str, Any]) -> None:
    client, answer = created(kind, body)
    assert answer.status == 201
    assert refusal(client.ask("CREATE", body, type=kind, name="x")) == (400, "Name conflicts with an existing entity")
    assert client.ask("CREATE", body, type=kind, name="y").status == 201
    assert client.ask("CREATE", {"prefix": "a"}, type="P.router.config.address", name="x").status == 201


def test_a_new_link_route_is_told_with_its_state() -> None:
    _, answer = created(ROUTE, {"prefix": "a.b.", "dir": "out", "connection": "broker"})
    assert answer.body == {
        "name": "x",
        "identity": "1",
        "type": "org.apache.qpid.dispatch.router.config.linkRoute",
        "prefix": "a.b",
        "pattern": None,
        "direction": "out",
        "dir": "out",
        "distribution": "linkBalanced",
        "connection": "broker",
        "containerId": None,
        "addExternalPrefix": None,
        "delExternalPrefix": None,
        "operStatus": "inactive",
    }


def test_a_new_auto_link_is_told_with_the_phase_of_its_direction() -> None:
    _, answer = created(LINK, {"addr": "a", "dir": "in", "containerId": "c", "externalAddr": "b"})
    assert answer.body == {
        "name": "x",
        "identity": "1",
        "type": "org.apache.qpid.dispatch.router.config.autoLink",
        **{"address": "a", "addr": "a", "direction": "in", "dir": "in", "phase": 1},
        **{"connection": None, "containerId": "c", "externalAddress": "b", "externalAddr": "b"},
        **{"linkRef": None, "operStatus": "inactive", "lastError": None, "fallback": False},
    }
    assert created(LINK, {"address": "a", "direction": "out"})[1].body["phase"] == 0
    assert created(LINK, {"address": "a", "direction": "in", "fallback": True})[1].body["phase"] == 0
    assert created(LINK, {"address": "a", "direction": "in", "phase": "3"})[1].body["phase"] == 3


def test_a_link_route_is_active_if_it_is_at_one_worker() -> None:
    client = client_of(("linkRoute", {"name": "r", **IN_AND_PREFIX}), ("linkRoute", IN_AND_PREFIX))
    client.router.link_route_rows = [
        *(LinkRouteRow(0, "r", 0), LinkRouteRow(1, "r", 2)),
        *(LinkRouteRow(0, "linkRoute/1", 0), LinkRouteRow(1, "linkRoute/1", 0)),
    ]
    assert client.rows(ROUTE, "operStatus") == [["active"], ["inactive"]]
    assert client.ask("READ", type=ROUTE, name="r").body["operStatus"] == "active"


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([], ["inactive", None, None]),
        ([("inactive", None, None), ("failed", None, "no")], ["failed", None, "no"]),
        ([("failed", None, "no"), ("attaching", 7, None)], ["attaching", "7", "no"]),
        ([("attaching", 7, None), ("active", 9, None)], ["active", "9", None]),
        ([("quiescing", 7, None), ("failed", None, "no")], ["failed", "7", "no"]),
    ],
)
def test_an_auto_link_is_what_it_is_where_it_is_best(rows: list[Any], told: list[Any]) -> None:
    router = FakeRouter(("autoLink", {"address": "a", "direction": "in"}))
    router.auto_link_rows = [AutoLinkRow(number, "autoLink/0", *row) for number, row in enumerate(rows)]
    client = Client(router)
    assert client.rows(LINK, "operStatus", "linkRef", "lastError") == [told]
    body = client.ask("READ", type=LINK, identity="1").body
    assert [body[name] for name in ("operStatus", "linkRef", "lastError")] == told


def test_the_general_view_tells_of_their_states() -> None:
    router = FakeRouter(
        ("autoLink", {"name": "x", "address": "a", "direction": "in"}), ("linkRoute", {"name": "r", **IN_AND_PREFIX})
    )
    router.auto_link_rows = [AutoLinkRow(0, "x", "active", 4, None)]
    router.link_route_rows = [LinkRouteRow(0, "r", 1)]
    client = Client(router)
    found = client.ask("READ", type=LINK, name="x", identity="autoLink/0").body
    general = client.ask("READ", identity="linkRoute/0").body
    assert (found, general["operStatus"]) != (None, "inactive")
    assert general["operStatus"] == "active"


def test_the_router_counts_them_all() -> None:
    client = client_of(
        ("autoLink", {"address": "a", "direction": "in"}),
        ("autoLink", {"address": "a", "direction": "out"}),
        ("linkRoute", IN_AND_PREFIX),
    )
    assert client.rows("P.router", "linkRouteCount", "autoLinkCount") == [[1, 2]]


@pytest.mark.parametrize(("kind", "body"), [(ROUTE, IN_AND_PREFIX), (LINK, {"address": "a", "direction": "in"})])
def test_they_end_by_name_or_number_and_cannot_be_updated(kind: str, body: dict[str, Any]) -> None:
    client, _ = created(kind, body)
    assert client.ask("UPDATE", {}, type=kind, name="x").status == 501
    assert refusal(client.ask("READ", type=kind)) == (400, "No name or identity provided")
    assert refusal(client.ask("DELETE", type=kind)) == (400, "No name or identity provided")
    assert refusal(client.ask("READ", type=kind, name="other")) == (404, "Not Found")
    assert refusal(client.ask("DELETE", type=kind, name="x")) == (204, "No Content")
    assert refusal(client.ask("DELETE", type=kind, identity="1")) == (404, "Not Found")
