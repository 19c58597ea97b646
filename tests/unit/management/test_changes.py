"""What clients change and end, and what they can't."""

from typing import Any

import pytest

from routerd.management import ChangeRefused, Unanswered
from tests.unit.management.fake_router import SECTIONS, Client, FakeRouter, client_of, connection, link, refusal, run

P = "org.apache.qpid.dispatch."


# --- the log


def test_the_levels_of_a_module_are_changed() -> None:
    found = client_of(*SECTIONS)
    answer = found.ask("UPDATE", {"enable": "debug+"}, identity="log/AGENT")
    assert (answer.status, answer.description) == (200, "OK")
    assert answer.body == {
        "module": "AGENT",
        "enable": "debug+",
        "name": "log/AGENT",
        "identity": "log/AGENT",
        "type": f"{P}log",
    }
    assert found.router.asked == ["update log/AGENT"]
    assert found.ask("READ", identity="log/AGENT").body == answer.body


@pytest.mark.parametrize(
    ("body", "changed"),
    [
        ({"output": "stdout", "timestamp": "no"}, {"outputFile": "stdout", "includeTimestamp": False}),
        ({"includeSource": True, "enable": None}, {"includeSource": True}),
        ({"enable": "de, none;crit+"}, {"enable": "de, none;crit+"}),
        ({"enable": ""}, {"enable": ""}),
        ({"enable": " ,"}, {"enable": " ,"}),
        ({"module": "SERVER", "enable": "info"}, {"enable": "info"}),
        ({"type": "log", "identity": "log/SERVER", "name": "log/SERVER", "enable": "info"}, {"enable": "info"}),
        ({"type": f"{P}log", "name": None, "enable": ["info", "error"]}, {"enable": "info,error"}),
        ({}, {"enable": "debug+"}),
    ],
)
def test_other_attributes_stay_as_they_are(body: dict[str, Any], changed: dict[str, Any]) -> None:
    found = client_of(*SECTIONS)
    answer = found.ask("update", body, type="log", name="log/SERVER")
    named = {"module": "SERVER", "name": "log/SERVER", "identity": "log/SERVER", "type": f"{P}log"}
    rest = {"enable": "debug+"} if "enable" not in body else {}
    assert (answer.status, answer.body) == (200, named | rest | changed)


_LEVELS = "{none, trace, debug, info, notice, warning, error, critical}"


@pytest.mark.parametrize(
    ("body", "status", "sentence"),
    [
        ({"module": "SERVER"}, 400, "Cannot update attribute 'module' in UPDATE"),
        ({"identity": "x"}, 400, "Cannot update attribute 'identity' in UPDATE"),
        ({"type": "listener"}, 400, "Cannot update attribute 'type' in UPDATE"),
        ({"bogus": 1}, 400, f"Unknown attribute 'bogus' for '{P}log'"),
        (
            {"includeSource": "maybe"},
            400,
            f"{P}log: Invalid Boolean value ''maybe''; allowed: yes, no, true, false, on, off",
        ),
        (
            {"output": "stdout", "outputFile": "stderr"},
            400,
            f"{P}log: Both 'output' and 'outputFile' cannot be specified for entity '{P}log';"
            " allowed: 'outputFile' alone",
        ),
        (
            {"outputFile": ""},
            500,
            "CError: Configuration: Failed to open log file ''; allowed: stderr, stdout, syslog, a file's name",
        ),
        ([], 400, "Body of request must be a map"),
        (None, 400, "Body of request must be a map"),
        (
            {"enable": "info bogus"},
            500,
            f"CError: Configuration: 'bogus' is not a valid log level. Should be one of {_LEVELS}.",
        ),
        ({"enable": "+"}, 500, f"CError: Configuration: '+' is not a valid log level. Should be one of {_LEVELS}."),
    ],
)
def test_a_change_of_the_log_that_is_wrong_is_refused(body: Any, status: int, sentence: str) -> None:
    found = client_of(*SECTIONS)
    answer = found.ask("UPDATE", body, identity="log/AGENT")
    assert (refusal(answer), answer.body) == ((status, sentence), {})
    assert found.router.asked == []


def test_a_change_that_the_router_refuses_changes_nothing() -> None:
    found = client_of(*SECTIONS)
    found.router.failure = ChangeRefused("Failed to open log file '/x'")
    answer = found.ask("UPDATE", {"outputFile": "/x"}, identity="log/AGENT")
    assert (refusal(answer), answer.body) == ((400, "Failed to open log file '/x'"), {})
    found.router.failure = None
    assert "outputFile" not in found.ask("READ", identity="log/AGENT").body


def test_two_changes_of_one_module_do_not_mix() -> None:
    found = client_of(*SECTIONS)
    found.router.is_slow = True
    first = found.begun("UPDATE", {"enable": "info"}, identity="log/AGENT")
    first.send(None)
    second = found.ask("UPDATE", {"includeSource": True}, identity="log/AGENT")
    assert refusal(second) == (400, "log/AGENT is being changed by another request; try again")
    assert run(first).body["enable"] == "info"


def test_a_change_of_nothing_that_is_there_is_not_found() -> None:
    assert refusal(client_of(*SECTIONS).ask("UPDATE", {"enable": "info"}, identity="log/NOPE")) == (
        404,
        "No entity with identity=log/NOPE",
    )
    assert refusal(client_of(*SECTIONS).ask("UPDATE", {"enable": "info"}, type="P.log")) == (
        400,
        f"{P}log: No name or identity provided",
    )


def test_what_has_no_update_is_not_changed() -> None:
    assert refusal(client_of(*SECTIONS).ask("UPDATE", {"host": "h"}, identity="listener/127.0.0.1:5672:L1")) == (
        501,
        f"Operation 'UPDATE' not implemented for '{P}listener' {['CREATE', 'DELETE', 'READ']}",
    )


# --- connections and links


def connected() -> Client:
    found = client_of(*SECTIONS)
    found.router.connection_rows = [connection(7), connection(8, role="inter-router"), connection(9, role="fabric")]
    found.router.link_rows = [link(3)]
    return found


def test_a_connection_is_closed() -> None:
    found = connected()
    answer = found.ask("UPDATE", {"adminStatus": "deleted"}, type="P.connection", identity="7")
    assert (answer.status, answer.description) == (200, "OK")
    shown = {name: answer.body[name] for name in ("identity", "adminStatus", "operStatus", "enableProtocolTrace")}
    assert shown == {"identity": "7", "adminStatus": "deleted", "operStatus": "closing", "enableProtocolTrace": False}
    assert found.router.asked == ["connections", "close 7"]


@pytest.mark.parametrize("operation", ["UPDATE", "update"])
@pytest.mark.parametrize("kind", ["connection", "P.connection"])
@pytest.mark.parametrize("value", [True, "yes"])
def test_the_trace_of_a_connection_is_switched_on(operation: str, kind: str, value: object) -> None:
    found = connected()
    answer = found.ask(operation, {"enableProtocolTrace": value}, type=kind, identity="7")
    assert (answer.status, answer.body["enableProtocolTrace"], answer.body["operStatus"]) == (200, True, "up")
    assert found.router.asked == ["connections", "trace 7 True"]


def test_a_connection_is_traced_before_it_is_closed() -> None:
    found = connected()
    body = {"adminStatus": "deleted", "enableProtocolTrace": False}
    assert found.ask("UPDATE", body, type="P.connection", identity="7").status == 200
    assert found.router.asked == ["connections", "trace 7 False", "close 7"]


def test_a_connection_to_another_router_is_not_closed() -> None:
    found = connected()
    answer = found.ask("UPDATE", {"adminStatus": "deleted"}, type="P.connection", identity="8")
    assert (refusal(answer), answer.body) == ((403, "You are not allowed to perform this operation."), {})
    assert found.router.asked == ["connections"]


@pytest.mark.parametrize(
    ("body", "target"),
    [
        ({"adminStatus": "deleted"}, {"identity": "99"}),
        ({"adminStatus": "deleted"}, {"identity": "9"}),
        ({"adminStatus": "deleted"}, {"name": "connection/127.0.0.1:40007"}),
        ({"adminStatus": "deleted"}, {}),
        ({"adminStatus": "enabled"}, {"identity": "7"}),
        ({"adminStatus": None}, {"identity": "7"}),
        ({"adminStatus": "deleted", "role": "normal"}, {"identity": "7"}),
        ({"enableProtocolTrace": "maybe"}, {"identity": "7"}),
        ({"enableProtocolTrace": None}, {"identity": "7"}),
        ({}, {"identity": "7"}),
        (None, {"identity": "7"}),
    ],
)
def test_another_change_of_a_connection_is_refused(body: Any, target: dict[str, str]) -> None:
    found = connected()
    answer = found.ask("UPDATE", body, type="P.connection", **target)
    assert (refusal(answer), answer.body) == ((400, "Bad Request"), {})
    assert [one for one in found.router.asked if one != "connections"] == []


@pytest.mark.parametrize("body", [{"adminStatus": "deleted"}, {"enableProtocolTrace": True}])
def test_a_connection_that_is_gone_meanwhile_is_not_changed(body: dict[str, Any]) -> None:
    class Forgetful(FakeRouter):
        def _has(self, number: int) -> bool:
            return False

    router = Forgetful()
    router.connection_rows = [connection(7)]
    answer = Client(router).ask("UPDATE", body, type="P.connection", identity="7")
    assert refusal(answer) == (400, "Bad Request")


def test_the_status_of_a_link_is_taken_without_effect() -> None:
    found = connected()
    answer = found.ask("UPDATE", {"adminStatus": "disabled"}, type="P.router.link", identity="3")
    assert (answer.status, answer.body["adminStatus"], answer.body["linkName"]) == (200, "enabled", "link-3")
    assert found.router.asked == ["links"]


@pytest.mark.parametrize(
    ("body", "target", "status", "sentence"),
    [
        ({"adminStatus": "enabled"}, {"identity": "99"}, 404, "Not Found"),
        ({"adminStatus": "enabled"}, {}, 400, "Bad Request"),
        ({"capacity": 5}, {"identity": "3"}, 400, "Bad Request"),
        (None, {"identity": "3"}, 400, "Bad Request"),
    ],
)
def test_another_change_of_a_link_is_refused(body: Any, target: dict[str, str], status: int, sentence: str) -> None:
    answer = connected().ask("UPDATE", body, type="P.router.link", **target)
    assert (refusal(answer), answer.body) == ((status, sentence), {})


# --- the end of entities


@pytest.mark.parametrize(
    ("target", "identity"),
    [
        ({"type": "P.listener", "name": "L1"}, "listener/127.0.0.1:5672:L1"),
        ({"identity": "listener/127.0.0.1:5672:L1"}, "listener/127.0.0.1:5672:L1"),
        ({"name": "L1"}, "listener/127.0.0.1:5672:L1"),
        ({"type": "P.router.config.address", "identity": "2"}, "2"),
        ({"type": "P.router.config.address", "name": "starry"}, "2"),
        ({"type": "address", "name": "address/0"}, "1"),
        ({"name": "address/0"}, "1"),
        ({"identity": "address/1"}, "2"),
    ],
)
def test_an_entity_is_deleted_by_all_it_is_called(target: dict[str, str], identity: str) -> None:
    found = client_of(*SECTIONS)
    before = [one.identity for one in found.router.entities]
    answer = found.ask("DELETE", **target)
    assert (answer.status, answer.description, answer.body) == (204, "No Content", {})
    assert found.router.asked == [f"delete {identity}"]
    assert [one.identity for one in found.router.entities] == [one for one in before if one != identity]
    assert found.ask("DELETE", **target).status == 404


@pytest.mark.parametrize(
    ("target", "status", "sentence"),
    [
        ({"type": "P.listener", "name": "nope"}, 404, "No entity with name=nope"),
        ({"type": "P.listener"}, 400, f"{P}listener: No name or identity provided"),
        ({"type": "P.router.config.address", "identity": "99"}, 404, "Not Found"),
        ({"type": "P.router.config.address", "name": "nope"}, 404, "Not Found"),
        ({"type": "P.router.config.address"}, 400, "No name or identity provided"),
        ({"type": "P.router.config.linkRoute"}, 400, "No name or identity provided"),
        (
            {"identity": "log/AGENT"},
            501,
            f"Operation 'DELETE' not implemented for '{P}log' ['UPDATE', 'READ']",
        ),
        ({"name": "router/R1"}, 501, f"Operation 'DELETE' not implemented for '{P}router' ['READ']"),
        ({"name": "policy/None"}, 501, f"Operation 'DELETE' not implemented for '{P}policy' ['READ']"),
    ],
)
def test_what_cannot_be_deleted_is_told(target: dict[str, str], status: int, sentence: str) -> None:
    found = client_of(*SECTIONS)
    answer = found.ask("DELETE", **target)
    assert (refusal(answer), answer.body) == ((status, sentence), {})


@pytest.mark.parametrize(
    ("failure", "status", "sentence"),
    [
        (ChangeRefused("it is in use"), 400, "it is in use"),
        (Unanswered("connection.1"), 500, "Part of the router gave no answer: connection.1"),
    ],
)
def test_what_the_router_does_not_delete_stays(failure: Exception, status: int, sentence: str) -> None:
    found = client_of(*SECTIONS)
    found.router.failure = failure
    assert refusal(found.ask("DELETE", type="P.listener", name="L1")) == (status, sentence)
    found.router.failure = None
    assert found.ask("DELETE", type="P.listener", name="L1").status == 204


def test_of_two_deletions_at_once_only_one_finds_the_entity() -> None:
    found = client_of(*SECTIONS)
    found.router.is_slow = True
    first = found.begun("DELETE", None, type="P.listener", name="L1")
    first.send(None)
    assert refusal(found.ask("DELETE", type="P.listener", name="L1")) == (404, "Not Found")
    assert run(first).status == 204


def test_thousands_of_addresses_come_and_go() -> None:
    found = client_of(*SECTIONS)
    kind = "P.router.config.address"
    for number in range(3000):
        assert found.ask("CREATE", {"prefix": f"a.{number}"}, type=kind, name=f"n{number}").status == 201
    for number in range(3000):
        assert found.ask("DELETE", type=kind, name=f"n{number}").status == 204
    assert found.rows(kind, "identity") == [["1"], ["2"], ["3"]]
