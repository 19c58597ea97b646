"""A router and its own users: who is let in at which listener, by clients of proton, rhea and the engine."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from routerd.config import editing
from routerd.wire.sasl import SCRAM_MECHANISMS
from tests.conformance.raw_peer import AMQP_HEADER, SASL_HEADER
from tests.interop.authenticating_router import (
    Authenticating,
    attempt,
    listener,
    octets_to_the_end,
    put_user,
    router,
    running,
)
from tests.interop.conftest import StartPeer
from tests.system.management_client import ManagementClient
from tests.system.raw_client import RawClient
from tests.waiting import eventually

KINDS = ["engine", "proton", "rhea"]
UNAUTHORIZED = "amqp:unauthorized-access"
CONFIGURATION = "".join([
    router(),
    listener("any"),
    listener("proven", "authenticatePeer: yes"),
    listener("scram", "authenticatePeer: yes", "saslMechanisms: SCRAM-SHA-256 ANONYMOUS"),
])


def users_in(folder: Path) -> Path:
    """Return a file that has alice."""
    file = folder / "users"
    with editing(str(file)) as found:
        found.put("alice", "secret")
    return file


@pytest.fixture
def users(tmp_path: Path) -> Path:
    return users_in(tmp_path)


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Authenticating]:
    """A router for all tests in which hardly anybody fails."""
    folder = tmp_path_factory.mktemp("router")
    with running(folder, CONFIGURATION, "--user-file", str(users_in(folder))) as launched:
        yield launched


@pytest.fixture
def fresh(tmp_path: Path, users: Path) -> Iterator[Authenticating]:
    """A router that knows of no failures."""
    with running(tmp_path, CONFIGURATION, "--user-file", str(users)) as launched:
        yield launched


@pytest.mark.parametrize("kind", KINDS)
def test_a_user_is_let_in_by_every_mechanism(start_peer: StartPeer, serving: Authenticating, kind: str) -> None:
    port = serving.port_of("proven")
    for mechanism in (*SCRAM_MECHANISMS, "PLAIN"):
        assert attempt(start_peer, kind, port, mechanism, "alice", "secret") == {"mechanism": mechanism}
    serving.has_logged("auth=PLAIN user=alice")
    assert serving.log().count("takes passwords that are not encrypted") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_password_and_an_unknown_user_are_refused_alike(
    start_peer: StartPeer, fresh: Authenticating, kind: str
) -> None:
    port = fresh.port_of("any")
    for mechanism in ("PLAIN", "SCRAM-SHA-256"):
        told = [
            attempt(start_peer, kind, port, mechanism, user, password)
            for user, password in (("alice", "wrong"), ("nobody", "secret"))
        ]
        assert told[0] == told[1]
        assert told[0]["condition"] == UNAUTHORIZED
        fresh.has_logged(rf"Authentication failed \[mech={mechanism}\] from 127.0.0.1:\d+ \(to \S+\): .*'alice'")
        fresh.has_logged(rf"Authentication failed \[mech={mechanism}\] from 127.0.0.1:\d+ \(to \S+\): .*'nobody'")


@pytest.mark.parametrize("kind", ["proton", "rhea"])
def test_what_is_not_offered_cannot_be_used(start_peer: StartPeer, serving: Authenticating, kind: str) -> None:
    for name, mechanism in (("scram", "PLAIN"), ("scram", "SCRAM-SHA-1"), ("scram", "ANONYMOUS"), ("proven", None)):
        told = attempt(start_peer, kind, serving.port_of(name), mechanism, mechanism and "alice", "secret")
        assert "condition" in told, (name, mechanism)
    told = attempt(start_peer, kind, serving.port_of("scram"), "SCRAM-SHA-256", "alice", "secret")
    assert told == {"mechanism": "SCRAM-SHA-256"}


@pytest.mark.parametrize("kind", KINDS)
def test_nobody_has_to_say_who_it_is_where_no_proof_is_asked_for(
    start_peer: StartPeer, serving: Authenticating, kind: str
) -> None:
    port = serving.port_of("any")
    assert attempt(start_peer, kind, port, "ANONYMOUS") == {"mechanism": "ANONYMOUS"}
    assert attempt(start_peer, kind, port, None) == {"mechanism": None}


def test_the_users_are_those_of_the_file_of_now(start_peer: StartPeer, fresh: Authenticating, users: Path) -> None:
    port = fresh.port_of("proven")
    for password, action in (("first", "add"), ("second", "passwd")):
        put_user(users, "bob", password, action)
        eventually(
            lambda password=password: attempt(start_peer, "engine", port, "PLAIN", "bob", password)
            == {"mechanism": "PLAIN"},
            "the user is let in with the new password",
        )
    assert "condition" in attempt(start_peer, "engine", port, "PLAIN", "bob", "first")


def test_a_file_that_others_can_read_stops_the_start(tmp_path: Path, users: Path) -> None:
    users.chmod(0o644)
    with running(tmp_path, CONFIGURATION, "--user-file", str(users)) as launched:
        assert launched.status() == 1
        assert f"{users}: others than its owner may read or write it: chmod 600 {users}" in launched.log()


def test_management_tells_who_is_connected_and_how_often_that_failed(
    start_peer: StartPeer, fresh: Authenticating
) -> None:
    port = fresh.port_of("any")
    for user in ("alice", "bob"):
        attempt(start_peer, "proton", port, "PLAIN", user, "wrong")
    peer = start_peer(
        "proton", "client", "open", port=port, mechanism="PLAIN", user="alice", password="secret", hold_ms=5000
    )
    fresh.has_logged("auth=PLAIN user=alice")
    client = ManagementClient(port)
    try:
        rows = client.query("connection", "user", "sasl", "isAuthenticated")
        assert {"user": "alice", "sasl": "PLAIN", "isAuthenticated": True} in rows
        assert [row["authenticationFailures"] for row in client.query("org.mobula.connectionActor")] == [2]
    finally:
        client.close()
        peer.end()


# Peers that do not mean well


def test_bare_amqp_is_refused_where_proof_is_asked_for(serving: Authenticating) -> None:
    with RawClient(serving.port_of("proven")) as client:
        client.send_octets(AMQP_HEADER)
        assert octets_to_the_end(client) == SASL_HEADER
    said = r"amqp:connection:policy-error: Client skipped authentication - forbidden"
    required = r" \(the peer did not authenticate, and SASL is required by listener proven \(127\.0\.0\.1:\d+\)\)"
    serving.has_logged(said + required)
    for name, why in (("proven", required), ("any", r" \(the peer began SASL, and went on without an outcome\)")):
        with RawClient(serving.port_of(name)) as client:
            client.send_octets(SASL_HEADER + AMQP_HEADER)
            octets_to_the_end(client)
        serving.has_logged(said + why)
    assert "framing-error" not in serving.log()


def test_an_exchange_that_stops_half_way_is_cut(serving: Authenticating) -> None:
    began = time.monotonic()
    with RawClient(serving.port_of("any")) as client:
        client.send_octets(SASL_HEADER)
        octets_to_the_end(client)
    assert time.monotonic() - began > 9
    serving.has_logged("SASL takes more than 10 s")


def test_no_control_character_of_a_peer_reaches_the_log(start_peer: StartPeer, serving: Authenticating) -> None:
    name = "x\n2026-01-01 SERVER (critical) made up\x1b[2J" + "y" * 400
    assert "condition" in attempt(start_peer, "proton", serving.port_of("any"), "PLAIN", name, "secret")
    serving.has_logged(r"\[mech=PLAIN\] .*made up")
    [line] = [one for one in serving.log().splitlines() if "made up" in one]
    assert (len(line) < 400, line.isprintable(), line.startswith("2026-01-01")) == (True, True, False)
