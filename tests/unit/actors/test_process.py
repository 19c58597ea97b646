"""The folder that the processes of a router share."""

import os
from pathlib import Path

import pytest

from actors.errors import FolderRefused
from actors.process import ProcessConfig, clear, clear_sockets, settle


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
