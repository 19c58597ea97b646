import logging

import pytest

from routerd.io.logs.levels import MODULES, Level, level_of, levels_of


def test_levels_are_those_of_the_reference_in_its_order() -> None:
    names = [level.name.lower() for level in sorted(Level)]
    assert names == ["trace", "debug", "info", "notice", "warning", "error", "critical"]


def test_what_is_not_said_and_what_says_default_are_inherited() -> None:
    assert levels_of(None) is None
    assert levels_of("default") is None


def test_words_are_read_together() -> None:
    assert levels_of("info; error+") == {Level.INFO, Level.ERROR, Level.CRITICAL}
    assert levels_of("none") == frozenset()


@pytest.mark.parametrize(
    ("number", "level"),
    [
        (1, Level.TRACE),
        (logging.DEBUG + 1, Level.DEBUG),
        (25, Level.NOTICE),
        (logging.WARNING, Level.WARNING),
        (99, Level.CRITICAL),
    ],
)
def test_a_number_of_other_loggers_is_the_level_that_it_reaches(number: int, level: Level) -> None:
    assert level_of(number) is level


def test_default_is_no_module_that_logs() -> None:
    assert "DEFAULT" not in MODULES
    assert {"SERVER", "ROUTER_CORE", "CONN_MGR", "AGENT", "POLICY", "PROTOCOL", "MESSAGE", "ERROR"} < set(MODULES)
