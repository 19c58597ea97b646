"""The keys of addresses that are remembered, and those that are too long for it."""

from sys import getrefcount

import pytest

from routerd.core import AddressSpace, RouterSettings, Treatments
from routerd.core.directory.naming import KNOWN_LENGTH_MAX, Naming


@pytest.mark.parametrize("excess", [0, 1])
def test_only_addresses_of_some_length_are_remembered(excess):
    naming = Naming(AddressSpace("R"), Treatments(RouterSettings(id="R")))
    address = "".join(["x"] * (KNOWN_LENGTH_MAX + excess))
    before = getrefcount(address)
    assert naming.destination_key(address, "") == naming.arrival_key(address, 0) == f"M0{address}"
    assert getrefcount(address) == before + 2 * (1 - excess)
    naming.forget()
    assert getrefcount(address) == before
