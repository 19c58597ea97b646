"""Addresses: what is told of our own, and what is kept of those of others."""

from math import inf
from tracemalloc import get_traced_memory, start, stop

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routerd.mesh import NO_HINT, MeshConfig, MobileAddressUpdate, NotAdvertisable
from routerd.mesh.mobile_addresses import OwnAddresses, RemoteAddresses, is_advertisable


def own(mobile_seq=0, *, is_known=True):
    return OwnAddresses("A", mobile_seq, is_known=is_known)


def told(addresses):
    """Return what the message with all addresses says."""
    update = MobileAddressUpdate.from_body(addresses.absolute())
    return update.mobile_seq, dict(zip(update.exist, update.hints, strict=True))


@pytest.mark.parametrize("key", ["M0a", "M9a", "MFa", "M0", "Clr", "Dlr", "Ea/*", "Fa/*", "HE"])
def test_mobile_addresses_link_routes_and_edge_routers_are_told(key):
    assert is_advertisable(key)


@pytest.mark.parametrize("key", ["", "M", "Mxa", "C", "H", "L_x", "Tx", "RB", "A1", "G"])
def test_no_other_key_is_told(key):
    assert not is_advertisable(key)
    with pytest.raises(NotAdvertisable, match=r"is not the key of a mobile address, a link route or an edge router$"):
        own().want(key, 3, 0.0)
    addresses = own()
    with pytest.raises(NotAdvertisable):
        addresses.set({"M0a": 3, key: 3}, 0.0)
    assert addresses.count == 0


def test_changes_wait_a_little_for_others_and_have_consecutive_numbers():
    addresses = own()
    addresses.want("M0a", 3, 1.0)
    addresses.want("M0b", 1, 1.01)
    assert addresses.due == 1.02
    assert addresses.take_changes(1.02) == MobileAddressUpdate("A", 1, ("M0a", "M0b"), (), hints=(3, 1))
    addresses.unwant("M0a", 1.03)
    assert addresses.due == 1.05
    assert addresses.take_changes(1.05) == MobileAddressUpdate("A", 2, (), ("M0a",), hints=())
    assert (addresses.due, addresses.count, told(addresses)) == (inf, 1, (2, {"M0b": 1}))


def test_a_few_changes_are_told_soon_and_more_ten_times_a_second():
    addresses = own()
    waits = []
    now = 1.0
    for number in range(8):
        addresses.want(f"M0{number}", 3, now)
        waits.append(round(addresses.due - now, 6))
        now = addresses.due
        addresses.take_changes(now)
    assert waits == [0.02, 0.02, 0.02, 0.02, 0.04, 0.1, 0.1, 0.1]


def test_what_comes_and_goes_at_once_is_not_told():
    addresses = own()
    addresses.want("M0a", 3, 1.0)
    addresses.unwant("M0a", 1.0)
    assert addresses.due == inf
    addresses.want("M0b", 3, 2.0)
    addresses.take_changes(2.02)
    addresses.unwant("M0b", 3.0)
    addresses.want("M0b", 3, 3.0)
    assert (addresses.due, addresses.mobile_seq) == (inf, 1)
    addresses.unwant("M0x", 4.0)
    assert addresses.due == inf


def test_another_treatment_of_an_address_is_told_to_those_who_ask():
    addresses = own()
    addresses.want("M0a", 3, 1.0)
    addresses.take_changes(1.02)
    addresses.want("M0a", 1, 2.0)
    assert (addresses.due, told(addresses)) == (inf, (1, {"M0a": 1}))


def test_who_asks_is_told_what_was_told_to_all_so_far():
    addresses = own()
    addresses.want("M0a", 3, 1.0)
    addresses.want("M0b", 3, 1.0)
    addresses.take_changes(1.02)
    addresses.unwant("M0a", 2.0)
    addresses.want("M0c", 1, 2.0)
    assert told(addresses) == (1, {"M0b": 3, "M0a": 3})
    assert addresses.absolute() is addresses.absolute()
    addresses.take_changes(2.02)
    assert told(addresses) == (2, {"M0b": 3, "M0c": 1})


def test_all_addresses_may_be_replaced():
    addresses = own()
    addresses.set({"M0a": 3, "M0b": 3}, 1.0)
    addresses.take_changes(1.02)
    assert addresses.set({"M0b": 3, "M0c": 2}, 2.0) is False
    assert addresses.take_changes(2.02) == MobileAddressUpdate("A", 2, ("M0c",), ("M0a",), hints=(2,))


def test_changes_that_nobody_is_told_of_are_counted():
    addresses = own()
    addresses.fold()
    assert addresses.mobile_seq == 0
    addresses.want("M0a", 3, 1.0)
    addresses.fold()
    assert (addresses.due, told(addresses)) == (inf, (1, {"M0a": 3}))


def test_one_who_is_resumed_has_everybody_ask():
    addresses = own(7, is_known=False)
    addresses.want("M0a", 3, 1.0)
    assert addresses.set({"M0a": 3, "M0b": 3}, 1.0) is True
    assert (addresses.due, addresses.is_known, told(addresses)) == (inf, True, (8, {"M0a": 3, "M0b": 3}))


def remote(**config):
    return RemoteAddresses(MeshConfig(router_id="A", **config))


def test_changes_of_another_router_are_those_that_change_something():
    addresses = remote()
    assert addresses.change("B", [("M0a", 3), ("M0b", 0)], []) == ({"M0a": 3, "M0b": 0}, (), 0)
    assert addresses.change("B", [("M0a", 1), ("M0c", 9)], ["M0b", "M0x"]) == ({"M0c": NO_HINT}, ("M0b",), 0)
    assert addresses.of("B") == {"M0a": 3, "M0c": NO_HINT}


def test_all_addresses_of_another_router_may_be_replaced():
    addresses = remote()
    addresses.change("B", [("M0a", 3), ("M0b", 3)], [])
    assert addresses.replace("B", [("M0b", 1), ("M0c", 1)]) == ({"M0c": 1}, ("M0a",), 0)
    assert addresses.replace("B", [("M0b", 1), ("M0c", 1)]) == ({}, (), 0)
    assert addresses.replace("B", []) == ({}, ("M0b", "M0c"), 0)
    assert (addresses.of("B"), addresses.forget("B")) == ({}, False)


def test_a_router_is_forgotten_with_its_addresses():
    addresses = remote()
    addresses.change("B", [("M0a", 3)], [])
    addresses.change("C", [("M0a", 3)], [])
    assert (addresses.forget("B"), addresses.of("B"), addresses.of("C")) == (True, {}, {"M0a": 3})


def test_keys_that_are_none_too_long_or_too_many_are_refused():
    addresses = remote(key_length_max=5, addresses_per_router_max=2)
    keys = [("M0abcd", 3), ("M0abc", 3), ("L_x", 3), ("", 3), ("M0b", 3), ("M0c", 3)]
    assert addresses.change("B", keys, []) == ({"M0abc": 3, "M0b": 3}, (), 4)
    assert addresses.change("C", [("M0c", 3)], []) == ({"M0c": 3}, (), 0)


def test_routers_share_the_texts_of_their_keys_also_when_many_are_gone():
    addresses = remote()

    def keys():
        return [(f"M0{number}", 3) for number in range(4000)]

    addresses.change("B", keys(), [])
    addresses.change("C", keys(), [])
    addresses.forget("B")
    addresses.change("B", keys(), [])
    assert {id(key) for key in addresses.of("B")} == {id(key) for key in addresses.of("C")}


def test_an_address_takes_at_most_300_octets():
    addresses = remote()
    start()
    try:
        before, _ = get_traced_memory()
        for router in ("B", "C"):
            addresses.change(router, ((f"M0some/address/{number}", 3) for number in range(30_000)), [])
        after, _ = get_traced_memory()
    finally:
        stop()
    assert (after - before) / 60_000 < 300


@given(
    steps=st.lists(
        st.tuples(st.sampled_from("BC"), st.booleans(), st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)))
    )
)
def test_what_is_told_of_changes_leads_to_what_is_kept(steps):
    addresses = remote()
    mapped = {"B": {}, "C": {}}
    for router, is_replaced, add, delete in steps:
        keys = [(f"M0{number}", 3) for number in add]
        if is_replaced:
            added, removed, _ = addresses.replace(router, keys)
        else:
            added, removed, _ = addresses.change(router, keys, [f"M0{number}" for number in delete])
        for key in removed:
            del mapped[router][key]
        assert not added.keys() & mapped[router].keys()
        mapped[router] |= added
        assert addresses.of(router) == mapped[router]
    same = remote()
    for router, keys in mapped.items():
        same.change(router, keys.items(), [])
        assert same.checksum(router) == addresses.checksum(router)
        assert bool(addresses.checksum(router)) == bool(keys)
