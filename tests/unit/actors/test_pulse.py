"""The file by which others see that a process is alive."""

import os
import subprocess
from pathlib import Path

from actors.processes import Demand, Process, condition, condition_of, demand_of, is_held_up
from actors.pulse import Pulse, PulseReader, Sign, read_sign
from tests.waiting import eventually


def test_a_pulse_shows_the_process_and_counts_its_beats(tmp_path: Path) -> None:
    pulse = Pulse(str(tmp_path / "pulse"))
    first = read_sign(pulse.path)
    assert first is not None
    assert (first.process.pid, first.beats) == (os.getpid(), 0)
    pulse.beat()
    assert read_sign(pulse.path) == Sign(first.process, 1)
    own = condition_of(first.process)
    assert own is not None
    assert (own.process, own.parent) == (first.process, os.getppid())
    pulse.close()


def test_a_new_pulse_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "pulse"
    path.write_bytes(b"\xff" * 24)
    pulse = Pulse(str(path))
    sign = read_sign(pulse.path)
    assert sign is not None
    assert (sign.process.pid, sign.beats) == (os.getpid(), 0)
    pulse.close()


def test_a_pulse_that_is_closed_is_gone(tmp_path: Path) -> None:
    pulse = Pulse(str(tmp_path / "pulse"))
    pulse.close()
    assert read_sign(pulse.path) is None


def test_what_is_no_pulse_is_none(tmp_path: Path) -> None:
    short = tmp_path / "pulse"
    short.write_bytes(b"short")
    assert read_sign(str(short)) is None


def test_a_reader_follows_a_pulse_and_the_file_that_takes_its_place(tmp_path: Path) -> None:
    path = tmp_path / "pulse"
    reader = PulseReader(str(path))
    assert reader.read() is None
    pulse = Pulse(str(path))
    seen = []
    for _ in range(3):
        pulse.beat()
        seen.append(reader.read())
    assert [sign.beats for sign in seen if sign is not None] == [1, 2, 3]
    assert reader.read() == seen[-1]
    pulse.close()
    assert reader.read() is None
    pulse = Pulse(str(path))
    sign = reader.read()
    assert sign is not None
    assert sign.beats == 0
    pulse.close()
    reader.close()


def test_processor_time_counts_up() -> None:
    own = condition(os.getpid())
    assert own is not None
    before = demand_of(own.process)
    sum(range(1_000_000))
    after = demand_of(own.process)
    assert after.had_s > before.had_s > 0
    assert after.waited_s >= before.waited_s >= 0
    assert demand_of(Process(0, 0)) == Demand(0.0, 0.0)


def test_a_process_that_runs_would_go_on_and_one_that_waits_for_input_would_not() -> None:
    own = condition(os.getpid())
    assert own is not None
    assert is_held_up(own.process)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as child:
        waiting = condition(child.pid)
        assert waiting is not None
        eventually(lambda: not is_held_up(waiting.process), "it waits for input")
        assert child.stdin is not None
        child.stdin.close()
    assert not is_held_up(waiting.process)


def test_a_process_with_the_number_of_another_is_not_taken_for_it() -> None:
    own = condition(os.getpid())
    assert own is not None
    assert condition_of(own.process) is not None
    assert condition_of(Process(own.process.pid, own.process.started + 1)) is None
