"""Messages, their outcomes and their credit, between the engine and other people's AMQP."""

from typing import Any

import pytest

from tests.interop.conftest import StartPeer
from tests.interop.pairs import PAIRS, STREAMS, every_pair, run
from tests.interop.scenarios import (
    SUSPENSION,
    TRANSFERS,
    in_order,
    link_names,
    receiver_facts,
    recovery_facts,
    sender_facts,
)
from tests.interop.typed_values import EVERY_VALUE, TYPED_VALUES

HOLD_AFTER = 150


@every_pair
@pytest.mark.parametrize("name", TRANSFERS)
def test_what_a_client_sends_arrives_at_the_server(start_peer: StartPeer, client: str, server: str, name: str) -> None:
    options = TRANSFERS[name]
    sent, received = run(start_peer, (client, "send", options), (server, "receive", options))
    links = link_names(options, "send")
    assert in_order(sent) == in_order(sender_facts(options, links))
    assert in_order(received) == in_order(receiver_facts(options, links))


@every_pair
@pytest.mark.parametrize("name", TRANSFERS)
def test_what_a_server_sends_arrives_at_the_client(start_peer: StartPeer, client: str, server: str, name: str) -> None:
    options = TRANSFERS[name]
    received, sent = run(start_peer, (client, "receive", options), (server, "send", options))
    links = link_names(options, "receive")
    assert in_order(sent) == in_order(sender_facts(options, links))
    assert in_order(received) == in_order(receiver_facts(options, links))


@pytest.mark.parametrize(
    ("client", "server", "values"),
    [(client, server, TYPED_VALUES if "rhea" in (client, server) else EVERY_VALUE) for client, server in PAIRS],
    ids=map("-".join, PAIRS),
)
def test_every_type_keeps_its_name_and_value(
    start_peer: StartPeer, client: str, server: str, values: list[Any]
) -> None:
    echoed, seen = run(start_peer, (client, "echo", {"values": values}), (server, "echo", {}))
    assert [fact["value"] for fact in in_order(seen, "value")] == values
    assert [fact["value"] for fact in in_order(echoed, "value")] == values


def run_held(
    start_peer: StartPeer, client: str, server: str, sender: str, options: dict[str, Any]
) -> tuple[list[Any], list[Any]]:
    """Run a sender that holds its first message back until the receiver has its beginning; return sent and received."""
    is_client = sender == "client"
    serving = start_peer(server, "server", "receive" if is_client else "send", **options)
    running = start_peer(client, "client", "send" if is_client else "receive", port=serving.port, **options)
    sending, receiving = (running, serving) if is_client else (serving, running)
    assert receiving.wait_for("partial")["octets"] == HOLD_AFTER
    sending.thaw()
    return sending.finish(), receiving.finish()


@pytest.mark.parametrize(("client", "server", "sender"), STREAMS)
def test_a_message_arrives_as_it_is_written(start_peer: StartPeer, client: str, server: str, sender: str) -> None:
    options = {"size": 100_000, "max_frame_size": 1000, "hold_after": HOLD_AFTER, "messages": 2}
    sent, received = run_held(start_peer, client, server, sender, options)
    links = link_names(options, "send" if sender == "client" else "receive")
    assert in_order(sent) == in_order(sender_facts(options, links))
    assert in_order(received) == in_order(receiver_facts(options, links))


@pytest.mark.parametrize(
    ("client", "server", "sender"), [stream for stream in STREAMS if "rhea" not in stream]
)
def test_an_aborted_message_leaves_no_trace(start_peer: StartPeer, client: str, server: str, sender: str) -> None:
    options = {"size": 1000, "hold_after": HOLD_AFTER, "abort": True, "credit": 1, "messages": 2}
    sent, received = run_held(start_peer, client, server, sender, options)
    links = link_names(options, "send" if sender == "client" else "receive")
    assert in_order(sent) == in_order(sender_facts(options, links))
    assert in_order(received) == in_order(receiver_facts(options, links))
    assert in_order(received, "aborted") == [{"fact": "aborted", "link": links[0], "number": 0}]


@every_pair
@pytest.mark.parametrize("sender", ["client", "server"])
def test_a_suspended_link_goes_on_where_it_was(start_peer: StartPeer, client: str, server: str, sender: str) -> None:
    scenarios = ("send", "receive") if sender == "client" else ("receive", "send")
    told, seen = run(start_peer, (client, scenarios[0], SUSPENSION), (server, scenarios[1], SUSPENSION))
    sent, received = (told, seen) if sender == "client" else (seen, told)
    # proton neither writes nor reads an unsettled map: everything is sent again.
    with_maps = "proton" not in (client, server)
    expected = recovery_facts(f"{scenarios[0]}-0-0", with_maps=with_maps)
    names = ("outcome", "received", "resumed", *(["unsettled"] if with_maps else []))
    assert in_order(sent, *names) == in_order(expected[0], *names)
    assert in_order(received, *names) == in_order(expected[1], *names)
