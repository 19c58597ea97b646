"""`routermanage user`: what it does to the file, and what it refuses."""

import io
from pathlib import Path

import pytest

from routerd.cli.routermanage import main
from routerd.config import read_users


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file that the environment names."""
    monkeypatch.setenv("ROUTERD_USER_FILE", str(tmp_path / "users"))
    (tmp_path / "secret").write_text("pencil\nmore\n")
    monkeypatch.chdir(tmp_path)
    return str(tmp_path / "users")


def test_users_come_and_go(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("bob", "alice"):
        assert main(["user", "add", name, "--password-file", "secret"]) == 0
    assert main(["user", "list"]) == 0
    assert main(["user", "del", "bob"]) == 0
    assert main(["USER", "list", "--user-file", path]) == 0
    assert capsys.readouterr() == ("alice\nbob\nalice\n", "")
    assert read_users(path).has_password("alice", "pencil")


def test_a_password_may_come_from_stdin(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("rubber\n"))
    assert main(["user", "add", "alice", "--password-file", "-"]) == 0
    assert read_users(path).has_password("alice", "rubber")


def test_a_password_is_changed(path: str) -> None:
    main(["user", "add", "alice", "--password-file", "secret"])
    Path("secret").write_text("rubber")
    assert main(["user", "passwd", "alice", "--password-file", "secret"]) == 0
    users = read_users(path)
    assert (users.has_password("alice", "pencil"), users.has_password("alice", "rubber")) == (False, True)


def test_a_new_file_has_as_many_iterations_as_are_asked_for(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    add = ["user", "add", "--password-file", "secret"]
    assert main([*add, "alice", "--iterations", "20000"]) == 0
    assert main([*add, "bob"]) == 0
    assert main([*add, "carol", "--iterations", "20000"]) == 0
    users = read_users(path)
    found = [users.credentials("SCRAM-SHA-256", name) for name in users.names()]
    assert [one and one.iterations for one in found] == [20_000] * 3
    with pytest.raises(SystemExit):
        main([*add, "dave", "--iterations", "30000"])
    told = "all users of a file have the same number of iterations, 20000 in this one; different numbers would tell"
    assert told in capsys.readouterr().err
    assert read_users(path).names() == ["alice", "bob", "carol"]


def test_a_password_is_asked_for_twice(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("routerd.cli.manage.users.getpass", lambda prompt: asked.append(prompt) or "rubber")
    assert main(["user", "add", "alice"]) == 0
    assert asked == ["New password of alice: ", "Once more: "]
    assert read_users(path).has_password("alice", "rubber")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["del", "bob"], "there is no user bob"),
        (["passwd", "bob", "--password-file", "secret"], "there is no user bob"),
        (["add", "alice", "--password-file", "secret"], "there is a user alice already"),
    ],
)
def test_a_user_that_does_not_fit_is_refused(
    path: str, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    main(["user", "add", "alice", "--password-file", "secret"])
    assert main(["user", *arguments]) == 1
    assert f"routermanage: {path}: {message}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "user needs one of add, passwd, del, list"),
        (["lst"], "did you mean list?"),
        (["list", "alice"], "user list takes no name"),
        (["add"], "user add needs the name of one user"),
        (["add", "alice", "pencil"], "and no password"),
        (["add", "alice", "--password-file", "none"], "none cannot be read: No such file or directory"),
        (["add", "al\0ice", "--password-file", "secret"], "no name or password can be like this"),
        (["add", "alice"], "at a terminal only"),
        (
            ["add", "alice", "--password-file", "secret", "--iterations", "4095"],
            "4095 iterations are not 4096 to 200000",
        ),
        (["add", "alice", "--password-file", "secret", "--iterations", "200001"], "200001 iterations are not"),
    ],
)
def test_what_makes_no_sense_is_told(
    path: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(SystemExit) as ended:
        main(["user", *arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not Path(path).exists()


def test_a_list_of_nobody_is_told(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["user", "list"]) == 1
    assert "No such file or directory" in capsys.readouterr().err
