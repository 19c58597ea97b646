"""What is configured for the log."""

from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True, kw_only=True)
class LogConfig:
    """The log of a router."""

    modules: tuple[LogModuleConfig, ...] = ()
    """No two are of one module."""
    timestamp_format: str | None = None
    """A form for strftime, in which `%%06lu` stands for the microseconds; None is ours."""
    timestamps_in_utc: bool = False
