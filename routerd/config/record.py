"""What is recorded of a router's decisions, and for how long."""

from dataclasses import dataclass
from enum import Enum


class RecordLevel(Enum):
    """How much is recorded."""

    OFF = "off"
    FLOWS = "flows"
    SAMPLED = "sampled"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordConfig:
    """The `record` section."""

    level: RecordLevel = RecordLevel.OFF
    sample: int = 100
    """One decision in so many is recorded, at level `sampled`."""
    directory: str | None = None
    """Where the files go; there is none as long as nothing is recorded."""
    rotate_s: int = 60
    """How old a file gets before it is complete."""
    rotate_octets: int = 64 << 20
    """How large a file gets."""
    retention_s: int = 7 * 86_400
    """How old files are deleted; 0 for never."""
    retention_octets: int = 10 << 30
    """How much the files of the router may be in all; 0 for any number."""

    @property
    def is_on(self) -> bool:
        """Whether anything is recorded."""
        return self.level is not RecordLevel.OFF and self.directory is not None

    @property
    def every(self) -> int:
        """One decision in how many is recorded, 0 for none."""
        return {RecordLevel.SAMPLED: self.sample, RecordLevel.ALL: 1}.get(self.level, 0)
