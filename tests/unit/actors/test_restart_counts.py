"""Restarts of the actors that have no connections."""

import asyncio

from actors.errors import CallFailed, NoAnswer, PeerGone
from actors.plan import ENGINE, MANAGEMENT, TABLE
from actors.restart_counts import RestartCounts
from routerd.management import CENTRAL_ACTORS


class Actor:
    """An actor that Ray has started again some times, or that does not answer."""

    def __init__(self, answer: int | CallFailed) -> None:
        self.answer = answer

    async def restarts(self) -> int:
        if isinstance(self.answer, CallFailed):
            raise self.answer
        return self.answer


def told(table: int | CallFailed, engine: int | CallFailed) -> dict[str, int]:
    return dict(asyncio.run(RestartCounts(3, {TABLE: Actor(table), ENGINE: Actor(engine)}).told()))


def test_every_actor_tells_its_own_count() -> None:
    found = told(1, 0)
    assert found == {TABLE: 1, ENGINE: 0, MANAGEMENT: 3}
    assert tuple(found) == CENTRAL_ACTORS


def test_an_actor_that_does_not_answer_is_left_out() -> None:
    assert told(PeerGone("R.table", "The actor died"), 2) == {ENGINE: 2, MANAGEMENT: 3}
    assert told(4, NoAnswer("R.engine", "no answer to restarts within 2 s")) == {TABLE: 4, MANAGEMENT: 3}
