"""Messages through several routers, against client to client without any.

Each repetition measures directly and through the routers, one after the other, and a ratio is the median of the ratios
of the repetitions. Producers are at the first router of a line, consumers at the last one. Clients and routers all have
processes of their own.
"""

import statistics
from collections.abc import Sequence

from bench.load_runs import Loadgen, routerbench
from bench.mesh.line import Line
from bench.report import Row
from bench.router import LARGE, Effort, loadgen_rows, ratio_rows

OVER = ("directly", "over 1 router", "over 2 routers", "over 3 routers", "over 4 routers")
LONGEST = len(OVER) - 1
"""Routers in a line."""
SHARED = ("--addresses", "1", "--credit", "1000")
PERCENT = 100
LOADGEN_MESSAGES = 1_000_000


def two_routers(effort: Effort, loadgen: Loadgen | None = None) -> list[Row]:
    """One sender at one router and one receiver at its neighbour, then several of them for one address."""
    with Line(2) as line:
        first, last = (router.place for router in line.routers)
        return [
            *_rate_rows(line, effort, "two routers", ["--credit", "1000"], target=0.3),
            *loadgen_rows(loadgen, effort, "two routers", 0.3, (first, last), LOADGEN_MESSAGES),
            *_rate_rows(line, effort, "two routers, pre-settled", ["--credit", "1000", "--settled"]),
            *_rate_rows(line, effort, "two routers, 4 to 4", ["--senders", "4", "--receivers", "4", *SHARED]),
            *_rate_rows(
                line, effort, "two routers, 64 KiB", ["--size", str(LARGE), "--credit", "100"], listener="narrow"
            ),
        ]


def hops(effort: Effort) -> list[Row]:
    """Requests with one in flight, pre-settled: the requester at the first router, the responder at each of a line.

    The time for a further hop is the mean over all routers except the first, for request and response together.
    """
    arguments = ["--requesters", "1", "--responders", "1", "--settled", *effort.span]
    with Line(LONGEST) as line:
        first = line.routers[0].place
        trips = []
        for _ in range(effort.repetitions):
            directly = routerbench(None, *arguments)
            through = [routerbench(first, *arguments, "--receive-at", last.place) for last in line.routers]
            trips.append([figures["latency_us"]["p50"] for figures in (directly, *through)])
    added = statistics.median((trip[LONGEST] - trip[1]) / (LONGEST - 1) for trip in trips)
    return [
        *(
            Row(f"round trip {over}", statistics.median(trip[routers] for trip in trips), "us")
            for routers, over in enumerate(OVER)
        ),
        Row("round trip, each further hop", added, "us", 100, at_most=True),
    ]


def _rate_rows(
    line: Line,
    effort: Effort,
    case: str,
    arguments: Sequence[str],
    *,
    target: float | None = None,
    listener: str = "shared",
) -> list[Row]:
    first, last = (line.routers[end].places[listener] for end in (0, -1))
    rates, cpu_us, lost = [], [], []
    for _ in range(effort.repetitions):
        directly = routerbench(None, *arguments, *effort.span)
        before_s = line.cpu_s()
        # Routers may drop what is pre-settled and comes faster than it goes.
        through = routerbench(first, "--receive-at", last, *arguments, *effort.span, may_lose="--settled" in arguments)
        messages = through["received"] + through["warmup"]["received"]
        cpu_us.append((line.cpu_s() - before_s) / messages * 1e6)
        rates.append((directly["received_per_s"], through["received_per_s"]))
        lost.append(1 - through["received"] / through["sent"])
    rows = [
        *ratio_rows(case, target, rates),
        Row(f"{case}: CPU of the routers", statistics.median(cpu_us), "us a message"),
    ]
    if "--settled" in arguments:
        rows.append(Row(f"{case}: dropped", statistics.median(lost) * PERCENT, "% of what was sent"))
    return rows
