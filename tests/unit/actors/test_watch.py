"""How an actor beats, and watches over others."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from actors.errors import CallFailed, NoAnswer, PeerGone
from actors.process import ProcessConfig, pulse_path
from actors.processes import condition_of
from actors.pulse import Pulse, read_sign
from actors.watch import Watch, watch_far


class AskedWorker:
    """Answers when it is told to."""

    def __init__(self) -> None:
        self.asked: list[Future[float]] = []

    def ping(self) -> Future[float]:
        self.asked.append(Future())
        return self.asked[-1]


def config(folder: Path, *watched: str) -> ProcessConfig:
    return ProcessConfig(router_id="R", role="engine", folder=str(folder), watched=watched)


def beats(pulse: Pulse) -> int:
    sign = read_sign(pulse.path)
    assert sign is not None
    return sign.beats


@pytest.fixture
def pulse(tmp_path: Path) -> Iterator[Pulse]:
    found = Pulse(pulse_path(str(tmp_path), "engine"))
    yield found
    found.close()


def test_it_beats_while_there_is_no_worker(tmp_path: Path, pulse: Pulse) -> None:
    watch = Watch(config(tmp_path), pulse)
    watch.beat()
    watch.beat()
    assert beats(pulse) == 2


def test_it_beats_no_more_while_its_worker_does_not_answer(tmp_path: Path, pulse: Pulse) -> None:
    worker = AskedWorker()
    workers: list[Any] = [None]
    watch = Watch(config(tmp_path), pulse, lambda: workers[0])
    watch.beat()
    workers[0] = worker
    for _ in range(3):
        watch.beat()
    assert (beats(pulse), len(worker.asked)) == (2, 1)
    worker.asked[0].set_result(0.0)
    for _ in range(3):
        watch.beat()
    assert (beats(pulse), len(worker.asked)) == (3, 2)


def test_it_ends_one_that_is_stopped_and_only_that(tmp_path: Path, pulse: Pulse) -> None:
    sleeps = "import signal, sys; print(flush=True); signal.raise_signal(signal.SIGSTOP)"
    script = f"from actors.pulse import Pulse; Pulse(sys.argv[1]); {sleeps}"
    command = [sys.executable, "-c", f"import sys; {script}", pulse_path(str(tmp_path), "table")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as stopped:
        assert stopped.stdout is not None
        stopped.stdout.readline()
        sign = read_sign(pulse_path(str(tmp_path), "table"))
        assert sign is not None
        watch = Watch(config(tmp_path, "table", "connection.0"), pulse)
        while condition_of(sign.process) is not None:
            watch.look()
        assert stopped.wait() == -9
    watch.look()


class FarMember:
    """A member on another host, which answers as it is told."""

    def __init__(self, failure: CallFailed | None) -> None:
        self.failure = failure
        self.calls: list[str] = []

    async def ping(self) -> float:
        self.calls.append("ping")
        if self.failure is not None:
            raise self.failure
        return 0.0

    async def end(self) -> None:
        self.calls.append("end")


@pytest.mark.parametrize(
    ("failure", "calls"),
    [(None, ["ping"]), (NoAnswer("1", "silent"), ["ping", "end"]), (PeerGone("1", "gone"), ["ping"])],
    ids=["answers", "is silent", "has ended"],
)
def test_a_member_elsewhere_that_is_silent_is_lost_at_once_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: CallFailed | None, calls: list[str]
) -> None:
    monkeypatch.setattr("actors.watch.ASK_AGAIN_S", 0.001)
    monkeypatch.setattr("actors.watch.ABSENT_S", 0.0)
    member: Any = FarMember(failure)
    lost: list[Exception] = []
    path = pulse_path(str(tmp_path), "connection.1")

    async def test() -> None:
        watching = asyncio.ensure_future(
            watch_far("connection.1", member, path, lambda: not member.calls, lost.append)
        )
        while not member.calls:
            await asyncio.sleep(0)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)

    asyncio.run(test())
    assert member.calls == calls
    assert lost == ([failure] if isinstance(failure, NoAnswer) else [])
