"""The lines of the log's module MESSAGE (2.5): the parts of messages that their listener names.

    [C1]: Received Message{subject="sub", app-properties={"k"=1}} on link 'name' ( -> ok.1)
"""

from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

from routerd.config import ConnectorConfig, ListenerConfig
from routerd.core import Inlet, Outlet
from routerd.io.logs.log_system import module_log
from routerd.io.logs.value_text import octets_text, value_text
from routerd.wire import DecodeError, NeedsMore, Properties, Section, Sections, Timestamp, decode

APPLICATION_PROPERTIES = "app-properties"

_PROPERTIES = tuple(field.name.replace("_", "-") for field in fields(Properties))

_log = module_log("MESSAGE")


def is_watched(details: object) -> bool:
    """Whether the messages of a listener's or connector's connections are to be logged now."""
    return (
        _log.is_trace
        and isinstance(details, ListenerConfig | ConnectorConfig)
        and bool(details.message_log_components)
    )


def log_message(
    verb: str, end: Inlet | Outlet, data: bytes | bytearray, start: int, stop: int, is_partial: bool
) -> None:
    """Log the message in data[start:stop], or the named parts in its beginning."""
    parts = ", ".join(_parts(bytes(data[start:stop]), is_partial, end.peer.details.message_log_components))
    link = end.link
    source, target = (getattr(terminus, "address", None) or "" for terminus in (link.source, link.target))
    _log.trace(f"[C{end.peer.number}]: {verb} Message{{{parts}}} on link '{link.name}' ({source} -> {target})")


def _parts(octets: bytes, is_partial: bool, wanted: tuple[str, ...]) -> Iterator[str]:
    """Yield the present parts, in the order of the standard."""
    sections = Sections(octets, partial=is_partial)
    for name, value in zip(_PROPERTIES, _properties(sections, octets), strict=False):
        if name in wanted and value is not None:
            yield f"{name}={_text(value)}"
    if APPLICATION_PROPERTIES in wanted:
        try:
            properties = sections.application_properties
        except (DecodeError, NeedsMore):
            return
        if properties is not None:
            yield f"{APPLICATION_PROPERTIES}={value_text(properties)}"


def _properties(sections: Sections, octets: bytes) -> list[Any]:
    try:
        bounds = sections.bounds(Section.PROPERTIES)
        found = None if bounds is None else decode(octets[slice(*bounds)]).value
    except (DecodeError, NeedsMore):
        return []
    return found if isinstance(found, list) else []


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return f"b{octets_text(value)}"
    return _time_text(value) if isinstance(value, Timestamp) else value_text(value)


def _time_text(timestamp: Timestamp) -> str:
    try:
        time = datetime.fromtimestamp(timestamp / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        return str(timestamp)
    return f'"{time:%Y-%m-%d %H:%M:%S}.{timestamp % 1000:03d} +0000"'
