"""`log` sections: what each module writes, and where to."""

from pathlib import Path

import pytest

from routerd.config import LOG_MODULES, LogConfig, LogModuleConfig
from routerd.config.kinds import LogKind, in_every_folder
from tests.unit.config.reading import JSON, errors_in, read, section

LEVELS = "none, trace, debug, info, notice, warning, error, critical"
NO_LEVEL = f"is not a valid log level. Should be one of {{{LEVELS}}}."


def test_nothing_configured_is_nothing_set() -> None:
    assert read("router {\n}\n").logs == LogConfig()


def test_all_attributes_arrive() -> None:
    text = section(
        "log",
        "module: SERVER",
        "enable: trace, warn+",
        "includeTimestamp: no",
        "includeSource: yes",
        "outputFile: a b.log",
    )
    assert read(text).logs == LogConfig(
        modules=(
            LogModuleConfig(
                module="SERVER",
                enable="trace, warn+",
                include_timestamp=False,
                include_source=True,
                output_file="a b.log",
            ),
        )
    )


def test_what_is_not_given_is_not_set() -> None:
    assert read(section("log", "module: DEFAULT")).logs == LogConfig(modules=(LogModuleConfig(module="DEFAULT"),))


def test_no_level_is_none() -> None:
    config = read(section("log", "module: SERVER", "enable: ;"))
    assert config.logs.modules == (LogModuleConfig(module="SERVER", enable=";"),)
    assert config.warnings == (
        "r.conf: line 3: log.enable: names no level: nothing is written. That is `none` in a word",
    )


@pytest.mark.parametrize("output", [None, "stderr", "syslog", "/var/log/router.log"])
def test_an_output_that_is_no_file_of_a_folder_is_the_same_everywhere(output: str | None) -> None:
    assert in_every_folder(output) == output


def test_a_file_of_a_folder_is_found_from_others_and_shown_as_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = in_every_folder("logs/router.log")
    assert place == f"{tmp_path}/./logs/router.log"
    values = {"module": "SERVER", "outputFile": place, "enable": None}
    assert LogKind().shown(values) == {**values, "outputFile": "logs/router.log"}


def test_old_names_are_understood() -> None:
    config = read(section("log", "module: DEFAULT", "timestamp: no", "source: no", "output: x"))
    expected = LogModuleConfig(module="DEFAULT", include_timestamp=False, include_source=False, output_file="x")
    assert config.logs.modules == (expected,)
    assert [warning.partition(" has ")[0] for warning in config.warnings] == [
        "r.conf: line 3: Attribute 'timestamp' of entity 'log'",
        "r.conf: line 4: Attribute 'source' of entity 'log'",
        "r.conf: line 5: Attribute 'output' of entity 'log'",
    ]


WRONG = [
    (
        ["enable: info"],
        "line 1: log.module: Missing required attribute 'module'; allowed: " + ", ".join(LOG_MODULES),
    ),
    (
        ["module: SERVR"],
        f"line 2: log.module: Invalid value for enum{list(LOG_MODULES)}: 'SERVR'; did you mean 'SERVER'?",
    ),
    (
        ["module: SERVER", "enable: info bogus+"],
        f"line 3: log.enable: 'bogus+' {NO_LEVEL} (got 'info bogus+');"
        f" allowed: default, {LEVELS}, each with + for all above it",
    ),
]


@pytest.mark.parametrize(("lines", "error"), WRONG)
def test_a_wrong_section_is_told(lines: list[str], error: str) -> None:
    assert errors_in(section("log", *lines)) == [error]


def test_no_error_hides_another() -> None:
    levels = f"allowed: default, {LEVELS}, each with + for all above it"
    text = section("log", "module: SERVR", "enable: inof+") + section("log", "module: AGENT") * 2
    text += section("log", "module: AGENT", "enable: inof+")
    assert errors_in(text) == [
        f"line 2: log.module: Invalid value for enum{list(LOG_MODULES)}: 'SERVR'; did you mean 'SERVER'?",
        f"line 3: log.enable: 'inof+' {NO_LEVEL}; {levels}",
        "line 9: log.module: adding log duplicates unique attribute 'module' from existing log of line 5"
        " (got 'AGENT'); allowed: one section for each module",
        "line 12: log.module: adding log duplicates unique attribute 'module' from existing log of line 5"
        " (got 'AGENT'); allowed: one section for each module",
        f"line 13: log.enable: 'inof+' {NO_LEVEL}; {levels}",
    ]


def test_an_empty_name_of_a_file_is_told() -> None:
    assert errors_in('[["log", {"module": "SERVER",\n"outputFile": ""}]]', JSON) == [
        "line 2: log.outputFile: has no name (got ''); allowed: stderr, stdout, syslog, the name of a file"
    ]


def test_a_second_section_for_a_module_is_told() -> None:
    assert errors_in(section("log", "module: SERVER") * 2) == [
        "line 5: log.module: adding log duplicates unique attribute 'module' from existing log of line 1"
        " (got 'SERVER'); allowed: one section for each module"
    ]
