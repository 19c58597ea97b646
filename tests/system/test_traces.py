"""What a router lets see of frames, messages and itself; and the endpoints that it has for tests of clients."""

import re
import socket
from collections.abc import Iterator

import pytest

from routerd.config import ListenerConfig
from routerd.core import RouterSettings
from routerd.io import Level, Worker, WorkerConfig, module_log
from tests.system.conftest import Connect, Start, in_process
from tests.system.proton_client import ProtonClient
from tests.system.routers import configuration, listener, section
from tests.waiting import eventually

PREFIX = "org.apache.qpid.dispatch.router/test/"
TRACED = configuration(
    section("log", module="PROTOCOL", enable="trace+"),
    section("log", module="MESSAGE", enable="trace+"),
    listener(messageLoggingComponents="subject,app-properties"),
)
PERFORMATIVES = ("open(16)", "begin(17)", "attach(18)", "transfer(20)", "disposition(21)", "detach(22)", "close(24)")


@in_process
def test_frames_and_messages_are_in_the_log(start: Start, connect_to: Connect) -> None:
    router = start(TRACED)
    with connect_to(router.port) as client:
        consumer = client.consumer("ok.1")
        producer = client.producer("ok.1", name="sender")
        assert producer.send("hello", subject="sub", properties={"k": 1}).outcome() == "accepted"
        assert consumer.take().body == "hello"
        producer.close()
        consumer.close()
    eventually(lambda: "-> @close(24) []" in router.log(), "the end of the connection is logged")
    frames = re.findall(r" PROTOCOL \(trace\) \[C\d+\]:FRAME: (.*)", router.log())
    assert frames[:2] == [" <- SASL", " -> SASL"]
    for arrow in ("->", "<-"):
        for performative in PERFORMATIVES:
            assert any(f"0 {arrow} @{performative} [" in frame for frame in frames), (arrow, performative)
    [payload] = {frame.partition("] (")[2] for frame in frames if "<- @transfer" in frame}
    assert payload.endswith('hello"')
    [message] = re.findall(r" MESSAGE \(trace\) \[C\d+\]: (Received .*)", router.log())
    assert message == """Received Message{subject="sub", app-properties={"k"=1}} on link 'sender' ( -> ok.1)"""
    assert len(re.findall(r"\]: Sent Message{subject=\"sub\", ", router.log())) == 1


@in_process
def test_octets_that_are_no_amqp_are_traced_and_nothing_breaks(start: Start, connect_to: Connect) -> None:
    router = start(TRACED)
    with socket.create_connection(("127.0.0.1", router.port)) as other:
        other.sendall(b"GET / HTTP/1.1\r\n\r\n")
        other.settimeout(20)
        while other.recv(4096):
            pass
    eventually(lambda: '<- (no AMQP) "GET / HTTP' in router.log(), "it is traced")
    assert connect_to(router.port).is_open


def test_a_router_has_endpoints_for_tests_of_clients(start: Start, connect_to: Connect) -> None:
    router = start(configuration(), "--test-hooks")
    client = connect_to(router.port)
    assert client.producer(f"{PREFIX}sink").send("one").outcome() == "accepted"
    assert client.producer(f"{PREFIX}discard").send("one").outcome() == "rejected"
    made = client.consumer(f"{PREFIX}source")
    assert made.wait_for(300)[299] == "Sequence: 299"
    made.close()
    assert client.consumer(f"{PREFIX}source_ps").wait_for(300)[299] == "Sequence: 299"
    assert client.refused_consumer(f"{PREFIX}sink") == "qd:forbidden"
    assert client.refused_producer(f"{PREFIX}source") == "qd:forbidden"
    assert client.refused_producer(f"{PREFIX}deny") == client.refused_consumer(f"{PREFIX}deny") == "qd:forbidden"
    client.close()
    assert router.end() == 0


@in_process
def test_without_being_asked_it_has_none(start: Start, connect_to: Connect) -> None:
    assert connect_to(start(configuration()).port).producer(f"{PREFIX}deny").credit == 0


# One worker in this very process


@pytest.fixture
def worker() -> Iterator[Worker]:
    listening = ListenerConfig(host="127.0.0.1", port=0, name="clients")
    made = Worker(
        WorkerConfig(router=RouterSettings(id="R.1", has_test_hooks=True), listeners=(listening,)), lambda changes: None
    )
    yield made
    made.drain(1.0).result(20)
    made.take_leave().result(20)
    made.stop()


@pytest.fixture
def client(worker: Worker) -> Iterator[ProtonClient]:
    [text] = worker.start()
    made = ProtonClient(int(text.split()[0].rpartition(":")[2]), container_id="client")
    yield made
    made.close()


def frames(capfd: pytest.CaptureFixture[str]) -> list[str]:
    """What has been traced since the last call."""
    return re.findall(r"PROTOCOL \(trace\) \[C\d+\]:FRAME: (.*)", capfd.readouterr().err)


def test_traces_can_be_switched_while_connections_are_there(
    worker: Worker, client: ProtonClient, capfd: pytest.CaptureFixture[str]
) -> None:
    log = module_log("PROTOCOL")
    producer = client.producer(f"{PREFIX}sink")

    def see(what: str) -> list[str]:
        assert producer.send(what).outcome() == "accepted"
        return frames(capfd)

    assert see("silent") == []
    log.switch(frozenset(Level))
    worker.ping().result(20)
    assert any('by log"' in line for line in see("by log"))
    log.switch(frozenset())
    worker.ping().result(20)
    assert see("silent") == []
    [row] = [row for row in worker.reports.connections().result(20) if row.role == "normal"]
    assert worker.set_trace(row.connection, True).result(20)
    assert any('by hand"' in line for line in see("by hand"))
    assert [row.is_traced for row in worker.reports.connections().result(20)] == [False, True]
    assert worker.set_trace(row.connection, False).result(20)
    assert see("silent") == []
    log.switch(frozenset(Level))
    worker.ping().result(20)
    assert [line for line in see("silenced by hand") if "silenced" in line] == []
    log.switch(frozenset())
    assert not worker.set_trace(1000, True).result(20)


def test_a_worker_reports_links_connections_addresses_and_its_lag(worker: Worker, client: ProtonClient) -> None:
    producer = client.producer(f"{PREFIX}sink", name="sender")
    for number in range(3):
        assert producer.send(number).outcome() == "accepted"
    link = next(row for row in worker.reports.links().result(20) if row.name == "sender")
    assert (link.address, link.deliveries, link.accepted, link.unsettled) == (f"M0{PREFIX}sink", 3, 3, 0)
    connection = next(row for row in worker.reports.connections().result(20) if row.connection == link.connection)
    assert (connection.container, connection.mechanism, connection.producers) == ("client", "ANONYMOUS", 1)
    assert connection.host.startswith("127.0.0.1:")
    address = next(row for row in worker.reports.addresses().result(20) if row.key == link.address)
    assert (address.producers, address.inner_consumers, address.ingress, address.egress) == (1, 1, 3, 3)
    eventually(lambda: worker.reports.counters().result(20).event_loop_lag_max_s > 0, "a second has passed")
    report = worker.reports.counters().result(20)
    assert (report.connections, report.links, report.ingress["accepted"]) == (1, 1, 3)
    assert 0 <= report.event_loop_lag_s <= report.event_loop_lag_max_s < 20
