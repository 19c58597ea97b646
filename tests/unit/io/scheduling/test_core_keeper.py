"""Which core a loop goes to: by what it had to wait, and what others idled."""

import itertools
import os
import threading
import time

import pytest

from routerd.io.scheduling.core_keeper import PATIENCE_MAX, QUIET_LOOKS, CoreKeeper, Sample, SystemCores, use_all_cores

BOTH = frozenset({0, 1})


class Scripted:
    """Cores that idle as a test has it, some of them taken by others."""

    def __init__(self, allowed=BOTH, taken=()):
        self.now = Sample(at=0.0, ran=0.0, waited=0.0, idle=dict.fromkeys(allowed, 0.0))
        self.may_use = frozenset(allowed)
        self.taken = set(taken)
        self.kept = []

    def allowed(self):
        return self.may_use

    def sample(self):
        return self.now

    def take(self, core):
        if core in self.taken:
            return False
        self.kept.append(core)
        return True

    def leave(self):
        self.kept.append(None)

    def pass_second(self, *, ran, waited, **idle):
        was = self.now
        shares = {int(name.removeprefix("core")): share for name, share in idle.items()}
        self.now = Sample(
            at=was.at + 1,
            ran=was.ran + ran,
            waited=was.waited + waited,
            idle={core: spent + shares.get(core, 0.0) for core, spent in was.idle.items()},
        )


def keeper(cores):
    made = CoreKeeper(cores)
    made.look()
    return made


def look(made, cores, **second):
    cores.pass_second(**second)
    made.look()


def test_who_waits_takes_the_core_that_idles_most():
    cores = Scripted({0, 1, 2})
    made = keeper(cores)
    look(made, cores, ran=0.6, waited=0.3, core0=0.2, core1=0.4, core2=0.7)
    assert (cores.kept, made.home) == ([2], 2)


def test_one_that_another_loop_has_is_left_to_it():
    cores = Scripted({0, 1, 2}, taken={2})
    made = keeper(cores)
    look(made, cores, ran=0.6, waited=0.3, core2=0.7)
    assert (cores.kept, made.home) == ([0], 0)


def test_where_all_are_taken_it_runs_anywhere():
    cores = Scripted(taken=BOTH)
    made = keeper(cores)
    look(made, cores, ran=0.6, waited=0.3, core1=0.7)
    assert (cores.kept, made.home) == ([], None)


@pytest.mark.parametrize(
    "second",
    [{"ran": 0.9, "waited": 0.05, "core1": 1.0}, {"ran": 0.05, "waited": 0.2, "core1": 1.0}],
    ids=["it hardly waits", "it has little to do"],
)
def test_who_need_not_wait_takes_none(second):
    cores = Scripted()
    made = keeper(cores)
    look(made, cores, **second)
    assert (cores.kept, made.home) == ([], None)


def test_its_own_is_left_only_for_one_that_idles():
    cores = Scripted()
    made = keeper(cores)
    look(made, cores, ran=0.5, waited=0.5, core1=1.0)
    look(made, cores, ran=1.0, waited=0.0)
    for _ in range(3):
        look(made, cores, ran=0.5, waited=0.5, core0=0.1)
    assert cores.kept == [1]
    look(made, cores, ran=0.5, waited=0.5, core0=0.3)
    assert cores.kept == [1, 0]


def test_after_moves_that_do_not_help_it_rests_longer_and_longer():
    cores = Scripted()
    made = keeper(cores)
    moved = []
    for second in range(300):
        before = len(cores.kept)
        look(made, cores, ran=0.5, waited=0.5, core0=1.0, core1=1.0)
        if len(cores.kept) > before:
            moved.append(second)
    rests = [later - earlier for earlier, later in itertools.pairwise(moved)]
    assert rests == sorted(rests)
    assert rests[:3] == [3, 5, 9]
    assert rests[-1] == PATIENCE_MAX + 1


def test_a_move_that_helps_is_soon_followed_by_another_when_that_is_needed():
    cores = Scripted()
    made = keeper(cores)
    while len(cores.kept) < 5:
        look(made, cores, ran=0.5, waited=0.5, core0=1.0, core1=1.0)
    look(made, cores, ran=1.0, waited=0.0)
    look(made, cores, ran=0.5, waited=0.5, core0=1.0, core1=1.0)
    look(made, cores, ran=0.5, waited=0.5, core0=1.0, core1=1.0)
    assert len(cores.kept) == 6


def test_when_there_is_little_to_do_it_runs_anywhere_again():
    cores = Scripted()
    made = keeper(cores)
    look(made, cores, ran=0.5, waited=0.5, core1=1.0)
    for _ in range(QUIET_LOOKS - 1):
        look(made, cores, ran=0.01, waited=0.0)
    assert made.home == 1
    look(made, cores, ran=0.01, waited=0.0)
    assert (cores.kept, made.home) == ([1, None], None)


def test_with_one_core_there_is_nothing_to_choose():
    cores = Scripted({0})
    made = keeper(cores)
    look(made, cores, ran=0.5, waited=0.5, core0=1.0, core1=1.0)
    assert cores.kept == []


def test_a_system_that_does_not_tell_is_left_alone():
    cores = Scripted()
    made = keeper(cores)
    cores.now = None
    made.look()
    made.look()
    assert cores.kept == []


def test_the_system_tells_of_this_thread_and_of_each_core():
    cores = SystemCores()
    first = cores.sample()
    while time.thread_time() < first.ran + 0.05:
        pass
    second = cores.sample()
    assert second.at > first.at
    assert second.ran > first.ran
    assert second.waited >= first.waited
    assert set(second.idle) >= cores.allowed() == os.sched_getaffinity(0)


def in_a_thread(program):
    thread = threading.Thread(target=program)
    thread.start()
    thread.join()


@pytest.fixture
def own_claims(monkeypatch):
    """Have loops of this test claim cores among themselves: routers of other tests may have claimed all of them."""
    monkeypatch.setattr(SystemCores, "_CLAIM", f"\0mobula/test-{os.getpid()}/core/{{}}")


def test_a_core_is_one_loops_until_it_leaves_it(own_claims):
    everything = os.sched_getaffinity(0)
    # A number that no machine has cannot be run on, whoever claims it.
    assert SystemCores().take(1 << 16) is False
    seen = []

    def program():
        one, other = SystemCores(), SystemCores()
        mine = next(core for core in sorted(everything) if one.take(core))
        seen.append(os.sched_getaffinity(0) == {mine})
        seen.append(other.take(mine))
        one.leave()
        seen.append(os.sched_getaffinity(0) == everything)
        seen.append(other.take(mine))
        other.leave()

    in_a_thread(program)
    assert seen == [True, False, True, True]
    assert os.sched_getaffinity(0) == everything


def test_a_thread_that_is_started_by_one_that_keeps_to_a_core_may_use_them_all():
    everything = os.sched_getaffinity(0)
    seen = []

    def child():
        seen.append(os.sched_getaffinity(0))
        use_all_cores()
        seen.append(os.sched_getaffinity(0))

    def parent():
        os.sched_setaffinity(0, {min(everything)})
        in_a_thread(child)

    in_a_thread(parent)
    assert seen == [{min(everything)}, everything]
    assert os.sched_getaffinity(0) == everything
