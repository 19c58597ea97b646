"""What `routermanage` makes of what is typed, and asks of a router."""

import json
from typing import Any

import pytest

from routerd.cli.manage.attribute_arguments import parse_attributes
from routerd.cli.manage.client import ManagementClient
from routerd.cli.manage.connecting import place_of
from routerd.cli.manage.failures import WrongUse
from routerd.cli.manage.node import Node
from routerd.cli.manage.requests import NOTHING, Command, prepare
from routerd.cli.manage.schema_names import entity_type, full_type
from routerd.cli.routermanage import command_of, option_parser
from tests.unit.cli.manage.canned_router import CannedRouter, MemoryStream

P = "org.apache.qpid.dispatch."
TO_NODE = {"type": "org.amqp.management", "name": "self"}


@pytest.mark.parametrize(
    ("typed", "full"),
    [
        ("listener", P + "listener"),
        ("address", P + "router.config.address"),
        ("linkRoute", P + "router.config.linkRoute"),
        ("autoLink", P + "router.config.autoLink"),
        ("link", P + "router.link"),
        ("node", P + "router.node"),
        ("connection", P + "connection"),
        # qdmanage makes unknown types of these.
        ("exchange", P + "router.config.exchange"),
        ("binding", P + "router.config.binding"),
        ("router.link", P + "router.link"),
        ("router.config.exchange", P + "router.config.exchange"),
        ("connectionActor", "org.mobula.connectionActor"),
        ("org.mobula.fabricLink", "org.mobula.fabricLink"),
        ("org.amqp.management", "org.amqp.management"),
        (P + "router.link", P + "router.link"),
        # Not in our schema, but perhaps in that of the router.
        ("tcpConnector", P + "tcpConnector"),
        ("com.example.thing", "com.example.thing"),
    ],
)
def test_a_type_is_known_by_its_short_names(typed: str, full: str) -> None:
    assert full_type(typed) == full


def test_values_are_those_of_their_attributes() -> None:
    listener = entity_type(P + "listener")
    assert parse_attributes(["host=true", "cost=5", "port=5672", "http=true", "name"], listener) == {
        **{"host": "true", "cost": 5, "port": "5672", "http": True, "name": None}
    }
    assert parse_attributes(["a=true", "b=false", "c=yes", "d", "e=x=y", "f="]) == {
        **{"a": True, "b": False, "c": "yes", "d": None, "e": "x=y", "f": ""}
    }
    assert parse_attributes(["a=yes", "b=off"], is_update=True) == {"a": True, "b": False}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["prot=1"], "listener has no attribute 'prot'; did you mean port?"),
        (["cost=many"], "cost is a whole number, and 'many' is none"),
        (["=x"], "'=x' is not of the form NAME=VALUE"),
    ],
)
def test_wrong_attributes_are_refused(arguments: list[str], complaint: str) -> None:
    with pytest.raises(WrongUse) as caught:
        parse_attributes(arguments, entity_type(P + "listener"))
    assert str(caught.value) == complaint


def command(*typed: str) -> Command:
    return command_of(option_parser().parse_intermixed_args(typed))


def asked(typed: Command, body: Any = None) -> tuple[list[tuple[dict[str, Any], Any]], Any]:
    """What is asked of the router, which answers with a body, and what is printed of that."""
    router = CannedRouter(lambda *_: (200, "OK", body))
    stream = MemoryStream(router)
    act = prepare(typed)
    client = ManagementClient(stream, "h:1", hostname=None, container_id="t", timeout_s=1, clock=stream.clock)
    printed = act(Node(client))
    return [(properties, content) for _, properties, content in router.requests], printed


def test_a_query_prints_what_is_not_null() -> None:
    body = {"attributeNames": ["host", "user"], "results": [["a", None], ["b", "ann"]]}
    requests, printed = asked(command("QUERY", "--type", "connection", "host", "user"), body)
    assert requests == [
        (
            {"operation": "QUERY", **TO_NODE, "entityType": P + "connection", "offset": 0, "count": 500},
            {"attributeNames": ["host", "user"]},
        )
    ]
    assert printed == [{"host": "a"}, {"host": "b", "user": "ann"}]


def test_a_query_without_type_asks_for_everything() -> None:
    [(properties, _)], _ = asked(command("query"), {"attributeNames": [], "results": []})
    assert "entityType" not in properties


@pytest.mark.parametrize(
    ("typed", "properties", "body"),
    [
        (
            ["read", "--type", "router.address", "--name", "a", "--identity", "M0a"],
            {"operation": "READ", "type": P + "router.address", "identity": "M0a"},
            None,
        ),
        (["READ", "--name", "L1"], {"operation": "READ", "name": "L1"}, None),
        (
            ["create", "--type", "address", "--name", "qa", "prefix=qa", "distribution=multicast", "priority=3"],
            {"operation": "CREATE", "type": P + "router.config.address", "name": "qa"},
            {"prefix": "qa", "distribution": "multicast", "priority": 3},
        ),
        (
            ["create", "type=address", "prefix=qa"],
            {"operation": "CREATE", "type": P + "router.config.address"},
            {"prefix": "qa"},
        ),
        (
            ["update", "--identity", "log/AGENT", "enable=debug+", "--type", "log"],
            {"operation": "UPDATE", "type": P + "log", "identity": "log/AGENT"},
            {"enable": "debug+"},
        ),
        (
            ["update", "--identity", "7", "--type", "connection", "enableProtocolTrace=yes"],
            {"operation": "UPDATE", "type": P + "connection", "identity": "7"},
            {"enableProtocolTrace": True},
        ),
        (
            ["get-attributes", "listener"],
            {"operation": "GET-ATTRIBUTES", **TO_NODE, "entityType": P + "listener"},
            None,
        ),
        (["get-types"], {"operation": "GET-TYPES", **TO_NODE}, None),
        (["Get-Mgmt-Nodes"], {"operation": "GET-MGMT-NODES", **TO_NODE}, None),
        (["get-log", "limit=1"], {"operation": "GET-LOG", **TO_NODE, "limit": "1"}, None),
        (["profile", "start"], {"operation": "PROFILE", **TO_NODE, "start": None}, None),
        (
            ["callme", "--type", "dummy", "--name", "x", "--properties", '{"a": 1}', "--body", "[2]"],
            {"operation": "CALLME", "type": P + "dummy", "name": "x", "a": 1},
            [2],
        ),
    ],
)
def test_what_is_typed_is_asked(typed: list[str], properties: dict[str, Any], body: Any) -> None:
    assert asked(command(*typed), {"x": None}) == ([(properties, body)], {"x": None})


def test_nothing_is_printed_of_what_is_empty() -> None:
    assert asked(command("delete", "--name", "a"), {}) == ([({"operation": "DELETE", "name": "a"}, None)], NOTHING)
    assert asked(command("callme"), None)[1] is NOTHING
    assert asked(command("get-json-schema", "indent=2"), "{}")[1] == "{}"


def test_stdin_makes_many() -> None:
    given = json.loads('[{"type": "listener", "name": "s1", "port": "1"}, {"type": "address", "prefix": "s2"}]')
    requests, printed = asked(Command(operation="CREATE", given=given), {"made": True})
    assert requests == [
        ({"operation": "CREATE", "type": P + "listener", "name": "s1"}, {"port": "1"}),
        ({"operation": "CREATE", "type": P + "router.config.address"}, {"prefix": "s2"}),
    ]
    assert printed == [{"made": True}, {"made": True}]
    given = {"type": "log", "identity": "log/AGENT", "enable": "info+"}
    requests, printed = asked(Command(operation="UPDATE", given=given), {})
    assert requests == [({"operation": "UPDATE", "type": P + "log", "identity": "log/AGENT"}, {"enable": "info+"})]
    assert printed == {}


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        (["create", "prefix=a"], "create needs --type, or a `type` among the attributes"),
        (["create", "--type", "address", "prefx=a"], "router.config.address has no attribute 'prefx'; did you mean"),
        (["query", "--type", "link", "name=x"], "query takes names of attributes, and 'name=x' is none"),
        (["query", "--type", "link", "linkNam"], "router.link has no attribute 'linkNam'; did you mean linkName?"),
        (["update", "--name", "x"], "update needs NAME=VALUE arguments, or --stdin"),
        (["read"], "read needs --name or --identity"),
        (["delete", "x"], "delete takes no arguments, and there is 'x'"),
        (["get-types", "a", "b"], "get-types takes one type"),
        (["x", "--body", "{"], "--body is not JSON"),
        (["x", "--properties", "[]"], "--properties has to be a JSON map"),
    ],
)
def test_what_makes_no_sense_is_refused_before_a_router_is_asked(typed: list[str], complaint: str) -> None:
    with pytest.raises(WrongUse) as caught:
        prepare(command(*typed))
    assert str(caught.value).startswith(complaint)


def test_options_lead_to_a_place() -> None:
    place = place_of(
        option_parser().parse_args(
            [
                *("query", "-b", "amqp://bob:x@h:1", "-r", "QDR.B", "-t", "2.5", "--ssl-trustfile", "ca.pem"),
                *("--ssl-disable-peer-name-verify", "--sasl-username", "ann"),
                *("--sasl-mechanisms", "PLAIN, SCRAM-SHA-1"),
            ]
        )
    )
    assert (place.bus.where, place.bus.is_tls, place.address, place.timeout_s) == (
        *("h:1", True, "_topo/0/QDR.B/$management", 2.5),
    )
    assert (place.tls.trustfile, place.tls.is_name_checked) == ("ca.pem", False)
    assert (place.credentials.username, place.credentials.password) == ("ann", "x")
    assert place.credentials.mechanisms == ("PLAIN", "SCRAM-SHA-1")


def test_an_address_in_the_url_goes_before_options() -> None:
    place = place_of(option_parser().parse_args(["query", "-b", "h/_local/$management", "-d", "QDR.E"]))
    assert place.address == "_local/$management"


def test_a_password_comes_from_a_file(tmp_path: Any) -> None:
    file = tmp_path / "password"
    file.write_text("s3cret\n")
    options = ["query", "--sasl-username", "ann", "--sasl-password-file", str(file)]
    assert place_of(option_parser().parse_args(options)).credentials.password == "s3cret"
    with pytest.raises(WrongUse, match="cannot be read: No such file or directory"):
        place_of(option_parser().parse_args([*options[:-1], str(tmp_path / "none")]))
