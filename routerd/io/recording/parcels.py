"""The path of records from a worker to the process that writes them.

Decisions are in memory that both share. A parcel has only the numbers of their sets, and the names of new flows, paths
and links.
"""

import weakref
from array import array
from dataclasses import dataclass, field
from typing import Any

from routerd.core import COUNTS, DecisionColumns, FlowNames, FlowRows, RecordedEvent, Records, Register, Room
from routerd.io.recording.memory import SharedMemory, map_memory
from routerd.io.recording.task import GROUP_ROWS, RecordingCounters


@dataclass(frozen=True, slots=True)
class RegisterNews:
    """Additions to a register."""

    number: int
    flows: list[FlowNames]
    paths: list[str]
    links: list[str]


@dataclass(frozen=True, slots=True)
class ColumnsNote:
    """The place of a set of columns, and its size."""

    memory: int
    room: tuple[int, int]
    register: int
    counts: tuple[int, ...]
    open_rows: "array[int]"


@dataclass(frozen=True, slots=True)
class FlowsNote:
    """The sums of one second."""

    second_us: int
    register: int
    numbers: "array[int]"
    counters: "array[int]"


@dataclass(slots=True)
class Parcel:
    """The content of one message to the process; an empty one asks for its state."""

    weight: int = 1
    is_pressing: bool = False
    """Whether somebody waits for it, and for everything after it."""
    memories: list[int] = field(default_factory=list)
    """The memories whose descriptors come along."""
    gone: set[int] = field(default_factory=set)
    """Memories and registers that have been dropped."""
    registers: list[RegisterNews] = field(default_factory=list)
    decisions: list[ColumnsNote] = field(default_factory=list)
    flows: list[FlowsNote] = field(default_factory=list)
    events: list[RecordedEvent] = field(default_factory=list)


@dataclass(slots=True)
class Reply:
    """The result; with it, nothing of the parcel is needed any more."""

    counters: RecordingCounters
    """The counters since the last reply."""
    status: str
    remarks: list[tuple[int, str]] = field(default_factory=list)
    """Lines for the log."""
    failure: str | None = None
    """The reason why no other reply follows, unless everything is done."""


@dataclass(slots=True)
class _Known:
    """The part of a register that the other end knows."""

    register: "weakref.ref[Register]"
    number: int
    flows: int = 0
    paths: int = 0
    links: int = 0


class Packer:
    """Makes parcels for one process."""

    def __init__(self) -> None:
        self._memories: dict[int, weakref.ref[SharedMemory]] = {}
        self._registers: dict[int, _Known] = {}
        self._count = 0

    def pack(self, records: Records) -> tuple[Parcel, list[int]]:
        """Return a parcel, and its descriptors."""
        parcel = Parcel(records.weight, events=records.events)
        descriptors = []
        self._forget(parcel)
        for columns in records.decisions:
            memory = SharedMemory.of(columns.memory)
            if memory.number not in self._memories:
                self._memories[memory.number] = weakref.ref(memory)
                parcel.memories.append(memory.number)
                descriptors.append(memory.descriptor)
            counts = tuple(getattr(columns, name) for name in COUNTS)
            register = self._number(columns.register, parcel)
            parcel.decisions.append(ColumnsNote(memory.number, columns.room, register, counts, columns.open_rows))
        for second in records.flows:
            register = self._number(second.register, parcel)
            parcel.flows.append(FlowsNote(second.second_us, register, second.numbers, second.counters))
        return parcel, descriptors

    def _number(self, register: Register, parcel: Parcel) -> int:
        known = self._registers.get(id(register))
        if known is None:
            # This is not the number of a memory either.
            self._count -= 1
            known = self._registers[id(register)] = _Known(weakref.ref(register), self._count)
        news = RegisterNews(
            known.number,
            register.flows[known.flows :],
            register.paths[known.paths :],
            register.links[known.links :],
        )
        known.flows += len(news.flows)
        known.paths += len(news.paths)
        known.links += len(news.links)
        parcel.registers.append(news)
        return known.number

    def _forget(self, parcel: Parcel) -> None:
        for number in [number for number, memory in self._memories.items() if memory() is None]:
            del self._memories[number]
            parcel.gone.add(number)
        for name in [name for name, known in self._registers.items() if known.register() is None]:
            parcel.gone.add(self._registers.pop(name).number)


class Unpacker:
    """Makes records from parcels."""

    def __init__(self) -> None:
        self._memories: dict[int, memoryview[Any]] = {}
        self._registers: dict[int, Register] = {}

    def unpack(self, parcel: Parcel, descriptors: list[int]) -> Records | None:
        """Return the records of a parcel, if there are any."""
        for number in parcel.gone:
            self._memories.pop(number, None)
            self._registers.pop(number, None)
        for number, descriptor in zip(parcel.memories, descriptors, strict=True):
            self._memories[number] = map_memory(descriptor)
        for news in parcel.registers:
            register = self._registers.setdefault(news.number, Register())
            register.flows += news.flows
            register.paths += news.paths
            register.links += news.links
        records = Records(parcel.weight, events=parcel.events)
        records.decisions = [self._columns(note) for note in parcel.decisions]
        records.flows = [self._sums(note) for note in parcel.flows]
        return records if records.rows else None

    def _columns(self, note: ColumnsNote) -> DecisionColumns:
        columns = DecisionColumns(Room(*note.room), self._memories[note.memory])
        columns.register = self._registers[note.register]
        for name, count in zip(COUNTS, note.counts, strict=True):
            setattr(columns, name, count)
        columns.open_rows = note.open_rows
        # A set with few rows waits for others to make a group. Its memory is written again meanwhile, so it is copied.
        return columns.copy() if columns.open_rows or columns.rows < GROUP_ROWS else columns

    def _sums(self, note: FlowsNote) -> FlowRows:
        rows = FlowRows(note.second_us, self._registers[note.register])
        rows.numbers, rows.counters = note.numbers, note.counters
        return rows
