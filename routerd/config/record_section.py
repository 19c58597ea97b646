"""`record` sections."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from routerd.config.entities import Entity
from routerd.config.record import RecordConfig, RecordLevel

_MIB = 1 << 20
_HOUR_S = 3600


def record_configs(entities: Iterable[Entity]) -> tuple[RecordConfig, ...]:
    """Return what the sections say; what is wrong with them is noted at them."""
    return tuple(map(_record_config, entities))


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


def _record_config(entity: Entity) -> RecordConfig:
    values = entity.values
    if values["directory"] == "":
        entity.refuse("directory", "has no name", "the name of a folder")
    return RecordConfig(
        level=RecordLevel(values["level"]),
        sample=values["sample"],
        directory=values["directory"],
        rotate_s=values["rotateSeconds"],
        rotate_octets=values["rotateMegabytes"] * _MIB,
        retention_s=values["retentionHours"] * _HOUR_S,
        retention_octets=values["retentionMegabytes"] * _MIB,
    )
