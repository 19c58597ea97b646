"""TLS of connectors and trunks: whom the router trusts, what it shows, and what it then carries."""

import hashlib
import os
import re
import shutil
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.interop.certificates import CLIENT_SUBJECT, Authority, Identity, absence
from tests.interop.tls_routers import AMQP_HEADER, SASL_HEADER, profile, running
from tests.system.management_client import ManagementClient
from tests.system.proton_client import ProtonClient
from tests.system.routers import RunningRouter, listener, section
from tests.waiting import WITHIN_S, eventually

pytestmark = pytest.mark.skipif(absence() is not None, reason=str(absence()))


@pytest.fixture(scope="module")
def ca(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def servers(ca: Authority) -> Iterator[RunningRouter]:
    """Listeners with certificates that are right or wrong for localhost, and one with none."""
    stranger = Authority(ca.certificate.parent, "stranger")
    shown = {
        "good": ca.issue(),
        "elsewhere": ca.issue(hosts="DNS:elsewhere.example"),
        "expired": ca.issue(days=-1),
        "stranger": stranger.issue(),
    }
    profiles = [profile(name, ca=ca.certificate, own=own) for name, own in shown.items()]
    listeners = [listener(name, sslProfile=name, requireSsl="yes") for name in shown]
    known = listener("known", sslProfile="good", requireSsl="yes", saslMechanisms="EXTERNAL ANONYMOUS")
    old = profile("old", own=shown["good"], protocols="TLSv1.2")
    listeners += [known, listener("old", sslProfile="old", requireSsl="yes"), listener("plain")]
    with running(*profiles, old, *listeners, router_id="servers") as router:
        yield router


def connector(name: str, port: int, **attributes: object) -> str:
    """Return the section of a connector."""
    return section("connector", **{"name": name, "host": "localhost", "port": port} | attributes)


def said_of(port: int, name: str) -> tuple[str, str]:
    """Return status and message of a connector, once its first attempt is over."""
    found: list[tuple[str, str]] = []

    def is_over() -> bool:
        with ManagementClient(port) as management:
            [row] = [one for one in management.query("connector") if one["name"] == name]
        found.append((row["connectionStatus"], row["connectionMsg"]))
        return bool(row["connectionMsg"])

    eventually(is_over, "the connector has tried")
    return found[-1]


TRUST = [
    ("good", {}, True, ""),
    ("elsewhere", {}, False, "Hostname mismatch"),
    ("elsewhere", {"verifyHostname": "no"}, True, ""),
    ("expired", {}, False, "certificate has expired"),
    ("expired", {"verifyHostname": "no"}, False, "certificate has expired"),
    ("stranger", {}, False, "unable to get local issuer certificate"),
    ("stranger", {"verifyHostname": "no"}, False, "unable to get local issuer certificate"),
    ("plain", {}, False, "wrong version number"),
    ("known", {}, False, ""),
    ("known", {"sslProfile": "shows"}, True, ""),
    ("old", {"sslProfile": "new"}, False, "alert protocol version"),
]


def test_a_connector_connects_to_whom_it_trusts_and_says_why_not_to_others(
    servers: RunningRouter, ca: Authority
) -> None:
    profiles = [
        profile("trusts", ca=ca.certificate),
        profile("shows", ca=ca.certificate, own=ca.issue(CLIENT_SUBJECT, hosts="")),
        profile("new", ca=ca.certificate, protocols="TLSv1.3"),
    ]
    connectors = [
        connector(f"c{number}", servers.port_of(name), **{"sslProfile": "trusts"} | attributes)
        for number, (name, attributes, _, _) in enumerate(TRUST)
    ]
    with running(*profiles, *connectors, listener(), router_id="clients") as router:
        for number, (name, attributes, is_trusted, reason) in enumerate(TRUST):
            status, message = said_of(router.port, f"c{number}")
            about = (name, attributes, message)
            assert ("Connection Opened: dir=out host=localhost:" in message) == is_trusted, about
            assert (status == "SUCCESS") == is_trusted, about
            assert reason in message, about
        with ManagementClient(router.port) as management:
            rows = [one for one in management.query("connection") if one["dir"] == "out" and one["opened"]]
        assert {(one["isEncrypted"], one["sslProto"]) for one in rows} == {(True, "TLSv1.3")}


@contextmanager
def naming_server(own: Identity, names: list[str | None]) -> Iterator[int]:
    """Listen for handshakes, and take down the names of hosts that are asked for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own.certificate, own.key)
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            try:
                while True:
                    accepted, _ = server.accept()
                    accepted.settimeout(WITHIN_S)
                    try:
                        context.wrap_socket(accepted, server_side=True).close()
                    except OSError:
                        accepted.close()
            except OSError:
                return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join(WITHIN_S)


def test_a_connector_says_which_host_it_wants(ca: Authority) -> None:
    names: list[str | None] = []
    with naming_server(ca.issue(), names) as port:
        connectors = [connector("named", port, sslProfile="trusts")]
        connectors.append(connector("numbered", port, sslProfile="trusts", host="127.0.0.1", verifyHostname="no"))
        with running(profile("trusts", ca=ca.certificate), *connectors, listener()):
            eventually(lambda: {"localhost", None} <= set(names), "both have connected")
    assert set(names) == {"localhost", None}


def test_what_a_peer_names_instead_is_connected_to_with_tls_or_not_at_all(
    ca: Authority, servers: RunningRouter
) -> None:
    good, plain = servers.port_of("good"), servers.port_of("plain")
    urls = f"amqp://localhost:{good}, amqps://localhost:{good}"
    first_tls = listener("tls", sslProfile="own", failoverUrls=urls)
    first_plain = listener("plain", failoverUrls=f"amqps://localhost:{good}, amqp://localhost:{plain}")
    own = profile("own", own=ca.issue())
    with running(own, first_tls, first_plain, router_id="first") as first:
        connectors = [
            connector("tls", first.port_of("tls"), sslProfile="trusts"),
            connector("plain", first.port_of("plain")),
        ]
        with running(profile("trusts", ca=ca.certificate), *connectors, listener(), router_id="clients") as router:
            assert [said_of(router.port, name)[0] for name in ("tls", "plain")] == ["SUCCESS", "SUCCESS"]
            first.end()

            def opened(name: str, port: int) -> str | None:
                """How the connection to there is encrypted, once it is open."""
                found = re.search(rf"dir=out host=localhost:{port} .* encrypted=(\S+)", said_of(router.port, name)[1])
                return found and found[1]

            # Named without TLS, and connected to with it; without a profile there is no TLS to be had.
            assert eventually(lambda: opened("tls", good), "the connector has gone elsewhere").startswith("TLS")
            assert eventually(lambda: opened("plain", plain), "the connector has gone elsewhere") == "no"
            assert f"Connection to localhost:{good} failed: it is to be had with TLS only" in router.log()


def test_a_connector_whose_profile_is_broken_says_so_and_the_others_go_on() -> None:
    broken = profile("trusts", caCertFile="/nowhere")
    with running(broken, connector("c", 5671, sslProfile="trusts"), listener()) as router:
        reason = "caCertFile /nowhere: No such file or directory"
        assert f"{reason}: connections that need the profile" in router.log()
        error = "SERVER (error) SSL CA configuration failed for connection to localhost:5671: sslProfile trusts"
        eventually(lambda: f"{error}: {reason}" in router.log(), "the connector has said so")
        with ProtonClient(router.port) as client:
            client.consumer("orders")
            assert client.producer("orders").send("one").outcome() == "accepted"


@pytest.fixture(scope="module")
def trunk(ca: Authority, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RunningRouter, RunningRouter]]:
    """Two routers with a trunk over TLS, at which both show certificates."""
    folder = tmp_path_factory.mktemp("trunk")
    trusted = folder / "trusted.crt"
    shutil.copy(ca.certificate, trusted)
    secured = {"sslProfile": "tls", "requireSsl": "yes", "saslMechanisms": "EXTERNAL ANONYMOUS"}
    at_a = listener("trunk", role="inter-router", **secured)
    files = profile(ca=trusted, own=ca.issue())
    with running(files, at_a, listener("clients"), router_id="A", mode="interior") as a:
        to_a = connector("trunk", a.port_of("trunk"), role="inter-router", sslProfile="tls")
        own = profile(ca=trusted, own=ca.issue(CLIENT_SUBJECT, hosts=""))
        with running(own, to_a, listener("clients"), router_id="B", mode="interior") as b:
            yield a, b


def test_a_trunk_over_tls_carries_messages_both_ways(trunk: tuple[RunningRouter, RunningRouter]) -> None:
    a, b = trunk
    with ProtonClient(a.port_of("clients")) as at_a, ProtonClient(b.port_of("clients")) as at_b:
        for near, far, address in ((at_a, at_b, "to.b"), (at_b, at_a, "to.a")):
            consumer = far.consumer(address)
            producer = near.producer(address)
            sent = [producer.send(f"{address} {number}") for number in range(200)]
            assert consumer.wait_for(200) == [f"{address} {number}" for number in range(200)]
            assert {one.outcome() for one in sent} == {"accepted"}
    with ManagementClient(b.port_of("clients")) as management:
        rows = [one for one in management.query("connection") if one["role"] == "inter-router"]
    assert [(one["isEncrypted"], one["sslProto"], one["dir"]) for one in rows] == [(True, "TLSv1.3", "out")]


def test_a_trunk_over_tls_carries_a_message_of_10_mb(trunk: tuple[RunningRouter, RunningRouter]) -> None:
    a, b = trunk
    body = os.urandom(10_000_000)
    with ProtonClient(a.port_of("clients")) as at_a, ProtonClient(b.port_of("clients")) as at_b:
        for near, far, address in ((at_a, at_b, "large.b"), (at_b, at_a, "large.a")):
            consumer = far.consumer(address)
            sent = near.producer(address).send(body)
            assert hashlib.sha256(consumer.take().body).digest() == hashlib.sha256(body).digest()
            assert sent.outcome() == "accepted"


def test_a_listener_with_tls_takes_a_peer_that_has_no_sasl(servers: RunningRouter, ca: Authority) -> None:
    context = ssl.create_default_context(cafile=str(ca.certificate))
    for header in (AMQP_HEADER, SASL_HEADER):
        place = ("127.0.0.1", servers.port_of("good"))
        with (
            socket.create_connection(place, timeout=WITHIN_S) as plain,
            context.wrap_socket(plain, server_hostname="localhost") as encrypted,
        ):
            encrypted.sendall(header)
            assert encrypted.recv(8) == header
