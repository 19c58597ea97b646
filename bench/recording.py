"""What recording costs: messages through a router that records, against one that does not.

Each repetition measures all levels, one after the other, so that they see the same machine, each by a router that has
it for itself; a ratio is the median of the ratios of the repetitions. The rates are of clients and router together on
few cores; the processor time of the router alone, the process that writes included, says more where other work is done
beside it.
"""

import argparse
import statistics
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pyarrow import parquet

from bench.load_runs import Loadgen, routerbench
from bench.report import Row
from bench.router_process import CONFIGURATION, RouterProcess

LEVELS = {"off": None, "flows": None, "sampled": 0.95, "all": 0.75}
"""What is recorded, and how much of the throughput without it is to be left."""
OCTETS_MAX = 24
LOADGEN_A_SECOND = 300_000
"""Messages that loadgen.c is told to send, for each second that a run is to take."""


class Load(Protocol):
    """What sends messages through a router."""

    name: str

    def run(self, place: str, seconds: float) -> tuple[float, int]:
        """Return how many messages came in a second, and how many there were."""


class OurLoad:
    """A load of routerbench, told by arguments."""

    def __init__(self, name: str, *arguments: str) -> None:
        self.name = name
        self._arguments = arguments

    def run(self, place: str, seconds: float) -> tuple[float, int]:
        """Return how many messages came in a second, and how many there were."""
        found = routerbench(place, *self._arguments, "--seconds", str(seconds), "--warmup", "0.3")
        return found["received_per_s"], found["received"] + found["warmup"]["received"]


class OtherLoad:
    """A load of loadgen.c, one to one."""

    name = "1 to 1, loadgen"

    def __init__(self, loadgen: Loadgen) -> None:
        self._loadgen = loadgen

    def run(self, place: str, seconds: float) -> tuple[float, int]:
        """Return how many messages came in a second, and how many there were."""
        count = int(LOADGEN_A_SECOND * seconds)
        return self._loadgen.rate(place, count), count


LOADS = (
    OurLoad("1 to 1", "--credit", "1000"),
    OurLoad("4 to 4", "--senders", "4", "--receivers", "4", "--addresses", "1", "--credit", "1000"),
)


@dataclass(frozen=True, slots=True)
class Run:
    """One measurement."""

    rate: float
    cpu_us: float
    """Of the router, a message."""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options of this benchmark."""
    parser = argparse.ArgumentParser(prog="python -m bench recording", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one short repetition, for development")
    parser.add_argument("--repetitions", type=int, default=9, metavar="N", help="how often; %(default)s")
    parser.add_argument("--seconds", type=float, default=2.0, metavar="S", help="of each run; %(default)s")
    parser.add_argument("--loadgen", metavar="PATH", help="a build of loadgen.c, for a second opinion")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace) -> list[Row]:
    """Measure, and return a row for each figure."""
    repetitions, seconds = (1, 1.0) if options.quick else (options.repetitions, options.seconds)
    loads: list[Load] = [*LOADS, *([OtherLoad(Loadgen(options.loadgen))] if options.loadgen else [])]
    rows = []
    with tempfile.TemporaryDirectory(prefix="bench-records-") as name:
        folder = Path(name)
        for load in loads:
            runs = [
                {level: _measure(level, folder, load, seconds) for level in _in_turn(repetition)}
                for repetition in range(repetitions)
            ]
            rows += _rows(load, runs)
        rows.append(_octets_a_row(folder / "all"))
    return rows


def _in_turn(repetition: int) -> list[str]:
    """Return the levels, each time from another one on: whoever comes first or last has it better or worse."""
    levels = list(LEVELS)
    at = repetition % len(levels)
    return levels[at:] + levels[:at]


def _configuration(level: str, folder: Path) -> str:
    record = f"record {{\n    level: {level}\n    directory: {folder / level}\n    rotateSeconds: 5\n}}\n"
    return CONFIGURATION + ("" if level == "off" else record)


def _measure(level: str, folder: Path, load: Load, seconds: float) -> Run:
    # Each run has a new router: idle ones would keep cores for a while, and write the records that are left.
    with RouterProcess("--in-process", configuration=_configuration(level, folder)) as router:
        # The first run of a router is slower than all others.
        load.run(router.place, 1.0)
        before_s = router.cpu_s()
        rate, messages = load.run(router.place, seconds)
        return Run(rate, (router.cpu_s() - before_s) / messages * 1e6)


def _rows(load: Load, runs: list[dict[str, Run]]) -> list[Row]:
    rows = []
    for level, target in LEVELS.items():
        case = f"{load.name}, {level}"
        rows.append(Row(f"{case}: through", statistics.median(one[level].rate for one in runs), "messages/s"))
        cpu_us = statistics.median(one[level].cpu_us for one in runs)
        rows.append(Row(f"{case}: CPU of the router", cpu_us, "us a message"))
        if level != "off":
            ratio = statistics.median(one[level].rate / one["off"].rate for one in runs)
            rows.append(Row(f"{case}: ratio", ratio, "of without", target))
            ratio = statistics.median(one["off"].cpu_us / one[level].cpu_us for one in runs)
            rows.append(Row(f"{case}: ratio by CPU", ratio, "of without"))
    return rows


def _octets_a_row(folder: Path) -> Row:
    paths = list((folder / "decisions").rglob("*.parquet"))
    decisions = sum(parquet.read_metadata(path).num_rows for path in paths)
    octets = sum(path.stat().st_size for path in paths)
    return Row("size on disk", octets / max(1, decisions), "octets a decision row", OCTETS_MAX, at_most=True)
