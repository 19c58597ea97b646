"""`log` sections."""

from collections.abc import Iterable

from routerd.config.entities import Entity
from routerd.config.log import LogModuleConfig
from routerd.config.log_levels import LevelUnknown, parse_enable
from routerd.config.schema.logs import LOG_LEVELS


def log_modules(entities: Iterable[Entity]) -> tuple[LogModuleConfig, ...]:
    """Return what the sections say; what is wrong with them is noted at them."""
    modules: dict[str, LogModuleConfig] = {}
    lines: dict[str, int | None] = {}
    for entity in entities:
        module = entity.values["module"]
        found = _log_module(entity, module or "")
        if module in modules:
            reason = f"adding log duplicates unique attribute 'module' from existing log of line {lines[module]}"
            entity.refuse("module", reason, "one section for each module")
        elif module is not None:
            modules[module] = found
            lines[module] = entity.line
    return tuple(modules.values())


def _log_module(entity: Entity, module: str) -> LogModuleConfig:
    enable = entity.values["enable"]
    if enable is not None:
        try:
            parse_enable(enable)
        except LevelUnknown as error:
            entity.refuse("enable", str(error), "default", "none", *LOG_LEVELS, "each with + for all above it")
        if not enable.strip(" ,;:"):
            entity.refuse("enable", "names no level", "default", "none", *LOG_LEVELS)
    if entity.values["outputFile"] == "":
        entity.refuse("outputFile", "has no name", "stderr", "stdout", "syslog", "the name of a file")
    return LogModuleConfig(
        module=module,
        enable=enable,
        include_timestamp=entity.values["includeTimestamp"],
        include_source=entity.values["includeSource"],
        output_file=entity.values["outputFile"],
    )
