"""What a recorder does when there is more than it keeps: it counts what is lost, and forwarding goes on."""

from uuid import UUID

import pytest

from routerd.core import Recorder
from routerd.core.recording import recorder as module
from routerd.core.recording.columns import CELLS_OF_ROW
from routerd.core.recording.events import EVENTS_MAX
from routerd.core.recording.names import address_text
from routerd.core.recording.recorder import STEPS_MAX
from routerd.records import message_key
from routerd.wire import Properties, ULong
from tests.routers import Workers, message, message_to
from tests.unit.core.joined_routers import Mesh, neighbour, to_router
from tests.unit.core.recorder_rows import OFFSET, decision_rows, flow_rows, record, take

ROWS = 64
IS_COMPILED = not str(module.__file__).endswith(".py")


@pytest.fixture
def workers():
    return Workers()


def send_settled(workers, count):
    client = workers.client()
    client.consumer("orders", "sink", credit=100_000)
    sender = client.producer("orders")
    octets = message("x")
    for _ in range(count):
        sender.send(octets, settled=True)
        if sender.credit <= 1:
            workers.pump()
    workers.pump()


def test_full_columns_wait_until_they_are_taken(workers):
    recorder = record(workers[0].router, rows=ROWS)
    send_settled(workers, ROWS + 1)
    assert not recorder.is_pressed
    send_settled(workers, 2 * ROWS + 4)
    assert recorder.is_pressed
    pressing = recorder.take(False)
    assert [columns.rows for columns in pressing.decisions] == [ROWS, ROWS]
    assert not recorder.is_pressed
    records = take(workers[0].router)
    assert [columns.rows for columns in records.decisions] == [ROWS, 5]
    assert len(decision_rows(pressing)) + len(decision_rows(records)) == 3 * ROWS + 5


def test_columns_that_come_back_are_written_to_again(workers):
    recorder = record(workers[0].router, rows=ROWS)
    send_settled(workers, ROWS)
    records = recorder.take()
    [full] = records.decisions
    records.spare.append(full)
    send_settled(workers, ROWS + 1)
    records = recorder.take()
    assert [columns.rows for columns in records.decisions] == [ROWS, 1]
    assert records.decisions[1] is full
    assert [row["outcome"] for row in decision_rows(records)] == ["presettled"] * (ROWS + 1)
    assert records.spare == []


def test_what_does_not_fit_is_counted_and_forwarding_goes_on(workers):
    recorder = record(workers[0].router, waiting_max=1, rows=ROWS)
    send_settled(workers, 2 * ROWS + 7)
    assert recorder.lost_decisions == 7
    records = take(workers[0].router)
    assert [columns.rows for columns in records.decisions] == [ROWS, ROWS]
    [flow] = flow_rows(records)
    assert flow["messages"] == flow["presettled"] == 2 * ROWS + 7


def test_columns_are_full_when_no_more_candidates_fit(workers):
    record(workers[0].router, rows=ROWS)
    client = workers.client()
    for number in range(CELLS_OF_ROW * 4):
        client.consumer("orders", f"c{number}", credit=10_000)
    sender = client.producer("orders")
    octets = message()
    for _ in range(ROWS // 4 + 2):
        sender.send(octets, settled=True)
        if sender.credit <= 1:
            workers.pump()
    workers.pump()
    # There may always be one more.
    assert [columns.rows for columns in take(workers[0].router).decisions] == [ROWS // 4 + 1, 1]


@pytest.mark.parametrize("count", [1, 4, STEPS_MAX + 4])
def test_consumers_that_take_turns_have_a_flow_each(workers, count):
    router = workers[0].router
    recorder = record(router, every=0)
    client = workers.client()
    for number in range(count):
        client.consumer("orders", f"c{number}", credit=10_000)
    sender = client.producer("orders")
    for _ in range(3 * count):
        client.send(sender, message(), settled=True)
    assert [flow["messages"] for flow in flow_rows(take(router))] == [3] * count
    # One that comes later is put into the ring of the others, and one that goes stays there.
    late = client.consumer("orders", "late", credit=10_000)
    for _ in range(2 * count + 2):
        client.send(sender, message(), settled=True)
    assert [flow["messages"] for flow in flow_rows(take(router))] == [2] * (count + 1)
    client.detach(late)
    for _ in range(2 * count):
        client.send(sender, message(), settled=True)
    assert sum(flow["messages"] for flow in flow_rows(take(router))) == 2 * count
    assert recorder.lost_flows == 0


def test_sums_that_nobody_takes_are_lost(workers):
    router = workers[0].router
    recorder = record(router, every=0, waiting_max=2)
    client = workers.client()
    client.consumer("orders", credit=100)
    sender = client.producer("orders")
    for number in range(4):
        client.send(sender, message(), settled=True)
        recorder.tick(router.now, OFFSET, number)
    records = recorder.take()
    assert ([second.second_us for second in records.flows], recorder.lost_flows) == ([0, 1], 2)


def test_events_that_nobody_takes_are_lost():
    recorder = Recorder("R", 1, OFFSET)
    for _ in range(EVENTS_MAX + 3):
        recorder.events.address_added("M0orders", 1.0)
    assert (len(recorder.take().events), recorder.events.lost) == (EVENTS_MAX, 3)


def test_a_message_id_is_hashed_as_records_say(workers):
    record(workers[0].router)
    client = workers.client()
    client.consumer("orders", credit=100)
    sender = client.producer("orders")
    number = UUID(int=5)
    for identifier in ("text\u00e9", b"\x00\xff", ULong(77), number):
        client.send(sender, message(properties=Properties(message_id=identifier)), settled=True)
    assert [row["key"] for row in decision_rows(take(workers[0].router))] == [
        message_key("text\u00e9".encode()),
        message_key(b"\x00\xff"),
        message_key(b"77"),
        message_key(str(number).encode()),
    ]


def test_a_message_that_is_no_amqp_has_no_key(workers):
    record(workers[0].router)
    client = workers.client()
    client.consumer("orders", credit=100)
    client.send(client.producer("orders"), b"\x00\x53\x73\xff\xff\xff\xff", settled=True)
    assert [row["key"] for row in decision_rows(take(workers[0].router))] == [None]


@pytest.mark.skipif(IS_COMPILED, reason="the bound is a constant of the compiled form")
class TestTurningOver:
    """More flows, links or paths than are known by number."""

    @pytest.fixture(autouse=True)
    def few(self, monkeypatch):
        monkeypatch.setattr(module, "FLOWS_MAX", 3)

    def test_all_begins_anew_and_sums_are_kept(self, workers):
        record(workers[0].router)
        client = workers.client()
        sender = client.producer(None)
        for number in range(5):
            client.send(sender, message_to(f"nowhere{number}"))
        for number in range(5):
            client.consumer(f"a{number}", credit=5)
            client.send(sender, message_to(f"a{number}"), settled=True)
        records = take(workers[0].router)
        assert len(decision_rows(records)) == 10
        assert sorted(row["address"] for row in flow_rows(records)) == sorted(
            [*(f"nowhere{number}" for number in range(5)), *(f"a{number}" for number in range(5))]
        )

    def test_decisions_under_way_are_lost_with_the_numbers_of_their_candidates(self, workers):
        recorder = record(workers[0].router)
        client = workers.client()
        consumer = client.consumer("orders", credit=5)
        sender = client.producer("orders")
        client.send(sender, message())
        others = client.producer(None)
        for number in range(3):
            client.send(others, message_to(f"nowhere{number}"))
        client.latest(consumer).accept()
        workers.pump()
        assert (recorder.lost_decisions, recorder.lost_flows) == (1, 1)
        client.send(sender, message(), settled=True)
        assert [row["address"] for row in flow_rows(take(workers[0].router))][-1] == "orders"

    def test_links_that_come_and_go_fill_the_register_too(self, workers):
        recorder = record(workers[0].router, rows=2)
        client = workers.client()
        for number in range(4):
            client.consumer("orders", f"c{number}", credit=5)
        sender = client.producer("orders")
        for _ in range(4):
            client.send(sender, message(), settled=True)
        assert recorder.lost_decisions == 1
        assert len(decision_rows(take(workers[0].router))) == 3

    def test_paths_beyond_have_no_name(self):
        mesh = Mesh("R")
        far = neighbour(mesh["R"]).attach()
        record(mesh["R"].router, every=1)
        mesh["R"].client().consumer("orders", credit=50)
        for number in range(5):
            path = ["0/O", f"0/X{number}", "0/N"]
            far.pass_on(to_router(annotations={"to": "orders", "ingress": "0/O", "trace": path}), settled=True)
        assert [row["path"] for row in decision_rows(take(mesh["R"].router))] == [
            *(f"O/X{number}/N/R" for number in range(3)),
            None,
            None,
        ]


@pytest.mark.parametrize(
    ("key", "text", "phase"),
    [
        ("M0orders", "orders", 0),
        ("M3orders", "orders", 3),
        ("Lqueue", "_local/queue", 0),
        ("Ltemp.1", "_topo/0/R/temp.1", 0),
        ("Tqdrouter", "_topo/0/all/qdrouter", 0),
        ("RB", "_topo/0/B", 0),
        ("HE", "_edge/E", 0),
        ("Corders", "orders", 0),
        ("?x", "?x", 0),
    ],
)
def test_addresses_are_recorded_as_clients_write_them(key, text, phase):
    assert address_text(key, "R") == (text, phase)
