"""Routing engines with their hosts, joined in memory on virtual time: what workers are told, what goes over trunks."""

import heapq
import pickle
from collections.abc import Iterable
from itertools import count, pairwise
from typing import Any

import pytest

from routerd.core import (
    AddressSettings,
    Changes,
    ControlArrived,
    Distribution,
    Interest,
    MappedAddresses,
    Network,
    NetworkNews,
    RouterSettings,
    RouteTo,
    TrunkClosed,
    TrunkOpened,
)
from routerd.io.routing import host as routing_host
from routerd.io.routing.control_messages import decoded, encoded
from routerd.io.routing.host import CHECKPOINT_S, RoutingHost, is_advertised, new_instance
from routerd.mesh import ControlMessage, ForeignCheckpoint, Hello

TO_NEIGHBOURS = "amqp:/_local/qdhello"
DELAY_S = 0.001
WALL_CLOCK = 1_000_000.0
MULTICAST = AddressSettings(pattern="multicast/#", distribution=Distribution.MULTICAST)


class Hosted:
    """A router: its host, a worker's idea of the network, and the trunks by their numbers."""

    def __init__(self, id: str, now: float, *, epoch: int = 1, instance: int = 1, **options: Any) -> None:
        settings = RouterSettings(id=id, addresses=(MULTICAST,))
        self.host = RoutingHost(
            settings, epoch=epoch, instance=instance, now=now, wall_clock=WALL_CLOCK + now, **options
        )
        self.network = Network()
        self.news: list[NetworkNews] = []
        self.trunks: dict[int, tuple[Hosted, int]] = {}

    def take_news(self) -> list[NetworkNews]:
        """The news since the last call."""
        news, self.news = self.news, []
        return news


class World:
    """Hosts, and what is on its way between them."""

    def __init__(self) -> None:
        self.now = 100.0
        self._events: list[tuple[float, int, Hosted, Any]] = []
        self._count = count()
        self._numbers = count(1)
        self.hosts: list[Hosted] = []

    def start(self, id: str, **options: Any) -> Hosted:
        """Start a router."""
        hosted = Hosted(id, self.now, **options)
        self.hosts.append(hosted)
        self.settle(hosted)
        return hosted

    def join(self, first: Hosted, second: Hosted, cost: int = 1) -> tuple[int, int]:
        """Open a trunk between two routers; return its number at each."""
        numbers = next(self._numbers), next(self._numbers)
        first.trunks[numbers[0]] = second, numbers[1]
        second.trunks[numbers[1]] = first, numbers[0]
        for hosted, number in zip((first, second), numbers, strict=True):
            self.tell(hosted, TrunkOpened(number, cost))
        return numbers

    def cut(self, hosted: Hosted, number: int) -> None:
        """Lose a trunk, at both ends."""
        other, its = hosted.trunks.pop(number)
        del other.trunks[its]
        self.tell(hosted, TrunkClosed(number))
        self.tell(other, TrunkClosed(its))

    def tell(self, hosted: Hosted, *events: Any) -> None:
        """Tell a host what its workers have seen."""
        hosted.host.take_events(events, self.now)
        self.settle(hosted)

    def want(self, hosted: Hosted, **consumers: int) -> None:
        """Tell a host how many consumers addresses have."""
        hosted.host.take_interests([Interest(f"M0{name}", number) for name, number in consumers.items()], self.now)
        self.settle(hosted)

    def settle(self, hosted: Hosted) -> None:
        """Do what a host asks for."""
        outputs = hosted.host.outputs(self.now)
        for number, octets in outputs.controls:
            other, its = hosted.trunks.get(number, (None, 0))
            if other is not None:
                self._push(DELAY_S, other, ControlArrived(its, octets))
        if outputs.news is not None:
            hosted.news.append(outputs.news)
            hosted.network.apply(pickle.loads(pickle.dumps(outputs.news)))

    def run(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + seconds
        while True:
            due = min(one.host.next_deadline() for one in self.hosts)
            at = min(due, self._events[0][0]) if self._events else due
            if at > end:
                break
            self.now = max(self.now, at)
            if self._events and self._events[0][0] <= self.now:
                _, _, hosted, event = heapq.heappop(self._events)
                if hosted in self.hosts and event.trunk in hosted.trunks:
                    self.tell(hosted, event)
                continue
            for hosted in list(self.hosts):
                if hosted.host.next_deadline() <= self.now:
                    hosted.host.tick(self.now)
                    self.settle(hosted)
        self.now = end

    def _push(self, delay: float, hosted: Hosted, event: Any) -> None:
        heapq.heappush(self._events, (self.now + delay, next(self._count), hosted, event))


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is logged, with its level."""
    lines: list[tuple[str, str]] = []

    def writer(level: str) -> Any:
        return lambda text, *arguments: lines.append((level, text % arguments))

    monkeypatch.setattr(routing_host, "_levels", {level: writer(level) for level in ("warning", "info", "debug")})
    monkeypatch.setattr(routing_host._log, "warning", writer("warning"))
    return lines


def joined(world: World, *ids: str) -> list[Hosted]:
    """Routers in a line."""
    hosts = [world.start(id) for id in ids]
    for first, second in pairwise(hosts):
        world.join(first, second)
    world.run(3.0)
    return hosts


def routes(hosted: Hosted) -> dict[str, tuple[str, int]]:
    """The next hop and the cost to each router, as the worker has them."""
    return {router: (route.next_hop, route.cost) for router, route in hosted.network.routes.items()}


def mapping(hosted: Hosted) -> dict[str, dict[str, int]]:
    """The addresses of other routers, as the worker has them."""
    return {one.router: dict(one.added) for one in hosted.network.mapping()}


class TestRoutes:
    def test_two_that_are_joined_find_each_other(self, world: World) -> None:
        a, b = joined(world, "A", "B")
        assert (a.network.routes, b.network.routes) == ({"B": RouteTo("B", 1, 1)}, {"A": RouteTo("A", 2, 1)})
        assert (a.network.radius, a.network.through) == (1, {})

    def test_one_in_the_middle_knows_who_is_through_it(self, world: World) -> None:
        a, b, c = joined(world, "A", "B", "C")
        assert routes(a) == {"B": ("B", 1), "C": ("B", 2)}
        assert b.network.through == {"A": frozenset("C"), "C": frozenset("A")}
        assert (c.network.radius, c.network.through) == (2, {})

    def test_costs_count(self, world: World) -> None:
        a, b, c = (world.start(id) for id in "ABC")
        world.join(a, b, 10)
        world.join(b, c, 2)
        world.join(a, c, 3)
        world.run(5.0)
        assert routes(a) == {"B": ("C", 5), "C": ("C", 3)}

    def test_a_trunk_that_is_lost_is_missed_at_once(self, world: World) -> None:
        a, b = joined(world, "A", "B")
        world.cut(a, 1)
        assert (a.network.routes, b.network.routes) == ({}, {})
        assert a.news[-1].routes == {}

    def test_trunks_of_a_worker_that_is_gone_are_lost_with_it(self, world: World) -> None:
        a, b, c = joined(world, "A", "B", "C")
        b.host.lose_trunks(b.trunks, world.now)
        world.settle(b)
        assert (b.network.routes, a.network.routes != {}) == ({}, True)
        assert b.network.through == {}
        assert c.host.nodes()[0].is_own

    def test_a_trunk_without_a_neighbour_that_answers_leads_nowhere(self, world: World) -> None:
        a = world.start("A")
        a.trunks[7] = a, 0
        world.tell(a, TrunkOpened(7, 1))
        world.run(1.0)
        assert a.network.routes == {}


class TestAddresses:
    def test_they_become_known_in_both_directions_and_go_again(self, world: World) -> None:
        a, b = joined(world, "A", "B")
        world.want(a, orders=2)
        world.want(b, offers=1)
        world.run(1.0)
        assert (mapping(a), mapping(b)) == ({"B": {"M0offers": 3}}, {"A": {"M0orders": 3}})
        world.want(a, orders=0, news=1)
        world.run(1.0)
        assert mapping(b) == {"A": {"M0news": 3}}
        world.want(b, offers=0)
        world.run(1.0)
        assert (mapping(a), a.network.routers_of("M0offers")) == ({}, ())

    def test_others_hear_only_of_the_first_consumer_and_the_last(self, world: World) -> None:
        a, b = joined(world, "A", "B")
        world.want(a, orders=1)
        world.run(1.0)
        b.take_news()
        world.want(a, orders=5)
        world.want(a, orders=1)
        world.want(a, nobody=0)
        world.run(1.0)
        assert [news.mapped for news in b.take_news() if news.mapped] == []

    def test_a_worker_alone_tells_of_itself_by_changes(self, world: World) -> None:
        a, b = joined(world, "A", "B")
        a.host.take_changes(Changes(1, (Interest("M0orders", 1),)), world.now)
        world.settle(a)
        world.run(1.0)
        assert mapping(b) == {"A": {"M0orders": 3}}

    def test_all_of_them_may_be_said_at_once(self, world: World) -> None:
        a, b = joined(world, "A", "B")
        world.want(a, orders=1, offers=1)
        world.run(1.0)
        a.host.set_interests([Interest("M0offers", 2), Interest("M0news", 1), Interest("Lx", 1)], world.now)
        world.settle(a)
        world.run(1.0)
        assert mapping(b) == {"A": {"M0offers": 3, "M0news": 3}}

    @pytest.mark.parametrize(
        ("key", "hint"),
        [
            *(("M0orders", 3), ("M0multicast/x", 1), ("M1orders", 3), ("HE", 3)),
            *(("Clr", 4), ("Dlr", 4), ("Ea/#", 4), ("Fa/#", 4)),
        ],
    )
    def test_hints_say_how_they_are_treated(self, world: World, key: str, hint: int) -> None:
        a, b = joined(world, "A", "B")
        a.host.take_interests([Interest(key, 1)], world.now)
        world.settle(a)
        world.run(1.0)
        assert mapping(b) == {"A": {key: hint}}

    @pytest.mark.parametrize(
        "key",
        [
            *("Ltemp.x", "Tall", "RB", "@1:M0a"),
            *("M0$management", "M0_$qd.x", "M0org.apache.qpid.dispatch.router/test/sink"),
        ],
    )
    def test_those_that_every_router_has_by_itself_are_nobodys_business(self, world: World, key: str) -> None:
        a, b = joined(world, "A", "B")
        assert not is_advertised(key)
        a.host.take_interests([Interest(key, 1)], world.now)
        a.host.set_interests([Interest(key, 1)], world.now)
        world.settle(a)
        world.run(2.0)
        assert mapping(b) == {}

    def test_a_router_that_is_new_learns_all_of_them(self, world: World) -> None:
        a, b = joined(world, "A", "B")
        world.want(a, orders=1)
        world.run(5.0)
        c = world.start("C")
        world.join(b, c)
        world.run(3.0)
        assert (routes(c), mapping(c)) == ({"A": ("B", 2), "B": ("B", 1)}, {"A": {"M0orders": 3}})

    def test_those_of_a_router_that_is_gone_are_forgotten(self, world: World) -> None:
        a, b = joined(world, "A", "B")
        world.want(b, offers=1)
        world.run(1.0)
        world.cut(a, 1)
        world.run(100.0)
        assert mapping(a) == {}
        assert [node.id for node in a.host.nodes()] == ["A"]

    def test_a_router_that_starts_anew_is_forgotten_first(self, world: World) -> None:
        a, b = joined(world, "A", "B")
        world.want(b, offers=1, orders=1)
        world.run(1.0)
        a.take_news()
        world.cut(a, 1)
        world.hosts.remove(b)
        again = world.start("B", instance=2)
        world.want(again, orders=1)
        world.join(a, again)
        world.run(5.0)
        assert mapping(a) == {"B": {"M0orders": 3}}
        [at] = [number for number, news in enumerate(a.news) if news.forgotten == ("B",)]
        assert all(not news.mapped for news in a.news[:at])


class TestNews:
    def test_each_has_a_version_of_its_own_above_the_one_before(self, world: World) -> None:
        a, b = joined(world, "A", "B")
        world.want(b, offers=1)
        world.run(1.0)
        versions = [news.version for news in a.news]
        assert versions == [(1, number) for number in range(1, len(versions) + 1)]
        assert len(versions) >= 3

    def test_they_have_what_has_changed_and_nothing_else(self, world: World) -> None:
        a, b = joined(world, "A", "B")
        a.take_news()
        world.want(b, offers=1)
        world.run(1.0)
        [news] = a.take_news()
        assert (news.routes, news.through, news.is_full) == (None, None, False)
        assert (news.mapped, news.forgotten) == ((MappedAddresses("B", {"M0offers": 3}),), ())

    def test_there_are_none_where_nothing_has_changed(self, world: World) -> None:
        a, _ = joined(world, "A", "B")
        world.run(1.0)
        a.take_news()
        world.run(CHECKPOINT_S / 2)
        assert a.take_news() == []

    def test_what_a_new_engine_goes_on_from_is_never_old(self, world: World) -> None:
        a, _ = joined(world, "A", "B")
        a.take_news()
        world.run(3 * CHECKPOINT_S + 1)
        kept = a.take_news()
        assert [news.routes for news in kept] == [None] * 3
        assert all(news.checkpoint is not None for news in kept)
        assert a.host.next_deadline() <= world.now + CHECKPOINT_S

    def test_full_news_are_all_that_a_worker_has_to_know(self, world: World) -> None:
        a, b, c = joined(world, "A", "B", "C")
        world.want(a, orders=1)
        world.want(c, offers=2, multicast=1)
        world.run(2.0)
        for hosted in (a, b, c):
            network = Network()
            network.apply(hosted.host.full_news())
            assert network.routes == hosted.network.routes
            assert (network.radius, network.through) == (hosted.network.radius, hosted.network.through)
            assert (network.mapping(), network.version) == (hosted.network.mapping(), hosted.network.version)
        assert b.host.full_news().is_full

    def test_what_is_mapped_before_a_router_is_forgotten_is_forgotten_with_it(self, world: World) -> None:
        a, b = joined(world, "A", "B")
        a.host.take_events([], world.now)
        mau = [octets for octets in self.sent(world, b, offers=1) if decoded(octets).opcode == "MAU"]
        hello = encoded(ControlMessage(TO_NEIGHBOURS, "HELLO", Hello("B", 99, ("A",)).to_body(), "0/B", ("0/B",)))
        a.take_news()
        world.tell(a, *(ControlArrived(1, octets) for octets in (*mau, hello)))
        [news] = [news for news in a.take_news() if news.forgotten]
        assert (news.forgotten, news.mapped, mapping(a)) == (("B",), (), {})

    def sent(self, world: World, hosted: Hosted, **consumers: int) -> list[bytes]:
        """The messages by which a router tells of addresses, which do not arrive."""
        found = []
        hosted.host.take_interests([Interest(f"M0{name}", number) for name, number in consumers.items()], world.now)
        hosted.host.tick(world.now + 1.0)
        for _, octets in hosted.host.outputs(world.now).controls:
            found.append(octets)
        return found


class TestResuming:
    def resumed(self, world: World, hosted: Hosted, *, opens: bool = True) -> Hosted:
        """Another engine that takes the place of one, by what a worker has kept."""
        world.hosts.remove(hosted)
        network = hosted.network
        again = Hosted(
            hosted.host.nodes()[0].id,
            world.now,
            epoch=network.version[0] + 1,
            instance=77,
            resumed=network.checkpoint,
            mapping=network.mapping(),
        )
        again.trunks = hosted.trunks
        again.network = network
        for number, (other, its) in hosted.trunks.items():
            other.trunks[its] = again, number
        world.hosts.append(again)
        world.settle(again)
        if opens:
            world.tell(again, *(TrunkOpened(number, 1) for number in again.trunks))
        return again

    def test_nobody_notices_that_an_engine_takes_the_place_of_another(self, world: World) -> None:
        a, b, c = joined(world, "A", "B", "C")
        world.want(b, orders=1)
        world.want(c, offers=1)
        world.run(40.0)
        before = [(routes(one), mapping(one), one.network.through) for one in (a, b, c)]
        for one in (a, c):
            one.take_news()
        again = self.resumed(world, b)
        again.host.set_interests([Interest("M0orders", 1)], world.now)
        world.settle(again)
        world.run(40.0)
        assert [(routes(one), mapping(one), one.network.through) for one in (a, again, c)] == before
        told = [news for one in (a, c) for news in one.take_news()]
        assert [news for news in told if news.routes is not None or news.forgotten] == []
        assert again.network.version > (2, 0)

    def test_what_changed_meanwhile_is_told(self, world: World) -> None:
        a, b = joined(world, "A", "B")
        world.want(b, orders=1, offers=1)
        world.run(2.0)
        again = self.resumed(world, b)
        again.host.set_interests([Interest("M0offers", 1), Interest("M0news", 1)], world.now)
        world.settle(again)
        world.run(10.0)
        assert mapping(a) == {"B": {"M0offers": 3, "M0news": 3}}

    def test_what_others_have_is_known_before_anybody_tells_it_again(self, world: World) -> None:
        a, b = joined(world, "A", "B")
        world.want(a, orders=1)
        world.run(2.0)
        again = self.resumed(world, b, opens=False)
        assert a.network.routes == {"B": RouteTo("B", 1, 1)}
        network = Network()
        network.apply(again.host.full_news())
        assert (network.mapping(), network.routes) == (b.network.mapping(), b.network.routes)

    def test_trunks_that_are_not_there_any_more_are_given_up(self, world: World) -> None:
        _, b = joined(world, "A", "B")
        again = self.resumed(world, b, opens=False)
        again.trunks = {}
        world.run(10.0)
        assert again.network.routes == {}

    def test_a_checkpoint_of_another_router_is_refused(self, world: World) -> None:
        a, _ = joined(world, "A", "B")
        with pytest.raises(ForeignCheckpoint):
            Hosted("C", world.now, resumed=a.network.checkpoint)


class TestLog:
    @pytest.mark.parametrize("octets", [b"", b"garbage", b"\x00\x53\x70\x45"])
    def test_what_is_no_control_message_is_logged_and_ignored(
        self, world: World, logged: list[tuple[str, str]], octets: bytes
    ) -> None:
        a, _ = joined(world, "A", "B")
        before = routes(a)
        logged.clear()
        world.tell(a, ControlArrived(1, octets))
        [(level, text)] = logged
        assert (level, text.startswith("Control message of [C1] ignored: ")) == ("warning", True)
        assert routes(a) == before

    def test_what_the_engine_has_to_say_is_logged(self, world: World, logged: list[tuple[str, str]]) -> None:
        a, _ = joined(world, "A", "B")
        logged.clear()
        hello = ControlMessage(TO_NEIGHBOURS, "HELLO", {"id": "A", "instance": 999, "seen": []}, "0/A", ("0/A",))
        world.tell(a, ControlArrived(1, encoded(hello)))
        assert [level for level, _ in logged] == ["warning"]
        assert "another router has the id A" in logged[0][1]


class TestManagement:
    def test_the_routers_of_the_network_are_shown_the_own_one_first(self, world: World) -> None:
        b, c, d = joined(world, "B", "C", "D")
        rows = c.host.nodes()
        assert [(row.id, row.is_own, row.index) for row in rows] == [("C", True, 0), ("B", False, 1), ("D", False, 2)]
        own, first, last = rows
        assert (own.link_state, own.cost, own.next_hop, own.router_link) == (("B", "D"), None, None, None)
        assert (first.link_state, first.cost, first.next_hop, first.router_link) == (("C",), 1, None, 2)
        assert (first.valid_origins, last.valid_origins) == (("D",), ("B",))
        assert (first.instance, own.instance) == (1, 1)
        [_, _, far] = b.host.nodes()
        assert (far.id, far.next_hop, far.router_link, far.cost) == ("D", "C", None, 2)
        assert d.host.nodes()[0].id == "D"

    def test_the_last_change_is_told_as_time_of_day(self, world: World) -> None:
        a, _ = joined(world, "A", "B")
        own, other = a.host.nodes()
        assert own.last_topology_change is not None
        assert WALL_CLOCK + 100.0 <= own.last_topology_change <= WALL_CLOCK + world.now
        assert other.last_topology_change is None


def test_no_two_starts_have_the_same_instance() -> None:
    instances = {new_instance(1_700_000_000 + milliseconds / 1000) for milliseconds in range(1000)}
    assert len(instances) == 1000
    assert all(0 <= instance < 2**31 for instance in instances)


def test_hosts_take_what_happens_in_any_order(world: World) -> None:
    def told(events: Iterable[Any]) -> list[NetworkNews]:
        hosted = Hosted("A", 0.0)
        hosted.host.take_events(events, 0.0)
        news = hosted.host.outputs(0.0).news
        return [] if news is None else [news]

    hello = encoded(ControlMessage(TO_NEIGHBOURS, "HELLO", Hello("B", 1, ("A",)).to_body(), "0/B", ("0/B",)))
    assert [one.routes for one in told([TrunkClosed(1), ControlArrived(1, hello)])] == [None]
    [news] = told([TrunkOpened(1, 4), ControlArrived(1, hello)])
    assert news.routes == {"B": RouteTo("B", 1, 4)}
    [lost] = told([TrunkOpened(1, 4), ControlArrived(1, hello), TrunkClosed(1)])
    assert lost.routes == {}
