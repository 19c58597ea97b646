"""What a worker is made with: which listeners and connectors are its own, at its start and when it is started again."""

from dataclasses import replace

import pytest

from routerd.config import ConnectorConfig, parse_config
from routerd.core import RouterSettings
from routerd.io import WorkerConfig, configuration_of
from routerd.io.settings.worker_config import owner_of
from routerd.management import Configuration

SETTINGS = RouterSettings(id="R")
CONNECTORS = tuple(ConnectorConfig(host="b", port=port) for port in range(1, 41))
DEDICATED = ConnectorConfig(host="c", port=1, dedicated_actor=True)


def worker(index: int, workers: int, dedicated: int = 0) -> WorkerConfig:
    is_dedicated = index >= workers - dedicated
    connectors = (DEDICATED,) if is_dedicated else CONNECTORS
    return WorkerConfig(
        router=SETTINGS, connectors=connectors, index=index, workers=workers, dedicated_workers=dedicated
    )


def test_a_connector_has_the_same_owner_in_every_process() -> None:
    assert [owner_of("connector/b:5672", workers) for workers in range(1, 6)] == [0, 0, 2, 0, 2]
    assert 0 <= owner_of("connector/\udc80:1", 3) < 3


@pytest.mark.parametrize(("workers", "dedicated"), [(1, 0), (2, 0), (3, 1), (2, 1), (5, 2)])
def test_each_connector_is_owned_by_one_of_the_workers_that_share(workers: int, dedicated: int) -> None:
    configs = [worker(index, workers, dedicated) for index in range(workers)]
    for connector in CONNECTORS:
        owners = [config.index for config in configs if config.owns(connector)]
        assert len(owners) == 1
        assert owners[0] < workers - dedicated
    shares = [config.own_connectors for config in configs[: workers - dedicated]]
    assert sorted(one.port for share in shares for one in share) == [one.port for one in CONNECTORS]
    assert all(shares)


def test_a_worker_with_a_connector_of_its_own_owns_that_alone() -> None:
    sharing, own = worker(0, 2, 1), worker(1, 2, 1)
    assert (sharing.is_dedicated, own.is_dedicated) == (False, True)
    assert (sharing.owns(DEDICATED), own.owns(DEDICATED)) == (False, True)
    assert own.own_connectors == (DEDICATED,)


def test_a_worker_is_dedicated_by_its_connector_where_nobody_counted() -> None:
    assert replace(worker(1, 2, 1), dedicated_workers=0).is_dedicated
    assert not replace(worker(0, 2), connectors=()).is_dedicated


def test_a_worker_that_is_alone_owns_all() -> None:
    alone = WorkerConfig(router=SETTINGS, connectors=(*CONNECTORS, DEDICATED))
    assert not alone.is_dedicated
    assert alone.own_connectors == (*CONNECTORS, DEDICATED)


TEXT = """
listener {
    port: 1
}
listener {
    port: 2
    dedicatedActor: yes
}
connector {
    name: b
    port: 3
}
connector {
    name: c
    port: 4
    dedicatedActor: yes
}
"""


def configuration(text: str) -> Configuration:
    return configuration_of(parse_config(text, "r.conf"))


def test_a_worker_that_starts_again_has_the_connectors_of_now() -> None:
    file = parse_config(TEXT, "r.conf")
    shared, dedicated = file.connectors
    sharing = WorkerConfig(router=SETTINGS, connectors=(shared,), workers=2, dedicated_workers=1)
    own = WorkerConfig(router=SETTINGS, connectors=(dedicated,), index=1, workers=2, dedicated_workers=1)
    newer = configuration(TEXT.replace("port: 3", "port: 5") + "connector {\nname: new\nport: 6\n}\n")
    assert [(one.name, one.port) for one in sharing.configured(newer).connectors] == [("b", 5), ("new", 6)]
    assert own.configured(newer).connectors == (dedicated,)


def test_a_worker_whose_own_connector_is_gone_takes_no_others() -> None:
    _, dedicated = parse_config(TEXT, "r.conf").connectors
    own = WorkerConfig(router=SETTINGS, connectors=(dedicated,), index=1, workers=2, dedicated_workers=1)
    found = own.configured(configuration("connector {\nname: new\nport: 6\n}\n"))
    assert (found.connectors, found.is_dedicated) == ((), True)
    assert not found.owns(CONNECTORS[0])


def test_a_worker_that_starts_again_has_what_no_field_is_for() -> None:
    service = "authServicePlugin {\nname: s\nhost: a\n}\n"
    own = WorkerConfig(router=SETTINGS, others=parse_config(TEXT, "r.conf").others)
    assert own.others == {}
    others = own.configured(configuration(TEXT + service)).others
    assert others == parse_config(TEXT + service, "r.conf").others
    assert [one.name for one in others["authServicePlugin"]] == ["s"]
    assert own.configured(configuration(TEXT)).others == {}
