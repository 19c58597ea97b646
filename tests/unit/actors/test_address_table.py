"""The address table actor and its workers, in one event loop and without Ray."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from actors.address_table import AddressTableActor
from actors.errors import CallFailed, NoAnswer, PeerGone
from actors.peers import TableNews
from actors.process import ProcessConfig
from actors.pulse import Pulse
from routerd.core import Changes, Delta, Interest, JoinRequired, Router, RouterSettings, Sibling, UnknownMember
from tests.waiting import eventually_beside

PROCESS = ProcessConfig(router_id="A", role="table", folder="nowhere")
NOTHING = Changes(0, ())
Version = tuple[int, int]


class Engine:
    """A routing engine that takes what it is told."""

    def __init__(self) -> None:
        self.learned: tuple[Sibling, ...] = ()
        self.is_full = False

    async def learn(self, news: TableNews) -> None:
        self.learned = news.members
        self.is_full = news.is_full


class Worker:
    """A worker whose answers can be held back, and which can be gone."""

    def __init__(self, number: int, incarnation: int = 1) -> None:
        self.sibling = Sibling(number, incarnation, f"fabric-{number}")
        self.router = Router(RouterSettings(id="A"), lambda: "token", worker=number, is_alone=False)
        self.deltas: list[Delta] = []
        self.invitations = 0
        self.failure: CallFailed | None = None
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def apply(self, incarnation: int, delta: Delta) -> Version:
        self.deltas.append(delta)
        await self.may_answer.wait()
        if self.failure is not None:
            raise self.failure
        self.router.siblings.apply(delta)
        return delta.version

    async def invite(self) -> None:
        self.invitations += 1

    async def ping(self) -> float:
        return 0.0

    async def end(self) -> None:
        raise AssertionError("nobody is to be ended")

    @property
    def known(self) -> dict[int, dict[str, int]]:
        return {number: dict(neighbour.interests) for number, neighbour in self.router.directory.neighbours.items()}


class System:
    """A table with three workers, of which some have joined."""

    def __init__(self, epoch: int = 7, *, is_restart: bool = False) -> None:
        self.workers = {number: Worker(number) for number in range(3)}
        self.engine = Engine()
        self.table = AddressTableActor(epoch, PROCESS, self.workers, self.engine, is_restart=is_restart)

    async def join(self, *numbers: int) -> None:
        for number in numbers:
            await self.table.join(self.workers[number].sibling, NOTHING)

    async def update(self, number: int, sequence: int, **interests: int) -> Version:
        changes = Changes(sequence, tuple(Interest(key, count) for key, count in interests.items()))
        return await self.table.update(number, self.workers[number].sibling.incarnation, (changes,))


@pytest.fixture
def began(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., System]:
    """Return what makes a system whose table has begun; to be called in an event loop."""
    monkeypatch.setattr("actors.address_table.settle", lambda config: Pulse(str(tmp_path / "pulse")))

    def make(*, is_restart: bool) -> System:
        system = System(is_restart=is_restart)
        system.table.begin()
        return system

    return make


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test in an event loop, with an end to it."""
    asyncio.run(asyncio.wait_for(_of(test), 10.0))


async def _of(test: Callable[[], Awaitable[None]]) -> None:
    await test()


def test_an_update_returns_once_every_worker_knows_it() -> None:
    async def test() -> None:
        system = System()
        await system.join(0, 1, 2)
        system.workers[2].may_answer.clear()
        update = asyncio.ensure_future(system.update(0, 1, M0queue=1))
        await eventually_beside(lambda: system.workers[1].known.get(0) == {"M0queue": 1}, "it is told")
        assert not update.done()
        system.workers[2].may_answer.set()
        version = await update
        assert version[0] == 7
        assert system.workers[2].known[0] == {"M0queue": 1}

    run(test)


def test_what_comes_up_while_a_worker_is_told_is_told_together() -> None:
    async def test() -> None:
        system = System()
        await system.join(0, 1, 2)
        slow = system.workers[2]
        slow.may_answer.clear()
        before = len(slow.deltas)
        updates = [asyncio.ensure_future(system.update(0, 1, M01=1))]
        await eventually_beside(lambda: len(slow.deltas) == before + 1, "the slow one is told")
        for sequence, key in ((2, "M02"), (3, "M03")):
            updates.append(asyncio.ensure_future(system.update(0, sequence, **{key: 1})))
            await eventually_beside(lambda key=key: key in system.workers[1].known[0], "all is known")
        assert len(slow.deltas) == before + 1
        slow.may_answer.set()
        await asyncio.gather(*updates)
        assert len(slow.deltas) == before + 2
        assert slow.known[0] == {"M01": 1, "M02": 1, "M03": 1}

    run(test)


def test_nobody_waits_for_a_worker_that_has_gone() -> None:
    async def test() -> None:
        system = System()
        await system.join(0, 1, 2)
        await system.update(2, 1, M0queue=1)
        gone = system.workers[2]
        gone.failure = PeerGone("A.connection.2", "it has ended")
        await system.update(0, 1, M0other=1)
        everything = await system.table.everything()
        assert (everything.version, everything.members) == (
            (7, 6),
            (system.workers[0].sibling, system.workers[1].sibling),
        )
        assert system.workers[1].known == {0: {"M0other": 1}}
        await eventually_beside(lambda: gone.invitations, "the one that is gone is asked to join")

    run(test)


def test_a_worker_that_comes_back_is_told_everything_and_the_others_of_it() -> None:
    async def test() -> None:
        system = System()
        await system.join(0, 1, 2)
        await system.update(2, 1, M0queue=1)
        system.workers[2] = again = Worker(2, incarnation=2)
        await system.table.join(again.sibling, Changes(5, (Interest("M0again", 1),)))
        assert system.workers[0].known[2] == {"M0again": 1}
        with pytest.raises(JoinRequired):
            await system.update(1, 3, M0gap=1)

    run(test)


def test_a_worker_that_did_not_answer_is_told_everything_anew() -> None:
    async def test() -> None:
        system = System()
        await system.join(0, 1)
        late = system.workers[1]
        late.may_answer.clear()
        late.failure = NoAnswer("A.connection.1", "no answer")
        update = asyncio.ensure_future(system.update(0, 1, M0queue=1))
        await eventually_beside(lambda: not late.deltas[-1].is_full, "it gets what has changed")
        late.may_answer.set()
        await eventually_beside(lambda: late.deltas[-1].is_full, "it gets everything again")
        late.failure = None
        await update
        assert late.known[0] == {"M0queue": 1}

    run(test)


def test_a_new_table_knows_nobody_and_says_so() -> None:
    async def test() -> None:
        system = System(epoch=8)
        with pytest.raises(UnknownMember):
            await system.update(0, 4, M0queue=1)
        version = await system.table.join(system.workers[0].sibling, Changes(4, (Interest("M0queue", 1),)))
        assert version == (8, 1)

    run(test)


def test_a_table_that_replaces_another_tells_of_its_members_once_all_have_joined(began: Callable[..., System]) -> None:
    async def test() -> None:
        system = began(is_restart=True)
        joins = [asyncio.ensure_future(system.join(number)) for number in (0, 1)]
        asked = asyncio.ensure_future(system.table.everything())
        while len((await system.table.snapshot()).siblings) < 2:
            await asyncio.sleep(0)
        assert [each.done() for each in (asked, *joins)] == [False] * 3
        assert (system.workers[0].deltas, system.engine.learned) == ([], ())
        await system.join(2)
        await asyncio.gather(*joins)
        siblings = tuple(worker.sibling for worker in system.workers.values())
        assert {delta.siblings for worker in system.workers.values() for delta in worker.deltas} == {siblings}
        assert (await asked).members == siblings

    run(test)


def test_a_routing_engine_learns_all_from_a_table_that_replaces_another(began: Callable[..., System]) -> None:
    async def test() -> None:
        system = began(is_restart=True)
        await asyncio.gather(*(system.join(number) for number in range(3)))
        await eventually_beside(lambda: system.engine.learned, "the engine is told")
        assert (len(system.engine.learned), system.engine.is_full) == (3, True)

    run(test)


def test_a_table_goes_on_without_a_worker_that_does_not_join(
    began: Callable[..., System], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("actors.address_table.AWAIT_S", 0.01)

    async def test() -> None:
        system = began(is_restart=True)
        await asyncio.gather(system.join(0), system.join(2))
        assert system.workers[0].deltas[-1].siblings == (system.workers[0].sibling, system.workers[2].sibling)
        await system.join(1)
        assert set(system.workers[0].router.directory.neighbours) == {1, 2}

    run(test)
    assert "goes on without workers that have not joined in 0.01 s: 1" in capfd.readouterr().err
