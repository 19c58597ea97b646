"""The folder that the processes of a router share."""

import errno
import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from actors import process
from actors.errors import FolderRefused
from actors.process import ProcessConfig, clear, clear_sockets, leave_folder, settle
from actors.pulse import Pulse


def test_a_folder_that_others_can_write_into_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(FolderRefused) as refused:
        settle(ProcessConfig(router_id="A", role="table", folder=str(folder)))
    assert str(refused.value) == f"runtime folder {folder} must be ours, and writable by nobody else"
    assert list(folder.iterdir()) == []


def test_what_actors_leave_in_a_folder_is_removed_and_nothing_else(tmp_path: Path) -> None:
    for name in ("table.pulse", "connection.0.pulse", "0-18ea19049a76da73", "log", "ray"):
        (tmp_path / name).write_bytes(b"")
    clear(str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == ["log", "ray"]
    clear(str(tmp_path / "gone"))


def test_a_worker_removes_the_sockets_of_its_former_incarnations(tmp_path: Path) -> None:
    for name in ("1-18ea19049a76da73", "1-2", "11-18ea19049a76da73", "1.pulse"):
        (tmp_path / name).write_bytes(b"")
    clear_sockets(str(tmp_path), 1)
    assert sorted(os.listdir(tmp_path)) == ["1.pulse", "11-18ea19049a76da73"]


def test_an_actor_beside_the_launcher_has_its_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the actor changes is put back after the test.
    monkeypatch.chdir(tmp_path)
    there = tmp_path / "there"
    there.mkdir()
    beside = ProcessConfig(router_id="A", role="table", folder=str(tmp_path / "run"), directory=str(there))
    settle(replace(beside, is_away=True)).close()
    assert Path.cwd() == tmp_path
    settle(replace(beside, directory=str(tmp_path / "missing"))).close()
    assert Path.cwd() == tmp_path
    settle(beside).close()
    assert Path.cwd() == there


def test_an_actor_waits_for_room_for_its_pulse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    failures = [OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))] * 2
    slept: list[float] = []

    def begin(path: str) -> Pulse:
        if failures:
            raise failures.pop()
        return Pulse(path)

    monkeypatch.setattr(process, "Pulse", begin)
    monkeypatch.setattr(process.time, "sleep", slept.append)
    settle(ProcessConfig(router_id="A", role="table", folder=str(folder))).close()
    assert len(slept) == 2
    assert capfd.readouterr().err.count(f"Actor table waits for room in {folder}: No space left on device") == 1


HOME = ProcessConfig(
    router_id="A",
    role="connection.1",
    folder="/run/a",
    log_socket="/run/a/log",
    home="0123456789abcdef",
    away_folder="/tmp/routerd-77",
    began_ns=1_700_000_000_000_000_000,
)


def test_on_another_node_there_is_nothing_of_the_launchers_files() -> None:
    assert HOME.at("0123456789abcdef") is HOME
    away = HOME.at("fedcba9876543210")
    folder = "/tmp/routerd-77-fedcba98"
    assert away == replace(HOME, folder=folder, log_socket=f"{folder}/connection.1.log", is_away=True)
    assert replace(HOME, role="table").at("fedcba9876543210").log_socket is None
    assert replace(HOME, log_socket=None).at("fedcba9876543210").log_socket is None
    alone = replace(HOME, home="")
    assert alone.at("fedcba9876543210") is alone


def test_numbers_of_starts_grow_whatever_the_clocks_say_and_fit_into_a_long() -> None:
    numbers = [HOME.number_of(restarts) for restarts in (0, 1, 2, 1_000_000)]
    assert numbers == sorted(numbers)
    # An actor counts on from its number whenever it has to join again.
    assert min(later - earlier for earlier, later in pairwise(numbers)) > 1_000_000
    assert numbers[-1] < 1 << 63


def test_a_router_that_is_started_anew_has_higher_numbers_than_its_restarted_actors_had() -> None:
    began_ns = 1_700_000_000_000_000_000
    before = replace(HOME, began_ns=began_ns).number_of(50)
    assert replace(HOME, began_ns=began_ns + 50 * 20_000_000).number_of(0) > before + 1_000_000


@pytest.mark.parametrize(
    ("is_away", "is_without_launcher", "is_there"),
    [(False, False, True), (False, True, False), (True, False, False)],
    ids=["the launcher's", "left by the launcher", "away"],
)
def test_an_actor_takes_along_what_is_its_own(
    tmp_path: Path, is_away: bool, is_without_launcher: bool, is_there: bool
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("connection.1.pulse", "connection.1.log", "1-18ea19049a76da73"):
        (folder / name).write_bytes(b"")
    config = replace(HOME, folder=str(folder), is_away=is_away)
    (folder / "connection.2.pulse").write_bytes(b"")
    leave_folder(config, is_without_launcher=is_without_launcher)
    assert os.listdir(folder) == ["connection.2.pulse"]
    leave_folder(replace(config, role="connection.2"), is_without_launcher=is_without_launcher)
    assert folder.exists() == is_there
