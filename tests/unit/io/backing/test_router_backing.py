"""A router asked as a whole: what all workers say, and changes that all of them make or none."""

import asyncio
import pickle
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from routerd.config import INTER_ROUTER_MAX, parse_config
from routerd.core import RouterMode, RouterSettings
from routerd.io import ConfigurationCopy, MemberGone, RouterBacking, configuration_of
from routerd.io.backing.managed_worker import StaleConfiguration
from routerd.management import (
    AddressRow,
    ChangeForbidden,
    ChangeRefused,
    Configuration,
    ConfiguredEntity,
    ConnectorRow,
    LogRow,
    NodeRow,
    PolicyRow,
    PoolRow,
    Tally,
    Unanswered,
    WorkerFigures,
    check_entity,
    find_entity_type,
)
from tests.unit.io.backing.told_worker import CERTIFICATE
from tests.unit.management.fake_router import connection, worker
from tests.waiting import eventually_beside

TEXT = """\
router {
    id: R
}
address {
    prefix: orders
}
"""
START = configuration_of(parse_config(TEXT, "test.conf"))
COUNTERS = ("producers", "consumers", "inner_consumers", "sibling_consumers", "ingress", "egress", "parked")


class Kept:
    """A worker that has nothing but its copy of the configuration."""

    def __init__(self, configuration: Configuration = START) -> None:
        self.second = ConfigurationCopy(configuration)
        self.answers: dict[str, Any] = {}
        self.failures: dict[str, Exception] = {}
        self.asked: list[str] = []

    async def ask(self, what: str, *arguments: Any) -> Any:
        self.asked.append(what)
        if what in self.failures:
            raise self.failures[what]
        return self.answers[what] if what in self.answers else self.second.ask(what, *arguments)

    @property
    def configuration(self) -> Configuration:
        found = self.second.ask("configuration")
        assert found is not None
        return found


def backing(members: Mapping[int, Kept], second: Kept | None = None, **settings: Any) -> RouterBacking:
    of_router = RouterSettings(id="R", **settings)
    return RouterBacking(of_router, members, START, lambda: 160.0, 100.0, configuration_copy=second)


def address(name: str) -> ConfiguredEntity:
    entity_type = find_entity_type("address")
    assert entity_type is not None
    values = dict.fromkeys(entity_type.attributes) | {"prefix": name, "name": name, "distribution": "balanced"}
    return ConfiguredEntity(type=entity_type, identity=name, name=name, values=values)


def connector(name: str, **given: Any) -> ConfiguredEntity:
    entity_type = find_entity_type("connector")
    assert entity_type is not None
    values = check_entity(entity_type, {"port": "1", **given}).values
    return ConfiguredEntity(type=entity_type, identity=f"connector/127.0.0.1:1:{name}", name=name, values=values)


def interior(member: Kept, start: Configuration = START, **options: Any) -> RouterBacking:
    settings = RouterSettings(id="R", mode=RouterMode.INTERIOR)
    return RouterBacking(settings, {0: member}, start, lambda: 160.0, 100.0, **options)


def run(act: Callable[[], Awaitable[Any]], until: Callable[[], bool] = lambda: True) -> Any:
    """Run something, and what it leaves to be done later, until that has come to something."""

    async def both() -> Any:
        result = await act()
        await eventually_beside(until, "it has come to something")
        return result

    return asyncio.run(asyncio.wait_for(both(), 20))


def names(member: Kept) -> list[str | None]:
    return [one.name for one in member.configuration.entities if one.type.section == "address"]


@pytest.fixture(autouse=True)
def told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("routerd.io.backing.router_backing.TELL_AGAIN_S", 0.0)


def test_a_change_is_made_by_all() -> None:
    new = address("new")
    members, second = {0: Kept(), 1: Kept()}, Kept()
    router = backing(members, second)
    run(lambda: router.create(new))
    assert [names(member) for member in (*members.values(), second)] == [[None, "new"]] * 3
    assert router.configuration.version == 1
    run(lambda: router.delete(new))
    assert [names(member) for member in (*members.values(), second)] == [[None]] * 3


def test_what_one_cannot_do_nobody_does() -> None:
    members = {0: Kept(), 1: Kept()}
    members[1].failures["prepare"] = ChangeRefused("there is no room")
    router = backing(members)
    with pytest.raises(ChangeRefused, match="there is no room"):
        run(lambda: router.create(address("new")))
    assert [names(member) for member in members.values()] == [[None]] * 2
    assert [member.asked for member in members.values()] == [["prepare", "give_up"]] * 2
    assert router.configuration == START


def test_one_that_does_not_answer_stops_a_change() -> None:
    members = {0: Kept(), 1: Kept()}
    members[1].failures["prepare"] = Unanswered("worker 1 does not answer")
    router = backing(members)
    with pytest.raises(Unanswered):
        run(lambda: router.create(address("new")))
    assert router.configuration == START


def test_one_that_is_away_is_told_everything_when_it_is_back() -> None:
    members = {0: Kept(), 1: Kept()}
    members[1].failures = dict.fromkeys(("prepare", "commit", "configure"), MemberGone("it has ended"))
    router = backing(members)

    async def act() -> None:
        await router.create(address("new"))
        assert names(members[1]) == [None]
        members[1].failures.clear()

    run(act, lambda: names(members[1]) == [None, "new"])
    assert members[1].configuration == router.configuration


def test_one_that_fails_between_the_phases_is_told_everything() -> None:
    members = {0: Kept(), 1: Kept()}
    members[1].failures["commit"] = StaleConfiguration("no change has been prepared")
    router = backing(members)
    run(lambda: router.create(address("new")), lambda: names(members[1]) == [None, "new"])


def test_the_newest_configuration_is_taken_over_and_told_to_all() -> None:
    newer = Configuration(7, (*START.entities, address("new")))
    members, second = {0: Kept(), 1: Kept()}, Kept(newer)
    members[1].failures["configuration"] = MemberGone("it has ended")
    router = backing(members, second)
    run(router.restore, lambda: all(names(member) == [None, "new"] for member in members.values()))
    assert router.configuration == newer
    assert router.new_number() > 7


def test_what_follows_is_called_with_each_new_configuration() -> None:
    newer = Configuration(7, (*START.entities, address("new")))
    seen: list[tuple[int, int]] = []

    def follow(before: Configuration, after: Configuration) -> None:
        seen.append((before.version, after.version))

    of_router = RouterSettings(id="R")
    router = RouterBacking(of_router, {0: Kept(newer)}, START, lambda: 160.0, 100.0, follow=follow)
    run(router.restore)
    run(lambda: router.create(address("newest")))
    assert seen == [(0, 7), (7, 8)]


def test_connections_come_in_the_order_in_which_they_were_opened() -> None:
    members = {0: Kept(), 1: Kept()}
    for member, ages in ((members[0], {8: 7.5, 10: 0.5}), (members[1], {3: 2.5})):
        rows = [tuple(connection(number, uptime_s=age)) for number, age in ages.items()]
        member.answers["connections"] = [pickle.dumps(rows)]
    found = run(backing(members).connections)
    assert [row.connection for row in found] == [8, 3, 10]


def test_a_worker_that_starts_is_told_what_is_configured_now() -> None:
    router = backing({0: Kept()}, Kept())
    run(lambda: router.create(address("new")))
    assert run(lambda: router.current(0)) == router.configuration


def test_numbers_are_given_once() -> None:
    router = backing({0: Kept()})
    taken = {one.identity for one in START.entities}
    numbers = [router.new_number() for _ in range(5)]
    assert len(set(numbers)) == 5
    assert {len(str(number)) for number in numbers} == {2}
    assert not taken & {str(number) for number in numbers}


def test_rows_of_all_workers_are_joined_and_those_of_one_that_is_gone_are_not_there() -> None:
    members = {number: Kept() for number in range(3)}
    for number in (0, 1):
        row = AddressRow(
            **{"worker": number, "key": "M0orders", "distribution": "balanced", "priority": -1},
            **dict.fromkeys(COUNTERS, number),
            oldest_parked_s=0.0,
        )
        members[number].answers["addresses"] = [pickle.dumps([tuple(row)]), pickle.dumps([])]
    members[2].failures["addresses"] = MemberGone("it has ended")
    router = backing(members)
    found = run(router.addresses)
    assert [(row.worker, row.key, row.parked) for row in found] == [(0, "M0orders", 0), (1, "M0orders", 1)]
    members[2].failures["addresses"] = Unanswered("worker 2 does not answer")
    with pytest.raises(Unanswered):
        run(router.addresses)


def test_the_log_and_pools_are_joined() -> None:
    members = {0: Kept(), 1: Kept()}
    for number, member in members.items():
        line = LogRow(module="SERVER", level="info", text=str(number), file=None, line=None, time=10.0 - number)
        member.answers["log"] = [line]
        member.answers["log_counts"] = {"SERVER": {"info": 2, "debug": number}}
        member.answers["pools"] = [PoolRow(name="qdr_link_t", object_octets=80, in_use=1, allocated=2)]
        member.answers["set_trace"] = number == 1
    router = backing(members)
    assert [line.text for line in run(router.log)] == ["1", "0"]
    assert run(router.log_counts) == {"SERVER": {"info": 4, "debug": 1}}
    assert run(router.pools) == [PoolRow(name="qdr_link_t", object_octets=80, in_use=2, allocated=4)]
    assert run(lambda: router.set_trace(4, True))
    assert router.uptime_s() == 60.0


def figures(number: int) -> WorkerFigures:
    return WorkerFigures(counters=worker(number, addresses=2), policy=PolicyRow())


def keys(*known: str) -> list[bytes]:
    return [pickle.dumps([(one,) for one in known])]


def test_figures_are_those_of_workers_that_answer() -> None:
    members = {number: Kept() for number in range(4)}
    for number, one in members.items():
        one.answers = {"figures": figures(number), "address_keys": keys("M0a", f"M0{number}")}
    for number, failure in ((1, MemberGone("1")), (3, Unanswered("3"))):
        members[number].failures = {"figures": failure, "address_keys": failure}
    found = asyncio.run(backing(members).figures())
    assert [one.counters.worker for one in found.workers] == [0, 2]
    # One that several workers use is one address.
    assert (found.absent, found.addresses) == ([1, 3], 3)
    # All are one process here.
    assert found.restarts == {"table": 0, "engine": 0, "management": 0}


def test_certificates_are_asked_for_where_there_is_a_profile() -> None:
    member = Kept()
    member.answers = {"certificates": {"tls": CERTIFICATE}}
    assert run(interior(member).certificates) == []
    assert member.asked == []
    profiled = configuration_of(parse_config("sslProfile {\n    name: tls\n}\n", "test.conf"))
    assert run(interior(member, profiled).certificates) == [{"tls": CERTIFICATE}]


def test_a_single_worker_is_not_asked_for_keys() -> None:
    member = Kept()
    member.answers = {"figures": figures(0)}
    assert asyncio.run(backing({0: member}).figures()).addresses == 2
    assert member.asked == ["figures"]


def test_the_newest_tally_is_the_one_that_counts() -> None:
    members = {number: Kept() for number in range(4)}
    old, new = Tally(3), Tally(5)
    for number, answer in enumerate((None, new, old)):
        members[number].answers = {"tally": answer}
    members[3].failures = {"tally": MemberGone("3")}
    assert asyncio.run(backing(members).kept_tally()) is new
    assert asyncio.run(backing({0: members[0]}).kept_tally()) is None


def test_the_second_copy_is_no_worker() -> None:
    second = Kept()
    router = backing({}, second)
    assert run(router.log) == []
    run(lambda: router.create(address("new")))
    assert second.asked == ["prepare", "commit"]


def test_a_connector_is_made_with_its_password_by_all(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2\n")
    members = {0: Kept(), 1: Kept()}
    router = backing(members, management_file_dir=str(tmp_path))
    run(lambda: router.create(connector("b", saslUsername="ann", saslPassword=f"file:{tmp_path}/secret")))
    for member in members.values():
        assert member.configuration.entities[-1].values["saslPassword"] == "pass:hunter2"


def test_a_connector_that_does_not_fit_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    member = Kept()
    router = backing({0: member}, management_file_dir=str(tmp_path))
    for given, reason in (
        ({"role": "inter-router"}, "role='standalone' not allowed to connect to"),
        ({"dedicatedActor": True}, "a connector with an actor of its own can only be in the configuration file"),
        ({"saslPassword": "env:NO_SUCH_NAME"}, "saslPassword: 'env:NO_SUCH_NAME' names a variable"),
    ):
        with pytest.raises(ChangeRefused) as refused:
            run(lambda given=given: router.create(connector("b", **given)))
        assert str(refused.value).startswith(reason)
    assert member.asked == []


@pytest.mark.parametrize("folder", [None, "files"])
def test_nobody_is_sent_what_only_the_router_can_read(
    folder: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NAME_OF_A_SECRET", "hunter2")
    (tmp_path / "files").mkdir()
    (tmp_path / "token").write_text("hunter2")
    member = Kept()
    router = backing({0: member}, management_file_dir=None if folder is None else str(tmp_path / folder))
    for place in ("env:NAME_OF_A_SECRET", f"file:{tmp_path}/token", f"file:{tmp_path}/files/../token"):
        with pytest.raises(ChangeForbidden, match="requests to management may"):
            run(lambda place=place: router.create(connector("b", saslUsername="ann", saslPassword=place)))
    assert (member.asked, router.configuration) == ([], START)


def test_a_log_is_written_where_the_operator_allows_it_alone(tmp_path: Path) -> None:
    member = Kept()
    router = backing({0: member}, management_file_dir=str(tmp_path))
    log = find_entity_type("log")
    assert log is not None
    old = ConfiguredEntity(type=log, identity="log/SERVER", name=None, values=dict.fromkeys(log.attributes))
    into = replace(old, values={**old.values, "outputFile": "/etc/profile.d/router.sh"})
    with pytest.raises(ChangeForbidden, match=r"outputFile: '/etc/profile\.d/router\.sh' is not in the folder"):
        run(lambda: router.update(old, into))
    assert (member.asked, router.configuration) == ([], START)


def test_there_are_only_so_many_connectors_to_routers() -> None:
    existing = tuple(connector(str(number), role="inter-router") for number in range(INTER_ROUTER_MAX))
    start = Configuration(0, (*START.entities, *existing))
    router = interior(Kept(start), start)
    with pytest.raises(ChangeRefused, match="a router has at most 128 connections with role='inter-router'"):
        run(lambda: router.create(connector("b", role="inter-router")))
    run(lambda: router.create(connector("b", role="normal")))
    run(lambda: router.delete(existing[0]))
    run(lambda: router.create(connector("c", role="inter-router")))


def test_connectors_are_asked_of_all_where_there_are_some() -> None:
    members = {0: Kept(), 1: Kept()}
    states = [
        ConnectorRow(identity=f"connector/127.0.0.1:1:{name}", status="SUCCESS", message="", failover_urls="")
        for name in "ab"
    ]
    for number, member in members.items():
        member.answers["connectors"] = [states[number]]
    router = backing(members)
    assert run(router.connectors) == []
    assert [member.asked for member in members.values()] == [[], []]
    run(lambda: router.create(connector("a")))
    assert run(router.connectors) == states


def test_a_router_knows_itself_in_its_network() -> None:
    [own] = run(interior(Kept()).nodes)
    assert (own.id, own.is_own, own.index, own.next_hop, own.cost) == ("R", True, 0, None, None)
    assert own.last_topology_change == own.instance > 1_000_000_000
    assert run(backing({0: Kept()}).nodes) == []


def test_whoever_knows_the_network_tells_its_routers() -> None:
    rows = [NodeRow(id="R", is_own=True, instance=1, index=0), NodeRow(id="S", instance=2, cost=1, index=1)]

    async def nodes() -> list[NodeRow]:
        return rows

    assert run(interior(Kept(), nodes=nodes).nodes) == rows


def test_bindings_go_with_their_exchange() -> None:
    def entity(section: str, identity: str, **given: Any) -> ConfiguredEntity:
        entity_type = find_entity_type(section)
        assert entity_type is not None
        values = check_entity(entity_type, given).values
        return ConfiguredEntity(type=entity_type, identity=identity, name=given.get("name"), values=values)

    exchanges = [entity("exchange", str(at), name=name, address=name) for at, name in enumerate("ef", 1)]
    bindings = [entity("binding", f"1{at}", exchangeName=name, nextHopAddress="x") for at, name in enumerate("eef")]
    member = Kept()
    router = backing({0: member})
    for one in (*exchanges, *bindings[1:]):
        run(lambda one=one: router.create(one))  # type: ignore[misc]
    run(lambda: router.delete(exchanges[0]))
    left = [one.identity for one in member.configuration.entities if one.type.is_numbered]
    assert left[-2:] == ["2", "12"]
    assert "11" not in left
