"""The peers against each other, so that they are known to be right when the engine meets them."""

from typing import Any

import pytest

from tests.interop.conftest import StartPeer
from tests.interop.peer_process import Fact
from tests.interop.scenarios import ERROR, TRANSFERS, in_order, link_names, receiver_facts, sender_facts
from tests.interop.typed_values import EVERY_VALUE, TYPED_VALUES

PAIRS = [("engine", "proton"), ("proton", "engine"), ("engine","rhea"),("rhea","engine"), ("engine","engine")]

both_ways = pytest.mark.parametrize(("client", "server"), PAIRS)

IDLE_TIMEOUT_MS = 300
HOLD_MS = 900


def run(
    start_peer: StartPeer, client: tuple[str, str, dict[str, Any]], server: tuple[str, str, dict[str, Any]]
) -> tuple[list[Fact], list[Fact]]:
    """Run a client (kind, scenario, options) against a server; return the facts of both."""
    serving = start_peer(server[0], "server", server[1], **server[2])
    running = start_peer(client[0], "client", client[1], port=serving.port, **client[2])
    return running.finish(), serving.finish()


@both_ways
@pytest.mark.parametrize("name", TRANSFERS)
def test_what_a_client_sends_arrives_at_the_server(start_peer: StartPeer, client: str, server: str, name: str) -> None:
    options = TRANSFERS[name]
    sent, received = run(start_peer, (client, "send", options), (server, "receive", options))
    links = link_names(options, "send")
    assert in_order(sent) == in_order(sender_facts(options, links))
    assert in_order(received) == in_order(receiver_facts(options, links))


@both_ways
@pytest.mark.parametrize("name", TRANSFERS)
def test_what_a_server_sends_arrives_at_the_client(start_peer: StartPeer, client: str, server: str, name: str) -> None:
    options = TRANSFERS[name]
    received, sent = run(start_peer, (client, "receive", options), (server, "send", options))
    links = link_names(options, "receive")
    assert in_order(sent) == in_order(sender_facts(options, links))
    assert in_order(received) == in_order(receiver_facts(options, links))


@pytest.mark.parametrize(
    ("client", "server", "values"),
    [(*PAIRS[0], TYPED_VALUES), (*PAIRS[1], TYPED_VALUES), ("proton", "proton", EVERY_VALUE)],
    ids=["proton-rhea", "rhea-proton", "proton-proton"],
)
def test_every_type_keeps_its_name_and_value(
    start_peer: StartPeer, client: str, server: str, values: list[Any]
) -> None:
    echoed, seen = run(start_peer, (client, "echo", {"values": values}), (server, "echo", {}))
    assert [fact["value"] for fact in in_order(seen, "value")] == values
    assert [fact["value"] for fact in in_order(echoed, "value")] == values


@both_ways
@pytest.mark.parametrize("mechanism", ["ANONYMOUS", "PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_user_with_the_right_password_is_let_in(
    start_peer: StartPeer, client: str, server: str, mechanism: str
) -> None:
    offered = {"mechanisms": [mechanism], "users": {"alice": "secret"}}
    credentials = {"mechanism": mechanism, "user": "alice", "password": "secret"}
    told, seen = run(start_peer, (client, "open", credentials), (server, "open", offered))
    assert [fact["mechanism"] for fact in (*in_order(told, "opened"), *in_order(seen, "opened"))] == [mechanism] * 2
    # A proton client adds its host to the trace information that ANONYMOUS carries.
    name = "anonymous" if mechanism == "ANONYMOUS" else "alice"
    assert in_order(seen, "opened")[0]["user"].partition("@")[0] == name


@both_ways
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
@pytest.mark.parametrize(("user", "password"), [("alice", "wrong"), ("nobody", "secret")])
def test_a_wrong_password_and_an_unknown_user_are_refused(
    start_peer: StartPeer, client: str, server: str, mechanism: str, user: str, password: str
) -> None:
    offered = {"mechanisms": [mechanism], "users": {"alice": "secret"}}
    credentials = {"mechanism": mechanism, "user": user, "password": password}
    told, seen = run(start_peer, (client, "open", credentials), (server, "open", offered))
    assert [fact["error"]["condition"] for fact in in_order(told, "refused")] == ["amqp:unauthorized-access"]
    assert (told[-1]["opened"], seen[-1]["opened"]) == (False, False)


@both_ways
def test_a_client_that_has_nothing_to_say_keeps_the_connection_alive(
    start_peer: StartPeer, client: str, server: str
) -> None:
    told, seen = run(
        start_peer, (client, "open", {"hold_ms": HOLD_MS}), (server, "open", {"idle_timeout_ms": IDLE_TIMEOUT_MS})
    )
    assert [fact["fact"] for fact in told] == ["opened", "closed", "summary"]
    assert [fact["fact"] for fact in seen] == ["listening", "opened", "closed", "summary"]


@both_ways
@pytest.mark.parametrize("silent", ["client", "server"])
def test_a_peer_that_goes_silent_is_cut_off(start_peer: StartPeer, client: str, server: str, silent: str) -> None:
    quiet, impatient = {"silent": True}, {"idle_timeout_ms": IDLE_TIMEOUT_MS, "hold_ms": 60_000}
    serving = start_peer(server, "server", "open", **(quiet if silent == "server" else impatient))
    running = start_peer(
        client, "client", "open", port=serving.port, **(quiet if silent == "client" else impatient)
    )
    watching, frozen = (serving, running) if silent == "client" else (running, serving)
    assert watching.wait_for("failed")["error"]["condition"] == "amqp:resource-limit-exceeded"
    frozen.thaw()
    assert frozen.wait_for("closed")["error"]["condition"] == "amqp:resource-limit-exceeded"


@both_ways
def test_a_detach_with_an_error_arrives_whole(start_peer: StartPeer, client: str, server: str) -> None:
    _, seen = run(start_peer, (client, "send", {"detach_error": ERROR}), (server, "receive", {}))
    assert in_order(seen, "detached") == [{"fact": "detached", "link": "send-0-0", "error": ERROR}]
    told, _ = run(start_peer, (client, "send", {"messages": 2}), (server, "receive", {"detach_error": ERROR}))
    assert in_order(told, "detached") == [{"fact": "detached", "link": "send-0-0", "error": ERROR}]


@both_ways
def test_an_end_with_an_error_arrives_whole(start_peer: StartPeer, client: str, server: str) -> None:
    _, seen = run(start_peer, (client, "send", {"end_error": ERROR}), (server, "receive", {}))
    assert in_order(seen, "ended") == [{"fact": "ended", "error": ERROR}]
    told, _ = run(start_peer, (client, "send", {"messages": 2}), (server, "receive", {"end_error": ERROR}))
    assert in_order(told, "ended") == [{"fact": "ended", "error": ERROR}]


@both_ways
def test_a_close_with_an_error_arrives_whole(start_peer: StartPeer, client: str, server: str) -> None:
    _, seen = run(start_peer, (client, "open", {"close_error": ERROR}), (server, "open", {}))
    assert in_order(seen, "closed") == [{"fact": "closed", "error": ERROR}]
    told, _ = run(start_peer, (client, "open", {"hold_ms": 60_000}), (server, "open", {"close_error": ERROR}))
    assert in_order(told, "closed") == [{"fact": "closed", "error": ERROR}]
