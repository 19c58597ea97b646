"""`record`: what is recorded of the router's decisions."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from routerd.config.configurable import Configurable, Reading
from routerd.config.entity import Entity
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.model import (
    CREATE,
    ENUM,
    INTEGER,
    OWN_PREFIX,
    PATH,
    STRING,
    UPDATE,
    Attribute,
    EntityType,
    Purpose,
)

_SET = CREATE | UPDATE

RECORD = EntityType(
    name="record",
    prefix=OWN_PREFIX,
    description="What is recorded of the router's decisions, as Parquet files that `routeranalyze` studies.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="record",
    own_operations=("UPDATE",),
    is_singleton=True,
    is_supported=True,
    own_attributes=(
        Attribute(
            "level",
            ENUM,
            "How much is recorded: nothing, sums and events, one decision in `sample` besides, or every decision.",
            _SET,
            "off",
            tags=("off", "flows", "sampled", "all"),
        ),
        Attribute("sample", INTEGER, "Of so many decisions one is recorded.", _SET, 100, least=1, most=1_000_000),
        Attribute("directory", PATH, "The folder that the files go to. Routers may have one in common.", _SET),
        Attribute("rotateSeconds", INTEGER, "How old a file gets.", _SET, 60, unit="s", least=1, most=3600),
        Attribute("rotateMegabytes", INTEGER, "How large a file gets.", _SET, 64, unit="MiB", least=1, most=4096),
        Attribute(
            "retentionHours", INTEGER, "Older files are deleted; 0 for never.", _SET, 168, unit="h", least=0
        ),
        Attribute(
            "retentionMegabytes",
            INTEGER,
            "Of the router's files that are more in all, the oldest are deleted; 0 for any number.",
            _SET,
            10_240,
            unit="MiB",
            least=0,
        ),
        Attribute(
            "reportUrl", STRING, "Where browsers find the report of these records: the console links to it.", _SET
        ),
        Attribute("status", STRING, "Whether it is `off` or `recording`, or why nothing is written at the moment."),
        Attribute("rowsWritten", INTEGER, "Rows of complete files.", is_graph=True),
        Attribute("rowsLost", INTEGER, "Rows that could not be kept.", is_graph=True),
        Attribute("rowsPending", INTEGER, "Rows of files that are not complete.", is_graph=True),
        Attribute("filesWritten", INTEGER, "Complete files.", is_graph=True),
        Attribute("filesDeleted", INTEGER, "Files whose time was over.", is_graph=True),
        Attribute("octetsWritten", INTEGER, "Size of the complete files.", unit="octets", is_graph=True),
        Attribute("errorCount", INTEGER, "How often writing failed.", is_graph=True),
    ),
)


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


_MIB = 1 << 20
_HOUR_S = 3600
_SCHEMES = ("http://", "https://")


class RecordKind(Configurable[RecordConfig]):
    """What is recorded."""

    type = RECORD
    example = """record {
    level: sampled
    directory: /var/lib/mobula/records
    retentionHours: 720
}
"""
    notes = """There is at most one such section; all of it can be changed at run time. The option `record_directory`
of the process takes the place of `directory`; without a section it records at level `sampled`.
[recording.md](recording.md) says what it costs and how to study what has been recorded."""
    change_notes = "Null takes an attribute back to its default."
    always_exists = True
    is_replaced_at_once = True

    def read(self, entity: Entity, reading: Reading) -> RecordConfig:
        """Return what a section says."""
        values = entity.values
        if values["directory"] == "":
            entity.refuse("directory", "has no name", "the name of a folder")
        url = values["reportUrl"]
        if url is not None and not url.startswith(_SCHEMES):
            entity.refuse("reportUrl", "is not the address of a page", *_SCHEMES)
        return RecordConfig(
            level=RecordLevel(values["level"]),
            sample=values["sample"],
            directory=values["directory"],
            rotate_s=values["rotateSeconds"],
            rotate_octets=values["rotateMegabytes"] * _MIB,
            retention_s=values["retentionHours"] * _HOUR_S,
            retention_octets=values["retentionMegabytes"] * _MIB,
        )

    def identity(self, values: Mapping[str, Any], name: str | None) -> str:
        """Return the only one there is."""
        return "record/decisions"


def with_directory(
    record: RecordConfig, values: Mapping[str, Any] | None, directory: str | None
) -> tuple[RecordConfig, Mapping[str, Any] | None]:
    """Return both with the directory that the process was started with, and with file names that hold everywhere.

    Without a section, decisions are sampled there.
    """
    place = record.directory if directory is None else directory
    place = None if place is None else os.path.abspath(place)
    level = record.level if values is not None or directory is None else RecordLevel.SAMPLED
    if values is None and directory is None:
        return record, None
    found = replace(record, level=level, directory=place)
    return found, {**(values or {}), "level": level.value, "directory": place}
