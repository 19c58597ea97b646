"""The types that only this router has stand beside those that tools know."""

import pytest

from routerd.management import ALL_TYPES, ENTITY_TYPES, OWN_TYPES, Purpose, find_entity_type


def test_there_are_seven_beside_those_that_tools_know() -> None:
    own = ("connectionActor", "fabricLink", "certificate", "record", "deliveryTopic", "publisher", "subscription")
    names = {f"org.mobula.{name}" for name in own}
    assert {one.full_name for one in OWN_TYPES.values()} == names
    assert (*ENTITY_TYPES.values(), *OWN_TYPES.values()) == ALL_TYPES


@pytest.mark.parametrize("start", ["org.mobula.", "", "org.apache.qpid.dispatch."])
def test_they_are_found_with_and_without_prefix(start: str) -> None:
    assert find_entity_type(f"{start}fabricLink") is OWN_TYPES["fabricLink"]


@pytest.mark.parametrize("name", ["org.mobula.listener", "org.mobula.address", "org.mobula."])
def test_the_types_that_tools_know_are_none_of_ours(name: str) -> None:
    assert find_entity_type(name) is None


def test_their_type_is_their_own_full_name() -> None:
    sections = {"record": (Purpose.CONFIGURATION, "record")}
    for one in OWN_TYPES.values():
        kind, section = sections.get(one.name, (Purpose.OPERATIONAL, None))
        assert (one.attributes["type"].default, one.purpose, one.section) == (one.full_name, kind, section)


def test_everything_of_them_is_described_in_a_sentence() -> None:
    texts = [one.description for one in OWN_TYPES.values()]
    texts += [one.description for kind in OWN_TYPES.values() for one in kind.own_attributes]
    assert [text for text in texts if not text[0].isupper() or text[-1] != "."] == []
