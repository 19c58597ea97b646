"""The form of a line of the log, as text and as JSON."""

import json
import re
import time
from typing import NamedTuple

from routerd.io.logs.levels import Level

DEFAULT_TIMESTAMP = "%Y-%m-%d %H:%M:%S.%%06lu %z"
"""Local time. strftime makes `%06lu` of `%%06lu`, and that is replaced by the microseconds (2.5)."""
TEXT_MAX = 8192
"""Characters of one text: peers choose parts of it, and the last thousand texts are kept in memory."""

_NAMES = {level: level.name.lower() for level in Level}
_IDENTITY = re.compile(r"\[C(\d+)\](?:\[L(\d+)\])?")
_CONTROL = {code: repr(chr(code))[1:-1] for code in (*range(32), *range(127, 160), 0x2028, 0x2029)}


class LogEntry(NamedTuple):
    """One line of the log before it is formatted."""

    module: str
    level: Level
    text: str
    file: str | None
    line: int | None
    time_s: float
    """Since 1970."""
    traceback: str | None = None


def identity(connection: int, link: int | None = None) -> str:
    """Return the beginning of a text about a connection or one of its links: `[C3]`, `[C3][L11]`."""
    return f"[C{connection}]" if link is None else f"[C{connection}][L{link}]"


def shortened(text: str) -> str:
    """Return a text; if it is long, its beginning and the number of missing characters."""
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}... ({len(text) - TEXT_MAX} more)"


def in_one_line(text: str) -> str:
    """Return a text without characters that end a line or move a terminal's cursor."""
    return text if text.isprintable() else text.translate(_CONTROL)


class Clock:
    """Writes times in the form of `timestampFormat`; parts that change once a second are made once a second."""

    def __init__(self, form: str | None = None, *, in_utc: bool = False) -> None:
        self._form = form or DEFAULT_TIMESTAMP
        self._broken_down = time.gmtime if in_utc else time.localtime
        self._second: int | None = None
        self._text = ""

    def text(self, time_s: float) -> str:
        """Return a time as text."""
        second, microseconds = divmod(int(time_s * 1_000_000), 1_000_000)
        if second != self._second:
            self._text = time.strftime(self._form, self._broken_down(second))
            self._second = second
        return self._text.replace("%06lu", f"{microseconds:06d}")


def text_lines(entry: LogEntry, clock: Clock | None, *, with_source: bool) -> list[str]:
    """Return an entry as `[TIMESTAMP ]MODULE (level) text[ (file:line)]`, and each line of its traceback likewise."""
    head = f"{entry.module} ({_NAMES[entry.level]}) "
    if clock is not None:
        head = f"{clock.text(entry.time_s)} {head}"
    tail = f" ({entry.file}:{entry.line})" if with_source and entry.file else ""
    if entry.traceback is None:
        return [f"{head}{in_one_line(entry.text)}{tail}\n"]
    texts = [entry.text, *entry.traceback.splitlines()]
    return [f"{head}{in_one_line(text)}{tail}\n" for text in texts]


_UTC = Clock("%Y-%m-%dT%H:%M:%S.%%06luZ", in_utc=True)


def json_line(entry: LogEntry, router_id: str) -> str:
    """Return an entry as one JSON object in one line."""
    members: dict[str, object] = {
        "ts": _UTC.text(entry.time_s),
        "router": router_id,
        "module": entry.module,
        "level": _NAMES[entry.level],
        "text": entry.text,
        "file": entry.file,
        "line": entry.line,
    }
    if found := _IDENTITY.match(entry.text):
        members["connection"] = int(found[1])
        if found[2]:
            members["link"] = int(found[2])
    if entry.traceback:
        members["traceback"] = entry.traceback
    return json.dumps(members, ensure_ascii=False, separators=(",", ":")) + "\n"
