import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from routerd.config import LogConfig, LogModuleConfig
from routerd.io.logs.levels import Level
from routerd.io.logs.log_system import KEPT_ENTRIES, LogSystem, ModuleLog, OtherLoggers
from routerd.io.logs.outputs import LogFileError

PLAIN = LogModuleConfig(module="DEFAULT", include_timestamp=False)


@pytest.fixture
def system() -> Iterator[LogSystem]:
    made = LogSystem()
    yield made
    made.finish()


def configured(system: LogSystem, *modules: LogModuleConfig) -> ModuleLog:
    system.configure(LogConfig(modules=(PLAIN, *modules)), router_id="QDR.A")
    return system.log("SERVER")


def switched_on(log: ModuleLog) -> list[str]:
    return [level.name.lower() for level in Level if getattr(log, f"is_{level.name.lower()}")]


def check_stderr(capfd: pytest.CaptureFixture[str], *lines: str) -> None:
    assert capfd.readouterr().err.splitlines() == list(lines)


def test_a_process_that_was_told_nothing_logs_warnings(system: LogSystem) -> None:
    assert switched_on(system.log("SERVER")) == ["warning", "error", "critical"]


def test_a_router_that_was_told_nothing_logs_from_info_on_with_the_time(
    system: LogSystem, capfd: pytest.CaptureFixture[str]
) -> None:
    system.configure(LogConfig(timestamps_in_utc=True, timestamp_format="%z"), router_id="QDR.A")
    assert switched_on(system.log("SERVER")) == ["info", "notice", "warning", "error", "critical"]
    system.log("SERVER").info("%s opened", "[C1]")
    check_stderr(capfd, "+0000 SERVER (info) [C1] opened")


def test_levels_that_are_off_write_nothing(system: LogSystem, capfd: pytest.CaptureFixture[str]) -> None:
    log = configured(system, LogModuleConfig(module="SERVER", enable="trace, notice"))
    for level in Level:
        getattr(log, level.name.lower())("a line")
    check_stderr(capfd, "SERVER (trace) a line", "SERVER (notice) a line")


def test_a_module_has_from_default_what_it_does_not_say(system: LogSystem, capfd: pytest.CaptureFixture[str]) -> None:
    settings = (
        LogModuleConfig(module="DEFAULT", enable="error+", include_timestamp=False, include_source=True),
        LogModuleConfig(module="AGENT", enable="info"),
        LogModuleConfig(module="POLICY", include_source=False),
        LogModuleConfig(module="ERROR", enable="default"),
    )
    system.configure(LogConfig(modules=settings), router_id="QDR.A")
    logs = [system.log(module) for module in ("SERVER", "AGENT", "POLICY", "ERROR", "MAIN")]
    assert [switched_on(log) for log in logs] == [["error", "critical"], ["info"], *[["error", "critical"]] * 3]
    logs[2].error("no source")
    logs[0].error("source")
    assert [line.partition(" (tests/")[0] for line in capfd.readouterr().err.splitlines()] == [
        "POLICY (error) no source",
        "SERVER (error) source",
    ]


def test_the_source_is_the_place_that_logged(system: LogSystem) -> None:
    log = configured(system, LogModuleConfig(module="SERVER", enable="trace+"))
    for method in (log.trace, log.debug, log.info, log.notice, log.warning, log.error, log.critical, log.exception):
        method("here")
    places = {(entry.file, entry.line) for entry in system.recent()}
    assert len(places) == 1
    assert places.pop()[0] == "tests/unit/io/logs/test_log_system.py"


def test_a_place_outside_the_project_is_the_name_of_its_file(system: LogSystem) -> None:
    log = configured(system)
    exec(compile("log.info('here')", "/usr/lib/elsewhere.py", "exec"), {"log": log})
    assert system.recent()[0][3:5] == ("elsewhere.py", 1)


def test_several_modules_share_a_file(system: LogSystem, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "router.log")
    log = configured(
        system,
        LogModuleConfig(module="SERVER", output_file=path),
        LogModuleConfig(module="AGENT", output_file=path),
        LogModuleConfig(module="POLICY", output_file="stdout"),
    )
    log.info("one")
    system.log("AGENT").info("two")
    system.log("POLICY").info("three")
    assert Path(path).read_text() == "SERVER (info) one\nAGENT (info) two\n"
    assert capfd.readouterr().out == "POLICY (info) three\n"


def test_a_file_that_cannot_be_opened_changes_nothing(
    system: LogSystem, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = configured(system)
    good, bad = f"{tmp_path}/good.log", f"{tmp_path}/none/bad.log"
    with pytest.raises(LogFileError):
        configured(
            system,
            LogModuleConfig(module="SERVER", output_file=good),
            LogModuleConfig(module="AGENT", enable="none", output_file=bad),
        )
    with pytest.raises(LogFileError):
        system.change(LogModuleConfig(module="SERVER", output_file=bad))
    log.info("still")
    system.log("AGENT").info("here")
    check_stderr(capfd, "SERVER (info) still", "AGENT (info) here")


def test_one_module_is_changed_at_run_time(system: LogSystem, capfd: pytest.CaptureFixture[str]) -> None:
    log = configured(system)
    system.change(LogModuleConfig(module="SERVER", enable="debug+", include_source=True))
    system.change(LogModuleConfig(module="SERVER", enable="debug"))
    assert switched_on(log) == ["debug"]
    given = {one.module: one for one in system.settings()}
    assert given["SERVER"] == LogModuleConfig(module="SERVER", enable="debug")
    assert given["DEFAULT"] == PLAIN
    assert given["AGENT"] == LogModuleConfig(module="AGENT")
    assert "MAIN" not in given
    log.debug("changed")
    check_stderr(capfd, "SERVER (debug) changed")


def test_a_change_of_default_is_a_change_of_all_that_inherit(system: LogSystem) -> None:
    log = configured(system, LogModuleConfig(module="AGENT", enable="info"))
    system.change(LogModuleConfig(module="DEFAULT", enable="critical"))
    assert (switched_on(log), switched_on(system.log("AGENT"))) == (["critical"], ["info"])


def test_the_last_thousand_entries_are_kept(system: LogSystem) -> None:
    log = configured(system, LogModuleConfig(module="SERVER", output_file="/dev/null"))
    log.debug("not written")
    for number in range(KEPT_ENTRIES + 5):
        log.info("entry %d", number)
    entries = system.recent()
    assert (len(entries), entries[0].text, entries[-1].text) == (1000, "entry 5", "entry 1004")
    assert [entry.text for entry in system.recent(2)] == ["entry 1003", "entry 1004"]
    assert (system.recent(0), len(system.recent(5000))) == ([], 1000)
    assert entries[0].module == "SERVER"
    assert entries[0].level is Level.INFO


def test_written_entries_are_counted_by_module_and_level(system: LogSystem) -> None:
    log = configured(system, LogModuleConfig(module="SERVER", output_file="/dev/null"))
    log.info("one")
    log.info("two")
    log.error("three")
    log.trace("not written")
    assert system.counts()["SERVER"] == dict.fromkeys(Level, 0) | {Level.INFO: 2, Level.ERROR: 1}
    assert system.counts()["AGENT"] == dict.fromkeys(Level, 0)


def test_json_lines_carry_the_router(system: LogSystem, capfd: pytest.CaptureFixture[str]) -> None:
    system.configure(LogConfig(modules=(PLAIN,)), router_id="QDR.A", as_json=True)
    system.log("SERVER").notice("%s opened", "[C7]")
    (line,) = capfd.readouterr().err.splitlines()
    members = json.loads(line)
    assert {name: members[name] for name in ("router", "module", "level", "text", "connection")} == {
        "router": "QDR.A",
        "module": "SERVER",
        "level": "notice",
        "text": "[C7] opened",
        "connection": 7,
    }


def test_an_exception_is_logged_with_its_traceback(system: LogSystem, capfd: pytest.CaptureFixture[str]) -> None:
    log = configured(system)
    try:
        raise ValueError("broken")
    except ValueError:
        log.exception("A fault")
    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "SERVER (error) A fault"
    assert lines[1] == "SERVER (error) Traceback (most recent call last):"
    assert lines[-1] == "SERVER (error) ValueError: broken"


def test_loggers_of_others_are_heard_from_warnings_on(system: LogSystem, capfd: pytest.CaptureFixture[str]) -> None:
    configured(system)
    other, loop = logging.Logger("ray.worker"), logging.Logger("asyncio")
    for logger in (other, loop):
        logger.addHandler(OtherLoggers(system))
    other.info("not heard")
    other.warning("heard")
    loop.error("heard %s", "too")
    system.change(LogModuleConfig(module="PYTHON", enable="none"))
    other.error("switched off")
    check_stderr(capfd, "PYTHON (warning) heard", "SERVER (error) heard too")


def test_a_text_that_does_not_fit_its_arguments_is_written_beside_them(
    system: LogSystem, capfd: pytest.CaptureFixture[str]
) -> None:
    log, other = configured(system), logging.Logger("other")
    other.addHandler(OtherLoggers(system))
    log.info("%d", "no number")
    other.warning("%s %s", "too few")
    check_stderr(capfd, "SERVER (info) %d ('no number',)", "PYTHON (warning) %s %s ('too few',)")


def test_a_renamed_file_is_begun_again_at_once(system: LogSystem, tmp_path: Path) -> None:
    path = tmp_path / "router.log"
    configured(system, LogModuleConfig(module="SERVER", output_file=str(path)))
    path.rename(tmp_path / "old.log")
    system.follow_files()
    assert path.exists()


def test_who_watches_a_module_is_told_when_its_levels_are_switched(system: LogSystem) -> None:
    told: list[list[str]] = []
    log = configured(system)

    def watcher() -> None:
        told.append(switched_on(log)[:1])

    log.watch(watcher)
    system.change(LogModuleConfig(module="SERVER", enable="trace+"))
    system.change(LogModuleConfig(module="SERVER", enable="error"))
    log.unwatch(watcher)
    system.change(LogModuleConfig(module="SERVER", enable="info"))
    assert told == [["trace"], ["error"]]


def test_what_somebody_asks_for_is_written_whatever_the_levels(
    system: LogSystem, capfd: pytest.CaptureFixture[str]
) -> None:
    configured(system).record(Level.TRACE, "100 %s of it")
    check_stderr(capfd, "SERVER (trace) 100 %s of it")
