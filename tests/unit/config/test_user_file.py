"""The user file: what is in it, who may read it, and that writers do not lose each other's users."""

import json
import multiprocessing
import os
import re
import stat
from pathlib import Path

import pytest

from routerd.config import UserFileError, Users, editing, read_users
from routerd.config.user_file import NAME_MAX, PASSWORD_MAX
from routerd.wire import ValueRangeError
from routerd.wire.sasl import SCRAM_MECHANISMS


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A file that has alice."""
    name = str(tmp_path / "users")
    with editing(name) as users:
        users.put("alice", "secret")
    return name


def test_the_password_is_in_no_form_that_can_be_read(path: str) -> None:
    text = Path(path).read_text()
    assert "secret" not in text.replace('"secret": ', "")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_user_has_a_verifier_for_every_mechanism_each_with_a_salt_of_its_own(path: str) -> None:
    users = read_users(path)
    found = {name: one for name in SCRAM_MECHANISMS if (one := users.credentials(name, "alice")) is not None}
    assert [one.matches(name, "secret") for name, one in found.items()] == [True] * 3
    assert len({one.salt for one in found.values()}) == 3
    assert [users.credentials(name, "bob") for name in (*SCRAM_MECHANISMS, "PLAIN")] == [None] * 4


@pytest.mark.parametrize(
    ("name", "password", "is_right"),
    [("alice", "secret", True), ("alice", "Secret", False), ("alice", "", False), ("bob", "secret", False)],
)
def test_a_password_in_the_clear_is_held_against_the_verifier(
    path: str, name: str, password: str, is_right: bool
) -> None:
    assert read_users(path).has_password(name, password) is is_right


def test_names_that_nobody_has_look_like_users_whatever_the_iterations_are(path: str) -> None:
    with editing(path) as users:
        # She is alone in it.
        users.put("alice", "other", 10_000)
    users = read_users(path)
    assert users.has_password("alice", "other")
    found = users.credentials("SCRAM-SHA-256", "alice")
    assert found is not None
    assert (found.iterations, users.decoys.credentials("SCRAM-SHA-256", "bob").iterations) == (10_000, 10_000)


@pytest.mark.parametrize("iterations", [4095, 200_001])
def test_a_file_with_iterations_beyond_the_limits_is_refused(path: str, iterations: int) -> None:
    text = Path(path).read_text().replace('"iterations": 4096', f'"iterations": {iterations}')
    Path(path).write_text(text)
    with pytest.raises(UserFileError, match=f"{iterations} iterations are not 4096 to 200000"):
        read_users(path)


def test_names_and_passwords_are_prepared(path: str) -> None:
    with editing(path) as users:
        # A soft hyphen is nothing, a no-break space is a space, a Roman nine is two letters (RFC 4013).
        users.put("I\u00adX", "a\u00a0b")
    users = read_users(path)
    assert users.names() == ["IX", "alice"]
    assert users.has_password("\u2168", "a b")


@pytest.mark.parametrize("name", ["", "\u00ad", "a\0b", "\u0627a", "n" * (NAME_MAX + 1)])
def test_a_name_that_nobody_can_have_is_refused(path: str, name: str) -> None:
    before = Path(path).read_bytes()
    with pytest.raises(ValueRangeError), editing(path) as users:
        users.put(name, "secret")
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize("password", ["", "a\nb", "p" * (PASSWORD_MAX + 1)])
def test_a_password_that_cannot_be_one_is_refused(path: str, password: str) -> None:
    with pytest.raises(ValueRangeError), editing(path) as users:
        users.put("bob", password)


def test_what_is_shown_of_users_tells_nothing(path: str) -> None:
    users = read_users(path)
    assert "alice" not in repr(users)
    shown = repr(users.credentials("SCRAM-SHA-1", "alice"))
    assert re.fullmatch(r"ScramCredentials\(salt=b['\"].+['\"], iterations=\d+\)", shown)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601])
def test_a_file_that_others_can_reach_is_refused(path: str, mode: int) -> None:
    os.chmod(path, mode)
    with pytest.raises(UserFileError, match=f"^{path}: others than its owner may read or write it: chmod 600 {path}$"):
        read_users(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserFileError, match="none: No such file or directory"):
        read_users(str(tmp_path / "none"))
    with pytest.raises(UserFileError, match="No such file or directory"), editing(str(tmp_path / "no" / "users")):
        pass
    os.mkdir(tmp_path / "folder")
    with pytest.raises(UserFileError, match="Is a directory"):
        read_users(str(tmp_path / "folder"))


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{", "null", "[" * 100_000, '{"format": "other"}', "\udcff"),
        '{"format": "routerd users 1", "secret": "AAAA", "iterations": 4096, "users": {}}',
        '{"format": "routerd users 1", "secret": "%", "iterations": 4096, "users": {}}',
    ],
)
def test_a_file_of_another_kind_is_refused(path: str, text: str) -> None:
    Path(path).write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UserFileError, match="was not written by `routermanage user`"):
        read_users(path)


@pytest.mark.parametrize("change", [{"iterations": 10}, {"iterations": "x"}, {"users": []}, {"users": {"a": 1}}])
def test_a_file_with_a_wrong_member_is_refused(path: str, change: dict[str, object]) -> None:
    Path(path).write_text(json.dumps(json.loads(Path(path).read_text()) | change))
    with pytest.raises(UserFileError, match="was not written by `routermanage user`"):
        read_users(path)


@pytest.mark.parametrize("stored", [[], ["AAAA"] * 3, ["%", "%", "%"], 5, None])
def test_a_user_whose_verifier_makes_no_sense_is_nobody(path: str, stored: object) -> None:
    found = json.loads(Path(path).read_text())
    found["users"]["alice"] = dict.fromkeys(SCRAM_MECHANISMS, stored)
    Path(path).write_text(json.dumps(found))
    users = read_users(path)
    assert [users.credentials(name, "alice") for name in SCRAM_MECHANISMS] == [None] * 3
    assert users.has_password("alice", "secret") is False


def test_a_writer_that_fails_changes_nothing(path: str) -> None:
    before = Path(path).read_bytes()
    with pytest.raises(ValueRangeError):
        _add(path, "")
    assert Path(path).read_bytes() == before
    assert sorted(one.name for one in Path(path).parent.iterdir()) == ["users", "users.lock"]


def test_a_link_to_the_file_stays_one(path: str, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(path)
    with editing(str(link)) as users:
        users.put("bob", "secret")
    assert (link.is_symlink(), read_users(path).names()) == (True, ["alice", "bob"])


def test_an_unknown_user_has_the_same_salt_over_restarts(path: str) -> None:
    first, second = (read_users(path).decoys.credentials("SCRAM-SHA-256", "bob") for _ in range(2))
    assert first == second
    assert first != Users.nobody().decoys.credentials("SCRAM-SHA-256", "bob")


def _add(path: str, name: str) -> None:
    with editing(path) as users:
        users.put(name, "secret")


def test_writers_wait_for_each_other(path: str) -> None:
    spawning = multiprocessing.get_context("fork")
    writers = [spawning.Process(target=_add, args=(path, f"user{number}")) for number in range(6)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(20)
    assert [writer.exitcode for writer in writers] == [0] * 6
    assert read_users(path).names() == ["alice", *(f"user{number}" for number in range(6))]
