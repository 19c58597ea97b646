"""HTTP at listeners of real routers: pages, limits that count connections, AMQP over WebSocket, TLS below both."""

import gzip
import http.client
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from routerd.wire import Close
from tests.conformance.raw_peer import AMQP_HEADER
from tests.interop.certificates import Authority, absence
from tests.interop.tls_routers import profile
from tests.system.conftest import Manage, Start, in_process
from tests.system.routers import configuration, listener, section
from tests.system.web_client import Browser, WebClient, close_all, exchange
from tests.waiting import WITHIN_S, eventually

ConnectionClosed = pytest.importorskip("websockets.exceptions").ConnectionClosed
InvalidStatus = pytest.importorskip("websockets.exceptions").InvalidStatus

pytestmark = in_process
STYLE = b"p { margin: 0 }\n" * 100


@pytest.fixture(autouse=True)
def _closes_all() -> Iterator[None]:
    """Close what a test has opened."""
    yield
    close_all()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder that is served."""
    root = tmp_path / "www"
    root.mkdir()
    (root / "index.html").write_text("<p>index")
    (root / "style.css").write_bytes(STYLE)
    (tmp_path / "secret").write_text("secret")
    (root / "out").symlink_to(tmp_path / "secret")
    return root


def test_pages_and_files_are_served_and_what_is_wrong_is_said(start: Start, root: Path) -> None:
    router = start(configuration(listener("clients"), listener("web", httpRootDir=root)))
    port = router.port_of("web")
    browser = Browser(port)
    found = {path: browser.ask(path)[:2] for path in ("/healthz", "/livez", "/readyz", "/startupz")}
    assert set(found.values()) == {(200, b"OK\n")}
    status, packed, headers = browser.ask("/style.css", Accept_Encoding="gzip")
    assert (status, gzip.decompress(packed), headers["Content-Type"]) == (200, STYLE, "text/css; charset=utf-8")
    assert browser.ask("/style.css", Accept_Encoding="gzip", If_None_Match=headers["ETag"])[:2] == (304, b"")
    assert browser.ask("/")[1] == b"<p>index"
    assert browser.ask("/", "HEAD")[:2] == (200, b"")
    assert [browser.ask(path)[0] for path in ("/out", "/../secret", "/%2e%2e/secret", "/else")] == [404] * 4
    assert browser.ask("/", "POST")[0] == 405
    assert Browser(port).ask("/", X="x" * (1 << 14))[0] == 431
    for wrong, place, sentence in (
        (AMQP_HEADER, "web", b"plain AMQP is for another port"),
        (b"GET / HTTP/1.1\r\nHost: r\r\n\r\n", "clients", b"This port takes AMQP 1.0, not HTTP."),
    ):
        with socket.create_connection(("127.0.0.1", router.port_of(place)), WITHIN_S) as peer:
            peer.sendall(wrong)
            answer = b"".join(iter(lambda peer=peer: peer.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert sentence in answer
    assert "Configured Listener: 127.0.0.1:0 proto=any, role=normal, http" in router.log()


def test_a_peer_that_is_wrong_again_and_again_is_logged_seldom(start: Start) -> None:
    router = start(configuration(listener("web", http="yes")))
    for _ in range(50):
        with socket.create_connection(("127.0.0.1", router.port), WITHIN_S) as peer:
            peer.sendall(AMQP_HEADER)
            peer.recv(4096)
    assert Browser(router.port).ask("/livez")[0] == 200
    # One at once, and one for each second that this took.
    assert 1 <= router.log().count("is refused") < 10
    assert "Accepted connection" not in router.log()
    assert "failed:" not in router.log()


@pytest.mark.skipif(absence() is not None, reason=str(absence()))
@pytest.mark.parametrize(
    ("octets", "says"),
    [(b"GET / HTTP/1.1\r\nHost: r\r\n\r\n", "does not begin with TLS"), (b"\x16\x03\x01\x00\x05hello", "TLS failed")],
    ids=["not encrypted", "not TLS"],
)
def test_a_peer_that_fails_at_tls_again_and_again_is_logged_seldom(
    start: Start, tmp_path: Path, octets: bytes, says: str
) -> None:
    own = Authority(tmp_path).issue()
    router = start(configuration(profile(own=own), listener("web", http="yes", sslProfile="tls", requireSsl="yes")))
    for _ in range(50):
        with socket.create_connection(("127.0.0.1", router.port), WITHIN_S) as peer:
            peer.sendall(octets)
            while peer.recv(4096):
                pass
    eventually(lambda: says in router.log(), "the log says why")
    assert 1 <= router.log().count("failed:") < 10


def test_http_counts_as_a_connection_and_is_none_of_amqp(start: Start, manage_at: Manage) -> None:
    text = configuration(listener("clients"), listener("web", http="yes"), section("policy", maxConnections=3))
    router = start(text)
    web = router.port_of("web")
    management = manage_at(router.port_of("clients"))
    browsers = [Browser(web), Browser(web)]
    assert [one.ask("/livez")[0] for one in browsers] == [200, 200]
    assert len(management.query("connection")) == 1
    assert management.query("router")[0]["connectionCount"] == 1
    # The fourth is refused without an octet.
    with socket.create_connection(("127.0.0.1", web), WITHIN_S) as peer:
        assert peer.recv(1) == b""
    browsers[0].connection.close()
    eventually(lambda: _is_served(web), "there is room again")


def _is_served(port: int) -> bool:
    try:
        return Browser(port).ask("/livez")[0] == 200
    except (OSError, http.client.HTTPException):
        return False


def test_amqp_passes_over_websocket_as_over_any_other_connection(start: Start, manage_at: Manage) -> None:
    router = start(configuration(listener("clients"), listener("web", http="yes", idleTimeoutSeconds=8)))
    client = WebClient(router.port_of("web"))
    assert client.socket.subprotocol == "amqp"
    opened = client.open()
    assert (opened.container_id, opened.idle_time_out) == ("R.1", 4000)
    exchange(client, "web")
    assert client.socket.ping(b"beat").wait(WITHIN_S)
    management = manage_at(router.port_of("clients"))
    [row] = [one for one in management.query("connection") if one["container"] == "web-client"]
    assert (row["role"], row["dir"], row["isEncrypted"]) == ("normal", "in", False)
    client.send(Close())
    client.wait_for(Close)
    with pytest.raises(ConnectionClosed) as ended:
        client.socket.recv(WITHIN_S)
    assert ended.value.rcvd.code == 1000
    assert f"Accepted connection to 127.0.0.1:{router.port_of('web')} from" in router.log()
    eventually(lambda: len(management.query("connection")) == 1, "the connection is gone")


def test_a_violation_costs_its_own_connection_alone(start: Start) -> None:
    router = start(configuration(listener("web", http="yes")))
    right, wrong = WebClient(router.port), WebClient(router.port)
    right.open()
    wrong.open()
    wrong.socket.send("text")
    with pytest.raises(ConnectionClosed) as ended:
        wrong.socket.recv(WITHIN_S)
    assert (ended.value.rcvd.code, "text" in ended.value.rcvd.reason) == (1003, True)
    exchange(right, "still")
    eventually(lambda: "WebSocket: AMQP goes in binary messages" in router.log(), "the log says why")


@pytest.mark.parametrize(
    ("attributes", "options", "status"),
    [
        ({"websockets": "no"}, {}, 403),
        ({}, {"subprotocols": ["mqtt"]}, 400),
        ({}, {"origin": "http://elsewhere"}, 403),
    ],
    ids=["off", "protocol", "origin"],
)
def test_a_websocket_that_may_not_begin_is_refused(
    start: Start, attributes: dict[str, str], options: dict[str, Any], status: int
) -> None:
    router = start(configuration(listener("web", http="yes", **attributes)))
    with pytest.raises(InvalidStatus) as refused:
        WebClient(router.port, **options)
    assert refused.value.response.status_code == status


def test_who_a_peer_is_has_to_be_proven_over_websocket_too(start: Start) -> None:
    router = start(configuration(listener("web", http="yes", authenticatePeer="yes", saslMechanisms="PLAIN")))
    client = WebClient(router.port)
    client.socket.send(AMQP_HEADER)
    # What SASL would begin with.
    assert client.socket.recv(WITHIN_S) == b"AMQP\x03\x01\x00\x00"
    with pytest.raises(ConnectionClosed):
        client.socket.recv(WITHIN_S)
    assert Browser(router.port).ask("/livez")[0] == 200


@pytest.mark.skipif(absence() is not None, reason=str(absence()))
def test_tls_is_below_http_and_websocket(start: Start, tmp_path: Path, manage_at: Manage) -> None:
    ca = Authority(tmp_path)
    text = configuration(
        profile(own=ca.issue()),
        listener("web", http="yes", sslProfile="tls", requireSsl="yes"),
        listener("both", http="yes", sslProfile="tls"),
        listener("clients"),
    )
    router = start(text)
    context = ssl.create_default_context(cafile=str(ca.certificate))
    port = router.port_of("web")
    assert Browser(port, context).ask("/healthz")[:2] == (200, b"OK\n")
    assert Browser(port).ask("/healthz")[:2] == (400, b"This port takes HTTPS, so begin with TLS.\n")
    assert Browser(router.port_of("both")).ask("/healthz")[0] == 200
    client = WebClient(port, context)
    client.open()
    exchange(client, "encrypted")
    rows = manage_at(router.port_of("clients")).query("connection")
    assert [row["isEncrypted"] for row in rows if row["container"] == "web-client"] == [True]


def test_a_router_that_drains_waits_for_no_browser(start: Start) -> None:
    router = start(configuration(listener("web", http="yes")))
    browser = Browser(router.port)
    assert browser.ask("/readyz")[0] == 200
    router.launcher.terminate()
    assert router.launcher.wait(WITHIN_S) == 0
    assert "(error)" not in router.log()
    assert "(critical)" not in router.log()
