"""Many runs, one after the other, and what came of them."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any


class Failed(AssertionError):
    """A run in which something was broken; it says how to have it again."""


@dataclass
class Campaign:
    """How many runs failed, and what the others had of events and messages."""

    failed: int = 0
    events: int = 0
    totals: Counter[str] = field(default_factory=Counter)

    def report(self) -> str:
        """Return what there was of messages, in words."""
        return ", ".join(f"{what} {number}" for what, number in sorted(self.totals.items()))


def run_all(seeds: Iterable[int], run: Callable[[int], Any], *, goes_on: bool) -> Campaign:
    """Run all seeds; print what failed, and stop there unless it goes on."""
    campaign = Campaign()
    for seed in seeds:
        try:
            result = run(seed)
        except Failed as failure:
            campaign.failed += 1
            cause = failure.__cause__
            print(failure if not goes_on else f"seed {seed}: {type(cause).__name__}: {cause}", flush=True)
            if not goes_on:
                raise
            continue
        campaign.events += result.events
        campaign.totals.update(result.counts)
    return campaign
