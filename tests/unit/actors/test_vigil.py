"""When a process that stands still is ended."""

from collections.abc import Callable

import pytest

from actors.processes import Condition, Demand, Process
from actors.pulse import Sign
from actors.vigil import BUSY_S, DOUBT_PERIOD_S, PERIOD_S, SILENT_S, STARVED_S, STOPPED_S, Vigil

PROCESS = Process(pid=4711, started=1000)
OTHER = Process(pid=4711, started=2000)
LOOK_S = (PERIOD_S + DOUBT_PERIOD_S) / 2
"""Between two looks: one that is in doubt is looked at more often."""


class Watched:
    """A process that is watched, and the clock of its watcher."""

    def __init__(self) -> None:
        self.vigil = Vigil(self.look, self.tell_demand, lambda process: self.is_held_up)
        self.now = 100.0
        self.sign: Sign | None = Sign(PROCESS, beats=0)
        self.state = "S"
        self.had_s = self.waited_s = 0.0
        self.is_held_up = False
        self.is_there = True
        self.times_looked = 0
        self.times_asked = 0

    def look(self, process: Process) -> Condition | None:
        self.times_looked += 1
        assert self.sign is not None
        assert process == self.sign.process
        return Condition(process, 1, self.state) if self.is_there else None

    def tell_demand(self, process: Process) -> Demand:
        self.times_asked += 1
        return Demand(self.had_s, self.waited_s)

    def see(self, after_s: float = LOOK_S) -> str | None:
        self.now += after_s
        return self.vigil.see(self.sign, self.now)

    def beat(self) -> None:
        assert self.sign is not None
        self.sign = Sign(self.sign.process, self.sign.beats + 1)

    def watch(self, for_s: float, each_time: Callable[[], None] = lambda: None) -> tuple[float, str] | None:
        """Return when, in seconds, the process was to be ended, and why."""
        begin = self.now
        while self.now < begin + for_s:
            each_time()
            reason = self.see()
            if reason is not None:
                return self.now - begin, reason
        return None


def test_a_process_that_beats_is_left_alone_and_not_even_looked_at() -> None:
    watched = Watched()
    assert watched.watch(60, watched.beat) is None
    assert (watched.times_looked, watched.times_asked) == (0, 0)


def test_of_a_process_that_beats_a_moment_late_only_the_state_is_looked_at() -> None:
    watched = Watched()
    is_late = False

    def beat_every_other_time() -> None:
        nonlocal is_late
        is_late = not is_late
        if is_late:
            watched.beat()

    assert watched.watch(60, beat_every_other_time) is None
    assert watched.times_looked > 60
    assert watched.times_asked == 0


def test_a_process_that_is_stopped_is_ended_at_the_second_look() -> None:
    watched = Watched()
    watched.see()
    watched.state = "T"
    ended = watched.watch(5)
    assert ended is not None
    assert STOPPED_S <= ended[0] <= 2 * PERIOD_S
    assert ended[1] == "it has been stopped for 0.3 s"


def test_a_process_is_seen_to_be_stopped_though_it_has_just_beaten() -> None:
    watched = Watched()
    watched.see()
    watched.state = "T"
    watched.beat()
    assert watched.see() is None
    assert watched.see() is None
    assert watched.see() == "it has been stopped for 0.3 s"


def test_a_process_is_in_doubt_from_the_beat_that_it_misses_to_the_next() -> None:
    watched = Watched()
    watched.see()
    doubts = []
    for has_beaten in (True, False, False, True):
        if has_beaten:
            watched.beat()
        watched.see()
        doubts.append(watched.vigil.is_in_doubt)
    assert doubts == [False, True, True, False]


def test_a_process_that_goes_on_in_time_is_left_alone() -> None:
    watched = Watched()
    watched.see()
    for _ in range(3):
        watched.state = "T"
        assert watched.see() is None
        watched.state = "S"
        assert watched.see() is None


def test_a_process_in_the_place_of_one_that_was_stopped_is_left_alone() -> None:
    watched = Watched()
    watched.see()
    watched.state = "T"
    assert watched.see() is None
    watched.sign, watched.state = Sign(OTHER, beats=0), "S"
    assert watched.see() is None
    watched.state = "T"
    assert watched.see() is None


def test_a_process_that_does_nothing_and_does_not_beat_is_ended() -> None:
    watched = Watched()
    watched.see()
    ended = watched.watch(60)
    assert ended is not None
    assert SILENT_S <= ended[0] <= SILENT_S + 2 * PERIOD_S
    assert ended[1] == "it has given no sign of life for 2.1 s, and wanted 0% of a core"


@pytest.mark.parametrize(("had", "allowed_s"), [(1.0, BUSY_S), (0.5, BUSY_S), (0.3, STARVED_S), (0.0, STARVED_S)])
def test_a_process_that_works_has_more_time_to_beat_and_most_who_waits_for_a_core(had: float, allowed_s: float) -> None:
    watched = Watched()
    watched.see()

    def want() -> None:
        watched.had_s += had * LOOK_S
        watched.waited_s += (1.0 - had) * LOOK_S

    ended = watched.watch(2 * STARVED_S, want)
    assert ended is not None
    assert allowed_s <= ended[0] <= allowed_s + 2 * PERIOD_S
    assert ended[1].endswith(" s, and wanted 100% of a core")


def test_a_process_that_cannot_have_a_core_just_now_has_more_time_to_beat() -> None:
    watched = Watched()
    watched.see()
    watched.is_held_up = True
    assert watched.watch(STARVED_S / 2) is None
    watched.beat()
    ended = watched.watch(2 * STARVED_S)
    assert ended is not None
    assert STARVED_S <= ended[0] <= STARVED_S + 2 * PERIOD_S


def test_a_process_that_gets_a_core_at_last_and_does_nothing_is_ended() -> None:
    watched = Watched()
    watched.see()
    watched.is_held_up = True
    assert watched.watch(BUSY_S / 2) is None
    watched.is_held_up = False
    assert watched.see() is None
    assert watched.watch(2 * PERIOD_S) is not None


def test_a_process_that_is_looked_at_with_a_debugger_is_left_alone() -> None:
    watched = Watched()
    watched.see()
    watched.state = "t"
    assert watched.watch(60) is None


def test_a_process_that_has_ended_is_not_ended_again() -> None:
    watched = Watched()
    watched.see()
    watched.is_there = False
    assert watched.watch(60) is None


def test_a_process_in_the_place_of_another_has_all_the_time_again() -> None:
    watched = Watched()
    watched.see()
    watched.watch(SILENT_S - 2 * PERIOD_S)
    watched.sign = Sign(OTHER, beats=0)
    assert watched.see() is None
    assert watched.watch(SILENT_S - PERIOD_S) is None


def test_a_pulse_that_goes_away_is_no_reason() -> None:
    watched = Watched()
    watched.see()
    watched.watch(SILENT_S - 2 * PERIOD_S)
    watched.sign = None
    assert watched.watch(60) is None


def test_time_in_which_the_watcher_did_not_run_does_not_count() -> None:
    watched = Watched()
    watched.see()
    assert watched.see() is None
    assert watched.see(after_s=3600) is None
    ended = watched.watch(60)
    assert ended is not None
    assert ended[0] > SILENT_S - 2 * PERIOD_S


def test_a_process_that_was_stopped_with_its_watcher_and_goes_on_first_is_left_alone() -> None:
    watched = Watched()
    watched.see()
    watched.state = "T"
    watched.see()
    watched.state = "S"
    assert watched.see(after_s=3600) is None
