"""`python -m tests.sim`: runs seeds, and tells what came of them."""

import argparse
import sys
import time
from collections import Counter

from tests.sim.run import Failed, run


def main() -> int:
    """Return the exit status: 1 when a run failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.sim", description=__doc__)
    parser.add_argument("--seed", type=int, help="run one seed")
    parser.add_argument("--seeds", default="1..20", metavar="FIRST..LAST", help="run all of these seeds")
    parser.add_argument("--steps", type=int, default=360, help="steps of each run")
    parser.add_argument("--go-on", action="store_true", help="do not stop at the first failure")
    options = parser.parse_args()
    first, _, last = options.seeds.partition("..")
    seeds = [options.seed] if options.seed is not None else range(int(first), int(last or first) + 1)
    totals: Counter[str] = Counter()
    failed = events = 0
    start = time.monotonic()
    for seed in seeds:
        try:
            result = run(seed, options.steps)
        except Failed as failure:
            failed += 1
            cause = failure.__cause__
            print(failure if not options.go_on else f"seed {seed}: {type(cause).__name__}: {cause}", flush=True)
            if not options.go_on:
                raise
            continue
        events += result.events
        totals.update(result.counts)
    seconds = time.monotonic() - start
    print(f"{len(seeds)} seeds of {options.steps} steps, {failed} failed; {events} events in {seconds:.1f} s")
    print(", ".join(f"{what} {number}" for what, number in sorted(totals.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
