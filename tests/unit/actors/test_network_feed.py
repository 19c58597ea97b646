"""Between the routing engine and the workers of its router, with another router's engine as the neighbour."""

import asyncio
from collections.abc import Awaitable, Callable

from actors.errors import CallFailed, NoAnswer
from actors.network_feed import NetworkFeed
from actors.peers import TableNews
from actors.process import Background
from actors.trunk_reports import CONTROLS_KEPT, TrunkReports
from routerd.core import (
    ControlArrived,
    Interest,
    Network,
    NetworkNews,
    RouterMode,
    RouterSettings,
    RouteTo,
    Sibling,
    TrunkClosed,
    TrunkEvent,
    TrunkOpened,
)
from routerd.io import NetworkView, RoutingHost
from tests.waiting import eventually_beside

BETWEEN_HELLOS_S = 1.1


class Worker:
    """A worker with what it has been told."""

    def __init__(self, number: int, incarnation: int = 1) -> None:
        self.sibling = Sibling(number, incarnation, f"fabric-{number}")
        self.network = Network()
        self.told: list[NetworkNews] = []
        self.trunks: list[TrunkEvent] = []
        self.controls: list[tuple[int, bytes]] = []
        self.failure: CallFailed | None = None

    async def network_view(self, incarnation: int) -> NetworkView:
        if self.failure is not None:
            raise self.failure
        assert incarnation == self.sibling.incarnation
        network = self.network
        return NetworkView(network.version, network.checkpoint, network.mapping(), tuple(self.trunks))

    async def learn_network(
        self, incarnation: int, news: list[NetworkNews], controls: list[tuple[int, bytes]]
    ) -> None:
        if self.failure is not None:
            raise self.failure
        for one in news:
            self.told.append(one)
            self.network.apply(one)
        self.controls.extend(controls)


class System:
    """The engine of router A, its workers, and the engine of router B at the far end of trunk 7 of the first worker."""

    def __init__(self, *workers: Worker) -> None:
        self.workers = {worker.sibling.worker: worker for worker in workers}
        self.neighbour = RoutingHost(
            RouterSettings(id="B", mode=RouterMode.INTERIOR), epoch=1, instance=1, now=0.0, wall_clock=0.0
        )
        self.carried = 0
        """Messages that the feed has sent."""
        self.gap_s = 0.0
        """For how long the process of the feed has stood still."""
        self.feed = self.new_feed(epoch=10, instance=5)
        self.version = 0

    def new_feed(self, epoch: int, instance: int) -> NetworkFeed:
        loop = asyncio.get_running_loop()

        def clock() -> float:
            return loop.time() + self.gap_s

        return NetworkFeed(
            RouterSettings(id="A", mode=RouterMode.INTERIOR),
            self.workers,
            Background(),
            epoch=epoch,
            instance=instance,
            now=clock,
            wall_clock=clock,
        )

    def learn(self, *interests: Interest, is_full: bool = True) -> None:
        self.version += 1
        members = tuple(worker.sibling for worker in self.workers.values())
        self.feed.learn(TableNews((1, self.version), members, is_full, interests))

    def open_trunk(self) -> None:
        """Open the trunk at both ends."""
        worker = self.workers[0]
        worker.trunks.append(TrunkOpened(7, 1))
        self.feed.take(0, worker.sibling.incarnation, [TrunkOpened(7, 1)])
        self.neighbour.take_events([TrunkOpened(3, 1)], self.now())

    def now(self) -> float:
        return asyncio.get_running_loop().time()

    def exchange(self) -> None:
        """Carry control messages both ways."""
        worker = self.workers[0]
        controls, worker.controls = worker.controls, []
        self.carried += len(controls)
        self.neighbour.take_events([ControlArrived(3, octets) for _, octets in controls], self.now())
        self.neighbour.tick(self.now())
        answers = [ControlArrived(7, octets) for _, octets in self.neighbour.outputs(self.now()).controls]
        if answers:
            self.feed.take(0, worker.sibling.incarnation, list(answers))

    async def until(self, claim: Callable[[], object]) -> None:
        """Go on until a claim holds."""

        def exchanged() -> object:
            found = claim()
            if not found:
                self.exchange()
            return found

        await eventually_beside(exchanged, "it comes to hold")


def run(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test in a loop of its own."""

    async def run_it() -> None:
        await test()

    asyncio.run(run_it())


def test_all_workers_learn_the_route_over_the_trunk_of_one() -> None:
    async def test() -> None:
        system = System(Worker(0), Worker(1))
        system.learn()
        system.open_trunk()
        await system.until(lambda: all(worker.network.routes for worker in system.workers.values()))
        assert [worker.network.routes for worker in system.workers.values()] == [{"B": RouteTo("B", 7, 1)}] * 2
        assert [node.id for node in system.feed.nodes()] == ["A", "B"]

    run(test)


def test_addresses_are_told_both_ways() -> None:
    async def test() -> None:
        system = System(Worker(0), Worker(1))
        system.learn(Interest("M0here", 2), Interest("M0$management", 1))
        system.open_trunk()
        system.neighbour.set_interests([Interest("M0there", 1)], system.now())
        far = Network()

        def known() -> list[tuple[str, ...]]:
            far.apply(system.neighbour.full_news())
            return [far.routers_of(key) for key in ("M0here", "M0more")]

        await system.until(lambda: known() == [("A",), ()])
        await system.until(lambda: system.workers[1].network.routers_of("M0there") == ("B",))
        assert far.routers_of("M0$management") == ()
        system.learn(Interest("M0here", 0), Interest("M0more", 1), is_full=False)
        await system.until(lambda: known() == [(), ("A",)])

    run(test)


def test_what_a_worker_says_before_it_is_known_is_kept() -> None:
    async def test() -> None:
        system = System(Worker(0))
        system.feed.take(0, 1, [TrunkOpened(7, 1)])
        system.neighbour.take_events([TrunkOpened(3, 1)], system.now())
        assert system.feed.nodes() == []
        system.learn()
        await system.until(lambda: system.workers[0].network.routes)

    run(test)


def test_the_trunks_of_a_worker_that_has_gone_are_lost() -> None:
    async def test() -> None:
        system = System(Worker(0), Worker(1))
        system.learn()
        system.open_trunk()
        await system.until(lambda: system.workers[1].network.routes)
        system.workers[0] = Worker(0, incarnation=2)
        system.learn()
        await system.until(lambda: not system.workers[1].network.routes)
        assert system.workers[0].told[0].is_full

    run(test)


def test_a_trunk_that_closes_takes_its_routes_with_it() -> None:
    async def test() -> None:
        system = System(Worker(0))
        system.learn()
        system.open_trunk()
        await system.until(lambda: system.workers[0].network.routes)
        system.feed.take(0, 1, [TrunkClosed(7)])
        await system.until(lambda: not system.workers[0].network.routes)

    run(test)


def test_a_neighbour_is_not_lost_for_what_it_said_while_the_process_stood_still() -> None:
    async def test() -> None:
        system = System(Worker(0))
        system.learn()
        system.open_trunk()
        worker = system.workers[0]
        await system.until(lambda: worker.network.routes)
        known = len(worker.told)
        system.gap_s = 20.0
        # What the workers have to tell comes after the timers that are due.
        await asyncio.sleep(BETWEEN_HELLOS_S)
        system.carried = 0
        # It has said hello, and then looked who else has.
        await system.until(lambda: system.carried > 1)
        assert [news.routes for news in worker.told[known:] if news.routes is not None] == []

    run(test)


def test_a_worker_that_did_not_answer_is_told_everything_anew() -> None:
    async def test() -> None:
        system = System(Worker(0), Worker(1))
        system.learn()
        deaf = system.workers[1]
        await system.until(lambda: deaf.told)
        deaf.failure = NoAnswer("A.connection.1", "no answer")
        system.open_trunk()
        await system.until(lambda: system.workers[0].network.routes)
        deaf.failure = None
        deaf.network = Network()
        await system.until(lambda: deaf.network.routes)
        assert deaf.told[-1].is_full or any(one.is_full for one in deaf.told[1:])

    run(test)


def test_a_worker_that_does_not_say_what_it_has_is_asked_again() -> None:
    async def test() -> None:
        silent = Worker(1)
        silent.failure = NoAnswer("A.connection.1", "no answer")
        system = System(Worker(0), silent)
        system.learn()
        system.open_trunk()
        await system.until(lambda: system.workers[0].network.routes)
        silent.failure = None
        await system.until(lambda: silent.network.routes)

    run(test)


def test_a_new_engine_goes_on_where_the_one_before_ended() -> None:
    async def test() -> None:
        system = System(Worker(0), Worker(1))
        system.learn(Interest("M0here", 1))
        system.open_trunk()
        system.neighbour.set_interests([Interest("M0there", 1)], system.now())
        far = Network()

        def is_told() -> bool:
            far.apply(system.neighbour.full_news())
            known = all(worker.network.routers_of("M0there") == ("B",) for worker in system.workers.values())
            return known and far.routers_of("M0here") == ("A",)

        await system.until(is_told)
        before = next(node for node in system.neighbour.nodes() if node.id == "A")
        routes = system.workers[1].network.routes
        system.feed = system.new_feed(epoch=20, instance=99)
        system.learn(Interest("M0here", 1), Interest("M0more", 1))
        await system.until(lambda: system.workers[1].network.version[0] == 20)
        assert system.workers[1].network.routes == routes
        assert system.workers[1].network.routers_of("M0there") == ("B",)

        def knows_more() -> bool:
            far.apply(system.neighbour.full_news())
            return far.routers_of("M0more") == ("A",)

        await system.until(knows_more)
        after = next(node for node in system.neighbour.nodes() if node.id == "A")
        assert (after.instance, after.cost) == (before.instance, before.cost) == (5, 1)

    run(test)


def test_reports_keep_the_state_of_trunks_for_an_engine_that_is_away() -> None:
    async def test() -> None:
        class Engine:
            def __init__(self) -> None:
                self.is_away = True
                self.taken: list[TrunkEvent] = []

            async def learn(self, news: TableNews) -> None:
                raise AssertionError

            async def nodes(self) -> object:
                raise AssertionError

            async def take_trunk_events(self, worker: int, incarnation: int, events: list[TrunkEvent]) -> None:
                if self.is_away:
                    self.is_away = False
                    raise NoAnswer("A.engine", "no answer")
                assert (worker, incarnation) == (2, 9)
                self.taken.extend(events)

        engine = Engine()
        reports = TrunkReports(2, engine, lambda: 9)
        controls = [ControlArrived(7, b"%d" % number) for number in range(CONTROLS_KEPT + 2)]
        reports.take([TrunkOpened(7, 1), *controls, TrunkClosed(7)])
        telling = asyncio.ensure_future(reports.keep_telling())
        await eventually_beside(lambda: len(engine.taken) == CONTROLS_KEPT + 2, "the latest are told")
        reports.take([ControlArrived(8, b"told")])
        await eventually_beside(lambda: len(engine.taken) == CONTROLS_KEPT + 3, "one more is told")
        telling.cancel()
        assert engine.taken == [TrunkOpened(7, 1), *controls[2:], TrunkClosed(7), ControlArrived(8, b"told")]

    run(test)
