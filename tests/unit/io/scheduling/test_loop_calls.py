"""What other threads have a worker's loop do: each call is a turn of its own, with a beginning and an end."""

from asyncio import AbstractEventLoop
from typing import cast

import pytest

from routerd.io.scheduling.loop_calls import LoopCalls


class Loop:
    """An event loop that does at once what it is to do soon."""

    def call_soon_threadsafe(self, function, *arguments):
        function(*arguments)


@pytest.fixture
def said():
    return []


@pytest.fixture
def calls(said):
    loop = cast(AbstractEventLoop, Loop())
    return LoopCalls(loop, lambda: said.append("the clock is set"), lambda: said.append("the turn ends"))


def test_a_call_is_made_in_a_turn(calls, said):
    calls.call(said.append, "it is called").result()
    assert said == ["the clock is set", "it is called", "the turn ends"]


def test_a_call_that_fails_is_a_turn_as_well(calls, said):
    failed = calls.call(said.index, "nothing")
    assert isinstance(failed.exception(), ValueError)
    assert said == ["the clock is set", "the turn ends"]


def test_what_is_posted_may_be_a_turn(calls, said):
    calls.post_turn(said.append, "it is called")
    calls.post(said.append, "without a turn")
    assert said == ["the clock is set", "it is called", "the turn ends", "without a turn"]
