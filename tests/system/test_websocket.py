"""AMQP over WebSocket: rhea's clients at routers in each form, certificates below it, and connectors that use it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interop.certificates import CLIENT_SUBJECT, Authority, Identity, absence
from tests.interop.conftest import StartPeer, start_peer
from tests.interop.scenarios import in_order
from tests.interop.tls_routers import profile
from tests.system.conftest import Connect, Manage, Start, in_forms, in_process, running
from tests.system.management_client import ManagementClient
from tests.system.routers import FORMS, IN_PROCESS, Form, RunningRouter, configuration, listener, section
from tests.system.test_routerbench import figures, run
from tests.waiting import eventually

__all__ = ["start_peer"]

needs_openssl = pytest.mark.skipif(absence() is not None, reason=str(absence()))
TRANSFERS: dict[str, dict[str, Any]] = {
    "every outcome": {"messages": 8, "outcomes": ["accepted", "rejected", "released", "modified"]},
    "a megabyte in small frames": {"size": 1_000_000, "max_frame_size": 1000},
    "large messages": {"size": 3_000_000, "messages": 3},
    "many links": {"links": 20, "messages": 2, "sessions": 2},
}
NORMAL = 1000


@pytest.fixture(scope="module")
def router(form: Form, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningRouter]:
    """A router that takes WebSockets."""
    with running(form, tmp_path_factory.mktemp("router"), configuration(listener("web", http="yes"))) as router:
        yield router


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def own(ca: Authority) -> Identity:
    return ca.issue()


@in_forms(*FORMS)
@pytest.mark.parametrize("name", TRANSFERS)
def test_rhea_sends_to_rhea_over_websocket(start_peer: StartPeer, router: RunningRouter, name: str) -> None:
    options = {"messages": 1, **TRANSFERS[name], "port": router.port, "address": f"{name}.{{}}", "websocket": True}
    receiver = start_peer("rhea", "client", "receive", **options)
    sender = start_peer("rhea", "client", "send", **options)
    told, seen = sender.finish(), receiver.finish()
    count = options["messages"] * options.get("links", 1) * options.get("sessions", 1)
    outcomes = options.get("outcomes", ["accepted"])
    expected = sorted(outcomes[number % len(outcomes)] for number in range(count))
    assert sorted(fact["state"] for fact in in_order(told, "outcome")) == expected
    assert [fact["octets"] for fact in in_order(seen, "received")] == [options.get("size", 100)] * count
    # Both sides have said that this is the end.
    assert [fact["code"] for facts in (told, seen) for fact in facts if fact["fact"] == "websocket_closed"] == [
        NORMAL,
        NORMAL,
    ]
    assert [facts[-1]["error"] for facts in (told, seen)] == [None, None]


@needs_openssl
@in_process
def test_certificates_say_who_a_client_is_below_websocket(
    start: Start, start_peer: StartPeer, manage_at: Manage, ca: Authority, own: Identity
) -> None:
    router = start(
        configuration(
            profile(ca=ca.certificate, own=own, uidFormat="n"),
            listener("plain"),
            listener("some", http="yes", sslProfile="tls", requireSsl="yes"),
            listener("all", http="yes", sslProfile="tls", requireSsl="yes", saslMechanisms="EXTERNAL",
                     authenticatePeer="yes"),
        )
    )
    shown = ca.issue(CLIENT_SUBJECT, hosts="")
    trusted = {"ca": str(ca.certificate), "websocket": True}
    # Without one, where none is demanded.
    told = start_peer("rhea", "client", "open", port=router.port_of("some"), **trusted).finish()
    assert (told[-1]["opened"], told[-1]["error"]) == (True, None)
    # Without one, where one is: TLS ends it.
    told = start_peer("rhea", "client", "open", port=router.port_of("all"), **trusted).finish()
    assert told[-1]["opened"] is False
    # With one that nobody has signed.
    stranger = Authority(ca.certificate.parent, "stranger").issue(CLIENT_SUBJECT, hosts="")
    wrong = {"cert": str(stranger.certificate), "key": str(stranger.key)}
    told = start_peer("rhea", "client", "open", port=router.port_of("all"), **trusted, **wrong).finish()
    assert told[-1]["opened"] is False
    # With the right one, and a connector that shows the same.
    text = configuration(
        profile(ca=ca.certificate, own=shown),
        section("connector", name="web", host="localhost", port=router.port_of("all"), sslProfile="tls",
                saslMechanisms="EXTERNAL", websockets="yes"),
        id="Connecting",
    )
    start(text)
    management = manage_at(router.port_of("plain"))

    def user() -> str | None:
        rows = management.query("connection")
        return next((row["user"] for row in rows if row["container"] == "Connecting"), None)

    assert eventually(user, "the connector is there") == "client"


@needs_openssl
@pytest.mark.parametrize("scheme", ["ws", "wss"])
@in_process
def test_routers_are_joined_over_websocket(
    start: Start, connect_to: Connect, manage_at: Manage, ca: Authority, own: Identity, scheme: str
) -> None:
    secured = {"sslProfile": "tls"} if scheme == "wss" else {}
    trunk = listener("trunk", http="yes", role="inter-router", **secured)
    near = start(configuration(profile(own=own), trunk, listener("clients"), mode="interior", id="Near"))
    connector = section(
        "connector", name="near", host="localhost", port=near.port_of("trunk"), role="inter-router", websockets="yes",
        webSocketPath="/amqp?from=far", **secured,
    )
    far = start(
        configuration(profile(ca=ca.certificate), connector, listener("clients"), mode="interior", id="Far")
    )
    management = manage_at(far.port_of("clients"))
    eventually(lambda: len(management.query("router.node")) == 2, "the routers know each other")
    receiver, sender = connect_to(far.port_of("clients")), connect_to(near.port_of("clients"))
    consumer, producer = receiver.consumer("joined"), sender.producer("joined")
    bodies = ["small", "x" * 500_000]
    sent = producer.send_all(bodies)
    assert [one.outcome() for one in sent] == ["accepted", "accepted"]
    assert consumer.wait_for(2) == bodies
    [row] = management.query("connector")
    assert row["connectionStatus"] == "SUCCESS"
    assert f"Connection Opened: dir=out host=localhost:{near.port_of('trunk')}" in row["connectionMsg"]
    [trunk_row] = [one for one in management.query("connection") if one["role"] == "inter-router"]
    assert trunk_row["isEncrypted"] is bool(secured)


def message_of_connector(management: ManagementClient) -> str:
    """Return what the only connector says, once it has tried."""
    [row] = management.query("connector", "connectionMsg")
    return str(row["connectionMsg"] or "")


@in_process
def test_a_connector_says_what_is_wrong_with_its_peer(start: Start, manage_at: Manage) -> None:
    router = start(configuration(listener("plain"), listener("off", http="yes", websockets="no")))
    for name, says in (
        ("off", "WebSocket: the peer refuses it: 403 Forbidden"),
        # What takes AMQP answers HTTP with a sentence.
        ("plain", "WebSocket: the peer refuses it: 400 Bad Request"),
    ):
        port = router.port_of(name)
        other = start(
            configuration(listener("clients"), section("connector", host="127.0.0.1", port=port, websockets="yes"))
        )
        management = manage_at(other.port_of("clients"))
        eventually(lambda m=management, s=says: s in message_of_connector(m), f"it says {says}")


@in_process
def test_a_router_that_drains_ends_websockets_in_order(
    form: Form, tmp_path: Path, start_peer: StartPeer
) -> None:
    with running(IN_PROCESS, tmp_path, configuration(listener("web", http="yes"))) as router:
        peer = start_peer("rhea", "client", "receive", port=router.port, websocket=True, messages=1000)
        peer.wait_for("attached")
        assert router.end() == 0
        told = peer.finish()
    assert [fact["code"] for fact in told if fact["fact"] == "websocket_closed"] == [NORMAL]


@needs_openssl
@in_process
@pytest.mark.parametrize("name", ["plain", "tls"])
def test_routerbench_sends_over_websocket(start: Start, ca: Authority, own: Identity, name: str) -> None:
    router = start(
        configuration(
            profile(ca=ca.certificate, own=own),
            listener("plain", http="yes"),
            listener("tls", http="yes", sslProfile="tls", requireSsl="yes"),
        )
    )
    place = ["--connect", f"localhost:{router.port_of(name)}", "--websocket"]
    trust = ["--ca", str(ca.certificate)] if name == "tls" else []
    # Frames of several sizes, and more than a socket takes at once.
    for size, count in ((100, 2000), (70_000, 200)):
        found = figures(*place, *trust, "--size", str(size), "--count", str(count))
        assert (found["received"], found["outcomes"]["accepted"]) == (count, count)


@in_process
def test_routerbench_says_that_a_listener_takes_no_websocket(start: Start) -> None:
    status, _, errors = run("--connect", f"127.0.0.1:{start(configuration()).port}", "--websocket", "--count", "1")
    assert status == 1
    assert errors.startswith("routerbench: can't connect to 127.0.0.1:")
    assert "WebSocket" in errors
