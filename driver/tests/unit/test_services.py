"""oslo.messaging's own clients and servers over the driver, natively and under eventlet, and their metrics."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import oslo_messaging
import pytest
from oslo_config import cfg
from oslo_messaging._metrics import client as metrics_client
from oslo_messaging.transport import DriverLoadFailure

from oslo_messaging_amqp1.driver import AMQPDriver
from tests.peer import Peer
from tests.waiting import eventually

DRIVER = Path(__file__).resolve().parents[2]


class Endpoint:
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def echo(self, ctxt: Any, value: Any) -> Any:
        return value

    def note(self, ctxt: Any, value: Any) -> None:
        self.seen.append(value)

    def fail(self, ctxt: Any) -> None:
        raise ValueError("as told")


@pytest.fixture
def transport(peer: Peer) -> Iterator[Any]:
    cfg.CONF([])
    made = oslo_messaging.get_rpc_transport(cfg.CONF, peer.url)
    yield made
    made.cleanup()


@pytest.fixture
def endpoint(transport: Any) -> Iterator[Endpoint]:
    made = Endpoint()
    server = oslo_messaging.get_rpc_server(transport, oslo_messaging.Target(topic="T", server="S"), [made])
    server.start()
    yield made
    server.stop()
    server.wait()


def rpc_client(transport: Any) -> Any:
    return oslo_messaging.get_rpc_client(transport, oslo_messaging.Target(topic="T"), timeout=10)


def test_oslo_messaging_loads_the_driver_for_amqp(transport: Any) -> None:
    assert isinstance(transport._driver, AMQPDriver)
    assert transport.conf is cfg.CONF
    with pytest.raises(DriverLoadFailure):
        oslo_messaging.get_rpc_transport(cfg.CONF, "amqps://h")


def test_calls_casts_and_exceptions(transport: Any, endpoint: Endpoint) -> None:
    caller = rpc_client(transport)
    assert caller.call({}, "echo", value={"a": [1]}) == {"a": [1]}
    assert caller.prepare(server="S").call({}, "echo", value="ä") == "ä"
    caller.cast({}, "note", value=1)
    caller.prepare(fanout=True).cast({}, "note", value=2)
    # Each has a thread of its own, so either may be first.
    eventually(lambda: sorted(endpoint.seen) == [1, 2])
    with pytest.raises(ValueError, match="as told"):
        caller.call({}, "fail")


def test_notifications_of_several_priorities(peer: Peer) -> None:
    cfg.CONF([])
    seen: list[tuple[str, Any]] = []

    class Notified:
        def info(self, ctxt: Any, publisher: str, event: str, payload: Any, metadata: Any) -> None:
            seen.append(("info", payload))

        def error(self, ctxt: Any, publisher: str, event: str, payload: Any, metadata: Any) -> str | None:
            seen.append(("error", payload))
            return oslo_messaging.NotificationResult.REQUEUE if len(seen) < 3 else None

    transport = oslo_messaging.get_notification_transport(cfg.CONF, peer.url)
    listener = oslo_messaging.get_notification_listener(
        transport, [oslo_messaging.Target(topic="N")], [Notified()], allow_requeue=True
    )
    listener.start()
    notifier = oslo_messaging.Notifier(transport, "me", driver="messagingv2", topics=["N"])
    notifier.info({}, "event", {"n": 1})
    notifier.error({}, "event", {"n": 2})
    eventually(lambda: seen == [("info", {"n": 1}), ("error", {"n": 2})])
    eventually(lambda: len(peer.outcomes) == 2)
    listener.stop()
    listener.wait()
    transport.cleanup()


@pytest.fixture
def collected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """What is sent to oslo.metrics, which is enabled."""
    path = tmp_path / "metrics.sock"
    found: list[dict[str, Any]] = []
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind(str(path))
        sock.settimeout(0.2)
        cfg.CONF([])
        for name, value in {"enabled": True, "socket_file": str(path), "thread_stop_timeout": 1}.items():
            cfg.CONF.set_override(f"metrics_{name}", value, "oslo_messaging_metrics")
        monkeypatch.setattr(metrics_client, "METRICS_COLLECTOR", None)
        yield found
        while True:
            try:
                found.append(json.loads(sock.recv(65536)))
            except TimeoutError:
                break
        metrics_client.METRICS_COLLECTOR.send_thread.join(60)
        cfg.CONF.clear_override("metrics_enabled", "oslo_messaging_metrics")
        names = [(one["name"], one["labels"].get("method")) for one in found if "server" in one["name"]]
        assert {(one["labels"]["topic"], one["labels"]["server"]) for one in found if "server" in one["name"]} == {
            ("T", "S")
        }
        assert sorted(names) == [
            ("rpc_server_exception_total", "fail"),
            *(("rpc_server_invocation_end_total", one) for one in ("echo", "fail")),
            *(("rpc_server_invocation_start_total", one) for one in ("echo", "fail")),
            *(("rpc_server_processing_seconds", one) for one in ("echo", "fail")),
        ]


def test_servers_are_measured_where_metrics_are_enabled(
    collected: list[dict[str, Any]], transport: Any, endpoint: Endpoint
) -> None:
    caller = rpc_client(transport)
    assert caller.call({}, "echo", value=1) == 1
    with pytest.raises(ValueError, match="as told"):
        caller.call({}, "fail")


UNDER_EVENTLET = """
import eventlet
eventlet.monkey_patch()
import threading, oslo_messaging
from oslo_config import cfg
from tests.peer import running

class Endpoint:
    def echo(self, ctxt, value):
        return value

cfg.CONF([])
with running() as peer:
    server_side, client_side = (oslo_messaging.get_rpc_transport(cfg.CONF, peer.url) for _ in range(2))
    target = oslo_messaging.Target(topic="T", server="S")
    server = oslo_messaging.get_rpc_server(server_side, target, [Endpoint()], executor="eventlet")
    server.start()
    client = oslo_messaging.get_rpc_client(client_side, oslo_messaging.Target(topic="T"), timeout=10)
    replies = []
    threads = [threading.Thread(target=lambda n=n: replies.append(client.call({}, "echo", value=n))) for n in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(replies) == list(range(20)), replies
    try:
        client_side._driver.send(oslo_messaging.Target(topic="nobody"), {}, {}, wait_for_reply=True, timeout=0.3)
    except oslo_messaging.MessagingTimeout:
        print("timed out")
    server.stop()
    server.wait()
    server_side.cleanup()
    client_side.cleanup()
"""


def test_everything_works_under_eventlet() -> None:
    command = [sys.executable, "-W", "ignore", "-c", UNDER_EVENTLET]
    done = subprocess.run(command, cwd=DRIVER, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "timed out\n"), done.stderr


def test_importing_the_driver_changes_no_filters_and_warns_of_nothing() -> None:
    code = (
        "import warnings, oslo_messaging\n"
        "before = list(warnings.filters)\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    import oslo_messaging_amqp1.driver\n"
        "assert not caught, [str(one.message) for one in caught]\n"
        "assert warnings.filters == before\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=60)
