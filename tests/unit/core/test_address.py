"""An address by itself: its outlets and whose turn it is."""

import pytest

from routerd.core import Address, Distribution
from routerd.core.links.outlet import Outlet
from routerd.core.links.peer import FABRIC, NORMAL, Peer
from tests.endpoints import Pair


class Outlets:
    """Outlets over real links, each with credit."""

    def __init__(self):
        self.pair = Pair().open()
        self.session = self.pair.session()
        self.peers = {role: Peer(number, role) for number, role in enumerate((NORMAL, FABRIC))}
        self.count = 0

    def make(self, address, role=NORMAL, *, weight=1, credit=1000):
        self.count += 1
        link = self.session.sender(f"link {self.count}")
        link.attach()
        self.pair.pump()
        self.pair.at_server.links[link.name].grant(credit)
        self.pair.pump()
        outlet = Outlet(self.count, self.peers[role], link, address)
        outlet.is_open = True
        outlet.weight = weight
        address.add(outlet)
        return outlet


@pytest.fixture
def outlets():
    return Outlets()


def test_consumers_here_come_before_siblings(outlets):
    address = Address("M0a", Distribution.BALANCED)
    far = outlets.make(address, FABRIC)
    near, other = outlets.make(address), outlets.make(address)
    assert (address.outlets, address.local_count) == ([near, other, far], 2)
    address.remove(near)
    address.remove(far)
    address.remove(far)
    assert (address.outlets, address.local_count) == ([other], 1)


def test_an_address_without_outlets_has_nobody_to_choose():
    address = Address("M0a", Distribution.BALANCED)
    assert address.choose(False) is None
    assert (address.is_idle, address.has_outlet(False)) == (True, False)


def test_consumers_at_siblings_count_only_for_what_did_not_come_from_one(outlets):
    address = Address("M0a", Distribution.BALANCED)
    address.remote_count = 2
    assert (address.has_outlet(False), address.has_outlet(True)) == (True, False)
    far = outlets.make(address, FABRIC)
    assert (address.choose(False), address.choose(True)) == (far, None)


def test_outlets_without_credit_or_not_yet_open_are_not_chosen(outlets):
    address = Address("M0a", Distribution.CLOSEST)
    outlets.make(address, credit=0)
    outlets.make(address).is_open = False
    assert address.choose(False) is None
    ready = outlets.make(address)
    assert address.choose(False) is ready


@pytest.mark.parametrize("distribution", [Distribution.CLOSEST, Distribution.BALANCED])
def test_a_sibling_has_as_many_turns_in_a_row_as_consumers(outlets, distribution):
    address = Address("M0a", distribution)
    near = outlets.make(address)
    far = outlets.make(address, FABRIC, weight=3)
    assert [address.choose(False) for _ in range(8)] == [near, far, far, far] * 2


def test_balanced_compares_what_is_unsettled_for_each_consumer(outlets):
    address = Address("M0a", Distribution.BALANCED)
    near = outlets.make(address)
    far = outlets.make(address, FABRIC, weight=3)
    chosen = []
    for _ in range(16):
        outlet = address.choose(False)
        outlet.link.send(b"m")
        chosen.append(outlet)
    assert (chosen.count(near), chosen.count(far)) == (4, 12)


def test_the_turn_stays_within_the_outlets_that_are_left(outlets):
    address = Address("M0a", Distribution.CLOSEST)
    first, second, third = (outlets.make(address) for _ in range(3))
    assert [address.choose(False) for _ in range(2)] == [first, second]
    address.remove(second)
    address.remove(third)
    assert [address.choose(False) for _ in range(2)] == [first, first]
