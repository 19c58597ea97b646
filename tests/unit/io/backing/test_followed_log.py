"""The settings of the log in the processes that have no worker."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from routerd.config import LogConfig, parse_config
from routerd.core import RouterMode
from routerd.io import ConfigurationCopy, configuration_of, configure_logs, follow_log, log_settings, module_log
from routerd.management import Change, Configuration, ConfiguredEntity, find_entity_type

START = configuration_of(parse_config("router {\n id: R\n}\nlog {\n module: AGENT\n enable: info+\n}\n", "test.conf"))
FOLLOW = partial(follow_log, RouterMode.STANDALONE)


@pytest.fixture(autouse=True)
def _log() -> Iterator[None]:
    configure_logs(LogConfig(), router_id="R")
    yield
    configure_logs(LogConfig(), router_id="R")


def changed(file: str) -> Change:
    """Return a change of the log of AGENT: errors alone, in a file."""
    kind = find_entity_type("log")
    assert kind is not None
    values = dict.fromkeys(kind.attributes) | {"module": "AGENT", "enable": "error+", "outputFile": file}
    entity = ConfiguredEntity(type=kind, identity="log/AGENT", name=None, values=values)
    return Change(START.version, added=(entity,), removed=(entity.identity,))


def settings() -> tuple[str | None, str | None]:
    """Return the levels and the file of AGENT."""
    [found] = [one for one in log_settings() if one.module == "AGENT"]
    return found.enable, found.output_file


def test_a_copy_of_the_configuration_takes_the_changes_of_the_log(tmp_path: Path) -> None:
    file = tmp_path / "agent.log"
    copy = ConfigurationCopy(START, FOLLOW)
    copy.ask("prepare", changed(str(file)))
    assert settings() == (None, None)
    copy.ask("commit")
    assert settings() == ("error+", str(file))
    module_log("AGENT").error("something is wrong")
    assert "AGENT (error) something is wrong" in file.read_text()


def test_it_takes_those_of_a_whole_configuration_too(tmp_path: Path) -> None:
    file = tmp_path / "agent.log"
    copy = ConfigurationCopy(START, FOLLOW)
    copy.ask("configure", START.changed(changed(str(file))))
    assert settings() == ("error+", str(file))


def test_a_file_that_cannot_be_written_is_an_error_in_the_log(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    after: Configuration = START.changed(changed(str(tmp_path / "missing" / "agent.log")))
    FOLLOW(START, after)
    assert settings() == (None, None)
    assert "AGENT (error) Failed to open log file" in capfd.readouterr().err
