"""The log of a process, over Python's logging.

Each module of the log (SERVER, ROUTER_CORE, ...) is a `ModuleLog`. This logger has an attribute for each level that
says whether the level is on. `if log.is_info: log.info("%s opened", prefix)` costs one look-up while it is off.
Settings are by module. A module without a setting has that of DEFAULT (2.5). All modules write through one `LogSystem`,
which formats an entry and hands it to the output of its module. Loggers of other packages, which are below the root
logger, write through it too, from warnings on.

There is one such system in a process, as there is one `logging`: the functions at the end are its methods.
"""

import logging
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from routerd.config import LogConfig, LogModuleConfig
from routerd.config.kinds import BUILT_IN_LOG
from routerd.io.logs.levels import MODULES, OTHER_MODULES, ROOT_MODULE, Level, level_of, levels_of
from routerd.io.logs.lines import Clock, LogEntry, json_line, shortened, text_lines
from routerd.io.logs.outputs import FileOutput, LogFileError, LogOutput, StreamOutput, SyslogOutput
from routerd.io.logs.receiver import STDERR, STDOUT, ForwardedOutput, LogForwarder

KEPT_ENTRIES = 1000

_UNCONFIGURED = frozenset(level for level in Level if level >= Level.WARNING)
_SERVER_LOGGERS = ("asyncio", "concurrent.futures")
"""Loggers of other packages whose records belong to the event loop; those of all others belong to PYTHON."""
_STREAMS = {"stdout": STDOUT, "stderr": STDERR}
_SOURCES = Path(__file__).resolve().parents[3]


class ModuleLog(logging.Logger):
    """The logger of one module of the log.

    It makes no `LogRecord`, as nobody would read most of its attributes. So it takes half the time.
    """

    def __init__(self, module: str, write: Callable[[LogEntry], None]) -> None:
        super().__init__(module)
        self._write = write
        self._watchers: list[Callable[[], None]] = []
        self.switch(_UNCONFIGURED)

    def switch(self, levels: frozenset[Level]) -> None:
        """Let these levels through, and no others."""
        self._levels = levels
        self.is_trace = Level.TRACE in levels
        self.is_debug = Level.DEBUG in levels
        self.is_info = Level.INFO in levels
        self.is_notice = Level.NOTICE in levels
        self.is_warning = Level.WARNING in levels
        self.is_error = Level.ERROR in levels
        self.is_critical = Level.CRITICAL in levels
        for watcher in list(self._watchers):
            watcher()

    def watch(self, watcher: Callable[[], None]) -> None:
        """Call a function whenever the levels are switched, in any thread; it must not log."""
        self._watchers.append(watcher)

    def unwatch(self, watcher: Callable[[], None]) -> None:
        """Stop calling a function."""
        self._watchers.remove(watcher)

    def isEnabledFor(self, level: int) -> bool:
        """Return whether a level is switched on."""
        return level in self._levels

    def trace(self, text: str, *arguments: object) -> None:
        """Log a text of level trace."""
        if self.is_trace:
            self._log(Level.TRACE, text, arguments)

    def record(self, level: Level, text: str) -> None:
        """Log a text whatever the levels are: it was asked for."""
        self._log(level, text, ())

    def notice(self, text: str, *arguments: object) -> None:
        """Log a text of level notice."""
        if self.is_notice:
            self._log(Level.NOTICE, text, arguments)

    def exception(self, msg: object, *args: Any, exc_info: Any = True, **others: Any) -> None:
        """Log a text of level error, and the traceback of the exception that is being handled."""
        if self.is_error:
            self._log(Level.ERROR, msg, args, exc_info)

    def _log(
        self,
        level: int,
        msg: object,
        args: Any,
        exc_info: Any = None,
        extra: Mapping[str, object] | None = None,
        stack_info: bool = False,
        stacklevel: int = 1,
    ) -> None:
        # There is always one frame between the caller and this: the method of the level.
        frame = sys._getframe(stacklevel + 1)
        text = str(msg)
        if args:
            try:
                text %= args
            except (TypeError, ValueError):
                # A fault of ours, but not a reason to end a connection.
                text = f"{text} {args}"
        if exc_info is True:
            exc_info = sys.exception()
        trace = shortened("".join(traceback.format_exception(exc_info))) if exc_info else None
        place = _short_path(frame.f_code.co_filename)
        self._write(LogEntry(self.name, level_of(level), shortened(text), place, frame.f_lineno, time.time(), trace))


@dataclass(frozen=True, slots=True)
class _Writing:
    """The outputs and the format of one module."""

    output: LogOutput
    clock: Clock | None
    with_source: bool


class LogSystem:
    """The common part of all logs of a process: settings, outputs, and the last entries."""

    def __init__(self) -> None:
        # One lock orders the lines. Changes have another one, so that opening a file delays no line.
        self._writing = threading.Lock()
        self._changing = threading.Lock()
        self._logs = {module: ModuleLog(module, self.write) for module in (*MODULES, *OTHER_MODULES)}
        self._counts = {module: dict.fromkeys(Level, 0) for module in self._logs}
        self._entries: deque[LogEntry] = deque(maxlen=KEPT_ENTRIES)
        self._config = LogConfig()
        self._json_router_id: str | None = None
        self._forwarder: LogForwarder | None = None
        self._outputs: dict[str, LogOutput] = {"stderr": StreamOutput(STDERR)}
        self._writings = dict.fromkeys(self._logs, _Writing(self._outputs["stderr"], Clock(), with_source=False))

    def log(self, module: str) -> ModuleLog:
        """Return the logger of a module."""
        return self._logs[module]

    def configure(self, config: LogConfig, *, router_id: str, as_json: bool = False) -> None:
        """Set the settings of all modules; if a file cannot be opened (LogFileError), nothing changes."""
        with self._changing:
            self._take(config)
            self._json_router_id = router_id if as_json else None

    def change(self, module: LogModuleConfig) -> None:
        """Set the settings of one module; if its file cannot be opened (LogFileError), nothing changes."""
        with self._changing:
            others = (one for one in self._config.modules if one.module != module.module)
            self._take(replace(self._config, modules=(*others, module)))

    def forward_to(self, path: str) -> None:
        """From now on, write lines for standard error and output to the streams of the LogReceiver at this path."""
        with self._changing:
            former, self._forwarder = self._forwarder, LogForwarder(path)
            self._outputs = {name: output for name, output in self._outputs.items() if name not in _STREAMS}
            self._take(self._config)
        if former is not None:
            former.close()

    def follow_files(self) -> None:
        """Open new files where the old ones have been renamed; the next line would do so, too."""
        with self._writing:
            for output in self._outputs.values():
                if isinstance(output, FileOutput):
                    output.follow()

    def settings(self) -> tuple[LogModuleConfig, ...]:
        """Return the settings of each configurable module, as they were given."""
        given = {one.module: one for one in self._config.modules}
        return tuple(given.get(name, LogModuleConfig(module=name)) for name in (*MODULES, ROOT_MODULE))

    def recent(self, limit: int | None = None) -> list[LogEntry]:
        """Return the newest entries that were written, oldest first."""
        entries = list(self._entries)
        return entries if limit is None else entries[max(0, len(entries) - limit) :]

    def counts(self) -> dict[str, dict[Level, int]]:
        """Return how many entries of each module and level were written."""
        return {module: dict(by_level) for module, by_level in self._counts.items()}

    def finish(self) -> None:
        """Wait a moment for unwritten lines, and stop forwarding."""
        with self._changing:
            for output in self._outputs.values():
                output.finish()
            if self._forwarder is not None:
                self._forwarder.close()

    def write(self, entry: LogEntry) -> None:
        """Write an entry, whatever the levels of its module are."""
        with self._writing:
            self._counts[entry.module][entry.level] += 1
            self._entries.append(entry)
            writing = self._writings[entry.module]
            if self._json_router_id is not None:
                writing.output.write(json_line(entry, self._json_router_id), entry.level)
            else:
                for line in text_lines(entry, writing.clock, with_source=writing.with_source):
                    writing.output.write(line, entry.level)

    def _take(self, config: LogConfig) -> None:
        given = {one.module: one for one in config.modules}
        default = _completed(given.get(ROOT_MODULE), BUILT_IN_LOG)
        settings = {module: _completed(given.get(module), default) for module in self._logs}
        outputs = self._opened({str(one.output_file) for one in settings.values()})
        clock = Clock(config.timestamp_format, in_utc=config.timestamps_in_utc)
        with self._writing:
            for module, one in settings.items():
                has_time = one.include_timestamp and one.output_file != "syslog"
                self._writings[module] = _Writing(
                    outputs[str(one.output_file)], clock if has_time else None, with_source=bool(one.include_source)
                )
                self._logs[module].switch(levels_of(one.enable) or frozenset())
            former, self._outputs = self._outputs, outputs
            self._config = config
        for name in former.keys() - outputs.keys():
            former[name].close()

    def _opened(self, names: set[str]) -> dict[str, LogOutput]:
        outputs: dict[str, LogOutput] = {}
        try:
            for name in sorted(names):
                outputs[name] = self._outputs.get(name) or self._open(name)
        except LogFileError:
            for name in outputs.keys() - self._outputs.keys():
                outputs[name].close()
            raise
        return outputs

    def _open(self, name: str) -> LogOutput:
        if name == "syslog":
            return SyslogOutput()
        if name not in _STREAMS:
            return FileOutput(name)
        if self._forwarder is not None:
            return ForwardedOutput(self._forwarder, _STREAMS[name])
        return StreamOutput(_STREAMS[name])


class OtherLoggers(logging.Handler):
    """Takes warnings and errors of other packages' loggers to the log."""

    def __init__(self, system: LogSystem) -> None:
        super().__init__(logging.WARNING)
        self._system = system

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record as an entry of SERVER or PYTHON."""
        module = "SERVER" if record.name.startswith(_SERVER_LOGGERS) else "PYTHON"
        level = level_of(record.levelno)
        if not self._system.log(module).isEnabledFor(level):
            return
        try:
            text = record.getMessage()
        except (TypeError, ValueError):
            text = f"{record.msg} {record.args}"
        trace = shortened("".join(traceback.format_exception(*record.exc_info))) if record.exc_info else None
        place = _short_path(record.pathname)
        self._system.write(LogEntry(module, level, shortened(text), place, record.lineno, record.created, trace))


def _completed(given: LogModuleConfig | None, default: LogModuleConfig) -> LogModuleConfig:
    """Return settings in which missing values are those of the default."""
    if given is None:
        return default
    return LogModuleConfig(
        module=given.module,
        enable=default.enable if levels_of(given.enable) is None else given.enable,
        include_timestamp=default.include_timestamp if given.include_timestamp is None else given.include_timestamp,
        include_source=default.include_source if given.include_source is None else given.include_source,
        output_file=given.output_file or default.output_file,
    )


@lru_cache(maxsize=256)
def _short_path(file: str) -> str:
    path = Path(file)
    return str(path.relative_to(_SOURCES)) if path.is_relative_to(_SOURCES) else path.name


_system = LogSystem()
_others = OtherLoggers(_system)

module_log = _system.log
change_log = _system.change
forward_logs = _system.forward_to
follow_log_files = _system.follow_files
log_settings = _system.settings
recent_log_entries = _system.recent
log_counts = _system.counts
finish_logs = _system.finish


def configure_logs(config: LogConfig, *, router_id: str, as_json: bool = False) -> None:
    """Set the settings of all modules; if a file cannot be opened (LogFileError), nothing changes."""
    _system.configure(config, router_id=router_id, as_json=as_json)
    root = logging.getLogger()
    if _others not in root.handlers:
        root.addHandler(_others)


def adopt_logger(name: str) -> None:
    """Take the records of another package's logger here only, whatever handlers it has."""
    other = logging.getLogger(name)
    for handler in list(other.handlers):
        other.removeHandler(handler)
    other.propagate = True
