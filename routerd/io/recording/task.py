"""The task of recording for a worker, and its counters."""

from dataclasses import dataclass, fields

from routerd.config import RecordConfig

GROUP_ROWS = 1 << 15
"""Rows of a table that are compressed at a time."""
STATUS_OFF = "off"
STATUS_ON = "recording"


@dataclass(slots=True)
class RecordingCounters:
    """The numbers of rows and files, written and not written."""

    rows_written: int = 0
    rows_pending: int = 0
    rows_lost: int = 0
    files_written: int = 0
    files_deleted: int = 0
    octets_written: int = 0
    errors: int = 0

    def as_map(self) -> dict[str, int]:
        """Return the counters by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def add(self, others: "RecordingCounters") -> None:
        """Add other counters."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(others, one.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTask:
    """The records to write, and the place for them."""

    config: RecordConfig
    router_id: str
    worker: int
    incarnation: int
    stands_back: bool = True
    """Whether it is enough to write while cores idle."""

    @property
    def writer_prefix(self) -> str:
        """The beginning of the names of all incarnations of a writer."""
        return f"w{self.worker}."

    @property
    def writer(self) -> str:
        """The name of the writer, different from all others of the router."""
        return f"{self.writer_prefix}{self.incarnation:x}"
