import os
from pathlib import Path

import pytest

from routerd.cli.daemon import DaemonError, PidFile, become_user


def test_a_pid_file_names_the_process_while_it_runs(tmp_path: Path) -> None:
    path = tmp_path / "routerd.pid"
    file = PidFile(str(path))
    file.write()
    assert path.read_text() == f"{os.getpid()}\n"
    file.remove()
    assert not path.exists()


def test_a_pid_file_of_another_process_stays(tmp_path: Path) -> None:
    path = tmp_path / "routerd.pid"
    file = PidFile(str(path))
    file.write()
    path.write_text("1\n")
    file.remove()
    assert path.read_text() == "1\n"


def test_a_pid_file_that_is_gone_is_no_fault(tmp_path: Path) -> None:
    PidFile(str(tmp_path / "routerd.pid")).remove()


def test_a_relative_pid_file_stays_where_it_was_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = PidFile("routerd.pid")
    monkeypatch.chdir("/")
    file.write()
    assert (tmp_path / "routerd.pid").exists()


def test_a_pid_file_that_cannot_be_written_says_why(tmp_path: Path) -> None:
    with pytest.raises(DaemonError) as raised:
        PidFile(f"{tmp_path}/none/routerd.pid").write()
    assert str(raised.value) == f"Cannot write pid file '{tmp_path}/none/routerd.pid': No such file or directory"


def test_a_user_has_to_exist() -> None:
    with pytest.raises(DaemonError, match=r"^There is no user 'nobody-of-that-name'$"):
        become_user("nobody-of-that-name")
