"""What routers record is what was sent: every message once, with the outcome that its producer was told."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from routerd.config import RecordConfig, RecordLevel
from routerd.core import RouterSettings
from routerd.io import Worker, WorkerConfig
from routerd.records import RecordFile, message_key
from routerd.records.parquet import read_footer
from tests.system.conftest import running
from tests.system.management_client import ManagementClient
from tests.system.mesh import TWO_ACTORS, Mesh, To
from tests.system.processes import family_of
from tests.system.proton_client import ProtonClient
from tests.system.routers import IN_PROCESS, Form, address_section, configuration, section
from tests.waiting import WITHIN_S, eventually

RECORD = "org.mobula.record"
WRITER = "routerd.io.recording.process"
OUTCOMES = ("accepted", "released", "rejected", "modified")
CONSUMED = 30
SETTLED = 20
COPIES = 7


def rows(directory: Path, table: str) -> list[dict[str, Any]]:
    """Return all rows of a table."""
    paths = sorted((directory / table).rglob("*.parquet"))
    return [row for path in paths for row in parquet.ParquetFile(path).read().to_pylist()]


def at_the_rim(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of messages at the worker where they came in."""
    return [row for row in found if row["ingress_kind"] == "client"]


def record_section(directory: Path, **attributes: Any) -> str:
    return section("record", **{"level": "all", "directory": directory, "rotateSeconds": 3600} | attributes)


@pytest.mark.parametrize("form", [IN_PROCESS, TWO_ACTORS], ids=["in-process", "ray-2"])
def test_every_message_is_recorded_once_with_its_outcome(form: Form, tmp_path: Path) -> None:
    directory = tmp_path / "records"
    text = configuration(address_section("prefix", "multicast", "multicast"), record_section(directory))
    with running(form, tmp_path, text) as router:
        clients = [ProtonClient(router.port, container_id=f"c{number}") for number in range(6)]
        sent = {outcome: send(clients, outcome) for outcome in OUTCOMES}
        consumer = clients[5].consumer("settled", credit=SETTLED)
        clients[0].producer("settled").send_all(range(SETTLED), settled=True)
        consumer.wait_for(SETTLED)
        for client in clients[1:3]:
            client.consumer("multicast.copies")
        copies = clients[4].producer("multicast.copies").send_all(range(COPIES))
        assert {one.outcome() for one in copies} == {"accepted"}
        nowhere = clients[3].producer(None).send("lost", address="nowhere")
        assert nowhere.outcome() == "released"
        for client in clients:
            client.close()
        assert router.end() == 0
    decisions = at_the_rim(rows(directory, "decisions"))
    keys = Counter(row["message_key"] for row in decisions if row["address"] in OUTCOMES)
    assert keys == Counter(key for found in sent.values() for key in found)
    outcomes = Counter((row["address"], row["outcome"], row["cause"]) for row in decisions)
    assert outcomes == {
        ("accepted", "accepted", None): CONSUMED,
        **{(outcome, outcome, "consumer-decided"): CONSUMED for outcome in OUTCOMES[1:]},
        ("settled", "presettled", None): SETTLED,
        ("multicast.copies", "accepted", None): outcomes[("multicast.copies", "accepted", None)],
        ("nowhere", "released", "no-consumer"): 1,
    }
    check_consumers(rows(directory, "decisions"))
    check_sums(directory)
    check_files(directory)


def send(clients: list[ProtonClient], outcome: str) -> list[int]:
    """Send messages whose consumers decide alike, half of them each; return the keys of their ids.

    Credit makes it halves: consumers of two actors share by how busy each is. One worker alone uses that credit up.
    """
    half = CONSUMED // 2
    consumers = [client.consumer(outcome, credit=half, is_renewed=False, outcome=outcome) for client in clients[:2]]
    producer = clients[2 + OUTCOMES.index(outcome) % 2].producer(outcome)
    names = [f"{outcome}-{number}" for number in range(CONSUMED)]
    sent = [producer.send("x", id=name) for name in names]
    assert {one.outcome() for one in sent} == {outcome}
    for end in (*consumers, producer):
        end.close()
    return [message_key(name.encode()) for name in names]


def check_consumers(found: list[dict[str, Any]]) -> None:
    """What left the router went to the two consumers, each of which was a candidate and the choice."""
    last = [row for row in found if row["address"] == "accepted" and row["egress_kind"] == "client"]
    assert len(last) == CONSUMED
    assert Counter(row["egress"].partition("/")[0] for row in last) == {"c0": CONSUMED // 2, "c1": CONSUMED // 2}
    for row in last:
        assert row["candidates"][row["choice"]]["egress"] == row["egress"]
        assert row["latency_us"] >= 0


def check_sums(directory: Path) -> None:
    """The sums of flows are what the decisions count."""
    decided: Counter[tuple[Any, ...]] = Counter()
    for row in rows(directory, "decisions"):
        ends = (row["address"], row["ingress"], row["egress"])
        decided[(*ends, "messages")] += 1
        decided[(*ends, "octets")] += row["size_octets"]
        decided[(*ends, row["outcome"])] += 1
    summed: Counter[tuple[Any, ...]] = Counter()
    for row in rows(directory, "flows"):
        for name in ("messages", "octets", *OUTCOMES, "presettled", "dropped"):
            summed[(row["address"], row["ingress"], row["egress"], name)] += row[name]
    assert +summed == decided


def check_files(directory: Path) -> None:
    """Every file is complete, has its name by its first row, and no other writer's."""
    paths = [path for path in directory.rglob("*") if path.is_file()]
    assert paths
    for path in paths:
        file = RecordFile.parse(str(path.relative_to(directory)))
        footer = read_footer(path)
        assert footer.first is not None
        assert round(footer.first.timestamp() * 1e6) == file.first_us


def test_a_worker_lives_while_its_records_are_written(tmp_path: Path) -> None:
    """A worker whose loop stands still is taken for dead, and what is not written would end with it."""
    record = RecordConfig(level=RecordLevel.ALL, directory=str(tmp_path))
    worker = Worker(WorkerConfig(router=RouterSettings(id="A"), record=record), lambda changes: None)
    worker.start()
    try:
        [writer] = eventually(lambda: [one for one in family_of(os.getpid()) if WRITER in one.title], "it writes")
        writer.signal(signal.SIGSTOP)
        worker.drain(1.0).result(WITHIN_S)
        left = worker.take_leave()
        eventually(lambda: not worker.recording.is_on, "nothing more is recorded")
        assert worker.ping().result(WITHIN_S) >= 0
        assert not left.done()
        writer.signal(signal.SIGCONT)
        left.result(WITHIN_S)
    finally:
        worker.stop()
    check_files(tmp_path)


# --- at run time


@pytest.fixture(params=[IN_PROCESS, TWO_ACTORS], ids=["in-process", "ray-2"])
def managed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[ManagementClient, int]]:
    with running(request.param, tmp_path, configuration()) as router, ManagementClient(router.port) as manage:
        yield manage, router.port


def update(manage: ManagementClient, **attributes: Any) -> Any:
    return manage.ask({"operation": "UPDATE", "type": RECORD, "identity": "record/decisions"}, attributes)


def state(manage: ManagementClient) -> dict[str, Any]:
    [found] = manage.query(RECORD)
    return found


def test_recording_is_switched_on_and_off_while_messages_flow(
    managed: tuple[ManagementClient, int], tmp_path: Path
) -> None:
    manage, port = managed
    directory = tmp_path / "later"
    assert state(manage)["status"] == "off"
    with ProtonClient(port) as client:
        client.consumer("orders")
        producer = client.producer("orders")
        counts = {"before": 5, "during": 9, "after": 4}

        def send(name: str) -> None:
            assert {one.outcome() for one in producer.send_all([name] * counts[name])} == {"accepted"}

        send("before")
        told = update(manage, level="all", directory=str(directory), rotateSeconds=1)
        assert (told.status, told.body["level"], told.body["rotateSeconds"]) == (200, "all", 1)
        assert state(manage)["status"] == "recording"
        send("during")
        eventually(lambda: len(orders(directory)) == counts["during"], "what was sent is in complete files")
        # Who writes them tells a moment later that they are written.
        eventually(lambda: state(manage)["rowsWritten"] >= counts["during"], "they are counted")
        assert update(manage, level="off").status == 200
        assert state(manage)["status"] == "off"
        send("after")
    eventually(lambda: state(manage)["rowsPending"] == 0, "all files are complete")
    assert len(orders(directory)) == counts["during"]


def orders(directory: Path) -> list[dict[str, Any]]:
    return [row for row in at_the_rim(rows(directory, "decisions")) if row["address"] == "orders"]


@pytest.mark.parametrize("managed", [IN_PROCESS], ids=["in-process"], indirect=True)
def test_what_cannot_be_is_refused_in_a_sentence(managed: tuple[ManagementClient, int], tmp_path: Path) -> None:
    manage, _ = managed
    (tmp_path / "file").write_text("")
    refused: list[tuple[dict[str, Any], str]] = [
        ({"level": "all"}, "directory: say in which folder decisions are to be recorded"),
        (
            {"level": "all", "directory": str(tmp_path / "file/x")},
            f"directory: '{tmp_path}/file/x' cannot be made: Not a directory",
        ),
        ({"level": "all", "directory": "records"}, "directory: 'records' has to begin with a slash"),
        ({"level": "everything"}, "'everything'"),
        ({"sample": 0}, "1 to 1000000"),
        ({"status": "fine"}, "Cannot update attribute 'status' in UPDATE"),
        ({"bogus": 1}, "bogus"),
    ]
    for attributes, sentence in refused:
        told = update(manage, **attributes)
        assert (told.status, sentence in told.description) == (400, True), told
    assert state(manage)["level"] == "off"


# --- a network


def test_what_a_network_does_is_recorded_by_each_router(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path / "records"
    mesh = Mesh(IN_PROCESS, lambda text: running(IN_PROCESS, tmp_path_factory.mktemp("router"), text))
    try:
        mesh.add("A", sections=[record_section(directory)])
        mesh.add("B", To("A", cost=4, is_proxied=True), sections=[record_section(directory)])
        mesh.wait_joined()
        consumer = mesh.connect("B").consumer("orders")
        producer = mesh.connect("A").producer("orders")
        producer.wait_for_credit()
        assert {one.outcome() for one in producer.send_all(range(25))} == {"accepted"}
        consumer.wait_for(25)
        mesh.proxy("A", "B").refuse()
        eventually(lambda: not mesh.reached("A"), "the trunk is lost")
    finally:
        mesh.close()
    found = rows(directory, "decisions")
    by_router = Counter((row["path"], row["egress"], row["outcome"]) for row in found if row["address"] == "orders")
    [sink] = {row["egress"] for row in found if row["path"] == "A/B"}
    assert by_router == {("A", "trunk/B", "accepted"): 25, ("A/B", sink, "accepted"): 25}
    flows = [row for row in rows(directory, "flows") if row["address"] == "orders"]
    assert {(row["origin"], row["egress_router"]) for row in flows} == {("A", "B")}
    events = {(row["kind"], row["peer"], row["cost"]) for row in rows(directory, "events")}
    assert events >= {
        *(("trunk-up", "B", 4), ("router-reached", "B", 4), ("trunk-lost", "B", None), ("router-lost", "B", None)),
        *(("trunk-up", "A", 4), ("router-reached", "A", 4), ("trunk-lost", "A", None), ("router-lost", "A", None)),
    }


def test_a_consumer_that_lags_is_seen_to_stall(tmp_path: Path) -> None:
    directory = tmp_path / "records"
    with running(IN_PROCESS, tmp_path, configuration(record_section(directory))) as router:
        with ProtonClient(router.port, container_id="slow") as slow, ProtonClient(router.port) as client:
            manage = ManagementClient(router.port)
            consumer = slow.consumer("orders", credit=0)
            producer = client.producer("orders")
            sent = producer.send_all(range(3))
            name = "zeroCreditSeconds"
            eventually(lambda: any(row[name] for row in manage.query("router.link", name)), "it stalls")
            manage.close()
            consumer.grant(3)
            assert {one.outcome() for one in sent} == {"accepted"}
        assert router.end() == 0
    stalls = [row for row in rows(directory, "events") if (row["kind"], row["address"]) == ("credit-stall", "orders")]
    assert {row["peer"] for row in stalls} == {"slow"}
    assert sum(row["duration_us"] for row in stalls) >= 900_000
