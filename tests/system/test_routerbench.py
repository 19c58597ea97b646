"""routerbench client to client: what it prints, and how it ends."""

import json
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import WITHIN_S, eventually

ROOT = Path(__file__).resolve().parents[2]
PROCESSES = pytest.mark.parametrize("processes", ["0", "1", "2"])


def start(*arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "routerd.cli.routerbench", *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@contextmanager
def running(*arguments: str) -> "Iterator[subprocess.Popen[str]]":
    process = start(*arguments)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def run(*arguments: str) -> tuple[int, str, str]:
    """Return the exit status, standard output and standard error of a run."""
    with running(*arguments) as process:
        output, errors = process.communicate(timeout=WITHIN_S)
        return process.returncode, output, errors


def figures(*arguments: str) -> dict[str, Any]:
    """Return the figures of a run in which all went well."""
    status, output, errors = run("--quiet", "--json", *arguments)
    assert (status, errors) == (0, "")
    found: dict[str, Any] = json.loads(output)
    return found


@PROCESSES
def test_every_message_is_received_and_accepted(processes: str) -> None:
    found = figures("--direct", "--count", "3000", "--processes", processes)
    assert (found["sent"], found["received"], found["outcomes"]["accepted"]) == (3000, 3000, 3000)
    assert found["latency_us"]["count"] == 3000
    assert 0 < found["latency_us"]["min"] <= found["latency_us"]["p50"] <= found["latency_us"]["max"]
    assert found["received_per_s"] > 0


def test_presettled_messages_have_no_outcome() -> None:
    found = figures("--direct", "--count", "2000", "--settled")
    assert (found["sent"], found["received"], found["outcomes"]["accepted"]) == (2000, 2000, 0)


def test_large_messages_over_little_credit() -> None:
    found = figures("--direct", "--count", "50", "--size", "300000", "--credit", "2")
    assert (found["received"], found["outcomes"]["accepted"]) == (50, 50)


@PROCESSES
def test_many_links_over_few_connections(processes: str) -> None:
    links = ["--senders", "6", "--receivers", "1", "--addresses", "3", "--connections", "2"]
    found = figures("--direct", "--count", "1200", *links, "--processes", processes)
    assert (found["sent"], found["received"], found["outcomes"]["accepted"]) == (1200, 1200, 1200)


@PROCESSES
def test_requests_are_answered(processes: str) -> None:
    roles = ["--requesters", "3", "--responders", "1", "--in-flight", "4", "--processes", processes]
    found = figures("--direct", "--count", "600", *roles)
    assert (found["sent"], found["answered"], found["received"], found["latency_us"]["count"]) == (600,) * 4


def test_a_rate_is_held_and_the_warm_up_is_counted_apart() -> None:
    found = figures("--direct", "--rate", "400", "--senders", "2", "--seconds", "1", "--warmup", "0.5", "--sasl")
    assert found["sent"] == found["received"] == found["outcomes"]["accepted"]
    assert found["warmup"]["sent"] == found["warmup"]["received"]
    sent, before = found["sent"], found["warmup"]["sent"]
    # Less where something else has the cores for a while; never more.
    assert (sent > 100, before > 50) == (True, True)
    assert sent + before <= 400 * found["measured_s"] + 10


@PROCESSES
def test_attaches_are_answered(processes: str) -> None:
    found = figures("--direct", "--attach", "--connections", "4", "--links", "25", "--processes", processes)
    assert (found["mode"], found["attached"], found["latency_us"]["count"]) == ("attach", 100, 100)
    assert found["attached_per_s"] > 0


def test_idle_connections_are_held_for_the_time() -> None:
    status, output, errors = run("--direct", "--idle", "--connections", "30", "--seconds", "0.3")
    assert (status, output.splitlines()[1].split()) == (0, ["connections", "held", "30"])
    assert errors.startswith("ready after ")


def test_progress_is_told_every_second_and_a_table_at_the_end() -> None:
    status, output, errors = run("--direct", "--rate", "50", "--seconds", "2.2")
    assert status == 0
    assert re.search(r"^accepted +1\d\d  messages$", output, re.M)
    assert len(re.findall(r"^ +\d\.\d s  sent \d+/s  received \d+/s  p50 [\d.,]+ us  accepted \d+$", errors, re.M)) >= 2


def test_two_runs_join_over_a_place_to_listen() -> None:
    with running("--listen", "127.0.0.1:0", "--count", "500", "--json") as receiving:
        assert receiving.stderr is not None
        line = receiving.stderr.readline()
        place = re.fullmatch(r"listening on (127\.0\.0\.1:\d+)\n", line)
        assert place is not None
        sent = figures("--connect", place[1], "--senders", "1", "--receivers", "0", "--count", "500")
        output, _ = receiving.communicate(timeout=WITHIN_S)
    assert (sent["outcomes"]["accepted"], json.loads(output)["received"], receiving.returncode) == (500, 500, 0)


def test_an_interrupt_prints_what_was_measured() -> None:
    with running("--direct", "--rate", "200", "--seconds", "600", "--json") as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("ready")
        assert "sent" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=WITHIN_S)
    found = json.loads(output)
    assert (process.returncode, found["interrupted"], found["shortfalls"]) == (130, True, [])
    assert found["received"] > 0


def test_nobody_who_listens_is_one_clear_line() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        status, output, errors = run("--connect", f"127.0.0.1:{port}")
    assert (status, output) == (1, "")
    assert errors == f"routerbench: can't connect to 127.0.0.1:{port}: Connection refused\n"


def test_a_place_that_is_taken_is_one_clear_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        status, _, errors = run("--listen", f"127.0.0.1:{port}")
    assert (status, errors) == (1, f"routerbench: can't listen on 127.0.0.1:{port}: Address already in use\n")


def test_a_peer_that_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        status, _, errors = run("--connect", f"127.0.0.1:{port}", "--patience", "0.5")
    assert (status, errors) == (1, "routerbench: the receiving side did not connect and attach within 0.5 s\n")


def test_a_peer_that_is_lost_under_load_is_named() -> None:
    with running("--listen", "127.0.0.1:0") as receiving:
        assert receiving.stderr is not None
        place = receiving.stderr.readline().split()[-1]
        load = ("--senders", "1", "--receivers", "0", "--rate", "100", "--seconds", "600", "--patience", "600")
        with running("--connect", place, *load) as sending:
            assert sending.stderr is not None
            assert sending.stderr.readline().startswith("ready")
            receiving.send_signal(signal.SIGTERM)
            _, errors = sending.communicate(timeout=WITHIN_S)
    assert sending.returncode == 1
    assert re.search(r"^routerbench: (link 'sender-0' was detached|the connection was)", errors, re.M)


def test_no_process_outlives_one_that_is_killed() -> None:
    with running("--direct", "--rate", "10", "--seconds", "600") as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("ready")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(children) == 2
        process.kill()
        process.wait()
        eventually(lambda: not any(Path("/proc", child).exists() for child in children), f"all of {children} are gone")


def test_the_benchmark_of_a_router_runs_one_of_its_cases() -> None:
    command = [sys.executable, "-m", "bench", "router", "--json", "--in-process", "--quick", "--case", "attaches"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=WITHIN_S)
    assert (done.returncode, done.stderr) == (0, "")
    assert set(json.loads(done.stdout)) == {"attaches directly", "attaches"}
