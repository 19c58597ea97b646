"""What is measured, over which buses."""

import contextlib
import re
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.load_runs import LoadFailed
from bench.oslo.processes import ROOT, BrokerProcess, LoadProcess, driver_python
from bench.report import Row
from bench.router import allow_many_files
from bench.router_process import CONFIGURATION, RouterProcess

THREADS = {1: 1.5, 8: 2.5, 64: 2.5}
"""Client threads, and how many times as fast as `rabbit` calls are to be with them."""
AMQP, RABBIT, FAKE = "amqp", "rabbit", "fake"
MIB = 1 << 20
FUNCTIONS = 5
"""Functions that are named in a profile, those that took most."""
_ADDRESS = re.compile(r"(?ms)^address \{$.*?^\}$\n")


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    repetitions: int
    seconds: float
    warmup_s: float
    servers: int
    """Servers, and clients, whose memory is measured."""

    @property
    def span(self) -> tuple[str, ...]:
        """The options of the load that bound a run."""
        return "--seconds", str(self.seconds), "--warmup", str(self.warmup_s)


THOROUGH = Effort(repetitions=3, seconds=4.0, warmup_s=1.0, servers=500)
QUICK = Effort(repetitions=1, seconds=1.0, warmup_s=0.3, servers=50)


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """How it is to be measured."""

    effort: Effort
    form: tuple[str, ...]
    """Of the router."""
    has_broker: bool


@dataclass(frozen=True, slots=True)
class Bench:
    """The arguments of a case."""

    effort: Effort
    router: RouterProcess
    urls: dict[str, str] = field(default_factory=dict)
    """By bus; those that can be had."""


def rates(bench: Bench) -> list[Row]:
    """Calls a second and their latency, over every bus."""
    rows = []
    for threads, target in THREADS.items():
        runs = [
            {bus: _run(url, threads, bench.effort) for bus, url in bench.urls.items()}
            for _ in range(bench.effort.repetitions)
        ]
        name = f"{threads} thread{'s' if threads > 1 else ''}"
        for bus in bench.urls:
            rows.append(Row(f"{name}, {bus}", _median(runs, bus, "calls_per_s"), "calls/s"))
            rows.append(Row(f"{name}, {bus}: median", _median(runs, bus, "p50_ms"), "ms"))
            rows.append(Row(f"{name}, {bus}: 99th percentile", _median(runs, bus, "p99_ms"), "ms"))
            rows.append(Row(f"{name}, {bus}: CPU of client", _median(runs, bus, "cpu_us"), "us a call"))
        if RABBIT in bench.urls:
            ratio = statistics.median(run[AMQP]["calls_per_s"] / run[RABBIT]["calls_per_s"] for run in runs)
            rows.append(Row(f"{name}: amqp to rabbit", ratio, "times", target))
    return rows


def memory(bench: Bench) -> list[Row]:
    """Memory of many servers in one process and as many clients in another, each with a separate connection."""
    count = bench.effort.servers
    options = ("--count", str(count))
    with LoadProcess("serve", bench.urls[AMQP], *options) as servers:
        servers.answer()
        with LoadProcess("hold", bench.urls[AMQP], *options) as clients:
            clients.answer()
            sizes = [_memory_bytes(process.pid) / MIB for process in (servers, clients)]
    target = 1024.0 if count == THOROUGH.servers else None
    return [
        Row(f"{count} servers", sizes[0], "MiB"),
        Row(f"{count} clients", sizes[1], "MiB"),
        Row(f"{count} servers and {count} clients", sum(sizes), "MiB", target, at_most=True),
    ]


def profile(bench: Bench) -> list[Row]:
    """The processor time of a call by package, in the client and in the server. The profiler slows all of it down."""
    rows = []
    url = bench.urls[AMQP]
    with LoadProcess("serve", url, "--profile") as server:
        server.answer()
        with LoadProcess("call", url, "--profile", "--threads", "8", *bench.effort.span) as client:
            client.answer()
            [of_client] = client.finish()
        [of_server] = server.finish()
    for where, found in (("client", of_client), ("server", of_server)):
        whole = sum(found["packages"].values())
        most = list(found["functions"].items())[:FUNCTIONS]
        for name, seconds in [*found["packages"].items(), *most]:
            rows.append(Row(f"share in the {where}: {name}", seconds / whole * 100, "%"))
    return rows


CASES: dict[str, Callable[[Bench], list[Row]]] = {"rates": rates, "memory": memory, "profile": profile}


def measure(cases: list[str], environment: Environment) -> list[Row]:
    """Measure these cases; none of them can be where the driver has no environment."""
    rows = []
    try:
        driver_python()
        with allow_many_files(), _bench(environment) as bench:
            for case in cases:
                rows += _rows_of(case, bench)
    except LoadFailed as error:
        print(f"oslo: {error}", file=sys.stderr)
    return rows


def _rows_of(case: str, bench: Bench) -> list[Row]:
    try:
        return CASES[case](bench)
    except LoadFailed as error:
        # The other cases are worth having all the same.
        print(f"{case}: {error}", file=sys.stderr)
        return []


@contextlib.contextmanager
def _bench(environment: Environment) -> Iterator[Bench]:
    # As deployments are advised.
    addresses = "".join(_ADDRESS.findall(Path(ROOT, "configs/openstack.conf").read_text()))
    with RouterProcess(*environment.form, configuration=CONFIGURATION + addresses) as router:
        urls = {AMQP: f"amqp://{router.place}/"}
        broker = None
        if environment.has_broker:
            try:
                broker = BrokerProcess()
                urls[RABBIT] = broker.url
            except LoadFailed as error:
                print(f"without rabbit: {error}", file=sys.stderr)
        try:
            yield Bench(environment.effort, router, urls | {FAKE: "fake://"})
        finally:
            if broker is not None:
                broker.close()


def _run(url: str, threads: int, effort: Effort) -> dict[str, Any]:
    load = ("--threads", str(threads), *effort.span)
    if url.startswith("fake"):
        with LoadProcess("both", url, *load) as together:
            return together.answer()
    with LoadProcess("serve", url) as server:
        server.answer()
        with LoadProcess("call", url, *load) as client:
            return client.answer()


def _median(runs: list[dict[str, dict[str, Any]]], bus: str, figure: str) -> float:
    return statistics.median(float(run[bus][figure]) for run in runs)


def _memory_bytes(pid: int) -> int:
    sums = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(line.split()[1]) for line in sums.splitlines() if line.startswith("Pss:")) * 1024
