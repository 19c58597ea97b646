"""The users of a file while a worker runs."""

import os
from pathlib import Path

import pytest

from routerd.config import UserFileError, editing
from routerd.io.auth.threads import AuthenticationThreads
from routerd.io.auth.users import LOOK_S, FileUsers, nonce


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> str:
    name = str(tmp_path / "users")
    add(name, "alice")
    return name


def add(path: str, name: str) -> None:
    with editing(path) as users:
        users.put(name, "secret")


def test_a_file_that_cannot_be_used_is_told_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(UserFileError):
        FileUsers(str(tmp_path / "none"), Clock())


def test_the_mechanisms_are_the_strongest_first(path: str) -> None:
    offered = FileUsers(path, Clock()).mechanisms(AuthenticationThreads(lambda *_: None), lambda step: None)
    assert [one.name for one in offered] == ["SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-1", "PLAIN"]


def test_a_change_is_noticed_after_a_moment(path: str) -> None:
    clock = Clock()
    users = FileUsers(path, clock)
    add(path, "bob")
    assert users.look().names() == ["alice"]
    clock.now += LOOK_S
    assert users.look().names() == ["alice", "bob"]


def test_a_file_that_breaks_leaves_the_users_as_they_were_and_is_told_once(
    path: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr("routerd.io.auth.users._log.warning", lambda text, *more: told.append(text % more))
    clock = Clock()
    users = FileUsers(path, clock)
    before = Path(path).read_bytes()
    for text in (b"{", b"{}"):
        clock.now += LOOK_S
        Path(path).write_bytes(text)
        assert users.look().names() == ["alice"]
    clock.now += LOOK_S
    os.unlink(path)
    assert users.look().names() == ["alice"]
    assert [one.partition(path)[0] for one in told] == ["The users stay as they were: "] * len(told)
    assert len(told) == 3
    clock.now += LOOK_S
    assert users.look().names() == ["alice"]
    assert len(told) == 3
    Path(path).write_bytes(before)
    os.chmod(path, 0o600)
    add(path, "bob")
    clock.now += LOOK_S
    assert users.look().names() == ["alice", "bob"]


def test_no_two_exchanges_have_the_same_nonce() -> None:
    assert len({nonce() for _ in range(1000)}) == 1000
