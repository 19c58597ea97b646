"""A router's life: how long it takes to start, what it costs at rest, how soon it is whole again after a death."""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from actors.processes import Process, condition_of
from bench.free_ports import free_port
from bench.load_runs import LoadFailed, routerbench
from bench.report import Row
from bench.router_process import RouterProcess, family_cpu_s

STARTS = 3
DEATHS = 3
SETTLE_S = 5.0
RESTS = 3
REST_S = 15.0
WITHIN_S = 30.0
POLL_S = 0.01
MIB = 1 << 20
ONE_ACTOR = ("--connection-actors", "1")
STANDALONE = Path(__file__).resolve().parents[1] / "configs" / "standalone.conf"
READY = "ready\n"
EMPTY_RAY = """
import os, sys
import ray
from actors.own_ray import OwnRay

class Empty:
    async def ready(self):
        pass

os.mkdir(sys.argv[1], 0o700)
own = OwnRay(sys.argv[1])
own.start("empty")
actors = [ray.remote(Empty).options(num_cpus=0).remote() for _ in range(int(sys.argv[2]))]
ray.get([actor.ready.remote() for actor in actors])
print("ready", flush=True)
sys.stdin.read()
own.stop()
"""
"""A program: Ray may only be imported where it is the subject."""
LITTLE_LOAD = ("--seconds", "0.05", "--warmup", "0", "--patience", "10")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options of this benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench life", description=__doc__)
    parser.add_argument("--case", action="append", choices=CASES, help="only this one; may be given again")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace | None = None) -> list[Row]:
    """Measure every case, or those that were asked for."""
    options = options or parse([])
    return [row for case in options.case or CASES for row in CASES[case]()]


def starts() -> list[Row]:
    """From the command to the moment when everything listens."""
    rows = [
        _start_row("start in process", 1, "--in-process"),
        _start_row("start with a Ray of its own", 8, *ONE_ACTOR),
    ]
    with _ray() as address:
        return [*rows, _start_row("start in a Ray that runs", 3, *ONE_ACTOR, "--address", address)]


def rest() -> list[Row]:
    """What the router of configs/standalone.conf takes while nobody uses it, its processes and its Ray's together.

    Also if it is ready to record, as `make run` has it. And what of it is Ray's: the same Ray with as many actors,
    which have nothing to do.
    """
    rows = []
    configuration = STANDALONE.read_text().replace("port: amqp", "port: 0")
    with tempfile.TemporaryDirectory(prefix="bench-records-") as records:
        for case, more in (("at rest", ()), ("at rest, recording", ("--record-directory", records))):
            with RouterProcess(*ONE_ACTOR, *more, configuration=configuration) as router:
                time.sleep(SETTLE_S)
                share = _share_at_rest(router.cpu_s)
                memory = router.total_memory_bytes() / MIB
                actors = len(router.actors())
            rows.append(Row(f"{case}: CPU", share * 100, "% of a core", 3, at_most=True))
            rows.append(Row(f"{case}: memory", memory, "MiB", 700, at_most=True))
    with _empty_ray(actors) as cpu_s:
        time.sleep(SETTLE_S)
        empty_share = _share_at_rest(cpu_s)
    return [*rows, Row(f"at rest: CPU of Ray with {actors} empty actors", empty_share * 100, "% of a core")]


def _share_at_rest(cpu_s: Callable[[], float]) -> float:
    shares = []
    for _ in range(RESTS):
        before_s = cpu_s()
        time.sleep(REST_S)
        shares.append((cpu_s() - before_s) / REST_S)
    return statistics.median(shares)


def deaths() -> list[Row]:
    """From the end of an actor until it is replaced, and a message has passed over links that were attached since."""
    with RouterProcess(*ONE_ACTOR) as router:
        return [
            Row(
                f"whole again after {number.name} of {kind}",
                statistics.median(_recovery_s(router, kind, number) for _ in range(DEATHS)),
                "s",
                3,
                at_most=True,
            )
            for number in (signal.SIGKILL, signal.SIGSTOP)
            for kind in ("table", "engine", "connection.0")
        ]


CASES: dict[str, Callable[[], list[Row]]] = {"start": starts, "rest": rest, "deaths": deaths}


def _start_row(case: str, target: float, *form: str) -> Row:
    times = []
    for _ in range(STARTS):
        with RouterProcess(*form) as router:
            times.append(router.ready_after_s)
    return Row(case, statistics.median(times), "s", target, at_most=True)


def _recovery_s(router: RouterProcess, role: str, number: signal.Signals) -> float:
    victim = router.actors()[role]
    begun = time.monotonic()
    os.kill(victim.pid, number)
    while not _is_replaced(router, role, victim) or not _forwards(router):
        if time.monotonic() - begun > WITHIN_S:
            raise LoadFailed(f"{role} is not back {WITHIN_S:g} s after {number.name}")
        time.sleep(POLL_S)
    return time.monotonic() - begun


def _is_replaced(router: RouterProcess, role: str, victim: Process) -> bool:
    return router.actors().get(role) != victim and condition_of(victim) is None


def _forwards(router: RouterProcess) -> bool:
    try:
        return bool(routerbench(router.place, *LITTLE_LOAD)["received"] > 0)
    except LoadFailed:
        return False


@contextmanager
def _empty_ray(actors: int) -> Iterator[Callable[[], float]]:
    """Run the Ray that a router has, with actors that do nothing: what tells the processor time it has used."""
    with tempfile.TemporaryDirectory(prefix="bench-ray-", dir="/tmp") as folder:
        program = [sys.executable, "-c", EMPTY_RAY, f"{folder}/runtime", str(actors)]
        with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            for line in process.stdout:
                if line == READY:
                    break
            else:
                raise LoadFailed("an empty Ray does not start")
            yield lambda: family_cpu_s(process.pid)
            process.stdin.close()


@contextmanager
def _ray() -> Iterator[str]:
    """Run a Ray for routers to join: its address."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="bench-ray-", dir="/tmp") as folder, open(f"{folder}/log", "w+") as log:
        command = ["-m", "ray.scripts.scripts", "start", "--head", "--block", "--node-ip-address=127.0.0.1"]
        limits = ["--num-cpus=1", "--include-dashboard=false", "--disable-usage-stats"]
        ray = subprocess.Popen(
            [sys.executable, *command, *limits, f"--port={port}", f"--temp-dir={folder}"],
            stdout=log,
            stderr=log,
        )
        try:
            end = time.monotonic() + WITHIN_S
            while "Ray runtime started" not in _text(log.name):
                if ray.poll() is not None or time.monotonic() > end:
                    raise LoadFailed(f"Ray does not start: {_text(log.name)}")
                time.sleep(POLL_S)
            yield f"127.0.0.1:{port}"
        finally:
            ray.terminate()
            ray.wait()


def _text(path: str) -> str:
    with open(path) as file:
        return file.read()
