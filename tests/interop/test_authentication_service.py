"""A router that asks a service who its clients are (authServicePlugin)."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.free_ports import free_port
from routerd.wire import Array
from tests.conformance.raw_peer import SASL_HEADER
from tests.interop.authenticating_router import (
    Authenticating,
    attempt,
    listener,
    octets_to_the_end,
    router,
    running,
)
from tests.interop.authentication_service import AuthenticationService
from tests.interop.conftest import StartPeer
from tests.system.management_client import ManagementClient
from tests.system.raw_client import RawClient
from tests.waiting import eventually

KINDS = ["proton", "rhea"]


def plugin(port: int) -> str:
    """Return the section of a service."""
    return f"authServicePlugin {{\n name: identity\n host: 127.0.0.1\n port: {port}\n realm: example.com\n}}\n"


def configuration(port: int) -> str:
    return "".join([
        router(),
        plugin(port),
        listener("proven", "authenticatePeer: yes", "saslPlugin: identity"),
        listener("plain", "authenticatePeer: yes", "saslPlugin: identity", "saslMechanisms: PLAIN"),
        listener("open"),
    ])


EVERYTHING_ALLOWED = """
policy {
 enableVhostPolicy: yes
}
vhost {
 hostname: $default
 groups: {"all": {"users": "*", "remoteHosts": "*", "sources": "*", "targets": "*", "allowDynamicSource": true}}
}
"""


@pytest.fixture
def service() -> Iterator[AuthenticationService]:
    one = AuthenticationService({"alice": "secret"})
    yield one
    one.close()


@pytest.fixture
def serving(tmp_path: Path, service: AuthenticationService) -> Iterator[Authenticating]:
    with running(tmp_path, configuration(service.port)) as launched:
        yield launched


@pytest.mark.parametrize("kind", KINDS)
def test_the_service_says_who_a_client_is(
    start_peer: StartPeer, serving: Authenticating, service: AuthenticationService, kind: str
) -> None:
    service.properties = lambda name: {"authenticated-identity": {"sub": f"{name}@service"}}
    for mechanism in ("SCRAM-SHA-256", "PLAIN"):
        told = attempt(start_peer, kind, serving.port_of("proven"), mechanism, "alice", "secret")
        assert told == {"mechanism": mechanism}
        serving.has_logged(f"auth={mechanism} user=alice@service")
    assert service.realms == ["example.com"] * 2
    assert [one.desired_capabilities for one in service.opens] == [("ADDRESS-AUTHZ",)] * 2
    eventually(lambda: service.ended == 2, "the connections to the service have ended")


@pytest.mark.parametrize("capabilities", [("ADDRESS-AUTHZ",), ()])
def test_the_service_says_what_a_client_may_do(
    start_peer: StartPeer, serving: Authenticating, service: AuthenticationService, capabilities: tuple[str, ...]
) -> None:
    service.capabilities = capabilities
    service.properties = lambda name: {
        "authenticated-identity": {"sub": name},
        "address-authz": {"a": Array("string", ["recv"])},
    }
    options = {"port": serving.port_of("proven"), "mechanism": "PLAIN", "user": "alice", "password": "secret"}
    for address in ("a", "b"):
        start_peer("proton", "client", "receive", address=address, **options)
    serving.has_logged(r"Link attached: dir=out source=\{a ")
    serving.has_logged(r"Link receive-0-0 refused: amqp:unauthorized-access: link disallowed by local policy")


@pytest.mark.parametrize("found", [{}, {"address-authz": None}, {"address-authz": {"a": "recv"}}])
def test_a_client_that_is_granted_nothing_may_do_what_policy_says_if_nothing_was_said(
    start_peer: StartPeer, tmp_path: Path, service: AuthenticationService, found: dict[str, object]
) -> None:
    """The service's word stands in the place of the vhost's, which allows everything here."""
    text = configuration(service.port) + EVERYTHING_ALLOWED
    service.properties = lambda name: {"authenticated-identity": {"sub": name}, **found}
    with running(tmp_path, text) as serving:
        options = {"port": serving.port_of("proven"), "mechanism": "PLAIN", "user": "alice", "password": "secret"}
        start_peer("proton", "client", "receive", address="a", **options)
        if found:
            serving.has_logged(r"AUTHSERVICE \(warning\) The authentication service identity grants to 'alice' what is")
            serving.has_logged(r"Link receive-0-0 refused: amqp:unauthorized-access: link disallowed by local policy")
        else:
            serving.has_logged(r"Link attached: dir=out source=\{a ")


@pytest.mark.parametrize("kind", KINDS)
def test_whom_the_service_refuses_is_refused(
    start_peer: StartPeer, serving: Authenticating, service: AuthenticationService, kind: str
) -> None:
    for mechanism in ("SCRAM-SHA-256", "PLAIN"):
        told = attempt(start_peer, kind, serving.port_of("proven"), mechanism, "alice", "wrong")
        assert told["condition"] == "amqp:unauthorized-access"
    eventually(lambda: service.ended == 2, "the connections to the service have ended")


def test_the_listener_says_which_mechanisms_of_the_service_are_offered(
    start_peer: StartPeer, serving: Authenticating
) -> None:
    for name, mechanism in (("plain", "SCRAM-SHA-256"), ("proven", "ANONYMOUS")):
        assert "condition" in attempt(start_peer, "proton", serving.port_of(name), mechanism, "alice", "secret")
    told = attempt(start_peer, "proton", serving.port_of("plain"), "PLAIN", "alice", "secret")
    assert told == {"mechanism": "PLAIN"}


@pytest.mark.parametrize("found", [{}, {"authenticated-identity": "alice"}, {"authenticated-identity": {"sub": 5}}])
def test_a_client_whom_the_service_does_not_name_has_no_name(
    start_peer: StartPeer, serving: Authenticating, service: AuthenticationService, found: dict[str, object]
) -> None:
    service.properties = lambda name: found
    told = attempt(start_peer, "proton", serving.port_of("proven"), "PLAIN", "alice", "secret")
    assert told == {"mechanism": "PLAIN"}
    serving.has_logged(r"AUTHSERVICE \(warning\) The authentication service identity names no user: ")
    serving.has_logged(r"auth=PLAIN user=\(null\)")


@contextlib.contextmanager
def kept(port: int) -> Iterator[None]:
    """Keep a port at which nobody listens."""
    with socket.socket() as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        keeper.bind(("127.0.0.1", port))
        yield


def test_a_client_is_cut_when_there_is_no_service(serving: Authenticating, service: AuthenticationService) -> None:
    service.close()
    # A router of another test must not be given the port.
    with kept(service.port), RawClient(serving.port_of("proven")) as client:
        client.send_octets(SASL_HEADER)
        assert octets_to_the_end(client) == SASL_HEADER
    serving.has_logged(r"AUTHSERVICE \(error\) Authentication service identity at 127.0.0.1:\d+: ")


def test_a_service_that_says_nothing_is_not_waited_for(
    serving: Authenticating, service: AuthenticationService
) -> None:
    service.is_silent = True
    with RawClient(serving.port_of("proven")) as client:
        client.send_octets(SASL_HEADER)
        assert octets_to_the_end(client) == SASL_HEADER
    eventually(lambda: service.ended == 1, "the connection to the service has ended")


def test_a_client_that_leaves_leaves_nothing_at_the_service(
    serving: Authenticating, service: AuthenticationService
) -> None:
    service.is_silent = True
    with RawClient(serving.port_of("proven")) as client:
        client.send_octets(SASL_HEADER)
        eventually(lambda: service.connections == 1, "the service is asked")
    eventually(lambda: service.ended == 1, "the connection to the service has ended")


def test_a_service_comes_and_goes_at_run_time(
    start_peer: StartPeer, tmp_path: Path, service: AuthenticationService
) -> None:
    with running(tmp_path, router("managementAccess: change") + listener("open")) as started, ManagementClient(
        started.port_of("open")
    ) as client:
        port = free_port()
        named = {"host": "127.0.0.1", "port": str(port), "saslPlugin": "late", "authenticatePeer": True}
        refused = client.create("listener", "served", **named)
        assert (refused.status, "no authServicePlugin with the name 'late'" in refused.description) == (400, True)
        made = client.create("authServicePlugin", "late", host="127.0.0.1", port=str(service.port))
        assert (made.status, made.body["host"]) == (201, "127.0.0.1")
        assert client.create("listener", "served", **named).status == 201
        assert attempt(start_peer, "proton", port, "PLAIN", "alice", "secret") == {"mechanism": "PLAIN"}
        refused = client.delete("authServicePlugin", "late")
        assert (refused.status, "is in use by listener/" in refused.description) == (400, True)
        assert client.delete("listener", "served").status == 204
        assert client.delete("authServicePlugin", "late").status == 204
        assert client.query("authServicePlugin", "name") == []
