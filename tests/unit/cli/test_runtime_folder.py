import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from routerd.cli import runtime_folder as module
from routerd.cli.runtime_folder import LOG_SOCKET, MARK, RAY_FOLDER, SESSION, RuntimeFolderError, runtime_folder


def test_a_private_folder_is_made_and_removed() -> None:
    with runtime_folder(None, is_kept=False) as folder:
        assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700
        Path(folder, "socket").touch()
    assert not Path(folder).exists()


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder with a short name, as a socket needs it."""
    with tempfile.TemporaryDirectory(dir="/tmp") as made:
        yield Path(made)


def test_a_folder_that_is_named_is_made_and_stays(place: Path) -> None:
    with runtime_folder(str(place / "a" / "b"), is_kept=False) as folder:
        assert folder == str(place / "a" / "b")
    assert stat.S_IMODE(Path(folder).stat().st_mode) == 0o700


def test_a_private_folder_can_be_kept() -> None:
    with runtime_folder(None, is_kept=True) as folder:
        pass
    Path(folder).rmdir()


def test_a_folder_that_others_can_write_to_is_refused(place: Path) -> None:
    place.chmod(0o777)
    with (
        pytest.raises(RuntimeFolderError, match="it must be ours and writable by nobody else"),
        runtime_folder(str(place), is_kept=False),
    ):
        pass


def test_a_folder_that_cannot_be_made_says_why(place: Path) -> None:
    (place / "file").touch()
    folder = runtime_folder(f"{place}/file/x", is_kept=False)
    with pytest.raises(RuntimeFolderError, match="Not a directory"), folder:
        pass


def test_a_folder_whose_name_is_too_long_for_sockets_is_refused(tmp_path: Path) -> None:
    folder = runtime_folder(f"{tmp_path}/{'x' * 80}", is_kept=False)
    with pytest.raises(RuntimeFolderError, match="too long for sockets in it, at most 80 octets"), folder:
        pass


def test_what_a_killed_launcher_has_left_is_removed_by_the_next(monkeypatch: pytest.MonkeyPatch, place: Path) -> None:
    monkeypatch.setattr(module, "PREFIX", f"{place.name}-")
    with runtime_folder(None, is_kept=True) as kept, runtime_folder(None, is_kept=False) as used:
        # Its lock ends with a launcher, its mark does not.
        left = Path(tempfile.mkdtemp(prefix=module.PREFIX, dir="/tmp"))
        for file in (left / MARK, left / "connection.0.pulse", left / "ray" / "token"):
            file.parent.mkdir(exist_ok=True)
            file.touch()
        # A launcher that has not locked its folder yet, or the folder of an actor without a launcher.
        young = Path(tempfile.mkdtemp(prefix=module.PREFIX, dir="/tmp"))
        with runtime_folder(None, is_kept=False):
            assert [Path(one).exists() for one in (kept, used, left, young)] == [True, True, False, True]
    young.rmdir()
    Path(kept).rmdir()


def test_a_folder_serves_one_router_at_a_time(place: Path) -> None:
    second = runtime_folder(str(place), is_kept=False)
    with (
        runtime_folder(str(place), is_kept=False),
        pytest.raises(RuntimeFolderError, match=f"'{place}': another router uses it, each needs its own"),
        second,
    ):
        pass
    with runtime_folder(str(place), is_kept=False):
        pass


def test_a_folder_that_is_named_is_used_again_after_its_launcher_was_killed(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(place / LOG_SOCKET))
    (place / RAY_FOLDER / SESSION).mkdir(parents=True)
    with runtime_folder(str(place), is_kept=False):
        assert list(place.iterdir()) == []


def test_what_is_only_called_like_the_folder_of_ray_stays(place: Path) -> None:
    (place / RAY_FOLDER / "thesis").mkdir(parents=True)
    with runtime_folder(str(place), is_kept=False):
        assert (place / RAY_FOLDER / "thesis").is_dir()
