"""Routers that gather a message before they route it, as qdrouterd does: until all of it is here, or 32 KiB are."""

import pytest

from routerd.wire import ACCEPTED
from tests.routers import Workers, message, message_to, outcome
from tests.unit.core.joined_routers import Mesh

SMALL = message(bytes(range(256)) * 100)
LARGE = message(bytes(range(256)) * 200)
GATHERED = 1 << 15


@pytest.fixture(params=["orders", "multicast/a", None])
def address(request):
    return request.param


class Ends:
    """A producer and a consumer at a router that gathers messages."""

    def __init__(self, address="orders", **options):
        self.workers = Workers(**{"gathers_messages": True} | options)
        self.there, self.client = self.workers.client(), self.workers.client()
        self.receiver = self.there.consumer(address or "orders", credit=10)
        self.sender = self.client.producer(address)

    def begun(self):
        return self.there.begun(self.receiver)


def test_a_message_leaves_when_all_of_it_has_come(address):
    octets = SMALL if address else message_to("orders", bytes(range(256)) * 100)
    ends = Ends(address)
    delivery = ends.client.stream(ends.sender, octets[:10], octets[10:9000], ends=False)
    assert (ends.begun(), ends.there.received(ends.receiver)) == (0, [])
    ends.client.go_on(delivery, octets[9000:], more=False)
    assert ends.there.received(ends.receiver) == [octets]
    ends.there.unsettled[ends.receiver.name][0].accept()
    ends.workers.pump()
    assert outcome(delivery) == (ACCEPTED, True)


def test_a_large_message_leaves_as_it_comes_once_enough_of_it_is_here(address):
    octets = LARGE if address else message_to("orders", bytes(range(256)) * 200)
    ends = Ends(address)
    delivery = ends.client.stream(ends.sender, octets[: GATHERED - 1], ends=False)
    assert ends.begun() == 0
    ends.client.go_on(delivery, octets[GATHERED - 1 : GATHERED])
    assert ends.begun() == GATHERED
    ends.client.go_on(delivery, octets[GATHERED:], more=False)
    assert ends.there.received(ends.receiver) == [octets]


def test_one_that_begins_with_enough_is_not_gathered():
    ends = Ends()
    ends.client.stream(ends.sender, LARGE[:GATHERED], ends=False)
    assert ends.begun() == GATHERED


def test_others_leave_as_they_come():
    ends = Ends(gathers_messages=False)
    ends.client.stream(ends.sender, SMALL[:100], ends=False)
    assert ends.begun() == 100


def test_nobody_sees_one_that_was_aborted_before():
    ends = Ends()
    delivery = ends.client.stream(ends.sender, SMALL[:100], ends=False)
    ends.sender.abort(delivery)
    ends.workers.pump()
    assert (ends.there.aborted, ends.begun()) == ([], 0)
    ends.client.send(ends.sender, message())
    assert ends.there.received(ends.receiver) == [message()]


def test_one_whose_producer_leaves_before_is_forgotten():
    ends = Ends()
    ends.client.stream(ends.sender, SMALL[:100], ends=False)
    ends.client.detach(ends.sender)
    assert (ends.there.aborted, ends.there.received(ends.receiver)) == ([], [])
    [address] = [one for one in ends.workers[0].router.addresses.values() if one.key == "M0orders"]
    assert address.waiting == 0


@pytest.mark.parametrize(("gathers", "links"), [(True, 0), (False, 1)])
def test_one_that_was_gathered_needs_no_link_for_large_messages_between_routers(gathers, links):
    mesh = Mesh("A", "B", "C", gathers_messages=gathers)
    trunks = [mesh.join("A", "B"), mesh.join("B", "C")]
    client, there = mesh["A"].client(), mesh["C"].client()
    receiver = there.consumer("orders", credit=10)
    client.stream(client.producer("orders"), SMALL[:9000], SMALL[9000:])
    assert there.received(receiver) == [SMALL]
    assert [len(peer.trunk.streams) for trunk in trunks for peer in trunk.peers if peer.is_initiator] == [links] * 2
