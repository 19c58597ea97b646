"""The URL of -b, and what is told of a place where nothing is."""

import socket
from typing import Any

import pytest

from routerd.cli.manage.bus import Bus, parse_bus
from routerd.cli.manage.dialing import unreachable
from routerd.cli.manage.failures import WrongUse


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("0.0.0.0", {}),
        ("", {}),
        ("router.example", {"host": "router.example"}),
        ("router.example:6000", {"host": "router.example", "port": 6000}),
        (":6000", {"port": 6000}),
        ("amqp://router.example", {"host": "router.example"}),
        ("amqps://router.example", {"host": "router.example", "port": 5671, "is_tls": True}),
        ("router.example:amqps", {"host": "router.example", "port": 5671}),
        ("amqp://ann:s%40cret@h:1/", {"host": "h", "port": 1, "username": "ann", "password": "s@cret"}),
        ("ann@h", {"host": "h", "username": "ann"}),
        ("h/_topo/0/QDR.B/$management", {"host": "h", "path": "_topo/0/QDR.B/$management"}),
        ("[::1]:6000", {"host": "::1", "port": 6000}),
        ("amqp://[::1]", {"host": "::1"}),
    ],
)
def test_a_url_is_read_in_all_its_forms(text: str, fields: dict[str, Any]) -> None:
    assert parse_bus(text) == Bus(**fields)


def test_options_of_tls_turn_it_on() -> None:
    assert parse_bus("h", is_tls=True) == Bus(host="h", port=5671, is_tls=True)
    assert parse_bus("amqp://h:1", is_tls=True) == Bus(host="h", port=1, is_tls=True)


@pytest.mark.parametrize("text", ["http://h", "h:x", "h:70000", "h:0", "::1", "[::1", "[::1]x"])
def test_what_is_no_url_is_refused(text: str) -> None:
    with pytest.raises(WrongUse):
        parse_bus(text)


def test_a_password_is_not_shown() -> None:
    assert "cret" not in repr(parse_bus("amqp://ann:s%40cret@h"))


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            ConnectionRefusedError(111, "Connection refused"),
            "connection refused; is a router running, and is this its port? -b HOST:PORT names another",
        ),
        (socket.gaierror(-2, "Name or service not known"), "the host 'h' is not known; -b HOST:PORT names another"),
        (TimeoutError("timed out"), "no answer within 5 s; is a firewall in between? -t SECS waits longer"),
        (OSError(113, "No route to host"), "No route to host"),
    ],
)
def test_why_a_router_cannot_be_reached_is_told(error: OSError, text: str) -> None:
    assert str(unreachable(Bus(host="h"), error, 5)) == f"cannot reach a router at h:5672: {text}"
