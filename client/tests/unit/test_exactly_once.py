"""Nothing is lost and nothing processed twice, wherever programs die, connections break and routers forget."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from client.tests.lives import Fuse, PublisherLife, SubscriberLife, run_until_quiet
from client.tests.topic import Topic
from hypothesis import given, settings
from hypothesis import strategies as st

from mobula_client.exactly_once import PublishingLink, SubscribingLink

COUNT = 5
SUBSCRIBERS = 2


class World:
    """A publisher, subscribers and a topic."""

    def __init__(self, folder: Path, kills: frozenset[int] = frozenset(), *, keeps_octets: bool = True) -> None:
        self.topic = Topic(keeps_octets=keeps_octets)
        self.fuse = Fuse(kills)
        self.subscribers = [
            SubscriberLife(f"reader-{number}", folder, self.topic, self.fuse) for number in range(SUBSCRIBERS)
        ]
        self.publisher = PublisherLife("writer", folder, self.topic, self.fuse, COUNT)

        self.turns = 0

    def run(self, cuts: frozenset[int] = frozenset(), forgets: frozenset[int] = frozenset()) -> None:
        """Run to the end. At some turns connections are cut, or all routers lose their memory."""
        quiet = Fuse()
        lives = [*self.subscribers, self.publisher]
        for reader in self.subscribers:
            # Who subscribes later has no claim to what was published before.
            reader.fuse = quiet
        run_until_quiet([*self.subscribers])
        for reader in self.subscribers:
            reader.fuse = self.fuse
            assert reader.store is not None
            reader.store._fuse = self.fuse

        def meanwhile(turn: int) -> None:
            self.turns = turn
            if turn in forgets:
                self.topic.forget()
            if turn in cuts or turn in forgets:
                for life in lives:
                    life.cut()

        run_until_quiet(lives, meanwhile)

    def check(self) -> None:
        """Check that each subscriber has processed each message once, in order, and that nothing is left anywhere."""
        expected = list(range(COUNT))
        for reader in self.subscribers:
            assert reader.rows("SELECT number FROM processed ORDER BY rowid") == expected
            assert reader.rows("SELECT tag FROM mobula_decided") == []
            assert isinstance(reader.link, SubscribingLink)
            assert reader.link.end is None
            assert reader.link.decided_by_tag == {}
        assert isinstance(self.publisher.link, PublishingLink)
        assert self.publisher.link.end is None
        assert self.publisher.rows("SELECT number FROM mobula_outgoing") == []
        assert self.topic.unsettled == 0


def size_without_faults() -> tuple[int, int]:
    with TemporaryDirectory() as folder:
        world = World(Path(folder))
        world.run()
        world.check()
        return world.fuse.steps, world.turns


STEPS, TURNS = size_without_faults()


def test_a_run_without_faults_takes_many_steps() -> None:
    assert STEPS > 100
    assert TURNS > 10


@pytest.mark.parametrize("keeps_octets", [True, False])
def test_a_kill_between_any_two_steps_loses_nothing_and_doubles_nothing(tmp_path: Path, keeps_octets: bool) -> None:
    for step in range(1, STEPS + 1):
        folder = tmp_path / str(step)
        folder.mkdir()
        world = World(folder, frozenset({step}), keeps_octets=keeps_octets)
        world.run()
        assert sum(life.deaths for life in (world.publisher, *world.subscribers)) == 1, step
        world.check()


@pytest.mark.parametrize("is_forgetting", [False, True])
def test_a_cut_in_any_turn_loses_nothing_and_doubles_nothing(tmp_path: Path, is_forgetting: bool) -> None:
    for turn in range(TURNS):
        folder = tmp_path / str(turn)
        folder.mkdir()
        world = World(folder)
        turns = frozenset({turn})
        world.run(forgets=turns) if is_forgetting else world.run(cuts=turns)
        world.check()


@settings(max_examples=60)
@given(
    kills=st.frozensets(st.integers(1, 2 * STEPS), max_size=4),
    cuts=st.frozensets(st.integers(1, 2 * TURNS), max_size=3),
    forgets=st.frozensets(st.integers(1, 2 * TURNS), max_size=2),
    keeps_octets=st.booleans(),
)
def test_faults_of_all_kinds_together_lose_nothing_and_double_nothing(
    kills: frozenset[int], cuts: frozenset[int], forgets: frozenset[int], keeps_octets: bool
) -> None:
    with TemporaryDirectory() as folder:
        world = World(Path(folder), kills, keeps_octets=keeps_octets)
        world.run(cuts, forgets)
        world.check()
