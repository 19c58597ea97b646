"""Versions of the configuration, and the changes between them."""

import pickle

from routerd.management import Change, Configuration, ConfiguredEntity
from tests.unit.management.fake_router import entities


def addresses(*names: str) -> tuple[ConfiguredEntity, ...]:
    made = entities(*(("address", {"prefix": name, "name": name}) for name in names))
    return tuple(one for one in made if one.type.section == "address")


def names(configuration: Configuration) -> list[str | None]:
    return [entity.name for entity in configuration.entities]


def test_a_change_makes_the_next_version_and_leaves_the_order() -> None:
    one, two, three = addresses("one", "two", "three")
    first = Configuration(4, (one, two))
    second = first.changed(Change(4, added=(three,), removed=(one.identity,)))
    assert (second.version, names(second)) == (5, ["two", "three"])
    assert (first.version, names(first)) == (4, ["one", "two"])


def test_what_is_replaced_keeps_its_place() -> None:
    one, two = addresses("one", "two")
    other = ConfiguredEntity(type=one.type, identity=one.identity, name="other", values=one.values)
    found = Configuration(0, (one, two)).changed(Change(0, added=(other,), removed=(one.identity,)))
    assert names(found) == ["other", "two"]


def test_the_change_between_two_versions_is_what_they_do_not_have_in_common() -> None:
    one, two, three = addresses("one", "two", "three")
    other = ConfiguredEntity(type=two.type, identity=two.identity, name="other", values=two.values)
    change = Configuration(1, (one, two)).change_to(Configuration(7, (other, three)))
    assert change == Change(1, added=(other, three), removed=(one.identity, two.identity))


def test_an_entity_can_be_pickled() -> None:
    (one,) = addresses("one")
    assert pickle.loads(pickle.dumps(Change(1, (one,)))) == Change(1, (one,))
