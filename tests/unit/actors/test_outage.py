"""When a router that lacks actors says so, and when it ends."""

import pytest

from actors import outage
from actors.errors import RouterLost
from actors.outage import DEAF_S, HEADLESS_S, LATE_S, REMIND_S, STEADY_S, Outage

LOOK_S = 1.0
ROLES = ("table", "engine", "connection.0", "connection.1")
GONE = "Ray's head is gone: forwarding goes on, but no actor is started again before it is back"


class Launcher:
    """What looks once a second, and what it has logged."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.outage = Outage(ROLES)
        self.now = 100.0
        self._said: list[str] = []
        for level in ("notice", "warning", "error"):
            monkeypatch.setattr(outage._log, level, lambda text, *values: self._said.append(text % values))

    def look(self, for_s: float, *away: str, has_head: bool = True, shortage: str | None = None) -> None:
        until = self.now + for_s
        while self.now < until:
            self.now += LOOK_S
            self.outage.see(away, has_head=has_head, now=self.now, shortage=shortage)

    def look_at_a_head_that_dies(self, for_s: float, *away: str) -> None:
        until = self.now + for_s
        while self.now < until:
            self.look(2 * LOOK_S, *away, has_head=False)
            self.look(STEADY_S - LOOK_S, *away)

    def look_until_lost(self, *away: str, has_head: bool = True) -> tuple[float, str]:
        """Return when the router is given up, and why."""
        begun = self.now
        with pytest.raises(RouterLost) as lost:
            self.look(1000.0, *away, has_head=has_head)
        return self.now - begun - LOOK_S, str(lost.value)

    def said(self) -> list[str]:
        said, self._said = self._said, []
        return said


@pytest.fixture
def launcher(monkeypatch: pytest.MonkeyPatch) -> Launcher:
    return Launcher(monkeypatch)


def test_a_router_without_a_head_goes_on_as_long_as_its_actors_live(launcher: Launcher) -> None:
    launcher.look(10 * HEADLESS_S, has_head=False)
    assert launcher.said() == [GONE]
    launcher.look(STEADY_S + LOOK_S)
    assert launcher.said() == ["Ray's head is back"]
    launcher.look(10 * HEADLESS_S)
    assert launcher.said() == []


def test_an_actor_that_no_head_can_start_again_ends_the_router(launcher: Launcher) -> None:
    launcher.look(10.0, has_head=False)
    assert launcher.said() == [GONE]
    waited_s, why = launcher.look_until_lost("engine", "table", has_head=False)
    assert waited_s == HEADLESS_S
    assert why == "actors engine, table have ended, and for 60 s Ray has had no head that could start them again"
    assert launcher.said() == [
        "Not ready: actors engine, table have ended, and Ray has no head to start them again",
    ]


def test_the_time_counts_from_the_end_of_the_head_where_that_is_later(launcher: Launcher) -> None:
    launcher.look(10.0, "engine")
    assert launcher.look_until_lost("engine", has_head=False)[0] == HEADLESS_S


def test_a_head_that_ends_at_each_start_is_none(launcher: Launcher) -> None:
    begun = launcher.now
    with pytest.raises(RouterLost):
        launcher.look_at_a_head_that_dies(2 * HEADLESS_S, "engine")
    assert launcher.now - begun >= HEADLESS_S


def test_a_head_that_is_back_in_time_starts_what_has_ended(launcher: Launcher) -> None:
    launcher.look(10.0, "engine", has_head=False)
    launcher.look(STEADY_S + LOOK_S, "engine")
    launcher.look(LOOK_S)
    assert launcher.said() == [
        GONE,
        "Not ready: actor engine has ended, and Ray has no head to start it again",
        "Ray's head is back",
        "Ready again: all actors are there",
    ]


def test_an_actor_that_is_slow_to_come_back_is_named_again_and_again(launcher: Launcher) -> None:
    launcher.look(LATE_S, "engine")
    assert launcher.said() == []
    launcher.look(LOOK_S + REMIND_S, "engine")
    assert launcher.said() == ["Not ready: actor engine has ended, and Ray has not started it again yet"] * 2
    launcher.look(LOOK_S)
    assert launcher.said() == ["Ready again: all actors are there"]


def test_what_keeps_an_actor_from_coming_back_is_said_at_once(launcher: Launcher) -> None:
    launcher.look(REMIND_S, "engine", shortage="the file system of /run has 0 KiB free")
    launcher.look(LOOK_S)
    assert launcher.said() == [
        "Not ready: actor engine has ended, and Ray cannot start it again: the file system of /run has 0 KiB free",
        "Ready again: all actors are there",
    ]


def test_an_actor_that_is_soon_back_is_none_of_its_business(launcher: Launcher) -> None:
    launcher.look(LATE_S - LOOK_S, "engine")
    launcher.look(LOOK_S)
    assert launcher.said() == []


def test_a_router_to_which_nobody_can_connect_ends(launcher: Launcher) -> None:
    launcher.look(10 * DEAF_S, "connection.0")
    waited_s, why = launcher.look_until_lost("connection.0", "connection.1")
    assert waited_s == DEAF_S
    assert why == "no connection actor has come back within 120 s, so nobody can connect"
