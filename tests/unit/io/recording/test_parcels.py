"""What goes from a worker to the process that writes its records, and what comes out there."""

import gc
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from routerd.core import FlowNames, FlowRows, Records, Register
from routerd.io.recording.line import Line
from routerd.io.recording.memory import SharedMemory, shared_memory
from routerd.io.recording.parcels import Packer, Parcel, Unpacker
from routerd.io.recording.task import GROUP_ROWS
from tests.routers import Workers, message
from tests.unit.core.recorder_rows import decision_rows, event_rows, flow_rows, record, take


class Ends:
    """A recorder whose records go to an unpacker, by way of a socket."""

    def __init__(self, rows: int = 8) -> None:
        self.workers = Workers()
        self.recorder = record(self.workers[0].router, rows=rows, memory=shared_memory)
        ours, theirs = socket.socketpair()
        self.near, self.far = Line(ours), Line(theirs)
        self.packer, self.unpacker = Packer(), Unpacker()
        self.parcel = Parcel()
        client = self.workers.client()
        consumer = client.consumer("orders", "sink", credit=GROUP_ROWS)
        sender = client.producer("orders", "source")

        def send() -> None:
            client.send(sender, message())
            self.workers.pump(0.001)
            client.latest(consumer).accept()
            self.workers.pump(0.001)

        def leave_open() -> None:
            client.send(sender, message())

        self.send, self.leave_open = send, leave_open

    def take(self) -> Records:
        return take(self.workers[0].router)

    def pass_on(self, records: Records) -> Records | None:
        """Return what comes out at the other end."""
        self.near.send(*self.packer.pack(records))
        self.parcel, descriptors = self.far.receive()
        return self.unpacker.unpack(self.parcel, descriptors)

    def close(self) -> None:
        self.near.close()
        self.far.close()


@pytest.fixture
def ends() -> Any:
    found = Ends()
    yield found
    found.close()


def rows_of(records: Records | None) -> tuple[list[Any], list[Any], list[Any]]:
    assert records is not None
    return decision_rows(records), flow_rows(records), event_rows(records)


def test_all_comes_out_as_it_went_in(ends: Ends) -> None:
    for count in (3, 20):
        for _ in range(count):
            ends.send()
        records = ends.take()
        found = ends.pass_on(records)
        assert rows_of(found) == rows_of(records)
        assert found is not None
        assert (len(found.decisions), found.weight, found.rows) == (len(records.decisions), 1, records.rows)


def test_what_has_no_outcome_does_not_come_out(ends: Ends) -> None:
    for _ in range(2):
        ends.leave_open()
        ends.send()
        ends.leave_open()
    records = ends.take()
    found = ends.pass_on(records)
    assert rows_of(found) == rows_of(records)
    assert found is not None
    [columns] = found.decisions
    assert (columns.rows, columns.cells, list(columns.open_rows)) == (2, 2, [])
    assert list(records.decisions[0].open_rows) == [0, 2, 3, 5]
    assert found.rows == records.rows


def test_only_what_is_new_goes_over_the_line(ends: Ends) -> None:
    ends.send()
    records = ends.take()
    [columns] = records.decisions
    ends.pass_on(records)
    assert (len(ends.parcel.memories), len(ends.parcel.registers[0].flows), len(ends.parcel.registers[0].links)) == (
        *(1, 1, 1),
    )
    records.spare.append(columns)
    ends.send()
    # The set that is written to now is another one; the spare one comes next.
    ends.pass_on(ends.take())
    ends.send()
    records = ends.take()
    found = ends.pass_on(records)
    assert (ends.parcel.memories, ends.parcel.registers[0].flows) == ([], [])
    assert rows_of(found) == rows_of(records)


def test_memory_that_nobody_has_any_more_is_let_go(ends: Ends) -> None:
    ends.send()
    ends.pass_on(ends.take())
    [number] = ends.parcel.memories
    gc.collect()
    assert ends.pass_on(Records(1)) is None
    assert ends.parcel.gone == {number}
    assert ends.unpacker._memories == {}


def test_a_register_that_nobody_has_any_more_is_let_go(ends: Ends) -> None:
    def second() -> Records:
        rows = FlowRows(0, Register())
        rows.register.flows.append(FlowNames("orders", 0, "balanced", "source", "client", "R"))
        rows.numbers.append(0)
        rows.counters.extend(range(8))
        return Records(1, flows=[rows])

    ends.pass_on(second())
    [before] = ends.parcel.registers
    gc.collect()
    records = second()
    assert rows_of(ends.pass_on(records)) == rows_of(records)
    [after] = ends.parcel.registers
    assert (ends.parcel.gone, list(ends.unpacker._registers)) == ({before.number}, [after.number])


def test_what_waits_to_be_written_is_copied_and_what_does_not_is_not() -> None:
    for rows, is_copied in ((GROUP_ROWS - 1, True), (GROUP_ROWS, False)):
        ends = Ends(GROUP_ROWS)
        ends.send()
        records = ends.take()
        [columns] = records.decisions
        columns.rows = rows
        found = ends.pass_on(records)
        assert found is not None
        columns.time_us[0] = 7
        assert (found.decisions[0].time_us[0] != 7) == is_copied
        ends.close()


def test_memory_is_given_back_with_its_last_view() -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    gc.collect()
    before = descriptors()
    view = shared_memory(1 << 16)
    assert len(view) == 1 << 16
    assert os.fstat(SharedMemory.of(view).descriptor).st_size == 1 << 16
    part = view[:8].cast("q")
    del view
    part[0] = 1
    assert descriptors() > before
    del part
    gc.collect()
    assert descriptors() == before


def test_a_line_whose_other_end_is_gone_says_so(ends: Ends) -> None:
    ends.far.close()
    with pytest.raises(EOFError):
        ends.near.receive()
    with pytest.raises(OSError, match="Broken pipe"):
        ends.near.send(Parcel())


def test_a_line_ends_within_an_object(ends: Ends) -> None:
    ends.near._socket.sendall(b"\0\0\0\0\0\0\0\x09\0half")
    ends.near.end()
    with pytest.raises(EOFError):
        ends.far.receive()
