"""Seeds of topics, and the rules of the protocol: without any of them the checker finds what goes wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.sim import topics_checks
from tests.sim.campaign import Failed
from tests.sim.topics import run
from tests.sim.topics_mutations import MUTATIONS
from tests.sim.topics_stories import PROFILES

ROOT = Path(__file__).parents[2]
SEEDS_AT_ONCE = 20
ONCE_BROKEN = (9, 61, 117, 145, 245, 11119, 20641, 93390, 105524)
"""Found what was wrong before: a set that a copy overtook, lost ends of conversations, clocks, skipped records, an
announcement that came after the answer, and what was accepted after it was released.
"""


@pytest.mark.parametrize("first", range(1, 200, SEEDS_AT_ONCE))
def test_the_promise_is_kept(first: int) -> None:
    results = [run(seed) for seed in range(first, first + SEEDS_AT_ONCE)]
    assert sum(result.counts["accepted"] for result in results) > SEEDS_AT_ONCE


@pytest.mark.parametrize("seed", ONCE_BROKEN)
def test_the_promise_is_kept_where_it_once_was_not(seed: int) -> None:
    assert run(seed).counts["known_losses"] == 0


@pytest.mark.parametrize("profile", PROFILES)
def test_the_promise_is_kept_in_every_kind_of_run(profile: str) -> None:
    counts = [run(seed, **PROFILES[profile]).counts for seed in range(1, 4)]
    assert sum(each["given"] + each["ended"] for each in counts) > 0


def test_the_class_of_losses_that_is_left_is_known_as_such() -> None:
    assert [run(seed, **PROFILES["forgetting"]).counts["known_losses"] for seed in range(1, 4)] == [1, 1, 1]


def test_a_seed_leads_to_the_same_each_time() -> None:
    assert run(21) == run(21)


def test_seeds_make_a_difference() -> None:
    assert len({run(seed).digest for seed in range(1, 5)}) == 4


def test_a_failure_says_how_to_have_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(topics_checks.History, "unfinished", lambda self: "P5: never")
    with pytest.raises(Failed, match=r"again: python -m tests.sim.topics --first 3 --seeds 1$") as caught:
        run(3)
    assert "seed 3: Broken: P5: never" in str(caught.value)


NEEDED: list[tuple[str, str, int]] = [
    ("acknowledges_early", "moves", 3),
    ("repairs_no_gaps", "splits", 3),
    ("keeps_a_lost_role", "splits", 10),
    ("believes_records_before_the_map", "moves", 6),
    ("ignores_versions", "crashes", 30),
    ("ignores_subscriptions_that_are_not_ready", "confirming", 5),
    ("is_always_sure", "unheard", 5),
    ("forgets_closed_publishers", "closing", 5),
    ("takes_copies_of_older_claims", "moves", 60),
    ("is_done_before_all_know", "settling", 8),
    ("waits_for_no_lease", "crossing to a new router", 30),
    ("counts_the_lease_from_before_the_claim", "crossing to a new router", 30),
    ("knows_all_routers_at_its_start", "crossing to a new router", 30),
    ("shows_everything", "returning", 3),
    ("shows_without_the_publisher", "returning", 3),
    ("believes_what_it_hears", "deaf", 3),
    ("has_no_horizon", "joining", 3),
    ("answers_without_an_echo", "leaving", 65),
    ("takes_old_answers", "slow", 12),
    ("counts_no_attaches", "resting", 3),
    ("cancels_no_copies", "turns", 105),
    ("answers_settled_before_done", "settling", 20),
    ("mixes_lives_of_hosts", "reborn", 10),
    ("never_ends_publishers", "expiring", 5),
    ("takes_maps_piece_by_piece", "moves", 10),
]
"""What is left out, the kind of run that shows it, and within how many seeds."""


def without(rule: str, profile: str, seeds: int) -> tuple[int, str]:
    """Return the status and the last line of runs without a rule."""
    command = [sys.executable, "-m", "tests.sim.topics_without", rule, profile, str(seeds)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout.strip() or done.stderr


@pytest.mark.parametrize(("rule", "profile", "most"), NEEDED)
def test_without_a_rule_the_checker_finds_what_goes_wrong(rule: str, profile: str, most: int) -> None:
    status, said = without(rule, profile, most)
    assert (status, said.partition(":")[0]) == (0, "broken"), said


def test_without_the_grace_subscriptions_are_ended_that_would_have_come_back() -> None:
    assert sum(run(seed, **PROFILES["dying"]).counts["ended"] for seed in range(1, 4)) == 0
    status, said = without("accepts_at_once", "dying", 3)
    assert status == 1
    assert int(said.removeprefix("ended: ")) > 0


def test_without_confirmations_subscriptions_are_ended_that_would_have_gone_on() -> None:
    assert sum(run(seed, **PROFILES["announcing"]).counts["ended"] for seed in range(1, 6)) == 0
    status, said = without("confirms_nothing", "announcing", 5)
    assert status == 1
    assert int(said.removeprefix("ended: ")) > 0


def test_every_mutation_is_tested() -> None:
    tested = {"accepts_at_once", "confirms_nothing", *(rule for rule, _, _ in NEEDED)}
    assert tested == {rule.__name__ for rule in MUTATIONS}
