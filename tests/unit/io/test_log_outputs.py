import os
import pickle
import threading
from pathlib import Path

import pytest

from routerd.io.log_levels import Level
from routerd.io.log_outputs import FileOutput, LogFileError, StreamOutput


def test_a_file_is_appended_to_and_several_share_it(tmp_path: Path) -> None:
    path = tmp_path / "router.log"
    path.write_text("before\n")
    one, other = FileOutput(str(path)), FileOutput(str(path))
    one.write("1\n", Level.INFO)
    other.write("2\n", Level.INFO)
    one.write("3 \udc80\n", Level.INFO)
    assert path.read_text() == "before\n1\n2\n3 \\udc80\n"
    one.close()
    other.close()


def test_a_file_that_was_renamed_is_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "router.log"
    output = FileOutput(str(path))
    output.write("1\n", Level.INFO)
    path.rename(tmp_path / "router.log.1")
    output.write("2\n", Level.INFO)
    assert (path.read_text(), (tmp_path / "router.log.1").read_text()) == ("2\n", "1\n")
    path.unlink()
    output.follow()
    assert path.read_text() == ""
    output.close()


def test_a_file_that_cannot_be_begun_again_goes_on_where_it_was(tmp_path: Path) -> None:
    folder, moved = tmp_path / "folder", tmp_path / "moved"
    folder.mkdir()
    output = FileOutput(str(folder / "router.log"))
    folder.rename(moved)
    output.write("1\n", Level.INFO)
    assert (moved / "router.log").read_text() == "1\n"
    output.close()


def test_a_file_that_cannot_be_opened_says_which_and_why(tmp_path: Path) -> None:
    path = f"{tmp_path}/none/router.log"
    with pytest.raises(LogFileError) as raised:
        FileOutput(path)
    assert str(raised.value) == f"Failed to open log file '{path}': No such file or directory"
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.path, again.reason, str(again)) == (path, "No such file or directory", str(raised.value))


def test_a_full_disk_loses_lines_and_nothing_else() -> None:
    output = FileOutput("/dev/full")
    output.write("lost\n", Level.INFO)
    output.close()


def test_the_streams_of_the_process_are_written_to(capfd: pytest.CaptureFixture[str]) -> None:
    StreamOutput(2).write("to stderr\n", Level.INFO)
    StreamOutput(1).write("to stdout\n", Level.INFO)
    assert tuple(capfd.readouterr()) == ("to stdout\n", "to stderr\n")


def test_a_stream_that_somebody_made_non_blocking_gets_everything() -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    line = "x" * 300_000 + "\n"
    writing = threading.Thread(target=StreamOutput(writer).write, args=(line, Level.INFO))
    writing.start()
    received = b""
    while not received.endswith(b"\n"):
        received += os.read(reader, 1 << 16)
    writing.join()
    assert received.decode() == line
    os.close(reader)
    os.close(writer)


def test_a_stream_that_is_closed_loses_lines_and_nothing_else() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    StreamOutput(writer).write("lost\n", Level.INFO)
    os.close(writer)
