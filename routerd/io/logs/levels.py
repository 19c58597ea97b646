"""The levels and modules of the log."""

import logging
from enum import IntEnum
from functools import cache

from routerd.config import parse_enable
from routerd.management import LOG_MODULES

ROOT_MODULE = "DEFAULT"
"""The default settings of modules; nothing logs under its name."""
MODULES = tuple(module for module in LOG_MODULES if module != ROOT_MODULE)
"""Modules with their own settings."""
OTHER_MODULES = ("MAIN", "DISPLAYNAME")
"""Modules that always have the settings of DEFAULT (2.5)."""


class Level(IntEnum):
    """A level with its number in Python's logging."""

    TRACE = 5
    DEBUG = logging.DEBUG
    INFO = logging.INFO
    NOTICE = 25
    WARNING = logging.WARNING
    ERROR = logging.ERROR
    CRITICAL = logging.CRITICAL


def levels_of(enable: str | None) -> frozenset[Level] | None:
    """Return the levels that an `enable` switches on; None means those of DEFAULT."""
    names = None if enable is None else parse_enable(enable)
    return None if names is None else frozenset(Level[name.upper()] for name in names)


@cache
def level_of(number: int) -> Level:
    """Return the highest level below or at a number of Python's logging."""
    return max((level for level in Level if level <= number), default=Level.TRACE)
