"""The settings of the log in the processes that have no worker."""

from functools import partial
from pathlib import Path

import pytest

from routerd.config import parse_config
from routerd.core import RouterMode
from routerd.io import ConfigurationCopy, configuration_of, follow_log
from routerd.io.backing import followed_log
from routerd.io.logs.log_system import LogSystem
from routerd.management import Change, Configuration, ConfiguredEntity, find_entity_type

START = configuration_of(parse_config("router {\n id: R\n}\nlog {\n module: AGENT\n enable: info+\n}\n", "test.conf"))
FOLLOW = partial(follow_log, RouterMode.STANDALONE)


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> LogSystem:
    """Return a log that stands in for that of the process, which other tests have, too."""
    mine = LogSystem()
    monkeypatch.setattr(followed_log, "change_log", mine.change)
    return mine


def changed(file: str) -> Change:
    """Return a change of the log of AGENT: errors alone, in a file."""
    kind = find_entity_type("log")
    assert kind is not None
    values = dict.fromkeys(kind.attributes) | {"module": "AGENT", "enable": "error+", "outputFile": file}
    entity = ConfiguredEntity(type=kind, identity="log/AGENT", name=None, values=values)
    return Change(START.version, added=(entity,), removed=(entity.identity,))


def settings(system: LogSystem) -> tuple[str | None, str | None]:
    """Return the levels and the file of AGENT."""
    [found] = [one for one in system.settings() if one.module == "AGENT"]
    return found.enable, found.output_file


def test_a_copy_of_the_configuration_takes_the_changes_of_the_log(tmp_path: Path, system: LogSystem) -> None:
    file = tmp_path / "agent.log"
    copy = ConfigurationCopy(START, FOLLOW)
    copy.ask("prepare", changed(str(file)))
    assert settings(system) == (None, None)
    copy.ask("commit")
    assert settings(system) == ("error+", str(file))
    system.log("AGENT").error("something is wrong")
    assert "AGENT (error) something is wrong" in file.read_text()


def test_it_takes_those_of_a_whole_configuration_too(tmp_path: Path, system: LogSystem) -> None:
    file = tmp_path / "agent.log"
    copy = ConfigurationCopy(START, FOLLOW)
    copy.ask("configure", START.changed(changed(str(file))))
    assert settings(system) == ("error+", str(file))


def test_a_file_that_cannot_be_written_is_an_error_in_the_log(
    tmp_path: Path, system: LogSystem, capfd: pytest.CaptureFixture[str]
) -> None:
    after: Configuration = START.changed(changed(str(tmp_path / "missing" / "agent.log")))
    FOLLOW(START, after)
    assert settings(system) == (None, None)
    assert "AGENT (error) Failed to open log file" in capfd.readouterr().err
