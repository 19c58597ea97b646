import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from routerd.cli.runtime_folder import RuntimeFolderError, runtime_folder


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
