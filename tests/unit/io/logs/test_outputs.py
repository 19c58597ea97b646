import fcntl
import os
import pickle
import syslog
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from routerd.io.logs.levels import Level
from routerd.io.logs.line_writer import PENDING_MAX_BYTES
from routerd.io.logs.outputs import SYSLOG_PENDING_MAX, FileOutput, LogFileError, StreamOutput, SyslogOutput


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


class Pipe:
    """A stream that is read when the test says so."""

    def __init__(self) -> None:
        self.reader, writer = os.pipe()
        self.writer = writer
        self.output = StreamOutput(writer)

    def fill(self) -> int:
        """Write until the pipe is full, and something waits; return how many lines that were."""
        room = fcntl.fcntl(self.writer, fcntl.F_GETPIPE_SZ)
        lines = room // LINE_OCTETS + 1
        for number in range(lines):
            self.output.write(line_of(number), Level.INFO)
        return lines

    def read_to(self, end: bytes) -> str:
        """Read up to some octets."""
        received = b""
        while not received.endswith(end):
            received += os.read(self.reader, 1 << 16)
        return received.decode()

    def close(self) -> None:
        os.close(self.reader)
        self.output.finish()
        os.close(self.writer)


LINE_OCTETS = 1 << 10


def line_of(number: int) -> str:
    return f"{number} ".ljust(LINE_OCTETS - 1, "x") + "\n"


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    pipe.close()


def test_nobody_waits_for_a_reader_that_does_not_read(pipe: Pipe) -> None:
    count = pipe.fill()
    assert pipe.read_to(line_of(count - 1).encode()) == "".join(map(line_of, range(count)))
    pipe.output.finish()
    pipe.output.write("later\n", Level.INFO)
    assert pipe.read_to(b"later\n") == "later\n"


def test_lines_that_are_too_many_for_a_reader_are_dropped_and_counted(pipe: Pipe) -> None:
    count = pipe.fill()
    for number in range(count, count + 2 * PENDING_MAX_BYTES // LINE_OCTETS):
        pipe.output.write(line_of(number), Level.INFO)
    received = pipe.read_to(b"dropped here\n").splitlines(keepends=True)
    *kept, note = received
    assert kept == [line_of(number) for number in range(len(kept))]
    dropped = count + 2 * PENDING_MAX_BYTES // LINE_OCTETS - len(kept)
    assert note == f"... {dropped} lines of the log were dropped here\n"
    assert len(kept) * LINE_OCTETS > PENDING_MAX_BYTES


def test_a_reader_that_goes_away_loses_lines_and_nothing_else(pipe: Pipe) -> None:
    pipe.fill()
    os.close(pipe.reader)
    pipe.output.finish()
    pipe.output.write("lost\n", Level.INFO)
    pipe.reader = os.open(os.devnull, os.O_RDONLY)


def test_a_pipe_is_closed_once_its_reader_has_all(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    output = FileOutput(str(path))
    room = fcntl.fcntl(reader, fcntl.F_GETPIPE_SZ)
    lines = "".join(map(line_of, range(room // LINE_OCTETS + 1)))
    output.write(lines, Level.INFO)
    output.close()
    output.write("too late\n", Level.INFO)
    os.set_blocking(reader, True)
    received = b""
    while octets := os.read(reader, 1 << 16):
        received += octets
    assert received.decode() == lines
    os.close(reader)


def test_nobody_waits_for_the_log_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    may_go_on = threading.Event()
    taken: list[tuple[int, str]] = []

    def take(priority: int, text: str) -> None:
        may_go_on.wait()
        taken.append((priority, text))

    monkeypatch.setattr(syslog, "syslog", take)
    output = SyslogOutput()
    count = SYSLOG_PENDING_MAX + 10
    for number in range(count):
        output.write(f"{number}\n", Level.ERROR)
    assert taken == []
    may_go_on.set()
    output.finish()
    *lines, note = taken
    assert lines == [(syslog.LOG_ERR, str(number)) for number in range(len(lines))]
    dropped = count - len(lines)
    assert 0 < dropped <= 10
    assert note == (syslog.LOG_WARNING, f"... {dropped} lines of the log were dropped here")
    output.close()
