"""How values are written in tables; JSON has them as they are."""

from collections.abc import Mapping
from typing import Any

_BINARY_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB")


def plain(value: Any) -> str:
    """Return a value as it is, nothing for null; what could steer a terminal is made visible."""
    if value is None:
        return ""
    if isinstance(value, bytes):
        value = value.decode(errors="backslashreplace")
    text = str(value)
    return text if text.isprintable() else "".join(map(_visible, text))


def or_nil(value: Any) -> str:
    """Return a value as it is, `(nil)` for an empty one."""
    return plain(value) or "(nil)"


def or_dash(value: Any) -> str:
    """Return a value as it is, `-` for null."""
    return "-" if value is None else plain(value)


def grouped(value: Any) -> str:
    """Return a number with its thousands marked."""
    return f"{value:,}" if isinstance(value, int) else plain(value)


def duration(value: Any) -> str:
    """Return seconds as days, hours, minutes and seconds; `-` for null."""
    if not isinstance(value, int | float):
        return "-"
    minutes, seconds = divmod(max(0, int(value)), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{days:03}:{hours:02}:{minutes:02}:{seconds:02}"


def blocked_time(value: Any) -> str:
    """Return seconds as hours, minutes and seconds of the day; `-` for none."""
    if not isinstance(value, int | float) or value <= 0:
        return "-"
    minutes, seconds = divmod(int(value) % 86_400, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}"


def octets(value: Any) -> str:
    """Return a number of octets in binary units, with three digits or so."""
    if not isinstance(value, int | float):
        return or_dash(value)
    if value < 1024:
        return str(int(value))
    scaled, steps = value / 1024, 0
    while scaled >= 1024 and steps < len(_BINARY_UNITS) - 1:
        scaled, steps = scaled / 1024, steps + 1
    digits = 2 if scaled < 10 else 1 if scaled < 100 else 0
    return f"{scaled:.{digits}f} {_BINARY_UNITS[steps]}"


def rate(value: Any) -> str:
    """Return a number a second."""
    if value is None:
        return ""
    return f"{value:.1f}" if 0 < abs(value) < 10 else f"{value:,.0f}"


def names(value: Any) -> str:
    """Return a list of names in brackets."""
    return str([plain(one) for one in value]) if isinstance(value, list | tuple) else plain(value)


def natural_key(value: Any) -> tuple[Any, ...]:
    """Return what puts values in the order that people expect: numbers by size, also in texts; null last."""
    if value is None or value == "":
        return (2,)
    if isinstance(value, int | float):
        return (0, value)
    text = plain(value)
    if text.isascii() and text.isdigit():
        return (0, int(text))
    return (1, text)


def jsonable(value: Any) -> Any:
    """Return a value that AMQP has as one that JSON has."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        # JSON knows neither infinity nor a number that is none.
        return value if value - value == 0 else None
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(one) for one in value]
    members = getattr(value, "values", None)
    return jsonable(members) if isinstance(members, list) else str(value)


def _visible(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode()
