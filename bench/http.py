"""What HTTP costs: AMQP over WebSocket against AMQP over TCP, scrapes of metrics, and the files of the console.

Each repetition measures over TCP and over WebSocket, one after the other, so that both see the same machine; a ratio is
the median of the ratios of the repetitions.
"""

import argparse
import contextlib
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from bench.load_runs import Held, LoadFailed, routerbench
from bench.report import Row
from bench.router import QUICK, THOROUGH, Effort, allow_many_files
from bench.router_process import RouterProcess
from bench.security import listener_text, make_certificate, secured_router
from routerd import console

CREDIT = 1000
SCRAPE_EVERY_S = 1.0
"""Longer than a router answers from the figures of the last scrape."""
ADDRESSES = 10_000
ADDRESS_CONNECTIONS = 10
IDLE_CONNECTIONS = 2_000
SCRAPES = 10
_KIB = 1024


@dataclass(frozen=True, slots=True)
class Bench:
    """The arguments of a case: the router, the file with its certificate's authority, and how much to measure."""

    effort: Effort
    router: RouterProcess
    authority: str

    def rate(self, listener: str, *arguments: str) -> float:
        """Return the messages a second from one client to another at a listener."""
        return float(routerbench(self.router.places[listener], *arguments, *self.effort.span)["received_per_s"])


def websocket(bench: Bench) -> list[Row]:
    """One sender to one receiver, unsettled, over WebSocket and over TLS and WebSocket, against plain TCP."""
    trust = ("--ca", bench.authority)
    runs = {"TCP": ("tcp",), "WebSocket": ("ws", "--websocket"), "WebSocket over TLS": ("wss", "--websocket", *trust)}
    rates = [{name: bench.rate(*run) for name, run in runs.items()} for _ in range(bench.effort.repetitions)]
    rows = [Row(f"1 to 1, {name}", statistics.median(one[name] for one in rates), "messages/s") for name in runs]
    for name, target in (("WebSocket", 0.5), ("WebSocket over TLS", 0.35)):
        ratio = statistics.median(one[name] / one["TCP"] for one in rates)
        rows.append(Row(f"1 to 1, {name}: ratio", ratio, "of TCP", target))
    return rows


def metrics(bench: Bench) -> list[Row]:
    """Scrapes of a router with many addresses."""
    held = Held(bench.router.places["tcp"], ADDRESS_CONNECTIONS, ADDRESSES // ADDRESS_CONNECTIONS)
    try:
        detailed = f"/metrics/detailed?family=address&limit={ADDRESSES}"
        rows = []
        for path, target_ms in (("/metrics", 50), (detailed, 500)):
            found = []
            for _ in range(SCRAPES):
                time.sleep(SCRAPE_EVERY_S)
                found.append(_fetch(bench.router.places["ws"], path))
            name = f"{path.partition('?')[0]}, {ADDRESSES} {'series' if '?' in path else 'addresses'}"
            rows.append(Row(name, statistics.median(one[0] for one in found) * 1000, "ms", target_ms, at_most=True))
            rows.append(Row(f"{name}: size", found[0][1] / _KIB, "KiB"))
    finally:
        held.release()
    return rows


def scrape(bench: Bench) -> list[Row]:
    """Pre-settled messages at full speed, with a scrape each second and without."""
    places = bench.router.places["tcp"], bench.router.places["ws"]
    added: list[tuple[float, float]] = []
    rates: list[float] = []
    for _ in range(bench.effort.repetitions):
        pair = []
        for is_scraped in (False, True):
            with _scraping(places[1]) if is_scraped else contextlib.nullcontext():
                figures = routerbench(places[0], "--settled", *bench.effort.span)
            pair.append(float(figures["latency_us"]["p99"]))
            rates.append(float(figures["received_per_s"]))
        added.append((pair[0], pair[1]))
    without, with_scrapes = (statistics.median(side) for side in zip(*added, strict=True))
    more = statistics.median(one - other for other, one in added)
    return [
        Row("messages at full speed", statistics.median(rates), "messages/s"),
        Row("p99 of messages at full speed", without, "us"),
        Row("p99 of messages, a scrape a second", with_scrapes, "us"),
        Row("p99 added by scrapes", more, "us", 1000, at_most=True),
    ]


def idle(bench: Bench) -> list[Row]:
    """Memory of an idle WebSocket, of a router that has had no others: it would use again what they left."""
    with _router(bench.authority) as router:
        before = router.memory_bytes()
        held = Held(router.places["ws"], IDLE_CONNECTIONS, options=("--websocket",))
        try:
            bytes_each = (router.memory_bytes() - before) / IDLE_CONNECTIONS
        finally:
            held.release()
    return [Row(f"idle WebSocket, of {IDLE_CONNECTIONS}", bytes_each, "bytes", 40 * _KIB, at_most=True)]


def page(bench: Bench) -> list[Row]:
    """All files of the console, compressed as a browser asks for them; a first load needs no more."""
    root = Path(console.__path__[0])
    served = (one for one in root.rglob("*") if one.suffix in (".html", ".js", ".mjs", ".css", ".svg"))
    paths = ["/" if one.name == "index.html" else f"/{one.relative_to(root)}" for one in sorted(served)]
    begun = time.monotonic()
    sizes = [_fetch(bench.router.places["ws"], path)[1] for path in paths]
    took_ms = (time.monotonic() - begun) * 1000
    return [
        Row("all files of the console", sum(sizes) / 1000, "kB", 400, at_most=True),
        Row("all files of the console, one after the other", took_ms, "ms", 1000, at_most=True),
    ]


CASES: dict[str, Callable[[Bench], list[Row]]] = {
    "websocket": websocket,
    "metrics": metrics,
    "scrape": scrape,
    "idle": idle,
    "page": page,
}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options of this benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench http", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short repetition, for development")
    parser.add_argument("--case", action="append", choices=CASES, help="only this one; may be given again")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace | None = None) -> list[Row]:
    """Measure every case, or those that were asked for."""
    options = options or parse([])
    with tempfile.TemporaryDirectory(prefix="bench-http-") as folder, allow_many_files():
        authority = make_certificate(Path(folder))
        with _router(authority) as router:
            bench = Bench(QUICK if options.quick else THOROUGH, router, authority)
            return [row for case in options.case or CASES for row in _rows_of(case, bench)]


def _rows_of(case: str, bench: Bench) -> list[Row]:
    try:
        return CASES[case](bench)
    except (LoadFailed, OSError) as error:
        # The other cases are worth having all the same.
        print(f"{case}: {error}", file=sys.stderr)
        return []


def _fetch(place: str, path: str) -> tuple[float, int]:
    """Get a file; return the time it took in seconds, and its size as it was transferred."""
    host, _, port = place.rpartition(":")
    with contextlib.closing(HTTPConnection(host, int(port), timeout=30)) as connection:
        begun = time.monotonic()
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        size = len(answer.read())
        took = time.monotonic() - begun
    if answer.status != 200:
        raise LoadFailed(f"{path}: {answer.status} {answer.reason}")
    return took, size


@contextlib.contextmanager
def _scraping(place: str) -> Iterator[None]:
    """Scrape a router each second meanwhile."""
    is_over = threading.Event()

    def scrapes() -> None:
        while not is_over.wait(SCRAPE_EVERY_S):
            _fetch(place, "/metrics")

    thread = threading.Thread(target=scrapes)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _router(certificate: str) -> contextlib.AbstractContextManager[RouterProcess]:
    http = "    http: yes\n"
    return secured_router(
        certificate,
        listener_text("tcp", CREDIT, is_tls=False),
        listener_text("ws", CREDIT, is_tls=False, more=http),
        listener_text("wss", CREDIT, is_tls=True, more=http),
    )
