"""The router in the background."""

import os
import pwd
import re
import signal
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.free_ports import free_port
from tests.system.launched import answers_amqp, router_conf, run
from tests.waiting import eventually

NOBODY = "nobody"


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    for file in tmp_path.glob("*.pid"):
        if (pid := int(file.read_text() or 0)) and is_running(pid):
            os.kill(pid, signal.SIGKILL)


def written(folder: Path, port: int) -> None:
    log = "log {\n module: DEFAULT\n outputFile: router.log\n}"
    (folder / "router.conf").write_text(router_conf(f" host: 127.0.0.1\n port: {port}\n name: main", more=log))


def test_the_command_ends_when_the_daemon_is_ready_and_the_daemon_when_it_is_told(folder: Path) -> None:
    port = free_port()
    written(folder, port)
    # Relative names stay where they were meant, though the daemon's folder is the root.
    done = run("-d", "-c", "router.conf", "-P", "routerd.pid", "-I", ".", "--in-process", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert answers_amqp(port)
    text = (folder / "routerd.pid").read_text()
    pid = int(text)
    assert text == f"{pid}\n"
    assert os.getsid(pid) not in (pid, os.getsid(0))
    assert os.readlink(f"/proc/{pid}/cwd") == "/"
    assert [os.readlink(f"/proc/{pid}/fd/{number}") for number in range(3)] == ["/dev/null"] * 3
    assert [stat.S_IMODE((folder / name).stat().st_mode) for name in ("routerd.pid", "router.log")] == [0o644] * 2
    os.kill(pid, signal.SIGTERM)
    eventually(lambda: not is_running(pid), "the daemon ends")
    assert not (folder / "routerd.pid").exists()
    assert "Router ended in order" in (folder / "router.log").read_text()


def test_a_log_that_is_lost_is_told(folder: Path) -> None:
    lost = (
        "goes to standard output or error, which a daemon does not have, and is lost: name a file in 'outputFile' of a "
        "section 'log', or syslog\n"
    )
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        main = f" host: 127.0.0.1\n port: {port}"
        for log, what in (
            ("", "the log"),
            (
                "log {\n module: DEFAULT\n outputFile: router.log\n}\nlog {\n module: AGENT\n outputFile: stderr\n}",
                "the log of AGENT",
            ),
        ):
            (folder / "router.conf").write_text(router_conf(main, more=log))
            done = run("-d", "-c", "router.conf", "--in-process", cwd=folder)
            assert done.stderr.partition("\n")[0].endswith(f": -d: {what} {lost.strip()}")


def test_a_daemon_that_cannot_listen_is_reported_by_the_command(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        written(folder, port)
        done = run("-d", "-c", "router.conf", "-P", "routerd.pid", "--in-process", cwd=folder)
    assert done.returncode == 1
    assert done.stderr.endswith(f": Listener error on 127.0.0.1:{port} (main): Address already in use\n")
    assert not (folder / "routerd.pid").exists()


def test_a_pid_file_that_cannot_be_written_is_reported_by_the_command(folder: Path) -> None:
    written(folder, 0)
    done = run("-d", "-c", "router.conf", "-P", "none/routerd.pid", "--in-process", cwd=folder)
    assert done.returncode == 1
    assert done.stderr.endswith(f": Cannot write pid file '{folder}/none/routerd.pid': No such file or directory\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_daemon_can_become_another_user(folder: Path) -> None:
    written(folder, 0)
    config = folder / "router.conf"
    config.write_text(config.read_text().replace("router.log", "/dev/null"))
    done = run("-d", "-c", "router.conf", "-P", "routerd.pid", "-U", NOBODY, "--in-process", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    pid = int((folder / "routerd.pid").read_text())
    user = pwd.getpwnam(NOBODY)
    found = re.findall(r"^[UG]id:\t(.*)$", Path(f"/proc/{pid}/status").read_text(), re.M)
    assert [ids.split() for ids in found] == [[str(user.pw_uid)] * 4, [str(user.pw_gid)] * 4]
    os.kill(pid, signal.SIGTERM)
    eventually(lambda: not is_running(pid), "the daemon ends")


def test_a_user_that_does_not_exist_is_reported_by_the_command(folder: Path) -> None:
    written(folder, 0)
    done = run("-d", "-c", "router.conf", "-P", "routerd.pid", "-U", "nobody-of-that-name", "--in-process", cwd=folder)
    assert done.returncode == 1
    assert done.stderr.endswith(": There is no user 'nobody-of-that-name'\n")
    assert not (folder / "routerd.pid").exists()
