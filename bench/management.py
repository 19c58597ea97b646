"""Management: how long queries of very many entities take and what they cost messages; tools, large files."""

import argparse
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from bench.life import ONE_ACTOR
from bench.load_runs import Held, routerbench
from bench.report import Row
from bench.router import allow_many_files
from bench.router_process import RouterProcess
from routerd.cli.manage.bus import parse_bus
from routerd.cli.manage.client import ManagementClient
from routerd.cli.manage.dialing import connect
from routerd.cli.manage.node import NODE_TYPE, PREFIX, Node
from routerd.cli.manage.stream import TlsOptions
from routerd.config import parse_config

ENTITIES = 10_000
LINKS = 100
"""Of a connection, where there are many links."""
REPETITIONS = 5
ANSWER_S = 60.0
RATE = 20_000
LOAD_S = 5.0
ADDRESS_SECTIONS = 5_000
KINDS = {"connections": "connection", "links": "router.link", "addresses": "router.address"}
CROWDS: tuple[tuple[int, int, tuple[str, ...]], ...] = (
    (ENTITIES, 0, ("connections",)),
    (ENTITIES // LINKS, LINKS, ("addresses", "links")),
)
US_A_MS = 1000.0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options of this benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench management", description=__doc__)
    parser.add_argument("--case", action="append", choices=CASES, help="only this one; may be given again")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace | None = None) -> list[Row]:
    """Measure every case, or those that were asked for."""
    options = options or parse([])
    with allow_many_files():
        return [row for case in options.case or CASES for row in CASES[case]()]


def queries() -> list[Row]:
    """Queries of everything in one answer, and their price for messages at a steady rate."""
    rows = []
    with RouterProcess(*ONE_ACTOR) as router:
        for connections, links, kinds in CROWDS:
            held = Held(router.place, connections, links)
            try:
                rows += [_query_row(router, kind) for kind in kinds]
                rows += _price_rows(router, kinds[0])
            finally:
                held.release()
    return rows


def tools() -> list[Row]:
    """From the command to the end of its output."""
    with RouterProcess(*ONE_ACTOR) as router:
        command = [sys.executable, "-m", "routerd.cli.routerstat", "-g", "-b", router.place]
        times = []
        for _ in range(REPETITIONS):
            begun = time.monotonic()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            times.append((time.monotonic() - begun) * 1000)
    return [Row("routerstat -g", statistics.median(times), "ms", 300, at_most=True)]


def files() -> list[Row]:
    """The reading of a large configuration file."""
    text = "".join(f"address {{\n    prefix: orders.{number}\n}}\n" for number in range(ADDRESS_SECTIONS))
    times = []
    for _ in range(REPETITIONS):
        begun = time.monotonic()
        parse_config(text, "large.conf")
        times.append(time.monotonic() - begun)
    return [Row(f"file of {ADDRESS_SECTIONS} addresses", statistics.median(times), "s", 1, at_most=True)]


CASES: dict[str, Callable[[], list[Row]]] = {"queries": queries, "tools": tools, "files": files}


@contextmanager
def node_at(place: str) -> Iterator[Node]:
    """Connect to the management of a router."""
    bus = parse_bus(place)
    client = ManagementClient(
        connect(bus, TlsOptions(), ANSWER_S),
        bus.where,
        hostname=bus.host,
        container_id="bench",
        sasl=None,
        timeout_s=ANSWER_S,
        clock=time.monotonic,
    )
    try:
        client.open()
        yield Node(client)
    finally:
        client.close()


def _query_row(router: RouterProcess, kind: str) -> Row:
    with node_at(router.place) as node:
        times = [_query_s(node, kind) for _ in range(REPETITIONS)]
    return Row(f"query of {ENTITIES} {kind}", statistics.median(times), "s", 2, at_most=True)


def _query_s(node: Node, kind: str) -> float:
    begun = time.monotonic()
    properties = {"type": NODE_TYPE, "name": "self", "entityType": PREFIX + KINDS[kind]}
    answer = node.call("QUERY", properties, {"attributeNames": []})
    assert len(answer["results"]) >= ENTITIES, f"{len(answer['results'])} {kind}"
    return time.monotonic() - begun


@contextmanager
def _asking(router: RouterProcess, kind: str) -> Iterator[None]:
    """Ask one query after the other meanwhile."""
    is_over = threading.Event()

    def ask() -> None:
        # In place of a client on another machine.
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        with node_at(router.place) as node:
            while not is_over.is_set():
                _query_s(node, kind)
                is_over.wait(1.0)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield
    finally:
        is_over.set()
        asking.join()


def _price_rows(router: RouterProcess, kind: str) -> list[Row]:
    """Return how late messages are without queries and, each time right behind that, with them."""
    pairs = []
    for _ in range(REPETITIONS):
        without = _p99_ms(router)
        with _asking(router, kind):
            pairs.append((without, _p99_ms(router)))
    added = statistics.median(asked - without for without, asked in pairs)
    return [
        Row(f"p99 with {ENTITIES} {kind}", statistics.median(without for without, _ in pairs), "ms"),
        Row(f"p99 added by queries of {kind}", added, "ms", 1, at_most=True),
    ]


def _p99_ms(router: RouterProcess) -> float:
    steady = ("--rate", str(RATE), "--seconds", str(LOAD_S), "--warmup", "0.5")
    p99_us: float = routerbench(router.place, *steady)["latency_us"]["p99"]
    return p99_us / US_A_MS
