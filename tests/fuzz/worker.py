"""One process that runs one target: guided by coverage over the sources, or at random over what is compiled."""

import argparse
import faulthandler
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.corpus import BUILD, LARGEST, grown_folder, inputs_in, kept_folder
from tests.fuzz.failures import Failures
from tests.fuzz.guard import Growth, Guard
from tests.fuzz.mutator import Mutator
from tests.fuzz.progress import Progress
from tests.fuzz.targets import target

GROWTH_EVERY = 1 << 15
WARM = 1 << 11
MEGABYTES = 2048


class Worker:
    """Runs inputs of one target, and goes on after failures."""

    def __init__(self, name: str, run: Callable[[bytes], None], progress: Path) -> None:
        self._guard = Guard(run)
        self._failures = Failures(BUILD / "failures", name)
        self._progress = Progress(progress, is_new=False)
        self._growth: Growth | None = None

    def take(self, data: bytes) -> None:
        """Run one input."""
        self._progress.begin(data)
        try:
            self._guard(data)
            self._watch_growth()
        except Exception as error:
            if self._failures.add(data, error, self._guard.measured):
                self._progress.fail()

    def _watch_growth(self) -> None:
        count = self._progress.inputs
        if self._growth is None and count >= WARM:
            self._growth = Growth()
        elif self._growth is not None and count % GROWTH_EVERY == 0:
            self._growth.check()


def run_guided(options: argparse.Namespace) -> None:
    """Let atheris make the inputs, from what their predecessors reached in the sources."""
    import atheris

    from bench.uncompiled import forget_compiled

    forget_compiled()
    with atheris.instrument_imports(include=["routerd"]):
        worker = Worker(options.target, target(options.target), options.progress)
    grown, kept = grown_folder(options.target), kept_folder(options.target)
    for folder in (grown, BUILD / "failures"):
        folder.mkdir(parents=True, exist_ok=True)
    flags = [
        f"-max_len={LARGEST[options.target]}",
        f"-seed={options.seed}",
        f"-rss_limit_mb={MEGABYTES}",
        f"-artifact_prefix={BUILD / 'failures' / options.target}-",
        "-timeout=300",
        "-len_control=0",
        "-print_final_stats=1",
    ]
    flags += [f"-runs={options.runs}"] if options.runs else []
    flags += [f"-max_total_time={options.seconds:.0f}"] if options.seconds else []
    atheris.Setup([sys.argv[0], *flags, str(grown), *([str(kept)] if kept.is_dir() else [])], worker.take)
    atheris.Fuzz()


def run_random(options: argparse.Namespace) -> None:
    """Make inputs from the corpus at random, without looking where they get."""
    worker = Worker(options.target, target(options.target), options.progress)
    known = inputs_in(kept_folder(options.target), grown_folder(options.target))
    mutator = Mutator(list(known.values()), options.seed, LARGEST[options.target])
    end = time.monotonic() + (options.seconds or float("inf"))
    runs = options.runs or sys.maxsize
    for count in range(runs):
        if count % 64 == 0 and time.monotonic() >= end:
            return
        worker.take(mutator.next())


def main() -> None:
    """Do what the supervisor asks for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("progress", type=Path)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--compiled", action="store_true")
    options = parser.parse_args()
    faulthandler.enable()
    (run_random if options.compiled else run_guided)(options)


if __name__ == "__main__":
    main()
