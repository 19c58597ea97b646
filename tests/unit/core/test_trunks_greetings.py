"""Neighbours are greeted in place of a routing engine that is away, by what it said last."""

import pytest

from routerd.core.roles.trunks import ENGINE_AWAY_S
from tests.unit.core.joined_routers import Mesh, neighbour

GREETING = b"a greeting to amqp:/_local/qdhello"


@pytest.fixture
def router():
    return Mesh("R")["R"]


class Greeted:
    """A neighbour, which hears what it is sent, and greets as well unless it is told not to."""

    def __init__(self, router):
        self.router = router
        self.far = neighbour(router).attach(pairs=1)
        self.is_silent = False

    def say(self, octets):
        self.router.router.trunks.send_control(self.far.number, octets)
        self.router.pump()

    def heard(self):
        messages = self.far.messages.pop(self.far.control_in.name, [])
        self.far.unsettled.clear()
        return messages

    def let_pass(self, seconds):
        """Let seconds pass, each with its greeting of the neighbour; return what that heard."""
        for _ in range(seconds):
            self.router.pump(1.0)
            if not self.is_silent:
                self.far.send(self.far.control_out, b"hello", settled=True)
            self.router.router.each_second(self.router.now)
            self.router.pump()
        return self.heard()


def test_a_greeting_is_repeated_when_the_engine_is_silent(router):
    greeted = Greeted(router)
    greeted.say(GREETING)
    assert greeted.heard() == [GREETING]
    assert greeted.let_pass(8) == [GREETING] * 4


def test_it_is_not_while_the_engine_greets_itself(router):
    greeted = Greeted(router)
    for number in range(5):
        greeted.say(GREETING + b"%d" % number)
        assert greeted.let_pass(1) == [GREETING + b"%d" % number]


def test_what_the_engine_said_last_is_repeated(router):
    greeted = Greeted(router)
    for octets in (GREETING, GREETING + b" again", b"something else"):
        greeted.say(octets)
    assert greeted.let_pass(2) == [GREETING, GREETING + b" again", b"something else", GREETING + b" again"]


def test_nothing_is_said_that_the_engine_never_said(router):
    greeted = Greeted(router)
    greeted.say(b"something else")
    assert greeted.let_pass(10) == [b"something else"]


def test_an_engine_that_stays_away_is_not_stood_in_for_for_ever(router):
    greeted = Greeted(router)
    greeted.say(GREETING)
    assert len(greeted.let_pass(int(ENGINE_AWAY_S))) > 20
    assert greeted.let_pass(20) == []


def test_a_neighbour_that_is_silent_is_not_greeted(router):
    greeted = Greeted(router)
    greeted.say(GREETING)
    greeted.let_pass(2)
    greeted.is_silent = True
    assert len(greeted.let_pass(20)) <= 2
    greeted.is_silent = False
    assert len(greeted.let_pass(4)) > 0


def test_a_trunk_that_is_down_is_not_greeted(router):
    greeted = Greeted(router)
    greeted.say(GREETING)
    greeted.far.detach(greeted.far.control_out)
    greeted.heard()
    greeted.is_silent = True
    assert greeted.let_pass(3) == []
