"""A WebSocket is asked for, and begins with the right answer only."""

import base64
from collections.abc import Iterable

import h11
import pytest

from routerd.io.http.client import HEAD_MAX, UpgradeFilter
from routerd.io.http.upgrade import accepted
from tests.unit.io.http.stacks import Stack


class Asked:
    """A filter that has asked, and what it has."""

    def __init__(self) -> None:
        self.stack = Stack()
        self.filter: UpgradeFilter = self.stack.put(UpgradeFilter("broker.example.com:8672", "/amqp?x=1"))
        server = h11.Connection(h11.SERVER)
        server.receive_data(bytes(self.stack.written))
        request = server.next_event()
        assert isinstance(request, h11.Request)
        assert isinstance(server.next_event(), h11.EndOfMessage)
        self.target = request.target
        self.headers = {name.decode(): value.decode() for name, value in request.headers}

    def answer(self, status: str = "101 Switching Protocols", rest: bytes = b"", **changes: str | None) -> None:
        headers = {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec_WebSocket_Accept": accepted(self.headers["sec-websocket-key"]),
            "Sec_WebSocket_Protocol": "amqp",
        }
        lines = (f"{name.replace('_', '-')}: {value}\r\n" for name, value in (headers | changes).items() if value)
        self.send([f"HTTP/1.1 {status}\r\n{''.join(lines)}\r\n".encode() + rest])

    def send(self, pieces: Iterable[bytes]) -> None:
        for one in pieces:
            self.filter.receive(memoryview(one))


def test_what_is_asked_is_what_the_specification_wants() -> None:
    asked, other = Asked(), Asked()
    assert asked.target == b"/amqp?x=1"
    key = asked.headers.pop("sec-websocket-key")
    assert len(base64.b64decode(key, validate=True)) == 16
    assert key != other.headers["sec-websocket-key"]
    assert asked.headers == {
        "host": "broker.example.com:8672",
        "upgrade": "websocket",
        "connection": "Upgrade",
        "sec-websocket-version": "13",
        "sec-websocket-protocol": "amqp",
    }


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_right_answer_leaves_what_follows_to_the_filter_above(size: int) -> None:
    asked = Asked()
    whole = (
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Accept: {accepted(asked.headers['sec-websocket-key'])}\r\nSec-WebSocket-Protocol: amqp\r\n\r\n"
    ).encode()
    asked.send(whole[at : at + size] for at in range(0, len(whole), size))
    assert (asked.stack.left, asked.stack.failure) == (b"", "")
    # Octets that come at once with it are kept.
    other = Asked()
    other.answer(rest=b"\x82\x00")
    assert (other.stack.left, other.stack.failure) == (b"\x82\x00", "")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"status": "403 Forbidden"}, "the peer refuses it: 403 Forbidden"),
        ({"status": "200 OK"}, "the peer refuses it: 200 OK"),
        ({"Upgrade": "h2c"}, "the peer begins something else"),
        ({"Sec_WebSocket_Accept": "no"}, "the peer has not read the key"),
        ({"Sec_WebSocket_Accept": None}, "the peer has not read the key"),
        ({"Sec_WebSocket_Protocol": None}, "the peer does not speak AMQP over it"),
        ({"Sec_WebSocket_Protocol": "mqtt"}, "the peer does not speak AMQP over it"),
        ({"Sec_WebSocket_Extensions": "permessage-deflate"}, "the peer uses extensions that nobody has asked for"),
    ],
)
def test_any_other_answer_ends_the_connection(changes: dict[str, str | None], says: str) -> None:
    asked = Asked()
    asked.answer(**changes)  # type: ignore[arg-type]
    assert (asked.stack.failure, asked.stack.left) == (f"WebSocket: {says}", None)
    asked.answer()
    assert asked.stack.left is None


@pytest.mark.parametrize("octets", [b"AMQP\x00\x01\x00\x00\r\n\r\n", b"HTTP/1.1 101 X\r\nX: " + b"x" * HEAD_MAX])
def test_what_is_no_answer_of_http_ends_the_connection(octets: bytes) -> None:
    asked = Asked()
    asked.send([octets])
    assert asked.stack.failure.startswith("WebSocket: the peer does not answer as HTTP")


def test_hints_before_the_answer_are_passed_over() -> None:
    asked = Asked()
    asked.send([b"HTTP/1.1 103 Early Hints\r\n\r\n"])
    asked.answer()
    assert asked.stack.left == b""
