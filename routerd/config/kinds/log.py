"""`log`: what the modules of the router write to the log."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from routerd.config.configurable import Configurable, Reading
from routerd.config.entity import Entity
from routerd.config.log_levels import LevelUnknown, parse_enable
from routerd.config.schema.foundations import CONFIGURATION_ENTITY
from routerd.config.schema.logs import LOG_LEVELS, LOG_MODULES
from routerd.config.schema.model import BOOLEAN, ENUM, STRING, UPDATE, Attribute, EntityType, Purpose

STREAMS = ("stderr", "stdout", "syslog")
"""Where the log can go that is no file."""

LOG = EntityType(
    name="log",
    description="What one module of the router writes to the log, and where to.",
    purpose=Purpose.CONFIGURATION,
    base=CONFIGURATION_ENTITY,
    section="log",
    own_operations=("UPDATE",),
    is_supported=True,
    own_attributes=(
        Attribute(
            "module",
            ENUM,
            "The module. What is not set for a module is as for DEFAULT.",
            tags=LOG_MODULES,
            is_required=True,
        ),
        Attribute(
            "enable",
            STRING,
            "The levels that are written, such as `warning+ trace`: `+` is that level and all above it.",
            UPDATE,
            separator=",",
        ),
        Attribute("includeTimestamp", BOOLEAN, "Whether a line begins with the time.", UPDATE, old_name="timestamp"),
        Attribute(
            "includeSource",
            BOOLEAN,
            "Whether a line ends with the place in the source code.",
            UPDATE,
            old_name="source",
        ),
        Attribute(
            "outputFile",
            STRING,
            "`stderr`, `stdout`, `syslog` or the name of a file to append to.",
            UPDATE,
            old_name="output",
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogModuleConfig:
    """One `log` section; what is None is as for module DEFAULT."""

    module: str
    enable: str | None = None
    """As it was written; `parse_enable` reads it."""
    include_timestamp: bool | None = None
    include_source: bool | None = None
    output_file: str | None = None
    """`stderr`, `stdout`, `syslog` or the name of a file."""


BUILT_IN_LOG = LogModuleConfig(
    module="DEFAULT", enable="info+", include_timestamp=True, include_source=False, output_file="stderr"
)
"""What a router does whose file does not say it."""

_GIVEN = "/./"
"""Between a working directory and the name of a file that is meant to be there."""


def in_every_folder(output: str | None) -> str | None:
    """Return an output that is the same in every working directory, and still says what was given."""
    return output if output in (None, *STREAMS) or os.path.isabs(output) else os.getcwd() + _GIVEN + output


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """The log of a router."""

    modules: tuple[LogModuleConfig, ...] = ()
    """No two are of one module."""
    timestamp_format: str | None = None
    """A form for strftime, in which `%%06lu` stands for the microseconds; None is ours."""
    timestamps_in_utc: bool = False


_BUILT_IN_VALUES = {
    "enable": BUILT_IN_LOG.enable,
    "includeTimestamp": BUILT_IN_LOG.include_timestamp,
    "includeSource": BUILT_IN_LOG.include_source,
    "outputFile": BUILT_IN_LOG.output_file,
}


class LogKind(Configurable[LogModuleConfig]):
    """Modules of the log."""

    type = LOG
    example = """log {
    module: DEFAULT
    enable: notice+
    outputFile: /var/log/routerd.log
}
log {
    module: PROTOCOL
    enable: trace+
}
"""
    notes = f"""The levels are {", ".join(f"`{one}`" for one in LOG_LEVELS)}, each higher than
the one before; they can be shortened, and several stand with blanks or commas between them. A module without a section,
or whose section leaves something out, is as DEFAULT; DEFAULT has `info+`, timestamps, no
sources and `stderr` where it says nothing itself."""
    change_notes = "Null takes an attribute back to what DEFAULT has."
    files = ("outputFile",)
    fixed = ("module",)
    is_replaced_at_once = True

    def read(self, entity: Entity, reading: Reading) -> LogModuleConfig:
        """Return what a section says."""
        enable = entity.values["enable"]
        if enable is not None:
            try:
                parse_enable(enable)
            except LevelUnknown as error:
                entity.refuse("enable", str(error), "default", "none", *LOG_LEVELS, "each with + for all above it")
            if not enable.strip(" ,;:"):
                entity.warn("enable", "names no level: nothing is written. That is `none` in a word")
        if entity.values["outputFile"] == "":
            entity.refuse("outputFile", "has no name", "stderr", "stdout", "syslog", "the name of a file")
        return LogModuleConfig(
            module=entity.values["module"] or "",
            enable=enable,
            include_timestamp=entity.values["includeTimestamp"],
            include_source=entity.values["includeSource"],
            output_file=entity.values["outputFile"],
        )

    def compare(self, found: Sequence[tuple[Entity, LogModuleConfig]], reading: Reading) -> None:
        """Note which modules have two sections."""
        lines: dict[str, int | None] = {}
        for entity, one in found:
            if one.module in lines:
                line = lines[one.module]
                reason = f"adding log duplicates unique attribute 'module' from existing log of line {line}"
                entity.refuse("module", reason, "one section for each module")
            elif one.module:
                lines[one.module] = entity.line

    def shown(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return values with the name of the file as it was given, and all of module DEFAULT."""
        output: str | None = values["outputFile"]
        shown = {**values, "outputFile": None if output is None else output.partition(_GIVEN)[2] or output}
        if values["module"] == BUILT_IN_LOG.module:
            for name, value in _BUILT_IN_VALUES.items():
                shown[name] = value if shown[name] is None else shown[name]
        return shown

    def names_file(self, attribute: str, text: str) -> bool:
        """Return whether the log goes to a file."""
        return text not in STREAMS

    def identity(self, values: Mapping[str, Any], name: str | None) -> str:
        """Return the module."""
        return f"log/{values['module']}"

    def implied(self, given: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """Return all modules that have no section."""
        modules = {values["module"] for values in given}
        return tuple({"module": module} for module in LOG_MODULES if module not in modules)
