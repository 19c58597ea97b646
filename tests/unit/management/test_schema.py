"""The schema has the types, attributes and rights that operators and their tools know."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from routerd.management import ENTITY_TYPES, SECTIONS, Attribute, EntityType, Purpose, Rights, closest, find_entity_type

FACTS = Path(__file__).with_name("schema_facts.txt")


def attribute_facts(one: Attribute) -> str:
    marks = (
        ("!", one.is_required),
        ("c", Rights.CREATE in one.rights),
        ("u", Rights.UPDATE in one.rights),
        ("g", one.is_graph),
        ("k", one.is_unique),
        ("h", one.is_hidden),
        ("d", one.is_deprecated),
    )
    words = (
        one.name,
        one.type.value,
        "".join(mark for mark, is_set in marks if is_set) or "-",
        "-" if one.default is None else json.dumps(one.default),
        one.old_name or "-",
        "|".join(one.tags) or "-",
    )
    return "    " + " ".join(words)


def type_facts(one: EntityType) -> list[str]:
    marks = (
        ("configurable", one.is_configurable and one.section is not None),
        ("singleton", one.is_singleton),
        ("deprecated", one.is_deprecated),
        ("experimental", one.is_experimental),
        ("referential", one.is_referential),
    )
    words = (
        one.name,
        one.base.name if one.base else "-",
        one.section or "-",
        one.purpose.value,
        ",".join(mark for mark, is_set in marks if is_set) or "-",
        ",".join(one.own_operations) or "-",
    )
    return [" ".join(words), *map(attribute_facts, one.own_attributes)]


def test_the_schema_is_what_tools_expect() -> None:
    facts = [line for line in FACTS.read_text().splitlines() if not line.startswith("#")]
    assert [line for one in ENTITY_TYPES.values() for line in type_facts(one)] == facts


def test_a_type_has_the_attributes_of_its_bases_behind_its_own() -> None:
    stats = ENTITY_TYPES["logStats"]
    levels = ("trace", "debug", "info", "notice", "warning", "error", "critical")
    assert list(stats.attributes) == [*(f"{level}Count" for level in levels), "name", "identity", "type"]


def test_the_type_of_an_entity_is_its_own_full_name() -> None:
    assert {name: one.attributes["type"].default for name, one in ENTITY_TYPES.items()} == {
        name: f"org.apache.qpid.dispatch.{name}" for name in ENTITY_TYPES
    }


def test_a_type_has_the_operations_of_its_bases_behind_its_own() -> None:
    assert ENTITY_TYPES["listener"].operations == ("CREATE", "DELETE", "READ")
    assert ENTITY_TYPES["dummy"].operations == ("CREATE", "READ", "UPDATE", "DELETE", "CALLME")
    assert ENTITY_TYPES["entity"].operations == ()


def test_everything_is_described_in_a_sentence() -> None:
    texts = [one.description for one in ENTITY_TYPES.values()]
    texts += [one.description for kind in ENTITY_TYPES.values() for one in kind.own_attributes]
    assert [text for text in texts if not (text[0].isupper() or text[0] == "`") or text[-1] != "."] == []


@pytest.mark.parametrize("name", ["address", "router.config.address", "org.apache.qpid.dispatch.router.config.address"])
def test_a_type_is_found_by_section_name_and_full_name(name: str) -> None:
    assert find_entity_type(name) is ENTITY_TYPES["router.config.address"]


def test_an_unknown_name_finds_no_type() -> None:
    assert find_entity_type("org.apache.qpid.dispatch.address") is None


def test_what_this_router_has_is_marked() -> None:
    assert [name for name, one in SECTIONS.items() if one.is_supported] == [
        *("router", "sslProfile", "authServicePlugin", "listener", "connector", "log", "address"),
        *("linkRoute", "autoLink", "exchange", "binding", "policy", "vhost", "dummy", "record"),
    ]
    refused = {
        f"{section}.{one.name}"
        for section, kind in SECTIONS.items()
        for one in kind.own_attributes
        if not one.is_supported
    }
    assert refused == set()


def test_what_is_allowed_leaves_out_what_is_not_supported() -> None:
    role = replace(ENTITY_TYPES["connector"].attributes["role"], unsupported_tags=("edge",))
    assert role.allowed == ("normal", "inter-router", "route-container")


def test_what_is_allowed_is_said_for_each_type() -> None:
    router, listener, node = (ENTITY_TYPES[name] for name in ("router", "listener", "router.node"))
    assert listener.attributes["http"].allowed == ("yes", "no", "true", "false", "on", "off")
    assert listener.attributes["cost"].allowed == ("1 to 2147483647",)
    assert listener.attributes["maxSessions"].allowed == ("0 or more",)
    assert router.attributes["addrCount"].allowed == ("a whole number",)
    assert listener.attributes["openProperties"].allowed == ("a map",)
    assert node.attributes["linkState"].allowed == ("a list",)
    assert listener.attributes["host"].allowed == ()


def test_only_what_people_set_is_settable() -> None:
    settable = [one.name for one in ENTITY_TYPES["router.config.linkRoute"].own_attributes if one.is_settable]
    assert "direction" in settable
    assert "operStatus" not in settable


def test_a_close_word_is_found_whatever_its_case() -> None:
    assert closest("Listner", ("listener", "address")) == "listener"
    assert closest("zzz", ("listener", "address")) is None


def test_no_operational_type_has_a_section() -> None:
    assert [one.name for one in SECTIONS.values() if one.purpose in (Purpose.OPERATIONAL, Purpose.BASE)] == []
