"""A router that logs in somewhere: at other people's servers, and at a router."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from routerd.config import editing
from tests.interop.authenticating_router import Authenticating, listener, router, running
from tests.interop.conftest import StartPeer
from tests.interop.scenarios import in_order
from tests.system.management_client import ManagementClient
from tests.waiting import eventually

MECHANISMS = ["SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN", "ANONYMOUS"]


def connector(port: int, *lines: str, host: str = "127.0.0.1") -> str:
    """Return a connector's section."""
    more = [f" {one}" for one in lines]
    return "\n".join(["connector {", " name: out", f" host: {host}", f" port: {port}", *more, "}", ""])


def login(password: str = "secret") -> tuple[str, str]:
    """Return the attributes of a connector that is alice."""
    return ("saslUsername: alice", f"saslPassword: pass:{password}")


def state(client: ManagementClient) -> tuple[str, str]:
    """Return how the connector fares."""
    [row] = client.query("connector", "connectionStatus", "connectionMsg")
    return row["connectionStatus"], row["connectionMsg"]


def fails_with(launched: Authenticating, text: str) -> None:
    """Wait until management says why the connector has no connection."""
    with ManagementClient(launched.port_of("here")) as client:
        eventually(lambda: text in state(client)[1], f"{text} is told")


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("kind", ["proton", "rhea"])
def test_a_server_that_offers_one_mechanism_lets_it_in(
    start_peer: StartPeer, tmp_path: Path, kind: str, mechanism: str
) -> None:
    server = start_peer(kind, "server", "open", mechanisms=[mechanism], users={"alice": "secret"})
    text = router() + listener("here") + connector(server.port, *login())
    with running(tmp_path, text) as launched:
        launched.has_logged("Connection Opened: dir=out")
    told: dict[str, Any] = in_order(server.finish(), "opened")[0]
    assert told["mechanism"] == mechanism
    assert mechanism == "ANONYMOUS" or told["user"].partition("@")[0] == "alice"


def test_the_password_may_be_wrong(start_peer: StartPeer, tmp_path: Path) -> None:
    server = start_peer("proton", "server", "open", mechanisms=["SCRAM-SHA-256"], users={"alice": "secret"})
    with running(tmp_path, router() + listener("here") + connector(server.port, *login("hunter2"))) as launched:
        launched.has_logged(r":\d+ failed: amqp:unauthorized-access Authentication failed \[mech=SCRAM-SHA-256\]")
        assert "hunter2" not in launched.log()


def test_a_server_that_does_not_know_the_password_is_not_believed(start_peer: StartPeer, tmp_path: Path) -> None:
    offered = {"mechanisms": ["SCRAM-SHA-256"], "users": {"alice": "secret"}, "impostor": True}
    server = start_peer("engine", "server", "open", **offered)
    with running(tmp_path, router() + listener("here") + connector(server.port, *login())) as launched:
        launched.has_logged(r"\(warning\) \[C\d+\] Connection to \S+ failed: amqp:unauthorized-access .*: SCRAM: ")
        assert "dir=out" not in launched.log()


def test_a_weaker_mechanism_than_those_allowed_is_not_used(start_peer: StartPeer, tmp_path: Path) -> None:
    server = start_peer("proton", "server", "open", mechanisms=["PLAIN"], users={"alice": "secret"})
    lines = (*login(), "saslMechanisms: SCRAM-SHA-256 SCRAM-SHA-512")
    with running(tmp_path, router() + listener("here") + connector(server.port, *lines)) as launched:
        launched.has_logged("the server offers PLAIN; ready to use: SCRAM-SHA-256, SCRAM-SHA-512")
        assert "dir=out" not in launched.log()


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Authenticating]:
    """A router that lets alice in."""
    folder = tmp_path / "there"
    folder.mkdir()
    file = folder / "users"
    with editing(str(file)) as users:
        users.put("alice", "secret")
    with running(folder, router() + listener("there", "authenticatePeer: yes"), "--user-file", str(file)) as launched:
        yield launched


def test_a_router_logs_in_at_a_router(there: Authenticating, tmp_path: Path) -> None:
    text = router() + listener("here") + connector(there.port_of("there"), *login())
    with running(tmp_path, text) as client, ManagementClient(client.port_of("here")) as asking:
        there.has_logged("auth=SCRAM-SHA-512 user=alice")
        eventually(lambda: state(asking)[0] == "SUCCESS", "the connector is connected")
        rows = asking.query("connection", "user", "dir")
        assert {"user": "alice", "dir": "out"} in rows


def test_a_router_whose_password_is_missing_fails_to_log_in_and_answers(there: Authenticating, tmp_path: Path) -> None:
    without = ("saslMechanisms: SCRAM-SHA-256", "saslUsername: alice", f"saslPassword: file:{tmp_path}/missing")
    text = router() + listener("here") + connector(there.port_of("there"), *without)
    with running(tmp_path, text) as client:
        failed = "amqp:unauthorized-access Authentication failed [mech=SCRAM-SHA-256]: the connector has no password"
        fails_with(client, failed)
        client.has_logged(rf"SERVER \(info\) \[C\d+\] Connection to .* failed: {re.escape(failed)}")
        with ManagementClient(client.port_of("here")) as asking:
            assert asking.query("connection", "dir") == [{"dir": "in"}]
