"""Idle connections, and errors that end links, sessions and connections, between the engine and other people's AMQP."""

import pytest

from tests.interop.conftest import StartPeer
from tests.interop.pairs import every_pair, run
from tests.interop.scenarios import ERROR, in_order

IDLE_TIMEOUT_MS = 1500
HOLD_MS = 3500
AMPLE_MS = 60_000
LIMIT_EXCEEDED = "amqp:resource-limit-exceeded"


@every_pair
@pytest.mark.parametrize("impatient", ["client", "server", "both"])
def test_ends_that_have_nothing_to_say_keep_the_connection_alive(
    start_peer: StartPeer, client: str, server: str, impatient: str
) -> None:
    asks, lets = {"idle_timeout_ms": IDLE_TIMEOUT_MS}, {"idle_timeout_ms": None}
    told, seen = run(
        start_peer,
        (client, "open", {"hold_ms": HOLD_MS, **(lets if impatient == "server" else asks)}),
        (server, "open", lets if impatient == "client" else asks),
    )
    assert [fact["fact"] for fact in told] == ["opened", "closed", "summary"]
    assert [fact["fact"] for fact in seen] == ["listening", "opened", "closed", "summary"]


@every_pair
@pytest.mark.parametrize("silent", ["client", "server"])
def test_a_peer_that_goes_silent_is_cut_off(start_peer: StartPeer, client: str, server: str, silent: str) -> None:
    quiet, impatient = {"silent": True}, {"idle_timeout_ms": IDLE_TIMEOUT_MS, "hold_ms": AMPLE_MS}
    serving = start_peer(server, "server", "open", **(quiet if silent == "server" else impatient))
    running = start_peer(
        client, "client", "open", port=serving.port, **(quiet if silent == "client" else impatient)
    )
    watching, frozen = (serving, running) if silent == "client" else (running, serving)
    assert watching.wait_for("failed")["error"]["condition"] == LIMIT_EXCEEDED
    frozen.thaw()
    assert frozen.wait_for("closed")["error"]["condition"] == LIMIT_EXCEEDED


@every_pair
@pytest.mark.parametrize("scenario", ["send", "receive"])
def test_a_refused_link_says_why(start_peer: StartPeer, client: str, server: str, scenario: str) -> None:
    told, _ = run(start_peer, (client, scenario, {}), (server, "open", {"refuse_error": ERROR}))
    assert in_order(told, "detached") == [{"fact": "detached", "link": f"{scenario}-0-0", "error": ERROR}]


@every_pair
def test_a_detach_with_an_error_arrives_whole(start_peer: StartPeer, client: str, server: str) -> None:
    _, seen = run(start_peer, (client, "send", {"detach_error": ERROR}), (server, "receive", {}))
    assert in_order(seen, "detached") == [{"fact": "detached", "link": "send-0-0", "error": ERROR}]
    told, _ = run(start_peer, (client, "send", {"messages": 2}), (server, "receive", {"detach_error": ERROR}))
    assert in_order(told, "detached") == [{"fact": "detached", "link": "send-0-0", "error": ERROR}]


@every_pair
def test_an_end_with_an_error_arrives_whole(start_peer: StartPeer, client: str, server: str) -> None:
    _, seen = run(start_peer, (client, "send", {"end_error": ERROR}), (server, "receive", {}))
    assert in_order(seen, "ended") == [{"fact": "ended", "error": ERROR}]
    told, _ = run(start_peer, (client, "send", {"messages": 2}), (server, "receive", {"end_error": ERROR}))
    assert in_order(told, "ended") == [{"fact": "ended", "error": ERROR}]


@every_pair
def test_a_close_with_an_error_arrives_whole(start_peer: StartPeer, client: str, server: str) -> None:
    _, seen = run(start_peer, (client, "open", {"close_error": ERROR}), (server, "open", {}))
    assert in_order(seen, "closed") == [{"fact": "closed", "error": ERROR}]
    told, _ = run(start_peer, (client, "open", {"hold_ms": AMPLE_MS}), (server, "open", {"close_error": ERROR}))
    assert in_order(told, "closed") == [{"fact": "closed", "error": ERROR}]
