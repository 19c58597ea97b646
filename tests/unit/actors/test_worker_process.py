"""How a process becomes one of Ray's workers."""

import subprocess
import sys
from pathlib import Path

import pytest

from actors import lean_worker, worker_process
from actors.errors import NoRoom
from actors.own_ray import OwnRay
from actors.worker_process import (
    AGAIN_S,
    NEEDED_BYTES,
    NEEDED_FILES,
    command,
    shortage_in,
    shortage_of,
    wait_for_room,
)

FOLDER = str(Path(lean_worker.__file__).parent)
WORKER = ["default_worker.py", "--node-id=1", "--worker-id=2"]


def test_a_worker_is_started_without_a_detour() -> None:
    assert command([*WORKER, "--language=PYTHON"]) == [lean_worker.__file__, *WORKER]


def test_a_script_is_run_as_if_it_were_the_program(tmp_path: Path) -> None:
    script = tmp_path / "worker.py"
    script.write_text(
        f"import sys; print(__name__, {str(tmp_path)!r} in sys.path, {FOLDER!r} in sys.path, sys.argv[1:])"
    )
    program = [sys.executable, lean_worker.__file__, str(script), "--node-id=1"]
    done = subprocess.run(program, capture_output=True, text=True, check=True, cwd="/", env={})
    # Modules of the folder of ours would hide others of the same name.
    assert done.stdout.strip() == "__main__ True False ['--node-id=1']"


def test_ray_does_not_import_what_actors_have_no_use_for(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    script = tmp_path / "worker.py"
    script.write_text(
        "import sys; from ray._private.serialization import SerializationContext\n"
        "class Worker: current_job_id = None\n"
        "SerializationContext(Worker()); print('pyarrow' in sys.modules)"
    )
    for program, is_imported in (([sys.executable, lean_worker.__file__], False), ([sys.executable], True)):
        done = subprocess.run([*program, str(script)], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == str(is_imported)


def test_a_worker_with_an_environment_of_its_own_is_left_to_ray() -> None:
    arguments = [*WORKER, "--language=PYTHON", '--serialized-runtime-env-context={"env_vars": {"A": "1"}}']
    script, *rest = command(arguments)
    assert Path(script).name == "setup_worker.py"
    assert rest == arguments


def test_a_worker_waits_until_there_is_room_in_its_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(worker_process.time, "sleep", slept.append)
    asked: list[str] = []

    def shortage(folder: str) -> str | None:
        asked.append(folder)
        return "none is left" if len(asked) < 3 else None

    monkeypatch.setattr(worker_process, "shortage_in", shortage)
    wait_for_room([*WORKER, "--temp-dir=/run/r/ray"])
    assert (asked, slept) == (["/run/r/ray"] * 3, [AGAIN_S] * 2)
    wait_for_room(WORKER)
    assert len(asked) == 3


def test_the_first_thing_that_a_worker_runs_is_run_by_the_name_of_its_file(tmp_path: Path) -> None:
    # Its parent is this process, and so it goes on to the command.
    script = tmp_path / "default_worker.py"
    script.write_text("import sys; print(sys.argv)")
    program = [sys.executable, worker_process.__file__, str(script), "--node-id=1", "--language=PYTHON"]
    done = subprocess.run(program, capture_output=True, text=True, check=True, cwd="/", env={})
    assert done.stdout.strip() == str([str(script), "--node-id=1"])


class Left:
    """What a file system says of itself."""

    def __init__(self, blocks: int, files: int, of_files: int = 1000) -> None:
        self.f_bavail, self.f_frsize, self.f_favail, self.f_files = blocks, 4096, files, of_files


@pytest.mark.parametrize(
    ("left", "expected"),
    [
        (Left(NEEDED_BYTES // 4096, NEEDED_FILES), None),
        (Left(255, NEEDED_FILES), "the file system of /run has 1020 KiB free, 1024 KiB are needed"),
        (Left(1000, 15), "the file system of /run can have 15 more files, 16 are needed"),
        (Left(1000, 0, 0), None),
    ],
)
def test_a_shortage_names_the_value_and_the_limit(
    monkeypatch: pytest.MonkeyPatch, left: Left, expected: str | None
) -> None:
    monkeypatch.setattr("actors.worker_process.os.statvfs", lambda folder: left)
    assert shortage_in("/run") == shortage_of(["/run", "/run"]) == expected


def test_a_ray_is_not_started_where_there_is_no_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("actors.worker_process.os.statvfs", lambda folder: Left(256, NEEDED_FILES))
    with pytest.raises(NoRoom) as refused:
        OwnRay(str(tmp_path)).start("tests")
    assert str(refused.value) == (
        f"the file system of {tmp_path} has 1024 KiB free, 32768 KiB are needed:"
        " make room, or name another runtime_directory"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_gone_lacks_nothing() -> None:
    assert shortage_in("/nowhere/at/all") is None
