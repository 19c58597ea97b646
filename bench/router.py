"""A router and its clients on one machine: what a message costs through it, against client to client without it.

Each repetition of a case measures directly and through the router, one after the other, so that both see the same
machine; a ratio is the median of the ratios of the repetitions. Clients, and the router, have processes of their own.
"""

import argparse
import contextlib
import resource
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bench.load_runs import Held, LoadFailed, Loadgen, routerbench
from bench.report import Row
from bench.router_process import RouterProcess

SENDERS = 50
SUBSCRIBERS = 10
SHARERS = 4
LARGE = 65_536
ATTACH_CONNECTIONS = 100


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is measured."""

    repetitions: int
    seconds: float
    warmup_s: float
    links: int
    """Links of each connection, where attaches are measured."""
    idle_connections: int

    @property
    def span(self) -> tuple[str, ...]:
        """The options of routerbench that bound a run."""
        return "--seconds", str(self.seconds), "--warmup", str(self.warmup_s)


THOROUGH = Effort(repetitions=5, seconds=3.0, warmup_s=0.5, links=200, idle_connections=10_000)
QUICK = Effort(repetitions=1, seconds=1.0, warmup_s=0.3, links=40, idle_connections=1_000)


@dataclass(frozen=True, slots=True)
class Bench:
    """The arguments of a case: where the router is, and how much to measure."""

    effort: Effort
    place: str
    router: RouterProcess | None
    """The router, if it was started for this."""
    loadgen: Loadgen | None

    def measure_rates(
        self, case: str, target: float | None, direct: Sequence[str], through: Sequence[str] | None = None
    ) -> list[Row]:
        """Return the rate of messages directly and through the router, and their ratio."""
        through = direct if through is None else through
        rates, cpu_us = [], []
        for _ in range(self.effort.repetitions):
            directly = routerbench(None, *direct, *self.effort.span)
            before_s = self.cpu_s()
            forwarded = routerbench(self.place, *through, *self.effort.span)
            messages = forwarded["received"] + forwarded["warmup"]["received"]
            rates.append((directly["received_per_s"], forwarded["received_per_s"]))
            cpu_us.append((self.cpu_s() - before_s) / messages * 1e6)
        rows = ratio_rows(case, target, rates)
        if self.router is not None:
            # Other work on the machine changes the rates; this hardly.
            rows.append(Row(f"{case}: CPU of the router", statistics.median(cpu_us), "us a message"))
        return rows

    def cpu_s(self) -> float:
        """Return the processor time that the router has used."""
        return 0.0 if self.router is None else self.router.cpu_s()

    def measure_with_loadgen(
        self,
        case: str,
        target: float,
        count: int,
        *arguments: str,
        receive_at: str | None = None,
        subscribers: int = 1,
    ) -> list[Row]:
        """Return the same as loadgen.c sees it, where there is a build of it."""
        places = self.place, receive_at
        return loadgen_rows(self.loadgen, self.effort, case, target, places, count, *arguments, subscribers=subscribers)


def one_to_one(bench: Bench) -> list[Row]:
    """One sender to one receiver, unsettled."""
    rows = bench.measure_rates("1 to 1", 0.45, ["--credit", "1000"])
    return rows + bench.measure_with_loadgen("1 to 1", 0.45, 1_000_000)


def presettled(bench: Bench) -> list[Row]:
    """One sender to one receiver, pre-settled."""
    rows = bench.measure_rates("pre-settled", 0.5, ["--settled"])
    return rows + bench.measure_with_loadgen("pre-settled", 0.5, 1_000_000, "presettled=1")


def other_actor(bench: Bench) -> list[Row]:
    """Sender and receiver on different connection actors."""
    if bench.router is None or not bench.router.is_on_ray:
        return []
    case, other = "other connection actor", bench.router.dedicated_place
    rows = bench.measure_rates(case, 0.3, [], ["--receive-at", other])
    return rows + bench.measure_with_loadgen(case, 0.3, 1_000_000, receive_at=other)


def large(bench: Bench) -> list[Row]:
    """Bodies of 64 KiB."""
    size = ["--size", str(LARGE), "--credit", "100"]
    if bench.router is not None:
        bench = replace(bench, place=bench.router.narrow_place)
    rows = bench.measure_rates("64 KiB bodies", 0.5, size)
    return rows + bench.measure_with_loadgen("64 KiB bodies", 0.5, 20_000, f"size={LARGE}", "credit=100")


def multicast(bench: Bench) -> list[Row]:
    """One sender to ten receivers of a multicast address: all deliveries against those of one to one."""
    through = ["--receivers", str(SUBSCRIBERS), "--senders", "1", "--multicast", "--address", "multicast.bench"]
    case = f"multicast 1 to {SUBSCRIBERS}"
    rows = bench.measure_rates(case, 0.6, [], through)
    return rows + bench.measure_with_loadgen(case, 0.6, 300_000, subscribers=SUBSCRIBERS)


def many(bench: Bench) -> list[Row]:
    """Fifty senders to fifty receivers over fifty addresses."""
    number = str(SENDERS)
    links = ["--senders", number, "--receivers", number, "--addresses", number]
    case = f"{SENDERS} to {SENDERS}"
    rows = bench.measure_rates(case, 0.3, links)
    rows += bench.measure_with_loadgen(case, 0.3, 1_000_000, f"conns={SENDERS}", f"addrs={SENDERS}")
    if bench.router is not None and bench.router.is_on_ray:
        with RouterProcess("--connection-actors", "2") as router:
            other = replace(bench, place=router.place, router=router)
            rows += other.measure_rates(f"{case}, 2 actors", None, links)
    return rows


def shared(bench: Bench) -> list[Row]:
    """Several senders and as many receivers of one address."""
    number = str(SHARERS)
    links = ["--senders", number, "--receivers", number, "--addresses", "1", "--credit", "1000"]
    return bench.measure_rates(f"{number} to {number}", None, links)


def requests(bench: Bench) -> list[Row]:
    """Request and response, one in flight, pre-settled."""
    arguments = ["--requesters", "1", "--responders", "1", "--settled", *bench.effort.span]
    pairs = [
        (routerbench(None, *arguments)["latency_us"], routerbench(bench.place, *arguments)["latency_us"])
        for _ in range(bench.effort.repetitions)
    ]
    added = statistics.median(through["p50"] - direct["p50"] for direct, through in pairs)
    rows = [
        Row("round trip directly", statistics.median(direct["p50"] for direct, _ in pairs), "us"),
        Row("round trip through", statistics.median(through["p50"] for _, through in pairs), "us"),
        Row("round trip added", added, "us", 60, at_most=True),
        Row("round trip p99 directly", statistics.median(direct["p99"] for direct, _ in pairs), "us"),
        Row("round trip p99", statistics.median(through["p99"] for _, through in pairs), "us", 300, at_most=True),
    ]
    loadgen = bench.loadgen
    if loadgen is not None:
        trips = [
            (loadgen.round_trip_us(None, 20_000), loadgen.round_trip_us(bench.place, 20_000))
            for _ in range(bench.effort.repetitions)
        ]
        added = statistics.median(through[0] - direct[0] for direct, through in trips)
        p99_directly, p99 = (statistics.median(each[1] for each in side) for side in zip(*trips, strict=True))
        rows.append(Row("round trip added, loadgen", added, "us", 60, at_most=True))
        rows.append(Row("round trip p99 directly, loadgen", p99_directly, "us"))
        rows.append(Row("round trip p99, loadgen", p99, "us", 300, at_most=True))
    return rows


def attaches(bench: Bench) -> list[Row]:
    """Attaches answered a second, over a hundred connections. No two links have the same address."""
    connections, links = ATTACH_CONNECTIONS, bench.effort.links
    arguments = ["--attach", "--connections", str(connections), "--links", str(links)]
    arguments += ["--patience", "60"]
    rates = [
        (routerbench(None, *arguments)["attached_per_s"], routerbench(bench.place, *arguments)["attached_per_s"])
        for _ in range(bench.effort.repetitions)
    ]
    return [
        Row("attaches directly", statistics.median(direct for direct, _ in rates), "attaches/s"),
        Row("attaches", statistics.median(through for _, through in rates), "attaches/s", 20_000),
    ]


def idle(bench: Bench) -> list[Row]:
    """Memory of an idle connection, of a router that has had no others: it would use again what they left."""
    if bench.router is None:
        return []
    connections = bench.effort.idle_connections
    with RouterProcess(*bench.router.form) as router:
        before = router.memory_bytes()
        held = Held(router.place, connections)
        try:
            bytes_each = (router.memory_bytes() - before) / connections
        finally:
            held.release()
    return [Row(f"idle connection, of {connections}", bytes_each, "bytes", 20 * 1024, at_most=True)]


CASES: dict[str, Callable[[Bench], list[Row]]] = {
    "one-to-one": one_to_one,
    "presettled": presettled,
    "other-actor": other_actor,
    "large": large,
    "multicast": multicast,
    "many": many,
    "shared": shared,
    "requests": requests,
    "attaches": attaches,
    "idle": idle,
}


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options of this benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench router", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short repetition, for development")
    parser.add_argument("--case", action="append", choices=CASES, help="only this one; may be given again")
    parser.add_argument("--loadgen", metavar="PATH", help="a build of loadgen.c, for a second opinion")
    parser.add_argument("--actors", type=int, default=1, metavar="N", help="connection actors; %(default)s")
    places = parser.add_mutually_exclusive_group()
    places.add_argument("--in-process", action="store_true", help="a router without Ray")
    places.add_argument("--connect", metavar="HOST:PORT", help="a router that runs already, of whatever make")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace | None = None) -> list[Row]:
    """Measure every case, or those that were asked for."""
    options = options or parse([])
    with allow_many_files(), _bench(options) as bench:
        return [row for case in options.case or CASES for row in _rows_of(case, bench)]


@contextlib.contextmanager
def allow_many_files() -> Iterator[None]:
    """Let the processes that are started meanwhile have a descriptor for each of very many connections."""
    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most))


@contextlib.contextmanager
def _bench(options: argparse.Namespace) -> Iterator[Bench]:
    effort = QUICK if options.quick else THOROUGH
    loadgen = Loadgen(options.loadgen) if options.loadgen else None
    if options.connect:
        yield Bench(effort, options.connect, None, loadgen)
        return
    form = ("--in-process",) if options.in_process else ("--connection-actors", str(options.actors))
    with RouterProcess(*form) as router:
        yield Bench(effort, router.place, router, loadgen)


def _rows_of(case: str, bench: Bench) -> list[Row]:
    try:
        return CASES[case](bench)
    except LoadFailed as error:
        # The other cases are worth having all the same.
        print(f"{case}: {error}", file=sys.stderr)
        return []


def loadgen_rows(
    loadgen: Loadgen | None,
    effort: Effort,
    case: str,
    target: float,
    places: tuple[str, str | None],
    count: int,
    *arguments: str,
    subscribers: int = 1,
) -> list[Row]:
    """Return the rates of loadgen.c, where there is a build of it, between two places; directly, always one to one."""
    if loadgen is None:
        return []
    send_at, receive_at = places
    rates = [
        (
            loadgen.rate(None, count, *arguments),
            loadgen.rate(send_at, count, *arguments, receive_at=receive_at, subscribers=subscribers),
        )
        for _ in range(effort.repetitions)
    ]
    return ratio_rows(f"{case}, loadgen", target, rates)


def ratio_rows(case: str, target: float | None, rates: list[tuple[float, float]]) -> list[Row]:
    """Return the medians of pairs of rates, direct and through, and of their ratios."""
    return [
        Row(f"{case}: directly", statistics.median(direct for direct, _ in rates), "messages/s"),
        Row(f"{case}: through", statistics.median(through for _, through in rates), "messages/s"),
        Row(f"{case}: ratio", statistics.median(through / direct for direct, through in rates), "of direct", target),
    ]
