"""The index follows the entities of a router, whoever changes them."""

from dataclasses import replace

from routerd.management.agent.entity_index import IDENTITY, LIVE_NAME, NAME, NUMBER, UNIQUE, EntityIndex, keys_of
from tests.unit.management.fake_router import SECTIONS, FakeRouter, entities

ADDRESS = "router.config.address"


def test_an_address_of_the_file_is_found_by_all_it_is_called() -> None:
    router = FakeRouter(*SECTIONS)
    index = EntityIndex(router)
    starry = router.entities[5]
    keys = [
        (NAME, ADDRESS, "starry"),
        (IDENTITY, ADDRESS, "address/1"),
        (NUMBER, ADDRESS, "2"),
        (LIVE_NAME, ADDRESS, "starry"),
        (UNIQUE, ADDRESS, "a.*.b.#"),
    ]
    assert keys_of(starry) == keys
    assert [index.find(*key) for key in keys] == [starry] * 5


def test_a_listener_is_found_without_its_type() -> None:
    router = FakeRouter(*SECTIONS)
    index = EntityIndex(router)
    assert index.find_of_any_type(NAME, "L1") is router.entities[1]
    assert index.find_of_any_type(IDENTITY, "listener/:amqps") is router.entities[2]
    assert index.find_of_any_type(NAME, "nope") is None


def test_what_is_added_and_what_is_taken_away_by_others_is_followed() -> None:
    router = FakeRouter(*SECTIONS)
    index = EntityIndex(router)
    assert index.is_taken((NUMBER, ADDRESS, "3"))
    gone = router.entities.pop(6)
    assert not index.is_taken((NUMBER, ADDRESS, "3"))
    router.entities.append(gone)
    assert index.is_taken((NUMBER, ADDRESS, "3"))
    router.entities[-1] = replace(gone, identity="8")
    assert not index.is_taken((NUMBER, ADDRESS, "3"))
    assert index.is_taken((NUMBER, ADDRESS, "8"))


def test_what_the_agent_has_deleted_is_forgotten() -> None:
    router = FakeRouter(*SECTIONS)
    index = EntityIndex(router)
    gone = index.find(NUMBER, ADDRESS, "2")
    assert gone is not None
    router.entities.remove(gone)
    index.forget(gone)
    assert [index.is_taken(key) for key in keys_of(gone)] == [False] * 5
    assert index.is_taken((NUMBER, ADDRESS, "3"))


def test_the_last_entity_can_be_forgotten() -> None:
    router = FakeRouter()
    router.entities = entities()[:1]
    index = EntityIndex(router)
    assert index.is_taken((IDENTITY, "router", "router/None"))
    index.forget(router.entities.pop())
    assert not index.is_taken((IDENTITY, "router", "router/None"))


def test_a_deletion_beside_another_change_is_followed() -> None:
    router = FakeRouter(*SECTIONS)
    index = EntityIndex(router)
    gone = index.find(NUMBER, ADDRESS, "2")
    assert gone is not None
    router.entities.remove(gone)
    router.entities.append(replace(gone, identity="9", name="other"))
    index.forget(gone)
    assert not index.is_taken((NUMBER, ADDRESS, "2"))
    assert index.is_taken((LIVE_NAME, ADDRESS, "other"))


def test_of_two_with_one_name_the_first_is_found_for_as_long_as_it_is_there() -> None:
    router = FakeRouter()
    router.entities = entities(*[("listener", {"port": port, "name": "a"}) for port in ("1", "2")])[:2]
    index = EntityIndex(router)
    first, second = router.entities
    assert index.find(NAME, "listener", "a") is first
    router.entities.remove(second)
    index.forget(second)
    assert index.find(NAME, "listener", "a") is first


def test_what_is_replaced_is_found_as_it_is_now() -> None:
    router = FakeRouter(*SECTIONS)
    index = EntityIndex(router)
    for place in (3, -1):
        old = router.entities[place]
        index.find(IDENTITY, "log", old.identity)
        new = router.entities[place] = replace(old, values={**old.values, "enable": "none"})
        index.replace(old, new)
        assert index.find(IDENTITY, "log", old.identity) is new


def test_what_is_claimed_is_taken_as_long() -> None:
    index = EntityIndex(FakeRouter())
    key = (UNIQUE, ADDRESS, "a.#")
    with index.claimed([key]):
        assert (index.is_taken(key), index.is_under_change(key)) == (True, True)
    assert (index.is_taken(key), index.is_under_change(key)) == (False, False)
