"""The entities of a file, and what they are called."""

from typing import Any

import pytest

from routerd.config.kinds import pattern_of
from routerd.management import ENTITY_TYPES, LOG_MODULES, ConfiguredEntity, last_number
from routerd.management.agent.naming import general_identity, identity_of, shown_name
from tests.unit.management.fake_router import SECTIONS, entities

ADDRESS = ENTITY_TYPES["router.config.address"]


def test_each_section_is_an_entity_in_the_order_of_the_file() -> None:
    found = entities(*SECTIONS)
    assert [(one.type.name, one.identity, one.name, one.file_index) for one in found[:7]] == [
        ("router", "router/R1", None, 0),
        ("listener", "listener/127.0.0.1:5672:L1", "L1", 0),
        ("listener", "listener/:amqps", None, 1),
        ("log", "log/SERVER", None, 0),
        ("router.config.address", "1", None, 0),
        ("router.config.address", "2", "starry", 1),
        ("router.config.address", "3", None, 2),
    ]


def test_a_module_of_the_log_that_is_not_mentioned_has_an_entity_too() -> None:
    modules = [one.values["module"] for one in entities(*SECTIONS) if one.type.name == "log"]
    assert modules == ["SERVER", *(module for module in LOG_MODULES if module != "SERVER")]


def test_a_file_without_a_router_has_one_whose_id_is_not_known() -> None:
    assert [one.identity for one in entities() if one.type.name == "router"] == ["router/None"]


def test_an_entity_has_all_attributes_of_its_type() -> None:
    address = next(one for one in entities(*SECTIONS) if one.identity == "2")
    assert address.values == {
        "prefix": None,
        "pattern": "a.*.b/#",
        "distribution": "balanced",
        "waypoint": True,
        "ingressPhase": None,
        "egressPhase": None,
        "priority": 7,
        "resendReleased": False,
        "delivery": None,
        "maxUnsettled": 10_000,
        "maxUnsettledOctets": 256 << 20,
        "subscriptionTimeout": 3600,
        "enableFallback": False,
        "name": "starry",
        "identity": None,
        "type": "org.apache.qpid.dispatch.router.config.address",
    }


def test_the_last_number_is_that_of_the_last_of_the_file() -> None:
    assert last_number(entities(*SECTIONS)) == 3
    assert last_number(entities()) == 0


def test_an_address_of_the_file_has_a_name_in_the_general_view_and_one_of_later_has_none() -> None:
    of_file = entities(*SECTIONS)[4]
    later = ConfiguredEntity(type=ADDRESS, identity="9", name=None, values=of_file.values)
    assert (general_identity(of_file), shown_name(of_file)) == ("address/0", "address/0")
    assert (general_identity(later), shown_name(later)) == (None, None)


def test_entities_of_other_types_are_known_by_their_names() -> None:
    assert identity_of(ENTITY_TYPES["sslProfile"], {}, "inside") == "sslProfile/inside"
    assert identity_of(ENTITY_TYPES["connector"], {"host": "b", "port": "5671"}, None) == "connector/b:5671"


@pytest.mark.parametrize(
    ("values", "pattern"),
    [
        ({"prefix": "a/b", "pattern": None}, "a.b.#"),
        ({"prefix": "/a.b.", "pattern": None}, "a.b.#"),
        ({"prefix": None, "pattern": "a.b/#"}, "a.b.#"),
        ({"prefix": None, "pattern": "a/*"}, "a.*"),
        ({"prefix": "./", "pattern": None}, ""),
        ({"prefix": None, "pattern": "/"}, ""),
    ],
)
def test_a_pattern_is_the_same_however_it_is_written(values: dict[str, Any], pattern: str) -> None:
    assert pattern_of(values) == pattern
