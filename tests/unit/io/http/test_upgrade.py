"""A WebSocket begins where HTTP says so, and only if everything is right."""

import pytest

from tests.unit.io.http.stacks import Line
from tests.unit.io.http.test_filter import ACCEPTED, UPGRADE, in_loop


def test_an_upgrade_is_answered_and_what_follows_is_for_the_filter_above() -> None:
    async def body() -> None:
        line = Line()
        lines = ["GET /any/path HTTP/1.1", "Host: r", *(f"{k.replace('_', '-')}: {v}" for k, v in UPGRADE.items())]
        line.send("\r\n".join([*lines, "", ""]).encode() + b"\x82\x80")
        status, headers, _ = await line.read()
        assert (status, headers["sec-websocket-accept"], headers["sec-websocket-protocol"]) == (101, ACCEPTED, "amqp")
        assert line.stack.left == b"\x82\x80"
        assert line.filter._timer is None

    in_loop(body)


@pytest.mark.parametrize(
    "change",
    [
        {"Upgrade": "WebSocket"},
        {"Upgrade": "h2c, websocket"},
        {"Connection": "UPGRADE"},
        {"Sec_WebSocket_Protocol": "mqtt,amqp\r\nSec-WebSocket-Protocol: other"},
        {"Sec_WebSocket_Protocol": "other\r\nSec-WebSocket-Protocol: amqp"},
        {"Sec_WebSocket_Extensions": "permessage-deflate; client_max_window_bits"},
        {"X_Whatever": "x"},
    ],
    ids=["case", "several", "upper case", "protocols in two", "the second", "an extension", "another header"],
)
def test_what_a_client_may_write_another_way_is_taken(change: dict[str, str]) -> None:
    async def body() -> None:
        status, headers, _ = await Line().ask("/", **UPGRADE | change)
        assert (status, headers["sec-websocket-accept"], headers["sec-websocket-protocol"]) == (101, ACCEPTED, "amqp")
        # No extension is agreed on.
        assert "sec-websocket-extensions" not in headers

    in_loop(body)


@pytest.mark.parametrize(
    "change",
    [
        {"Upgrade": "h2c"},
        {"Upgrade": "websockets"},
        {"Connection": "keep-alive"},
        {"Connection": "keep-alive, upgraded"},
    ],
    ids=["another protocol", "a like name", "no upgrade", "a like token"],
)
def test_who_asks_for_no_websocket_gets_a_page(change: dict[str, str]) -> None:
    async def body() -> None:
        line = Line()
        assert (await line.ask("/livez", **UPGRADE | change))[0] == 200
        assert line.stack.left is None

    in_loop(body)


@pytest.mark.parametrize("left_out", ["Sec_WebSocket_Version", "Sec_WebSocket_Key", "Sec_WebSocket_Protocol"])
def test_what_has_to_be_there_is_missed(left_out: str) -> None:
    async def body() -> None:
        line = Line()
        status, _, text = await line.ask("/", **{name: value for name, value in UPGRADE.items() if name != left_out})
        assert status == (426 if left_out == "Sec_WebSocket_Version" else 400)
        assert (b"version 13" if left_out == "Sec_WebSocket_Version" else left_out.replace("_", "-").encode()) in text

    in_loop(body)


def test_an_upgrade_from_http_1_0_is_ignored() -> None:
    async def body() -> None:
        line = Line()
        lines = ["GET /livez HTTP/1.0", "Host: r", *(f"{k.replace('_', '-')}: {v}" for k, v in UPGRADE.items())]
        line.send("\r\n".join([*lines, "", ""]).encode())
        assert (await line.read())[0] == 200
        assert line.stack.left is None

    in_loop(body)


@pytest.mark.parametrize(
    ("change", "status", "text"),
    [
        ({"Sec_WebSocket_Version": "8"}, 426, b"version 13"),
        ({"Sec_WebSocket_Version": "13, 13"}, 426, b"version 13"),
        ({"Sec_WebSocket_Key": "dGhlIHNhbXBsZSBub25jZQ==, dGhlIHNhbXBsZSBub25jZQ=="}, 400, b"16 octets"),
        ({"Sec_WebSocket_Key": ""}, 400, b"16 octets"),
        ({"Sec_WebSocket_Key": "c2hvcnQ="}, 400, b"16 octets"),
        ({"Sec_WebSocket_Key": "no base64 at all"}, 400, b"16 octets"),
        ({"Sec_WebSocket_Protocol": "mqtt"}, 400, b"amqp"),
        ({"Origin": "http://elsewhere"}, 403, b"another origin"),
        ({"Origin": "null"}, 403, b"another origin"),
        ({"Origin": "http://[broken"}, 403, b"another origin"),
    ],
    ids=["version", "versions", "two keys", "empty key", "short key", "no key", "protocol", "origin", "null", "broken"],
)
def test_an_upgrade_that_is_wrong_is_refused_and_the_connection_goes_on(
    change: dict[str, str], status: int, text: bytes
) -> None:
    async def body() -> None:
        line = Line()
        found, headers, sentence = await line.ask("/", **UPGRADE | change)
        assert found == status
        assert text in sentence
        assert headers.get("sec-websocket-version") == ("13" if status == 426 else None)
        assert (await line.ask("/livez"))[0] == 200

    in_loop(body)


def test_a_post_is_no_beginning() -> None:
    async def body() -> None:
        assert (await Line().ask("/", "POST", **UPGRADE))[0] == 405

    in_loop(body)


@pytest.mark.parametrize(
    ("origins", "origin", "status"),
    [
        ((), "http://r", 101),
        ((), "HTTP://R", 101),
        (("https://console:8443",), "https://console:8443", 101),
        (("https://console:8443",), "https://console", 403),
        (("*",), "http://elsewhere", 101),
    ],
)
def test_pages_connect_from_where_the_listener_allows_it(origins: tuple[str, ...], origin: str, status: int) -> None:
    async def body() -> None:
        line = Line(websocket_origins=origins)
        assert (await line.ask("/", **UPGRADE, Origin=origin))[0] == status

    in_loop(body)


def test_without_websockets_an_upgrade_is_refused() -> None:
    async def body() -> None:
        line = Line(websockets=False)
        assert (await line.ask("/", **UPGRADE))[0] == 403
        assert line.stack.left is None

    in_loop(body)
