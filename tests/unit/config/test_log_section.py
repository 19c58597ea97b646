"""`log` sections: what each module writes, and where to."""

import pytest

from routerd.config import LOG_MODULES, LogConfig, LogModuleConfig
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


def test_old_names_are_understood() -> None:
    config = read(section("log", "module: DEFAULT", "timestamp: no", "source: no", "output: x"))
    expected = LogModuleConfig(module="DEFAULT", include_timestamp=False, include_source=False, output_file="x")
    assert config.logs.modules == (expected,)
    assert [warning.partition(" has ")[0] for warning in config.warnings] == [
        "r.conf: line 3: Attribute 'timestamp' of entity 'org.apache.qpid.dispatch.log'",
        "r.conf: line 4: Attribute 'source' of entity 'org.apache.qpid.dispatch.log'",
        "r.conf: line 5: Attribute 'output' of entity 'org.apache.qpid.dispatch.log'",
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
    (["enable: ;", "module: SERVER"], f"line 2: log.enable: names no level (got ';'); allowed: default, {LEVELS}"),
    (["module: SERVER", "enable: ;"], f"line 3: log.enable: names no level (got ';'); allowed: default, {LEVELS}"),
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
