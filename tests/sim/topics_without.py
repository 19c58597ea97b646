"""`python -m tests.sim.topics_without RULE PROFILE SEEDS`: runs of topics with a rule left out, until one is broken.

Rules are methods that are replaced, and compiled classes keep theirs. So this runs the sources, beside compiled modules
too.
"""

import sys

from bench.uncompiled import forget_compiled


def main(rule: str, profile: str, seeds: int) -> int:
    """Return the exit status: 0 when something was broken."""
    from tests.sim import topics_mutations
    from tests.sim.campaign import Failed
    from tests.sim.topics import run
    from tests.sim.topics_stories import PROFILES
    from tests.sim.world import Broken

    getattr(topics_mutations, rule)(setattr)
    ended = 0
    for seed in range(1, seeds + 1):
        try:
            # Nothing is promised to publishers without maps that a rule could be needed for. Subscribers do not say
            # that they have maps: they are taken at once, as the stories count on.
            ended += run(seed, plain=0.0, maps=0.0, **PROFILES[profile]).counts["ended"]
        except Failed as failure:
            if not isinstance(failure.__cause__, Broken):
                raise
            print(f"broken: seed {seed}: {failure.__cause__}")
            return 0
    print(f"ended: {ended}")
    return 1


if __name__ == "__main__":
    forget_compiled()
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
