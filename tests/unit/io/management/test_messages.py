"""What the log says of requests to management."""

import pytest

from routerd.io.management import ManagementMessages, messages
from routerd.wire import AmqpValue, Message, Properties
from tests.unit.management.fake_router import client_of, run


class Lines:
    """A log of module AGENT."""

    def __init__(self, is_debug: bool) -> None:
        self.is_debug = is_debug
        self.said: list[str] = []

    def debug(self, text: str, *arguments: object) -> None:
        self.said.append(f"debug {text % arguments}")

    def error(self, text: str, *arguments: object) -> None:
        self.said.append(f"error {text % arguments}")


def said(monkeypatch: pytest.MonkeyPatch, is_debug: bool, **asked: str) -> list[str]:
    """Return the lines about one request."""
    lines = Lines(is_debug)
    monkeypatch.setattr(messages, "_log", lines)
    request = Message(
        properties=Properties(to="$management", reply_to="r"),
        application_properties=asked,
        body=AmqpValue({"password": "secret"}),
    )
    run(ManagementMessages(client_of().agent).answer(request.encode()))
    return lines.said


def test_each_request_is_a_line_of_level_debug_without_its_body(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(monkeypatch, True, operation="GET-MGMT-NODES", type="org.amqp.management") == [
        "debug Agent request Message(address=$management, properties={'operation': 'GET-MGMT-NODES', "
        "'type': 'org.amqp.management'})"
    ]
    assert said(monkeypatch, False, operation="GET-MGMT-NODES") == []


def test_a_request_that_is_refused_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(monkeypatch, False, operation="CREATE", type="nosuch", name="a") == [
        "error Error performing CREATE: No such entity type 'org.apache.qpid.dispatch.nosuch'"
    ]
