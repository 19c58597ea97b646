"""All views and subcommands against the router's own management agent, over the engine and in memory."""

from dataclasses import replace
from typing import Any

import pytest

from routerd.cli.manage.client import ManagementClient
from routerd.cli.manage.failures import Refused
from routerd.cli.manage.node import Node
from routerd.cli.manage.report import Report, look
from routerd.cli.manage.requests import NOTHING, prepare
from routerd.cli.manage.table import Table
from routerd.cli.manage.views.catalogue import VIEWS
from routerd.cli.manage.views.explain import explain_view
from routerd.cli.manage.views.view import Ask, View
from routerd.cli.routermanage import command_of, option_parser
from routerd.management import Agent, LogRow, PolicyRow, PoolRow, Request, VhostRow
from tests.unit.cli.manage.canned_router import CannedRouter, MemoryStream, Reply
from tests.unit.management.fake_router import (
    SECTIONS,
    FakeRouter,
    address,
    connection,
    entities,
    link,
    publisher,
    run,
    subscription,
    topic,
    worker,
)

VIEWS_BY_NAME = {view.name: view for view in VIEWS}


@pytest.fixture
def router() -> FakeRouter:
    made = FakeRouter(*SECTIONS)
    made.connection_rows = [connection(1, consumers=1), connection(2, mechanism="PLAIN", user="ann")]
    made.link_rows = [
        link(1, deliveries=5),
        link(2, is_outgoing=True, deliveries=7, accepted=6, stuck=1),
        link(3, role="fabric", is_outgoing=True, deliveries=9),
    ]
    made.address_rows = [address("M0orders", consumers=1, ingress=5, egress=7), address("M0$management")]
    made.worker_rows = [replace(worker(0), connections=2, links=2)]
    made.topic_rows = [
        topic("news", subscriptions=2),
        topic("prices", subscriptions=3, oldest_s=61.0, waits_for=(("archive", "in"), ("board", "in"))),
    ]
    made.publisher_rows = [publisher("news", "desk"), publisher("prices", "shop", oldest_s=61.0)]
    made.subscription_rows = [
        subscription("prices", "board", undecided=1),
        subscription("prices", "archive", is_attached=False, away_s=60.0, publishers_waiting=1, oldest_waiting_s=61.0),
        subscription("news", "board"),
    ]
    made.log_rows = [LogRow(module="ROUTER", level="info", text="up", file=None, line=None, time=1_795_176_862.0)]
    made.pool_rows = [PoolRow(name="delivery", object_octets=200, in_use=3, allocated=10)]
    return made


def node_of(router: FakeRouter) -> Node:
    agent = Agent(router)

    def answer(address: str, properties: Any, body: Any) -> Reply:
        given = run(agent.answer(Request(properties, body)))
        return given.status, given.description, given.body

    stream = MemoryStream(CannedRouter(answer))
    return Node(ManagementClient(stream, "h:1", hostname=None, container_id="t", timeout_s=1, clock=stream.clock))


def seen(router: FakeRouter, view: str, **ask: Any) -> Report:
    return look(node_of(router), VIEWS_BY_NAME[view], Ask(**ask))


def table(router: FakeRouter, view: str, **ask: Any) -> Table:
    [found] = seen(router, view, **ask).sections[0].blocks
    assert isinstance(found, Table)
    return found


def manage(router: FakeRouter, *typed: str) -> Any:
    return prepare(command_of(option_parser().parse_intermixed_args(typed)))(node_of(router))


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
@pytest.mark.parametrize("is_verbose", [False, True])
def test_every_view_can_be_shown_in_every_form(router: FakeRouter, view: View, is_verbose: bool) -> None:
    report = look(node_of(router), view, Ask(is_verbose=is_verbose))
    text = report.text()
    if view.is_headed:
        assert text[1:3] == ["R1", ""]
    assert [section.router for section in report.sections] == ["R1"]
    assert len(text) >= len(report.csv()) - 1
    assert report.json()["routers"][0]["router"] == "R1"


@pytest.mark.parametrize("view", ["connections", "links", "address", "actors", "fabric", "records", "subscriptions"])
def test_a_view_has_all_its_columns(router: FakeRouter, view: str) -> None:
    expected = [column.title for column in VIEWS_BY_NAME[view].columns]
    assert list(table(router, view, is_verbose=True).titles()) == expected


def test_a_limit_is_kept(router: FakeRouter) -> None:
    assert len(table(router, "connections").rows) == 2
    assert len(table(router, "connections", limit=1).rows) == 1


def test_figures_are_those_of_the_router(router: FakeRouter) -> None:
    links = table(router, "links")
    at = links.titles().index
    assert [(row[at("id")], row[at("addr")], row[at("deliv")]) for row in links.rows] == [
        ("1", "orders", 5),
        ("2", "orders", 7),
    ]
    connections = table(router, "connections")
    at = connections.titles().index
    assert [row[at("authentication")] for row in connections.rows] == ["no-auth", "ann(PLAIN)"]


def test_the_subscription_that_holds_up_others_is_the_first_one(router: FakeRouter) -> None:
    found = table(router, "subscriptions")
    at = found.titles().index
    assert [(row[at("container")], row[at("state")], row[at("oldest")]) for row in found.rows] == [
        ("archive", "away", 61),
        ("board", "attached", 0),
        ("board", "attached", 0),
    ]
    assert found.heads[at("oldest")].is_trouble
    assert [row[at("container")] for row in table(router, "subscriptions", limit=1).rows] == ["archive"]


def test_a_topic_names_what_it_waits_for(router: FakeRouter) -> None:
    lines = [line.split() for line in seen(router, "topics").text()]
    assert [line[-7:] for line in lines if line[:1] in (["prices"], ["news"])] == [
        ["00:01:01", "archive/in", "+1", "0", "0", "0", "0"],
        ["0", "-", "-", "0", "0", "0", "0"],
    ]


def test_publishers_are_shown_with_all_of_topics(router: FakeRouter) -> None:
    topics, publishers = seen(router, "topics", is_verbose=True).sections[0].blocks
    assert isinstance(topics, Table)
    assert isinstance(publishers, Table)
    assert list(topics.titles()) == [column.title for column in VIEWS_BY_NAME["topics"].columns]
    at = publishers.titles().index
    assert [row[at("container")] for row in publishers.rows] == ["shop", "desk"]


def test_an_explanation_is_made_of_what_the_agent_tells(router: FakeRouter) -> None:
    router.connection_rows = [connection(1, container="shop"), connection(2, container="t")]
    router.link_rows = [link(2, is_outgoing=True, credit=5, unsettled=3, address="M0orders")]
    text = look(node_of(router), explain_view("orders"), Ask()).text()
    assert text[3] == "It goes to shop, the only one that can take it now."
    assert "  Consumers: 1 at this router, 0 other routers have some." in text
    assert text[-1].split() == ["shop", "takes", "messages", "0", "0", "3", "5"]
    [told] = look(node_of(router), explain_view("gone/x"), Ask()).json()["routers"]
    titles = [table["title"] for table in told["tables"]]
    assert titles == ["Answer", "Explanation", "Why", "Candidates"]
    assert told["tables"][1]["values"] == {
        **{"address": "gone/x", "verdict": "refused", "distribution": "unavailable", "phase": "0"}
    }


def test_an_explanation_has_what_only_the_general_view_tells(router: FakeRouter) -> None:
    router.entities[:1] = entities(("router", {"id": "R1", "defaultDistribution": "closest", "mode": "edge"}))
    text = "\n".join(look(node_of(router), explain_view("news"), Ask()).text())
    assert "the distribution is closest, the default of the router" in text


def test_an_explanation_has_the_rights_of_who_asks() -> None:
    group = {"users": "ann", "targets": "orders"}
    vhost = {"hostname": "shop", "groups": {"buyers": group}}
    router = FakeRouter(("router", {"id": "R1"}), ("policy", {"enableVhostPolicy": True}), ("vhost", vhost))
    router.connection_rows = [connection(2, container="t", mechanism="PLAIN", user="ann", host="h:2")]
    router.policy_rows = [PolicyRow(vhosts=[VhostRow(hostname="shop", by_user={"ann": ("h:2",)})])]
    [told] = look(node_of(router), explain_view("orders"), Ask()).json()["routers"]
    assert told["tables"][3] == {
        "title": "Rights",
        "rows": [{"vhost": "shop", "group": "buyers", "send": "yes", "receive": "no", "yours": "yes"}],
    }
    assert "You are ann in group buyers of vhost shop, and may send here, but may not receive from it." in (
        told["tables"][2]["rows"][0]["text"]
    )


def test_an_address_is_made_found_and_ended(router: FakeRouter) -> None:
    made = manage(router, "create", "--type", "address", "--name", "qa", "prefix=qa", "distribution=multicast")
    assert (made["name"], made["prefix"], made["distribution"]) == ("qa", "qa", "multicast")
    query = ("query", "--type", "address", "name", "prefix")
    assert {"name": "qa", "prefix": "qa"} in manage(router, *query)
    assert manage(router, "delete", "--type", "address", "--name", "qa") is NOTHING
    assert {"name": "qa", "prefix": "qa"} not in manage(router, *query)


def test_a_log_module_is_updated(router: FakeRouter) -> None:
    updated = manage(router, "update", "--type", "log", "--identity", "log/SERVER", "enable=info+")
    assert updated["enable"] == "info+"
    assert manage(router, "read", "--type", "log", "--identity", "log/SERVER")["enable"] == "info+"


@pytest.mark.parametrize(
    ("typed", "status"),
    [
        (["read", "--type", "listener", "--name", "nope"], "NotFoundStatus: No entity with name=nope"),
        (["query", "--type", "bogus"], "BadRequestStatus: No such entity type 'org.apache.qpid.dispatch.bogus'"),
        (["delete", "--type", "log", "--identity", "log/SERVER"], "NotImplementedStatus: "),
    ],
)
def test_a_refusal_has_the_name_that_scripts_know(router: FakeRouter, typed: list[str], status: str) -> None:
    with pytest.raises(Refused) as caught:
        manage(router, *typed)
    assert str(caught.value).startswith(status)


@pytest.mark.parametrize("operation", ["get-types", "get-attributes", "get-operations", "get-schema"])
def test_node_operations_answer_with_maps(router: FakeRouter, operation: str) -> None:
    assert "org.apache.qpid.dispatch.listener" in str(manage(router, operation))


def test_the_log_and_the_schema_can_be_read(router: FakeRouter) -> None:
    assert manage(router, "get-log", "limit=1") == [["ROUTER", "info", "up", None, None, 1_795_176_862]]
    assert manage(router, "get-json-schema").startswith("{")


def test_all_routers_are_shown_one_after_the_other(router: FakeRouter) -> None:
    agent = Agent(router)
    nodes = ["amqp:/_topo/0/R1/$management", "amqp:/_topo/0/R2/$management"]

    def answer(address: str, properties: Any, body: Any) -> Reply:
        if properties["operation"] == "GET-MGMT-NODES":
            return 200, "OK", nodes
        given = run(agent.answer(Request(properties, body)))
        return given.status, given.description, given.body

    served = CannedRouter(answer)
    stream = MemoryStream(served)
    client = ManagementClient(stream, "h:1", hostname=None, container_id="t", timeout_s=1, clock=stream.clock)
    report = look(Node(client), VIEWS_BY_NAME["connections"], Ask(), of_all_routers=True)
    lines = report.text()
    assert [line for line in lines if line.startswith("Router")] == ["Router  R1", "Router  R2"]
    assert lines[2:4] == ["", "Connections"]
    assert [request[0] for request in served.requests] == [
        *("$management", "_topo/0/R1/$management", "_topo/0/R2/$management")
    ]
