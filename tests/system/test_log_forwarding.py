import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from routerd.io import Level, LogReceiver
from routerd.io.logs.receiver import PENDING_MAX_BYTES, STDERR, STDOUT, ForwardedOutput, LogForwarder
from tests.system.launched import ROOT, environment
from tests.waiting import WITHIN_S, eventually

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def receiver(tmp_path: Path) -> Iterator[LogReceiver]:
    made = LogReceiver(str(tmp_path / "log"))
    yield made
    made.close()


def test_lines_come_out_of_the_stream_they_were_sent_to(receiver: LogReceiver, capfd: Capture) -> None:
    receiver.start()
    forwarder = LogForwarder(receiver.path)
    ForwardedOutput(forwarder, STDERR).write("an error\n", Level.ERROR)
    ForwardedOutput(forwarder, STDOUT).write("a word\n", Level.INFO)
    forwarder.close()
    receiver.close()
    assert tuple(capfd.readouterr()) == ("a word\n", "an error\n")


def test_a_sender_does_not_wait_for_a_reader_that_is_slow(receiver: LogReceiver, capfd: Capture) -> None:
    forwarder = LogForwarder(receiver.path)
    lines = [f"{number} {'x' * 100}\n" for number in range(6000)]
    for line in lines:
        assert forwarder.send(STDERR, line)
    receiver.start()
    forwarder.close()
    receiver.close()
    assert capfd.readouterr().err == "".join(lines)


@contextmanager
def stderr_in(path: Path) -> Iterator[None]:
    """Make standard error a file, which can be read while it grows."""
    before = os.dup(STDERR)
    with path.open("wb") as file:
        os.dup2(file.fileno(), STDERR)
    try:
        yield
    finally:
        os.dup2(before, STDERR)
        os.close(before)


def test_what_is_too_much_is_dropped_and_counted(receiver: LogReceiver, tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    forwarder = LogForwarder(receiver.path)
    line = "x" * 99_999 + "\n"
    sent = 3 * PENDING_MAX_BYTES // len(line)
    for _ in range(sent):
        forwarder.send(STDERR, line)
    with stderr_in(errors):
        receiver.start()
        eventually(lambda: forwarder.send(STDERR, "end\n") and "end\n" in errors.read_text(), "lines are taken again")
        forwarder.close()
    whole, dropped = errors.read_text().partition("end\n")[0].split("... ")
    assert whole == line * whole.count("\n")
    assert PENDING_MAX_BYTES <= len(whole) < sent * len(line)
    number, _, rest = dropped.partition(" ")
    assert rest == "lines of the log were dropped here\n"
    assert int(number) >= sent - whole.count("\n")


def test_without_an_owner_lines_go_to_the_own_streams(tmp_path: Path, capfd: Capture) -> None:
    output = ForwardedOutput(LogForwarder(str(tmp_path / "nobody")), STDERR)
    output.write("here\n", Level.INFO)
    assert capfd.readouterr().err == "here\n"


def test_when_the_owner_is_gone_lines_go_to_the_own_streams(receiver: LogReceiver, capfd: Capture) -> None:
    receiver.start()
    forwarder = LogForwarder(receiver.path)
    output = ForwardedOutput(forwarder, STDERR)
    receiver.close()
    eventually(lambda: not forwarder.send(STDERR, "lost\n"), "the end of the owner is noticed")
    capfd.readouterr()
    output.write("here\n", Level.INFO)
    assert capfd.readouterr().err == "here\n"


PROGRAM = """
import sys
from routerd.config import LogConfig, LogModuleConfig
from routerd.io import configure_logs, finish_logs, forward_logs, module_log
forward_logs(sys.argv[1])
configure_logs(LogConfig(modules=(LogModuleConfig(module="DEFAULT", include_timestamp=False),)), router_id="R")
for number in range(1000):
    module_log("SERVER").info("%s %d", sys.argv[2], number)
finish_logs()
"""


def test_the_lines_of_several_processes_stay_whole_and_in_order(receiver: LogReceiver, capfd: Capture) -> None:
    receiver.start()
    command = [sys.executable, "-c", PROGRAM, receiver.path]
    senders = [
        subprocess.Popen([*command, name], cwd=ROOT, env=environment(), stderr=subprocess.DEVNULL) for name in "abc"
    ]
    assert [sender.wait(WITHIN_S) for sender in senders] == [0, 0, 0]
    receiver.close()
    lines = capfd.readouterr().err.splitlines()
    for name in "abc":
        assert [line for line in lines if line.startswith(f"SERVER (info) {name} ")] == [
            f"SERVER (info) {name} {number}" for number in range(1000)
        ]
    assert len(lines) == 3000
