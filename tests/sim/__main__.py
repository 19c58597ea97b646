"""`python -m tests.sim`: runs seeds, and tells what came of them."""

import argparse
import sys
import time

from tests.sim.campaign import run_all
from tests.sim.run import run


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
    start = time.monotonic()
    campaign = run_all(seeds, lambda seed: run(seed, options.steps), goes_on=options.go_on)
    seconds = time.monotonic() - start
    failed, events = campaign.failed, campaign.events
    print(f"{len(seeds)} seeds of {options.steps} steps, {failed} failed; {events} events in {seconds:.1f} s")
    print(campaign.report())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
