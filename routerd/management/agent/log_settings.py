"""What the schema does not say of the values of a log's attributes (2.5)."""

from collections.abc import Mapping
from typing import Any

from routerd.config.schema import LOG_LEVELS
from routerd.management.agent.refusals import Failed

_WORDS = ("default", "none", *LOG_LEVELS)
_SEPARATORS = str.maketrans(",;:", "   ")


def check_log(changes: Mapping[str, Any]) -> None:
    """Refuse levels that there are not, and a file without a name.

    The status is that of the routers that these clients know: C code reads these values there.
    """
    _check_levels(changes.get("enable"))
    if changes.get("outputFile") == "":
        failure = "CError: Configuration: Failed to open log file ''"
        raise Failed(f"{failure}; allowed: stderr, stdout, syslog, a file's name")


def _check_levels(enable: str | None) -> None:
    if enable is None:
        return
    words = enable.translate(_SEPARATORS).split()
    for word in words:
        name = word.lower().removesuffix("+")
        if not name or not any(one.startswith(name) for one in _WORDS):
            choices = ", ".join(_WORDS[1:])
            raise Failed(f"CError: Configuration: '{word}' is not a valid log level. Should be one of {{{choices}}}.")
