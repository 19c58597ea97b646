"""A worker's changes of its configuration: prepared and then made or given up, what is replaced going first."""

import socket
from concurrent.futures import Future
from typing import Any

import pytest

from bench.free_ports import free_port
from routerd.config import parse_config
from routerd.core import AddressSettings, BindingSettings
from routerd.io import bind, configuration_of, endpoints_of
from routerd.io.backing.managed_worker import StaleConfiguration
from routerd.io.settings.worker_config import owner_of
from routerd.management import Change, ChangeRefused, Configuration, ConfiguredEntity, Tally, WorkerRow
from tests.unit.io.backing.told_worker import CERTIFICATE, WORKERS, asked, entity, managed
from tests.unit.management.fake_router import worker as worker_row

TEXT = """
router {
    id: R
    mode: interior
}
connector {
    name: b
    port: 5673
    role: inter-router
}
"""

def entities(text: str, version: int = 1) -> Configuration:
    return Configuration(version, configuration_of(parse_config(text, "r.conf")).entities)


def connector_of(text: str) -> ConfiguredEntity:
    [found] = [one for one in entities(text).entities if one.type.section == "connector"]
    return found


NEW = connector_of(TEXT.replace("name: b", "name: new"))
OLD = connector_of(TEXT)


def test_a_new_connector_is_begun_by_its_owner_alone() -> None:
    for index in range(WORKERS):
        worker, told = managed(TEXT, index)
        asked(worker, ("prepare", Change(0, added=(NEW,))))
        assert told.told == []
        asked(worker, ("commit",))
        is_owner = index == owner_of(NEW.identity, WORKERS)
        assert told.told == ([("connect", "127.0.0.1:5673")] if is_owner else [])
        assert NEW in worker.configuration.entities


def test_a_connector_that_goes_is_told_to_all() -> None:
    for index in range(WORKERS):
        worker, told = managed(TEXT, index)
        asked(worker, ("prepare", Change(0, removed=(OLD.identity,))), ("commit",))
        assert told.told == [("stop", "connector/127.0.0.1:5673:b")]
        assert OLD not in worker.configuration.entities


def test_what_was_given_up_is_not_begun() -> None:
    worker, told = managed(TEXT, owner_of(NEW.identity, WORKERS))
    asked(worker, ("prepare", Change(0, added=(NEW,))), ("give_up",))
    with pytest.raises(StaleConfiguration):
        asked(worker, ("commit",))
    assert told.told == []


def test_a_connector_that_does_not_fit_the_router_is_refused() -> None:
    worker, told = managed(TEXT.replace("interior", "edge").replace("inter-router", "edge"))
    with pytest.raises(ChangeRefused, match="only allowed with router mode='interior'"):
        asked(worker, ("prepare", Change(0, added=(NEW,))))
    assert told.told == []


def test_a_worker_that_was_behind_stops_what_is_replaced_before_it_begins() -> None:
    worker, told = managed(TEXT, owner_of(OLD.identity, WORKERS))
    asked(worker, ("configure", entities(TEXT.replace("role: inter", "cost: 2\n    role: inter"), version=3)))
    assert told.told == [("stop", OLD.identity), ("connect", "127.0.0.1:5673")]
    assert worker.configuration.version == 3
    asked(worker, ("configure", entities(TEXT, version=2)))
    assert len(told.told) == 2


def test_connectors_are_asked_for_where_they_are() -> None:
    worker, told = managed(TEXT, owner_of(OLD.identity, WORKERS))
    assert [one.identity for one in asked(worker, ("connectors",))] == [OLD.identity]
    assert told.told == []


def test_figures_are_told_and_what_was_counted_before_is_kept() -> None:
    worker, told = managed(TEXT, owner_of(OLD.identity, WORKERS))
    counters: Future[WorkerRow] = Future()
    counters.set_result(worker_row(0))
    told.reports.counters = lambda: counters
    assert asked(worker, ("tally",)) is None
    old, new = Tally(1), Tally(2)
    found = asked(worker, ("keep_tally", new), ("figures",))
    assert (found.counters, found.connectors) == (worker_row(0), {OLD.identity: True})
    assert found.certificates == {"tls": CERTIFICATE}
    assert set(found.log_lines) >= {"error", "warning"}
    assert asked(worker, ("certificates",)) == {"tls": CERTIFICATE}
    # One that was on its way for longer changes nothing.
    asked(worker, ("keep_tally", old))
    assert asked(worker, ("tally",)) is new


ADDRESS = entity("address", "1", prefix="news")
TREATED = AddressSettings(pattern="news/#")


def listener(port: int, **given: Any) -> ConfiguredEntity:
    return entity("listener", f"listener/127.0.0.1:{port}", host="127.0.0.1", port=str(port), **given)


def bound(port: int) -> socket.socket:
    """Listen at a port that nobody else has."""
    [endpoint] = endpoints_of("127.0.0.1", port)
    found = bind(endpoint, shared=False)
    found.listen()
    return found


def test_what_was_prepared_is_undone_when_a_later_entity_is_refused() -> None:
    worker, told = managed(TEXT)
    port, taken = free_port(), bound(0)
    change = Change(0, added=(ADDRESS, listener(port), listener(taken.getsockname()[1])))
    with taken, pytest.raises(ChangeRefused, match="cannot be opened: Address already in use"):
        asked(worker, ("prepare", change))
    bound(port).close()
    with pytest.raises(StaleConfiguration):
        asked(worker, ("commit",))
    assert (told.told, worker.configuration.version) == ([], 0)


def test_what_lets_connections_in_comes_last() -> None:
    worker, told = managed(TEXT)
    asked(worker, ("prepare", Change(0, added=(listener(free_port()), ADDRESS))), ("commit",))
    [(first, settings), (second, sockets)] = told.told
    assert (first, settings, second) == ("configure", TREATED, "listen")
    for one in sockets:
        one.close()
    asked(worker, ("prepare", Change(1, removed=(ADDRESS.identity,))), ("commit",))
    assert told.told[2:] == [("forget", "news/#")]


def test_what_is_named_has_to_be_there_and_to_stay() -> None:
    worker, _ = managed(TEXT + "sslProfile {\nname: p\n}\nlistener {\nname: a\nport: 1\nsslProfile: p\n}\n")
    for change, refusal in (
        (Change(0, added=(listener(1, sslProfile="q"),)), "^sslProfile: there is no sslProfile with the name 'q'$"),
        (
            Change(0, added=(listener(1, saslPlugin="s"),)),
            "^saslPlugin: there is no authServicePlugin with the name 's'$",
        ),
        (Change(0, removed=("sslProfile/p",)), "^sslProfile 'p' is in use by listener/:1:a$"),
    ):
        with pytest.raises(ChangeRefused, match=refusal):
            asked(worker, ("prepare", change))


def test_an_exchange_is_hosted_by_one_worker_and_known_to_all() -> None:
    exchange = entity("exchange", "7", "e", address="topic")
    binding = entity("binding", "8", exchangeName="e", bindingKey="a", nextHopAddress="x")
    settings = BindingSettings(name="8", exchange="e", key="a", next_hop="x")
    hosts = []
    for index in range(WORKERS):
        worker, told = managed(TEXT, index)
        asked(worker, ("prepare", Change(0, added=(exchange,))), ("commit",))
        asked(worker, ("prepare", Change(1, added=(binding,))), ("commit",))
        [(_, (name, is_host)), bound] = told.told
        hosts.append(is_host)
        assert (name, bound) == ("e", ("bind", settings))
        asked(worker, ("prepare", Change(2, removed=("7", "8"))), ("commit",))
        assert told.told[2:] == [("no exchange", "e"), ("unbind", settings)]
    assert hosts == [index == owner_of("e", WORKERS) for index in range(WORKERS)]


def test_an_exchange_stays_as_long_as_it_has_bindings() -> None:
    exchange = entity("exchange", "7", "e", address="topic")
    binding = entity("binding", "8", exchangeName="e", nextHopAddress="x")
    worker, _ = managed(TEXT)
    asked(worker, ("prepare", Change(0, added=(exchange, binding))), ("commit",))
    with pytest.raises(ChangeRefused, match="exchange 'e' is in use by 8"):
        asked(worker, ("prepare", Change(1, removed=("7",))))
    lost = entity("binding", "9", exchangeName="f", nextHopAddress="x")
    with pytest.raises(ChangeRefused, match="there is no exchange with the name 'f'"):
        asked(worker, ("prepare", Change(1, added=(lost,))))
